/*!
Says whether the folder of `dedup --seen` is as it was written, and repairs it.
*/

use dedust_seen::{Fault, FileReport, SeenReport};
use serde::Serialize;

use super::args::SeenFolderArgs;
use crate::ExitStatus;
use crate::args::ReportFormat;
use crate::number::{count, counted};
use crate::printer::Printer;

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record<'a> {
    /// A file with keys.
    File {
        /// Its name in the folder.
        name: &'a str,
        /// Keys that can be read, or were kept.
        keys: u64,
        /// What is or was wrong with it: `tail`, `damaged` or `missing`.
        fault: Option<&'static str>,
        /// Bytes at the end of a log that are cut off.
        cut_bytes: u64,
    },
    /// All files.
    Set {
        /// Keys that can be read, or were kept.
        keys: u64,
        /// Whether no file has or had a fault.
        whole: bool,
    },
}

pub(super) fn check(args: &SeenFolderArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let report = dedust_seen::check(&args.folder)?;
    print(&report, args, found, printer)?;
    if report.is_whole() {
        note_keys(&report, args, printer);
        return Ok(ExitStatus::Success);
    }
    printer.hint(format_args!("to keep what can be read: dedust seen repair {}", args.folder.display()));
    Ok(ExitStatus::No)
}

pub(super) fn repair(args: &SeenFolderArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let report = dedust_seen::repair(&args.folder)?;
    print(&report, args, done, printer)?;
    note_keys(&report, args, printer);
    Ok(ExitStatus::Success)
}

/// Prints a report, with a line for each file in words of the verb.
fn print(
    report: &SeenReport,
    args: &SeenFolderArgs,
    describe: impl Fn(&FileReport) -> String,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    for file in &report.files {
        match args.format {
            ReportFormat::Text => printer.line(format_args!("{}: {}", file.name, describe(file)))?,
            ReportFormat::Json => printer.json(&record(file))?,
        }
    }
    if args.format == ReportFormat::Json {
        printer.json(&Record::Set { keys: report.keys(), whole: report.is_whole() })?;
    }
    Ok(printer.finish()?)
}

fn note_keys(report: &SeenReport, args: &SeenFolderArgs, printer: &mut Printer) {
    printer.note(format_args!("{} in {}", counted(report.keys(), "key", "keys"), args.folder.display()));
}

fn record(file: &FileReport) -> Record<'_> {
    let (fault, cut_bytes) = match file.fault {
        None => (None, 0),
        Some(Fault::Tail { bytes, .. }) => (Some("tail"), bytes),
        Some(Fault::Damaged { cut_bytes, .. }) => (Some("damaged"), cut_bytes),
        Some(_) => (Some("missing"), 0),
    };
    Record::File { name: &file.name, keys: file.keys, fault, cut_bytes }
}

/// What a check found.
fn found(file: &FileReport) -> String {
    let keys = counted(file.keys, "key", "keys");
    match file.fault {
        None => keys,
        Some(Fault::Tail { bytes, damage }) => {
            format!("{keys}, and {} at the end that are damaged: {damage}", counted(bytes, "byte", "bytes"))
        }
        Some(Fault::Damaged { offset, damage, .. }) => format!("damaged at byte {}: {damage}", count(offset)),
        Some(_) => "missing".into(),
    }
}

/// What a repair did.
fn done(file: &FileReport) -> String {
    let keys = counted(file.keys, "key", "keys");
    let cut = |bytes| counted(bytes, "byte", "bytes");
    match file.fault {
        None => keys,
        Some(Fault::Tail { bytes, .. }) => format!("{} at the end cut off, {keys} kept", cut(bytes)),
        Some(Fault::Damaged { cut_bytes, .. }) => {
            let cut = if cut_bytes > 0 { format!("{} cut off, ", cut(cut_bytes)) } else { String::new() };
            format!("{cut}{keys} kept; the damaged file is kept as {}.damaged", file.name)
        }
        Some(_) => "was missing, and its keys are lost; replaced by an empty file".into(),
    }
}
