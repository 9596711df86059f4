/*!
Makes the keys of some lines, and prints those that are new.
*/

use std::borrow::Cow;
use std::io::{self, Write};

use dedust::{Normalizer, Scratch};
use dedust_seen::{KeyHasher, SeenKey};
use serde::Serialize;

use crate::args::ReportFormat;
use crate::line_source::MAX_LINE_BYTES;
use crate::observe::SHOWN;

/// Buffers for some lines.
#[derive(Debug, Default)]
pub(super) struct Piece {
    scratch: Scratch,
    /// Where the lines that are URLs start and end.
    places: Vec<(u32, u32)>,
    /// Their keys.
    pub(super) keys: Vec<SeenKey>,
    /// Lines of this piece.
    pub(super) tally: Tally,
}

/// Lines seen so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// All lines, blank ones too.
    pub(super) lines: u64,
    /// Lines that are URLs.
    pub(super) urls: u64,
    /// URLs that were printed.
    pub(super) new: u64,
    /// Lines that are neither URLs nor blank.
    pub(super) bad: u64,
    /// The first of the bad lines.
    pub(super) first_bad: Vec<BadLine>,
}

/// A line that is no URL.
#[derive(Debug)]
pub(super) struct BadLine {
    /// Counted from 1.
    pub(super) line: u64,
    /// What is wrong.
    pub(super) problem: String,
    /// The line, shortened.
    pub(super) value: String,
}

/// One line of `--format json`. Bytes that are not UTF-8 are written as U+FFFD.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "url")]
struct Record<'a> {
    /// The line.
    input: Cow<'a, str>,
    /// Its key.
    key: Cow<'a, str>,
}

impl Piece {
    /// Makes the keys of whole lines.
    pub(super) fn read(&mut self, normalizer: &Normalizer, hasher: &KeyHasher, lines: &[u8]) {
        let Self { scratch, places, keys, tally } = self;
        places.clear();
        keys.clear();
        let mut start = 0;
        while start < lines.len() {
            let end = memchr::memchr(b'\n', &lines[start..]).map_or(lines.len(), |at| start + at);
            let line = url_in(&lines[start..end]);
            tally.lines += 1;
            match normalizer.key_with(line, scratch) {
                Ok(key) => {
                    tally.urls += 1;
                    keys.push(hasher.hash(key));
                    places.push((start as u32, end as u32));
                }
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(error) => tally.bad_line(|| (error.to_string(), dedust_io::shorten(line))),
            }
            start = end + 1;
        }
    }

    /// Prints the lines that are new. `lines` are those that were read.
    pub(super) fn print(
        &mut self,
        normalizer: &Normalizer,
        format: ReportFormat,
        lines: &[u8],
        is_new: &[bool],
        out: &mut impl Write,
    ) -> io::Result<()> {
        for (&(start, end), &is_new) in self.places.iter().zip(is_new) {
            if !is_new {
                continue;
            }
            self.tally.new += 1;
            let line = &lines[start as usize..end as usize];
            match format {
                ReportFormat::Text => out.write_all(line)?,
                ReportFormat::Json => {
                    let line = url_in(line);
                    let key = normalizer.key_with(line, &mut self.scratch).unwrap_or_default();
                    let record =
                        Record { input: String::from_utf8_lossy(line), key: String::from_utf8_lossy(key) };
                    serde_json::to_writer(&mut *out, &record)?;
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// A line without the carriage return that belongs to its end.
fn url_in(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl Tally {
    /// Counts a line that was handed out in parts, of which `start` is the beginning.
    pub(super) fn long_line(&mut self, start: String) {
        self.lines += 1;
        self.bad_line(|| (format!("longer than {} MiB", MAX_LINE_BYTES >> 20), start));
    }

    /// Counts a line that is no URL; `problem_and_value` tell of it.
    fn bad_line(&mut self, problem_and_value: impl FnOnce() -> (String, String)) {
        self.bad += 1;
        if self.first_bad.len() < SHOWN {
            let (problem, value) = problem_and_value();
            self.first_bad.push(BadLine { line: self.lines, problem, value });
        }
    }

    /// Adds the lines of the next piece, which is left empty.
    pub(super) fn add(&mut self, next: &mut Self) {
        let next = std::mem::take(next);
        let room = SHOWN.saturating_sub(self.first_bad.len());
        let before = self.lines;
        let bad = next.first_bad.into_iter().take(room);
        self.first_bad.extend(bad.map(|bad| BadLine { line: before + bad.line, ..bad }));
        self.lines += next.lines;
        self.urls += next.urls;
        self.new += next.new;
        self.bad += next.bad;
    }
}
