/*!
Writes an output file so that it is either complete or not there.

Bytes go to a file beside the target, `.NAME.tmp-PID`, which takes the target's place on [`OutputFile::commit`] and
is removed if that is never reached. Its writer holds a lock on it. One that nobody holds a lock on is of a process that was killed: the next
writer of the same target removes it. `-` is standard output; pipes and devices are written directly, and so is what must
not be lost when the process ends early ([`OutputFile::create_in_place`]). Does not compress.
*/

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::WriteError;

const BUFFER_BYTES: usize = 256 << 10;

/// A file being written. Dropped without [`OutputFile::commit`], it leaves nothing behind.
pub struct OutputFile {
    /// As named by the user.
    path: PathBuf,
    writer: BufWriter<Box<dyn Write + Send>>,
    /// Absent where the target is written directly.
    beside: Option<Beside>,
}

/// The file beside the target. Removed when dropped.
struct Beside {
    path: PathBuf,
    /// A second handle, to flush the file to disk.
    file: File,
    target: PathBuf,
    force: bool,
    /// Whether the file has the name of the target, and its own is free for others.
    is_renamed: bool,
}

impl OutputFile {
    /// Starts writing to `path`, or to standard output for `-`. An existing file is an error unless `force`.
    pub fn create(path: impl AsRef<Path>, force: bool) -> Result<OutputFile, WriteError> {
        let path = path.as_ref().to_owned();
        if path.as_os_str() == "-" {
            return Ok(Self::standard_output());
        }
        let failed = |source| WriteError::Create { path: path.clone(), source };
        let target = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(WriteError::IsDirectory { path }),
            Ok(found) if !found.is_file() => {
                let device = File::options().write(true).open(&path).map_err(failed)?;
                return Ok(OutputFile { path, writer: buffered(device), beside: None });
            }
            Ok(_) if !force => return Err(WriteError::Exists { path }),
            // Through a symbolic link, so that the link stays and its target is replaced.
            Ok(_) => fs::canonicalize(&path).map_err(failed)?,
            Err(_) => path.clone(),
        };
        let (beside, file) = create_beside(&target).map_err(failed)?;
        let written = file.try_clone().map_err(failed)?;
        let beside = Beside { path: beside, file, target, force, is_renamed: false };
        Ok(OutputFile { path, writer: buffered(written), beside: Some(beside) })
    }

    /// Writes to standard output.
    pub fn standard_output() -> OutputFile {
        OutputFile { path: "-".into(), writer: buffered(io::stdout()), beside: None }
    }

    /// Starts writing to `path` itself: what is flushed is there, whatever happens later. An existing file is an error unless
    /// `force`, and emptied.
    pub fn create_in_place(path: impl AsRef<Path>, force: bool) -> Result<OutputFile, WriteError> {
        let path = path.as_ref().to_owned();
        if path.as_os_str() == "-" || fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Self::create(path, force);
        }
        let options = &mut File::options();
        let opened = match force {
            true => options.write(true).create(true).truncate(true).open(&path),
            false => options.write(true).create_new(true).open(&path),
        };
        match opened {
            Ok(file) => Ok(OutputFile { path, writer: buffered(file), beside: None }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WriteError::Exists { path }),
            Err(source) => Err(WriteError::Create { path, source }),
        }
    }

    /// The target, as named by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of the file, and [completes](Self::commit) it.
    pub fn write_whole(mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<(), WriteError> {
        write(&mut self).map_err(|source| WriteError::Write { path: self.path.clone(), source })?;
        self.commit()
    }

    /// Completes the file: all bytes are on disk, then the target has its name.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let path = self.path.clone();
        let failed = |source| WriteError::Write { path: path.clone(), source };
        self.writer.flush().map_err(failed)?;
        if let Some(beside) = &mut self.beside {
            beside.file.sync_all().map_err(failed)?;
            if !beside.force && beside.target.exists() {
                return Err(WriteError::Exists { path: self.path.clone() });
            }
            fs::rename(&beside.path, &beside.target).map_err(failed)?;
            beside.is_renamed = true;
        }
        Ok(())
    }
}

/// Errors name the file, whoever has it written, and are of the kind that they were.
impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| named(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| named(&self.path, error))
    }
}

fn named(path: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), WriteError::Write { path: path.to_owned(), source })
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_renamed {
            // A failure to clean up has no one to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl fmt::Debug for OutputFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputFile").field("path", &self.path).finish_non_exhaustive()
    }
}

fn buffered(writer: impl Write + Send + 'static) -> BufWriter<Box<dyn Write + Send>> {
    BufWriter::with_capacity(BUFFER_BYTES, Box::new(writer))
}

