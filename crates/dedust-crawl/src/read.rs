/*!
Reads the observations of all inputs and passes them on, keeping count of what could not be used.

A row or URL that cannot be used is counted and left out; an input with more of them than others is an error, as is one that
cannot be read to its end.
*/

use std::fmt::Display;
use std::ops::ControlFlow;
use std::path::Path;

use dedust::ParsedUrl;
use dedust::errors::ParseUrlError;
use dedust_io::{Input, NamedColumn, ReadError, Reader, RecordCounts, RowCounts};
use serde::{Deserialize, Serialize};

use crate::layouts::Layouts;
use crate::pages::Pages;
use crate::row::{CrawlRow, RowError};

/// Messages kept of each kind; the others are counted.
pub const SHOWN: usize = 5;

/// Told about the reading as it goes on.
pub trait Watch {
    /// An input of this name was opened; the one before it is done.
    fn open(&mut self, name: &str) {
        let _ = name;
    }

    /// A row was read, and whether to go on.
    fn row(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Says nothing, and reads all.
impl Watch for () {}

/// What was read, and what was wrong with some of it.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// Rows of all inputs.
    pub rows: RowCounts,
    /// The first things that were wrong, with file and line: rows, URLs, values of columns, bodies of pages.
    pub messages: Vec<String>,
    /// Records of archives, pages or not.
    pub records: u64,
    /// Rows that tell of a redirect.
    pub redirects: u64,
    /// How the inputs were read.
    pub layouts: Layouts,
    /// Where reading ended early, if it can go on from there: see [`read_on`].
    pub position: Option<ReadPosition>,
    /// The inputs that are objects of stores, with what changes when they do.
    pub versions: Vec<(String, String)>,
}

/// How far a crawl was read: all rows before it were handed out, and none after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadPosition {
    /// Inputs that were read to their ends.
    pub inputs: usize,
    /// Rows of the next one.
    pub rows: u64,
    /// Usable rows of the inputs that were read to their ends, and the others.
    pub good: u64,
    /// Rows of them that were left out.
    pub bad: u64,
    /// Rows of them that tell of a redirect.
    pub redirects: u64,
}

/// Why a crawl could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadCrawlError {
    /// An input cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A page was not taken whose URL is none.
    #[error(transparent)]
    Url(#[from] ParseUrlError),
    /// There is not one URL in all inputs.
    #[error("no URLs in {}", names.join(", "))]
    NoUrls {
        /// The inputs.
        names: Vec<String>,
    },
    /// [`Watch::row`] or [`RowError::Stop`] said so.
    #[error("reading was ended before all was read")]
    Ended,
}

impl From<RowError> for ReadCrawlError {
    fn from(error: RowError) -> Self {
        match error {
            RowError::Url(error) => Self::Url(error),
            RowError::Stop => Self::Ended,
        }
    }
}

/// Rows of all inputs, and what was wrong with some.
#[derive(Default)]
struct Intake {
    position: ReadPosition,
    /// Rows of the next input that were handed out before.
    rows_before: u64,
    /// Whether reading could not go on from where it is: pages wait, or an input was refused.
    is_tied: bool,
    /// Whether the pages of archives are not looked into.
    skips_pages: bool,
    pages: Pages,
    url: ParsedUrl,
    report: ReadReport,
    bad_rows: Vec<String>,
    bad_urls: Vec<String>,
    bad_columns: Vec<String>,
    bad_bodies: Vec<String>,
}

/// Opens an input, whatever its format. `host` is that of access logs, `columns` names columns that have other names.
pub fn open(path: &Path, host: Option<&str>, columns: &[NamedColumn]) -> Result<Reader, ReadError> {
    prepare(dedust_io::open(path)?, host, columns)?.observations()
}

/// Says of an opened input what its bytes do not: see [`open`].
pub fn prepare(mut input: Input, host: Option<&str>, columns: &[NamedColumn]) -> Result<Input, ReadError> {
    if let Some(host) = host {
        input = input.with_host(host);
    }
    input.with_columns(columns)
}

