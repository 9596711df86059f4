/*!
The one way in for all commands: opens inputs of any format, and tells people what was read and what was left out.
*/

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dedust_crawl::{CrawlRow, ReadCrawlError, ReadPosition, ReadReport, Watch};
pub(crate) use dedust_crawl::{RowError, SHOWN};
use dedust_io::{Format, Input, Preset, ReadError, Reader, RowCounts};

use crate::args::ReadArgs;
use crate::failure::Refusal;
use crate::interrupt;
use crate::layouts;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::progress::Reading;

/// Opens an input, whatever its format.
pub(crate) fn open(path: &Path, args: &ReadArgs) -> Result<Input, ReadError> {
    let input = match path.as_os_str() == "-" {
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
    read_by(inputs, args, printer, |opened, reading| dedust_crawl::read_all(opened, reading, observe))
}

/// Where a reading ended early, and why.
pub(crate) struct Unread {
    /// Where it can go on, with the versions of the objects that were opened; `None` if it has to start over.
    pub(crate) position: Option<(ReadPosition, Vec<(String, String)>)>,
    pub(crate) cause: anyhow::Error,
}

/// Like [`read_all`], of files, from where an earlier reading of the same ended.
pub(crate) fn read_on(
    files: &[PathBuf],
    from: ReadPosition,
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> Result<(), Unread> {
    let files = files.get(from.inputs..).unwrap_or_default();
    let mut reading = Reading::new(printer, files);
    let opened = files.iter().map(|input| open(input, args)?.observations());
    let (mut report, read) = dedust_crawl::read_on(from, opened, &mut reading, observe);
    drop(reading);
    let position = report.position.take().map(|position| (position, std::mem::take(&mut report.versions)));
    finish(&report, read, printer).map_err(|cause| Unread { position, cause })
}

/// Like [`read_all`], in the order of the rows and without a look into the pages of archives: for commands that need no more
/// than URLs and sizes.
pub(crate) fn read_rows(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&CrawlRow) -> Result<(), RowError>,
) -> anyhow::Result<()> {
    read_by(inputs, args, printer, |opened, reading| dedust_crawl::read_rows(opened, reading, observe))
}

/// Opens all inputs and has them read, by one of the ways of `dedust_crawl`.
fn read_by(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    read: impl FnOnce(
        &mut dyn Iterator<Item = Result<Reader, ReadError>>,
        &mut Reading,
    ) -> (ReadReport, Result<(), ReadCrawlError>),
) -> anyhow::Result<()> {
    let inputs = dedust_io::expand(inputs)?;
    let mut reading = Reading::new(printer, &inputs);
    let (report, read) =
        read(&mut inputs.iter().map(|input| open(input, args)?.observations()), &mut reading);
    drop(reading);
    finish(&report, read, printer)
}

/// Tells what was read, and why no more.
fn finish(
    report: &ReadReport,
    read: Result<(), ReadCrawlError>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    print(report, printer);
    // Also where a read failed because it was interrupted.
    interrupt::check()?;
    read.map_err(|error| match error {
        ReadCrawlError::Read(error) => error.into(),
        ReadCrawlError::Url(error) => error.into(),
        error @ ReadCrawlError::NoUrls { .. } => Refusal::new(
            error.to_string(),
            format!(
                "it is empty, or nothing follows its header; expected {}, or {}",
                Format::JsonLines.expected(),
                Format::UrlList.expected()
            ),
        )
        .into(),
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
    let RowCounts { good, bad, bad_columns, bad_bodies } = report.rows;
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
    if report.records > 0 {
        printer.detail(format_args!("{} in archives", counted(report.records, "record", "records")));
    }
    printer.detail(format_args!("read {}", counted(good, "URL", "URLs")));
}
