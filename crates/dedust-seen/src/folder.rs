/*!
The files of a set: their names, what they say, and which may go.

A set is written in generations: keys are appended to the log of one until it is full. A run holds the keys of some
generations in a row, and its name says of which, so that a file whose generations are all in another one is left over
from a replacement that was not finished, and is removed. Every generation up to the last must be there.

The marker file says that the folder is a set, and is locked by the process that has it open.
*/

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{SeenError, failed};

/// The file that makes a folder a set.
pub(crate) const MARKER: &str = "SEEN";
/// What is in it.
pub(crate) const MARKER_TEXT: &str = "dedust set of seen keys, format 1\n";

const UNFINISHED: &str = ".tmp";

/// Generations in a row, first and last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Span {
    pub(crate) fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

/// A set's folder, locked.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Held for its lock.
    _marker: File,
}

/// Files that hold the keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Spans of the runs, in order and without gaps, from generation 1.
    pub(crate) runs: Vec<Span>,
    /// Generations of the logs that follow, in order and without gaps.
    pub(crate) logs: Vec<u64>,
}

impl Folder {
    /// Locks a folder, which is made a set if it is empty or not there.
    pub(crate) fn open(path: &Path) -> Result<Self, SeenError> {
        fs::create_dir_all(path).map_err(failed("create the folder", path))?;
        let marker_path = path.join(MARKER);
        if !marker_path.exists()
            && let Some(found) = names_in(path)?.into_iter().next()
        {
            return Err(SeenError::Foreign { folder: path.to_owned(), found });
        }
        let mut marker = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&marker_path)
            .map_err(failed("open", &marker_path))?;
        marker.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => SeenError::InUse { folder: path.to_owned() },
            fs::TryLockError::Error(source) => {
                SeenError::Io { action: "lock", path: marker_path.clone(), source }
            }
        })?;
        let mut text = Vec::new();
        (&mut marker)
            .take(MARKER_TEXT.len() as u64 + 1)
            .read_to_end(&mut text)
            .map_err(failed("read", &marker_path))?;
        // An empty one was made by a process that got no further.
        if text.is_empty() {
            marker.write_all(MARKER_TEXT.as_bytes()).map_err(failed("write", &marker_path))?;
            marker.sync_all().map_err(failed("write", &marker_path))?;
        } else if text != MARKER_TEXT.as_bytes() {
            let found = String::from_utf8_lossy(&text).trim_end().into();
            return Err(SeenError::UnsupportedVersion { folder: path.to_owned(), found });
        }
        let folder = Self { path: path.to_owned(), _marker: marker };
        folder.sync()?;
        Ok(folder)
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the log of a generation is.
    pub(crate) fn log(&self, generation: u64) -> PathBuf {
        self.path.join(format!("log-{generation:08}"))
    }

    /// Where the run of some generations is.
    pub(crate) fn run(&self, Span { first, last }: Span) -> PathBuf {
        self.path.join(format!("run-{first:08}-{last:08}"))
    }

    /// Where a file is while it is written.
    pub(crate) fn unfinished(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(UNFINISHED);
        name.into()
    }

    /// Gives a file that is complete and on disk its name, for good.
    pub(crate) fn publish(&self, path: &Path) -> Result<(), SeenError> {
        fs::rename(Self::unfinished(path), path).map_err(failed("rename to", path))?;
        self.sync()
    }

    /// Removes a file that is not needed any more.
    pub(crate) fn remove(path: &Path) -> Result<(), SeenError> {
        fs::remove_file(path).map_err(failed("remove", path))
    }

    /// Names are on disk.
    pub(crate) fn sync(&self) -> Result<(), SeenError> {
        #[cfg(unix)]
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(failed("write", &self.path))?;
        Ok(())
    }

    /// The files that hold the keys. Those that were left over are removed.
    pub(crate) fn contents(&self) -> Result<Contents, SeenError> {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        for name in names_in(&self.path)? {
            if name.ends_with(UNFINISHED) {
                Self::remove(&self.path.join(name))?;
            } else if let Some(span) = span_of(&name) {
                spans.push(span);
            } else if let Some(generation) = name.strip_prefix("log-").and_then(|number| number.parse().ok())
            {
                logs.push(generation);
            }
        }
        // The widest of those that start together comes first, and holds what the others hold.
        spans.sort_unstable_by_key(|span| (span.first, u64::MAX - span.last));
        let mut runs: Vec<Span> = Vec::new();
        for span in spans {
            let next = runs.last().map_or(1, |run| run.last + 1);
            if span.last < next {
                Self::remove(&self.run(span))?;
            } else if span.first == next {
                runs.push(span);
            } else {
                return Err(self.missing(next));
            }
        }
        logs.sort_unstable();
        let mut next = runs.last().map_or(1, |run| run.last + 1);
        let mut live = Vec::new();
        for generation in logs {
            if generation < next {
                Self::remove(&self.log(generation))?;
            } else if generation == next {
                live.push(generation);
                next += 1;
            } else {
                return Err(self.missing(next));
            }
        }
        Ok(Contents { runs, logs: live })
    }

    fn missing(&self, generation: u64) -> SeenError {
        SeenError::Missing { folder: self.path.clone(), generation }
    }
}

fn span_of(name: &str) -> Option<Span> {
    let (first, last) = name.strip_prefix("run-")?.split_once('-')?;
    let span = Span { first: first.parse().ok()?, last: last.parse().ok()? };
    (1 <= span.first && span.first <= span.last).then_some(span)
}

/// Names in a folder, in order.
fn names_in(path: &Path) -> Result<Vec<String>, SeenError> {
    let entries = fs::read_dir(path).map_err(failed("read the folder", path))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, std::io::Error>>()
        .map_err(failed("read the folder", path))?;
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents_of(names: &[&str]) -> (Result<Contents, SeenError>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let opened = Folder::open(folder.path()).unwrap();
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        (opened.contents(), names_in(folder.path()).unwrap())
    }

    #[test]
    fn what_another_file_holds_is_removed() {
        let names = ["run-00000001-00000004", "run-00000002-00000002", "run-00000004-00000004"];
        let (contents, left) = contents_of(&[&names[..], &["log-00000004", "log-00000005"]].concat());
        assert_eq!(contents.unwrap(), Contents { runs: vec![Span { first: 1, last: 4 }], logs: vec![5] });
        assert_eq!(left, ["SEEN", "log-00000005", "run-00000001-00000004"]);
    }

    #[test]
    fn unfinished_files_are_removed_and_unknown_ones_left_alone() {
        let (contents, left) = contents_of(&["run-00000001-00000001.tmp", "notes.txt"]);
        assert_eq!(contents.unwrap(), Contents::default());
        assert_eq!(left, ["SEEN", "notes.txt"]);
    }

    #[test]
    fn gaps_are_refused() {
        for names in [
            &["run-00000002-00000003"][..],
            &["run-00000001-00000001", "run-00000003-00000003"],
            &["run-00000001-00000001", "log-00000003"],
        ] {
            let error = contents_of(names).0.unwrap_err().to_string();
            assert!(error.contains("lacks the file with the keys of generation"), "{error}");
        }
    }
}
