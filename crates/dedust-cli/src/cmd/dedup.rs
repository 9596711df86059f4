/*!
`dedust dedup`: lines in, those of them out whose key is new, in the same order.

Batches of lines are cut into pieces, whose keys are made at the same time. The set is asked for the keys of a few
pieces at once, and has them before any of their URLs is printed; these are printed before it is asked again, so that
little is in doubt when the process is killed.
*/

mod piece;

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use dedust::Normalizer;
use dedust_seen::{Durability, SeenSet, SeenStats};
use rayon::prelude::*;
use serde::Serialize;

use self::piece::{Piece, Tally};
use super::normalize::cut;
use super::seen::warn_of_format_1;
use crate::ExitStatus;
use crate::args::{DedupArgs, ReportFormat};
use crate::line_source::{Batch, Batches, name_of};
use crate::number::{count, counted, percent_of};
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// Pieces whose URLs are printed before the set is asked for more: about 512 KiB of lines.
const PIECES_AT_ONCE: usize = 4;

/// The last line of `--format json --stats`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "stats")]
struct Figures {
    /// All lines, blank ones too.
    lines: u64,
    /// Lines that are URLs.
    urls: u64,
    /// URLs that were printed.
    new: u64,
    /// Lines that are neither URLs nor blank.
    bad: u64,
    /// Keys in the set.
    seen: u64,
    /// Those in memory and in logs.
    recent: u64,
    /// Sorted files with the others.
    runs: u64,
    /// Bytes of all files.
    disk_bytes: u64,
    /// Memory for the keys in runs.
    index_bytes: u64,
    /// Merges of runs since the set was opened.
    merges: u64,
}

/// Prints new URLs.
pub(crate) fn run(args: &DedupArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let from_stdin = args.urls.as_os_str() == "-";
    let mut watch = Watch::new(&args.rules);
    let normalizer = rule_file::normalizer(&args.rules, &args.trust, from_stdin, printer)?;
    let mut batches = Batches::new(Box::new(dedust_io::open_text(&args.urls)?), from_stdin);
    let seen = open(args, printer)?;
    if from_stdin && io::stdin().is_terminal() {
        printer.hint("reading URLs from the terminal, one per line; end with Ctrl-D, stop with Ctrl-C");
    }
    let name = name_of(&args.urls);
    let mut filter = Filter {
        normalizer: &normalizer,
        format: args.format,
        seen,
        pieces: Vec::new(),
        keys: Vec::new(),
        is_new: Vec::new(),
        tally: Tally::default(),
        long_line: None,
    };
    let read = loop {
        match batches.next() {
            Ok(Some(Batch::Lines(lines))) => filter.print_new(lines, printer)?,
            Ok(Some(Batch::LongLine { part, is_last })) => filter.leave_out(part, is_last),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
        watch.look(printer);
    };
    let Filter { seen, tally, .. } = filter;
    report(&tally, &name, printer);
    if args.stats {
        print_stats(&tally, &seen.stats(), args, printer)?;
    }
    printer.finish()?;
    seen.close()?;
    read.with_context(|| {
        let lines = counted(tally.lines, "line", "lines");
        format!("cannot read {name} to its end; the first {lines} of it were used")
    })?;
    Ok(ExitStatus::Success)
}

fn open(args: &DedupArgs, printer: &mut Printer) -> anyhow::Result<SeenSet> {
    let Some(folder) = &args.seen else { return Ok(SeenSet::in_memory()?) };
    let durability = if args.sync { Durability::Power } else { Durability::Process };
    let seen = SeenSet::options().durability(durability).open(folder)?;
    let stats = seen.stats();
    if !seen.hasher().is_keyed() {
        warn_of_format_1(folder, printer);
    }
    let folder = folder.display();
    printer.detail(format_args!("{} in {folder}", counted(stats.keys, "key", "keys")));
    if stats.cut_bytes > 0 {
        let bytes = counted(stats.cut_bytes, "byte", "bytes");
        printer.warning(format_args!(
            "{bytes} at the end of logs in {folder} were no whole records, as after a loss of power, and were cut off: \
             URLs that were printed last may be printed once more"
        ));
    }
    if let Some(unanswered) = stats.unanswered_keys {
        let urls = counted(unanswered, "URL", "URLs");
        printer.warning(format_args!(
            "the last run with {folder} was cut off: {urls} of its last batch may not have been printed, and count as \
             seen"
        ));
    }
    Ok(seen)
}

struct Filter<'n> {
    normalizer: &'n Normalizer,
    format: ReportFormat,
    seen: SeenSet,
    pieces: Vec<Piece>,
    keys: Vec<dedust_seen::SeenKey>,
    is_new: Vec<bool>,
    tally: Tally,
    /// The beginning of a line that comes in parts.
    long_line: Option<String>,
}

