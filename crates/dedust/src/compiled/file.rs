/*!
The file of compiled rules: a header, the rules, and a checksum of every block of them.

Opening looks at the header and the list of checksums only, so it takes no longer for a million sites than for one. A
block of rules is checked when it is needed first. Rules in a block that is not as it was written are not applied, and
[`Mapping::damage`] tells.

```text
0     magic, 8 bytes       40  number of sites, 8
8     version, 4           48  number of rules, 8
12    groups of the table, 4 56  checksum of the checksums, 8
16    length of file, 8    64  name of the learner: length 2, text
24    length of body, 8    4088  checksum of all before, 8
32    length of block, 8   4096  body, then a checksum of 4 bytes for each of its blocks
```
*/

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::encoding::{Cursor, Encode as _, array_at};
use super::{Body, Facts, Image};

/// No text starts like this.
const MAGIC: [u8; 8] = *b"\x89dedust\n";
/// The format this build writes, and the only one it reads.
const VERSION: u32 = 5;
const BLOCK_BYTES: usize = 4096;
const HEADER_BYTES: usize = 4096;
const SUM_BYTES: usize = 4;
/// As many are checked when a file is opened, in a fraction of a millisecond; then nobody has to ask any more.
const FEW_BYTES: usize = 2 << 20;

/// Why a file of compiled rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenRulesError {
    /// The file could not be opened or read.
    #[error("cannot read the compiled rules")]
    Read(#[source] io::Error),
    /// It is something else.
    #[error("not a file of compiled rules; `dedust compile` makes one from a rule file")]
    Foreign,
    /// Written by another release. Compile the rules again.
    #[error("compiled rules have format version {found}, this build reads version {supported}")]
    UnsupportedVersion {
        /// The version in the file.
        found: u32,
        /// The version that this build reads.
        supported: u32,
    },
    /// The file has another length than it was written with.
    #[error("compiled rules have {found} bytes, expected {expected}: the file was cut or added to")]
    Length {
        /// The length that the header gives.
        expected: u64,
        /// The length of the file.
        found: u64,
    },
    /// The header or the list of checksums is not as it was written.
    #[error("the header of the compiled rules is damaged: its checksum does not match")]
    DamagedHeader,
    /// Some rules are not as they were written.
    #[error(transparent)]
    Damaged(#[from] DamagedRules),
}

/// Some rules are not as they were written; they were not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the compiled rules are damaged: bytes {start} to {end} do not match their checksum")]
pub struct DamagedRules {
    /// Where the first block lies of which this is known.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

/// Whether a file that starts like this holds compiled rules.
pub fn is_compiled(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// A file of compiled rules in memory: only what is read of it takes up any.
pub(super) struct Mapping {
    map: Mmap,
    body_len: usize,
    /// One bit per block: looked at, and found as it was written.
    sound: Box<[AtomicU64]>,
    /// All were looked at when the file was opened, since they are few.
    is_all_sound: bool,
    /// The first block known to be damaged, counted from 1.
    damaged: AtomicU64,
}

impl Mapping {
    #[inline]
    pub(super) fn body(&self) -> &[u8] {
        &self.map[HEADER_BYTES..HEADER_BYTES + self.body_len]
    }

    /// Whether the whole file is known to be as it was written.
    #[inline]
    pub(super) fn is_all_sound(&self) -> bool {
        self.is_all_sound
    }

    /// Whether all blocks that these bytes lie in are as they were written.
    #[inline(always)]
    pub(super) fn is_sound(&self, start: usize, length: usize) -> bool {
        let (first, last) = (start / BLOCK_BYTES, (start + length.max(1) - 1) / BLOCK_BYTES);
        first == last && self.is_known_sound(first) || self.are_sound(first, last)
    }

    #[inline(always)]
    fn is_known_sound(&self, block: usize) -> bool {
        let bits = self.sound.get(block / 64);
        bits.is_some_and(|bits| bits.load(Ordering::Relaxed) & (1 << (block % 64)) != 0)
    }

    #[inline(never)]
    fn are_sound(&self, first: usize, last: usize) -> bool {
        (first..=last).all(|block| self.is_known_sound(block) || self.look_at(block))
    }

    /// Whether a block is as it was written.
    fn has_its_sum(&self, block: usize) -> bool {
        let start = block * BLOCK_BYTES;
        let bytes = self.body().get(start..self.body_len.min(start + BLOCK_BYTES));
        let sum = array_at(&self.map, HEADER_BYTES + self.body_len + block * SUM_BYTES);
        bytes.is_some_and(|bytes| sum == Some(&sum_of(bytes).to_le_bytes()))
    }

    #[cold]
    fn look_at(&self, block: usize) -> bool {
        if !self.has_its_sum(block) {
            // The first that is found is told; which of several that is depends on the URLs anyway.
            let _ = self.damaged.compare_exchange(0, block as u64 + 1, Ordering::Relaxed, Ordering::Relaxed);
            return false;
        }
        self.sound[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        true
    }

    fn damage(&self) -> Result<(), DamagedRules> {
        match self.damaged.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => {
                let start = HEADER_BYTES as u64 + (number - 1) * BLOCK_BYTES as u64;
                let end = (start + BLOCK_BYTES as u64).min((HEADER_BYTES + self.body_len) as u64);
                Err(DamagedRules { start, end })
            }
        }
    }
}

impl Image {
    /// Maps a file of compiled rules.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenRulesError> {
        let file = File::open(path).map_err(OpenRulesError::Read)?;
        let found = file.metadata().map_err(OpenRulesError::Read)?.len();
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&file).take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(OpenRulesError::Read)?;
        let Header { body_len, sums_hash, facts } = Header::read(&header, found)?;
        #[expect(unsafe_code, reason = "a file cannot be mapped without")]
        // SAFETY: the bytes are read as bytes, and nothing read from them is trusted. A file that another process cuts
        // while it is mapped ends this process, not with wrong results; files are replaced as a whole by us.
        let map = unsafe { Mmap::map(&file) }.map_err(OpenRulesError::Read)?;
        let sums = map.get(HEADER_BYTES + body_len..).unwrap_or_default();
        if xxh3_64(sums) != sums_hash {
            return Err(OpenRulesError::DamagedHeader);
        }
        let words = body_len.div_ceil(BLOCK_BYTES).div_ceil(64);
        let sound = std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let mut mapping = Mapping { map, body_len, sound, is_all_sound: false, damaged: AtomicU64::new(0) };
        if body_len <= FEW_BYTES {
            mapping.is_all_sound =
                (0..body_len.div_ceil(BLOCK_BYTES)).all(|block| mapping.has_its_sum(block));
        }
        Ok(Self::new(Body::Mapped(Arc::new(mapping)), facts))
    }

    /// Writes the file.
    pub(crate) fn save(&self, mut writer: impl Write) -> io::Result<()> {
        let body = self.bytes();
        let sums: Vec<u8> = body.chunks(BLOCK_BYTES).flat_map(|block| sum_of(block).to_le_bytes()).collect();
        let header = Header { body_len: body.len(), sums_hash: xxh3_64(&sums), facts: self.facts.clone() };
        writer.write_all(&header.write())?;
        writer.write_all(body)?;
        writer.write_all(&sums)
    }

    /// Whether any rules were met that are not as they were written.
    pub(crate) fn damage(&self) -> Result<(), DamagedRules> {
        match &self.body {
            Body::Memory(_) => Ok(()),
            Body::Mapped(mapping) => mapping.damage(),
        }
    }

    /// Looks at all of them.
    pub(crate) fn check_all(&self) -> Result<(), DamagedRules> {
        match &self.body {
            Body::Mapped(mapping) if !mapping.is_sound(0, mapping.body_len) => mapping.damage(),
            _ => Ok(()),
        }
    }
}

struct Header {
    body_len: usize,
    sums_hash: u64,
    facts: Facts,
}

impl Header {
    /// Reads the header of a file of `found` bytes.
    fn read(header: &[u8], found: u64) -> Result<Self, OpenRulesError> {
        if !is_compiled(header) {
            return Err(OpenRulesError::Foreign);
        }
        let mut cursor = Cursor::new(header, MAGIC.len());
        let version = cursor.u32().unwrap_or_default();
        if version != VERSION && header.len() >= 12 {
            return Err(OpenRulesError::UnsupportedVersion { found: version, supported: VERSION });
        }
        let Some((fields, sum)) = header.split_last_chunk::<8>().filter(|_| header.len() == HEADER_BYTES)
        else {
            return Err(OpenRulesError::Length { expected: HEADER_BYTES as u64, found });
        };
        if xxh3_64(fields).to_le_bytes() != *sum {
            return Err(OpenRulesError::DamagedHeader);
        }
        Self::fields(cursor, found).unwrap_or(Err(OpenRulesError::DamagedHeader))
    }

    fn fields(mut cursor: Cursor<'_>, found: u64) -> Option<Result<Self, OpenRulesError>> {
        let groups = cursor.u32()?;
        let expected = cursor.u64()?;
        if expected != found {
            return Some(Err(OpenRulesError::Length { expected, found }));
        }
        let body_len = usize::try_from(cursor.u64()?).ok()?;
        let sums = body_len.div_ceil(BLOCK_BYTES).checked_mul(SUM_BYTES)?;
        let length = HEADER_BYTES.checked_add(body_len)?.checked_add(sums)?;
        if length as u64 != expected || cursor.u64()? != BLOCK_BYTES as u64 {
            return None;
        }
        let (sites, rules, sums_hash) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let method = String::from_utf8_lossy(cursor.text()??).into();
        Some(Ok(Self { body_len, sums_hash, facts: Facts { groups, sites, rules, method } }))
    }

    fn write(&self) -> Vec<u8> {
        let Facts { groups, sites, rules, method } = &self.facts;
        let sums = self.body_len.div_ceil(BLOCK_BYTES) * SUM_BYTES;
        let mut header = MAGIC.to_vec();
        header.put_u32(VERSION);
        header.put_u32(*groups);
        header.put_u64((HEADER_BYTES + self.body_len + sums) as u64);
        header.put_u64(self.body_len as u64);
        header.put_u64(BLOCK_BYTES as u64);
        header.put_u64(*sites);
        header.put_u64(*rules);
        header.put_u64(self.sums_hash);
        // A learner's name has few letters; of one that has more the first are kept.
        let method = &method.as_bytes()[..method.len().min(1000)];
        header.put_u16(method.len() as u16);
        header.extend_from_slice(method);
        header.resize(HEADER_BYTES - 8, 0);
        header.put_u64(xxh3_64(&header));
        header
    }
}

fn sum_of(block: &[u8]) -> u32 {
    xxh3_64(block) as u32
}
