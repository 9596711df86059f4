/*!
What a method of learning is: a [`Corpus`] in, rules out.

Our own is [`CanonFd`](crate::canonfd::CanonFd). Other crates have more of them; all take the same corpus and settings and give rules of one
form, so that differences between them come from the algorithm alone.
*/

use std::collections::BTreeMap;

use std::fmt;
use std::sync::Arc;

use dedust::errors::InvalidSite;
use dedust::rules::{CanonicalCounts, Promise, RefusedRule, Rule, SiteRules, SiteSummary};
use dedust::support::without_never_made;

use crate::corpus::Corpus;
use crate::preference::{PreferredForms, UnmetPreference};
use crate::progress::Progress;
use crate::proof::Proof;
use crate::thresholds;

/// A way to learn rules.
pub trait Learner: fmt::Debug + Send + Sync {
    /// The name on the command line and in rule files.
    fn name(&self) -> &'static str;

    /// Learns rules for one site.
    fn learn(&self, corpus: &Corpus, settings: &LearnSettings, progress: &dyn Progress) -> Learned;

    /// Whether comparisons leave out safe normalization too, so that every URL as met is a page of its own. A rule file cannot
    /// say so. Default: no.
    fn skips_safe_normalization(&self) -> bool {
        false
    }

    /// Whether it is given no sites that show the pages of another ([`CrawlStore::with_mirrors`](crate::CrawlStore::with_mirrors)):
    /// their URLs are those of the other. Default: no.
    fn leaves_out_mirrors(&self) -> bool {
        false
    }
}

impl<L: Learner + ?Sized> Learner for Arc<L> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn learn(&self, corpus: &Corpus, settings: &LearnSettings, progress: &dyn Progress) -> Learned {
        (**self).learn(corpus, settings, progress)
    }

    fn skips_safe_normalization(&self) -> bool {
        (**self).skips_safe_normalization()
    }

    fn leaves_out_mirrors(&self) -> bool {
        (**self).leaves_out_mirrors()
    }
}

/// What learners are given beside the corpus, of [`LearnOptions`](crate::LearnOptions).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LearnSettings {
    /// Candidates with a larger share of false pairs are dropped, by learners that have such a limit.
    pub max_false_pair_rate: f64,
    /// How much proof [`CanonFd`](crate::canonfd::CanonFd) asks for.
    pub proof: Proof,
    /// The forms that [`CanonFd`](crate::canonfd::CanonFd) writes where it may choose. A [`Trainer`](crate::Trainer) sets them for each site.
    pub preferred: PreferredForms,
}

impl Default for LearnSettings {
    fn default() -> Self {
        Self {
            max_false_pair_rate: thresholds::proof::MAX_FALSE_PAIR_RATE,
            proof: Proof::default(),
            preferred: PreferredForms::default(),
        }
    }
}

impl LearnSettings {
    /// The same with another limit on false pairs.
    #[must_use]
    pub fn with_max_false_pair_rate(self, max_false_pair_rate: f64) -> Self {
        Self { max_false_pair_rate, ..self }
    }
}

/// What a learner made of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The rules in the order in which they are to be made.
    pub rules: Vec<Rule>,
    /// The hosts on which the rules hold, without `www`, sorted; empty for all.
    pub hosts: Vec<Box<str>>,
    /// Rules that were considered and not believed, those with most votes first.
    pub refused: Vec<RefusedRule>,
    /// For some URLs that the rules write, the URL that was observed to show their page; nothing where a URL is to stay as it is.
    pub canonical_urls: BTreeMap<Box<str>, Option<Box<str>>>,
    /// What the rules are expected to lose at most, if the learner says so.
    pub promise: Option<Promise>,
    /// What is known of the canonical URLs that the rules write, if the learner says so.
    pub canonical: Option<CanonicalCounts>,
    /// Forms that people prefer and that are not written, though rules join them and others.
    pub unmet: Vec<UnmetPreference>,
    /// Candidates before any check.
    pub raw_rules: usize,
    /// Candidates that merged few enough different pages.
    pub qualified_rules: usize,
}

impl Learned {
    /// The rules of a site, without rules that can never be made because earlier ones take away what they ask for.
    pub fn into_rules(self, summary: SiteSummary) -> Result<SiteRules, InvalidSite> {
        Ok(SiteRules::new(summary, without_never_made(self.rules))?
            .with_refused(self.refused)
            .with_hosts(self.hosts)
            .with_canonical_urls(self.canonical_urls))
    }
}
