/*!
What a set holds, and what answering took.
*/

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
    /// Merges of runs.
    pub merges: u64,
    /// Bytes at the end of logs that were no whole records when the set was opened, as after a loss of power. They were
    /// cut off: keys in them are new once more.
    pub cut_bytes: u64,
    /// Whether the set was opened with [other rules](crate::SeenOptions::rules) than before: pages whose key has changed are new
    /// once more; on a server all pages, but for those that were met with the same rules.
    pub rules_changed: bool,
    /// Keys that a server was asked for. All others this process had heard to be seen before.
    pub asked_keys: u64,
    /// Keys that were said to be new because the answer of a server was lost. Some of them may have been seen before.
    pub unconfirmed_keys: u64,
    /// How often the connection to a server was made again.
    pub reconnects: u64,
    /// How often a server was found without the set, as after `FLUSHALL` or a restart without its files. It was made again with the
    /// same secret; keys that were there are new once more.
    pub removals: u64,
    /// How often the names of files were put on the disk itself.
    pub folder_syncs: u64,
    /// New keys of the last batch before the process ended without [`SeenSet::close`](crate::SeenSet::close), as by
    /// `kill -9`: they count as seen, but whoever asked may not have had the answer. None where the set was closed, or
    /// is new.
    pub unanswered_keys: Option<u64>,
}
