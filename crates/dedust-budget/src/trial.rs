/*!
How far a plan can be followed: tried on pages that had no part in making it.

What a plan expects to lose is too little, since patterns are chosen that look cheap, and too much, since lines of a pattern are met again
among those of its URLs that are fetched. So a crawl is tried that is known to its half and goes on as long again: a plan is made of one
half, chosen by hash, and what would have been lost of the other is counted, several times. The plan of the whole crawl is followed as far
as these together lose no more than is allowed.
*/

use foldhash::{HashMap, HashMapExt as _};

use crate::corpus::Corpus;
use crate::crawl::Row;
use crate::plan::{LeaveOut, plan};

/// Trials: two for each way to halve the crawl.
const FOLDS: u64 = 12;

/// Expected losses that are tried, for each doubling.
const STEPS: i32 = 32;

fn is_held_out(row: &Row, fold: u64) -> bool {
    // Not the bits by which URLs are sampled.
    (row.hash >> (fold / 2)) & 1 == fold % 2
}

/// Whether a URL is among a share of all that are sampled.
pub(crate) fn is_sampled(hash: u64, share: f64) -> bool {
    // 53 bits are exact.
    ((hash >> 11) as f64) < share * (1u64 << 53) as f64
}

/// The share of all text that a plan may expect to lose, so that it loses no more than `allowed`; and what it then lost when it was tried.
pub(crate) fn allowed_loss(corpus: &Corpus, allowed: f64) -> (f64, f64) {
    let curves: Vec<Vec<(f64, f64)>> = (0..FOLDS).map(|fold| curve(corpus, fold)).collect();
    let lost_at = |expected: f64| -> f64 {
        let lost: Vec<f64> = curves
            .iter()
            .map(|curve| {
                let next = curve.partition_point(|(step, _)| *step <= expected);
                let before = if next == 0 { (0.0, 0.0) } else { curve[next - 1] };
                // The next pattern is left out in part.
                let part =
                    |after: &(f64, f64)| (expected - before.0) / (after.0 - before.0) * (after.1 - before.1);
                before.1 + curve.get(next).map_or(0.0, part)
            })
            .collect();
        lost.iter().sum::<f64>() / FOLDS as f64
    };
    for step in (-6 * STEPS..=2 * STEPS).rev() {
        let expected = allowed * 2f64.powf(f64::from(step) / f64::from(STEPS));
        let lost = lost_at(expected);
        if lost <= allowed {
            return (expected, lost);
        }
    }
    (0.0, 0.0)
}

/// For each step of a plan made without a part of the crawl, what it expects to lose and what it loses of the new text of that part.
fn curve(corpus: &Corpus, fold: u64) -> Vec<(f64, f64)> {
    let others = |row: &Row| !is_held_out(row, fold);
    let plan = plan(corpus, others);
    let known = corpus.count_lines(others);
    let mut step_of = vec![None; plan.figures.len()];
    for (index, step) in plan.steps.iter().enumerate() {
        step_of[step.pattern as usize] = Some((index as u32, step.fetch));
    }
    const FETCHED: u32 = u32::MAX;
    let mut lost_at: HashMap<u32, u32> = HashMap::new();
    for (index, host) in corpus.hosts.iter().enumerate() {
        for row in host.rows.clone().map(|row| row as usize).filter(|row| !others(&corpus.rows[*row])) {
            let pattern = plan.pattern_of(index, &corpus.tests[row]);
            let hash = corpus.rows[row].hash;
            let step = match pattern.and_then(|pattern| step_of[pattern as usize]) {
                Some((step, fetch)) if !is_sampled(hash, fetch) => step,
                _ => FETCHED,
            };
            for line in corpus.rows[row].lines.iter().filter(|line| known.of(**line) == 0) {
                let at = lost_at.entry(*line).or_default();
                *at = step.max(*at);
            }
        }
    }
    let new = lost_at.len().max(1) as f64;
    let mut lost = vec![0u64; plan.steps.len()];
    for step in lost_at.into_values().filter(|step| *step != FETCHED) {
        lost[step as usize] += 1;
    }
    let mut sum = 0;
    let so_far = |(step, lost): (&LeaveOut, u64)| {
        sum += lost;
        (step.lost, sum as f64 / new)
    };
    plan.steps.iter().zip(lost).map(so_far).collect()
}
