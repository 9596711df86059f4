/*!
Where keys are looked for, apart from the table that is being filled: tables that are full, and runs.

A view never changes. Threads that write runs put a new view instead of the old one; whoever is searching the old
one keeps its tables and files until done.
*/

use std::sync::Arc;

use crate::key::KeySet;
use crate::run::Run;

/// A table that is full, and waits to be written as a run.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) generation: u64,
    pub(crate) keys: KeySet,
    pub(crate) log_bytes: u64,
}

/// Tables and runs, each in the order of their generations.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) frozen: Vec<Arc<Frozen>>,
    pub(crate) runs: Vec<Arc<Run>>,
}

impl View {
    /// Looks for each of `keys` that is not yet known. `pending` is room to work in.
    pub(crate) fn find(&self, keys: &[u128], known: &mut [bool], pending: &mut Vec<u32>) {
        pending.clear();
        pending.extend((0..keys.len() as u32).filter(|&index| !known[index as usize]));
        let mut look_in = |contains: &dyn Fn(u128) -> bool| {
            pending.retain(|&index| {
                let is_known = contains(keys[index as usize]);
                known[index as usize] = is_known;
                !is_known
            });
        };
        // The oldest is the largest, and the likeliest to have a key. All keys are looked for in one run before the
        // next, so that the memory of several lookups is waited for at the same time.
        for run in &self.runs {
            look_in(&|key| run.contains(key));
        }
        for table in &self.frozen {
            look_in(&|key| table.keys.contains(&key));
        }
    }
}
