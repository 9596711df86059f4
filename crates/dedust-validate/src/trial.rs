/*!
When enough pairs were compared, and what follows from them.

A rule is refuted if so many pairs differ that, with 95 % confidence, more than the share e of all that it joins do, and confirmed
if fewer than the share e of the pairs differ. Between the two nothing is known. Pairs are compared until (1 - e)N were the same, or so many
were different that N pairs would refute the rule whatever the others show, where N is the number of samples. Where pairs run out before, at
least [`MIN_COMPARED`] must have been compared. After the validation of DustBuster, Bar-Yossef, Keidar and Schonfeld, WWW 2007, which refutes
as soon as eN differ. Canonical URLs are judged likewise.
*/

use std::collections::BTreeMap;

use dedust::rules::{CanonicalVerdict, Outcome};
use dedust_fetch::Fingerprint;
use dedust_learn::support::failure_floor;

use crate::pair::Pair;

/// Pairs without which nothing is said.
pub(crate) const MIN_COMPARED: u64 = 20;

/// Differing pairs that are kept to be shown.
const SHOWN_PAIRS: usize = 3;

/// Attempts for each sample that was asked for.
const ATTEMPTS_PER_SAMPLE: usize = 3;

/// What comparing a pair came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// One page, of which this is kept; `None` if it was compared by a release that kept nothing.
    Same(Option<Fingerprint>),
    /// Two pages, or a page and none.
    Different,
    /// Nothing was learned, for this reason.
    Failed(String),
}

/// What fetching a canonical URL came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    /// It shows the page of the URL.
    Alive,
    /// It redirects.
    Redirected,
    /// There is no such page.
    Missing,
    /// It shows another page.
    Different,
    /// Nothing was learned, for this reason.
    Failed(String),
}

/// How many pairs are to be compared. By default 100, of which a share of 0.05 may be different.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    samples: u64,
    max_fail: f64,
}

/// What is known of a rule so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// Pairs of the same page.
    pub same: u64,
    /// Pairs of different pages.
    pub different: u64,
    /// Pairs of which nothing was learned.
    pub failed: u64,
    /// How often pairs failed, by reason.
    pub failures: BTreeMap<String, u64>,
    /// Some pairs of different pages.
    pub differing: Vec<Pair>,
}

/// What is known of the canonical URLs of a rule so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CanonicalTrial {
    /// Those that are alive count as pairs of the same page, all others as pairs of different pages.
    pub trial: Trial,
    /// How many there are of each kind, and what follows.
    pub verdict: CanonicalVerdict,
}

impl Default for Limits {
    fn default() -> Self {
        Self { samples: 100, max_fail: 0.05 }
    }
}

impl Limits {
    /// So many pairs for each rule, of which the share `max_fail` may be different. `None` unless there are at least 20 pairs, without
    /// which nothing is said, and a share from 0 to 1.
    pub fn new(samples: u32, max_fail: f64) -> Option<Self> {
        let limits = Self { samples: samples.into(), max_fail };
        (limits.samples >= MIN_COMPARED && (0.0..=1.0).contains(&max_fail)).then_some(limits)
    }

    /// Pairs to try at most.
    pub(crate) fn max_pairs(self) -> usize {
        ATTEMPTS_PER_SAMPLE * self.samples as usize
    }

    /// Pairs that are compared at most, where all are to be.
    pub(crate) fn samples(self) -> u64 {
        self.samples
    }

    /// Whether a rule is refuted by so many pairs, if there are no others.
    pub(crate) fn refute(self, same: u64, different: u64) -> bool {
        let compared = same.saturating_add(different);
        compared >= MIN_COMPARED && self.is_shown(different, compared)
    }

    /// Pairs of the same page that confirm a rule.
    pub(crate) fn same_needed(self) -> u64 {
        at_least((1.0 - self.max_fail) * self.samples as f64)
    }

    /// Whether so many different pairs of all that are looked at show that more differ than may.
    fn is_shown(self, different: u64, compared: u64) -> bool {
        failure_floor(different, compared) > self.max_fail
    }

    /// Whether so few pairs differ that a rule is confirmed.
    fn allow(self, different: u64, compared: u64) -> bool {
        different < at_least(self.max_fail * compared as f64)
    }
}

/// The smallest positive whole number that is not below `number`, as people compute it.
fn at_least(number: f64) -> u64 {
    ((number - 1e-9).ceil() as u64).max(1)
}

impl Trial {
    /// Counts a pair.
    pub(crate) fn count(&mut self, pair: &Pair, comparison: &Comparison) {
        match comparison {
            Comparison::Same(_) => self.same += 1,
            Comparison::Different => {
                self.different += 1;
                if self.differing.len() < SHOWN_PAIRS {
                    self.differing.push(pair.clone());
                }
            }
            Comparison::Failed(reason) => {
                self.failed += 1;
                *self.failures.entry(reason.clone()).or_default() += 1;
            }
        }
    }

