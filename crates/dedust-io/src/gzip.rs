/*!
gzip, member by member.

Compressed bytes come in; the bytes of all members go out, one after the other, never of two members in one read. Archives
compress each record by itself, so where members begin is where records do: [`GzipMembers::member`] tells the place, and
[`GzipMembers::skip_damage`] goes on behind a member that cannot be decompressed.
*/

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use memchr::memmem;

use crate::read_some::{read_buffered, read_some};

/// Compressed bytes read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Two bytes that mark gzip, and the only method there is.
const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// Which member the last bytes came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Member {
    /// Counted from 0.
    pub(crate) index: u64,
    /// Where it starts in the file.
    pub(crate) offset: u64,
}

pub(crate) struct GzipMembers {
    decoder: GzDecoder<Slot>,
    member: Member,
    /// All of the member has been given out.
    member_ended: bool,
}

/// Lets the decoder be reset without giving up the source.
struct Slot(Option<Compressed>);

/// A buffered source that can be searched.
struct Compressed {
    source: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes consumed.
    offset: u64,
}

impl GzipMembers {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        let buffer = vec![0; CHUNK_BYTES].into();
        let source = Compressed { source, buffer, start: 0, end: 0, offset: 0 };
        GzipMembers {
            decoder: decoder_of(Slot(Some(source))),
            member: Member::default(),
            member_ended: false,
        }
    }

    /// The member that the last bytes read came from.
    pub(crate) fn member(&self) -> Member {
        self.member
    }

    /// Moves to the next place where a member seems to begin. `false`: there is none.
    pub(crate) fn skip_damage(&mut self) -> io::Result<bool> {
        let Some(source) = &mut self.decoder.get_mut().0 else { return Ok(false) };
        // Past the header of the member that failed, if nothing more of it was taken.
        if source.offset == self.member.offset {
            source.consume(1);
        }
        let found = source.find(MAGIC)?;
        // A decoder that failed may fail again after a mere reset.
        let source = self.decoder.get_mut().0.take();
        self.decoder = decoder_of(Slot(source));
        self.start_member();
        Ok(found)
    }

    fn start_member(&mut self) {
        let source = self.decoder.get_mut().0.take();
        let offset = source.as_ref().map_or(0, |source| source.offset);
        self.decoder.reset(Slot(source));
        self.member = Member { index: self.member.index + 1, offset };
        self.member_ended = false;
    }
}

/// A decoder that reads nothing, not even a header, before it is asked to.
fn decoder_of(source: Slot) -> GzDecoder<Slot> {
    let mut decoder = GzDecoder::new(Slot(None));
    decoder.reset(source);
    decoder
}

impl Read for GzipMembers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.member_ended {
                if self.decoder.get_mut().fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.start_member();
            }
            match self.decoder.read(buffer)? {
                0 => self.member_ended = true,
                count => return Ok(count),
            }
        }
    }
}

impl Read for Slot {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, buffer)
    }
}

impl BufRead for Slot {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.0 {
            Some(source) => source.fill_buf(),
            None => Ok(&[]),
        }
    }

    fn consume(&mut self, count: usize) {
        if let Some(source) = &mut self.0 {
            source.consume(count);
        }
    }
}

impl Compressed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.read_more()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads once behind what is there. `false` at the end, or where there is no more room.
    fn read_more(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let count = read_some(&mut self.source, &mut self.buffer[self.end..])?;
        self.end += count;
        Ok(count > 0)
    }

    /// Moves on to the next place where `needle` stands.
    fn find(&mut self, needle: &[u8]) -> io::Result<bool> {
        loop {
            let window = &self.buffer[self.start..self.end];
            if let Some(at) = memmem::find(window, needle) {
                self.consume(at);
                return Ok(true);
            }
            // The needle may begin in what was read and end in what was not.
            self.consume(window.len().saturating_sub(needle.len() - 1));
            if !self.read_more()? {
                self.consume(self.end - self.start);
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// What is read, as pairs of a member's offset and its bytes; damage is a pair with no bytes.
    fn members(compressed: Vec<u8>) -> Vec<(u64, Vec<u8>)> {
        let mut members = GzipMembers::new(Box::new(Cursor::new(compressed)));
        let mut read: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut buffer = [0; 7];
        loop {
            match members.read(&mut buffer) {
                Ok(0) => return read,
                Ok(count) => {
                    let offset = members.member().offset;
                    if read.last().is_none_or(|last| last.0 != offset) {
                        read.push((offset, Vec::new()));
                    }
                    read.last_mut().unwrap().1.extend(&buffer[..count]);
                }
                Err(_) => {
                    read.push((members.member().offset, Vec::new()));
                    if !members.skip_damage().unwrap() {
                        return read;
                    }
                }
            }
        }
    }

    #[test]
    fn members_are_told_apart() {
        let (first, second) = (gzip(b"first record"), gzip(b"second"));
        let offsets = [0, first.len() as u64, (first.len() + second.len()) as u64];
        let all = [&first[..], &second, &gzip(b""), &gzip(b"last")].concat();
        let last = (offsets[2] + gzip(b"").len() as u64, b"last".to_vec());
        assert_eq!(members(all), [(0, b"first record".to_vec()), (offsets[1], b"second".to_vec()), last]);
        assert_eq!(members(Vec::new()), [(0, Vec::new())]);
    }

    #[test]
    fn reading_goes_on_behind_damage() {
        let (first, second, third) = (gzip(b"first"), gzip(&[b'x'; 1000]), gzip(b"third"));
        let third_at = (first.len() + second.len()) as u64;
        // A header that is none, data that are none, and a wrong checksum.
        for at in [0, 1, 10, second.len() - 8] {
            let mut damaged = second.clone();
            damaged[at] ^= 0xff;
            let read = members([&first[..], &damaged, &third].concat());
            assert_eq!(read.first(), Some(&(0, b"first".to_vec())), "{at}");
            assert_eq!(read.last(), Some(&(third_at, b"third".to_vec())), "{at}");
            assert!(
                read.contains(&(first.len() as u64, Vec::new())) || at == second.len() - 8,
                "{at} {read:?}"
            );
        }
    }
}
