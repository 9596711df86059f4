/*!
What may be asked of a live crawl.
*/

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dedust::Normalizer;
use dedust_learn::LearnOptions;

use crate::error::LiveError;

/// What may be asked of a live crawl. Fields have defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LiveOptions {
    /// What is asked of learning.
    pub learn: LearnOptions,
    /// Rules that serve until a site has its own; default none.
    pub rules: Option<Normalizer>,
    /// The share of the skipped URLs that may be fetched to find out whether rules hold; default 0.05.
    pub audit: f64,
    /// How long a fetch may take before its page is given to another URL; default 15 minutes.
    pub patience: Duration,
    /// Memory for what is known of sites, in bytes; those that were not asked for longest are then put away. Default: 1 GB.
    pub held_bytes: usize,
    /// Bytes of the journal, before it is put into files of sites; default 64 MB.
    pub journal_bytes: u64,
    /// The time, in seconds; default that of the system.
    pub clock: fn() -> u64,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            learn: LearnOptions::default(),
            rules: None,
            audit: 0.05,
            patience: Duration::from_secs(15 * 60),
            held_bytes: 1_000_000_000,
            journal_bytes: 64_000_000,
            clock: now,
        }
    }
}

impl LiveOptions {
    pub(crate) fn check(&self) -> Result<(), LiveError> {
        match (0.0..=0.5).contains(&self.audit) {
            true => Ok(()),
            false => Err(LiveError::Audit(self.audit)),
        }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
