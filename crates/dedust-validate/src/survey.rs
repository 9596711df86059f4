/*!
Fetches and compares the pairs of all sites: several sites at a time, the rules of a site one after another, and then its
unproven rules, each after those that hold.

Pages are fetched once, however many pairs they are part of; what is kept of them is small.
*/

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use dedust::rules::Outcome;
use dedust_fetch::{FetchError, Fetcher, Fingerprint};

use crate::finding::Finding;
use crate::known_pairs::{KnownPairs, StateError};
use crate::pair::{Pair, Target};
use crate::progress::Progress;
use crate::sample::Sample;
use crate::trial::{Comparison, Limits, Trial};
use crate::unproven::Unproven;

/// Sites that are checked at a time.
const MAX_SITES_AT_ONCE: usize = 16;

/// All that is needed to compare pairs.
pub(crate) struct Survey<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) known: &'a KnownPairs,
    pub(crate) limits: Limits,
    /// The unproven rules, if they are to be settled.
    pub(crate) unproven: Option<&'a Unproven<'a>>,
    pub(crate) progress: &'a dyn Progress,
}

/// What fetching the URLs of a site gave.
type Pages = HashMap<String, Result<Fingerprint, FetchError>>;

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
        let mut pages = Pages::new();
        let mut findings = Vec::new();
        for &Sample { target, ref pairs } in samples {
            let is_decided = |trial: &Trial| trial.decided(self.limits).is_some();
            let (trial, _) = self.compare_all(name, target, pairs, &is_decided, &mut pages)?;
            let outcome = trial.outcome(self.limits);
            findings.push(Finding { site: name.into(), target, trial, outcome, settled: None });
        }
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
                self.compare_all(name, target, question.pairs(), &is_done, &mut pages)?;
            let settled = unproven.settle(question, &trial, &comparisons);
            let outcome = settled.outcome();
            findings.push(Finding { site: name.into(), target, trial, outcome, settled: Some(settled) });
        }
        Ok(findings)
    }

    /// Compares pairs, one after the other, until `is_done`; what came of each, and of all.
    fn compare_all(
        &self,
        site: &str,
        target: Target,
        pairs: &[Pair],
        is_done: &dyn Fn(&Trial) -> bool,
        pages: &mut Pages,
    ) -> Result<(Trial, Vec<Comparison>), StateError> {
        let (mut trial, mut comparisons) = (Trial::default(), Vec::new());
        let mut counted = self.progress.start(site, target, self.limits.same_needed());
        for pair in pairs {
            let comparison = match self.known.get(pair) {
                Some(known) => known.clone(),
                None => {
                    let comparison = self.compare(pair, pages);
                    self.known.note(pair, &comparison)?;
                    comparison
                }
            };
            trial.count(pair, &comparison);
            counted(&trial);
            comparisons.push(comparison);
            if is_done(&trial) {
                break;
            }
        }
        Ok((trial, comparisons))
    }

    fn compare(&self, pair: &Pair, pages: &mut Pages) -> Comparison {
        // Both are asked for permission before either is fetched.
        let permitted = self.fetcher.check(&pair.url).and_then(|()| self.fetcher.check(&pair.other));
        let url = match permitted.and_then(|()| self.page(&pair.url, pages)) {
            Ok(page) => page,
            Err(error) => return Comparison::Failed(error.to_string()),
        };
        match self.page(&pair.other, pages) {
            Ok(page) if page.is_same_page(&url) => Comparison::Same(Some(page)),
            Ok(_) => Comparison::Different,
            Err(error) if error.is_missing() => Comparison::Different,
            Err(error) => Comparison::Failed(error.to_string()),
        }
    }

    fn page(&self, url: &str, pages: &mut Pages) -> Result<Fingerprint, FetchError> {
        if let Some(known) = pages.get(url) {
            return known.clone();
        }
        let fetched = self.fetcher.fetch(url);
        pages.insert(url.to_owned(), fetched.clone());
        fetched
    }
}
