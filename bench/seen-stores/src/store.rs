/*!
What every contestant can do: tell for a batch of keys which are new, and keep those.
*/

mod fjall;
mod lmdb;
mod memory;
mod own;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;

use std::path::Path;

use rayon::prelude::*;

use crate::Outcome;

/// All contestants.
#[cfg(feature = "rocksdb")]
pub(crate) const NAMES: &[&str] =
    &["dedust-seen", "fjall", "redb", "lmdb", "rocksdb-level", "rocksdb-universal", "hash-table"];
#[cfg(not(feature = "rocksdb"))]
pub(crate) const NAMES: &[&str] = &["dedust-seen", "fjall", "redb", "lmdb", "hash-table"];

/// Memory for blocks that were read, of the stores that have a cache of their own.
const CACHE_BYTES: usize = 512 << 20;
/// Keys that one thread looks up at a time.
const PIECE_KEYS: usize = 2048;

/// What an answer survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing is synced: the end of the process, where the store can promise that without fsync.
    Process,
    /// A loss of power too: every batch is synced.
    Power,
}

/// A set of 128-bit keys. Closed when it is dropped.
pub(crate) trait Store {
    /// Says of each key whether it is new, in `is_new`, which is empty. A key that is there twice is new the first time.
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()>;
}

/// Opens the store in a folder, which is made if it is not there.
pub(crate) fn open(name: &str, folder: &Path, durability: Durability) -> Outcome<Box<dyn Store>> {
    std::fs::create_dir_all(folder)?;
    Ok(match name {
        "dedust-seen" => Box::new(own::Own::open(folder, durability)?),
        "fjall" => Box::new(fjall::Fjall::open(folder, durability)?),
        "redb" => Box::new(redb::Redb::open(folder, durability)?),
        "lmdb" => Box::new(lmdb::Lmdb::open(folder, durability)?),
        #[cfg(feature = "rocksdb")]
        "rocksdb-level" => {
            Box::new(rocksdb::Rocks::open(folder, durability, ::rocksdb::DBCompactionStyle::Level)?)
        }
        #[cfg(feature = "rocksdb")]
        "rocksdb-universal" => {
            Box::new(rocksdb::Rocks::open(folder, durability, ::rocksdb::DBCompactionStyle::Universal)?)
        }
        "hash-table" => Box::new(memory::Memory::default()),
        _ => return Err(format!("unknown store {name}").into()),
    })
}

/// Whether anything is left when the process has ended.
pub(crate) fn is_on_disk(name: &str) -> bool {
    name != "hash-table"
}

/// Positions of the keys in ascending order, which is how trees and skip lists take them fastest. Equal keys keep their order.
fn ascending(keys: &[u128]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_unstable_by_key(|&at| (keys[at as usize], at));
    order
}

/// Looks keys up on all threads, each of which calls `find` with some of them in ascending order. Says in `is_new` which are new,
/// and returns those, each once.
fn look_up(
    keys: &[u128],
    is_new: &mut Vec<bool>,
    find: impl Fn(&[u128], &mut [bool]) -> Result<(), String> + Sync,
) -> Outcome<Vec<u128>> {
    let order = ascending(keys);
    let sorted: Vec<u128> = order.iter().map(|&at| keys[at as usize]).collect();
    let mut known = vec![false; keys.len()];
    let pieces = sorted.par_chunks(PIECE_KEYS).zip(known.par_chunks_mut(PIECE_KEYS));
    pieces.try_for_each(|(keys, known)| find(keys, known))?;
    is_new.resize(keys.len(), false);
    let mut new = Vec::with_capacity(keys.len());
    for ((&at, &key), is_known) in order.iter().zip(&sorted).zip(known) {
        if !is_known && new.last() != Some(&key) {
            new.push(key);
            is_new[at as usize] = true;
        }
    }
    Ok(new)
}
