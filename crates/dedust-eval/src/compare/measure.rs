/*!
One method on one site: what it learned, what that cost, and what it is worth.

Costs are CPU time of the thread that works, so that other work on the machine does not count. No method uses more
than one thread for a site.
*/

use std::time::Duration;

use cpu_time::ThreadTime;
use dedust::rules::{Promise, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet, Scratch};
use dedust_learn::support::{LearnSettings, Learned, Learner};
use xxhash_rust::xxh3::xxh3_128;

use super::RefusedRules;
use super::comparison::RuleCounts;
use super::sample::DividedSite;
use super::scored::Scope;
use crate::metrics::Tally;

/// One method on one site.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The registrable domain.
    pub site: Box<str>,
    /// The name of the method.
    pub method: &'static str,
    /// How many rules it made.
    pub rules: RuleCounts,
    /// CPU time from the corpus to the rules.
    pub learn_seconds: f64,
    /// CPU time for the key of one URL, the mean over the unseen ones.
    pub nanoseconds_per_url: f64,
    /// The URLs over which that mean is taken.
    pub timed_urls: u64,
    /// Scored on the URLs that were not learned from.
    pub unseen: Measured,
    /// Scored on all URLs.
    pub whole: Measured,
}

/// The counts of one set of URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Grouping URLs by their keys.
    pub key: Tally,
    /// Grouping URLs by their canonical URLs.
    pub url: Tally,
}

impl Row {
    /// The counts of a scope.
    pub fn measured(&self, scope: Scope) -> &Measured {
        match scope {
            Scope::Unseen => &self.unseen,
            Scope::Whole => &self.whole,
        }
    }
}

/// What a method made of a site.
pub(super) struct LearnedSite {
    pub(super) rules: SiteRules,
    pub(super) counts: RuleCounts,
    pub(super) promise: Option<Promise>,
    pub(super) seconds: f64,
}

/// Learns from the training share of a site; nothing, where it is a mirror that the learner leaves out. Mirrors are not
/// applied to its URLs, as they are not by a [`Normalizer`] without mirrors, which is what `dedust normalize` uses by default.
pub(super) fn learn(
    site: &DividedSite,
    learner: &dyn Learner,
    settings: &LearnSettings,
) -> Result<LearnedSite, RefusedRules> {
    let started = ThreadTime::now();
    let corpus = site.corpus().filter(|_| !(site.mirror_of().is_some() && learner.leaves_out_mirrors()));
    let learned = corpus.map_or_else(Learned::default, |corpus| learner.learn(corpus, settings, &()));
    let seconds = started.elapsed().as_secs_f64();
    let (raw, qualified) = (learned.raw_rules as u64, learned.qualified_rules as u64);
    let promise = learned.promise;
    let rules = learned.into_rules(SiteSummary::default()).map_err(|source| RefusedRules {
        site: site.site().into(),
        method: learner.name(),
        source,
    })?;
    let counts = RuleCounts { raw, qualified, deployed: rules.len() as u64 };
    Ok(LearnedSite { rules, counts, promise, seconds })
}

/// The normalizer of one site's rules alone.
pub(super) fn normalizer(
    site: &DividedSite,
    learner: &dyn Learner,
    rules: SiteRules,
) -> Result<Normalizer, RefusedRules> {
    let mut alone = RuleSet::new(learner.name());
    alone.insert(site.site(), rules).map_err(|source| RefusedRules {
        site: site.site().into(),
        method: learner.name(),
        source,
    })?;
    Ok(Normalizer::compile(&alone))
}

/// Scores a normalizer on the labelled URLs of a site: the unseen ones, and all.
pub(super) fn score(site: &DividedSite, learner: &dyn Learner, normalizer: &Normalizer) -> [Measured; 2] {
    let scored = site.scored();
    let mut scratch = Scratch::default();
    let groups: Vec<(u128, u128)> = (0..scored.len())
        .map(|row| {
            let (url, hash) = (scored.url(row), scored.hash(row));
            if learner.skips_safe_normalization() {
                return (hash, hash);
            }
            let both = normalizer.both_with(url, &mut scratch);
            both.map_or((hash, hash), |both| (xxh3_128(both.key), xxh3_128(both.canonical)))
        })
        .collect();
    Scope::ALL.map(|scope| Measured {
        key: scored.tally(scope, |row| groups[row].0),
        url: scored.tally(scope, |row| groups[row].1),
    })
}

/// CPU nanoseconds per key, and the number of URLs: the unseen ones again and again, for at least this long. All
/// URLs where none is unseen.
pub(super) fn time(
    site: &DividedSite,
    learner: &dyn Learner,
    normalizer: &Normalizer,
    at_least: Duration,
) -> (f64, u64) {
    let scored = site.scored();
    let scope = if scored.rows(Scope::Unseen).next().is_some() { Scope::Unseen } else { Scope::Whole };
    let urls: Vec<&[u8]> = scored.urls(scope).collect();
    if urls.is_empty() || learner.skips_safe_normalization() {
        return (0.0, urls.len() as u64);
    }
    let mut scratch = Scratch::default();
    let mut key_bytes = 0;
    let mut rounds = 0;
    let started = ThreadTime::now();
    loop {
        for url in &urls {
            key_bytes += normalizer.key_with(url, &mut scratch).map_or(0, <[u8]>::len);
        }
        rounds += 1;
        let elapsed = started.elapsed();
        if elapsed >= at_least {
            // The keys are looked at, or they might not be made.
            std::hint::black_box(key_bytes);
            let urls = urls.len() as u64;
            return (elapsed.as_nanos() as f64 / (rounds * urls) as f64, urls);
        }
    }
}
