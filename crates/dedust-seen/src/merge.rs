/*!
Makes one run of several, and says when that is worth it.

Runs are of a size when they hold about as many generations. As soon as [`FAN_IN`] neighbours of a size are there
they are merged, smallest first, so that a key is written again only a few times, and there are only a few runs to search.
*/

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::SeenError;
use crate::file_names::Span;
use crate::folder::Folder;
use crate::run::{MAX_KEYS, Run, RunWriter};

/// Runs that are merged at once.
const FAN_IN: usize = 4;
/// Keys that are merged before looking whether to go on.
const KEYS_BETWEEN_LOOKS: u32 = 1 << 16;

/// The places of the runs to merge next, by their spans and numbers of keys in order.
pub(crate) fn choose(runs: &[(Span, u64)]) -> Option<std::ops::Range<usize>> {
    let size = |span: Span| span.len().ilog(FAN_IN as u64);
    (0..runs.len().saturating_sub(FAN_IN - 1))
        .map(|start| start..start + FAN_IN)
        .filter(|range| {
            let runs = &runs[range.clone()];
            runs.iter().all(|run| size(run.0) == size(runs[0].0))
                && runs.iter().map(|run| run.1).sum::<u64>() <= MAX_KEYS
        })
        .min_by_key(|range| size(runs[range.start].0))
}

/// Writes the keys of neighbouring runs, which have none in common, into one. Nothing comes of it once `stop` is set.
pub(crate) fn merge(folder: &Folder, runs: &[Arc<Run>], stop: &AtomicBool) -> Result<Option<Run>, SeenError> {
    let [first, .., last] = runs else { return Ok(None) };
    let span = Span { first: first.span.first, last: last.span.last };
    let mut writer = RunWriter::create(folder, span, runs.iter().map(|run| run.len()).sum())?;
    let mut sources = Vec::new();
    for run in runs {
        let mut keys = run.keys();
        if let Some(key) = keys.next()? {
            sources.push((key, keys));
        }
    }
    let mut written = 0_u32;
    // With so few sources, looking at each is faster than a heap.
    while let Some(least) = (0..sources.len()).min_by_key(|&source| sources[source].0) {
        let (key, keys) = &mut sources[least];
        writer.push(*key)?;
        written = written.wrapping_add(1);
        if written.is_multiple_of(KEYS_BETWEEN_LOOKS) && stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match keys.next()? {
            Some(next) => *key = next,
            None => drop(sources.swap_remove(least)),
        }
    }
    writer.finish().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_again_a_logarithmic_number_of_times() {
        let mut runs: Vec<(Span, u64)> = Vec::new();
        let mut written = 0;
        for generation in 1..=256 {
            runs.push((Span { first: generation, last: generation }, 1));
            while let Some(range) = choose(&runs) {
                let span = Span { first: runs[range.start].0.first, last: runs[range.end - 1].0.last };
                written += span.len();
                runs.splice(range, [(span, span.len())]);
            }
            assert!(runs.len() <= 3 * 4, "{runs:?}");
        }
        assert_eq!(runs, [(Span { first: 1, last: 256 }, 256)]);
        assert_eq!(written, 4 * 256);
    }

    #[test]
    fn runs_too_large_to_be_one_stay_apart() {
        let runs: Vec<_> =
            (1..=8).map(|generation| (Span { first: generation, last: generation }, MAX_KEYS / 3)).collect();
        assert_eq!(choose(&runs), None);
    }
}
