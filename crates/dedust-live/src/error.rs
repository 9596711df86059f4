/*!
Why a live crawl cannot go on.
*/

use std::io;
use std::path::PathBuf;

use dedust::errors::ParseUrlError;
use dedust_learn::errors::{InvalidOption, TrainStoredError};
use dedust_seen::SeenError;

/// Why a live crawl cannot be opened, or cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A file or folder of the state cannot be used.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has the state open.
    #[error("{} is in use by another process", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds other files.
    #[error("{} is not the state of a live crawl: it has a file {found:?}", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// One of the files.
        found: String,
    },
    /// The state is of another release, or damaged.
    #[error("{} does not say that this is the state of a live crawl", path.display())]
    Marker {
        /// The file that should.
        path: PathBuf,
    },
    /// The system has no random numbers.
    #[error(transparent)]
    NoRandomNumbers(#[from] SeenError),
    /// An option makes no sense.
    #[error(transparent)]
    Option(#[from] InvalidOption),
    /// The share of audits is none.
    #[error("audit is {0}, expected 0 to 0.5")]
    Audit(f64),
    /// A site cannot be learned from.
    #[error(transparent)]
    Learn(#[from] TrainStoredError),
}

impl LiveError {
    /// What helps, if that can be said.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::InUse { .. } => Some("end the other process, or choose another folder"),
            Self::Foreign { .. } => Some("choose a folder that is empty, or not there yet"),
            Self::Marker { .. } => Some("choose another folder; the crawl starts anew there"),
            _ => None,
        }
    }

    /// Says what was tried.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// Why a URL has no verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmitError {
    /// It is none.
    #[error(transparent)]
    Url(#[from] ParseUrlError),
    /// The state cannot be read.
    #[error(transparent)]
    State(#[from] LiveError),
}
