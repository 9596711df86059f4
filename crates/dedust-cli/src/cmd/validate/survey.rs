/*!
Fetches and compares the pairs of all sites: several sites at a time, the rules of a site one after another.

Pages are fetched once, however many pairs they are part of; what is kept of them is small.
*/

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use dedust_fetch::{FetchError, Fetcher, Fingerprint};

use super::sample::{Pair, Sample, Target};
use super::state::State;
use super::trial::{Comparison, Limits, Trial};
use crate::progress::Validating;

/// Sites that are checked at a time.
const MAX_SITES_AT_ONCE: usize = 16;

/// The rules of a site and the pairs that put them to the test.
#[derive(Debug)]
pub(super) struct SiteSamples {
    pub(super) site: String,
    pub(super) samples: Vec<Sample>,
}

/// What came of one rule.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) site: String,
    pub(super) target: Target,
    pub(super) trial: Trial,
}

/// All that is needed to compare pairs.
pub(super) struct Survey<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) state: &'a State,
    pub(super) limits: Limits,
    pub(super) bars: &'a Validating,
}

/// What fetching the URLs of a site gave.
type Pages = HashMap<String, Result<Fingerprint, FetchError>>;

impl Survey<'_> {
    /// Checks all rules. The findings are in the order of the sites and their samples.
    pub(super) fn run(&self, sites: &[SiteSamples]) -> anyhow::Result<Vec<Finding>> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..sites.len().min(MAX_SITES_AT_ONCE) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(site) = sites.get(index) else { return };
                        let found = self.site(site);
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

    fn site(&self, site: &SiteSamples) -> anyhow::Result<Vec<Finding>> {
        let mut pages = Pages::new();
        let name = &site.site;
        site.samples
            .iter()
            .map(|sample| {
                let trial = self.rule(name, sample, &mut pages)?;
                Ok(Finding { site: name.clone(), target: sample.target, trial })
            })
            .collect()
    }

    fn rule(&self, site: &str, sample: &Sample, pages: &mut Pages) -> anyhow::Result<Trial> {
        let mut trial = Trial::default();
        let bar = self.bars.rule(format!("{site} {}", sample.target), self.limits.same_needed());
        for pair in &sample.pairs {
            let comparison = match self.state.get(pair) {
                Some(known) => known.clone(),
                None => {
                    let comparison = self.compare(pair, pages);
                    self.state.note(pair, &comparison)?;
                    comparison
                }
            };
            trial.count(pair, &comparison);
            bar.counts(trial.same, trial.different, trial.failed);
            if trial.decided(self.limits).is_some() {
                break;
            }
        }
        Ok(trial)
    }

    fn compare(&self, pair: &Pair, pages: &mut Pages) -> Comparison {
        // Both are asked for permission before either is fetched.
        let permitted = self.fetcher.check(&pair.url).and_then(|()| self.fetcher.check(&pair.other));
        let url = match permitted.and_then(|()| self.page(&pair.url, pages)) {
            Ok(page) => page,
            Err(error) => return Comparison::Failed(error.to_string()),
        };
        match self.page(&pair.other, pages) {
            Ok(page) if page.is_same_page(&url) => Comparison::Same,
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
