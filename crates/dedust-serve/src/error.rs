/*!
Why a server cannot start, or ended.
*/

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use dedust::errors::{LoadRulesError, OpenRulesError};
use dedust_io::{ReadError, WriteError};
use dedust_live::errors::LiveError;
use dedust_seen::SeenError;

/// Why a server cannot start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The seen-set cannot be used.
    #[error(transparent)]
    Seen(#[from] SeenError),
    /// The state of a live crawl cannot be used.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// Another program listens there, or the address is not one of this machine.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// An address that others can reach was asked for, but not that they may.
    #[error("{address} can be reached from other machines")]
    NotLoopback {
        /// Where.
        address: SocketAddr,
    },
    /// A token that can be guessed.
    #[error("the token has {characters} characters, which can be guessed; at least {needed} are needed")]
    ShortToken {
        /// How many.
        characters: usize,
        /// How many it must have at least.
        needed: usize,
    },
    /// A set on a server is as safe as that makes it.
    #[error("waiting for the disk is for sets in folders, and {address} is a server")]
    SyncOfServer {
        /// Where the set is, without a password.
        address: String,
    },
    /// The system has no random numbers, threads or signals for us.
    #[error("cannot {act}")]
    System {
        /// What was tried.
        act: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// Why a rule file cannot be used or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It holds no rules.
    #[error("cannot use the rules in {}", path.display())]
    Load {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: LoadRulesError,
    },
    /// It holds compiled rules that are damaged.
    #[error("cannot use the rules in {}", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: OpenRulesError,
    },
    /// Compiled rules cannot be changed.
    #[error("{} holds compiled rules, which cannot be changed", path.display())]
    Compiled {
        /// Which file.
        path: PathBuf,
    },
    /// Rules are written plain.
    #[error("{} is compressed, and rules are written plain", path.display())]
    Compressed {
        /// Which file.
        path: PathBuf,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
