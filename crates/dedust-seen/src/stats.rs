/*!
What a set holds, and what answering took.
*/

use std::sync::atomic::{AtomicU64, Ordering};

/// Figures of a [`SeenSet`](crate::SeenSet). Counts of answers are since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenStats {
    /// Distinct keys.
    pub keys: u64,
    /// Those in memory, and in logs on disk.
    pub recent_keys: u64,
    /// Sorted files that hold the others.
    pub runs: u64,
    /// Bytes of all files.
    pub disk_bytes: u64,
    /// Bytes that are kept in memory for the keys on disk.
    pub index_bytes: u64,
    /// Keys asked for.
    pub lookups: u64,
    /// Keys that were new.
    pub new_keys: u64,
    /// Times that 16 bytes were read from disk to be sure.
    pub disk_reads: u64,
    /// Disk reads that found another key.
    pub wasted_reads: u64,
    /// Merges of runs.
    pub merges: u64,
    /// Keys in the last batch before the set was cut off while open, as by `kill -9`; whoever asked for them may not
    /// have had the answer. None where it was closed, or is new.
    pub unanswered_keys: Option<u64>,
}

/// Counts of many threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) disk_reads: AtomicU64,
    pub(crate) wasted_reads: AtomicU64,
    pub(crate) merges: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}
