/*!
What is remembered of a URL key: 128 bits of its hash.
*/

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_128;

/// Bytes of a key in a file.
pub(crate) const KEY_BYTES: usize = 16;

/// The hash of a URL key.
///
/// Of a billion keys, two have the same hash with a chance of one in 10^21. XXH3 is no cryptographic hash: whoever
/// wants to can make two such keys, and hide one of their own pages by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeenKey(pub(crate) u128);

impl SeenKey {
    /// The hash of a key, such as `dedust::Normalizer` makes.
    pub fn of(key: &[u8]) -> Self {
        Self(xxh3_128(key))
    }

    /// A hash that is already there. All its bits must be equally likely: the set relies on it for speed, though not
    /// for its answers.
    pub fn from_hash(hash: u128) -> Self {
        Self(hash)
    }
}

/// Keys in memory.
pub(crate) type KeySet = HashSet<u128, BuildHasherDefault<LowBits>>;

/// Keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowBits(u64);

impl Hasher for LowBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }
}
