/*!
The keys of one generation in the order in which they came, appended batch by batch.

A batch is one record, written at once. Whatever ends the process, the file ends with
whole records, but for the last, which nobody was told of and which is cut off. A record of no keys says that the set
was closed. Damage elsewhere is not repaired but reported: keys would be forgotten.

```text
file    "dedustL1" generation:u64 record*
record  count:u64 check of count:u64 check of keys:u64 key:u128*        all little-endian
```

The count has a check of its own, so that a record whose keys are not all there is told from one whose count is wrong.
*/

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::bytes::{keys_of, u64_of};
use crate::error::{Damage, SeenError, failed};
use crate::key::KEY_BYTES;

const MAGIC: &[u8; 8] = b"dedustL1";
const HEADER_BYTES: usize = 16;
const RECORD_HEADER_BYTES: usize = 24;

/// A log that can be appended to.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    generation: u64,
    bytes: u64,
    record: Vec<u8>,
}

/// What a log was found to hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Records {
    pub(crate) keys: Vec<u128>,
    /// Keys of the last record, unless the set was closed after it.
    pub(crate) unanswered: Option<u64>,
    /// Up to the end of the last whole record.
    pub(crate) whole_bytes: u64,
}

impl Log {
    /// An empty log.
    pub(crate) fn create(path: PathBuf, generation: u64) -> Result<Self, SeenError> {
        let mut file = File::create_new(&path).map_err(failed("create", &path))?;
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&generation.to_le_bytes());
        file.write_all(&header).map_err(failed("write", &path))?;
        Ok(Self { path, file, generation, bytes: HEADER_BYTES as u64, record: Vec::new() })
    }

    /// Opens a log to append to it, after what `records` tells of.
    pub(crate) fn reopen(path: PathBuf, generation: u64, records: &Records) -> Result<Self, SeenError> {
        if records.whole_bytes < HEADER_BYTES as u64 {
            fs::remove_file(&path).map_err(failed("remove", &path))?;
            return Self::create(path, generation);
        }
        let mut file = File::options().write(true).open(&path).map_err(failed("open", &path))?;
        let bytes = records.whole_bytes;
        file.set_len(bytes).map_err(failed("shorten", &path))?;
        file.seek(SeekFrom::Start(bytes)).map_err(failed("write", &path))?;
        Ok(Self { path, file, generation, bytes, record: Vec::new() })
    }

    /// Appends a batch. It outlives the process when this returns.
    pub(crate) fn append(&mut self, keys: impl ExactSizeIterator<Item = u128>) -> Result<(), SeenError> {
        let count = (keys.len() as u64).to_le_bytes();
        self.record.clear();
        self.record.extend_from_slice(&count);
        self.record.extend_from_slice(&checksum(self.generation, &count).to_le_bytes());
        self.record.extend_from_slice(&[0; 8]);
        for key in keys {
            self.record.extend_from_slice(&key.to_le_bytes());
        }
        let checksum = checksum(self.generation, &self.record[RECORD_HEADER_BYTES..]);
        self.record[16..RECORD_HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        self.file.write_all(&self.record).map_err(failed("write", &self.path))?;
        self.bytes += self.record.len() as u64;
        Ok(())
    }

    /// Says that every answer was given.
    pub(crate) fn close(&mut self) -> Result<(), SeenError> {
        self.append(std::iter::empty())
    }

    /// All batches outlive a loss of power when this returns.
    pub(crate) fn sync(&self) -> Result<(), SeenError> {
        self.file.sync_data().map_err(failed("write", &self.path))
    }

    /// The length of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Waits until a log that is not appended to any more is on the disk, if it was not replaced by a run yet.
pub(crate) fn sync(path: &Path) -> Result<(), SeenError> {
    match File::open(path).and_then(|file| file.sync_data()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("write", path)(error)),
        _ => Ok(()),
    }
}

