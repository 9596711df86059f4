/*!
Why a rule is trusted: what the training URLs said about it.
*/

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{Outcome, Verdict};

/// What was seen of a rule in training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Training URLs the rule covers.
    pub urls: u64,
    /// Pairs of labelled URLs it brings to one form; of a rule, the votes on it.
    pub support_pairs: u64,
    /// Those of the pairs that are different pages, or of the votes that are against it.
    pub false_pairs: u64,
    /// Groups of two or more labelled URLs it brings to one form; of a rule, those held out.
    pub groups: u64,
    /// Those of the groups that hold more than one page.
    pub failed_groups: u64,
    /// The share of groups in which the rule fails is at most this, with 95 % confidence: of a proven rule by the votes on it, of a likely
    /// one also by what is known of such rules on most sites. Of rules whose learner says no trust, it is by the groups that they were
    /// learned from, and too low by as much as these chose them.
    #[serde(serialize_with = "four_digits")]
    pub failure_bound: f64,
    /// Where the duplicate labels came from.
    pub kinds: Vec<Box<str>>,
    /// The latest time of an observation, if the input had times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_until: Option<Box<str>>,
    /// Some URLs it covers, each with a duplicate that it brings to the same form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// How well a rule is known to be right, if its learner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The canonical URLs that would be others without the rule, if it writes any and its learner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CanonicalCounts>,
    /// The share of these that are wrong is at most this, of those of which the crawl knows, with 95 % confidence.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "four_digits_if_any")]
    pub canonical_bound: Option<f64>,
    /// What fetching pages said about the rule, if that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// How well a rule is known to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// By what the site showed.
    Proven,
    /// By what the site showed and by what is known of such rules on most sites.
    Likely,
    /// By pages that were fetched to settle it, after it was learned. Its counts are those of the URLs that were fetched.
    Fetched,
}

impl Trust {
    /// The name in rule files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Likely => "likely",
            Self::Fetched => "fetched",
        }
    }
}

/// How many pages the rules of a site are expected to merge wrongly at most, with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// At most so many of them.
    pub lost: u64,
    /// Pages of the site that were seen.
    pub pages: u64,
}

/// What a crawl knows of canonical URLs. Each counts once, for the first URL that has it, if the page of that was seen at some URL, and not
/// where both redirect or fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalCounts {
    /// They were fetched and showed the page.
    pub alive: u64,
    /// Nobody has fetched them.
    pub unmet: u64,
    /// They redirect, fail or show another page.
    pub wrong: u64,
}

/// Two URLs of one page that a rule brings together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// A URL the rule covers.
    pub url: Box<str>,
    /// A duplicate of it.
    pub duplicate: Box<str>,
}

impl CanonicalCounts {
    /// How many there are.
    pub const fn all(self) -> u64 {
        self.alive.saturating_add(self.unmet).saturating_add(self.wrong)
    }
}

impl AddAssign for CanonicalCounts {
    fn add_assign(&mut self, other: Self) {
        self.alive = self.alive.saturating_add(other.alive);
        self.unmet = self.unmet.saturating_add(other.unmet);
        self.wrong = self.wrong.saturating_add(other.wrong);
    }
}

impl Evidence {
    /// Whether nothing is known, as of what was written by hand.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether fetching pages showed that the rule does not hold.
    pub fn is_refuted(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.outcome == Outcome::Refuted)
    }

    /// The share of false pairs among the supporting ones; 0 without support.
    pub fn false_pair_rate(&self) -> f64 {
        if self.support_pairs == 0 { 0.0 } else { self.false_pairs as f64 / self.support_pairs as f64 }
    }
}

/// Fixed precision, so that the same rules are the same bytes on every machine.
fn four_digits<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((number * 1e4).round() / 1e4)
}

#[expect(clippy::ref_option, reason = "serde passes references")]
fn four_digits_if_any<S: serde::Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => four_digits(number, serializer),
        None => serializer.serialize_none(),
    }
}
