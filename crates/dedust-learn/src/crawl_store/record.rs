/*!
One observation as bytes, in memory and on disk, to be read back by the same version on the same machine.

```text
length:u32 site:u32 page:u64 flags:u16 number:u64* (length:u32 text)*        all little-endian
```

Flags say which numbers and texts are there.
*/

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::label::{Clues, MainClues};
use crate::minhash::SKETCH_VALUES;
use crate::observed::Observed;
use crate::thresholds::crawl::BLOCK_BYTES;

use super::{SiteSize, damaged, page_of};

/// One observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// The number of its site.
    pub(super) site: u32,
    /// The hash of what it says of its page.
    pub(super) page: u64,
    pub(super) url: &'a [u8],
    pub(super) clues: Clues<'a>,
    pub(super) time: Option<&'a [u8]>,
}

impl Observed {
    /// What the observation adds to the size of its site.
    pub(super) fn size(&self, url: &[u8], clues: &Clues<'_>) -> SiteSize {
        SiteSize::of_row(url, &self.url, self.page(&self.links.within(clues)))
    }

    /// The observation as it is stored, of a site with this number.
    pub(super) fn record<'a>(
        &'a self,
        site: u32,
        url: &'a [u8],
        clues: &Clues<'a>,
        time: Option<&'a [u8]>,
    ) -> Record<'a> {
        let clues = self.links.within(clues);
        Record { site, page: self.page(&clues), url, clues, time }
    }

    /// The same for URLs that the evidence, taken at its word, says are one page.
    fn page(&self, clues: &Clues<'_>) -> u64 {
        let page = page_of(clues).or(clues.redirect).or(clues.canonical);
        xxh3_64(page.unwrap_or(self.url.as_bytes()))
    }
}

/// An observation that is kept until it is known whether it is learned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow(Box<[u8]>);

impl StoredRow {
    /// A URL as it was met, with what was known of its page, and when.
    pub fn new(url: &[u8], clues: &Clues<'_>, time: Option<&[u8]>) -> Self {
        let mut bytes = Vec::new();
        Record { site: 0, page: 0, url, clues: *clues, time }.write(&mut bytes);
        Self(bytes.into())
    }

    /// The URL as it was met.
    pub fn url(&self) -> &[u8] {
        self.record().url
    }

    /// When it was met.
    pub fn time(&self) -> Option<&[u8]> {
        self.record().time
    }

    /// What was known of its page.
    pub fn clues(&self) -> Clues<'_> {
        self.record().clues
    }

    fn record(&self) -> Record<'_> {
        Records::only(&self.0).expect("it was written by `StoredRow::new`")
    }
}

const LENGTH_BYTES: usize = 4;
/// Numbers of a record that are there in any case.
const NUMBERS_BYTES: usize = 4 + 8 + 2;

/// What may be missing from a record.
const SIZE: u16 = 1 << 8;
const SIMHASH: u16 = 1 << 9;
const STATUS: u16 = 1 << 10;
const MAIN: u16 = 1 << 11;
const LAYOUT: u16 = 1 << 12;

impl<'a> Record<'a> {
    /// Appends the record.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let Self { site, page, url, clues, time } = *self;
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        out.extend_from_slice(&site.to_le_bytes());
        out.extend_from_slice(&page.to_le_bytes());
        let texts = [
            Some(url),
            clues.cluster,
            clues.canonical,
            clues.redirect,
            clues.digest,
            clues.text_digest,
            clues.title,
            time,
        ];
        let mut flags = 0;
        for (bit, text) in texts.iter().enumerate() {
            flags |= u16::from(text.is_some()) << bit;
        }
        for (bit, is_there) in [
            (SIZE, clues.size.is_some()),
            (SIMHASH, clues.simhash.is_some()),
            (STATUS, clues.status.is_some()),
            (MAIN, clues.main.is_some()),
            (LAYOUT, clues.main.is_some_and(|main| main.layout.is_some())),
        ] {
            flags |= if is_there { bit } else { 0 };
        }
        out.extend_from_slice(&flags.to_le_bytes());
        let layout = clues.main.and_then(|main| main.layout);
        for number in [clues.size, clues.simhash, clues.status.map(u64::from), layout].into_iter().flatten() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for text in texts.into_iter().flatten() {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text);
        }
        if let Some(main) = clues.main {
            out.extend_from_slice(&(main.digest.len() as u32).to_le_bytes());
            out.extend_from_slice(main.digest);
            main.sketch.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        }
        let length = (out.len() - start - LENGTH_BYTES) as u32;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    /// The record in `bytes`, which hold one without its length; `None` if they do not.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (numbers, mut rest) = bytes.split_at_checked(NUMBERS_BYTES)?;
        let site = u32::from_le_bytes(numbers[..4].try_into().ok()?);
        let page = u64::from_le_bytes(numbers[4..12].try_into().ok()?);
        let flags = u16::from_le_bytes(numbers[12..].try_into().ok()?);
        let mut number = |bit: u16| -> Option<Option<u64>> {
            if flags & bit == 0 {
                return Some(None);
            }
            let (number, after) = rest.split_first_chunk()?;
            rest = after;
            Some(Some(u64::from_le_bytes(*number)))
        };
        let (size, simhash, status) = (number(SIZE)?, number(SIMHASH)?, number(STATUS)?);
        let layout = number(LAYOUT)?;
        let mut text = |bit: u16| -> Option<Option<&'a [u8]>> {
            if flags & 1 << bit == 0 {
                return Some(None);
            }
            let (length, after) = rest.split_first_chunk()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            Some(Some(text))
        };
        let mut record = Self {
            site,
            page,
            url: text(0)??,
            clues: Clues {
                cluster: text(1)?,
                canonical: text(2)?,
                redirect: text(3)?,
                digest: text(4)?,
                text_digest: text(5)?,
                simhash,
                title: text(6)?,
                status: status.and_then(|status| u16::try_from(status).ok()),
                size,
                main: None,
            },
            time: text(7)?,
        };
        if flags & MAIN != 0 {
            let (length, rest) = rest.split_first_chunk()?;
            let (digest, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let mut values = rest.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
            let mut sketch = [0; SKETCH_VALUES];
            for value in &mut sketch {
                *value = values.next()?;
            }
            record.clues.main = Some(MainClues { digest, layout, sketch });
        }
        Some(record)
    }
}

/// Reads records one after the other.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
}

impl<'a> Records<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The record in `bytes`, which hold it and nothing else.
    pub(super) fn only(bytes: &'a [u8]) -> Option<Record<'a>> {
        let mut records = Self::new(bytes);
        records.read().filter(|_| records.is_at_end())
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next whole record.
    pub(super) fn read(&mut self) -> Option<Record<'a>> {
        let (length, rest) = self.bytes.split_first_chunk()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let record = Record::parse(record)?;
        self.bytes = rest;
        Some(record)
    }
}

/// Reads the records of a file, in blocks.
pub(super) fn read_file(path: &Path, take: &mut impl FnMut(Record<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = Vec::new();
    loop {
        let room = (BLOCK_BYTES as u64).max(buffer.len() as u64);
        let is_last = (&mut file).take(room).read_to_end(&mut buffer)? == 0;
        let mut records = Records::new(&buffer);
        while let Some(record) = records.read() {
            take(record)?;
        }
        let left = records.bytes.len();
        if is_last {
            return if left == 0 { Ok(()) } else { Err(damaged()) };
        }
        buffer.drain(..buffer.len() - left);
    }
}
