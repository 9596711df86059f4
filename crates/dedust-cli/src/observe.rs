/*!
The one way in for all commands: opens inputs of any format, and tells people what was read and what was left out.
*/

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dedust_crawl::{CrawlRow, Layouts, LearnError, ReadCrawlError, ReadReport, Watch};
pub(crate) use dedust_crawl::{RowError, SHOWN};
use dedust_io::{Format, Input, Preset, ReadError, Reader, RowCounts};

use crate::args::ReadArgs;
use crate::failure::Refusal;
use crate::interrupt;
use crate::layouts;
use crate::line_source::is_dash;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::progress::Reading;

/// Opens an input, whatever its format.
pub(crate) fn open(path: &Path, args: &ReadArgs) -> Result<Input, ReadError> {
    let input = match is_dash(path) {
        true => Input::from_dialogue("standard input", interrupt::Stdin)?,
        false => dedust_io::open(path)?,
    };
    dedust_crawl::prepare(input, args.host.as_deref(), &args.column)
}

/// Reads all inputs, in order, and reports what was left out. Inputs may be files, folders, patterns and lists.
///
/// `observe` is given every usable row, and says whether its URL is one, or ends the reading. Rows of archives come when what repeats on
/// their site is known: after, not among, the others.
pub(crate) fn read_all(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> anyhow::Result<()> {
    let files = dedust_io::expand(inputs)?;
    let (_, read) =
        read_files(&files, args, printer, |opened, reading| dedust_crawl::read_all(opened, reading, observe));
    finish(read.map_err(LearnError::Read))
}

/// Like [`read_all`], in the order of the rows and without a look into the pages of archives: for commands that need no more
/// than URLs and sizes.
pub(crate) fn read_rows(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> anyhow::Result<()> {
    let files = dedust_io::expand(inputs)?;
    let (_, read) = read_files(&files, args, printer, |opened, reading| {
        dedust_crawl::read_rows(opened, reading, observe)
    });
    finish(read.map_err(LearnError::Read))
}

/// Opens files and has them read, by one of the ways of `dedust_crawl`. Tells what was read, and what was left out.
pub(crate) fn read_files<T>(
    files: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    read: impl FnOnce(&mut dyn Iterator<Item = Result<Reader, ReadError>>, &mut Reading) -> (ReadReport, T),
) -> (ReadReport, T) {
    let mut reading = Reading::new(printer, files);
    let (report, outcome) =
        read(&mut files.iter().map(|input| open(input, args)?.observations()), &mut reading);
    drop(reading);
    print(&report, printer);
    (report, outcome)
}

/// Says how many rows of an input were skipped, and notes how it was read, for commands that need no more than its URLs.
pub(crate) fn report_urls(reader: &Reader, layouts: &mut Layouts, printer: &mut Printer) {
    warn_of_skipped(reader.counts(), printer);
    let mut layout = reader.layout().unwrap_or_default();
    layout.preset = reader.preset();
    layouts.note_urls(reader.name(), reader.format(), layout);
}

fn warn_of_skipped(RowCounts { good, bad, .. }: RowCounts, printer: &mut Printer) {
    if bad > 0 {
        let rows = counted(good + bad, "row", "rows");
        printer.warning(format_args!("{} of {rows} skipped", count(bad)));
    }
}

/// What was read, or why it was not.
pub(crate) fn finish<T>(read: Result<T, LearnError>) -> anyhow::Result<T> {
    // Also where a read failed because it was interrupted.
    interrupt::check()?;
    read.map_err(|error| match error {
        LearnError::Read(ReadCrawlError::Read(error)) => error.into(),
        LearnError::Read(error @ ReadCrawlError::NoUrls { .. }) => Refusal::new(
            error.to_string(),
            format!(
                "it is empty, or nothing follows its header; expected {}, or {}",
                Format::JsonLines.expected(),
                Format::UrlList.expected()
            ),
        )
        .into(),
        LearnError::Read(error) => error.into(),
        error => error.into(),
    })
}

impl Watch for Reading {
    fn open(&mut self, name: &str) {
        self.next_input(name);
    }

    fn row(&mut self) -> ControlFlow<()> {
        self.count_row();
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Says what was read and what was left out.
fn print(report: &ReadReport, printer: &mut Printer) {
    layouts::report(&report.layouts, printer);
    if report.layouts.has(Preset::CommonCrawl) && report.redirects == 0 {
        printer.warning(
            "no redirects in this index of Common Crawl: they are in its subset `crawldiagnostics`, which is read \
             together with `warc` if both are named",
        );
    }
    for message in &report.messages {
        printer.warning(message);
    }
    let RowCounts { good, bad_columns, bad_bodies, .. } = report.rows;
    warn_of_skipped(report.rows, printer);
    if bad_columns > 0 {
        let values = counted(bad_columns, "column value", "column values");
        printer.warning(format_args!("{values} ignored, their rows are kept"));
    }
    if bad_bodies > 0 {
        let pages = counted(bad_bodies, "page", "pages");
        printer.warning(format_args!("{pages} read in part, their rows are kept"));
    }
    if report.records > 0 {
        printer.detail(format_args!("{} in archives", counted(report.records, "record", "records")));
    }
    printer.detail(format_args!("read {}", counted(good, "URL", "URLs")));
}
