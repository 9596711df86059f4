/*!
redb: a copy-on-write B-tree in Rust.

One transaction per batch, keys in ascending order, inserted whether they are there or not. redb has no commit that survives the process but not a loss of power:
`Durability::None` is lost with the process until a later commit is synced. So without fsync one batch in
[`BATCHES_PER_SYNC`] is synced, which also lets redb reuse pages.
*/

use std::path::Path;

use redb::{Database, TableDefinition};

use super::{CACHE_BYTES, Durability, Store, ascending};
use crate::Outcome;

const TABLE: TableDefinition<u128, ()> = TableDefinition::new("seen");
/// Batches between two that are synced.
const BATCHES_PER_SYNC: u64 = 16;

pub(super) struct Redb {
    database: Database,
    durability: Durability,
    batches: u64,
}

impl Redb {
    pub(super) fn open(folder: &Path, durability: Durability) -> Outcome<Self> {
        let database = Database::builder().set_cache_size(CACHE_BYTES).create(folder.join("seen.redb"))?;
        Ok(Self { database, durability, batches: 0 })
    }
}

impl Store for Redb {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        is_new.resize(keys.len(), false);
        self.batches += 1;
        let is_synced = self.durability == Durability::Power || self.batches.is_multiple_of(BATCHES_PER_SYNC);
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(if is_synced {
            redb::Durability::Immediate
        } else {
            redb::Durability::None
        })?;
        let mut table = transaction.open_table(TABLE)?;
        for at in ascending(keys) {
            is_new[at as usize] = table.insert(keys[at as usize], ())?.is_none();
        }
        drop(table);
        Ok(transaction.commit()?)
    }
}
