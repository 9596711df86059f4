/*!
The file of compiled rules: a header, the rules, and a checksum of every block of them.

Opening reads the whole file into memory and checks every block. Nothing is read from the file afterwards, so that whoever
overwrites or cuts it cannot change the rules that are in use. A file that is changed while it is being opened does not
match its checksums and is refused; a block has 32 bits of checksum, so that a changed one passes once in four billion times.

```text
0     magic, 8 bytes           48    number of rules, 8
8     version, 4               56    checksum of the checksums, 8
12    groups of the table, 4   64    number of mirrors, 8
16    length of file, 8        72    number of sites that were left out, 8
24    length of body, 8        80    name of the learner: length 2, text
32    length of block, 8       4088  checksum of all before, 8
40    number of sites, 8       4096  body, then a checksum of 4 bytes for each of its blocks
```
*/

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::index::OFFSET_UNIT;
use super::{Facts, Image};
use crate::encoding::{Cursor, Encode as _};

/// No text starts like this.
const MAGIC: [u8; 8] = *b"\x89dedust\n";
/// The format this build writes, and the only one it reads.
const VERSION: u32 = 13;
const BLOCK_BYTES: usize = 4096;
const HEADER_BYTES: usize = 4096;
const SUM_BYTES: usize = 4;
/// Blocks that are read, and then checked, at once.
const READ_BLOCKS: usize = 256;
/// What offsets reach. A header that says more is wrong, whatever its checksum says.
const MAX_BODY_BYTES: u64 = (OFFSET_UNIT as u64) << u32::BITS;

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

/// Some rules are not as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the compiled rules are damaged: bytes {start} to {end} do not match their checksum")]
pub struct DamagedRules {
    /// Where the first block that is damaged starts.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
}

/// Whether a file that starts like this holds compiled rules.
pub fn is_compiled(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// Whether there is a file of compiled rules at `path`. Not if it cannot be read.
pub fn holds_compiled(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let mut start = Vec::new();
    path.is_file()
        && File::open(path).and_then(|file| file.take(16).read_to_end(&mut start)).is_ok()
        && is_compiled(&start)
}

impl Image {
    /// Reads and checks a file of compiled rules.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenRulesError> {
        let file = File::open(path).map_err(OpenRulesError::Read)?;
        let found = file.metadata().map_err(OpenRulesError::Read)?.len();
        Self::read(file, found)
    }

    /// Reads and checks compiled rules of `found` bytes.
    pub(crate) fn read(mut file: impl Read + Seek, found: u64) -> Result<Self, OpenRulesError> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&mut file).take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(OpenRulesError::Read)?;
        let Header { body_len, sums_hash, facts } = Header::read(&header, found)?;
        let mut sums = Vec::new();
        file.seek(SeekFrom::Start((HEADER_BYTES + body_len) as u64))
            .and_then(|_| read_exactly(&mut file, sums_len(body_len), &mut sums))
            .map_err(OpenRulesError::Read)?;
        if xxh3_64(&sums) != sums_hash {
            return Err(OpenRulesError::DamagedHeader);
        }
        file.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(OpenRulesError::Read)?;
        Ok(Self::new(read_body(file, body_len, &sums)?, facts))
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
}

/// Reads the body, and stops at the first block that does not match its checksum.
fn read_body(mut file: impl Read, body_len: usize, sums: &[u8]) -> Result<Vec<u8>, OpenRulesError> {
    let mut body = Vec::new();
    let room = body.try_reserve_exact(body_len);
    room.map_err(|_| OpenRulesError::Read(io::ErrorKind::OutOfMemory.into()))?;
    for sums in sums.chunks(READ_BLOCKS * SUM_BYTES) {
        let start = body.len();
        let length = (READ_BLOCKS * BLOCK_BYTES).min(body_len - start);
        read_exactly(&mut file, length, &mut body).map_err(OpenRulesError::Read)?;
        let blocks = body[start..].chunks(BLOCK_BYTES).zip(sums.chunks(SUM_BYTES));
        if let Some(damaged) =
            blocks.map(|(block, sum)| sum_of(block).to_le_bytes() == *sum).position(|fits| !fits)
        {
            let start = HEADER_BYTES + start + damaged * BLOCK_BYTES;
            let end = (start + BLOCK_BYTES).min(HEADER_BYTES + body_len);
            return Err(DamagedRules { start: start as u64, end: end as u64 }.into());
        }
    }
    Ok(body)
}

