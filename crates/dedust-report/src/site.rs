/*!
One site in full: its rules with what they save and risk, what is left, its groups, tree and parameters.
*/

use std::cmp::Reverse;

use dedust::Scratch;
use dedust::rules::{Evidence, RefusedRule, SiteEntry};
use dedust_crawl::printable;
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

use crate::data::{EvidenceReport, GroupReport, ParamMap, RefusedReport, RuleReport, SiteDetail, VisitPoint};
use crate::rows::{Row, SiteUrls};
use crate::rule_state::{is_by_hand, state, trust};
use crate::site_facts::{Limits, SiteFacts, with_rules};
use crate::{curve, params, remaining};

/// URLs of a group that are shown.
const SHOWN_URLS: usize = 12;
/// Points of the curve of visits.
const VISIT_POINTS: usize = 60;

/// All there is to show of a site.
pub(crate) fn detail(facts: &SiteFacts<'_>) -> SiteDetail {
    let mut rules: Vec<RuleReport> = facts.rules.map_or_else(Vec::new, |rules| {
        rules.entries().enumerate().map(|(at, rule)| report(at, rule, facts.limits)).collect()
    });
    if let Some(urls) = facts.urls {
        count_changed(urls, &mut rules);
        count_saved(facts, urls, &mut rules);
    }
    SiteDetail {
        site: facts.site.into(),
        hosts: facts.rules.map_or_else(Vec::new, |rules| rules.hosts().to_vec()),
        refused: facts.rules.map_or_else(Vec::new, |rules| {
            rules.refused().iter().take(facts.limits.refused).map(refused).collect()
        }),
        curve: curve::saved_by_best(facts, &rules),
        visits: facts.urls.map_or_else(Vec::new, visits),
        learning: Vec::new(),
        remaining: remaining::find(facts),
        groups: facts.urls.map_or_else(Vec::new, |urls| groups(facts, urls)),
        tree: facts
            .corpus
            .zip(facts.tree)
            .map_or_else(Vec::new, |(corpus, tree_of)| tree_of(corpus, facts.normalizer, facts.limits.nodes)),
        params: facts.urls.map_or_else(ParamMap::default, |urls| params::map(facts, urls)),
        rules,
    }
}

fn report(index: usize, rule: SiteEntry<'_>, limits: Limits) -> RuleReport {
    let Evidence {
        urls, groups, failed_groups, failure_bound, kinds, observed_until, examples, verdict, ..
    } = rule.evidence();
    RuleReport {
        index,
        id: rule.id().to_string(),
        sentence: rule.to_string(),
        applied: rule.is_applied(),
        state: state(rule),
        trust: trust(rule),
        fetchable: rule.fetchable(),
        off: rule.off().cloned(),
        pinned: rule.pinned().cloned(),
        evidence: (!is_by_hand(rule)).then(|| EvidenceReport {
            urls: *urls,
            groups: *groups,
            failed_groups: *failed_groups,
            bound: (failure_bound * 1e4).round() / 1e4,
            kinds: kinds.clone(),
            until: observed_until.clone(),
        }),
        verdict: verdict.clone(),
        examples: examples
            .iter()
            .take(limits.examples)
            .map(|example| [example.url.clone(), example.duplicate.clone()])
            .collect(),
        changed: None,
        saves: None,
        saves_bytes: None,
        hides: None,
    }
}

fn refused(refused: &RefusedRule) -> RefusedReport {
    RefusedReport {
        sentence: refused.to_string(),
        reason: refused.reason.clone(),
        votes: refused.votes,
        against: refused.against,
        missing: refused.missing,
        merged: refused.merged,
        verdict: refused.fetched.as_ref().map(|fetched| fetched.verdict.clone()),
    }
}

/// How many URLs each rule changes.
fn count_changed(urls: &SiteUrls<'_>, rules: &mut [RuleReport]) {
    let mut changed = vec![0_u64; rules.len()];
    for row in &urls.rows {
        let mut counted: Vec<u32> = urls.rules_of(row).to_vec();
        counted.dedup();
        for rule in counted {
            if let Some(changed) = changed.get_mut(rule as usize) {
                *changed += 1;
            }
        }
    }
    for (rule, changed) in rules.iter_mut().zip(changed) {
        rule.changed = Some(changed);
    }
}

