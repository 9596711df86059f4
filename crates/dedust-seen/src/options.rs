/*!
How a set is opened: what an answer outlives, how much is held in memory, and whose keys they are.
*/

use std::path::Path;
#[cfg(feature = "redis")]
use std::time::Duration;

use crate::error::SeenError;
use crate::local::FolderOptions;
#[cfg(feature = "redis")]
use crate::server::ServerOptions;
use crate::set::SeenSet;

/// Tables have twice as many places, and grow beyond 7/8: 2^21 places of 17 bytes, 36 MB.
const DEFAULT_RECENT_KEYS: usize = (1 << 21) / 8 * 7;

/// What an answer outlives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, also by `kill -9`.
    #[default]
    Process,
    /// A loss of power too: every batch waits for the disk.
    Power,
}

/// How a set is opened, in a folder or on a server.
#[derive(Clone, Debug)]
pub struct SeenOptions {
    durability: Durability,
    recent_keys: usize,
    rules: Option<u128>,
    #[cfg(feature = "redis")]
    server: ServerOptions,
}

impl Default for SeenOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            recent_keys: DEFAULT_RECENT_KEYS,
            rules: None,
            #[cfg(feature = "redis")]
            server: ServerOptions::default(),
        }
    }
}

impl SeenOptions {
    /// What an answer outlives; default [`Durability::Process`]. Of folders only: a server has settings of its own for that.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Keys held in memory before they are sorted to disk; default 1,835,008, in 36 MB. Up to four times as
    /// many are in memory at a time. Of a set on a server, keys that are known to be seen without asking, in 16 bytes each.
    #[must_use]
    pub fn recent_keys(self, keys: usize) -> Self {
        Self { recent_keys: keys.max(1), ..self }
    }

    /// A fingerprint of the rules that keys are made with; default none. It is kept with the set, and
    /// [`SeenStats::rules_changed`](crate::SeenStats::rules_changed) says whether it was another one before. In a folder all keys
    /// are in one set; on a server those of each rules are in a set of their own, since processes with other rules may use it at
    /// the same time.
    #[must_use]
    pub fn rules(self, fingerprint: u128) -> Self {
        Self { rules: Some(fingerprint), ..self }
    }

    /// The crawl that keys are asked for, on a server; default none, so that every answer holds for good. Keys of a session are seen by all
    /// processes of that session, and by others once it is [committed](SeenSet::commit). One that is [cancelled](SeenSet::cancel)
    /// leaves nothing behind, and so does one for which nobody has asked for seven days.
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn session(mut self, name: impl Into<String>) -> Self {
        self.server.session = Some(name.into());
        self
    }

    /// How long a server remembers a key, at least; half as long again at most. Default: as the set was made, and for
    /// good in a new one.
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.server.ttl = Some(ttl);
        self
    }

    /// How long a server that does not answer any more is waited for, before that is an error; default 60 seconds.
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.server.patience = patience;
        self
    }

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
