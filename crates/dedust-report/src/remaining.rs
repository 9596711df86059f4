/*!
Which duplicates are left by the rules, and why: URLs that are known to show one page and still have several keys.

Of the URLs of a page, the first of each key is compared with the first of all. A rule that is not applied is the reason if the
two have one key with it, made after all others.
*/

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dedust::rules::{Evidence, Rule, UrlPart, tokenize};
use dedust::{Normalizer, ParsedUrl, Scratch};
use dedust_crawl::printable;
use foldhash::HashMap;

use crate::data::{Remaining, RemainingReason};
use crate::rows::Row;
use crate::site_facts::{SiteFacts, compiled};

/// Pairs for which rules that are not applied are tried, rules that are, and kinds of differences that are shown.
const TRIED_PAIRS: usize = 3000;
const TRIED_RULES: usize = 60;
const SHOWN: usize = 12;
/// Parts in which two URLs differ that are named.
const NAMED_PARTS: usize = 4;

/// A rule that is not applied, made after those that are.
struct Trial {
    reason: RemainingReason,
    sentence: String,
    normalizer: Normalizer,
}

/// The kinds of duplicates that are left, most first. Empty where no pages are known.
pub(crate) fn find(facts: &SiteFacts<'_>) -> Vec<Remaining> {
    let Some(urls) = facts.urls else { return Vec::new() };
    let mut rows_by_page: HashMap<u32, Vec<&Row>> = HashMap::default();
    let mut pairs: Vec<(&Row, &Row)> = Vec::new();
    for row in &urls.rows {
        let Some(page) = row.page else { continue };
        let firsts = rows_by_page.entry(page).or_default();
        if firsts.iter().all(|first| first.key != row.key) {
            if let Some(first) = firsts.first() {
                pairs.push((first, row));
            }
            firsts.push(row);
        }
    }
    let trials = trials(facts);
    let mut scratch = Scratch::default();
    let mut kinds: BTreeMap<(RemainingReason, Option<String>, Vec<String>), Remaining> = BTreeMap::new();
    for (at, (first, other)) in pairs.into_iter().enumerate() {
        let (first, other) = (urls.url(first), urls.url(other));
        let joins = |trial: &&Trial, scratch: &mut Scratch| {
            let key = trial.normalizer.key_with(first, scratch).map(<[u8]>::to_vec);
            key.is_ok_and(|key| trial.normalizer.key_with(other, scratch).is_ok_and(|other| *other == *key))
        };
        let trial = trials.iter().filter(|_| at < TRIED_PAIRS).find(|trial| joins(trial, &mut scratch));
        let parts = differing(first, other, facts.site);
        let reason = trial.map_or(RemainingReason::NoRule, |trial| trial.reason);
        let rule = trial.map(|trial| trial.sentence.clone());
        // Where a rule is the reason, it says what differs.
        let named = if rule.is_some() { Vec::new() } else { parts.clone() };
        let kind = kinds.entry((reason, rule.clone(), named)).or_insert_with(|| Remaining {
            parts,
            reason,
            rule,
            duplicates: 0,
            example: [printable(first), printable(other)],
        });
        kind.duplicates += 1;
    }
    let mut kinds: Vec<Remaining> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| Reverse(kind.duplicates));
    if kinds.len() > SHOWN {
        let more: u64 = kinds[SHOWN..].iter().map(|kind| kind.duplicates).sum();
        kinds.truncate(SHOWN + 1);
        if let Some(last) = kinds.last_mut() {
            (last.parts, last.reason, last.rule, last.duplicates) =
                (vec!["other parts".into()], RemainingReason::NoRule, None, more);
        }
    }
    kinds
}

/// The rules of the site that are not applied.
fn trials(facts: &SiteFacts<'_>) -> Vec<Trial> {
    let Some(site_rules) = facts.rules else { return Vec::new() };
    let not_applied = site_rules.rules().iter().filter(|rule| !rule.is_applied()).map(|rule| {
        let reason = if rule.off.is_some() { RemainingReason::Off } else { RemainingReason::Refuted };
        (reason, rule.to_string(), rule.clone())
    });
    let refused = site_rules.refused().iter().map(|refused| {
        let reason =
            if refused.missing.is_some() { RemainingReason::Unproven } else { RemainingReason::Refused };
        (reason, refused.to_string(), refused.to_rule(Evidence::default()))
    });
    let tried = not_applied.chain(refused).take(TRIED_RULES).filter_map(|(reason, sentence, rule)| {
        let mut rules: Vec<Rule> = site_rules.applied().map(|(_, rule)| rule.clone()).collect();
        rules.push(Rule { off: None, evidence: Evidence::default(), ..rule });
        Some(Trial { reason, sentence, normalizer: compiled(facts, site_rules, rules)? })
    });
    let mut trials: Vec<Trial> = tried.collect();
    trials.sort_by_key(|trial| trial.reason);
    trials
}

/// The parts in which two URLs differ: `scheme`, `host`, `path`, `q.sort`, ...
fn differing(first: &[u8], other: &[u8], site: &str) -> Vec<String> {
    let tokens = |url: &[u8]| {
        let parsed = ParsedUrl::parse(url).ok()?;
        tokenize(&parsed, site).map(|tokens| tokens.into_iter().collect::<BTreeMap<_, _>>())
    };
    let (Some(first), Some(other)) = (tokens(first), tokens(other)) else { return vec!["bytes".into()] };
    let keys = first.keys().chain(other.keys().filter(|key| !first.contains_key(key)));
    let mut parts: Vec<String> = keys.filter(|key| first.get(key) != other.get(key)).map(name).collect();
    parts.sort();
    parts.dedup();
    if parts.len() > NAMED_PARTS {
        let more = parts.len() - NAMED_PARTS;
        parts.truncate(NAMED_PARTS);
        parts.push(if more == 1 { "1 other part".into() } else { format!("{more} other parts") });
    }
    parts
}

fn name(key: &UrlPart) -> String {
    match key {
        UrlPart::Subdomain(_) => "host".into(),
        UrlPart::PathSegment(_) => "path".into(),
        UrlPart::TrailingSlash => "trailing slash".into(),
        _ => key.to_string(),
    }
}
