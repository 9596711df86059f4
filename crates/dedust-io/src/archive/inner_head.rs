/*!
Heads of records inside the block of another record.

A length that is too long makes a block swallow the records behind it; but a block of the right length may hold such
heads too, as that of a page about archives does. Which of the two it is shows at the end of the block, where the next
record has to start. So everything from the first head on is held until then, for [`super::stream::Stream::rewind`].

The naive way would be to hold every block. Blocks without a head inside are not held, and are searched at the speed of
`memmem`.
*/

use std::io::{self, Read, Seek as _, Write as _};

use memchr::{memchr, memmem};
use tempfile::SpooledTempFile;

/// Longest first line of a record that is recognised.
pub(super) const MAX_HEAD_LINE_BYTES: usize = 64 << 10;

/// Bytes held in memory; more are held in a temporary file.
const MAX_BYTES_IN_MEMORY: usize = 1 << 20;

/// Bytes held at all: the customary size of an archive. A block that goes on for so long behind a head is not believed.
const MAX_HELD_BYTES: u64 = 1 << 30;

/// What the first line of a record looks like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadLine {
    /// A line break and what the line starts with.
    pub(super) start: &'static [u8],
    /// Whether a whole line is the first of a record.
    pub(super) is_head: fn(&[u8]) -> bool,
}

/// Searches blocks, one after the other and each piece by piece.
pub(super) struct InnerHead {
    head_line: HeadLine,
    /// Finds the start of the line.
    finder: memmem::Finder<'static>,
    /// Bytes before those that are held, or before the current line.
    position: u64,
    state: State,
    max_held_bytes: u64,
}

enum State {
    /// Not at a line that could be a head.
    Elsewhere,
    /// In a line of which this much was seen.
    InLine(Vec<u8>),
    Holding(Held),
    /// Nothing can be held, so the length has to be believed.
    GivenUp,
}

/// The bytes of a block from the first head on.
pub(super) struct Held {
    file: SpooledTempFile,
    /// Bytes held.
    len: u64,
    /// Bytes of the block before the head.
    pub(super) position: u64,
    /// The first line, where the block ends within it so that it may be no head.
    pub(super) unfinished_line: Option<Vec<u8>>,
}

impl InnerHead {
    /// To search for lines like this.
    pub(super) fn new(head_line: HeadLine) -> Self {
        let finder = memmem::Finder::new(head_line.start);
        Self { head_line, finder, position: 0, state: State::Elsewhere, max_held_bytes: 0 }
    }

    /// Starts with another block. If lengths are not believed, the block ends at the first head.
    pub(super) fn start_block(&mut self, believes_lengths: bool) {
        self.position = 0;
        self.state = State::InLine(Vec::new());
        self.max_held_bytes = if believes_lengths { MAX_HELD_BYTES } else { 0 };
    }

    /// Whether the block is not believed to go on.
    pub(super) fn ends_block(&self) -> bool {
        matches!(&self.state, State::Holding(held) if held.len > self.max_held_bytes)
    }

    /// What is held at the end of the block, if there was a head or the beginning of one.
    pub(super) fn take_held(&mut self) -> Option<Held> {
        match std::mem::replace(&mut self.state, State::Elsewhere) {
            State::Holding(held) => Some(held),
            State::InLine(line) if !line.is_empty() => {
                let held = Held::new(&line, self.position).ok()?;
                Some(Held { unfinished_line: Some(line), ..held })
            }
            _ => None,
        }
    }

