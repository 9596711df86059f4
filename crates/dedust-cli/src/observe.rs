/*!
Reads the observations of all inputs and passes them on, keeping count of what could not be used.

A row or URL that cannot be used is shown, counted and left out; an input with more of them than others is an error,
as is one that cannot be read to its end.
*/

use std::fmt::Display;
use std::path::{Path, PathBuf};

use dedust::ParsedUrl;
use dedust::errors::ParseUrlError;
use dedust_io::{Format, Input, Preset, ReadError, Reader, RecordCounts, RowCounts};
use dedust_learn::Clues;

use crate::args::ReadArgs;
use crate::failure::Refusal;
use crate::interrupt;
use crate::layouts::Layouts;
use crate::number::{count, counted};
use crate::pages::{Pages, Seen};
use crate::printer::Printer;
use crate::progress::Reading;

/// Why a row is not used.
pub(crate) enum RowError {
    /// Its URL is none: it is counted, and reading goes on.
    Url(ParseUrlError),
    /// Nothing more can be taken: reading ends.
    Stop(anyhow::Error),
}

impl From<RowError> for anyhow::Error {
    fn from(error: RowError) -> Self {
        match error {
            RowError::Url(error) => error.into(),
            RowError::Stop(error) => error,
        }
    }
}

impl From<ParseUrlError> for RowError {
    fn from(error: ParseUrlError) -> Self {
        Self::Url(error)
    }
}

/// Messages shown of each kind; the others are counted.
pub(crate) const SHOWN: usize = 5;

/// Rows of all inputs, and what was wrong with some.
#[derive(Default)]
struct Intake {
    /// Whether the pages of archives are not looked into.
    skips_pages: bool,
    pages: Pages,
    url: ParsedUrl,
    rows: RowCounts,
    bad_rows: Vec<String>,
    bad_urls: Vec<String>,
    bad_columns: Vec<String>,
    bad_bodies: Vec<String>,
    /// Records of archives, pages or not.
    records: u64,
    layouts: Layouts,
    /// Rows that tell of a redirect.
    redirects: u64,
}

/// Opens an input, whatever its format. The one way in for all commands.
pub(crate) fn open(path: &Path, args: &ReadArgs) -> Result<Input, ReadError> {
    let mut input = match path.as_os_str() == "-" {
        true => Input::from_dialogue("standard input", interrupt::Stdin)?,
        false => dedust_io::open(path)?,
    };
    if let Some(host) = &args.host {
        input = input.with_host(host);
    }
    input.with_columns(&args.column)
}

/// Reads all inputs, in order, and reports what was left out. Inputs may be files, folders, patterns and lists.
///
/// `observe` is given every usable row, and says whether its URL is one. Rows of archives come when what repeats on their site
/// is known: after, not among, the others.
pub(crate) fn read_all(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    mut observe: impl FnMut(&Seen) -> Result<(), ParseUrlError>,
) -> anyhow::Result<()> {
    let observe = |seen: &Seen| observe(seen).map_err(RowError::Url);
    read_into(Intake::default(), inputs, args, printer, observe)
}

/// Like [`read_all`], in the order of the rows and without a look into the pages of archives: for commands that need no more
/// than URLs and sizes. `observe` may end the reading.
pub(crate) fn read_rows(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&Seen) -> Result<(), RowError>,
) -> anyhow::Result<()> {
    read_into(Intake { skips_pages: true, ..Intake::default() }, inputs, args, printer, observe)
}

