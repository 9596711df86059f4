/*!
Lines of an input, in batches of whole lines.

Readers of observations skip what is none; here every line counts and keeps its bytes. Memory is bounded: a line
longer than [`MAX_LINE_BYTES`] is handed out in parts.

In a dialogue somebody may wait for the answer to a line before saying more, so that lines are handed out as they come. But text that
is no list of URLs is to be refused before anything of it is printed. So while most lines are no URLs, they are held until
the input ends or has [`DIALOGUE_LINES`] of them; or until nothing comes for [`PATIENCE`], since somebody seems to wait then.
*/

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use dedust::ParsedUrl;
use memchr::{memchr, memchr_iter, memrchr};

use crate::interrupt;
use crate::number::counted;
use crate::read_ahead::ReadAhead;

/// Longest line that is handed out whole.
pub(crate) const MAX_LINE_BYTES: usize = dedust_io::MAX_ROW_BYTES;

const BLOCK_BYTES: usize = 4 << 20;

/// Lines of a dialogue before it is refused because most are no URLs.
pub(crate) const DIALOGUE_LINES: u64 = 100;

/// How long lines of a dialogue are held of which most are no URLs.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a path stands for standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether standard input is among some inputs.
pub(crate) fn reads_stdin(inputs: &[PathBuf]) -> bool {
    inputs.iter().any(|input| is_dash(input))
}

/// The name of an input for messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_dash(path) { "standard input".into() } else { path.display().to_string() }
}

/// The name of an output for messages.
pub(crate) fn name_of_output(path: &Path) -> String {
    if is_dash(path) { "standard output".into() } else { path.display().to_string() }
}

/// Some bytes of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch<'a> {
    /// Whole lines.
    Lines {
        /// All end with a line feed, save perhaps the last of the input.
        lines: &'a [u8],
        /// Whether it is known that nothing follows.
        is_last: bool,
    },
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
    /// Whether lines are held of which most are no URLs.
    holds: Option<Held>,
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes of the buffer that were handed out.
    taken: usize,
    in_long_line: bool,
    ended: bool,
    /// A failure that is reported after the lines read before it.
    failed: Option<io::Error>,
}

/// Lines of a dialogue so far.
#[derive(Default)]
struct Held {
    url: ParsedUrl,
    lines: u64,
    urls: u64,
    bad: u64,
    /// Bytes of the buffer that were counted.
    counted: usize,
}

impl Held {
    /// Whether to wait for more lines, of which these are the first.
    fn waits(&mut self, lines: &[u8]) -> bool {
        let mut start = self.counted;
        for end in memchr_iter(b'\n', &lines[start..]).map(|at| self.counted + at) {
            if self.lines >= DIALOGUE_LINES {
                return false;
            }
            let line = &lines[start..end];
            start = end + 1;
            self.lines += 1;
            match self.url.parse_from(line) {
                Ok(()) => self.urls += 1,
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => self.bad += 1,
            }
        }
        self.counted = lines.len();
        self.bad > self.urls && self.lines < DIALOGUE_LINES
    }
}

impl Batches {
    /// Batches of what `source` gives. In a dialogue every line is handed out as soon as it is there.
    pub(crate) fn new(source: Box<dyn Read + Send>, is_dialogue: bool) -> Self {
        Self {
            source,
            is_dialogue,
            holds: None,
            buffer: vec![0; BLOCK_BYTES],
            filled: 0,
            taken: 0,
            in_long_line: false,
            ended: false,
            failed: None,
        }
    }

    /// Batches of what `source` gives, with a thread that reads while others work, if there are to be several.
    pub(crate) fn read_ahead(source: Box<dyn Read + Send>) -> io::Result<Self> {
        Ok(match rayon::current_num_threads() {
            1 => Self::new(source, false),
            _ => Self::new(Box::new(ReadAhead::start(source)?), false),
        })
    }

    /// Batches of a dialogue, whose lines are held while most are no URLs. A person at a terminal is answered at once.
    pub(crate) fn dialogue(source: Box<dyn Read + Send>, is_terminal: bool) -> io::Result<Self> {
        let source = ReadAhead::start(source)?;
        if is_terminal {
            return Ok(Self::new(Box::new(source), true));
        }
        let batches = Self::new(Box::new(source.with_patience(PATIENCE)), true);
        Ok(Self { holds: Some(Held::default()), ..batches })
    }