    /// Takes the next bytes of the block.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match &mut self.state {
                State::Elsewhere => self.search(bytes),
                State::InLine(_) => self.read_line(bytes),
                State::Holding(held) => {
                    if held.push(bytes).is_err() {
                        self.state = State::GivenUp;
                    }
                    &[]
                }
                State::GivenUp => &[],
            };
        }
    }

    /// Moves on to a line that could be a head. Gives the bytes that are left.
    fn search<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let start = self.head_line.start;
        let line_at = self.finder.find(bytes).or_else(|| {
            // The line may begin in these bytes and go on in the next.
            let tail = bytes.len().saturating_sub(start.len() - 1);
            (tail..bytes.len()).find(|&at| start.starts_with(&bytes[at..]))
        });
        let Some(line_break) = line_at else {
            self.position += bytes.len() as u64;
            return &[];
        };
        self.position += line_break as u64 + 1;
        self.state = State::InLine(Vec::new());
        &bytes[line_break + 1..]
    }

    /// Reads on in a line that could be a head. Gives the bytes that are left.
    fn read_line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let State::InLine(line) = &mut self.state else { return bytes };
        let start = &self.head_line.start[1..];
        let is_other = |line: &[u8]| !line.starts_with(start) && !start.starts_with(line);
        if line.is_empty() && is_other(&bytes[..bytes.len().min(start.len())]) {
            self.state = State::Elsewhere;
            return bytes;
        }
        let len = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        line.extend_from_slice(&bytes[..len]);
        let is_whole = line.ends_with(b"\n");
        if is_whole && (self.head_line.is_head)(line) {
            let held = Held::new(line, self.position);
            self.state = held.map_or(State::GivenUp, State::Holding);
        } else if is_whole {
            self.position += line.len() as u64;
            line.clear();
        } else if is_other(line) || line.len() > MAX_HEAD_LINE_BYTES {
            self.position += line.len() as u64;
            self.state = State::Elsewhere;
        }
        &bytes[len..]
    }
}

impl Held {
    /// Starts with these bytes.
    pub(super) fn new(line: &[u8], position: u64) -> io::Result<Self> {
        let file = tempfile::spooled_tempfile(MAX_BYTES_IN_MEMORY);
        let mut held = Self { file, len: 0, position, unfinished_line: None };
        held.push(line)?;
        Ok(held)
    }

    /// Holds what follows.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Bytes held.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes from the head on.
    pub(super) fn into_read(mut self) -> io::Result<Box<dyn Read + Send>> {
        self.file.rewind()?;
        Ok(Box::new(self.file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: HeadLine = HeadLine { start: b"\nWARC/", is_head: |line| line.starts_with(b"WARC/1.0\r\n") };

    /// Where a head is found in a block that comes in pieces of this length, and what is held.
    fn held(block: &str, piece: usize) -> Option<(u64, String)> {
        let mut inner = InnerHead::new(HEAD);
        inner.start_block(true);
        block.as_bytes().chunks(piece).for_each(|bytes| inner.push(bytes));
        let held = inner.take_held().filter(|held| held.unfinished_line.is_none())?;
        let (position, len) = (held.position, held.len());
        let mut text = String::new();
        held.into_read().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(len, text.len() as u64);
        Some((position, text))
    }

    #[test]
    fn heads_are_found_whatever_pieces_they_come_in() {
        let head = "WARC/1.0\r\nWARC-Type: x\r\n\nWARC/1.0\r\n";
        for before in
            ["", "\n", "\r\n\r\n", "text\n\nWARC/0.9\nWARC/\nWAR\n\nmore WARC/1.0\r\n\r\n", "WARC/\n\n\n"]
        {
            let block = format!("{before}{head}");
            for piece in 1..block.len() {
                assert_eq!(
                    held(&block, piece),
                    Some((before.len() as u64, head.to_owned())),
                    "{before:?} {piece}"
                );
            }
        }
    }

    #[test]
    fn other_lines_are_not_held() {
        let long = format!("\nWARC/{}WARC/1.0\r\n", "x".repeat(2 * MAX_HEAD_LINE_BYTES));
        for block in ["", "\n", "WARC/1.0", "a WARC/1.0\r\n", "\nWARC/2.0\r\n", "\nwarc/1.0\r\n", &long] {
            for piece in [1, 3, 1 << 10, 1 << 20] {
                assert_eq!(held(block, piece), None, "{block:.20} {piece}");
            }
        }
    }
}
