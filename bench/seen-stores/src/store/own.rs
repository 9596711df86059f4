/*!
The crate `dedust-seen`.
*/

use std::path::Path;

use dedust_seen::{SeenKey, SeenSet};

use super::{Durability, Store};
use crate::Outcome;

pub(super) struct Own {
    set: SeenSet,
    keys: Vec<SeenKey>,
}

impl Own {
    pub(super) fn open(folder: &Path, durability: Durability) -> Outcome<Self> {
        let durability = match durability {
            Durability::Process => dedust_seen::Durability::Process,
            Durability::Power => dedust_seen::Durability::Power,
        };
        Ok(Self { set: SeenSet::options().durability(durability).open(folder)?, keys: Vec::new() })
    }
}

impl Store for Own {
    fn insert_batch(&mut self, keys: &[u128], is_new: &mut Vec<bool>) -> Outcome<()> {
        self.keys.clear();
        self.keys.extend(keys.iter().map(|&key| SeenKey::from_hash(key)));
        Ok(self.set.insert_batch(&self.keys, is_new)?)
    }
}
