/*!
Fetches and compares the pairs of all sites: several sites at a time, the rules of a site one after another, then the canonical
URLs that they make, and then the unproven rules of the site, each after those that hold.
*/

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use dedust::rules::{CanonicalVerdict, Outcome};
use dedust_fetch::Fetcher;

use crate::canonical::CanonicalUrls;
use crate::finding::Finding;
use crate::known_pairs::{KnownPairs, StateError};
use crate::pair::{Pair, Target};
use crate::progress::Progress;
use crate::sample::Sample;
use crate::trial::{CanonicalTrial, Comparison, Limits, MIN_COMPARED, Trial};
use crate::unproven::Unproven;
use crate::visits::Visits;

/// Sites that are checked at a time.
const MAX_SITES_AT_ONCE: usize = 16;

/// All that is needed to compare pairs.
pub(crate) struct Survey<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) known: &'a KnownPairs,
    pub(crate) limits: Limits,
    pub(crate) canonical: &'a CanonicalUrls<'a>,
    /// The unproven rules, if they are to be settled.
    pub(crate) unproven: Option<&'a Unproven<'a>>,
    pub(crate) progress: &'a dyn Progress,
}

impl Survey<'_> {
    /// Checks all rules, given the pairs for those of each site. The findings are in the order of the sites and their samples.
    pub(crate) fn run(&self, sites: &[(&str, Vec<Sample>)]) -> Result<Vec<Finding>, StateError> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..sites.len().min(MAX_SITES_AT_ONCE) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some((site, samples)) = sites.get(index) else { return };
                        let found = self.site(site, samples);
                        if found.is_err() {
                            // The state cannot be written: no other site shall begin.
                            next.store(sites.len(), Ordering::Relaxed);
                        }
                        // The receiver outlives this thread.
                        let _ = sender.send((index, found));
                    }
                });
            }
        });
        drop(sender);
        let mut findings = BTreeMap::new();
        for (index, found) in receiver {
            findings.insert(index, found?);
        }
        Ok(findings.into_values().flatten().collect())
    }

    fn site(&self, name: &str, samples: &[Sample]) -> Result<Vec<Finding>, StateError> {
        let mut visits = Visits::new(self.fetcher);
        let mut findings = Vec::new();
        for &Sample { target, ref pairs } in samples {
            let is_decided = |trial: &Trial| self.is_decided(trial);
            let (trial, _) = self.compare_all(name, target, pairs, &is_decided, &mut visits)?;
            let outcome = trial.outcome(self.limits);
            findings.push(Finding::new(name, target, trial, outcome));
        }
        self.canonical_urls(name, &mut findings, &mut visits)?;
        let Some(mut unproven) = self.unproven.and_then(|unproven| unproven.of_site(name, &findings)) else {
            return Ok(findings);
        };
        // More pairs make the bound on failures smaller, so that all are compared unless the rule is refuted.
        let is_done = |trial: &Trial| {
            trial.compared() >= self.limits.samples() || trial.decided(self.limits) == Some(Outcome::Refuted)
        };
        for index in unproven.indexes() {
            let target = Target::Unproven(index);
            let question = unproven.question(index);
            let (trial, comparisons) =
                self.compare_all(name, target, question.pairs(), &is_done, &mut visits)?;
            let settled = unproven.settle(question, &trial, &comparisons);
            let finding = Finding::new(name, target, trial, settled.outcome());
            findings.push(Finding { settled: Some(settled), ..finding });
        }
        Ok(findings)
    }

    /// Fetches the canonical URLs of the rules that were found to hold, and notes what came of them.
    fn canonical_urls(
        &self,
        name: &str,
        findings: &mut [Finding],
        visits: &mut Visits<'_>,
    ) -> Result<(), StateError> {
        let Some(mut canonical) = self.canonical.of_site(name, findings) else { return Ok(()) };
        let mut indexes: Vec<usize> =
            (0..findings.len()).filter(|&index| canonical.has(findings[index].target)).collect();
        // First rules that are tried by themselves, since they may be what is wrong with the others.
        for needed in [MIN_COMPARED, 0] {
            let mut later = Vec::new();
            for index in indexes {
                let target = findings[index].target;
                // Rules that stand together do so too where some of them are refuted: this does not fail.
                let Ok(drawn) = canonical.draw(target, self.limits.max_pairs()) else { continue };
                if (drawn.alone as u64) < needed {
                    later.push(index);
                    continue;
                }
                let found = self.try_canonical(name, target, &drawn.pairs, visits)?;
                if found.is_refuted() {
                    canonical.leave_out(target);
                }
                findings[index].canonical = Some(found).filter(|found| !found.trial.is_empty());
            }
            indexes = later;
        }
        Ok(())
    }

    /// Fetches URLs and their canonical URLs, until it is decided whether these are alive.
    fn try_canonical(
        &self,
        site: &str,
        target: Target,
        pairs: &[Pair],
        visits: &mut Visits<'_>,
    ) -> Result<CanonicalTrial, StateError> {
        let mut verdict = CanonicalVerdict::default();
        let trial = self.try_pairs(site, target, pairs, &|trial| self.is_decided(trial), |pair, trial| {
            let liveness = match self.known.liveness(pair) {
                Some(known) => known.clone(),
                None => {
                    let liveness = visits.liveness(pair);
                    self.known.note_liveness(pair, &liveness)?;
                    liveness
                }
            };
            trial.count_canonical(pair, &liveness, &mut verdict);
            Ok(())
        })?;
        verdict.outcome = trial.outcome(self.limits);
        Ok(CanonicalTrial { trial, verdict })
    }

    /// Compares pairs, until `is_done`; what came of each, and of all.
    fn compare_all(
        &self,
        site: &str,
        target: Target,
        pairs: &[Pair],
        is_done: &dyn Fn(&Trial) -> bool,
        visits: &mut Visits<'_>,
    ) -> Result<(Trial, Vec<Comparison>), StateError> {
        let mut comparisons = Vec::new();
        let trial = self.try_pairs(site, target, pairs, is_done, |pair, trial| {
            let comparison = match self.known.get(pair) {
                Some(known) => known.clone(),
                None => {
                    let comparison = visits.compare(pair);
                    self.known.note(pair, &comparison, visits.is_direct(&pair.other))?;
                    comparison
                }
            };
            trial.count(pair, &comparison);
            comparisons.push(comparison);
            Ok(())
        })?;
        Ok((trial, comparisons))
    }

    /// Tries pairs, one after the other, until `is_done`.
    fn try_pairs(
        &self,
        site: &str,
        target: Target,
        pairs: &[Pair],
        is_done: &dyn Fn(&Trial) -> bool,
        mut try_pair: impl FnMut(&Pair, &mut Trial) -> Result<(), StateError>,
    ) -> Result<Trial, StateError> {
        let mut trial = Trial::default();
        let mut counted = self.progress.start(site, target, self.limits.same_needed());
        for pair in pairs {
            try_pair(pair, &mut trial)?;
            counted(&trial);
            if is_done(&trial) {
                break;
            }
        }
        Ok(trial)
    }

    fn is_decided(&self, trial: &Trial) -> bool {
        trial.decided(self.limits).is_some()
    }
}