/// Reads the log of a generation. Only the last log of a set may end within a record.
pub(crate) fn read(path: &Path, generation: u64, is_last: bool) -> Result<Records, SeenError> {
    let bytes = fs::read(path).map_err(failed("read", path))?;
    let damaged = |at: usize, damage| SeenError::Damaged { path: path.to_owned(), offset: at as u64, damage };
    let mut records = Records::default();
    // A process killed while it made the file, or a power loss before anything reached the disk.
    if is_last && (bytes.len() < HEADER_BYTES || is_blank(&bytes)) {
        return Ok(records);
    }
    if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) || u64_of(&bytes[8..]) != generation {
        return Err(damaged(0, Damage::Header));
    }
    let mut at = HEADER_BYTES;
    while at < bytes.len() {
        let rest = &bytes[at..];
        // The end of a write that was cut off, or room for one that was not filled when the power failed.
        let is_torn = rest.len() < RECORD_HEADER_BYTES || is_blank(rest);
        if is_torn && is_last {
            break;
        } else if is_torn {
            return Err(damaged(at, Damage::Length));
        } else if checksum(generation, &rest[..8]) != u64_of(&rest[8..]) {
            return Err(damaged(at, Damage::Checksum));
        }
        let key_bytes = u64_of(rest).saturating_mul(KEY_BYTES as u64);
        if key_bytes > (rest.len() - RECORD_HEADER_BYTES) as u64 {
            if is_last {
                break;
            }
            return Err(damaged(at, Damage::Length));
        }
        let record_bytes = RECORD_HEADER_BYTES + key_bytes as usize;
        let keys = &rest[RECORD_HEADER_BYTES..record_bytes];
        if checksum(generation, keys) != u64_of(&rest[16..]) {
            return Err(damaged(at, Damage::Checksum));
        }
        records.keys.extend(keys_of(keys));
        records.unanswered = (!keys.is_empty()).then_some((keys.len() / KEY_BYTES) as u64);
        at += record_bytes;
    }
    records.whole_bytes = at as u64;
    Ok(records)
}

fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn checksum(generation: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(path: &Path, batches: &[&[u128]]) -> Vec<u8> {
        let mut log = Log::create(path.to_owned(), 7).unwrap();
        for batch in batches {
            log.append(batch.iter().copied()).unwrap();
        }
        assert_eq!(log.bytes(), fs::metadata(path).unwrap().len());
        fs::read(path).unwrap()
    }

    #[test]
    fn a_log_cut_off_anywhere_keeps_its_whole_batches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let whole = log_of(&path, &[&[1, 2], &[3]]);
        let first_end = HEADER_BYTES + RECORD_HEADER_BYTES + 2 * KEY_BYTES;
        let second_end = first_end + RECORD_HEADER_BYTES + KEY_BYTES;
        assert_eq!(whole.len(), second_end);
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let records = read(&path, 7, true).unwrap();
            let expected: &[u128] = match length {
                _ if length >= second_end => &[1, 2, 3],
                _ if length >= first_end => &[1, 2],
                _ => &[],
            };
            assert_eq!(records.keys, expected);
            // What is appended to it is found again.
            let mut log = Log::reopen(path.clone(), 7, &records).unwrap();
            log.append([9].into_iter()).unwrap();
            assert_eq!(read(&path, 7, false).unwrap().keys, [expected, &[9]].concat());
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let whole = log_of(&path, &[&[1, 2], &[3]]);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            fs::write(&path, &bytes).unwrap();
            assert!(read(&path, 7, true).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_closed_log_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        log_of(&path, &[&[1, 2], &[3]]);
        let records = read(&path, 7, true).unwrap();
        assert_eq!(records.unanswered, Some(1));
        Log::reopen(path.clone(), 7, &records).unwrap().close().unwrap();
        assert_eq!(read(&path, 7, true).unwrap().unanswered, None);
    }

    #[test]
    fn room_that_was_never_filled_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut bytes = log_of(&path, &[&[1, 2]]);
        bytes.resize(bytes.len() + 4096, 0);
        fs::write(&path, &bytes).unwrap();
        let records = read(&path, 7, true).unwrap();
        assert_eq!(records.keys, [1, 2]);
    }
}
