/*!
How a set is opened: what an answer outlives, how much is held in memory, and whose keys they are. [`crate::set`] opens it.
*/

#[cfg(feature = "redis")]
use std::time::Duration;

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
    pub(crate) durability: Durability,
    pub(crate) recent_keys: usize,
    pub(crate) rules: Option<u128>,
    #[cfg(feature = "redis")]
    pub(crate) server: ServerOptions,
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
    /// processes of that session, and by others once it is [committed](crate::SeenSet::commit). One that is [cancelled](crate::SeenSet::cancel)
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

    /// How long a server that does not answer, yet or any more, is waited for, before that is an error; default 60 seconds.
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.server.patience.later = patience;
        self
    }

    /// How long a server is waited for that has not answered since the set was opened; default as [`patience`](Self::patience). With
    /// zero, a failure that may pass is told at once: see [`SeenError::may_pass`](crate::SeenError::may_pass).
    #[cfg(feature = "redis")]
    #[must_use]
    pub fn first_patience(mut self, patience: Duration) -> Self {
        self.server.patience.first = Some(patience);
        self
    }
}

/// How a folder is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FolderOptions {
    pub(crate) durability: Durability,
    pub(crate) recent_keys: usize,
    pub(crate) rules: Option<u128>,
}

/// How a server is used.
#[cfg(feature = "redis")]
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerOptions {
    pub(crate) session: Option<String>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) patience: Patience,
}

/// How long a server that does not answer is waited for.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Before it has answered; as after that if there is none.
    pub(crate) first: Option<Duration>,
    /// Once it has.
    pub(crate) later: Duration,
}

#[cfg(feature = "redis")]
impl Default for Patience {
    fn default() -> Self {
        Self { first: None, later: Duration::from_secs(60) }
    }
}
