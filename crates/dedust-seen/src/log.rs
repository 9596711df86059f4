/*!
The keys of one generation in the order in which they came, appended batch by batch.

A batch is one record, written at once. If the process is killed, the file ends with whole records, but for the last,
which nobody was told of. After a loss of power any part of what was not synced may be gone. In both cases the log is cut
off at the first record that is not whole. Keys that are cut off are new once more: a page may be fetched twice, but none
is missed. A record of no keys says that the set was closed.

```text
file    "dedustL1" generation:u64 record*
record  count:u64 check of count:u64 check of keys:u64 key:u128*        all little-endian
```

The count has a check of its own, so that a record whose keys are not all there is told from one whose count is wrong.
*/

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::bytes::{keys_of, u64_of};
use crate::error::{Damage, SeenError, failed};
use crate::folder::Folder;
use crate::key::KEY_BYTES;

/// Most keys of a record.
pub(crate) const MAX_RECORD_KEYS: usize = 256 << 10;

const MAGIC: &[u8; 8] = b"dedustL1";
const HEADER_BYTES: usize = 16;
const RECORD_HEADER_BYTES: usize = 24;
const READ_BYTES: usize = 64 << 10;

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
    /// Up to the end of the last whole record; 0 if there is no header either.
    pub(crate) whole_bytes: u64,
    /// What follows the whole records.
    pub(crate) tail: Option<Tail>,
}

/// Bytes at the end of a log that are no whole records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    /// How many. Never 0.
    pub(crate) bytes: u64,
    /// What is wrong with the first of them.
    pub(crate) damage: Damage,
}

impl Records {
    /// Bytes that are no whole records.
    pub(crate) fn cut_bytes(&self) -> u64 {
        self.tail.map_or(0, |tail| tail.bytes)
    }
}

impl Log {
    /// An empty log.
    pub(crate) fn create(path: PathBuf, generation: u64) -> Result<Self, SeenError> {
        let mut file = File::create_new(&path).map_err(failed("create", &path))?;
        file.write_all(&header_of(generation)).map_err(failed("write", &path))?;
        Ok(Self { path, file, generation, bytes: HEADER_BYTES as u64, record: Vec::new() })
    }

    /// Opens a log to append to it, after `bytes` that are a header and whole records. All that follows is cut off.
    pub(crate) fn reopen(path: PathBuf, generation: u64, bytes: u64) -> Result<Self, SeenError> {
        let mut file = File::options().write(true).open(&path).map_err(failed("open", &path))?;
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

/// Reads the log of a generation, up to the first record that is not whole.
pub(crate) fn read(path: &Path, generation: u64) -> Result<Records, SeenError> {
    let file = File::open(path).map_err(failed("read", path))?;
    let file_bytes = file.metadata().map_err(failed("read", path))?.len();
    let mut input = BufReader::with_capacity(READ_BYTES, file);
    // All zero if the file is shorter, and if nothing of it reached the disk before a loss of power.
    let mut header = [0; HEADER_BYTES];
    if file_bytes >= HEADER_BYTES as u64 {
        input.read_exact(&mut header).map_err(failed("read", path))?;
    }
    let mut records = Records::default();
    let mut damage = None;
    if header == [0; HEADER_BYTES] {
        damage = Some(Damage::Length);
    } else if header != header_of(generation) {
        return Err(SeenError::Damaged { path: path.to_owned(), offset: 0, damage: Damage::Header });
    } else {
        records.whole_bytes = HEADER_BYTES as u64;
    }
    let mut reader = Reader { input, generation, rest: file_bytes - records.whole_bytes, record: Vec::new() };
    while damage.is_none() && reader.rest > 0 {
        match reader.read_record(&mut records.keys).map_err(failed("read", path))? {
            Ok(count) => records.unanswered = (count > 0).then_some(count),
            Err(found) => damage = Some(found),
        }
    }
    records.whole_bytes = file_bytes - reader.rest;
    records.tail = damage.filter(|_| reader.rest > 0).map(|damage| Tail { bytes: reader.rest, damage });
    Ok(records)
}

/// Makes a log one that can be read to its end, and says what was found. If the header had to be written again, a copy
/// of the file as it was is kept.
pub(crate) fn repair(path: &Path, generation: u64) -> Result<Records, SeenError> {
    let file = File::options().write(true).open(path).map_err(failed("open", path))?;
    let records = match read(path, generation) {
        Err(SeenError::Damaged { .. }) => {
            Folder::keep_damaged(path)?;
            (&file).write_all(&header_of(generation)).map_err(failed("write", path))?;
            read(path, generation)?
        }
        records => records?,
    };
    file.set_len(records.whole_bytes).and_then(|()| file.sync_all()).map_err(failed("shorten", path))?;
    Ok(records)
}

/// Reads one record after the other.
struct Reader {
    input: BufReader<File>,
    generation: u64,
    /// Bytes from the next record to the end of the file.
    rest: u64,
    /// Room for the keys of a record.
    record: Vec<u8>,
}

impl Reader {
    /// Adds the keys of the next record to `keys` and says how many they are, or what is wrong with the record.
    fn read_record(&mut self, keys: &mut Vec<u128>) -> io::Result<Result<u64, Damage>> {
        let Some(key_room) = self.rest.checked_sub(RECORD_HEADER_BYTES as u64) else {
            return Ok(Err(Damage::Length));
        };
        let mut header = [0; RECORD_HEADER_BYTES];
        self.input.read_exact(&mut header)?;
        let [count, count_checksum, keys_checksum] = [0, 8, 16].map(|at| u64_of(&header[at..]));
        if checksum(self.generation, &header[..8]) != count_checksum {
            return Ok(Err(Damage::Checksum));
        }
        if count > MAX_RECORD_KEYS as u64 || count * KEY_BYTES as u64 > key_room {
            return Ok(Err(Damage::Length));
        }
        self.record.resize(count as usize * KEY_BYTES, 0);
        self.input.read_exact(&mut self.record)?;
        if checksum(self.generation, &self.record) != keys_checksum {
            return Ok(Err(Damage::Checksum));
        }
        keys.extend(keys_of(&self.record));
        self.rest = key_room - self.record.len() as u64;
        Ok(Ok(count))
    }
}

fn header_of(generation: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..].copy_from_slice(&generation.to_le_bytes());
    header
}

fn checksum(generation: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, generation)
}

