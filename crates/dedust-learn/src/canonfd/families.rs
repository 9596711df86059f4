/*!
What is known of rules before a site has said anything: families of parameter names, and how often they are wrong.

The names are those of [`crate::known_names`]. A family never applies a rule by itself: it lowers the number of groups that a
site must show before the rule is believed.
*/

use dedust::rules::UrlPart;
use statrs::distribution::{Beta, ContinuousCDF};

use crate::known_names::is_listed;
use crate::thresholds::{families, proof};

/// A kind of rule, by what it is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    /// Campaign and click identifiers.
    Tracking,
    /// Session identifiers, nonces and clocks.
    Session,
    /// Where a visitor came from, by names that other things have too.
    Referral,
    /// Where to go after logging in.
    Return,
    /// Another look at the same page.
    View,
    /// The first page of several.
    FirstPage,
    /// Scheme, `www`, port.
    Host,
    /// Trailing slashes and index files, empty and repeated parameters.
    Spelling,
    /// Pages that ask to log in.
    Login,
    /// Anything else.
    Other,
    /// Forgetting what decides which page is meant on most sites: even where it seems not to, there was little to show.
    Relevant,
}

impl Family {
    /// The family of forgetting a key altogether.
    pub(super) fn of_drop(key: &UrlPart) -> Self {
        match key {
            UrlPart::Scheme | UrlPart::Subdomain(_) | UrlPart::Port => Self::Host,
            UrlPart::TrailingSlash => Self::Spelling,
            UrlPart::QueryParam(name) | UrlPart::PathParam(name) => {
                let named = |family| is_listed(family, name.name.as_bytes());
                [
                    ("tracking", Self::Tracking),
                    ("session", Self::Session),
                    ("referral", Self::Referral),
                    ("return", Self::Return),
                    ("view", Self::View),
                    ("relevant", Self::Relevant),
                    ("paging", Self::Relevant),
                ]
                .into_iter()
                .find(|(list, _)| named(list))
                .map_or(Self::Other, |(_, family)| family)
            }
            _ => Self::Other,
        }
    }

    /// The family of taking a value for the absence of its key. A name without `=` is a flag, which is set to say something.
    pub(super) fn of_default(key: &UrlPart, value: Option<&str>) -> Self {
        match (Self::of_drop(key), key, value) {
            (Self::Other | Self::Relevant, _, Some("")) => Self::Spelling,
            (_, UrlPart::QueryParam(name), Some("0" | "1")) if is_listed("paging", name.name.as_bytes()) => {
                Self::FirstPage
            }
            (Self::Relevant, _, _) => Self::Other,
            (family, _, _) => family,
        }
    }

    /// Whether rules of the family are right on most sites.
    pub(super) fn is_known(self) -> bool {
        !matches!(self, Self::Other | Self::Relevant)
    }

    /// The family of a rule that holds only where it was found to: no more than its name says.
    pub(super) fn chosen(self) -> Self {
        match self {
            Self::Tracking | Self::Session | Self::Return | Self::Login => self,
            Self::Relevant => Self::Relevant,
            _ => Self::Other,
        }
    }

    /// Pages that must agree before such a rule is believed.
    pub(super) fn min_pages(self) -> u64 {
        match self {
            Self::Other | Self::Relevant => families::MIN_PAGES,
            Self::Login => families::MIN_PAGES_OF_LOGIN,
            Self::Referral => families::MIN_PAGES_OF_REFERRAL,
            Self::Tracking
            | Self::Session
            | Self::Return
            | Self::View
            | Self::FirstPage
            | Self::Host
            | Self::Spelling => families::MIN_PAGES_OF_KNOWN,
        }
    }

    /// What is known of such rules.
    pub(super) fn prior(self) -> Prior {
        let (failing, holding) = match self {
            Self::Tracking | Self::Session => families::TRACKING,
            Self::Return | Self::View | Self::Host | Self::Referral => families::USUAL,
            Self::FirstPage | Self::Spelling => families::SPELLING,
            Self::Login => families::LOGIN,
            Self::Other => families::OTHER,
            Self::Relevant => families::RELEVANT,
        };
        Prior { failing, holding }
    }
}

/// What is known of a rule before its votes: a Beta distribution of the share of groups in which it merges different pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prior {
    failing: f64,
    holding: f64,
}

impl Prior {
    /// That of one of several rules of which these failed in so many of their groups. If all fail alike, so does this one;
    /// if some always fail and some never, little is known of it.
    pub(super) fn like(others: &[(u64, u64)], share: f64) -> Self {
        let other = Family::Other.prior();
        let correlation = correlation(others).clamp(0.0, families::MAX_CORRELATION);
        let weight = (other.failing + other.holding).min(1.0 / correlation - 1.0);
        let failing = (share * weight).max(other.failing.min(weight / 2.0));
        Self { failing, holding: weight - failing }
    }

    /// Mean and variance of the share of groups in which the rule fails, after `failed` of `groups`.
    pub(super) fn failure_rate(self, failed: u64, groups: u64) -> (f64, f64) {
        let (a, b) = (self.failing + failed as f64, self.holding + (groups - failed) as f64);
        (a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0)))
    }

    /// The share of groups in which the rule fails is at most this, with 95 % confidence, after `failed` of `groups`.
    pub(super) fn bound(self, failed: u64, groups: u64) -> f64 {
        let posterior = Beta::new(self.failing + failed as f64, self.holding + (groups - failed) as f64);
        posterior.map_or(1.0, |beta| beta.inverse_cdf(1.0 - proof::DOUBT_OF_BOUND))
    }

    /// The chance that the rule fails in more than a share `limit` of groups, after `failed` of `groups`.
    pub(super) fn doubt(self, failed: u64, groups: u64, limit: f64) -> f64 {
        let posterior = Beta::new(self.failing + failed as f64, self.holding + (groups - failed) as f64);
        posterior.map_or(1.0, |beta| 1.0 - beta.cdf(limit))
    }
}

