/*!
Keys of some generations, sorted, in a file that never changes.

The naive way to find a key is binary search in the file. As keys are hashes, their first bits tell about where each
lies: keys are put into buckets by them, about a dozen in each. Memory holds where every bucket starts, and the last 48
bits of every key, in two parts: 16 bits that are searched, and 32 that are looked at where those agree. So the file
is read when it is opened and when it is merged, and never to answer.

That is exact but for chance: a new key agrees with one of a dozen others in 48 bits once in 2 * 10^13 times, and is
then taken for seen. Rules that are right 999 times in 1,000 lose a page more often by far.

```text
file    header  key:u128*                                             all little-endian
header  "dedustR1" count:u64 check of keys:u64 check of header:u64
```
*/

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bytes::{keys_of, read_at, u64_of};
use crate::error::{Damage, SeenError, failed};
use crate::file_names::Span;
use crate::folder::Folder;
use crate::key::KEY_BYTES;

/// Most keys of a run: indexes in it are numbers of 32 bits.
pub(crate) const MAX_KEYS: u64 = u32::MAX as u64;

const MAGIC: &[u8; 8] = b"dedustR1";
const HEADER_BYTES: usize = 32;
/// Buckets hold between this many keys and twice as many, on average.
const MIN_BUCKET_KEYS: u64 = 8;
const BUFFER_KEYS: usize = 64 << 10;

/// A run that can be searched.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) span: Span,
    path: PathBuf,
    file: File,
    count: u64,
    keys_checksum: u64,
    index: Index,
}

/// What is kept in memory of a run.
#[derive(Debug)]
struct Index {
    bucket_bits: u32,
    /// One more than there are buckets.
    starts: Vec<u32>,
    /// The last 16 bits of every key.
    low_bits: Vec<u16>,
    /// The 32 bits before them.
    more_bits: Vec<u32>,
}

impl Index {
    fn new(keys: u64) -> Self {
        let bucket_bits = (keys / MIN_BUCKET_KEYS).max(1).ilog2();
        Self {
            bucket_bits,
            starts: Vec::with_capacity((1 << bucket_bits) + 1),
            low_bits: Vec::with_capacity(keys as usize),
            more_bits: Vec::with_capacity(keys as usize),
        }
    }

    fn bucket_of(&self, key: u128) -> usize {
        // In two steps, as all bits at once cannot be shifted out.
        (key >> 1 >> (127 - self.bucket_bits)) as usize
    }

    /// Adds the next key in order.
    fn push(&mut self, key: u128) {
        let index = self.low_bits.len() as u32;
        while self.starts.len() <= self.bucket_of(key) {
            self.starts.push(index);
        }
        self.low_bits.push(key as u16);
        self.more_bits.push((key >> 16) as u32);
    }

    fn finish(&mut self) {
        let index = self.low_bits.len() as u32;
        self.starts.resize((1 << self.bucket_bits) + 1, index);
    }

    fn contains(&self, key: u128) -> bool {
        let bucket = self.bucket_of(key);
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let (low_bits, more_bits) = (key as u16, (key >> 16) as u32);
        let mut indexes = (start..end).zip(&self.low_bits[start..end]);
        indexes.any(|(index, &bits)| bits == low_bits && self.more_bits[index] == more_bits)
    }

    fn bytes(&self) -> u64 {
        (size_of_val(&*self.starts) + size_of_val(&*self.low_bits) + size_of_val(&*self.more_bits)) as u64
    }
}

impl Run {
    /// Opens the run of some generations, and checks every byte of it.
    pub(crate) fn open(folder: &Folder, span: Span) -> Result<Self, SeenError> {
        let path = folder.run(span);
        let mut file = File::open(&path).map_err(failed("open", &path))?;
        let file_bytes = file.metadata().map_err(failed("read", &path))?.len();
        let damaged = |offset, damage| SeenError::Damaged { path: path.clone(), offset, damage };
        let mut header = [0; HEADER_BYTES];
        if file_bytes < HEADER_BYTES as u64 {
            return Err(damaged(file_bytes, Damage::Length));
        }
        file.read_exact(&mut header).map_err(failed("read", &path))?;
        let [count, keys_checksum, header_checksum] = [8, 16, 24].map(|at| u64_of(&header[at..]));
        if !header.starts_with(MAGIC) || count > MAX_KEYS {
            return Err(damaged(0, Damage::Header));
        }
        if xxh3_64(&header[..24]) != header_checksum {
            return Err(damaged(0, Damage::Checksum));
        }
        if file_bytes != HEADER_BYTES as u64 + count * KEY_BYTES as u64 {
            return Err(damaged(file_bytes, Damage::Length));
        }
        let mut run = Self { span, path, file, count, keys_checksum, index: Index::new(count) };
        let mut index = Index::new(count);
        let mut keys = run.keys();
        while let Some(key) = keys.next()? {
            index.push(key);
        }
        index.finish();
        run.index = index;
        Ok(run)
    }

