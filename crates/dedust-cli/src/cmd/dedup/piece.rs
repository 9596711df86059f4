/*!
Makes the keys of some lines, and prints those that are new.
*/

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use dedust::{Normalizer, Scratch};
use dedust_budget::{BudgetBook, Decision, LookupScratch};
use dedust_io::Observation;
use dedust_seen::{KeyHasher, SeenKey};
use serde::Serialize;

use super::args::Schemes;
use super::rows::RowBatch;
use crate::bad_lines::BadLines;

/// Buffers for some lines.
#[derive(Debug, Default)]
pub(super) struct Piece {
    scratch: Scratch,
    lookup: LookupScratch,
    /// Where what is printed of each URL starts and ends.
    ranges: Vec<(u32, u32)>,
    /// Where the URLs are, if they are not what is printed.
    urls: Vec<(u32, u32)>,
    /// Their keys.
    pub(super) keys: Vec<SeenKey>,
    /// Their keys by the rules on trial, if there are any.
    pub(super) shadow_keys: Vec<SeenKey>,
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
    pub(super) bad: BadLines,
    /// URLs that were left out because of their scheme.
    pub(super) other_schemes: u64,
    /// The first of them, shortened.
    pub(super) first_other: String,
    /// URLs that are not worth fetching, by the index of their pattern.
    pub(super) deferred: Vec<u64>,
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

/// Makes keys.
#[derive(Clone, Copy)]
pub(super) struct KeyMaker<'a> {
    pub(super) normalizer: &'a Normalizer,
    pub(super) hasher: &'a KeyHasher,
    pub(super) schemes: &'a Schemes,
    /// The rules on trial.
    pub(super) shadow: Option<&'a Normalizer>,
    /// What is worth fetching.
    pub(super) budgets: Option<&'a BudgetBook>,
}

/// Whether a row is of a page, as far as is known: not of a redirect or an error.
pub(super) fn shows_page(row: &Observation) -> bool {
    row.status().is_none_or(|status| matches!(status, 0 | 200..300 | 304))
}

/// The key to remember. What shows no page has a key that no URL has, so that it does not hide the page.
#[inline(always)]
pub(super) fn seen_key(hasher: &KeyHasher, key: &[u8], shows_page: bool) -> SeenKey {
    if shows_page { hasher.hash(key) } else { hasher.hash(&[key, b"\n"].concat()) }
}

impl Piece {
    /// Makes the keys of whole lines.
    pub(super) fn read(&mut self, maker: KeyMaker<'_>, lines: &[u8]) {
        self.clear();
        let mut start = 0;
        while start < lines.len() {
            let end = memchr::memchr(b'\n', &lines[start..]).map_or(lines.len(), |at| start + at);
            self.add(maker, url_in(&lines[start..end]), (start as u32, end as u32), true);
            start = end + 1;
        }
    }

    /// Makes the keys of some rows.
    pub(super) fn read_rows(&mut self, maker: KeyMaker<'_>, batch: &RowBatch, rows: Range<usize>) {
        self.clear();
        for row in &batch.rows[rows] {
            let shown = (row.shown.start as u32, row.shown.end as u32);
            if self.add(maker, &batch.text[row.url.clone()], shown, row.shows_page) {
                self.urls.push((row.url.start as u32, row.url.end as u32));
            }
        }
    }

    fn clear(&mut self) {
        self.ranges.clear();
        self.urls.clear();
        self.keys.clear();
        self.shadow_keys.clear();
    }

    /// Makes the key of a URL. `false`: there is none.
    #[inline(always)]
    fn add(&mut self, maker: KeyMaker<'_>, url: &[u8], range: (u32, u32), shows_page: bool) -> bool {
        let Self { scratch, lookup, ranges, keys, shadow_keys, tally, .. } = self;
        tally.lines += 1;
        match maker.normalizer.key_with(url, scratch) {
            Ok(key) if maker.schemes.contain(key) => {
                tally.urls += 1;
                if let Some(budgets) = maker.budgets
                    && let Decision::Defer { pattern } = budgets.decide(key, lookup)
                {
                    tally.defer(pattern as usize);
                    return false;
                }
                let key = seen_key(maker.hasher, key, shows_page);
                keys.push(key);
                ranges.push(range);
                if let Some(shadow) = maker.shadow {
                    // What is a URL to one normalizer is one to all.
                    let shadow_key =
                        shadow.key_with(url, scratch).map(|key| seen_key(maker.hasher, key, shows_page));
                    shadow_keys.push(shadow_key.unwrap_or(key));
                }
                return true;
            }
            Ok(_) => tally.other_scheme(url),
            Err(_) if url.trim_ascii().is_empty() => {}
            Err(error) => tally.bad.push(tally.lines, || (error.to_string(), dedust_io::shorten(url))),
        }
        false
    }

    /// A URL, by its index among the keys.
    pub(super) fn url<'t>(&self, index: usize, text: &'t [u8]) -> &'t [u8] {
        url_at(&self.ranges, &self.urls, index, text)
    }

    /// Prints the lines or rows that are new. `text` is what was read.
    pub(super) fn print(
        &mut self,
        normalizer: &Normalizer,
        as_json: bool,
        text: &[u8],
        is_new: &[bool],
        out: &mut impl Write,
    ) -> io::Result<()> {
        for (index, (&(start, end), &is_new)) in self.ranges.iter().zip(is_new).enumerate() {
            if !is_new {
                continue;
            }
            self.tally.new += 1;
            let shown = &text[start as usize..end as usize];
            if as_json {
                let url = url_at(&self.ranges, &self.urls, index, text);
                let key = normalizer.key_with(url, &mut self.scratch).unwrap_or_default();
                let record =
                    Record { input: String::from_utf8_lossy(url), key: String::from_utf8_lossy(key) };
                serde_json::to_writer(&mut *out, &record)?;
            } else {
                out.write_all(shown)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// The URL among some, which is what is printed unless it has a range of its own.
fn url_at<'t>(printed: &[(u32, u32)], urls: &[(u32, u32)], index: usize, text: &'t [u8]) -> &'t [u8] {
    let slice = |&(start, end): &(u32, u32)| &text[start as usize..end as usize];
    match (urls.get(index), printed.get(index)) {
        (Some(range), _) => slice(range),
        (None, Some(range)) => url_in(slice(range)),
        (None, None) => &[],
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
        self.bad.push_long(self.lines, start);
    }

    /// Counts a URL that is not worth fetching.
    fn defer(&mut self, pattern: usize) {
        if self.deferred.len() <= pattern {
            self.deferred.resize(pattern + 1, 0);
        }
        self.deferred[pattern] += 1;
    }

    /// Counts a URL that is left out.
    fn other_scheme(&mut self, url: &[u8]) {
        self.other_schemes += 1;
        if self.first_other.is_empty() {
            self.first_other = dedust_io::shorten(url);
        }
    }

    /// Adds the lines of the next piece, which is left empty.
    pub(super) fn add(&mut self, next: &mut Self) {
        let next = std::mem::take(next);
        self.bad.add(self.lines, next.bad);
        self.lines += next.lines;
        self.urls += next.urls;
        self.new += next.new;
        self.other_schemes += next.other_schemes;
        if self.deferred.len() < next.deferred.len() {
            self.deferred.resize(next.deferred.len(), 0);
        }
        self.deferred.iter_mut().zip(&next.deferred).for_each(|(count, next)| *count += next);
        if self.first_other.is_empty() {
            self.first_other = next.first_other;
        }
    }
}