impl Filter<'_> {
    fn print_new(&mut self, lines: &[u8], printer: &mut Printer) -> anyhow::Result<()> {
        let texts = cut(lines);
        if self.pieces.len() < texts.len() {
            self.pieces.resize_with(texts.len(), Piece::default);
        }
        let busy = &mut self.pieces[..texts.len()];
        let (normalizer, hasher) = (self.normalizer, self.seen.hasher());
        if let ([piece], [text]) = (&mut *busy, &*texts) {
            piece.read(normalizer, &hasher, text);
        } else {
            busy.par_iter_mut().zip(&texts).for_each(|(piece, text)| piece.read(normalizer, &hasher, text));
        }
        for (pieces, texts) in busy.chunks_mut(PIECES_AT_ONCE).zip(texts.chunks(PIECES_AT_ONCE)) {
            self.keys.clear();
            for piece in &*pieces {
                self.keys.extend_from_slice(&piece.keys);
            }
            self.seen.insert_batch(&self.keys, &mut self.is_new)?;
            let mut is_new = &*self.is_new;
            for (piece, text) in pieces.iter_mut().zip(texts) {
                let (of_piece, rest) = is_new.split_at(piece.keys.len());
                is_new = rest;
                piece.print(self.normalizer, self.format, text, of_piece, printer.data())?;
                self.tally.add(&mut piece.tally);
            }
            printer.finish()?;
        }
        Ok(())
    }

    /// Counts a part of a line that is too long to be a URL.
    fn leave_out(&mut self, part: &[u8], is_last: bool) {
        let start = self.long_line.take().unwrap_or_else(|| dedust_io::shorten(part));
        if is_last {
            self.tally.long_line(start);
        } else {
            self.long_line = Some(start);
        }
    }
}

/// Says which lines were no URLs.
fn report(tally: &Tally, name: &str, printer: &mut Printer) {
    for bad in &tally.first_bad {
        printer.warning(format_args!("{name}:{}: {}, left out: {}", bad.line, bad.problem, bad.value));
    }
    if tally.bad > 0 {
        let are_no_urls =
            if tally.bad == 1 { "is no URL and was left out" } else { "are no URLs and were left out" };
        let lines = counted(tally.lines, "line", "lines");
        printer.warning(format_args!("{} of {lines} {are_no_urls}", count(tally.bad)));
    }
    printer.detail(format_args!("{} of {} new", count(tally.new), counted(tally.urls, "URL", "URLs")));
}

fn print_stats(
    tally: &Tally,
    stats: &SeenStats,
    args: &DedupArgs,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let Tally { lines, urls, new, bad, .. } = *tally;
    let SeenStats { keys: seen, recent_keys: recent, runs, disk_bytes, index_bytes, merges, .. } = *stats;
    if args.format == ReportFormat::Json {
        let figures = Figures { lines, urls, new, bad, seen, recent, runs, disk_bytes, index_bytes, merges };
        return Ok(printer.json(&figures)?);
    }
    printer.note(format_args!(
        "{} of {} new, {}",
        count(new),
        counted(urls, "URL", "URLs"),
        percent_of(new, urls)
    ));
    let place = args.seen.as_ref().map_or("memory".into(), |folder| folder.display().to_string());
    printer.note(format_args!("{} in {place}", counted(seen, "key", "keys")));
    if args.seen.is_some() {
        printer.note(format_args!(
            "{} in logs, {} in {}; {:.1} MB on disk, {:.1} MB of memory; {}",
            count(recent),
            count(seen - recent),
            counted(runs, "sorted file", "sorted files"),
            disk_bytes as f64 / 1e6,
            index_bytes as f64 / 1e6,
            counted(merges, "merge", "merges"),
        ));
    }
    Ok(())
}