    /// Counts a canonical URL, here and among those of its kind.
    pub(crate) fn count_canonical(
        &mut self,
        pair: &Pair,
        liveness: &Liveness,
        verdict: &mut CanonicalVerdict,
    ) {
        let (counter, comparison) = match liveness {
            Liveness::Alive => (&mut verdict.alive, Comparison::Same(None)),
            Liveness::Redirected => (&mut verdict.redirected, Comparison::Different),
            Liveness::Missing => (&mut verdict.missing, Comparison::Different),
            Liveness::Different => (&mut verdict.different, Comparison::Different),
            Liveness::Failed(reason) => (&mut verdict.failed, Comparison::Failed(reason.clone())),
        };
        *counter += 1;
        self.count(pair, &comparison);
    }

    /// Pairs that said something.
    pub fn compared(&self) -> u64 {
        self.same + self.different
    }

    /// Whether there were no pairs.
    pub fn is_empty(&self) -> bool {
        self.compared() + self.failed == 0
    }

    /// What can be said before all pairs were tried.
    pub(crate) fn decided(&self, limits: Limits) -> Option<Outcome> {
        if limits.is_shown(self.different, self.compared().max(limits.samples)) {
            Some(Outcome::Refuted)
        } else if self.same >= limits.same_needed() {
            Some(Outcome::Confirmed)
        } else {
            None
        }
    }

    /// What can be said at the end.
    pub(crate) fn outcome(&self, limits: Limits) -> Outcome {
        self.decided(limits).unwrap_or(match self.compared() {
            ..MIN_COMPARED => Outcome::Unknown,
            _ if limits.refute(self.same, self.different) => Outcome::Refuted,
            compared if limits.allow(self.different, compared) => Outcome::Confirmed,
            _ => Outcome::Unknown,
        })
    }
}

impl CanonicalTrial {
    /// Whether they are known to be no canonical URLs.
    pub fn is_refuted(&self) -> bool {
        self.verdict.outcome == Outcome::Refuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(same: u64, different: u64) -> Trial {
        Trial { same, different, ..Trial::default() }
    }

    #[test]
    fn a_rule_is_decided_as_soon_as_it_can_be() {
        let limits = Limits::new(100, 0.05).unwrap();
        assert_eq!(trial(94, 4).decided(limits), None);
        assert_eq!(trial(95, 4).decided(limits), Some(Outcome::Confirmed));
        assert_eq!(
            (trial(0, 9).decided(limits), trial(0, 10).decided(limits)),
            (None, Some(Outcome::Refuted))
        );
        let strict = Limits::new(100, 0.0).unwrap();
        assert_eq!(trial(99, 0).decided(strict), None);
        assert_eq!(trial(100, 0).decided(strict), Some(Outcome::Confirmed));
        assert_eq!(trial(50, 1).decided(strict), Some(Outcome::Refuted));
        assert_eq!(trial(0, 0).decided(Limits::new(20, 1.0).unwrap()), None);
        assert_eq!(trial(1, 0).decided(Limits::new(20, 1.0).unwrap()), Some(Outcome::Confirmed));
    }

    #[test]
    fn limits_decide_something() {
        for (samples, max_fail) in [(19, 0.05), (100, -0.1), (100, 1.1), (100, f64::NAN)] {
            assert!(Limits::new(samples, max_fail).is_none(), "{samples} {max_fail}");
        }
    }

    #[test]
    fn few_pairs_decide_nothing() {
        let limits = Limits::new(100, 0.05).unwrap();
        assert_eq!(trial(19, 0).outcome(limits), Outcome::Unknown);
        assert_eq!(trial(15, 4).outcome(limits), Outcome::Unknown);
        assert_eq!(trial(20, 0).outcome(limits), Outcome::Confirmed);
        assert_eq!(trial(39, 1).outcome(limits), Outcome::Confirmed);
    }

    #[test]
    fn a_few_differing_pairs_neither_refute_nor_confirm() {
        let limits = Limits::new(100, 0.05).unwrap();
        let outcomes = [1, 2, 3, 4, 5, 6].map(|different| trial(40 - different, different).outcome(limits));
        assert_eq!(outcomes[..4], [Outcome::Confirmed, Outcome::Unknown, Outcome::Unknown, Outcome::Unknown]);
        assert_eq!(outcomes[5], Outcome::Refuted);
    }

    #[test]
    fn some_differing_pairs_are_kept() {
        let mut trial = Trial::default();
        let pair = Pair { url: "http://a.example/1".into(), other: "http://a.example/2".into() };
        for comparison in [Comparison::Same(None), Comparison::Failed("timed out".into())] {
            trial.count(&pair, &comparison);
        }
        for _ in 0..5 {
            trial.count(&pair, &Comparison::Different);
        }
        assert_eq!((trial.same, trial.different, trial.failed), (1, 5, 1));
        assert_eq!((trial.differing.len(), trial.failures["timed out"]), (3, 1));
    }
}