    /// The next batch, unless the command is to end; `None` at the end. An error names the input, and says what became of so many
    /// lines before.
    pub(crate) fn next_of(
        &mut self,
        name: &str,
        lines: u64,
        fate: &str,
    ) -> anyhow::Result<Option<Batch<'_>>> {
        interrupt::check()?;
        match self.next() {
            Ok(batch) => Ok(batch),
            Err(error) => {
                interrupt::check()?;
                let lines = counted(lines, "line", "lines");
                let problem = format!("cannot read {name} to its end; the first {lines} of it were {fate}");
                Err(error).context(problem)
            }
        }
    }

    /// The next batch; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Batch<'_>>> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        if let Some(held) = &mut self.holds {
            held.counted = held.counted.saturating_sub(self.taken);
        }
        self.taken = 0;
        let mut scanned = 0;
        loop {
            if self.in_long_line && (self.filled > 0 || self.ended) {
                return Ok(Some(self.long_line()));
            }
            if let Some(at) = memrchr(b'\n', &self.buffer[scanned..self.filled]) {
                self.taken = scanned + at + 1;
            }
            // Nothing is held for the sake of a line that is too long to be one of a dialogue.
            let is_final = self.ended || self.failed.is_some() || self.filled > MAX_LINE_BYTES;
            if self.taken > 0 && (is_final || !self.waits()) {
                if self.ended && self.filled - self.taken <= MAX_LINE_BYTES {
                    self.taken = self.filled;
                }
                let is_last = self.ended && self.taken == self.filled;
                return Ok(Some(Batch::Lines { lines: &self.buffer[..self.taken], is_last }));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            scanned = self.filled;
            if self.filled > MAX_LINE_BYTES {
                self.in_long_line = true;
            } else if self.ended {
                self.taken = self.filled;
                let lines = &self.buffer[..self.taken];
                return Ok((self.filled > 0).then_some(Batch::Lines { lines, is_last: true }));
            } else {
                self.fill();
            }
        }
    }

    /// Whether the lines that could be handed out are held.
    fn waits(&mut self) -> bool {
        self.holds.as_mut().is_some_and(|held| held.waits(&self.buffer[..self.taken]))
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
                Err(error) if error.kind() == io::ErrorKind::TimedOut && self.is_dialogue => {
                    // Before the first line nobody can wait for an answer.
                    if self.taken > 0 {
                        self.holds = None;
                    }
                    break;
                }
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
                Batch::Lines { lines, .. } => text.extend_from_slice(lines),
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
        assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines: b"a\n", is_last: false }));
        assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines: b"b\n", is_last: false }));
        assert_eq!(source.next().unwrap(), None);
    }

    /// Some bytes, one read at a time; `None` is somebody who waits.
    struct Parts(Vec<Option<&'static [u8]>>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match (!self.0.is_empty()).then(|| self.0.remove(0)) {
                Some(Some(part)) => (&mut &*part).read(buffer),
                Some(None) => Err(io::ErrorKind::TimedOut.into()),
                None => Ok(0),
            }
        }
    }

    fn held(parts: &[Option<&'static [u8]>]) -> Batches {
        let batches = Batches::new(Box::new(Parts(parts.to_vec())), true);
        Batches { holds: Some(Held::default()), ..batches }
    }

    #[test]
    fn lines_are_held_while_most_are_no_urls() {
        let mut source = held(&[None, Some(b"a\nb"), Some(b"\n"), Some(b"c")]);
        assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines: b"a\nb\nc", is_last: true }));
        assert_eq!(source.next().unwrap(), None);
        let mut source = held(&[Some(b"http://a/\n"), Some(b"a\n"), Some(b"b\n"), Some(b"http://b/\n")]);
        for lines in [&b"http://a/\n"[..], b"a\n", b"b\nhttp://b/\n"] {
            assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines, is_last: false }));
        }
        assert_eq!(source.next().unwrap(), None);
    }

    #[test]
    fn lines_are_not_held_from_somebody_who_waits() {
        let mut source = held(&[Some(b"a\n"), None, Some(b"b\n"), Some(b"c\n")]);
        for lines in [b"a\n", b"b\n", b"c\n"] {
            assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines, is_last: false }));
        }
        let mut source = held(&[Some(b"a\n".as_slice()); 150]);
        assert!(
            matches!(source.next().unwrap(), Some(Batch::Lines { lines, .. }) if lines == b"a\n".repeat(100))
        );
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
        assert_eq!(source.next().unwrap(), Some(Batch::Lines { lines: b"a\n", is_last: false }));
        assert!(source.next().is_err());
    }
}