#[cfg(test)]
mod tests {
    use std::fs;

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
            let records = read(&path, 7).unwrap();
            let expected: &[u128] = match length {
                _ if length >= second_end => &[1, 2, 3],
                _ if length >= first_end => &[1, 2],
                _ => &[],
            };
            assert_eq!(records.keys, expected);
            assert_eq!(records.whole_bytes + records.cut_bytes(), length as u64);
            if records.whole_bytes == 0 {
                continue;
            }
            // What is appended to it is found again.
            let mut log = Log::reopen(path.clone(), 7, records.whole_bytes).unwrap();
            log.append([9].into_iter()).unwrap();
            let records = read(&path, 7).unwrap();
            assert_eq!((records.keys, records.tail), ([expected, &[9]].concat(), None));
        }
    }

    #[test]
    fn a_log_is_cut_off_at_the_first_record_with_a_changed_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let whole = log_of(&path, &[&[1, 2], &[3], &[4]]);
        let ends = [72, 112, 152];
        assert_eq!(whole.len(), ends[2]);
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            fs::write(&path, &bytes).unwrap();
            if at < HEADER_BYTES {
                assert!(matches!(read(&path, 7), Err(SeenError::Damaged { .. })), "byte {at}");
                continue;
            }
            let records = read(&path, 7).unwrap();
            let whole_records = ends.iter().filter(|&&end| end <= at).count();
            let keys: &[u128] = [&[][..], &[1, 2], &[1, 2, 3]][whole_records];
            assert_eq!(records.keys, keys, "byte {at}");
            assert_eq!(records.tail.unwrap().bytes, whole.len() as u64 - records.whole_bytes);
        }
    }

    #[test]
    fn a_log_without_its_header_is_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let whole = log_of(&path, &[&[1, 2], &[3]]);
        let mut bytes = whole.clone();
        bytes[0] ^= 1;
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        let records = repair(&path, 7).unwrap();
        assert_eq!((&*records.keys, records.cut_bytes()), (&[1, 2][..], 40));
        assert_eq!(read(&path, 7).unwrap().tail, None);
        assert_eq!(fs::read(folder.path().join("log.damaged")).unwrap(), bytes);
    }

    #[test]
    fn a_record_of_any_length_takes_no_more_memory_than_one_that_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let count = (MAX_RECORD_KEYS as u64 + 1).to_le_bytes();
        let bytes = [&header_of(7)[..], &count, &checksum(7, &count).to_le_bytes(), &[0; 8]].concat();
        fs::write(&path, &bytes).unwrap();
        // A terabyte of zeros, none of which is read.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let tail = read(&path, 7).unwrap().tail.unwrap();
        assert_eq!((tail.damage, tail.bytes), (Damage::Length, (1 << 40) - HEADER_BYTES as u64));
    }

    #[test]
    fn a_closed_log_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        log_of(&path, &[&[1, 2], &[3]]);
        let records = read(&path, 7).unwrap();
        assert_eq!(records.unanswered, Some(1));
        Log::reopen(path.clone(), 7, records.whole_bytes).unwrap().close().unwrap();
        assert_eq!(read(&path, 7).unwrap().unanswered, None);
    }

    #[test]
    fn room_that_was_never_filled_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut bytes = log_of(&path, &[&[1, 2]]);
        bytes.resize(bytes.len() + 4096, 0);
        fs::write(&path, &bytes).unwrap();
        let records = read(&path, 7).unwrap();
        assert_eq!((&*records.keys, records.cut_bytes()), (&[1, 2][..], 4096));
    }
}
