/*!
What is remembered of a site, as records in the order in which it happened.

```text
kind:u8 length:u32 payload        all little-endian
```

All that is known of a site follows from its records, so that a folder that was closed at any point is read back to the same state.
*/

use dedust_crawl::CrawlRow;
use dedust_learn::Clues;

use crate::verdict::Verdict;

/// Something that happened on a site. Entries are numbered in the order in which their URLs were met first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and rows are copied from nowhere else")]
pub(crate) enum Record<'a> {
    /// A URL was met for the first time, in the process of this epoch.
    Met { verdict: Verdict, epoch: u32, url: &'a [u8] },
    /// Another verdict was given on a URL that had been met.
    Again { entry: u32, verdict: Verdict, epoch: u32 },
    /// A URL is fetched to find out whether it shows the page of another. Follows its verdict.
    Audited { entry: u32, holder: u32, chance: f32 },
    /// A fetch showed this.
    Row { entry: u32, row: Row<'a> },
    /// A fetch failed, or was given up.
    Failed { entry: u32 },
    /// Rules were learned or withdrawn.
    Rules { json: &'a [u8] },
}

/// Texts of a row.
const TEXTS: usize = 8;

/// What a fetch showed, with links as they were written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Row<'a> {
    pub(crate) clues: Clues<'a>,
    pub(crate) mime: Option<&'a [u8]>,
    pub(crate) time: Option<&'a [u8]>,
}

impl<'a> Row<'a> {
    pub(crate) fn of(row: &'a CrawlRow) -> Self {
        Self {
            clues: Clues { main: None, ..row.clues() },
            mime: row.mime().map(str::as_bytes),
            time: row.time().map(str::as_bytes),
        }
    }

    /// Whether it says nothing of a page, as of a fetch that failed.
    pub(crate) fn is_empty(&self) -> bool {
        let nothing = Clues { status: self.clues.status.filter(|&status| status != 0), ..self.clues };
        nothing == Clues::default()
    }

    fn texts(&self) -> [Option<&'a [u8]>; TEXTS] {
        let Clues { cluster, canonical, redirect, digest, text_digest, title, .. } = self.clues;
        [cluster, canonical, redirect, digest, text_digest, title, self.mime, self.time]
    }

    fn numbers(&self) -> [Option<u64>; 3] {
        [self.clues.size, self.clues.simhash, self.clues.status.map(u64::from)]
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut flags = 0_u16;
        for (bit, text) in self.texts().iter().enumerate() {
            flags |= u16::from(text.is_some()) << bit;
        }
        for (bit, number) in self.numbers().iter().enumerate() {
            flags |= u16::from(number.is_some()) << (bit + TEXTS);
        }
        out.extend_from_slice(&flags.to_le_bytes());
        for number in self.numbers().into_iter().flatten() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for text in self.texts().into_iter().flatten() {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text);
        }
    }

    fn parse(mut bytes: &'a [u8]) -> Option<Self> {
        let flags = u16::from_le_bytes(take(&mut bytes)?);
        let has = |bit: usize| flags & 1 << bit != 0;
        let mut numbers = [None; 3];
        for (bit, number) in numbers.iter_mut().enumerate() {
            if has(bit + TEXTS) {
                *number = Some(u64::from_le_bytes(take(&mut bytes)?));
            }
        }
        let mut texts = [None; TEXTS];
        for (bit, text) in texts.iter_mut().enumerate() {
            if has(bit) {
                let length = u32::from_le_bytes(take(&mut bytes)?);
                let (found, rest) = bytes.split_at_checked(length as usize)?;
                (*text, bytes) = (Some(found), rest);
            }
        }
        let [size, simhash, status] = numbers;
        let [cluster, canonical, redirect, digest, text_digest, title, mime, time] = texts;
        let status = status.and_then(|status| u16::try_from(status).ok());
        let clues = Clues {
            cluster,
            canonical,
            redirect,
            digest,
            text_digest,
            main: None,
            simhash,
            title,
            status,
            size,
        };
        Some(Self { clues, mime, time })
    }
}

/// The next bytes of a record.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

const HEAD_BYTES: usize = 5;

impl<'a> Record<'a> {
    /// Appends the record.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEAD_BYTES]);
        let mut number = |number: u32| out.extend_from_slice(&number.to_le_bytes());
        let kind = match *self {
            Record::Met { verdict, epoch, url } => {
                number(epoch);
                out.push(verdict.code());
                out.extend_from_slice(url);
                b'M'
            }
            Record::Again { entry, verdict, epoch } => {
                number(entry);
                number(epoch);
                out.push(verdict.code());
                b'A'
            }
            Record::Audited { entry, holder, chance } => {
                [entry, holder, chance.to_bits()].into_iter().for_each(number);
                b'P'
            }
            Record::Row { entry, row } => {
                number(entry);
                row.write(out);
                b'R'
            }
            Record::Failed { entry } => {
                number(entry);
                b'F'
            }
            Record::Rules { json } => {
                out.extend_from_slice(json);
                b'L'
            }
        };
        let length = (out.len() - start - HEAD_BYTES) as u32;
        out[start] = kind;
        out[start + 1..start + HEAD_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    fn parse(kind: u8, mut bytes: &'a [u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let mut number = || take(bytes).map(u32::from_le_bytes);
        Some(match kind {
            b'M' => {
                let epoch = number()?;
                let [code] = take(bytes)?;
                Record::Met { verdict: Verdict::of_code(code)?, epoch, url: bytes }
            }
            b'A' => {
                let (entry, epoch) = (number()?, number()?);
                let [code] = take(bytes)?;
                Record::Again { entry, verdict: Verdict::of_code(code)?, epoch }
            }
            b'P' => {
                Record::Audited { entry: number()?, holder: number()?, chance: f32::from_bits(number()?) }
            }
            b'R' => Record::Row { entry: number()?, row: Row::parse(bytes)? },
            b'F' => Record::Failed { entry: number()? },
            b'L' => Record::Rules { json: bytes },
            _ => return None,
        })
    }
}

/// Reads records, up to the first that is none.
pub(crate) struct Records<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let (head, rest) = self.0.split_first_chunk::<HEAD_BYTES>()?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        let (payload, rest) = rest.split_at_checked(length as usize)?;
        let record = Record::parse(head[0], payload)?;
        self.0 = rest;
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_as_they_were_written() {
        let clues = Clues {
            canonical: Some(b"/a"),
            title: Some(b""),
            simhash: Some(7),
            status: Some(200),
            ..Clues::default()
        };
        let all = [
            Record::Met { verdict: Verdict::Fetch, epoch: 3, url: b"http://a.example/?\xff" },
            Record::Again { entry: 7, verdict: Verdict::Skip, epoch: 9 },
            Record::Audited { entry: 1, holder: 0, chance: 0.05 },
            Record::Row { entry: 1, row: Row { clues, mime: None, time: Some(b"2026") } },
            Record::Failed { entry: 2 },
            Record::Rules { json: b"{}" },
        ];
        let mut bytes = Vec::new();
        all.iter().for_each(|record| record.write(&mut bytes));
        assert_eq!(Records(&bytes).collect::<Vec<_>>(), all);
        // A record that was cut off is none, and no bytes end the process.
        for length in 0..bytes.len() {
            let read: Vec<Record<'_>> = Records(&bytes[..length]).collect();
            assert!(read.len() < all.len() && all.starts_with(&read), "{length}");
        }
    }
}
