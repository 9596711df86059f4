/*!
The one way in for all commands: opens inputs of any format, and tells people what was read and what was left out.
*/

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dedust::errors::ParseUrlError;
pub(crate) use dedust_crawl::SHOWN;
use dedust_crawl::{ReadCrawlError, ReadReport, Seen, Watch};
use dedust_io::{Format, Input, Preset, ReadError, RowCounts};
use dedust_learn::Clues;

use crate::args::ReadArgs;
use crate::failure::Refusal;
use crate::layouts;
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::progress::Reading;

/// Opens an input, whatever its format.
pub(crate) fn open(path: &Path, args: &ReadArgs) -> Result<Input, ReadError> {
    dedust_crawl::open(path, args.host.as_deref(), &args.column)
}

/// Reads all inputs, in order, and reports what was left out. Inputs may be files, folders, patterns and lists.
///
/// `observe` is given every usable row, and says whether its URL is one. Rows of archives come when what repeats on their site
/// is known: after, not among, the others.
pub(crate) fn read_all(
    inputs: &[PathBuf],
    args: &ReadArgs,
    printer: &mut Printer,
    observe: impl FnMut(&Seen) -> Result<(), ParseUrlError>,
) -> anyhow::Result<()> {
    let inputs = dedust_io::expand(inputs)?;
    let mut reading = Reading::new(printer, &inputs);
    let opened = inputs.iter().map(|input| open(input, args));
    let (report, read) = dedust_crawl::read_all(opened, &mut reading, observe);
    drop(reading);
    print(&report, printer);
    read.map_err(|error| match error {
        ReadCrawlError::Read(error) => error.into(),
        ReadCrawlError::Url(error) => error.into(),
        error @ ReadCrawlError::NoUrls { .. } => Refusal::new(
            error.to_string(),
            format!("expected {}, or {}", Format::JsonLines.expected(), Format::UrlList.expected()),
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
        ControlFlow::Continue(())
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

/// What a row tells of its page.
pub(crate) fn clues_of(seen: &Seen) -> Clues<'_> {
    seen.clues()
}
