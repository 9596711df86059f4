/*!
The set: keys in, whether they are new out, wherever keys are kept.
*/

use std::fmt;
use std::path::Path;

use crate::error::SeenError;
use crate::key::{KeyHasher, SeenKey};
use crate::local::LocalSet;
use crate::options::{FolderOptions, SeenOptions};
#[cfg(feature = "redis")]
use crate::server::ServerSet;
use crate::stats::SeenStats;

/// A set of keys that were seen, in memory, on disk or on a server.
///
/// One process at a time may have a folder open; a set on a server is for many. Asking in batches, of some thousand keys, is
/// several times faster than one by one, and uses all threads.
///
/// ```
/// use dedust_seen::SeenSet;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("seen");
/// let mut seen = SeenSet::open(&folder)?;
/// let hasher = seen.hasher();
/// assert!(seen.insert(hasher.hash(b"http://a.example/"))?);
/// assert!(!seen.insert(hasher.hash(b"http://a.example/"))?);
/// assert_eq!(seen.stats().keys, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SeenSet(Store);

/// Where keys are kept.
enum Store {
    Local(Box<LocalSet>),
    #[cfg(feature = "redis")]
    Server(Box<ServerSet>),
}

impl SeenSet {
    pub(crate) fn local(set: LocalSet) -> Self {
        Self(Store::Local(Box::new(set)))
    }

    #[cfg(feature = "redis")]
    pub(crate) fn server(set: ServerSet) -> Self {
        Self(Store::Server(Box::new(set)))
    }

    /// Opens the set in a folder, which is made if it is not there.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, SeenError> {
        Self::options().open(folder)
    }

    /// Connects to a set that many processes share: [`SeenOptions::connect`].
    ///
    /// ```no_run
    /// use dedust_seen::SeenSet;
    ///
    /// let mut seen = SeenSet::options().session("2026-11").connect("redis://127.0.0.1/crawl")?;
    /// let key = seen.hasher().hash(b"http://a.example/");
    /// if seen.insert(key)? {
    ///     // No process of this crawl has met it, and no earlier crawl has committed it.
    /// }
    /// seen.commit()?;
    /// # Ok::<(), dedust_seen::SeenError>(())
    /// ```
    #[cfg(feature = "redis")]
    pub fn connect(address: &str) -> Result<Self, SeenError> {
        Self::options().connect(address)
    }

    /// Options to open a set with.
    pub fn options() -> SeenOptions {
        SeenOptions::default()
    }

    /// A set that is gone when it is dropped, and takes 20 to 40 bytes of memory for a key.
    pub fn in_memory() -> Result<Self, SeenError> {
        LocalSet::in_memory().map(Self::local)
    }

    /// Makes the keys of this set. Its secret is random, and is kept with the set.
    pub fn hasher(&self) -> KeyHasher {
        match &self.0 {
            Store::Local(set) => set.hasher(),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.hasher(),
        }
    }

    /// Whether a key is new. It is not from now on.
    pub fn insert(&mut self, key: SeenKey) -> Result<bool, SeenError> {
        let mut is_new = Vec::with_capacity(1);
        self.insert_batch(&[key], &mut is_new)?;
        Ok(is_new.first().copied().unwrap_or(false))
    }

    /// Says of each key whether it is new, in `is_new`, which is emptied first. A key that is there several times is
    /// new the first time. More than 262,144 keys, or 4,096 on a server, are answered as several batches.
    ///
    /// After an error the answers are not to be used; the set must be opened again. Keys for which a server has no answer are new, and the
    /// next call says why it has none, or [`close`](Self::close).
    pub fn insert_batch(&mut self, keys: &[SeenKey], is_new: &mut Vec<bool>) -> Result<(), SeenError> {
        is_new.clear();
        match &mut self.0 {
            Store::Local(set) => set.insert_batch(keys, is_new),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.insert_batch(keys, is_new),
        }
    }

    /// Notes the rules that keys are made with from now on, as [`SeenOptions::rules`] does. Whether those before were others. On a
    /// server, keys of these rules are asked for from now on.
    pub fn note_rules(&mut self, fingerprint: u128) -> Result<bool, SeenError> {
        match &mut self.0 {
            Store::Local(set) => set.note_rules(fingerprint),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.note_rules(fingerprint),
        }
    }

    /// Waits until all keys are on the disk itself, and would outlive a loss of power. Does nothing for a set on a server, which
    /// has settings of its own for that.
    pub fn sync(&mut self) -> Result<(), SeenError> {
        match &mut self.0 {
            Store::Local(set) => set.sync(),
            #[cfg(feature = "redis")]
            Store::Server(_) => Ok(()),
        }
    }

    /// Closes the set, and notes that every answer has reached whoever asked: see [`SeenStats::unanswered_keys`]. A session stays
    /// open.
    ///
    /// A set that is dropped loses no key either.
    pub fn close(self) -> Result<(), SeenError> {
        match self.0 {
            Store::Local(set) => set.close(),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.close(),
        }
    }

    /// Ends the session: its keys are seen for everybody from now on. Returns how many they are; none where there is no session, since then every
    /// answer held at once.
    ///
    /// If it is cut off, keys that were not committed yet are those of an open session, and it can be committed again.
    pub fn commit(self) -> Result<u64, SeenError> {
        match self.0 {
            Store::Local(set) => set.close().map(|()| 0),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.commit(),
        }
    }

    /// Ends the session as if it had never been: its keys are forgotten, those of other sessions are not. Returns how many they were.
    pub fn cancel(self) -> Result<u64, SeenError> {
        match self.0 {
            Store::Local(_) => Err(SeenError::NoSession),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.cancel(),
        }
    }

    /// What the set holds, and what answering took. A set on a server says what it held when it was asked last.
    pub fn stats(&self) -> SeenStats {
        match &self.0 {
            Store::Local(set) => set.stats(),
            #[cfg(feature = "redis")]
            Store::Server(set) => set.stats(),
        }
    }
}

impl fmt::Debug for SeenSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenSet").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl SeenOptions {
    /// Opens the set in a folder, which is made if it is not there.
    pub fn open(&self, folder: impl AsRef<Path>) -> Result<SeenSet, SeenError> {
        let Self { durability, recent_keys, rules, .. } = *self;
        Ok(SeenSet::local(FolderOptions { durability, recent_keys, rules }.open(folder.as_ref())?))
    }

    /// Connects to the set at an address `redis://[USER:PASSWORD@]HOST[:PORT]/PREFIX[?db=NUMBER]`, or `rediss://` for TLS. The set
    /// is made if it is not there.
    #[cfg(feature = "redis")]
    pub fn connect(&self, address: &str) -> Result<SeenSet, SeenError> {
        Ok(SeenSet::server(self.server.connect(address, self.rules, self.recent_keys)?))
    }
}