    /// Whether a key is in the run.
    pub(crate) fn contains(&self, key: u128) -> bool {
        self.index.contains(key)
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// Bytes in memory.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.bytes()
    }

    /// Bytes of the file.
    pub(crate) fn disk_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.count * KEY_BYTES as u64
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// All keys in order.
    pub(crate) fn keys(&self) -> Keys<'_> {
        Keys {
            run: self,
            read: 0,
            buffer: Vec::new(),
            checksum: Xxh3::new(),
            block: Vec::new().into_iter(),
            last: None,
        }
    }
}

/// Reads the keys of a run from its file, and checks them.
pub(crate) struct Keys<'r> {
    run: &'r Run,
    read: u64,
    buffer: Vec<u8>,
    checksum: Xxh3,
    block: std::vec::IntoIter<u128>,
    last: Option<u128>,
}

impl Keys<'_> {
    /// The next key; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<u128>, SeenError> {
        if let Some(key) = self.block.next() {
            return Ok(Some(key));
        }
        if self.read == self.run.len() {
            return Ok(None);
        }
        self.read_block()?;
        Ok(self.block.next())
    }

    fn read_block(&mut self) -> Result<(), SeenError> {
        let Run { path, file, keys_checksum, .. } = self.run;
        let offset = HEADER_BYTES as u64 + self.read * KEY_BYTES as u64;
        let damaged = |damage| SeenError::Damaged { path: path.clone(), offset, damage };
        let count = (self.run.len() - self.read).min(BUFFER_KEYS as u64);
        self.buffer.resize(count as usize * KEY_BYTES, 0);
        read_at(file, &mut self.buffer, offset).map_err(failed("read", path))?;
        self.checksum.update(&self.buffer);
        self.read += count;
        if self.read == self.run.len() && self.checksum.digest() != *keys_checksum {
            return Err(damaged(Damage::Checksum));
        }
        let block: Vec<u128> = keys_of(&self.buffer).collect();
        if self.last >= block.first().copied() || !block.is_sorted_by(|a, b| a < b) {
            return Err(damaged(Damage::Order));
        }
        self.last = block.last().copied();
        self.block = block.into_iter();
        Ok(())
    }
}

/// Writes a damaged run again with all keys that its file has, and returns how many they are. A copy of the file as it was
/// is kept.
///
/// Keys that were changed are kept too: they are hashes of no URL, and do no harm. All keys are in memory at a time.
pub(crate) fn repair(folder: &Folder, span: Span) -> Result<u64, SeenError> {
    let path = folder.run(span);
    Folder::keep_damaged(&path)?;
    let mut keys = read_unchecked(&path).map_err(failed("read", &path))?;
    keys.sort_unstable();
    keys.dedup();
    write(folder, span, &keys).map(|run| run.len())
}

/// All whole keys of a file, whatever they are.
fn read_unchecked(path: &Path) -> io::Result<Vec<u128>> {
    let mut file = File::open(path)?;
    let count = file.metadata()?.len().saturating_sub(HEADER_BYTES as u64) / KEY_BYTES as u64;
    file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
    let mut input = BufReader::with_capacity(BUFFER_KEYS * KEY_BYTES, file);
    let mut key = [0; KEY_BYTES];
    (0..count).map(|_| input.read_exact(&mut key).map(|()| u128::from_le_bytes(key))).collect()
}

/// Writes a run of keys that are in order.
pub(crate) fn write(folder: &Folder, span: Span, keys: &[u128]) -> Result<Run, SeenError> {
    let mut writer = RunWriter::create(folder, span, keys.len() as u64)?;
    for &key in keys {
        writer.push(key)?;
    }
    writer.finish()
}

/// Writes a run. It has its name when it is complete.
pub(crate) struct RunWriter<'f> {
    folder: &'f Folder,
    span: Span,
    /// What it will be called.
    path: PathBuf,
    file: File,
    checksum: Xxh3,
    buffer: Vec<u8>,
    index: Index,
}

