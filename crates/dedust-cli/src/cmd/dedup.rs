/*!
`dedust dedup`: lines or rows in, those of them out whose key is new, in the same order.

Batches of lines are cut into pieces, whose keys are made at the same time. The set is asked for the keys of a few
pieces at once, and has them before any of their URLs is printed; these are printed before it is asked again, so that
little is in doubt when the process is killed.
*/

mod args;
mod budgeted;
mod open;
mod piece;
mod rows;
mod shadow;

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use dedust::Normalizer;
use dedust_crawl::Layouts;
use dedust_io::{Format, Input, OutputFile};
use dedust_seen::{SeenLocation, SeenSet, SeenStats};
use rayon::prelude::*;
use serde::Serialize;

pub(crate) use self::args::DedupArgs;
use self::args::DedupFormat;
use self::budgeted::Budgeted;
use self::piece::{KeyMaker, Piece, Tally};
use self::shadow::Shadow;
use super::normalize::{cut, refuse_if};
use crate::ExitStatus;
use crate::interrupt::{self, Interrupted};
use crate::layouts;
use crate::line_source::{Batch, Batches, DIALOGUE_LINES, is_dash, reads_stdin};
use crate::number::{bytes, count, counted, percent_of};
use crate::observe;
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
    /// URLs that were left out because of their scheme.
    other_schemes: u64,
    /// Keys in the set.
    seen: u64,
    /// What that took.
    #[serde(flatten)]
    store: StoreFigures,
}

/// What a set took, by where it is.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum StoreFigures {
    /// In memory or in a folder.
    Local(LocalFigures),
    /// On a server.
    Server(ServerFigures),
}

/// Of a set in memory or in a folder.
#[derive(Debug, Serialize)]
struct LocalFigures {
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

/// Of a set on a server.
#[derive(Debug, Serialize)]
struct ServerFigures {
    /// Keys that the server was asked for. All others were known in this process.
    asked: u64,
    /// Keys that count as new because the answer was lost.
    unconfirmed: u64,
    /// Connections that were made again.
    reconnects: u64,
}

/// Prints new URLs.
pub(crate) fn run(args: &DedupArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    interrupt::listen();
    let mut inputs = dedust_io::expand(&args.inputs)?;
    if inputs.is_empty() && args.rekey.is_empty() {
        inputs.push("-".into());
    }
    let from_stdin = reads_stdin(&inputs);
    let mut watch = Watch::new(&args.rules);
    let normalizer = rule_file::normalizer(&args.rules, &args.trust, from_stdin, printer)?;
    let shadow =
        args.shadow.as_ref().map(|path| Shadow::open(path, args, from_stdin, printer)).transpose()?;
    let budgets = args.budgets.as_deref().map(Budgeted::open).transpose()?;
    // Before the set is opened: an input that cannot be read leaves no folder behind. Standard input is read after that, since its
    // first line may take long, and no other process is to have the set meanwhile.
    let first = inputs.first().filter(|input| !is_dash(input));
    let mut first = first.map(|input| observe::open(input, &args.read)).transpose()?;
    if let Some(path) = &args.output {
        // The set has keys before their URLs are written, so that what is written must not be lost.
        printer.write_to_file(OutputFile::create_in_place(path, args.force)?);
    }
    let seen = open::open(args, &normalizer, printer)?;
    if from_stdin && io::stdin().is_terminal() {
        printer.hint("reading URLs from the terminal, one per line; end with Ctrl-D, stop with Ctrl-C");
    }
    let mut filter = Filter {
        normalizer: &normalizer,
        args,
        seen,
        shadow,
        budgets,
        pieces: Vec::new(),
        keys: Vec::new(),
        is_new: Vec::new(),
        tally: Tally::default(),
        long_line: None,
        header: None,
        layouts: Layouts::default(),
    };
    let mut all = Tally::default();
    let mut read = Ok(());
    for path in &inputs {
        let input = match first.take() {
            Some(input) => Ok(input),
            None => observe::open(path, &args.read),
        };
        let input = match input {
            Ok(input) => input,
            Err(error) => {
                read = interrupt::check().map_err(Into::into).and(Err(error.into()));
                break;
            }
        };
        let name = input.name().to_owned();
        read = match input.format() {
            Format::UrlList => filter.filter_list(input, is_dash(path), &mut watch, printer),
            _ => rows::filter(&mut filter, input, &mut watch, printer),
        };
        report(&filter.tally, &name, printer);
        let is_asked_to_end = read.as_ref().is_err_and(anyhow::Error::is::<Interrupted>);
        let is_mostly_bad =
            !is_asked_to_end && filter.tally.bad.count() > filter.tally.urls + filter.tally.other_schemes;
        let (bad, lines) = (filter.tally.bad.count(), filter.tally.lines);
        all.add(&mut filter.tally);
        read = read.and_then(|()| refuse_if(is_mostly_bad, bad, lines, &name));
        if read.is_err() {
            break;
        }
    }
    let Filter { seen, shadow, budgets, layouts, .. } = filter;
    layouts::report(&layouts, printer);
    if let Some(shadow) = shadow {
        shadow.report(args.format, printer)?;
    }
    if let Some(budgets) = budgets {
        budgets.report(&all, printer);
    }
    open::report_server(args, &seen.stats(), printer);
    if args.stats {
        print_stats(&all, &seen.stats(), args, printer)?;
    }
    let printed = printer.finish();
    // Answers that were not printed are not noted as given.
    let closed = if printed.is_ok() { seen.close() } else { Ok(()) };
    // What comes after a failure follows from it, but for an interrupt.
    if read.as_ref().err().is_none_or(anyhow::Error::is::<Interrupted>) {
        printed?;
        closed?;
    }
    read.map(|()| ExitStatus::Success)
}

struct Filter<'n> {
    normalizer: &'n Normalizer,
    args: &'n DedupArgs,
    seen: SeenSet,
    shadow: Option<Shadow>,
    budgets: Option<Budgeted>,
    pieces: Vec<Piece>,
    keys: Vec<dedust_seen::SeenKey>,
    is_new: Vec<bool>,
    tally: Tally,
    /// The beginning of a line that comes in parts.
    long_line: Option<String>,
    /// The header of the first delimited table.
    header: Option<Vec<u8>>,
    layouts: Layouts,
}

