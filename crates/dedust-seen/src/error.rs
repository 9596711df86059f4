/*!
Everything that can be wrong with a set, with the file and the place, or with the address of the server.
*/

#[cfg(feature = "redis")]
mod server;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "redis")]
pub use self::server::ServerError;
use crate::file_names::MARKER;

/// A set cannot be opened, or cannot go on. Answers given before hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeenError {
    /// The system failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has the set open. It must end first: a set has one owner.
    #[error("{} is in use by another process", folder.display())]
    InUse {
        /// The set.
        folder: PathBuf,
    },
    /// The system gives no random numbers, which a set needs for its secret.
    #[error("cannot get random numbers from the system")]
    NoRandomNumbers {
        /// What the system says.
        source: io::Error,
    },
    /// There is no set in this folder.
    #[error("{} is no set of seen keys: it has no file {marker:?}", folder.display(), marker = MARKER)]
    NoSet {
        /// The folder.
        folder: PathBuf,
    },
    /// A pipe, a device or a folder has the name of a file of the set. Reading it might never end.
    #[error("{} is no regular file", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// The folder holds files, but not those of a set.
    #[error("{} is no set of seen keys: it holds {found:?} and no file {marker:?}", folder.display(), marker = MARKER)]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// One of its files.
        found: String,
    },
    /// Written by another release.
    #[error("{} is a set of seen keys of another format: expected format 2, found {found:?}", folder.display())]
    UnsupportedVersion {
        /// The set.
        folder: PathBuf,
        /// The start of its marker file.
        found: String,
    },
    /// A file of the set is gone.
    #[error("{} lacks the file with the keys of generation {generation}", folder.display())]
    Missing {
        /// The set.
        folder: PathBuf,
        /// Which part of the keys is gone.
        generation: u64,
    },
    /// A file of the set was changed, or cannot be read as it was written.
    #[error("{} is damaged at byte {offset}: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// How.
        damage: Damage,
    },
    /// A set without a session has nothing that could be cancelled: its answers hold at once.
    #[error("there is no session that could be cancelled")]
    NoSession,
    /// A set on a server cannot be used.
    #[cfg(feature = "redis")]
    #[error("cannot use the set of seen keys at {address}")]
    Server {
        /// Where the set is, without user and password.
        address: String,
        /// Why.
        source: ServerError,
    },
    /// An earlier failure, which was reported, left the set as it is on disk. Open it again.
    #[error("the set of seen keys failed before and was not opened again")]
    Failed,
}

#[cfg(feature = "redis")]
impl SeenError {
    /// Whether a server does not answer now, and may answer later.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Server { source: ServerError::Connect { .. } | ServerError::Lost { .. }, .. })
    }
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The file does not start as such a file does.
    Header,
    /// The file is shorter or longer than it says.
    Length,
    /// The bytes are not those that were written.
    Checksum,
    /// Keys are not in order.
    Order,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "it does not start as a file of this kind does",
            Self::Length => "it is not as long as it should be",
            Self::Checksum => "its checksum is wrong",
            Self::Order => "its keys are not in order",
        })
    }
}

/// Names what was tried where the system failed.
pub(crate) fn failed<'p>(action: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> SeenError + 'p {
    move |source| SeenError::Io { action, path: path.to_owned(), source }
}