/// A new file in the target's folder, locked. Files of killed processes are removed.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    const ATTEMPTS: u32 = 100;
    let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut start = OsString::from(".");
    start.push(name);
    start.push(".tmp-");
    remove_abandoned(target, &start);
    let mut attempt = 0;
    loop {
        let mut beside = start.clone();
        beside.push(std::process::id().to_string());
        if attempt > 0 {
            beside.push(format!("-{attempt}"));
        }
        let beside = target.with_file_name(beside);
        match File::create_new(&beside) {
            // Before it was locked, another writer may have taken it for abandoned.
            Ok(file) if is_ours(&file, &beside) => return Ok((beside, file)),
            Ok(_) if attempt < ATTEMPTS => attempt += 1,
            Ok(_) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Locks a file that this process has just made. `false`: another one is removing it, or has done so.
fn is_ours(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(TryLockError::WouldBlock) => false,
        // Where there are no locks, nobody removes anything.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Removes files beside a target whose writers have ended without it. What cannot be removed is left.
fn remove_abandoned(target: &Path, start: &OsStr) {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let end = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes());
        let is_one = end.is_some_and(|end| {
            let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
            end.split(|&byte| byte == b'-').count() <= 2 && end.split(|&byte| byte == b'-').all(is_number)
        });
        // A pipe of that name would be waited for.
        if !is_one || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::options().read(true).write(true).open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            // Whoever made it and has not locked it yet will see that it is locked, or gone.
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether a file has this name: its own process, or another, may have given the name to another file since, or removed it.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(found)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (file.dev(), file.ino()) == (found.dev(), found.ino())
    }
    // Elsewhere a file that is open keeps its name.
    #[cfg(not(unix))]
    {
        file.is_file() && found.is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn target_appears_on_commit_only() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        let mut output = OutputFile::create(&target, false).unwrap();
        output.write_all(b"{}\n").unwrap();
        assert_eq!(names(folder.path()), [format!(".rules.json.tmp-{}", std::process::id())]);
        output.commit().unwrap();
        assert_eq!(names(folder.path()), ["rules.json"]);
        assert_eq!(fs::read(&target).unwrap(), b"{}\n");
    }

    #[test]
    fn nothing_is_left_without_commit() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        fs::write(&target, "old").unwrap();
        let mut output = OutputFile::create(&target, true).unwrap();
        output.write_all(&[b'x'; 2 * BUFFER_BYTES]).unwrap();
        drop(output);
        assert_eq!(names(folder.path()), ["rules.json"]);
        assert_eq!(fs::read(&target).unwrap(), b"old");
    }

    #[test]
    fn an_existing_file_needs_force() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        fs::write(&target, "old").unwrap();
        assert!(
            matches!(OutputFile::create(&target, false), Err(WriteError::Exists { path }) if path == target)
        );
        let mut output = OutputFile::create(&target, true).unwrap();
        output.write_all(b"new").unwrap();
        output.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        let output = OutputFile::create(&target, false).unwrap();
        fs::write(&target, "theirs").unwrap();
        assert!(matches!(output.commit(), Err(WriteError::Exists { .. })));
        assert_eq!(fs::read(&target).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["rules.json"]);
    }

    #[test]
    fn what_is_written_in_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new.txt");
        let mut output = OutputFile::create_in_place(&target, false).unwrap();
        output.write_all(b"http://a.example/\n").unwrap();
        output.flush().unwrap();
        drop(output);
        assert_eq!(fs::read(&target).unwrap(), b"http://a.example/\n");
        assert!(matches!(OutputFile::create_in_place(&target, false), Err(WriteError::Exists { .. })));
        OutputFile::create_in_place(&target, true).unwrap().commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"");
    }

    #[test]
    fn two_writers_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        let mut first = OutputFile::create(&target, true).unwrap();
        let mut second = OutputFile::create(&target, true).unwrap();
        first.write_all(b"first").unwrap();
        second.write_all(b"second").unwrap();
        second.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"second");
        first.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"first");
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_by_the_next_one_of_the_target_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("rules.json");
        let mut living = OutputFile::create(&target, true).unwrap();
        living.write_all(b"living").unwrap();
        // No process has the number 0.
        let others =
            [".other.json.tmp-0", ".rules.json.tmp-0-mine", ".rules.json.tmp-", ".rules.json.tmp-0-1-2"];
        for name in [".rules.json.tmp-0", ".rules.json.tmp-0-1"].iter().chain(&others) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        OutputFile::create(&target, true).unwrap().commit().unwrap();
        let mut left = names(folder.path());
        left.sort();
        let own = format!(".rules.json.tmp-{}", std::process::id());
        let mut expected = others.map(str::to_owned).to_vec();
        expected.extend([own, "rules.json".into()]);
        expected.sort();
        assert_eq!(left, expected);
        living.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"living");
    }

    /// Each of them removes what it takes for abandoned while others make, lock and rename theirs.
    #[test]
    fn many_writers_at_a_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let target = folder.path().join("rules.json");
                scope.spawn(move || {
                    for round in 0..200 {
                        let mut output = OutputFile::create(&target, true).unwrap();
                        output.write_all(format!("{writer} {round}").as_bytes()).unwrap();
                        output.commit().unwrap();
                    }
                });
            }
        });
        assert_eq!(names(folder.path()), ["rules.json"]);
        assert!(fs::read_to_string(folder.path().join("rules.json")).unwrap().ends_with(" 199"));
    }

    #[test]
    fn a_folder_is_no_target() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(OutputFile::create(folder.path(), true), Err(WriteError::IsDirectory { .. })));
        let missing = folder.path().join("missing").join("rules.json");
        assert!(matches!(OutputFile::create(&missing, false), Err(WriteError::Create { .. })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_names_the_file_and_keeps_its_kind() {
        let mut output = OutputFile::create("/dev/full", false).unwrap();
        output.write_all(b"too much").unwrap();
        let error = output.flush().unwrap_err();
        assert_eq!(
            (error.kind(), &*error.to_string()),
            (io::ErrorKind::StorageFull, "cannot write /dev/full")
        );
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.starts_with("No space left on device"), "{cause}");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_devices_are_written_directly() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("rules.json"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut output = OutputFile::create(&link, true).unwrap();
        output.write_all(b"new").unwrap();
        output.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");

        let mut null = OutputFile::create("/dev/null", false).unwrap();
        null.write_all(b"gone").unwrap();
        null.commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