/// What would be fetched as well without each rule: exact, since all URLs that it changes get the key that they have without it.
fn count_saved(facts: &SiteFacts<'_>, urls: &SiteUrls<'_>, rules: &mut [RuleReport]) {
    let Some(site_rules) = facts.rules else { return };
    let with = urls.figures();
    let mut scratch = Scratch::default();
    for rule in rules.iter_mut() {
        let is_changed = rule.changed.is_some_and(|changed| changed > 0);
        // A rule that ends the list also concerns URLs that it leaves as they are.
        let is_last = site_rules.rules().get(rule.index).is_some_and(|rule| rule.last);
        if !rule.applied || !(is_changed || is_last) {
            (rule.saves, rule.saves_bytes, rule.hides) = (Some(0), Some(0), Some(0));
            continue;
        }
        let kept = |at: usize| at != rule.index;
        let Some(normalizer) = with_rules(facts, site_rules, kept) else { continue };
        let mut others: HashMap<usize, u128> = HashMap::default();
        for (at, row) in urls.rows.iter().enumerate() {
            if is_last || urls.rules_of(row).contains(&(rule.index as u32)) {
                let key = normalizer.key_with(urls.url(row), &mut scratch);
                others.insert(at, key.map_or(row.key, xxh3_128));
            }
        }
        let without = urls.figures_with(|at, row| others.get(&at).copied().unwrap_or(row.key));
        rule.saves = Some(without.keys as i64 - with.keys as i64);
        rule.saves_bytes = Some(with.saved_bytes as i64 - without.saved_bytes as i64);
        rule.hides = Some(without.covered as i64 - with.covered as i64);
    }
}

/// What a crawler meets and fetches, in the order of the crawl.
fn visits(urls: &SiteUrls<'_>) -> Vec<VisitPoint> {
    let mut keys: HashSet<u128> = HashSet::default();
    let mut pages: HashSet<u32> = HashSet::default();
    let mut unknown = 0;
    let step = urls.rows.len().div_ceil(VISIT_POINTS).max(1);
    let mut points = vec![VisitPoint { met: 0, fetched: 0, pages: 0 }];
    for (at, row) in urls.rows.iter().enumerate() {
        keys.insert(row.key);
        match row.page {
            Some(page) => _ = pages.insert(page),
            None => unknown += 1,
        }
        if (at + 1).is_multiple_of(step) || at + 1 == urls.rows.len() {
            points.push(VisitPoint {
                met: at as u64 + 1,
                fetched: keys.len() as u64,
                pages: pages.len() as u64 + unknown,
            });
        }
    }
    points
}

/// The groups that save most: by bytes, by URLs, and then as they were met.
fn groups(facts: &SiteFacts<'_>, urls: &SiteUrls<'_>) -> Vec<GroupReport> {
    let mut place_by_key: HashMap<u128, usize> = HashMap::default();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in &urls.rows {
        let next = groups.len();
        let place = *place_by_key.entry(row.key).or_insert(next);
        match groups.get_mut(place) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let saved = |group: &[&Row]| group[1..].iter().filter_map(|row| row.size).sum::<u64>();
    groups.retain(|group| group.len() > 1);
    groups.sort_by_cached_key(|group| Reverse((saved(group), group.len())));
    groups.truncate(facts.limits.groups);
    let mut scratch = Scratch::default();
    groups
        .iter()
        .map(|group| {
            let of_row = |row: &&Row| urls.rules_of(row).iter().map(|&rule| rule as usize);
            let mut rules: Vec<usize> = group.iter().flat_map(of_row).collect();
            rules.sort_unstable();
            rules.dedup();
            let members = group.iter().map(|row| row.number);
            let pages: HashSet<u32> = group.iter().filter_map(|row| row.page).collect();
            GroupReport {
                canonical: printable(&urls.store.canonical_of(members, &mut scratch).url),
                title: group.iter().find_map(|row| facts.titles.get(&row.number)).cloned(),
                size: group.len() as u64,
                saved_bytes: saved(group),
                pages: pages.len() as u64,
                urls: group.iter().take(SHOWN_URLS).map(|row| printable(urls.url(row))).collect(),
                rules,
            }
        })
        .collect()
}
