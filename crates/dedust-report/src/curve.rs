/*!
What the best rules of a site save together: one rule more at each point, always the one that saves most with those before it.

To find that rule all others are tried, which takes the square of their number. Where that is too much, rules come in the order of what
they save by themselves.
*/

use std::cmp::Reverse;

use dedust::Scratch;
use foldhash::HashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::data::{CurvePoint, RuleReport};
use crate::rows::Row;
use crate::site_facts::{SiteFacts, with_rules};

/// Keys that are made for all points of a curve together, and points of it.
const MAX_KEYS: usize = 2_000_000;
const MAX_POINTS: usize = 48;

/// The curve from safe normalization alone to all rules. Empty without a crawl.
pub(crate) fn saved_by_best(facts: &SiteFacts<'_>, rules: &[RuleReport]) -> Vec<CurvePoint> {
    let Some(urls) = facts.urls else { return Vec::new() };
    let mut best: Vec<&RuleReport> =
        rules.iter().filter(|rule| rule.applied && rule.changed > Some(0)).collect();
    best.sort_by_key(|rule| (Reverse(rule.saves), Reverse(rule.changed), rule.index));
    let mut order: Vec<usize> = best.iter().map(|rule| rule.index).collect();
    let tried = order.len() * (order.len() + 1) / 2;
    if tried * urls.rows.len() <= MAX_KEYS {
        order = greedy(facts, &order);
    }
    let most = (MAX_KEYS / urls.rows.len().max(1)).clamp(2, MAX_POINTS);
    let points = steps(order.len(), most).into_iter().filter_map(|count| {
        Some(CurvePoint {
            rule: count.checked_sub(1).map(|last| order[last]),
            rules: count,
            saved: saved(facts, &order[..count])?,
        })
    });
    points.collect()
}

/// Rules in an order in which each saves most with those before it.
fn greedy(facts: &SiteFacts<'_>, rules: &[usize]) -> Vec<usize> {
    let (mut chosen, mut left) = (Vec::new(), rules.to_vec());
    while left.len() > 1 {
        let with = |rule: usize| {
            chosen.push(rule);
            let saved = saved(facts, &chosen);
            chosen.pop();
            saved
        };
        let found: Vec<Option<u64>> = left.iter().copied().map(with).collect();
        // The first of those that save most, so that the order of what they save by themselves decides.
        let place = (0..left.len()).max_by_key(|&at| (found[at], Reverse(at))).unwrap_or(0);
        chosen.push(left.remove(place));
    }
    chosen.extend(left);
    chosen
}

/// URLs that need not be fetched with some of the rules; `None` if these cannot stand alone.
fn saved(facts: &SiteFacts<'_>, chosen: &[usize]) -> Option<u64> {
    let (urls, rules) = (facts.urls?, facts.rules?);
    let kept: HashSet<usize> = chosen.iter().copied().collect();
    let normalizer = with_rules(facts, rules, |at| kept.contains(&at))?;
    let mut scratch = Scratch::default();
    let mut key = |row: &Row| normalizer.key_with(urls.url(row), &mut scratch).map_or(row.safe, xxh3_64);
    let keys: HashSet<u64> = urls.rows.iter().map(&mut key).collect();
    Some((urls.rows.len() - keys.len()) as u64)
}

/// At most `most` numbers from 0 to `last`, close together at the start, where a curve rises.
fn steps(last: usize, most: usize) -> Vec<usize> {
    if last < most {
        return (0..=last).collect();
    }
    let close = most / 2;
    let mut steps: Vec<usize> = (0..close).collect();
    let far = most - close;
    steps.extend((1..=far).map(|step| close + (last - close) * step / far));
    steps.dedup();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_from_nothing_to_all() {
        assert_eq!(steps(3, 48), [0, 1, 2, 3]);
        let many = steps(500, 48);
        assert_eq!((many[0], many[1], many.last().copied()), (0, 1, Some(500)));
        assert!(many.len() <= 49 && many.is_sorted_by(|a, b| a < b), "{many:?}");
    }
}
