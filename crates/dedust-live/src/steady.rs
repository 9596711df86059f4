/*!
Keeps rules that were applied and were not learned again, unless something was seen that speaks against them.

What a rule has skipped cannot speak for it any more, and a learner that looks often would take back today what it found yesterday. So
rules fall because of what was seen, and not for want of proof: the URLs that a rule joined and that the new rules do not are asked.
*/

use std::collections::BTreeMap;

use dedust::rules::{Decision, Rule, SiteRules};
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashMap;

/// The share of pairs that may be of two pages, of those that a rule joins and that were fetched.
const MOST_FAILING: f64 = 0.05;
/// Pairs that are asked, at most.
const MOST_PAIRS: usize = 5000;

/// What two URLs showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The same page.
    Same,
    /// Two pages.
    Different,
    /// Nothing that says which.
    Unknown,
}

/// What speaks for a rule that was applied before.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    same: u32,
    different: u32,
}

/// Adds rules of before to new rules of a site. `is_fetched` says whether an entry was fetched, `shown` what two that were have shown.
pub(crate) fn keep_steady(
    rules: &mut RuleSet,
    before: &RuleSet,
    site: &str,
    urls: &[&[u8]],
    is_fetched: impl Fn(u32) -> bool,
    shown: impl Fn(u32, u32) -> Shown,
) {
    let Some(old) = before.site(site).filter(|old| old.applied().next().is_some()) else { return };
    let (earlier, learned) = (Normalizer::compile(before), Normalizer::compile(rules));
    let mut scratch = Scratch::default();
    let mut holder_of: HashMap<Box<[u8]>, u32> = HashMap::default();
    let mut separated = Vec::new();
    // Entries that were fetched come first, so that what was skipped is compared with what was seen.
    let entries = || 0..urls.len() as u32;
    let fetched = entries().filter(|&entry| is_fetched(entry));
    for entry in fetched.chain(entries().filter(|&entry| !is_fetched(entry))) {
        let url = urls[entry as usize];
        let Ok(key) = earlier.key_with(url, &mut scratch) else { continue };
        let Some(&holder) = holder_of.get(key) else {
            holder_of.insert(key.into(), entry);
            continue;
        };
        let key = learned.key_with(url, &mut scratch).map(<[u8]>::to_vec).ok();
        let holder_key = learned.key_with(urls[holder as usize], &mut scratch).ok();
        if key.as_deref() != holder_key && separated.len() < MOST_PAIRS {
            separated.push((entry, holder));
        }
    }
    let mut votes_on: BTreeMap<usize, Votes> = BTreeMap::new();
    for &(entry, holder) in &separated {
        let (Ok(one), Ok(two)) =
            (earlier.explain(urls[entry as usize]), earlier.explain(urls[holder as usize]))
        else {
            continue;
        };
        let shown = if is_fetched(entry) { shown(entry, holder) } else { Shown::Unknown };
        let mut indexes: Vec<usize> = one.rules.iter().chain(&two.rules).copied().collect();
        indexes.sort_unstable();
        indexes.dedup();
        for index in indexes {
            let votes = votes_on.entry(index).or_default();
            votes.same += u32::from(shown == Shown::Same);
            votes.different += u32::from(shown == Shown::Different);
        }
    }
    let is_learned = |rule: &Rule| {
        rules.site(site).is_some_and(|learned| learned.rules().iter().any(|other| other.says_same(rule)))
    };
    let stands =
        |votes: &Votes| votes.same > 0 && f64::from(votes.different) <= MOST_FAILING * f64::from(votes.same);
    let kept: Vec<Rule> = votes_on
        .iter()
        .filter(|(_, votes)| stands(votes))
        .filter_map(|(&index, _)| old.rules().get(index))
        .filter(|rule| rule.is_applied() && !is_learned(rule))
        .map(|rule| Rule { pinned: Some(Box::new(Decision::default())), ..rule.clone() })
        .collect();
    if kept.is_empty() {
        return;
    }
    add(rules, old, site, kept);
}

/// Adds rules behind those of a site, where they can stand together.
fn add(rules: &mut RuleSet, old: &SiteRules, site: &str, kept: Vec<Rule>) {
    let mut earlier = rules.without_sites();
    let Ok(kept) = SiteRules::new(old.summary().clone(), kept) else { return };
    let kept = kept.with_hosts(old.hosts().to_vec());
    if earlier.insert(site, kept).is_err() {
        return;
    }
    let mut changed = rules.clone();
    changed.keep(&earlier);
    let Some(all) = changed.site(site) else { return };
    let unpinned = all.rules().iter().map(|rule| Rule { pinned: None, ..rule.clone() }).collect();
    if let Ok(unpinned) = all.clone().with_rules(unpinned)
        && changed.insert(site, unpinned).is_ok()
    {
        *rules = changed;
    }
}
