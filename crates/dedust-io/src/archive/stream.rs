/*!
The bytes of an archive, with the places where records may begin.

A [`Text`] comes in; lines and blocks of known length go out, through one buffer that never holds bytes of two gzip
members. A failure to read looks like the end of the bytes and is kept in [`Stream::take_failure`], so that whoever
decodes a body need not tell it from damage of the body itself.
*/

use std::io::{self, BufRead, Read};

use memchr::memchr;

use crate::Text;
use crate::gzip::Member;

/// Room for input: large enough that decompression does not stop often, small enough to stay in the cache.
const CHUNK_BYTES: usize = 64 << 10;

/// Longest line of a head that is held. Crawlers keep whole certificates and cookies there.
const MAX_LINE_BYTES: usize = 1 << 20;

pub(crate) struct Stream {
    text: Text,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// What `buffer` is of.
    member: Option<Member>,
    /// `buffer[0]` is the first byte of a gzip member, or of the file.
    starts_member: bool,
    /// Uncompressed bytes before `buffer[start]`.
    offset: u64,
    failure: Option<io::Error>,
}

/// What [`read_line`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRead {
    Line,
    /// Only the beginning of the line is held; all of it was read.
    TooLong,
    End,
}

impl Stream {
    /// Continues `text`, of which `start` has been read before.
    pub(crate) fn new(start: Vec<u8>, text: Text) -> Self {
        let (end, member) = (start.len(), text.member());
        Stream { text, buffer: start, start: 0, end, member, starts_member: true, offset: 0, failure: None }
    }

    /// Where the next byte is: in the file if a gzip member starts with it, as in an index, else in the uncompressed
    /// bytes.
    pub(crate) fn here(&mut self) -> u64 {
        self.fill();
        match self.text.member() {
            // Also where the member begins that cannot be read.
            Some(member) if self.at_member_start() || self.member != Some(member) => member.offset,
            _ => self.offset,
        }
    }

    /// Whether a gzip member, or the file, starts with the next byte.
    pub(crate) fn at_member_start(&self) -> bool {
        self.starts_member && self.start == 0 && self.start < self.end
    }

    /// Why there are no more bytes, if it is not that they ended.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// After damage: goes on where that is possible. `false`: nowhere.
    pub(crate) fn skip_damage(&mut self) -> io::Result<bool> {
        (self.start, self.end) = (0, 0);
        self.text.skip_damage()
    }

    fn fill(&mut self) {
        if self.start < self.end || self.failure.is_some() {
            return;
        }
        self.buffer.resize(CHUNK_BYTES, 0);
        (self.start, self.end) = (0, 0);
        loop {
            match self.text.read(&mut self.buffer) {
                Ok(count) => {
                    self.end = count;
                    let member = self.text.member();
                    // Of an empty file, nothing starts.
                    self.starts_member = member != self.member && count > 0;
                    self.member = member;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, buffer)
    }
}

impl BufRead for Stream {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill();
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }
}

/// The block of a record: so many bytes of the stream.
pub(crate) struct Block<'a> {
    stream: &'a mut Stream,
    left: u64,
    /// What the next record starts with: at the start of a gzip member, the block has ended before its length was reached.
    next_record: &'static [u8],
}

impl<'a> Block<'a> {
    pub(crate) fn new(stream: &'a mut Stream, len: u64, next_record: &'static [u8]) -> Self {
        Block { stream, left: len, next_record }
    }

    /// Bytes not read yet.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Reads to the end without keeping anything. Gives the number of bytes that are missing.
    pub(crate) fn skip(mut self) -> u64 {
        while let Ok(bytes @ [_, ..]) = self.fill_buf() {
            let count = bytes.len();
            self.consume(count);
        }
        self.left
    }
}

impl Read for Block<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, buffer)
    }
}

impl BufRead for Block<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.stream.fill();
        let at_member_start = self.stream.at_member_start();
        let bytes = &self.stream.buffer[self.stream.start..self.stream.end];
        if at_member_start && !self.next_record.is_empty() && bytes.starts_with(self.next_record) {
            return Ok(&[]);
        }
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        Ok(&bytes[..len])
    }

    fn consume(&mut self, count: usize) {
        self.stream.consume(count);
        self.left -= count as u64;
    }
}

fn read_buffered(source: &mut impl BufRead, buffer: &mut [u8]) -> io::Result<usize> {
    let available = source.fill_buf()?;
    let count = available.len().min(buffer.len());
    buffer[..count].copy_from_slice(&available[..count]);
    source.consume(count);
    Ok(count)
}

/// Reads a line, with its end, into `line`.
pub(crate) fn read_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> LineRead {
    line.clear();
    let mut is_too_long = false;
    loop {
        let bytes = source.fill_buf().unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        let (len, ended) = memchr(b'\n', bytes).map_or((bytes.len(), false), |at| (at + 1, true));
        if line.len() + len > MAX_LINE_BYTES {
            is_too_long = true;
        } else if !is_too_long {
            line.extend_from_slice(&bytes[..len]);
        }
        source.consume(len);
        if ended {
            return if is_too_long { LineRead::TooLong } else { LineRead::Line };
        }
    }
    match (is_too_long, line.is_empty()) {
        (true, _) => LineRead::TooLong,
        (false, true) => LineRead::End,
        (false, false) => LineRead::Line,
    }
}
