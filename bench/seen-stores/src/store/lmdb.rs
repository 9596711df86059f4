/*!
LMDB: a copy-on-write B-tree in a mapped file, in C, by the crate `heed`.

One transaction per batch, keys in ascending order, `NO_OVERWRITE` so that a key is looked up and inserted in one step.
Without fsync, `NO_SYNC` and `WRITE_MAP`: pages are changed in the mapped file, and the operating system writes them when it likes.
*/

use std::path::Path;

use heed::types::{Bytes, Unit};
use heed::{Database, Env, EnvFlags, EnvOpenOptions, MdbError, PutFlags};

use super::{Durability, Store, ascending};
use crate::Outcome;

/// Room for addresses, not memory.
const MAP_BYTES: usize = 256 << 30;

pub(super) struct Lmdb {
    environment: Env,
    keys: Database<Bytes, Unit>,
}

impl Lmdb {
    #[expect(
        unsafe_code,
        reason = "the file is mapped: nobody else may change it, and nobody else knows of it"
    )]
    pub(super) fn open(folder: &Path, durability: Durability) -> Outcome<Self> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        if durability == Durability::Process {
            // SAFETY: without syncs the file may be damaged by a loss of power, and with a writable map by wild pointers of this process.
            unsafe { options.flags(EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP) };
        }
        // SAFETY: the folder belongs to this process.
        let environment = unsafe { options.open(folder)? };
        let mut transaction = environment.write_txn()?;
        let keys = environment.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { environment, keys })
    }
}

impl Store for Lmdb {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        is_new.resize(keys.len(), false);
        let mut transaction = self.environment.write_txn()?;
        for at in ascending(keys) {
            let key = keys[at as usize].to_be_bytes();
            match self.keys.put_with_flags(&mut transaction, PutFlags::NO_OVERWRITE, &key, &()) {
                Ok(()) => is_new[at as usize] = true,
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(transaction.commit()?)
    }
}
