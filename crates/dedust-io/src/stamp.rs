/*!
Tells whether a file is still the one that was read, without reading it again.
*/

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

/// What tells a file from one that took its place, and from itself after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    device_and_inode: (u64, u64),
}

impl FileStamp {
    /// The stamp of the file at `path`, to be taken before it is read. `None` for what is no file.
    pub fn of(path: &Path) -> Option<Self> {
        let file = fs::metadata(path).ok().filter(|file| file.is_file())?;
        Some(Self {
            length: file.len(),
            modified: file.modified().ok(),
            #[cfg(unix)]
            device_and_inode: (file.dev(), file.ino()),
        })
    }
}
