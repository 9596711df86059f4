/*!
What is remembered of a host: when it may be asked again, and what it answers to nonsense.
*/

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::robots::Robots;
use crate::{FetchError, Fingerprint};

/// Failures in a row after which a host is left alone.
const MAX_TROUBLES: u32 = 10;

/// A machine by its name, whatever the scheme and port.
#[derive(Debug, Default)]
pub(crate) struct Host {
    gate: Mutex<Gate>,
}

/// Held while a request to the host is under way.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    free_at: Option<Instant>,
    /// Failures since the last answer.
    troubles: u32,
}

/// A scheme, host and port: what a robots.txt speaks of.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    pub(crate) robots: OnceLock<Robots>,
    /// The page it shows for a URL that does not exist, if it shows one.
    pub(crate) missing: OnceLock<Option<Fingerprint>>,
}

impl Host {
    /// Waits until the host may be asked, and keeps others waiting for as long as the guard lives.
    pub(crate) fn enter(&self) -> Result<MutexGuard<'_, Gate>, FetchError> {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if gate.troubles >= MAX_TROUBLES { Err(FetchError::GivenUp) } else { Ok(gate) }
    }
}

impl Gate {
    /// Sleeps for what is left of the pause after the last request.
    pub(crate) fn wait(&self) {
        if let Some(free_at) = self.free_at {
            thread::sleep(free_at.saturating_duration_since(Instant::now()));
        }
    }

    /// Starts a pause.
    pub(crate) fn pause(&mut self, delay: Duration) {
        self.free_at = Instant::now().checked_add(delay);
    }

    /// Keeps count of failures in a row.
    pub(crate) fn note<T>(&mut self, outcome: &Result<T, FetchError>) {
        match outcome {
            Err(error) if error.is_trouble() => self.troubles += 1,
            _ => self.troubles = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_never_answers_is_given_up() {
        let host = Host::default();
        for _ in 0..MAX_TROUBLES - 1 {
            host.enter().unwrap().note::<()>(&Err(FetchError::Timeout));
        }
        host.enter().unwrap().note(&Ok(()));
        for _ in 0..MAX_TROUBLES {
            host.enter().unwrap().note::<()>(&Err(FetchError::Timeout));
        }
        assert!(matches!(host.enter(), Err(FetchError::GivenUp)));
    }
}
