/*!
Keys of some generations, sorted, in a file that never changes.

The naive way to find a key is binary search in the file. As keys are hashes, their first bits tell about where each
lies: keys are put into buckets by them, about a dozen in each. Memory holds where every bucket starts, and the last 16
bits of every key. A key whose bits are not in its bucket is not in the file; where they are is the one place in the
file to look.

```text
file    header  key:u128*  bucket start:u32*  last bits:u16*               all little-endian
header  "dedustR1" count:u64 bucket bits:u64 check of keys:u64 check of the rest:u64 check of header:u64
```

What is kept in memory is stored with its checksum and checked when the file is opened; the keys are checked when they
are merged into another run, so that damage does not spread.
*/

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bytes::{keys_of, read_at, u16_of, u32_of, u64_of, u128_of};
use crate::error::{Damage, SeenError, failed};
use crate::folder::{Folder, Span};
use crate::key::KEY_BYTES;

/// Most keys of a run: places in it are numbers of 32 bits.
pub(crate) const MAX_KEYS: u64 = u32::MAX as u64;

const MAGIC: &[u8; 8] = b"dedustR1";
const HEADER_BYTES: usize = 48;
/// Buckets hold between this many keys and twice as many, on average.
const MIN_BUCKET_KEYS: u64 = 8;
const BUFFER_KEYS: usize = 64 << 10;

/// A run that can be searched.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) span: Span,
    path: PathBuf,
    file: File,
    keys_checksum: u64,
    index: Index,
}

/// What is kept in memory of a run.
#[derive(Debug)]
struct Index {
    bucket_bits: u32,
    /// One more than there are buckets.
    starts: Vec<u32>,
    last_bits: Vec<u16>,
}

/// Places read in vain and not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reads {
    pub(crate) all: u64,
    pub(crate) wasted: u64,
}

impl Index {
    fn new(keys: u64) -> Self {
        let bucket_bits = (keys / MIN_BUCKET_KEYS).max(1).ilog2();
        let starts = Vec::with_capacity((1 << bucket_bits) + 1);
        Self { bucket_bits, starts, last_bits: Vec::with_capacity(keys as usize) }
    }

    fn bucket_of(&self, key: u128) -> usize {
        // In two steps, as all bits at once cannot be shifted out.
        (key >> 1 >> (127 - self.bucket_bits)) as usize
    }

    /// Adds the next key in order.
    fn push(&mut self, key: u128) {
        let place = self.last_bits.len() as u32;
        while self.starts.len() <= self.bucket_of(key) {
            self.starts.push(place);
        }
        self.last_bits.push(key as u16);
    }

    fn finish(&mut self) {
        let place = self.last_bits.len() as u32;
        self.starts.resize((1 << self.bucket_bits) + 1, place);
    }

    fn bytes(&self) -> u64 {
        (self.starts.len() * size_of::<u32>() + self.last_bits.len() * size_of::<u16>()) as u64
    }

    fn to_bytes(&self) -> Vec<u8> {
        let starts = self.starts.iter().flat_map(|start| start.to_le_bytes());
        starts.chain(self.last_bits.iter().flat_map(|bits| bits.to_le_bytes())).collect()
    }
}

