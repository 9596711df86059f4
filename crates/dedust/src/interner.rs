/*!
Texts to small numbers: each distinct text is kept once and known by its index.
*/

use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// Distinct texts in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    /// Seeded: who writes a site must not choose which texts have one hash.
    state: RandomState,
}

impl Interner {
    /// The number of `text`, a new one if it was not met before.
    pub fn intern(&mut self, text: &[u8]) -> u32 {
        let Self { bytes, ends, table, state } = self;
        let hash = |text: &[u8]| state.hash_one(text);
        let found =
            table.entry(hash(text), |&id| slice(bytes, ends, id) == text, |&id| hash(slice(bytes, ends, id)));
        match found {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let id = ends.len() as u32;
                entry.insert(id);
                bytes.extend_from_slice(text);
                ends.push(bytes.len());
                id
            }
        }
    }

    /// The text of a number.
    pub fn get(&self, id: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, id)
    }

    /// The number of distinct texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory that it takes up, in bytes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
            + size_of::<usize>() * self.ends.capacity()
            + (size_of::<u32>() + 1) * self.table.capacity()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_get_one_number() {
        let mut interner = Interner::default();
        assert_eq!(interner.intern(b"a"), 0);
        assert_eq!(interner.intern(b""), 1);
        assert_eq!(interner.intern(b"a"), 0);
        assert_eq!(interner.get(1), b"");
        assert_eq!(interner.len(), 2);
    }

    #[test]
    fn nobody_knows_which_texts_have_one_hash() {
        let (one, other) = (Interner::default(), Interner::default());
        assert_ne!(one.state.hash_one(b"a"), other.state.hash_one(b"a"));
    }
}
