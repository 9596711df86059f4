/*!
The files of a set: which there are, and which may go. What they are called is in [`crate::file_names`].

A set is written in generations: keys are appended to the log of one until it is full. A run holds the keys of some
generations in a row, and its name says of which, so that a file whose generations are all in another one is left over
from a replacement that was not finished, and is removed. Every generation up to the last must be there.

The marker file says that the folder is a set ([`crate::marker`]), and is locked by the process that has it open.
*/

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bytes::check_is_file;
use crate::error::{Damage, SeenError, failed};
use crate::file_names::{self, DAMAGED, MARKER, Span, UNFINISHED, generation_of, span_of};
use crate::key::KeyHasher;
use crate::marker::{self, LockedMarker};

/// Most logs in a row that can be missed: a set has few at a time.
const MAX_MISSING_LOGS: u64 = 64;

/// A set's folder, locked.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    hasher: KeyHasher,
    /// Held for its lock.
    _marker: LockedMarker,
    syncs: AtomicU64,
}

/// Files that hold the keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Spans of the runs, in order and without gaps, from generation 1.
    pub(crate) runs: Vec<Span>,
    /// Generations of the logs that follow, in order and without gaps.
    pub(crate) logs: Vec<u64>,
}

/// What the names in a folder say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Files that hold the keys, in order; with gaps where some are missing.
    pub(crate) contents: Contents,
    /// Generations before the last one whose file is missing, in order.
    pub(crate) gaps: Vec<Span>,
    /// Files whose keys another file holds, and unfinished ones.
    leftovers: Vec<PathBuf>,
}

impl Folder {
    /// Locks a folder, which is made a set if it is empty or not there.
    pub(crate) fn open(path: &Path) -> Result<Self, SeenError> {
        make_private(path).map_err(failed("create the folder", path))?;
        if !path.join(MARKER).exists()
            && let Some(found) = names_in(path)?.into_iter().next()
        {
            return Err(SeenError::Foreign { folder: path.to_owned(), found });
        }
        let folder = match marker::lock(path, File::options().create(true).truncate(false))? {
            (marker, Some(hasher)) => Self::new(path, marker, hasher),
            (marker, None) => Self::create(path, marker)?,
        };
        folder.sync()?;
        Ok(folder)
    }

