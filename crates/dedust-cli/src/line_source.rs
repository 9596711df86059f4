/*!
Lines of an input, in batches of whole lines.

Readers of observations skip what is none; here every line counts and keeps its bytes. Memory is bounded: a line
longer than [`MAX_LINE_BYTES`] is handed out in parts.
*/

use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memrchr};

use crate::read_ahead::ReadAhead;

/// Longest line that is handed out whole.
pub(crate) const MAX_LINE_BYTES: usize = dedust_io::MAX_ROW_BYTES;

const BLOCK_BYTES: usize = 4 << 20;

/// The name of an input for messages.
pub(crate) fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

/// Some bytes of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch<'a> {
    /// Whole lines; all end with a line feed, save perhaps the last of the input.
    Lines(&'a [u8]),
    /// A part of a line that is too long to be handed out whole.
    LongLine {
        /// Without the line feed.
        part: &'a [u8],
        /// Whether the line ends here.
        is_last: bool,
    },
}

/// Hands out an input batch by batch.
pub(crate) struct Batches {
    source: Box<dyn Read + Send>,
    /// Hand out what one read gives: someone may wait for the answer to it.
    is_dialogue: bool,
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes of the buffer that were handed out.
    taken: usize,
    in_long_line: bool,
    ended: bool,
    /// A failure that is told after the lines read before it.
    failed: Option<io::Error>,
}

impl Batches {
    /// Batches of what `source` gives. In a dialogue every line is handed out as soon as it is there.
    pub(crate) fn new(source: Box<dyn Read + Send>, is_dialogue: bool) -> Self {
        Self {
            source,
            is_dialogue,
            buffer: vec![0; BLOCK_BYTES],
            filled: 0,
            taken: 0,
            in_long_line: false,
            ended: false,
            failed: None,
        }
    }

    /// Likewise, with a thread that reads while others work, if there are to be several.
    pub(crate) fn read_ahead(source: Box<dyn Read + Send>, is_dialogue: bool) -> io::Result<Self> {
        Ok(match rayon::current_num_threads() {
            1 => Self::new(source, is_dialogue),
            _ => Self::new(Box::new(ReadAhead::start(source)?), is_dialogue),
        })
    }

    /// The next batch; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Batch<'_>>> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let mut scanned = 0;
        loop {
            if self.in_long_line && (self.filled > 0 || self.ended) {
                return Ok(Some(self.long_line()));
            }
            if let Some(at) = memrchr(b'\n', &self.buffer[scanned..self.filled]) {
                self.taken = scanned + at + 1;
                return Ok(Some(Batch::Lines(&self.buffer[..self.taken])));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            scanned = self.filled;
            if self.filled > MAX_LINE_BYTES {
                self.in_long_line = true;
            } else if self.ended {
                self.taken = self.filled;
                return Ok((self.filled > 0).then_some(Batch::Lines(&self.buffer[..self.taken])));
            } else {
                self.fill();
            }
        }
    }

    fn long_line(&mut self) -> Batch<'_> {
        let end = memchr(b'\n', &self.buffer[..self.filled]);
        self.taken = end.map_or(self.filled, |at| at + 1);
        self.in_long_line = end.is_none() && !self.ended;
        Batch::LongLine { part: &self.buffer[..end.unwrap_or(self.filled)], is_last: !self.in_long_line }
    }

    fn fill(&mut self) {
        if self.filled == self.buffer.len() {
            let doubled = (2 * self.filled).min(MAX_LINE_BYTES + BLOCK_BYTES);
            self.buffer.resize(doubled, 0);
        }
        while self.filled < self.buffer.len() {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            if self.is_dialogue {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn text_of(batches: &mut Batches) -> (Vec<u8>, usize) {
        let (mut text, mut long_lines) = (Vec::new(), 0);
        while let Some(batch) = batches.next().unwrap() {
            match batch {
                Batch::Lines(lines) => text.extend_from_slice(lines),
                Batch::LongLine { part, is_last } => {
                    text.extend_from_slice(part);
                    if is_last {
                        text.push(b'\n');
                        long_lines += 1;
                    }
                }
            }
        }
        (text, long_lines)
    }

    fn batches(text: &[u8]) -> Batches {
        Batches::new(Box::new(Cursor::new(text.to_vec())), false)
    }

    #[test]
    fn every_byte_is_handed_out_once() {
        for text in [&b""[..], b"\n", b"a\n\nb", b"a\r\nb\n"] {
            assert_eq!(text_of(&mut batches(text)), (text.to_vec(), 0));
        }
        let many = "http://a.example/\n".repeat(BLOCK_BYTES / 8).into_bytes();
        assert_eq!(text_of(&mut batches(&many)), (many, 0));
    }

    #[test]
    fn long_lines_come_in_parts_of_bounded_size() {
        let mut text = b"a\n".to_vec();
        text.resize(3 * MAX_LINE_BYTES, b'x');
        text.extend_from_slice(b"\nb\n");
        let mut source = batches(&text);
        assert_eq!(text_of(&mut source), (text, 1));
        assert!(source.buffer.len() <= MAX_LINE_BYTES + BLOCK_BYTES);
        let unended = vec![b'x'; 2 * MAX_LINE_BYTES];
        assert_eq!(text_of(&mut batches(&unended)).1, 1);
    }

    #[test]
    fn a_dialogue_does_not_wait_for_more() {
        let mut source = Batches::new(Box::new(b"a\n".chain(&b"b\n"[..])), true);
        assert_eq!(source.next().unwrap(), Some(Batch::Lines(b"a\n")));
        assert_eq!(source.next().unwrap(), Some(Batch::Lines(b"b\n")));
        assert_eq!(source.next().unwrap(), None);
    }

    #[test]
    fn lines_before_a_failure_are_handed_out() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let mut source = Batches::new(Box::new(b"a\nb".chain(Fails)), false);
        assert_eq!(source.next().unwrap(), Some(Batch::Lines(b"a\n")));
        assert!(source.next().is_err());
    }
}
