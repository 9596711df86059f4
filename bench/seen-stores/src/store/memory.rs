/*!
A hash table in memory: what answering costs if nothing is kept.
*/

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;

use super::Store;
use crate::Outcome;

/// Keys are hashes: their low half is taken as it is.
type KeyIsHash = BuildHasherDefault<LowHalf>;

#[derive(Default)]
struct LowHalf(u64);

impl Hasher for LowHalf {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers of 128 bits")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
pub(super) struct Memory(HashSet<u128, KeyIsHash>);

impl Store for Memory {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        is_new.extend(keys.iter().map(|&key| self.0.insert(key)));
        Ok(())
    }
}