impl Run {
    /// Opens the run of some generations.
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
        if !header.starts_with(MAGIC) {
            return Err(damaged(0, Damage::Header));
        }
        let [count, bucket_bits, keys_checksum, index_checksum, header_checksum] =
            [8, 16, 24, 32, 40].map(|at| u64_of(&header[at..]));
        if xxh3_64(&header[..40]) != header_checksum {
            return Err(damaged(0, Damage::Checksum));
        }
        if count > MAX_KEYS || bucket_bits > u64::from(u32::BITS) {
            return Err(damaged(0, Damage::Header));
        }
        let index_at = HEADER_BYTES as u64 + count * KEY_BYTES as u64;
        let starts_bytes = ((1 << bucket_bits) + 1) * size_of::<u32>();
        let index_bytes = starts_bytes + count as usize * size_of::<u16>();
        if file_bytes != index_at + index_bytes as u64 {
            return Err(damaged(file_bytes, Damage::Length));
        }
        let mut index = vec![0; index_bytes];
        read_at(&file, &mut index, index_at).map_err(failed("read", &path))?;
        if xxh3_64(&index) != index_checksum {
            return Err(damaged(index_at, Damage::Checksum));
        }
        let (starts, last_bits) = index.split_at(starts_bytes);
        let index = Index {
            bucket_bits: bucket_bits as u32,
            starts: starts.chunks_exact(size_of::<u32>()).map(u32_of).collect(),
            last_bits: last_bits.chunks_exact(size_of::<u16>()).map(u16_of).collect(),
        };
        if !index.starts.is_sorted() || index.starts.last().copied() != u32::try_from(count).ok() {
            return Err(damaged(index_at, Damage::Order));
        }
        Ok(Self { span, path, file, keys_checksum, index })
    }

    /// Whether a key is in the run.
    pub(crate) fn contains(&self, key: u128, reads: &mut Reads) -> Result<bool, SeenError> {
        let bucket = self.index.bucket_of(key);
        let (start, end) = (self.index.starts[bucket] as usize, self.index.starts[bucket + 1] as usize);
        let last_bits = key as u16;
        for (place, bits) in (start..).zip(&self.index.last_bits[start..end]) {
            if *bits == last_bits {
                let mut found = [0; KEY_BYTES];
                let offset = (HEADER_BYTES + place * KEY_BYTES) as u64;
                read_at(&self.file, &mut found, offset).map_err(failed("read", &self.path))?;
                reads.all += 1;
                if u128_of(&found) == key {
                    return Ok(true);
                }
                reads.wasted += 1;
            }
        }
        Ok(false)
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> u64 {
        self.index.last_bits.len() as u64
    }

    /// Bytes in memory.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index.bytes()
    }

    /// Bytes of the file.
    pub(crate) fn disk_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + self.len() * KEY_BYTES as u64 + self.index.bytes()
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
        let index_bytes = index.to_bytes();
        let keys_checksum = checksum.digest();
        let mut header = MAGIC.to_vec();
        for number in
            [index.last_bits.len() as u64, u64::from(index.bucket_bits), keys_checksum, xxh3_64(&index_bytes)]
        {
            header.extend_from_slice(&number.to_le_bytes());
        }
        let header_checksum = xxh3_64(&header);
        header.extend_from_slice(&header_checksum.to_le_bytes());
        file.write_all(&index_bytes)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(&header))
            .and_then(|()| file.sync_all())
            .map_err(failed("write", &path))?;
        folder.publish(&path)?;
        Ok(Run { span, path, file, keys_checksum, index })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::key::SeenKey;

    const SPAN: Span = Span { first: 1, last: 1 };

    fn keys(count: u64) -> Vec<u128> {
        let mut keys: Vec<u128> = (0..count).map(|number| SeenKey::of(&number.to_le_bytes()).0).collect();
        keys.sort_unstable();
        keys
    }

    fn write(folder: &Folder, keys: &[u128]) -> Run {
        let mut writer = RunWriter::create(folder, SPAN, keys.len() as u64).unwrap();
        for &key in keys {
            writer.push(key).unwrap();
        }
        writer.finish().unwrap()
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
            let written = write(&folder, &inside);
            let opened = Run::open(&folder, SPAN).unwrap();
            let mut reads = Reads::default();
            for run in [&written, &opened] {
                assert!(inside.iter().all(|&key| run.contains(key, &mut reads).unwrap()));
                assert!(outside.iter().all(|&key| !run.contains(key, &mut reads).unwrap()));
            }
            assert_eq!(reads.all - reads.wasted, 2 * inside.len() as u64);
            assert!(reads.wasted * 1000 <= reads.all);
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
        let run = write(&folder, &all);
        assert!(all.iter().all(|&key| run.contains(key, &mut Reads::default()).unwrap()));
    }

    #[test]
    fn damage_is_noticed_when_opened_or_read() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let path = write(&folder, &keys(40)).path().to_owned();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let read = Run::open(&folder, SPAN).and_then(|run| {
                let mut keys = run.keys();
                while keys.next()?.is_some() {}
                Ok(())
            });
            assert!(matches!(read, Err(SeenError::Damaged { .. })), "byte {at}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(Run::open(&folder, SPAN), Err(SeenError::Damaged { .. })), "length {length}");
        }
    }
}
