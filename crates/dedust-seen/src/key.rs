/*!
What is remembered of a URL key: 128 bits of its hash, made with a secret.

Whoever knows the hash function and its secret can make a URL whose hash is that of a page of someone else. Once that URL
was seen, the page is taken for seen too. So each set has a random secret of its own.

The function is SipHash-1-3 with 128 bits of output. SipHash is a family of keyed pseudorandom functions with published
security claims (Aumasson and Bernstein, INDOCRYPT 2012): of SipHash-2-4 they claim that whoever does not know the 128-bit
secret cannot find it, nor tell hashes from random numbers, even if they see the hashes of texts of their choice. The
variant 1-3 has fewer rounds. It is meant for hash tables, where nobody outside sees a hash, and is the one of Rust and
Python. That is our case too: a site can learn at most that two of its URLs have the same hash.

`cargo bench -p dedust-seen --bench hash` measures it beside other functions of this kind: SipHash-2-4, HighwayHash and
keyed BLAKE3 all take longer for a URL. Two are faster, but are no such functions. XXH3 with a secret seed claims nothing
against someone who looks for collisions. aHash is meant to protect hash tables, but says itself that it is not
cryptographic; its function may change from release to release, and its hashes have 64 bits.
*/

use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;
use siphasher::sip128::SipHasher13;

use crate::error::SeenError;

/// Bytes of a key in a file.
pub(crate) const KEY_BYTES: usize = 16;
/// Bytes of a secret.
pub const SECRET_BYTES: usize = 16;

/// The hash of a URL key, as a [`KeyHasher`] makes it.
///
/// Of a billion keys, two have the same hash with a chance of one in 10^21.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeenKey(pub(crate) u128);

impl SeenKey {
    /// A hash that is already there. All its bits must be equally likely: the set relies on it for speed, though not
    /// for its answers.
    ///
    /// If strangers can compute the hash, they can make URLs that are taken for seen pages of others.
    pub fn from_hash(hash: u128) -> Self {
        Self(hash)
    }

    /// The hash as a number, to be kept in another store.
    pub fn to_hash(self) -> u128 {
        self.0
    }
}

/// Hashes URL keys with a secret.
///
/// A set has one, [`SeenSet::hasher`](crate::SeenSet::hasher). For a store of another kind, make one of a secret of your
/// own and keep the secret with the store: keys can be compared only if they were made with the same secret. There is no
/// default secret, since hashes that anyone can compute can be forged.
///
/// ```
/// use dedust_seen::KeyHasher;
///
/// # let secret = [7; 16];
/// let hasher = KeyHasher::with_secret(secret);
/// let key: u128 = hasher.hash(b"http://a.example/p?id=1").to_hash();
/// assert_eq!(key, KeyHasher::with_secret(secret).hash(b"http://a.example/p?id=1").to_hash());
/// assert_ne!(key, KeyHasher::with_secret([8; 16]).hash(b"http://a.example/p?id=1").to_hash());
/// ```
#[derive(Clone, Copy)]
pub struct KeyHasher(SipHasher13);

impl KeyHasher {
    /// Hashes with this secret, which must be random and known to nobody else.
    pub fn with_secret(secret: [u8; SECRET_BYTES]) -> Self {
        Self(SipHasher13::new_with_key(&secret))
    }

    /// Hashes with a new secret from the system's source of random numbers.
    pub fn random() -> Result<Self, SeenError> {
        random_secret().map(Self::with_secret)
    }

    /// The hash of a key, such as `dedust::Normalizer` makes.
    pub fn hash(&self, key: &[u8]) -> SeenKey {
        SeenKey(self.0.hash(key).as_u128())
    }
}

impl fmt::Debug for KeyHasher {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyHasher").finish_non_exhaustive()
    }
}

/// A secret from the system's source of random numbers.
pub fn random_secret() -> Result<[u8; SECRET_BYTES], SeenError> {
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut secret).map_err(|error| SeenError::NoRandomNumbers { source: error.into() })?;
    Ok(secret)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets on disk depend on them.
    #[test]
    fn hashes_stay_as_they_are() {
        let hasher = KeyHasher::with_secret(std::array::from_fn(|at| at as u8));
        assert_eq!(hasher.hash(b"").to_hash(), 0x0130_30dd_6adb_62fd_bea5_8827_b2bc_7ee7);
    }

    #[test]
    fn a_secret_is_not_printed() {
        let text = format!("{:?}", KeyHasher::with_secret([0xab; SECRET_BYTES]));
        assert_eq!(text, "KeyHasher { .. }");
    }

    #[test]
    fn random_secrets_differ() {
        assert_ne!(random_secret().unwrap(), random_secret().unwrap());
    }
}
