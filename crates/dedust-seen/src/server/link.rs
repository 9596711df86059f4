/*!
The connection to a server: made again when it breaks, and waited for, up to a limit.

Knows which failures pass by themselves. What is to be sent again after one, and whether it was executed before, the caller has to find out.
*/

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Connection, ErrorKind, RedisError, ServerErrorKind};

use super::address::Address;
use crate::error::ServerError;
use crate::options::Patience;

/// For a connection to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For an answer to a batch.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// Characters of an answer that a message has.
const SHOWN: usize = 200;

/// A connection that is made again when it breaks.
pub(super) struct Link {
    client: Client,
    has_password: bool,
    connection: Option<Connection>,
    patience: Patience,
    /// Before the server has answered for the first time, the address may be wrong.
    has_answered: bool,
    pub(super) reconnects: u64,
}

impl Link {
    /// Prepares a connection; it is made when it is used.
    pub(super) fn new(address: &Address, patience: Patience) -> Result<Self, ServerError> {
        if address.is_tls() {
            // Another part of the process may have chosen one already.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let client = Client::open(address.connection_info()?).map_err(|error| refusal(&error, true))?;
        Ok(Self {
            client,
            has_password: address.has_password(),
            connection: None,
            patience,
            has_answered: false,
            reconnects: 0,
        })
    }

    /// Does some work with the connection, again until it succeeds. It is told whether it was tried before, and so may have been done.
    pub(super) fn run<T>(
        &mut self,
        mut work: impl FnMut(&mut Connection, bool) -> Result<T, RedisError>,
    ) -> Result<T, ServerError> {
        let mut failed_first: Option<Instant> = None;
        let mut tries = 0;
        loop {
            let error = match self.connected().and_then(|connection| work(connection, tries > 0)) {
                Ok(done) => {
                    self.has_answered = true;
                    return Ok(done);
                }
                Err(error) => error,
            };
            // It may be in the middle of an answer.
            self.connection = None;
            let is_silent = is_silence(&error);
            if !is_silent && !is_passing(&error) {
                return Err(refusal(&error, self.has_password));
            }
            if error.kind() == ErrorKind::Parse && !self.has_answered {
                return Err(ServerError::Malformed);
            }
            let waited = failed_first.get_or_insert_with(Instant::now).elapsed();
            let first = self.patience.first.filter(|_| !self.has_answered);
            let patience = first.unwrap_or(self.patience.later);
            let is_over = waited >= patience;
            if is_silent && !self.has_answered && (is_over || is_distrust(&error)) {
                return Err(ServerError::Connect { source: io::Error::other(error) });
            }
            if is_over {
                return Err(ServerError::Lost { waited, source: io::Error::other(error) });
            }
            thread::sleep(pause(tries).min(patience - waited));
            tries += 1;
        }
    }

    fn connected(&mut self) -> Result<&mut Connection, RedisError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = self.client.get_connection_with_timeout(CONNECT_TIMEOUT)?;
                connection.set_read_timeout(Some(ANSWER_TIMEOUT))?;
                connection.set_write_timeout(Some(ANSWER_TIMEOUT))?;
                self.reconnects += u64::from(self.has_answered);
                connection
            }
        };
        Ok(self.connection.insert(connection))
    }
}

/// How long to wait before the next try: longer each time, and not as long as others that lost their connection at the same time.
fn pause(tries: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(MAX_PAUSE);
    let spread = (std::process::id().wrapping_add(tries)).wrapping_mul(0x9e37_79b9) >> 24;
    pause * (256 + spread) / 512
}

/// Whether there was no answer, or none to the end.
fn is_silence(error: &RedisError) -> bool {
    // An answer that is cut off is not read as an answer.
    matches!(error.kind(), ErrorKind::Io | ErrorKind::Parse)
}

/// Whether the server is not who it should be: with TLS alone, what was said cannot be understood or is not believed.
fn is_distrust(error: &RedisError) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<Arc<dyn Error + Send + Sync>>());
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::InvalidData)
}

/// Whether the server says that it cannot answer now, as while it reads its files or is a replica.
fn is_passing(error: &RedisError) -> bool {
    use ServerErrorKind::{BusyLoading, ClusterDown, MasterDown, ReadOnly, TryAgain};
    let of_first = error.clone().into_server_errors().and_then(|errors| errors.first()?.1.kind());
    let passes = |kind| matches!(kind, BusyLoading | ClusterDown | MasterDown | ReadOnly | TryAgain);
    of_first.is_some_and(passes) || matches!(error.kind(), ErrorKind::Server(kind) if passes(kind))
}

/// What a failure that does not pass means.
fn refusal(error: &RedisError, has_password: bool) -> ServerError {
    let errors = error.clone().into_server_errors();
    let first = errors.as_ref().and_then(|errors| errors.first());
    let code = first.map(|(_, error)| error.code()).or(error.code()).unwrap_or_default();
    let details = first.and_then(|(_, error)| error.details()).or(error.detail());
    let answer = || {
        let text = match details {
            Some(details) => format!("{code} {details}"),
            None => error.to_string(),
        };
        text.trim().chars().take(SHOWN).collect()
    };
    match (code, error.kind()) {
        ("NOAUTH", _) if !has_password => ServerError::NoPassword,
        ("WRONGPASS" | "NOAUTH", _) | (_, ErrorKind::AuthenticationFailed) => ServerError::WrongPassword,
        ("NOPERM", _) => ServerError::NotAllowed { answer: answer() },
        ("WRONGTYPE", _) => ServerError::WrongType,
        ("OOM", _) => ServerError::Full,
        (_, ErrorKind::UnexpectedReturnType) => ServerError::Malformed,
        _ => ServerError::Refused { answer: answer() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        assert!(pause(0) < pause(5) && pause(5) <= MAX_PAUSE);
        assert!((MAX_PAUSE / 2..=MAX_PAUSE).contains(&pause(1_000)));
    }
}