/// What the rules of a site are expected to lose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exposure {
    /// Votes against a rule, and all votes.
    pub(super) against: u64,
    pub(super) all: u64,
    /// Forms that it joins to others.
    pub(super) merged: u64,
}

/// How many of the forms that these rules join to others show another page: what is expected, and what it is at most with 95 %
/// confidence.
///
/// The share that a rule joins wrongly is drawn from what those of all believed rules of the site have in common, a Beta distribution: its
/// mean is that of all votes, with Jeffreys' prior, and its weight says how much votes on one rule have in common. What is not known of the
/// mean concerns all rules at once, so their losses are not independent.
pub(super) fn expected_loss(rules: &[Exposure]) -> (f64, f64) {
    let sum = |part: fn(&Exposure) -> u64| rules.iter().map(part).sum::<u64>() as f64;
    let (against, all) = (sum(|rule| rule.against), sum(|rule| rule.all));
    let mean = (against + 0.5) / (all + 1.0);
    let votes: Vec<(u64, u64)> = rules.iter().map(|rule| (rule.against, rule.all)).collect();
    let weight = (1.0 / correlation(&votes) - 1.0).clamp(1.0 / families::MAX_CORRELATION - 1.0, all + 1.0);
    let common = Prior { failing: mean * weight, holding: (1.0 - mean) * weight };
    let (mut expected, mut variance, mut by_mean) = (0.0, 0.0, 0.0);
    for &Exposure { against, all, merged } in rules {
        let merged = merged as f64;
        let (rate, spread) = common.failure_rate(against, all);
        expected += merged * rate;
        variance += merged * merged * spread;
        by_mean += merged * weight / (weight + all as f64);
    }
    variance += by_mean * by_mean * mean * (1.0 - mean) / (all + 2.0);
    (expected, expected + proof::NORMAL_95 * variance.sqrt())
}

/// How much groups of one rule have in common that those of several do not, by the moments of a beta-binomial distribution:
/// 0 where all rules fail alike, 1 where each fails always or never.
fn correlation(rules: &[(u64, u64)]) -> f64 {
    let all: f64 = rules.iter().map(|&(_, groups)| groups as f64).sum();
    let mean = rules.iter().map(|&(failed, _)| failed as f64).sum::<f64>() / all.max(1.0);
    let variance = mean * (1.0 - mean);
    let rules = rules
        .iter()
        .filter(|(_, groups)| *groups > 0)
        .map(|&(failed, groups)| (failed as f64, groups as f64));
    let free = rules.clone().count() as f64 - 1.0;
    let spread: f64 = rules.clone().map(|(failed, groups)| groups * (failed / groups - mean).powi(2)).sum();
    let squares: f64 = rules.map(|(_, groups)| groups * groups).sum();
    let most = all - squares / all.max(1.0) - free;
    if variance > 0.0 && free > 0.0 && most > 0.0 {
        ((spread / variance - free) / most).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Whether a word of `text` is on the list of pages that ask to log in.
pub(super) fn speaks_of_login(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| is_listed("login", word.as_bytes()))
}

/// Whether a file is listed as one that stands for its directory.
pub(super) fn is_index(name: &str) -> bool {
    is_listed("index", name.as_bytes())
}

/// Whether a page is listed as one that shows something else from one visit to the next.
pub(super) fn is_volatile(value: &str) -> bool {
    is_listed("volatile", value.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_to_families() {
        assert_eq!(Family::of_drop(&UrlPart::query("utm_source")), Family::Tracking);
        assert_eq!(Family::of_drop(&UrlPart::query("PHPSESSID")), Family::Session);
        assert_eq!(Family::of_drop(&UrlPart::query("id")), Family::Relevant);
        assert_eq!(Family::of_drop(&UrlPart::query("flavour")), Family::Other);
        assert_eq!(Family::of_default(&UrlPart::query("page"), Some("1")), Family::FirstPage);
        assert_eq!(Family::of_default(&UrlPart::query("page"), Some("2")), Family::Other);
        assert_eq!(Family::of_default(&UrlPart::query("x"), Some("")), Family::Spelling);
        assert!(speaks_of_login("Special:UserLogin") && !speaks_of_login("Special:Log"));
    }

    #[test]
    fn a_family_lowers_the_number_of_groups_needed() {
        let needed = |prior: Prior| (0..200).find(|&groups| prior.doubt(0, groups, 0.05) <= 0.05).unwrap();
        assert_eq!(needed(Family::Other.prior()), 26);
        assert!(needed(Family::Host.prior()) < 10 && needed(Family::Tracking.prior()) == 0);
        let alike = [(4, 20), (5, 25), (3, 15)];
        assert!(needed(Prior::like(&alike, 0.2)) > 90, "others that fail raise it");
        let unlike = [(0, 20), (12, 12), (0, 28)];
        assert!(needed(Prior::like(&unlike, 0.2)) < 60, "unless some always fail and some never");
    }
}
