/*!
The folder of a live crawl: its files, its secret, and that one process has it.

```text
LIVE                what this is, the secret, and a lock
EPOCH               how often the folder was opened
journal-NUMBER      what happened last, on all sites
sites/XX/NAME       what happened before, one file for each site
```
*/

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use dedust_seen::KeyHasher;
use dedust_seen::support::{SECRET_BYTES, decode_secret, encode_secret, random_secret};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::LiveError;

const MARKER: &str = "LIVE";
const EPOCH: &str = "EPOCH";
const JOURNAL: &str = "journal-";
const SITES: &str = "sites";
const FORMAT: &str = "dedust live crawl, format 1\n";
/// Characters of a site that are part of the name of its file.
const NAME_CHARACTERS: usize = 64;

/// A folder that this process has, until it is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for its lock.
    _marker: File,
    secret: [u8; SECRET_BYTES],
    /// How often the folder was opened.
    pub(crate) epoch: u32,
}

impl Folder {
    /// Opens a folder, which is made if it is not there or empty.
    pub(crate) fn open(path: &Path) -> Result<Self, LiveError> {
        fs::create_dir_all(path).map_err(LiveError::io("create the folder", path))?;
        let marker_path = path.join(MARKER);
        if !marker_path.exists() {
            let mut entries = fs::read_dir(path).map_err(LiveError::io("read the folder", path))?;
            if let Some(Ok(found)) = entries.next() {
                let found = found.file_name().to_string_lossy().into_owned();
                return Err(LiveError::Foreign { folder: path.to_owned(), found });
            }
        }
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.create(true).truncate(false).read(true).write(true);
        let mut marker = options.open(&marker_path).map_err(LiveError::io("open", &marker_path))?;
        marker.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => LiveError::InUse { folder: path.to_owned() },
            TryLockError::Error(source) => LiveError::io("lock", &marker_path)(source),
        })?;
        let mut text = String::new();
        let read = (&marker).take(256).read_to_string(&mut text);
        let secret = match (read, &*text) {
            (Ok(_), "") => write_marker(&mut marker, &marker_path)?,
            (Ok(_), text) => {
                decode_secret(FORMAT, text.as_bytes()).ok_or(LiveError::Marker { path: marker_path })?
            }
            (Err(_), _) => return Err(LiveError::Marker { path: marker_path }),
        };
        let sites = path.join(SITES);
        fs::create_dir_all(&sites).map_err(LiveError::io("create the folder", sites))?;
        let epoch = count_epoch(&path.join(EPOCH))?;
        Ok(Self { path: path.to_owned(), _marker: marker, secret, epoch })
    }

    /// Hashes URLs and keys.
    pub(crate) fn hasher(&self) -> KeyHasher {
        KeyHasher::with_secret(self.secret)
    }

    /// Chooses audits: hashes that have nothing in common with those of URLs.
    pub(crate) fn chooser(&self) -> KeyHasher {
        KeyHasher::with_secret(self.secret.map(|byte| !byte))
    }

    /// Where the journal of a number is.
    pub(crate) fn journal(&self, number: u64) -> PathBuf {
        self.path.join(format!("{JOURNAL}{number}"))
    }

    /// Numbers of journals, in order: two where a process ended before it removed the first.
    pub(crate) fn journals(&self) -> Result<Vec<u64>, LiveError> {
        let names = names_in(&self.path)?;
        let number = |name: &String| name.strip_prefix(JOURNAL)?.parse().ok();
        let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Where the records of a site are.
    pub(crate) fn site(&self, site: &str) -> PathBuf {
        let hash = xxh3_64(site.as_bytes());
        let is_plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
        let name: String = site.chars().filter(is_plain).take(NAME_CHARACTERS).collect();
        self.path.join(SITES).join(format!("{:02x}", hash >> 56)).join(format!("{name}-{hash:016x}"))
    }

    /// The files of all sites.
    pub(crate) fn sites(&self) -> Result<Vec<PathBuf>, LiveError> {
        let folder = self.path.join(SITES);
        let mut files = Vec::new();
        for part in names_in(&folder)? {
            let part = folder.join(part);
            files.extend(names_in(&part)?.into_iter().map(|name| part.join(name)));
        }
        Ok(files)
    }
}

impl Drop for Folder {
    /// A child that was just forked has a copy of the file, and the lock is on all copies.
    fn drop(&mut self) {
        let _ = self._marker.unlock();
    }
}

/// Names in a folder, in order.
fn names_in(path: &Path) -> Result<Vec<String>, LiveError> {
    let cannot = || LiveError::io("read the folder", path);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(cannot())? {
        names.push(entry.map_err(cannot())?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

fn write_marker(marker: &mut File, path: &Path) -> Result<[u8; SECRET_BYTES], LiveError> {
    let secret = random_secret()?;
    let text = encode_secret(FORMAT, secret);
    let written = marker.write_all(text.as_bytes()).and_then(|()| marker.sync_all());
    written.map_err(LiveError::io("write", path))?;
    Ok(secret)
}

/// Counts this opening.
fn count_epoch(path: &Path) -> Result<u32, LiveError> {
    let before: u32 = fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let epoch = before.wrapping_add(1);
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, format!("{epoch}\n")).map_err(LiveError::io("write", &unfinished))?;
    fs::rename(&unfinished, path).map_err(LiveError::io("write", path))?;
    Ok(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_opened_once_and_knows_its_secret_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let opened = Folder::open(&path).unwrap();
        assert!(matches!(Folder::open(&path), Err(LiveError::InUse { .. })));
        let (secret, epoch) = (opened.secret, opened.epoch);
        drop(opened);
        let again = Folder::open(&path).unwrap();
        assert_eq!((again.secret, again.epoch), (secret, epoch + 1));
    }

    #[test]
    fn other_folders_are_refused_and_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        assert!(matches!(Folder::open(folder.path()), Err(LiveError::Foreign { .. })));
        assert_eq!(names_in(folder.path()).unwrap(), ["notes.txt"]);
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join(MARKER), "dedust live crawl, format 9\n").unwrap();
        assert!(matches!(Folder::open(other.path()), Err(LiveError::Marker { .. })));
    }
}