impl<'f> RunWriter<'f> {
    /// A run of `keys` keys.
    pub(crate) fn create(folder: &'f Folder, span: Span, keys: u64) -> Result<Self, SeenError> {
        let path = folder.run(span);
        let unfinished = Folder::unfinished(&path);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&unfinished)
            .map_err(failed("create", &unfinished))?;
        file.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(failed("write", &unfinished))?;
        let buffer = Vec::with_capacity(BUFFER_KEYS * KEY_BYTES);
        Ok(Self { folder, span, path, file, checksum: Xxh3::new(), buffer, index: Index::new(keys) })
    }

    /// Adds the next key in order.
    pub(crate) fn push(&mut self, key: u128) -> Result<(), SeenError> {
        self.index.push(key);
        self.buffer.extend_from_slice(&key.to_le_bytes());
        if self.buffer.len() == BUFFER_KEYS * KEY_BYTES {
            self.write_buffer()?;
        }
        Ok(())
    }

    fn write_buffer(&mut self) -> Result<(), SeenError> {
        self.checksum.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(failed("write", &self.path))?;
        self.buffer.clear();
        Ok(())
    }

    /// Completes the run and opens it.
    pub(crate) fn finish(mut self) -> Result<Run, SeenError> {
        self.write_buffer()?;
        self.index.finish();
        let Self { folder, span, path, mut file, checksum, index, .. } = self;
        let (count, keys_checksum) = (index.low_bits.len() as u64, checksum.digest());
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&count.to_le_bytes());
        header.extend_from_slice(&keys_checksum.to_le_bytes());
        let header_checksum = xxh3_64(&header);
        header.extend_from_slice(&header_checksum.to_le_bytes());
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&header))
            .and_then(|()| file.sync_all())
            .map_err(failed("write", &path))?;
        folder.publish(&path)?;
        Ok(Run { span, path, file, count, keys_checksum, index })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::key::{KeyHasher, SECRET_BYTES};

    const SPAN: Span = Span { first: 1, last: 1 };

    fn keys(count: u64) -> Vec<u128> {
        let hasher = KeyHasher::with_secret([7; SECRET_BYTES]);
        let mut keys: Vec<u128> = (0..count).map(|number| hasher.hash(&number.to_le_bytes()).0).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn a_run_has_its_keys_and_no_others() {
        for count in [1, 2, 7, 8, 1000, 100_000] {
            let temporary = tempfile::tempdir().unwrap();
            let folder = Folder::open(temporary.path()).unwrap();
            let all = keys(2 * count);
            let (inside, outside): (Vec<_>, Vec<_>) = all.into_iter().partition(|key| key % 7 < 4);
            if inside.is_empty() {
                continue;
            }
            let written = write(&folder, SPAN, &inside).unwrap();
            let opened = Run::open(&folder, SPAN).unwrap();
            for run in [&written, &opened] {
                assert!(inside.iter().all(|&key| run.contains(key)));
                assert!(outside.iter().all(|&key| !run.contains(key)));
            }
            let mut stored = opened.keys();
            assert!(inside.iter().all(|&key| stored.next().unwrap() == Some(key)));
            assert_eq!(stored.next().unwrap(), None);
        }
    }

    #[test]
    fn the_first_and_the_last_of_all_keys_are_found() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let mut all = keys(1000);
        all.insert(0, 0);
        all.push(u128::MAX);
        let run = write(&folder, SPAN, &all).unwrap();
        assert!(all.iter().all(|&key| run.contains(key)));
    }

    #[test]
    fn any_changed_byte_and_any_other_length_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let path = write(&folder, SPAN, &keys(40)).unwrap().path().to_owned();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(Run::open(&folder, SPAN), Err(SeenError::Damaged { .. })), "byte {at}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(Run::open(&folder, SPAN), Err(SeenError::Damaged { .. })), "length {length}");
        }
    }

    #[test]
    fn a_damaged_run_is_repaired_and_keeps_its_other_keys() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let all = keys(8);
        let path = write(&folder, SPAN, &all).unwrap().path().to_owned();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(repair(&folder, SPAN).unwrap(), 8);
            let run = Run::open(&folder, SPAN).unwrap();
            let lost = all.iter().filter(|&&key| !run.contains(key)).count();
            assert!(lost <= usize::from(at >= HEADER_BYTES), "byte {at}");
            assert_eq!(fs::read(Folder::damaged(&path)).unwrap(), bytes);
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let kept = length.saturating_sub(HEADER_BYTES) / KEY_BYTES;
            assert_eq!(repair(&folder, SPAN).unwrap(), kept as u64, "length {length}");
            let run = Run::open(&folder, SPAN).unwrap();
            assert!(all[..kept].iter().all(|&key| run.contains(key)));
        }
    }
}
