/*!
Rewrites some lines into a buffer, and counts.
*/

use std::borrow::Cow;
use std::io;

use dedust::errors::ParseUrlError;
use dedust::{Explanation, Normalizer, Scratch};
use dedust_io::Location;
use serde::Serialize;

use super::args::UrlFormat;
use crate::bad_lines::{BadLines, too_long};

/// What is made of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// Only counts.
    Nothing,
    /// One line per line.
    Lines {
        /// What it holds.
        format: UrlFormat,
        /// Keys instead of canonical URLs.
        key: bool,
    },
}

/// Lines seen so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// All lines, blank ones too.
    pub(super) lines: u64,
    /// Lines that are URLs.
    pub(super) urls: u64,
    /// Lines that are neither URLs nor blank.
    pub(super) bad: BadLines,
    /// URLs that differ from what was made of them.
    pub(super) changed: u64,
    /// The first URL that changed, with its line.
    pub(super) first_changed: Option<(u64, String)>,
    /// Where it is, if that is no line.
    pub(super) first_changed_at: Option<Location>,
}

/// Buffers to rewrite lines in.
#[derive(Debug, Default)]
pub(super) struct Worker {
    scratch: Scratch,
    /// What was made of the lines.
    pub(super) out: Vec<u8>,
    /// Lines of this piece.
    pub(super) tally: Tally,
}

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A line that is not blank. Bytes that are not UTF-8 are written as U+FFFD.
    Url {
        /// The line.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Cow<'a, str>>,
        /// What was made of it, without `--key`.
        #[serde(skip_serializing_if = "Option::is_none")]
        canonical: Option<Cow<'a, str>>,
        /// What was made of it, with `--key`.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<Cow<'a, str>>,
        /// The site whose rules changed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        site: Option<&'a str>,
        /// The places of the site's rules that changed the URL or its key, from 0.
        #[serde(skip_serializing_if = "<[usize]>::is_empty")]
        rules: &'a [usize],
        /// Why the line is no URL.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Where a line is that is too long to be shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
    },
    /// A blank line.
    Blank,
}

impl Worker {
    /// Rewrites whole lines into `out`, which is emptied first.
    pub(super) fn rewrite(&mut self, normalizer: &Normalizer, output: Output, lines: &[u8]) {
        self.out.clear();
        self.out.reserve(lines.len());
        match output {
            Output::Lines { format: UrlFormat::Json, key } => {
                for line in split(lines) {
                    self.tally.lines += 1;
                    if line.trim_ascii().is_empty() {
                        push_json(&Record::Blank, &mut self.out);
                    } else {
                        self.rewrite_to_json(normalizer, key, line);
                    }
                    self.out.extend_from_slice(end_of(line, lines));
                }
            }
            Output::Lines { format, key } => {
                let Self { scratch, out, tally } = self;
                let each = |line: &[u8], result: Result<&[u8], ParseUrlError>| {
                    tally.count(line, &result);
                    if format == UrlFormat::Tsv && !(result.is_err() && is_blank(line)) {
                        out.extend_from_slice(line);
                        out.push(b'\t');
                    }
                    out.extend_from_slice(result.unwrap_or(line));
                    out.extend_from_slice(end_of(line, lines));
                };
                if key {
                    normalizer.each_key(split(lines), scratch, each);
                } else {
                    normalizer.each_canonical(split(lines), scratch, each);
                }
            }
            Output::Nothing => {
                let Self { scratch, tally, .. } = self;
                normalizer.each_canonical(split(lines), scratch, |line, result| tally.count(line, &result));
            }
        }
    }

    fn rewrite_to_json(&mut self, normalizer: &Normalizer, key: bool, line: &[u8]) {
        let explained = normalizer.explain(line);
        let result = match &explained {
            Ok(explained) if key => Ok(explained.key.as_bytes()),
            Ok(explained) => Ok(explained.canonical.as_bytes()),
            Err(error) => Err(*error),
        };
        self.tally.add_url(line, &result);
        let written = String::from_utf8_lossy(result.unwrap_or(line));
        let (site, rules) = match &explained {
            Ok(Explanation { site, rules, .. }) => (site.as_deref(), &**rules),
            Err(_) => (None, &[][..]),
        };
        let (canonical, key) = if key { (None, Some(written)) } else { (Some(written), None) };
        let record = Record::Url {
            input: Some(String::from_utf8_lossy(line)),
            canonical,
            key,
            site: site.filter(|_| !rules.is_empty()),
            rules,
            error: result.err().map(|error| error.to_string()),
            line: None,
        };
        push_json(&record, &mut self.out);
    }
}

/// The lines without their ends; a carriage return belongs to the end.
fn split(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[rest.len().min(end + 1)..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// What stands after a line of `lines`; a last one that has no end gets one.
fn end_of(line: &[u8], lines: &[u8]) -> &'static [u8] {
    let end = line.as_ptr() as usize + line.len() - lines.as_ptr() as usize;
    if lines.get(end) == Some(&b'\r') { b"\r\n" } else { b"\n" }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn push_json(record: &Record<'_>, out: &mut Vec<u8>) {
    serde_json::to_writer(out, record).expect("text and numbers can be written to memory");
}

/// A record for a line that is too long to be repeated.
pub(super) fn long_line(line: u64) -> io::Result<Vec<u8>> {
    let record = Record::Url {
        input: None,
        canonical: None,
        key: None,
        site: None,
        rules: &[],
        error: Some(too_long()),
        line: Some(line),
    };
    let mut text = serde_json::to_vec(&record)?;
    text.push(b'\n');
    Ok(text)
}

impl Tally {
    /// Counts a line, which may be blank.
    fn count(&mut self, line: &[u8], result: &Result<&[u8], ParseUrlError>) {
        self.lines += 1;
        if result.is_ok() || !is_blank(line) {
            self.add_url(line, result);
        }
    }

    fn add_url(&mut self, line: &[u8], result: &Result<&[u8], ParseUrlError>) {
        match result {
            Ok(written) => {
                self.urls += 1;
                if *written != line {
                    self.changed += 1;
                    if self.first_changed.is_none() {
                        self.first_changed = Some((self.lines, dedust_io::shorten(line)));
                    }
                }
            }
            Err(error) => self.bad.push(self.lines, || (error.to_string(), dedust_io::shorten(line))),
        }
    }

    /// Counts a line that was handed out in parts, of which `start` is the beginning.
    pub(super) fn long_line(&mut self, start: String) {
        self.lines += 1;
        self.bad.push_long(self.lines, start);
    }

    /// Says where rows are that were counted as lines: those after the first `before`.
    pub(super) fn locate(&mut self, before: u64, locations: &[Location]) {
        self.bad.locate(before, |index| locations.get(index).copied());
        if self.first_changed_at.is_none() {
            let line = self.first_changed.as_ref().map(|(line, _)| *line);
            let index = line.and_then(|line| usize::try_from(line.checked_sub(before + 1)?).ok());
            self.first_changed_at = index.and_then(|index| locations.get(index).copied());
        }
    }

    /// Whether most lines so far are no URLs.
    pub(super) fn is_mostly_bad(&self) -> bool {
        self.bad.count() > self.urls
    }

    /// Adds the lines of the next piece, which is left empty.
    pub(super) fn add(&mut self, next: &mut Self) {
        let next = std::mem::take(next);
        let before = self.lines;
        self.bad.add(before, next.bad);
        if self.first_changed.is_none() {
            self.first_changed = next.first_changed.map(|(line, url)| (before + line, url));
        }
        self.lines += next.lines;
        self.urls += next.urls;
        self.changed += next.changed;
    }
}