fn read_into(
    mut intake: Intake,
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    mut observe: impl FnMut(&Seen) -> Result<(), RowError>,
) -> anyhow::Result<()> {
    let inputs = dedust_io::expand(inputs)?;
    let mut reading = Reading::new(printer, &inputs);
    let read = inputs.iter().try_for_each(|input| -> anyhow::Result<()> {
        let input = open(input, args)?;
        reading.open(input.name());
        let mut reader = input.observations()?;
        let before = intake.rows;
        let read = intake.read(&mut reader, &mut reading, &mut observe);
        let rows = RowCounts {
            good: intake.rows.good - before.good,
            bad: intake.rows.bad - before.bad,
            ..RowCounts::default()
        };
        intake.records += reader.records().as_ref().map_or(0, RecordCounts::total);
        intake.layouts.note(&reader);
        read?;
        Ok(rows.check(reader.name(), reader.format())?)
    });
    let read = read.and_then(|()| Ok(intake.pages.finish(&mut observe)?));
    drop(reading);
    intake.report(printer);
    read?;
    if intake.rows.good == 0 {
        let names: Vec<String> = inputs.iter().map(|path| crate::line_source::name_of(path)).collect();
        return Err(Refusal::new(
            format!("no URLs in {}", names.join(", ")),
            format!("expected {}, or {}", Format::JsonLines.expected(), Format::UrlList.expected()),
        )
        .into());
    }
    Ok(())
}

impl Intake {
    fn read(
        &mut self,
        reader: &mut Reader,
        reading: &mut Reading,
        observe: &mut impl FnMut(&Seen) -> Result<(), RowError>,
    ) -> anyhow::Result<()> {
        let mut seen = Seen::default();
        while let Some(row) = reader.read(&mut seen.observation)? {
            interrupt::check()?;
            reading.row();
            seen.place = self.rows.good + self.rows.bad;
            if let Err(bad) = row {
                self.rows.bad += 1;
                remember(&mut self.bad_rows, || bad);
                continue;
            }
            self.redirects += u64::from(seen.redirect().is_some());
            for bad in seen.bad_columns() {
                self.rows.bad_columns += 1;
                remember(&mut self.bad_columns, || bad);
            }
            if let Some(bad) = seen.bad_body() {
                self.rows.bad_bodies += 1;
                remember(&mut self.bad_bodies, || bad);
            }
            let document = reader.take_document().filter(|_| !self.skips_pages && Pages::wants(&seen));
            let outcome = match document {
                Some(document) => self
                    .url
                    .parse_from(seen.url())
                    .map_err(RowError::Url)
                    .and_then(|()| self.pages.push(std::mem::take(&mut seen), document, &mut *observe)),
                None => observe(&seen),
            };
            match outcome {
                Ok(()) => self.rows.good += 1,
                Err(RowError::Stop(error)) => return Err(error),
                Err(RowError::Url(error)) => {
                    self.rows.bad += 1;
                    remember(&mut self.bad_urls, || {
                        let (file, location) = (reader.name(), seen.location());
                        let url = dedust_io::shorten(seen.url());
                        format!("{file}{location}: {error}, row skipped: {url}")
                    });
                }
            }
        }
        Ok(())
    }

    fn report(&self, printer: &mut Printer) {
        self.layouts.report(printer);
        if self.layouts.has(Preset::CommonCrawl) && self.redirects == 0 {
            printer.warning(
                "no redirects in this index of Common Crawl: they are in its subset `crawldiagnostics`, which is read \
                 together with `warc` if both are named",
            );
        }
        let messages =
            self.bad_rows.iter().chain(&self.bad_urls).chain(&self.bad_columns).chain(&self.bad_bodies);
        for message in messages {
            printer.warning(message);
        }
        let RowCounts { good, bad, bad_columns, bad_bodies } = self.rows;
        if bad > 0 {
            let rows = counted(good + bad, "row", "rows");
            printer.warning(format_args!("{} of {rows} skipped", count(bad)));
        }
        if bad_columns > 0 {
            let values = counted(bad_columns, "column value", "column values");
            printer.warning(format_args!("{values} ignored, their rows are kept"));
        }
        if bad_bodies > 0 {
            let pages = counted(bad_bodies, "page", "pages");
            printer.warning(format_args!("{pages} read in part, their rows are kept"));
        }
        if self.records > 0 {
            printer.detail(format_args!("{} in archives", counted(self.records, "record", "records")));
        }
        printer.detail(format_args!("read {}", counted(good, "URL", "URLs")));
    }
}

fn remember<M: Display>(messages: &mut Vec<String>, message: impl FnOnce() -> M) {
    if messages.len() < SHOWN {
        messages.push(message().to_string());
    }
}

/// What a row tells of its page.
pub(crate) fn clues_of(seen: &Seen) -> Clues<'_> {
    seen.clues()
}
