/*!
Cuts a stream of bytes into lines, holding no more than one row.

Bytes come in through any [`Read`], in pieces of any size; lines go out as slices of one buffer, without their line
end. A row may be extended over further lines (a quoted CSV field) and cut back to its first line. Lines longer
than [`MAX_ROW_BYTES`] are passed over without being held. Knows nothing of formats.
*/

use std::io::{self, Read};

use memchr::memchr;

use crate::read_some::read_some;

/// Longest row that is read, in bytes. Longer ones are bad rows.
pub const MAX_ROW_BYTES: usize = 16 << 20;

/// Room for new input: large enough that system calls do not show, small enough to stay in the cache.
const CHUNK_BYTES: usize = 128 << 10;

pub(crate) struct LineBuffer {
    source: Box<dyn Read + Send>,
    /// All initialised; `buffer[..filled]` is input.
    buffer: Vec<u8>,
    filled: usize,
    /// The current row is `buffer[row_start..row_end]`, line ends included.
    row_start: usize,
    row_end: usize,
    /// End of the row's first line, relative to `row_start`.
    first_line_len: usize,
    /// Number of the row's first line, from 1.
    line: u64,
    lines_in_row: u64,
    /// Bytes of input before `buffer[0]`.
    offset: u64,
    ended: bool,
}

/// What follows in the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line; see [`LineBuffer::row`].
    Line,
    /// A line too long to be held; [`LineBuffer::row`] is its beginning.
    TooLong,
    End,
}

enum LineEnd {
    At(usize),
    /// Not within [`MAX_ROW_BYTES`] of the row's start.
    Beyond,
    /// There is no further input.
    Nothing,
}

impl LineBuffer {
    /// Continues `source`, of which `start` has been read before.
    pub(crate) fn new(start: Vec<u8>, source: Box<dyn Read + Send>) -> Self {
        LineBuffer {
            source,
            filled: start.len(),
            buffer: start,
            row_start: 0,
            row_end: 0,
            first_line_len: 0,
            line: 1,
            lines_in_row: 0,
            offset: 0,
            ended: false,
        }
    }

    /// Moves on to the next line.
    pub(crate) fn next_line(&mut self) -> io::Result<Next> {
        self.row_start = self.row_end;
        self.line += self.lines_in_row;
        self.lines_in_row = 0;
        match self.find_line_end(0)? {
            LineEnd::At(len) => {
                self.row_end = self.row_start + len;
                self.first_line_len = len;
                self.lines_in_row = 1;
                // The same limit whether or not the line end happened to be in the buffer already.
                Ok(if self.row().len() > MAX_ROW_BYTES { Next::TooLong } else { Next::Line })
            }
            LineEnd::Beyond => self.pass_over_line(),
            LineEnd::Nothing => Ok(Next::End),
        }
    }

