/*!
What the best edits of a site save together: one edit more at each point, those that save most by themselves first.
*/

use std::cmp::Reverse;

use dedust::Scratch;
use foldhash::HashSet;
use xxhash_rust::xxh3::xxh3_128;

use crate::data::{CurvePoint, EditReport};
use crate::site::{SiteFacts, with_edits};

/// Keys that are made for all points of a curve together, and points of it.
const MAX_KEYS: usize = 6_000_000;
const MAX_POINTS: usize = 48;

/// The curve from safe normalization alone to all edits. Empty without a crawl.
pub(crate) fn saved_by_best(facts: &SiteFacts<'_>, edits: &[EditReport]) -> Vec<CurvePoint> {
    let (Some(urls), Some(rules)) = (facts.urls, facts.rules) else { return Vec::new() };
    let mut best: Vec<&EditReport> =
        edits.iter().filter(|edit| edit.applied && edit.changed > Some(0)).collect();
    best.sort_by_key(|edit| (Reverse(edit.saves), Reverse(edit.changed), edit.index));
    let most = (MAX_KEYS / urls.rows.len().max(1)).clamp(2, MAX_POINTS);
    let mut points = Vec::new();
    let mut scratch = Scratch::default();
    for count in steps(best.len(), most) {
        let kept: HashSet<usize> = best[..count].iter().map(|edit| edit.index).collect();
        let Some(normalizer) = with_edits(facts.site, rules, |at| kept.contains(&at)) else { continue };
        let mut keys: HashSet<u128> = HashSet::default();
        for row in &urls.rows {
            keys.insert(normalizer.key_with(urls.url(row), &mut scratch).map_or(row.key, xxh3_128));
        }
        points.push(CurvePoint {
            edit: count.checked_sub(1).map(|last| best[last].index),
            edits: count,
            saved: (urls.rows.len() - keys.len()) as u64,
        });
    }
    points
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
