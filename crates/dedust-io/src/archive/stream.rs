/*!
The bytes of an archive, with the places where records may begin.

A [`Text`] comes in; lines and blocks of known length go out, through one buffer that never holds bytes of two gzip
members. A failure to read looks like the end of the bytes and is kept in [`Stream::take_failure`], so that whoever
decodes a body need not tell it from damage of the body itself.

Lengths are believed, until records that were swallowed by a wrong one have been read again too often.
*/

use std::io::{self, BufRead, Cursor, Read};

use memchr::memchr;

use super::inner_head::{HeadLine, Held, InnerHead};
use crate::Text;
use crate::gzip::Member;
use crate::read_some::{read_buffered, read_some};

/// Room for input: large enough that decompression does not stop often, small enough to stay in the cache.
const CHUNK_BYTES: usize = 64 << 10;

/// Longest line of a head that is held. Crawlers keep whole certificates and cookies there.
const MAX_LINE_BYTES: usize = 1 << 20;

/// How often all bytes so far may have been read again on average, before lengths are no longer believed.
const MAX_REREADS: u64 = 8;

/// Bytes of a block given out at a time where lengths are not believed, so that few are read again.
const DOUBTED_CHUNK_BYTES: usize = 4 << 10;

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
    /// Searches the block that is being read.
    inner_head: InnerHead,
    /// What is read again before `text` goes on, the next bytes last.
    replay: Vec<Box<dyn Read + Send>>,
    /// Bytes that were read again.
    pub(super) reread_bytes: u64,
    /// The largest `offset` so far.
    furthest: u64,
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
    /// Continues `text`, of which `start` has been read before. Records start with `head_line`.
    pub(crate) fn new(start: Vec<u8>, text: Text, head_line: HeadLine) -> Self {
        let (end, member) = (start.len(), text.member());
        Stream {
            text,
            buffer: start,
            start: 0,
            end,
            member,
            starts_member: true,
            offset: 0,
            failure: None,
            inner_head: InnerHead::new(head_line),
            replay: Vec::new(),
            reread_bytes: 0,
            furthest: 0,
        }
    }

    /// Where the next byte is: in the file if a gzip member starts with it, as in an index, else in the uncompressed
    /// bytes.
    pub(crate) fn here(&mut self) -> u64 {
        self.fill();
        match self.text.member() {
            // Also where the member begins that cannot be read.
            Some(member) if self.at_member_start() || (self.at_end() && self.member != Some(member)) => {
                member.offset
            }
            _ => self.offset,
        }
    }

    /// Whether a gzip member, or the file, starts with the next byte.
    pub(crate) fn at_member_start(&self) -> bool {
        self.starts_member && self.start == 0 && self.start < self.end
    }

    /// Whether nothing is left of what was read, or is to be read again.
    fn at_end(&self) -> bool {
        self.start == self.end && self.replay.is_empty()
    }

    /// Whether there are no more bytes because they cannot be read.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why there are no more bytes, if it is not that they ended.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        if self.at_end() { self.failure.take() } else { None }
    }

    /// What was held of the last block, if there was the head of another record inside.
    pub(super) fn take_held(&mut self) -> Option<Held> {
        self.inner_head.take_held()
    }

    /// Goes back to the first of the bytes held, which are the last ones read.
    pub(super) fn rewind(&mut self, held: Held) {
        let len = held.len();
        self.reread_bytes += len;
        self.furthest = self.furthest.max(self.offset);
        self.offset -= len;
        if let Some(start) = usize::try_from(len).ok().and_then(|len| self.start.checked_sub(len)) {
            self.start = start;
            return;
        }
        let unread = self.buffer[self.start..self.end].to_vec();
        (self.start, self.end) = (0, 0);
        self.replay.push(Box::new(Cursor::new(unread)));
        match held.into_read() {
            Ok(held) => self.replay.push(held),
            Err(error) => self.fail(error),
        }
    }

    fn believes_lengths(&self) -> bool {
        self.reread_bytes <= MAX_REREADS * self.furthest.max(self.offset)
    }

    /// Ends reading with an error.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.replay.clear();
        self.failure = Some(error);
    }

    /// After damage: goes on where that is possible. `false`: nowhere.
    pub(crate) fn skip_damage(&mut self) -> io::Result<bool> {
        (self.start, self.end) = (0, 0);
        self.text.skip_damage()
    }

    fn fill(&mut self) {
        if self.start < self.end {
            return;
        }
        self.buffer.resize(CHUNK_BYTES, 0);
        (self.start, self.end) = (0, 0);
        self.fill_from_replay();
        if self.start < self.end || self.failure.is_some() {
            return;
        }
        match read_some(&mut self.text, &mut self.buffer) {
            Ok(count) => {
                self.end = count;
                let member = self.text.member();
                // Of an empty file, nothing starts.
                self.starts_member = member != self.member && count > 0;
                self.member = member;
            }
            Err(error) => self.failure = Some(error),
        }
    }
}

impl Stream {
    fn fill_from_replay(&mut self) {
        while let Some(source) = self.replay.last_mut() {
            match source.read(&mut self.buffer) {
                Ok(0) => drop(self.replay.pop()),
                Ok(count) => {
                    self.end = count;
                    self.starts_member = false;
                    return;
                }
                Err(error) => return self.fail(error),
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
        stream.inner_head.start_block(stream.believes_lengths());
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
        if self.stream.inner_head.ends_block() {
            return Ok(&[]);
        }
        self.stream.fill();
        let at_member_start = self.stream.at_member_start();
        let max_len = if self.stream.believes_lengths() { usize::MAX } else { DOUBTED_CHUNK_BYTES };
        let bytes = &self.stream.buffer[self.stream.start..self.stream.end];
        if at_member_start && !self.next_record.is_empty() && bytes.starts_with(self.next_record) {
            return Ok(&[]);
        }
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len()).min(max_len);
        Ok(&bytes[..len])
    }

    fn consume(&mut self, count: usize) {
        let Stream { inner_head, buffer, start, .. } = &mut *self.stream;
        inner_head.push(&buffer[*start..*start + count]);
        self.stream.consume(count);
        self.left -= count as u64;
    }
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