    /// Locks the folder of a set that is there, and changes nothing.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, SeenError> {
        let no_set = || SeenError::NoSet { folder: path.to_owned() };
        if !path.join(MARKER).exists() {
            return Err(no_set());
        }
        let (marker, hasher) = marker::lock(path, &mut File::options())?;
        Ok(Self::new(path, marker, hasher.ok_or_else(no_set)?))
    }

    /// Makes a folder whose marker is blank a set.
    fn create(path: &Path, marker: LockedMarker) -> Result<Self, SeenError> {
        // Keys that were hashed with a secret that is gone are of no use with another.
        if names_in(path)?.iter().any(|name| span_of(name).is_some() || generation_of(name).is_some()) {
            let path = path.join(MARKER);
            return Err(SeenError::Damaged { path, offset: 0, damage: Damage::Length });
        }
        let hasher = marker::write(&marker, path)?;
        Ok(Self::new(path, marker, hasher))
    }

    fn new(path: &Path, marker: LockedMarker, hasher: KeyHasher) -> Self {
        Self { path: path.to_owned(), hasher, _marker: marker, syncs: AtomicU64::new(0) }
    }

    /// What the keys of the set are hashed with.
    pub(crate) fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the log of a generation is.
    pub(crate) fn log(&self, generation: u64) -> PathBuf {
        self.path.join(file_names::log(generation))
    }

    /// Where the run of some generations is.
    pub(crate) fn run(&self, span: Span) -> PathBuf {
        self.path.join(file_names::run(span))
    }

    /// Where a file is while it is written.
    pub(crate) fn unfinished(path: &Path) -> PathBuf {
        with_suffix(path, UNFINISHED)
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

    /// Copies a damaged file before it is changed. The copy is no part of the set.
    pub(crate) fn keep_damaged(path: &Path) -> Result<(), SeenError> {
        fs::copy(path, Self::damaged(path)).map_err(failed("copy", path))?;
        Ok(())
    }

    /// Where the copy of a damaged file is.
    pub(crate) fn damaged(path: &Path) -> PathBuf {
        with_suffix(path, DAMAGED)
    }

    /// Names are on disk.
    pub(crate) fn sync(&self) -> Result<(), SeenError> {
        #[cfg(unix)]
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(failed("write", &self.path))?;
        self.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// How often names were put on disk since the folder was opened.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// The files that hold the keys. Those that were left over are removed.
    pub(crate) fn contents(&self) -> Result<Contents, SeenError> {
        let Survey { contents, gaps, leftovers } = self.survey()?;
        if let Some(gap) = gaps.first() {
            return Err(self.missing(gap.first));
        }
        leftovers.iter().try_for_each(|path| Self::remove(path))?;
        Ok(contents)
    }

    /// Reads the names in the folder, and changes nothing.
    pub(crate) fn survey(&self) -> Result<Survey, SeenError> {
        let (mut spans, mut logs) = (Vec::new(), Vec::new());
        let mut survey = Survey::default();
        for name in names_in(&self.path)? {
            let path = self.path.join(&name);
            if name.ends_with(UNFINISHED) {
                survey.leftovers.push(path);
            } else if let Some(span) = span_of(&name).filter(|&span| self.run(span) == path) {
                check_is_file(&path)?;
                spans.push(span);
            } else if let Some(generation) = generation_of(&name).filter(|&number| self.log(number) == path) {
                check_is_file(&path)?;
                logs.push(generation);
            }
        }
        // The widest of those that start together comes first, and holds what the others hold.
        spans.sort_unstable_by_key(|span| (span.first, u64::MAX - span.last));
        let mut next = 1;
        for span in spans {
            if span.last < next {
                survey.leftovers.push(self.run(span));
                continue;
            }
            if span.first < next {
                return Err(self.missing(next));
            }
            survey.gap(next, span.first);
            survey.contents.runs.push(span);
            next = span.last + 1;
        }
        logs.sort_unstable();
        for generation in logs {
            if generation < next {
                survey.leftovers.push(self.log(generation));
                continue;
            }
            if !survey.contents.logs.is_empty() && generation - next > MAX_MISSING_LOGS {
                return Err(self.missing(next));
            }
            survey.gap(next, generation);
            survey.contents.logs.push(generation);
            next = generation + 1;
        }
        Ok(survey)
    }

    fn missing(&self, generation: u64) -> SeenError {
        SeenError::Missing { folder: self.path.clone(), generation }
    }
}

impl Survey {
    /// Notes the generations from `next` up to `found`, which is there, as missing.
    fn gap(&mut self, next: u64, found: u64) {
        if next < found {
            self.gaps.push(Span { first: next, last: found - 1 });
        }
    }
}

/// Makes a folder that is for its owner alone, whatever the umask: whoever writes to it can hide any page. One that is there stays as it is, and those
/// above are made as ever.
fn make_private(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Names in a folder, in order.
fn names_in(path: &Path) -> Result<Vec<String>, SeenError> {
    let entries = fs::read_dir(path).map_err(failed("read the folder", path))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>, io::Error>>()
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
    fn names_that_no_set_writes_are_left_alone() {
        let names =
            ["log-1", "log-+0000001", "log-18446744073709551615", "run-00000001-18446744073709551615"];
        let (contents, left) = contents_of(&names);
        assert_eq!(contents.unwrap(), Contents::default());
        assert_eq!(left.len(), 1 + names.len());
    }

    #[test]
    fn the_secret_is_for_the_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        Folder::open(folder.path()).unwrap();
        let metadata = fs::metadata(folder.path().join(MARKER)).unwrap();
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o600);
        assert!(metadata.len() > 0);
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
