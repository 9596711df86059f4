/*!
Where a set is, in a word of a command line: a folder, or a server.
*/

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::error::SeenError;
use crate::options::SeenOptions;
use crate::server::{is_address, shown_address};
use crate::set::SeenSet;

/// Where a set of seen keys is.
///
/// ```
/// use dedust_seen::SeenLocation;
///
/// assert!(matches!(SeenLocation::from("seen"), SeenLocation::Folder(_)));
/// assert_eq!(SeenLocation::from("redis://user:secret@host/crawl").to_string(), "redis://host:6379/crawl");
/// ```
#[derive(Clone)]
pub enum SeenLocation {
    /// In a folder, for one process at a time.
    Folder(PathBuf),
    /// On a server, for many. The address may have a password in it, which is not shown.
    Server(String),
}

impl SeenLocation {
    /// Opens the set that is there. It is made if it is not.
    pub fn open(&self, options: &SeenOptions) -> Result<SeenSet, SeenError> {
        match self {
            Self::Folder(folder) => options.open(folder),
            Self::Server(address) => options.connect(address),
        }
    }
}

impl From<OsString> for SeenLocation {
    fn from(text: OsString) -> Self {
        let shown = text.to_string_lossy();
        if is_address(&shown) { Self::Server(shown.into_owned()) } else { Self::Folder(text.into()) }
    }
}

impl From<&str> for SeenLocation {
    fn from(text: &str) -> Self {
        OsString::from(text).into()
    }
}

impl fmt::Display for SeenLocation {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Server(address) => f.write_str(&shown_address(address)),
        }
    }
}

impl fmt::Debug for SeenLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_without_a_password() {
        let location = SeenLocation::from("redis://user:secret@host/crawl");
        assert_eq!(format!("{location} {location:?}"), "redis://host:6379/crawl redis://host:6379/crawl");
        assert!(matches!(SeenLocation::from("redis"), SeenLocation::Folder(_)));
    }
}
