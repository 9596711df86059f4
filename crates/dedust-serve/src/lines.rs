/*!
Cuts a body into whole lines, as its chunks come in.

Lines are handed out as they lie in a chunk, many at a time and without a copy; only a line that lies in two chunks is put together.
Memory is bounded by one chunk and one line: of a line that is too long only the beginning is kept.
*/

use bytes::Bytes;
use memchr::{memchr, memrchr};

/// Bytes of a line at most. Longer ones are no URLs.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 10;
/// Bytes that are kept of a longer one.
const SHOWN_BYTES: usize = 100;

/// Lines of a body, so far.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    chunk: Bytes,
    /// The beginning of a line whose end has not come yet.
    start: Vec<u8>,
    is_too_long: bool,
    is_ended: bool,
}

/// Some of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Whole lines; the last of the body may lack its end.
    Lines(Bytes),
    /// The beginning of a line that is too long.
    TooLong(Vec<u8>),
}

impl Lines {
    /// Takes the next chunk. All of the one before must have been handed out.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        self.chunk = chunk;
    }

    /// No more chunks will come.
    pub(crate) fn end(&mut self) {
        self.is_ended = true;
    }

    /// Whether all was handed out that has come.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunk.is_empty() && self.start.is_empty() && !self.is_too_long
    }

    /// Lines of about so many bytes at most. `None` if another chunk is needed, or all were handed out.
    pub(crate) fn next(&mut self, piece_bytes: usize) -> Option<Piece> {
        if self.start.is_empty() && !self.is_too_long {
            let window = &self.chunk[..self.chunk.len().min(piece_bytes)];
            let end = memrchr(b'\n', window).or_else(|| memchr(b'\n', &self.chunk));
            if let Some(end) = end.filter(|&end| end <= MAX_LINE_BYTES.max(piece_bytes)) {
                return Some(Piece::Lines(self.chunk.split_to(end + 1)));
            }
        }
        match memchr(b'\n', &self.chunk) {
            Some(end) => {
                let rest = self.chunk.split_to(end + 1);
                self.append(&rest);
                Some(self.take_line())
            }
            None => {
                let rest = std::mem::take(&mut self.chunk);
                self.append(&rest);
                let has_line = !self.start.is_empty() || self.is_too_long;
                (self.is_ended && has_line).then(|| self.take_line())
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.is_too_long {
            return;
        }
        let room = (MAX_LINE_BYTES + 1).saturating_sub(self.start.len());
        if bytes.len() <= room {
            self.start.extend_from_slice(bytes);
        } else {
            self.is_too_long = true;
            self.start.extend_from_slice(&bytes[..SHOWN_BYTES.min(bytes.len())]);
            self.start.truncate(SHOWN_BYTES);
            self.start.shrink_to_fit();
        }
    }

    fn take_line(&mut self) -> Piece {
        let mut line = std::mem::take(&mut self.start);
        // The last line may lack its end.
        let is_too_long = line.len() > MAX_LINE_BYTES && !line.ends_with(b"\n");
        if std::mem::take(&mut self.is_too_long) || is_too_long {
            line.truncate(SHOWN_BYTES);
            return Piece::TooLong(line);
        }
        Piece::Lines(line.into())
    }
}

/// The lines without their ends; a carriage return belongs to the end.
pub(crate) fn split(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[rest.len().min(end + 1)..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of a text that comes in chunks of so many bytes; those that are too long as their beginning and `...`.
    fn lines_of(text: &[u8], chunk_bytes: usize, piece_bytes: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut chunks = text.chunks(chunk_bytes);
        loop {
            while let Some(piece) = lines.next(piece_bytes) {
                match piece {
                    Piece::Lines(piece) => {
                        found.extend(split(&piece).map(|line| String::from_utf8_lossy(line).into_owned()));
                    }
                    Piece::TooLong(start) => found.push(format!("{}...", String::from_utf8_lossy(&start))),
                }
            }
            assert!(lines.start.len() <= MAX_LINE_BYTES + 1);
            match chunks.next() {
                Some(chunk) => lines.push(Bytes::copy_from_slice(chunk)),
                None if lines.is_ended => return found,
                None => lines.end(),
            }
        }
    }

    #[test]
    fn lines_do_not_depend_on_chunks() {
        let text = b"http://a.example/\r\n\nhttp://b.example/\nlast";
        for chunk_bytes in 1..=text.len() {
            for piece_bytes in [1, 7, 1000] {
                let found = lines_of(text, chunk_bytes, piece_bytes);
                assert_eq!(found, ["http://a.example/", "", "http://b.example/", "last"], "{chunk_bytes}");
            }
        }
    }

    #[test]
    fn of_a_line_that_is_too_long_the_beginning_is_kept() {
        let long = "x".repeat(MAX_LINE_BYTES + 1);
        let text = format!("a\n{long}\nb\n{}\n{long}", "y".repeat(MAX_LINE_BYTES));
        let start = format!("{}...", "x".repeat(SHOWN_BYTES));
        for chunk_bytes in [777, 8192, 1 << 20] {
            let found = lines_of(text.as_bytes(), chunk_bytes, 1 << 16);
            assert_eq!(found[..3], ["a", &start, "b"], "{chunk_bytes}");
            assert_eq!(found[3].len(), MAX_LINE_BYTES);
            assert_eq!(found[4..], [&*start], "{chunk_bytes}");
        }
    }

    #[test]
    fn an_empty_body_has_no_lines() {
        assert!(lines_of(b"", 1, 1000).is_empty());
    }
}