    /// Moves on to the next line that is not blank.
    pub(crate) fn next_row(&mut self) -> io::Result<Next> {
        loop {
            let next = self.next_line()?;
            if next != Next::Line || self.row().iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Ok(next);
            }
        }
    }

    /// Adds the next line to the row. `Ok(false)`: the row stays as it is, because there is no further line or the
    /// row would become too long.
    pub(crate) fn extend(&mut self) -> io::Result<bool> {
        let row_len = self.row_end - self.row_start;
        match self.find_line_end(row_len)? {
            LineEnd::At(len) if len <= MAX_ROW_BYTES => {
                self.row_end = self.row_start + len;
                self.lines_in_row += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Gives back all lines of the row but the first; they are read again as rows of their own.
    pub(crate) fn cut_to_first_line(&mut self) {
        self.row_end = self.row_start + self.first_line_len;
        self.lines_in_row = 1;
    }

    /// The current row without its line end (LF or CRLF).
    pub(crate) fn row(&self) -> &[u8] {
        let row = &self.buffer[self.row_start..self.row_end];
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        row.strip_suffix(b"\r").unwrap_or(row)
    }

    /// The current row with its line end.
    pub(crate) fn text(&self) -> &[u8] {
        &self.buffer[self.row_start..self.row_end]
    }

    /// What was read and is not given out yet.
    pub(crate) fn start(&self) -> &[u8] {
        &self.buffer[self.row_end..self.filled]
    }

    /// Whether the row was extended.
    pub(crate) fn spans_lines(&self) -> bool {
        self.lines_in_row > 1
    }

    /// Number of the row's first line, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Lines and bytes of all rows before the current one.
    pub(crate) fn before_row(&self) -> (u64, u64) {
        (self.line - 1, self.offset + self.row_start as u64)
    }

    /// Length of the row up to and including the first line end after `scanned` bytes of it.
    fn find_line_end(&mut self, mut scanned: usize) -> io::Result<LineEnd> {
        let old_len = scanned;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.row_start + scanned..self.filled]) {
                return Ok(LineEnd::At(scanned + at + 1));
            }
            scanned = self.filled - self.row_start;
            if scanned > MAX_ROW_BYTES {
                return Ok(LineEnd::Beyond);
            }
            if !self.fill()? {
                return Ok(if scanned > old_len { LineEnd::At(scanned) } else { LineEnd::Nothing });
            }
        }
    }

    /// Reads once, keeping the current row. `false` at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        if self.row_start > 0 {
            self.buffer.copy_within(self.row_start..self.filled, 0);
            self.offset += self.row_start as u64;
            self.filled -= self.row_start;
            self.row_end -= self.row_start;
            self.row_start = 0;
        }
        if self.filled + CHUNK_BYTES / 2 > self.buffer.len() {
            // Doubling, so that a long line is copied a bounded number of times.
            self.buffer.resize((self.filled * 2).clamp(CHUNK_BYTES, MAX_ROW_BYTES + CHUNK_BYTES), 0);
        }
        let count = read_some(&mut self.source, &mut self.buffer[self.filled..])?;
        self.filled += count;
        self.ended = count == 0;
        Ok(!self.ended)
    }

    /// Drops the rest of a line that is too long, keeping a beginning to show.
    fn pass_over_line(&mut self) -> io::Result<Next> {
        const KEPT_BYTES: usize = 1024;
        self.offset += (self.filled - self.row_start - KEPT_BYTES) as u64;
        self.buffer.copy_within(self.row_start..self.row_start + KEPT_BYTES, 0);
        self.row_start = 0;
        loop {
            self.row_end = KEPT_BYTES;
            self.filled = KEPT_BYTES;
            let ended = !self.fill()?;
            let dropped = match memchr(b'\n', &self.buffer[KEPT_BYTES..self.filled]) {
                Some(at) => at + 1,
                None => self.filled - KEPT_BYTES,
            };
            let at_line_end = dropped > 0 && self.buffer[KEPT_BYTES + dropped - 1] == b'\n';
            self.offset += dropped as u64;
            self.buffer.copy_within(KEPT_BYTES + dropped..self.filled, KEPT_BYTES);
            self.filled -= dropped;
            if at_line_end || ended {
                self.first_line_len = KEPT_BYTES;
                self.lines_in_row = 1;
                return Ok(Next::TooLong);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives out a text in pieces of `piece` bytes.
    struct Pieces {
        text: Vec<u8>,
        at: usize,
        piece: usize,
    }

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.piece.min(self.text.len() - self.at).min(buffer.len());
            buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
            self.at += count;
            Ok(count)
        }
    }

    fn buffer(text: &[u8], piece: usize) -> LineBuffer {
        LineBuffer::new(Vec::new(), Box::new(Pieces { text: text.to_vec(), at: 0, piece }))
    }

    #[test]
    fn lines_end_with_lf_crlf_or_the_input() {
        for piece in 1..20 {
            let mut lines = buffer(b"a\n\nb\r\nc\rd", piece);
            let mut seen = Vec::new();
            while lines.next_line().unwrap() == Next::Line {
                seen.push((
                    lines.line(),
                    String::from_utf8(lines.row().to_vec()).unwrap(),
                    lines.before_row(),
                ));
            }
            let row = |line, text: &str, offset| (line, text.to_owned(), (line - 1, offset));
            assert_eq!(seen, [row(1, "a", 0), row(2, "", 2), row(3, "b", 3), row(4, "c\rd", 6)]);
        }
    }

    #[test]
    fn a_row_can_be_extended_and_cut_back() {
        for piece in 1..20 {
            let mut lines = buffer(b"a\nb\nc\nd", piece);
            assert_eq!(lines.next_line().unwrap(), Next::Line);
            assert!(lines.extend().unwrap() && lines.extend().unwrap());
            assert_eq!((lines.row(), lines.line(), lines.before_row()), (&b"a\nb\nc"[..], 1, (0, 0)));
            lines.cut_to_first_line();
            assert_eq!(lines.row(), b"a");
            assert_eq!(lines.next_line().unwrap(), Next::Line);
            assert_eq!((lines.row(), lines.line(), lines.before_row()), (&b"b"[..], 2, (1, 2)));
            assert!(lines.extend().unwrap() && lines.extend().unwrap() && !lines.extend().unwrap());
            assert_eq!(lines.row(), b"b\nc\nd");
            assert_eq!(lines.next_line().unwrap(), Next::End);
            assert_eq!(lines.before_row(), (4, 7));
        }
    }

    #[test]
    fn the_longest_line_is_held_and_a_longer_one_is_not() {
        for (extra, next) in [(0, Next::Line), (1, Next::TooLong), (5 << 20, Next::TooLong)] {
            let mut text = vec![b'x'; MAX_ROW_BYTES + extra];
            text.extend_from_slice(b"\nafter\n");
            let text_len = text.len() as u64;
            let mut lines = buffer(&text, 1 << 20);
            assert_eq!(lines.next_line().unwrap(), next);
            assert_eq!(lines.row()[..80], [b'x'; 80]);
            assert!(lines.buffer.len() <= MAX_ROW_BYTES + CHUNK_BYTES);
            assert_eq!(lines.next_line().unwrap(), Next::Line);
            assert_eq!(
                (lines.row(), lines.line(), lines.before_row()),
                (&b"after"[..], 2, (1, text_len - 6))
            );
            assert_eq!(lines.next_line().unwrap(), Next::End);
        }
    }

    #[test]
    fn a_too_long_line_may_end_the_input() {
        let mut lines = buffer(&vec![b'x'; 2 * MAX_ROW_BYTES], 1 << 20);
        assert_eq!(lines.next_line().unwrap(), Next::TooLong);
        assert_eq!(lines.next_line().unwrap(), Next::End);
        assert_eq!(lines.before_row(), (1, 2 * MAX_ROW_BYTES as u64));
    }
}
