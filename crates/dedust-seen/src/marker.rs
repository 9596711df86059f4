/*!
The file `SEEN`, which makes a folder a set: its format, and the secret that its keys are hashed with.

```text
dedust set of seen keys, format 2
secret 000102030405060708090a0b0c0d0e0f
check 0123456789abcdef
```

The check is of the bytes before it: with a secret that is wrong in one bit, every page would be new once more.

The process that has a set open holds a lock on this file.
*/

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::check_is_file;
use crate::error::{Damage, SeenError, failed};
use crate::file_names::MARKER;
use crate::key::{KeyHasher, SECRET_BYTES, random_secret};

const FORMAT: &str = "dedust set of seen keys, format 2\n";

/// More than the length of any marker. What follows is not read.
const MAX_BYTES: u64 = 256;

/// What a marker was found to say.
#[derive(Clone, Copy, Debug)]
enum Marker {
    /// Nothing: whoever made it got no further.
    Blank,
    /// The folder is a set, whose keys are hashed by this.
    Set(KeyHasher),
    /// It has the format of this release, but other bytes than were written.
    Damaged,
    /// It is none that this release knows.
    Unknown,
}

/// A marker file and the lock on it, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct LockedMarker {
    file: File,
    /// The process that locked it.
    process: u32,
}

impl Drop for LockedMarker {
    /// Unlocks the file. Closing it is not enough: a child that this process just forked has a copy of the file until it
    /// starts its own program, and the lock is on all copies. For the same reason a child does not unlock it.
    fn drop(&mut self) {
        if std::process::id() == self.process {
            let _ = self.file.unlock();
        }
    }
}

/// Opens and locks the marker of a folder. Says what keys are hashed with, or nothing if the marker is blank.
pub(crate) fn lock(
    folder: &Path,
    options: &mut OpenOptions,
) -> Result<(LockedMarker, Option<KeyHasher>), SeenError> {
    let path = folder.join(MARKER);
    if path.exists() {
        check_is_file(&path)?;
    }
    let options = private(options).read(true).write(true);
    let file = options.open(&path).map_err(failed("open", &path))?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => SeenError::InUse { folder: folder.to_owned() },
        TryLockError::Error(source) => SeenError::Io { action: "lock", path: path.clone(), source },
    })?;
    let marker = LockedMarker { file, process: std::process::id() };
    let mut bytes = Vec::new();
    (&marker.file).take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed("read", &path))?;
    match decode(&bytes) {
        Marker::Blank => Ok((marker, None)),
        Marker::Set(hasher) => Ok((marker, Some(hasher))),
        Marker::Damaged => Err(SeenError::Damaged { path, offset: 0, damage: Damage::Checksum }),
        Marker::Unknown => {
            let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let found = String::from_utf8_lossy(line).into_owned();
            Err(SeenError::UnsupportedVersion { folder: folder.to_owned(), found })
        }
    }
}

/// Writes the marker of a new set, with a random secret.
pub(crate) fn write(marker: &LockedMarker, folder: &Path) -> Result<KeyHasher, SeenError> {
    let secret = random_secret()?;
    let mut file = &marker.file;
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| file.write_all(encode_secret(FORMAT, secret).as_bytes()))
        .and_then(|()| file.sync_all())
        .map_err(failed("write", &folder.join(MARKER)))?;
    Ok(KeyHasher::with_secret(secret))
}

/// Only the owner may read a file that is made with these options: it holds a secret.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// The text of a marker of this format with this secret.
pub fn encode_secret(format: &str, secret: [u8; SECRET_BYTES]) -> String {
    let mut text = format!("{format}secret ");
    for byte in secret {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
    let check = xxh3_64(text.as_bytes());
    text + &format!("check {check:016x}\n")
}

/// The secret of a marker of this format, if it is as it was written.
pub fn decode_secret(format: &str, bytes: &[u8]) -> Option<[u8; SECRET_BYTES]> {
    let line = std::str::from_utf8(bytes).ok()?.strip_prefix(format)?.lines().next()?;
    let secret = read_secret(line.strip_prefix("secret ")?)?;
    // Only one text has this secret, so that no byte of it goes unchecked.
    (encode_secret(format, secret).as_bytes() == bytes).then_some(secret)
}

/// What the bytes of a marker say.
fn decode(bytes: &[u8]) -> Marker {
    if bytes.iter().all(|&byte| byte == 0) {
        return Marker::Blank;
    }
    if !bytes.starts_with(FORMAT.as_bytes()) {
        return Marker::Unknown;
    }
    decode_secret(FORMAT, bytes).map_or(Marker::Damaged, |secret| Marker::Set(KeyHasher::with_secret(secret)))
}

/// A secret as markers have it, in hexadecimal digits.
pub(crate) fn read_secret(digits: &str) -> Option<[u8; SECRET_BYTES]> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let mut secret = [0; SECRET_BYTES];
    if pairs.len() != secret.len() {
        return None;
    }
    for (byte, pair) in secret.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; SECRET_BYTES] = [0x5a; SECRET_BYTES];

    #[test]
    fn a_marker_is_read_as_it_was_written() {
        let text = encode_secret(FORMAT, SECRET);
        assert!((text.len() as u64) < MAX_BYTES);
        let Marker::Set(hasher) = decode(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(hasher.hash(b"key"), KeyHasher::with_secret(SECRET).hash(b"key"));
    }

    #[test]
    fn a_copy_of_the_file_in_a_child_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let lock = || lock(folder.path(), File::options().create(true).truncate(false));
        let (marker, _) = lock().unwrap();
        let copy = marker.file.try_clone().unwrap();
        assert!(matches!(lock(), Err(SeenError::InUse { .. })));
        drop(marker);
        let (marker, _) = lock().unwrap();
        // A child that drops its copy leaves the lock to its parent.
        drop(LockedMarker { file: copy, process: marker.process + 1 });
        drop(LockedMarker { file: marker.file.try_clone().unwrap(), process: marker.process + 1 });
        assert!(matches!(lock(), Err(SeenError::InUse { .. })));
    }

    #[test]
    fn any_changed_byte_and_any_other_length_is_noticed() {
        let whole = encode_secret(FORMAT, SECRET).into_bytes();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            assert!(matches!(decode(&bytes), Marker::Damaged | Marker::Unknown), "byte {at}");
        }
        for length in 1..whole.len() {
            assert!(!matches!(decode(&whole[..length]), Marker::Set(_)), "{length}");
        }
        assert!(matches!(decode(&[&whole[..], b"\n"].concat()), Marker::Damaged));
    }
}
