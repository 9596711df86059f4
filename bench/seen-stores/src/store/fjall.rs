/*!
fjall: a log-structured merge tree in Rust.

Keys in ascending order within a batch, Bloom filters of ten bits per key on all levels, no compression, two threads for flushes and compactions. Without fsync,
batches are handed to the operating system (`PersistMode::Buffer`).
*/

use std::path::Path;

use fjall::config::{BloomConstructionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{CACHE_BYTES, Durability, Store, look_up};
use crate::Outcome;

pub(super) struct Fjall {
    database: Database,
    keys: Keyspace,
    mode: PersistMode,
}

impl Fjall {
    pub(super) fn open(folder: &Path, durability: Durability) -> Outcome<Self> {
        let mode = match durability {
            Durability::Process => PersistMode::Buffer,
            Durability::Power => PersistMode::SyncData,
        };
        let database = Database::builder(folder).cache_size(CACHE_BYTES as u64).worker_threads(2).open()?;
        let bloom = FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0));
        let keys = database
            .keyspace("seen", || KeyspaceCreateOptions::default().filter_policy(FilterPolicy::all(bloom)))?;
        Ok(Self { database, keys, mode })
    }
}

impl Store for Fjall {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        let store = &self.keys;
        let new = look_up(keys, is_new, |keys, known| {
            for (key, known) in keys.iter().zip(known) {
                *known = store.contains_key(key.to_be_bytes()).map_err(|error| error.to_string())?;
            }
            Ok(())
        })?;
        let mut batch = self.database.batch().durability(Some(self.mode));
        for key in new {
            batch.insert(&self.keys, key.to_be_bytes(), []);
        }
        Ok(batch.commit()?)
    }
}
