/*!
Everything that can be wrong with a set on a server. No message has a password in it.
*/

use std::io;
use std::time::Duration;

/// Why a set on a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// What was given is no address of a set.
    #[error("{problem}; expected redis://HOST:PORT/PREFIX or rediss://USER:PASSWORD@HOST:PORT/PREFIX")]
    Address {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A session has a name that cannot be part of a key.
    #[error("{name:?} is no name of a session; expected 1 to 64 letters, digits, `.`, `_` and `-`")]
    SessionName {
        /// The name.
        name: String,
    },
    /// No connection could be made.
    #[error("no connection to the server")]
    Connect {
        /// What the system says.
        source: io::Error,
    },
    /// The server answered once, and then no more; or it says that it cannot answer yet.
    #[error("the server has not answered for {} s", waited.as_secs())]
    Lost {
        /// How long it was waited for.
        waited: Duration,
        /// What the last try ended with.
        source: io::Error,
    },
    /// The user name or password is wrong.
    #[error("the server refuses the user name or password of the address")]
    WrongPassword,
    /// The address has no password, and the server asks for one.
    #[error("the server asks for a password, and the address has none")]
    NoPassword,
    /// The user may not do what a set needs.
    #[error("the user may not use all commands or keys that a set needs; the server says: {answer}")]
    NotAllowed {
        /// What the server says.
        answer: String,
    },
    /// The keys of the set are there, but hold something else.
    #[error("a key of the server that starts with the prefix holds something that is not of a set")]
    WrongType,
    /// The server has no memory for more keys.
    #[error("the server is out of memory for more keys")]
    Full,
    /// The server refuses a command.
    #[error("the server refuses a command: {answer}")]
    Refused {
        /// What the server says.
        answer: String,
    },
    /// The server answers something that no such server answers.
    #[error("the server does not answer as Redis does")]
    Malformed,
    /// What is stored at the prefix is no set that this release knows.
    #[error(
        "what the server has there is no set of seen keys of a format that this release reads: {found:?}"
    )]
    Foreign {
        /// The start of it.
        found: String,
    },
    /// The set remembers keys for another time than was asked for.
    #[error("the set was made to remember keys {}, not {}", for_time(*found), for_time(*expected))]
    OtherTtl {
        /// Of the set, in seconds; 0 for ever.
        found: u64,
        /// What was asked for.
        expected: u64,
    },
    /// Somebody removed the set while it was used, and somebody made it anew, with another secret.
    #[error("the set was removed and made anew while it was used, with another secret")]
    MadeAnew,
    /// There is no set at the prefix.
    #[error("the server has no set of seen keys there")]
    NoSet,
    /// There is no such session, or it has no keys.
    #[error("no session {name:?} is open there, or it has no keys")]
    NoSession {
        /// Its name.
        name: String,
    },
    /// There are no keys of these rules.
    #[error("no rules with the fingerprint {version:?} have keys there")]
    NoVersion {
        /// The fingerprint.
        version: String,
    },
}

fn for_time(seconds: u64) -> String {
    match seconds {
        0 => "for good".into(),
        seconds => format!("for {seconds} s"),
    }
}