/// Appends the next `length` bytes, of which there may be fewer only if the file was cut after it was opened.
fn read_exactly(file: impl Read, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    match file.take(length as u64).read_to_end(bytes)? {
        read if read == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
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
        let body_len = usize::try_from(cursor.u64().filter(|&length| length <= MAX_BODY_BYTES)?).ok()?;
        let length = HEADER_BYTES.checked_add(body_len)?.checked_add(sums_len(body_len))?;
        if length as u64 != expected || cursor.u64()? != BLOCK_BYTES as u64 {
            return None;
        }
        let (sites, rules, sums_hash) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        let (mirrors, left_out) = (cursor.u64()?, cursor.u64()?);
        let method = String::from_utf8_lossy(cursor.text()??).into();
        let facts = Facts { groups, sites, rules, mirrors, left_out, method };
        Some(Ok(Self { body_len, sums_hash, facts }))
    }

    fn write(&self) -> Vec<u8> {
        let Facts { groups, sites, rules, mirrors, left_out, method } = &self.facts;
        let mut header = MAGIC.to_vec();
        header.put_u32(VERSION);
        header.put_u32(*groups);
        header.put_u64((HEADER_BYTES + self.body_len + sums_len(self.body_len)) as u64);
        header.put_u64(self.body_len as u64);
        header.put_u64(BLOCK_BYTES as u64);
        header.put_u64(*sites);
        header.put_u64(*rules);
        header.put_u64(self.sums_hash);
        header.put_u64(*mirrors);
        header.put_u64(*left_out);
        // A learner's name has few letters; of one that has more the first are kept.
        let method = &method.as_bytes()[..method.len().min(1000)];
        header.put_u16(method.len() as u16);
        header.extend_from_slice(method);
        header.resize(HEADER_BYTES - 8, 0);
        header.put_u64(xxh3_64(&header));
        header
    }
}

fn sums_len(body_len: usize) -> usize {
    body_len.div_ceil(BLOCK_BYTES) * SUM_BYTES
}

fn sum_of(block: &[u8]) -> u32 {
    xxh3_64(block) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros without end, counted.
    struct Zeros(u64);

    impl Read for Zeros {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(0);
            self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    fn header(body_len: usize) -> Vec<u8> {
        Header { body_len, sums_hash: 0, facts: Facts::default() }.write()
    }

    /// Whoever makes a file can give it any length: a sparse one costs nothing.
    #[test]
    fn reading_stops_at_the_first_block_that_is_wrong() {
        let (body_len, sum) = (1 << 28, sum_of(&[0; BLOCK_BYTES]));
        let mut sums: Vec<u8> = sum.to_le_bytes().repeat(body_len / BLOCK_BYTES);
        sums[300 * SUM_BYTES] ^= 1;
        let mut zeros = Zeros(0);
        let damage = match read_body(&mut zeros, body_len, &sums) {
            Err(OpenRulesError::Damaged(damage)) => damage,
            other => panic!("{other:?}"),
        };
        let start = (HEADER_BYTES + 300 * BLOCK_BYTES) as u64;
        assert_eq!(damage, DamagedRules { start, end: start + BLOCK_BYTES as u64 });
        assert!(zeros.0 <= (2 * READ_BLOCKS * BLOCK_BYTES) as u64, "{} bytes were read", zeros.0);
    }

    #[test]
    fn a_body_that_no_offset_reaches_is_refused_by_its_header() {
        let most = MAX_BODY_BYTES as usize;
        let length = |body_len: usize| (HEADER_BYTES + body_len + sums_len(body_len)) as u64;
        assert!(Header::read(&header(most), length(most)).is_ok());
        let refused = Header::read(&header(most + 1), length(most + 1)).map(|_| ());
        assert!(matches!(refused, Err(OpenRulesError::DamagedHeader)));
    }
}