impl Filter<'_> {
    /// Prints the new URLs of a list, which is taken as bytes.
    fn filter_list(
        &mut self,
        input: Input,
        is_dialogue: bool,
        watch: &mut Watch,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let name = input.name().to_owned();
        let source = Box::new(input.into_text());
        let mut batches = match is_dialogue {
            true => Batches::dialogue(source, io::stdin().is_terminal())
                .context("cannot start a thread that reads")?,
            false => Batches::new(source, false),
        };
        while let Some(batch) = batches.next_of(&name, self.tally.lines, "used")? {
            match batch {
                Batch::Lines { lines, is_last } => {
                    self.print_new(lines, is_dialogue && !is_last, &name, printer)?;
                }
                Batch::LongLine { part, is_last } => self.leave_out(part, is_last),
            }
            watch.look(printer);
        }
        Ok(())
    }

    /// Prints the new URLs of some lines, unless most lines so far are no URLs. A dialogue that goes on has some lines to turn out well.
    fn print_new(
        &mut self,
        lines: &[u8],
        goes_on: bool,
        name: &str,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let texts = cut(lines);
        if self.pieces.len() < texts.len() {
            self.pieces.resize_with(texts.len(), Piece::default);
        }
        let busy = &mut self.pieces[..texts.len()];
        let maker = KeyMaker {
            normalizer: self.normalizer,
            hasher: &self.seen.hasher(),
            schemes: &self.args.schemes,
            shadow: self.shadow.as_ref().map(|shadow| &shadow.normalizer),
            budgets: self.budgets.as_ref().map(Budgeted::book),
        };
        if let ([piece], [text]) = (&mut *busy, &*texts) {
            piece.read(maker, text);
        } else {
            busy.par_iter_mut().zip(&texts).for_each(|(piece, text)| piece.read(maker, text));
        }
        self.refuse_if_mostly_bad(texts.len(), goes_on, name)?;
        self.print(texts.len(), |index| texts[index], printer)
    }

    /// An error if most lines are no URLs, those of the first so many pieces included, whose URLs the set does not have yet.
    fn refuse_if_mostly_bad(&mut self, count: usize, goes_on: bool, name: &str) -> anyhow::Result<()> {
        let sum = |figure: fn(&Tally) -> u64| -> u64 {
            figure(&self.tally) + self.pieces[..count].iter().map(|piece| figure(&piece.tally)).sum::<u64>()
        };
        let (bad, lines) = (sum(|tally| tally.bad.count()), sum(|tally| tally.lines));
        let is_mostly_bad = bad > sum(|tally| tally.urls + tally.other_schemes);
        if !is_mostly_bad || (goes_on && lines < DIALOGUE_LINES) {
            return Ok(());
        }
        for piece in &mut self.pieces[..count] {
            self.tally.add(&mut piece.tally);
        }
        refuse_if(true, bad, lines, name)
    }

    /// Prints what is new of the first so many pieces, whose texts are those that were read.
    fn print<'t>(
        &mut self,
        count: usize,
        text_of: impl Fn(usize) -> &'t [u8],
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let as_json = self.args.format == DedupFormat::Json;
        for (group, pieces) in self.pieces[..count].chunks_mut(PIECES_AT_ONCE).enumerate() {
            self.keys.clear();
            for piece in &*pieces {
                self.keys.extend_from_slice(&piece.keys);
            }
            self.seen.insert_batch(&self.keys, &mut self.is_new)?;
            let mut is_new = &*self.is_new;
            for (index, piece) in pieces.iter_mut().enumerate() {
                let (of_piece, rest) = is_new.split_at(piece.keys.len());
                is_new = rest;
                let text = text_of(group * PIECES_AT_ONCE + index);
                piece.print(self.normalizer, as_json, text, of_piece, printer.data())?;
                if let Some(shadow) = &mut self.shadow {
                    shadow.count(&piece.shadow_keys, of_piece, |index| piece.url(index, text))?;
                }
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
    tally.bad.report(name, tally.lines, Some("left out"), printer);
    if tally.other_schemes > 0 {
        let urls = counted(tally.other_schemes, "URL", "URLs");
        let verb = if tally.other_schemes == 1 { "was" } else { "were" };
        printer
            .note(format_args!("{urls} {verb} left out because of --schemes, such as {}", tally.first_other));
    }
    printer.detail(format_args!("{} of {} new", count(tally.new), counted(tally.urls, "URL", "URLs")));
}

fn print_stats(
    tally: &Tally,
    stats: &SeenStats,
    args: &DedupArgs,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let Tally { lines, urls, new, other_schemes, .. } = *tally;
    let bad = tally.bad.count();
    let SeenStats { keys: seen, recent_keys: recent, runs, disk_bytes, index_bytes, merges, .. } = *stats;
    let SeenStats { asked_keys: asked, unconfirmed_keys: unconfirmed, reconnects, lookups, .. } = *stats;
    let is_server = matches!(args.seen, Some(SeenLocation::Server(_)));
    if args.format == DedupFormat::Json {
        let store = match is_server {
            true => StoreFigures::Server(ServerFigures { asked, unconfirmed, reconnects }),
            false => StoreFigures::Local(LocalFigures { recent, runs, disk_bytes, index_bytes, merges }),
        };
        return Ok(printer.json(&Figures { lines, urls, new, bad, other_schemes, seen, store })?);
    }
    printer.note(format_args!(
        "{} of {} new, {}",
        count(new),
        counted(urls, "URL", "URLs"),
        percent_of(new, urls)
    ));
    let location = args.seen.as_ref().map_or("memory".into(), SeenLocation::to_string);
    printer.note(format_args!("{} in {location}", counted(seen, "key", "keys")));
    if is_server {
        printer.note(format_args!(
            "{} of {} asked for, the others were known here; {} without an answer; connected again {}",
            count(asked),
            counted(lookups, "key", "keys"),
            count(unconfirmed),
            counted(reconnects, "time", "times"),
        ));
    } else if args.seen.is_some() {
        printer.note(format_args!(
            "{} in logs, {} in {}; {} on disk, {} of memory; {}",
            count(recent),
            count(seen - recent),
            counted(runs, "sorted file", "sorted files"),
            bytes(disk_bytes),
            bytes(index_bytes),
            counted(merges, "merge", "merges"),
        ));
    }
    Ok(())
}