/// Reads all inputs, in order, and reports what was left out, also where reading fails.
///
/// `observe` is given every usable row. It says whether its URL is one ([`ParseUrlError`]), or may end the reading ([`RowError`]). Rows of
/// archives come when what repeats on their site is known: after, not among, the others.
pub fn read_all(
    inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
    watch: &mut dyn Watch,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> (ReadReport, Result<(), ReadCrawlError>) {
    read_on(ReadPosition::default(), inputs, watch, observe)
}

/// Like [`read_all`], from where an earlier reading of the same inputs ended. `inputs` are those that it did not read to their ends.
///
/// Of archives reading starts over: what repeats on the pages of a site is found out in memory.
pub fn read_on(
    from: ReadPosition,
    inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
    watch: &mut dyn Watch,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> (ReadReport, Result<(), ReadCrawlError>) {
    let mut intake = Intake { position: from, rows_before: from.rows, ..Intake::default() };
    intake.report.rows.good = from.good;
    intake.report.rows.bad = from.bad;
    intake.report.redirects = from.redirects;
    read_into(intake, inputs, watch, observe)
}

/// Like [`read_all`], in the order of the rows and without a look into the pages of archives: for those who need no more than
/// URLs and sizes.
pub fn read_rows(
    inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
    watch: &mut dyn Watch,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> (ReadReport, Result<(), ReadCrawlError>) {
    read_into(Intake { skips_pages: true, ..Intake::default() }, inputs, watch, observe)
}

fn read_into(
    mut intake: Intake,
    inputs: impl IntoIterator<Item = Result<Reader, ReadError>>,
    watch: &mut dyn Watch,
    mut observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> (ReadReport, Result<(), ReadCrawlError>) {
    let mut names = Vec::new();
    let read = inputs.into_iter().try_for_each(|input| -> Result<(), ReadCrawlError> {
        let mut reader = input?;
        watch.open(reader.name());
        let version = reader.version().map(|version| (reader.name().to_owned(), version.to_owned()));
        intake.report.versions.extend(version);
        names.push(reader.name().to_owned());
        let before = intake.report.rows;
        let read = intake.read(&mut reader, watch, &mut observe);
        let rows = RowCounts {
            good: intake.report.rows.good - before.good,
            bad: intake.report.rows.bad - before.bad,
            ..RowCounts::default()
        };
        intake.report.records += reader.records().as_ref().map_or(0, RecordCounts::total);
        intake.report.layouts.note(&reader);
        read?;
        rows.check(reader.name(), reader.format()).inspect_err(|_| intake.is_tied = true)?;
        intake.end_input();
        Ok(())
    });
    let ends_early = matches!(read, Err(ReadCrawlError::Read(_) | ReadCrawlError::Ended));
    let position = Some(intake.position).filter(|_| ends_early && !intake.is_tied && !intake.skips_pages);
    let read = read.and_then(|()| Ok(intake.pages.finish(&mut observe)?));
    let report = ReadReport { position, ..intake.finish() };
    let read = match read {
        Ok(()) if report.rows.good == 0 => Err(ReadCrawlError::NoUrls { names }),
        read => read,
    };
    (report, read)
}

impl Intake {
    fn read(
        &mut self,
        reader: &mut Reader,
        watch: &mut dyn Watch,
        observe: &mut impl FnMut(&CrawlRow) -> Result<(), RowError>,
    ) -> Result<(), ReadCrawlError> {
        let mut row = CrawlRow::default();
        while let Some(read) = reader.read(&mut row.observation)? {
            if watch.row().is_break() {
                return Err(ReadCrawlError::Ended);
            }
            // Only now: a reading that was asked to end has not used this row.
            self.position.rows += u64::from(self.rows_before == 0);
            row.row_number = self.report.rows.good + self.report.rows.bad;
            if let Err(bad) = read {
                self.report.rows.bad += 1;
                self.rows_before = self.rows_before.saturating_sub(1);
                remember(&mut self.bad_rows, || bad);
                continue;
            }
            self.report.redirects += u64::from(row.redirect().is_some());
            for bad in row.bad_columns() {
                self.report.rows.bad_columns += 1;
                remember(&mut self.bad_columns, || bad);
            }
            if let Some(bad) = row.bad_body() {
                self.report.rows.bad_bodies += 1;
                remember(&mut self.bad_bodies, || bad);
            }
            let document = reader.take_document().filter(|_| !self.skips_pages && Pages::wants(&row));
            let is_known = self.rows_before > 0;
            self.rows_before = self.rows_before.saturating_sub(1);
            self.is_tied |= document.is_some();
            let outcome = match document {
                Some(document) => self
                    .url
                    .parse_from(row.url())
                    .map_err(RowError::Url)
                    .and_then(|()| self.pages.push(std::mem::take(&mut row), document, &mut *observe)),
                None if is_known => self.url.parse_from(row.url()).map_err(RowError::Url),
                None => observe(&row),
            };
            match outcome {
                Ok(()) => {
                    self.report.rows.good += 1;
                    // Where only rows count, a URL that was met on the way is none.
                    if !self.skips_pages {
                        self.read_hops(&row, is_known, observe)?;
                    }
                }
                Err(RowError::Stop) => return Err(ReadCrawlError::Ended),
                Err(RowError::Url(error)) => {
                    self.report.rows.bad += 1;
                    remember(&mut self.bad_urls, || {
                        let (file, location) = (reader.name(), row.location());
                        let url = dedust_io::shorten(row.url());
                        format!("{file}{location}: {error}, row skipped: {url}")
                    });
                }
            }
        }
        Ok(())
    }

    /// Passes on the redirects that led to a row, each as a row of its own. A URL among them that is none is left out.
    fn read_hops(
        &mut self,
        row: &CrawlRow,
        is_known: bool,
        observe: &mut impl FnMut(&CrawlRow) -> Result<(), RowError>,
    ) -> Result<(), ReadCrawlError> {
        for hop in row.hops() {
            let mut hop = CrawlRow::new(hop);
            hop.row_number = self.report.rows.good + self.report.rows.bad;
            let outcome = match is_known {
                true => self.url.parse_from(hop.url()).map_err(RowError::Url),
                false => observe(&hop),
            };
            match outcome {
                Ok(()) => {
                    self.report.rows.good += 1;
                    self.report.redirects += 1;
                }
                Err(RowError::Stop) => return Err(ReadCrawlError::Ended),
                Err(RowError::Url(_)) => {}
            }
        }
        Ok(())
    }

    /// An input was read to its end.
    fn end_input(&mut self) {
        let RowCounts { good, bad, .. } = self.report.rows;
        let redirects = self.report.redirects;
        self.position = ReadPosition { inputs: self.position.inputs + 1, rows: 0, good, bad, redirects };
        self.rows_before = 0;
    }

    fn finish(self) -> ReadReport {
        let Self { mut report, bad_rows, bad_urls, bad_columns, bad_bodies, .. } = self;
        report.messages = [bad_rows, bad_urls, bad_columns, bad_bodies].concat();
        report
    }
}

fn remember<M: Display>(messages: &mut Vec<String>, message: impl FnOnce() -> M) {
    if messages.len() < SHOWN {
        messages.push(message().to_string());
    }
}
