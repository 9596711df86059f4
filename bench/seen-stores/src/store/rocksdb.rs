/*!
RocksDB: a log-structured merge tree in C++, by the crate `rocksdb`.

Keys in ascending order within a batch, Bloom filters of ten bits per key that stay in memory, no compression, two background threads, lookups of many keys at once.
Without fsync, batches are written to the write-ahead log and handed to the operating system. Universal compaction writes
each key less often than level compaction, and looks into more files for an answer.
*/

use std::path::Path;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DBCompactionStyle, DataBlockIndexType, Options,
    WriteBatch, WriteOptions,
};

use super::{CACHE_BYTES, Durability, Store, look_up};
use crate::Outcome;

pub(super) struct Rocks {
    database: DB,
    write: WriteOptions,
}

impl Rocks {
    pub(super) fn open(
        folder: &Path,
        durability: Durability,
        compaction: DBCompactionStyle,
    ) -> Outcome<Self> {
        let mut table = BlockBasedOptions::default();
        table.set_bloom_filter(10.0, false);
        table.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
        table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&table);
        options.set_compaction_style(compaction);
        options.set_max_background_jobs(2);
        options.set_max_write_buffer_number(4);
        options.set_memtable_prefix_bloom_ratio(0.02);
        options.set_memtable_whole_key_filtering(true);
        let mut write = WriteOptions::default();
        write.set_sync(durability == Durability::Power);
        // Named, because many keys can be looked up at once only in a family that is named.
        let family = ColumnFamilyDescriptor::new("default", options.clone());
        Ok(Self { database: DB::open_cf_descriptors(&options, folder, [family])?, write })
    }
}

impl Store for Rocks {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        let database = &self.database;
        let family = database.cf_handle("default").ok_or("every database has this family")?;
        let new = look_up(keys, is_new, |keys, known| {
            let keys: Vec<[u8; 16]> = keys.iter().map(|key| key.to_be_bytes()).collect();
            for (found, known) in database.batched_multi_get_cf(family, &keys, true).into_iter().zip(known) {
                *known = found.map_err(|error| error.to_string())?.is_some();
            }
            Ok(())
        })?;
        let mut batch = WriteBatch::default();
        for key in new {
            batch.put(key.to_be_bytes(), []);
        }
        Ok(self.database.write_opt(batch, &self.write)?)
    }
}
