/*!
`dedust normalize`: URLs in, as many out, in the same order; tables come out as tables with two columns more.

Lists of URLs are taken as bytes: batches of lines are cut into pieces, one per worker, which are rewritten at the same time and
written one after the other. The URLs of all other formats are read row by row ([`rows`]), or, where a table is
written, column by column ([`table`]).
*/

mod args;
mod folder;
mod rows;
mod table;
mod worker;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::Normalizer;
use dedust_crawl::Layouts;
use dedust_io::{Format, Input, Location, OutputFile};
use rayon::prelude::*;

pub(crate) use self::args::{NormalizeArgs, UrlFormat};
use self::worker::{Output, Tally, Worker};
use crate::ExitStatus;
use crate::failure::refuse;
use crate::interrupt;
use crate::layouts;
use crate::line_source::{Batch, Batches, DIALOGUE_LINES, is_dash, reads_stdin};
use crate::number::{count, counted};
use crate::observe;
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// Bytes of lines that are worth a worker of their own.
const PIECE_BYTES: usize = 128 << 10;

/// What all inputs have in common.
struct Job<'a> {
    args: &'a NormalizeArgs,
    normalizer: &'a Normalizer,
    watch: Watch,
    layouts: Layouts,
    /// The first URL that changed: where it is, and what it is.
    first_changed: Option<String>,
    urls: u64,
    changed: u64,
}

/// Rewrites URLs.
pub(crate) fn run(args: &NormalizeArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let inputs = dedust_io::expand_below(&args.inputs)?;
    let folder = args.output.as_deref().filter(|path| folder::is_named_by(path));
    let outputs = folder.map(|folder| folder::outputs(folder, &inputs, args)).transpose()?;
    let inputs: Vec<PathBuf> = inputs.into_iter().map(|(input, _)| input).collect();
    let from_stdin = reads_stdin(&inputs);
    let watch = Watch::new(&args.rules);
    let normalizer = rule_file::normalizer(&args.rules, &args.trust, from_stdin, printer)?;
    printer.detail(format_args!(
        "{} of {}",
        counted(normalizer.rule_count(), "rule", "rules"),
        counted(normalizer.site_count(), "site", "sites")
    ));
    if from_stdin && io::stdin().is_terminal() {
        printer.hint("reading URLs from the terminal, one per line; end with Ctrl-D, stop with Ctrl-C");
    }
    if args.output.is_some() {
        interrupt::listen();
    }
    let mut job = Job {
        args,
        normalizer: &normalizer,
        watch,
        layouts: Layouts::default(),
        first_changed: None,
        urls: 0,
        changed: 0,
    };
    let done = match outputs {
        Some(outputs) => inputs.iter().zip(outputs).try_for_each(|(input, output)| {
            folder::make_folder_of(&output)?;
            job.run(std::slice::from_ref(input), Some(&output), printer)
        }),
        None => job.run(&inputs, args.output.as_deref(), printer),
    };
    layouts::report(&job.layouts, printer);
    done?;
    if args.check && job.changed > 0 {
        let verb = if job.changed == 1 { "is" } else { "are" };
        printer.note(format_args!(
            "{} of {} {verb} not canonical",
            count(job.changed),
            counted(job.urls, "URL", "URLs")
        ));
        if let Some(first) = &job.first_changed {
            printer.note(format_args!("the first is {first}"));
        }
        return Ok(ExitStatus::No);
    }
    Ok(ExitStatus::Success)
}

impl Job<'_> {
    /// Rewrites inputs to one output, which is there when all is done, or not at all.
    fn run(
        &mut self,
        inputs: &[PathBuf],
        output: Option<&Path>,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let mut output = output.map(|path| OutputFile::create(path, self.args.force)).transpose()?;
        self.rewrite_all(inputs, output.as_mut(), printer)?;
        Ok(output.map_or(Ok(()), OutputFile::commit)?)
    }

    /// Rewrites inputs, as tables if the first one is a table.
    fn rewrite_all(
        &mut self,
        inputs: &[PathBuf],
        output: Option<&mut OutputFile>,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        let Some((first, others)) = inputs.split_first() else { return Ok(()) };
        let first = observe::open(first, &self.args.read)?;
        if self.makes_table(first.format()) {
            return table::run(self, first, others, output, printer);
        }
        let what = match self.args {
            NormalizeArgs { check: true, .. } => Output::Nothing,
            NormalizeArgs { format, key, .. } => Output::Lines { format: *format, key: *key },
        };
        let mut workers = Workers {
            normalizer: self.normalizer,
            output: what,
            workers: Vec::new(),
            busy: 0,
            tally: Tally::default(),
            long_line: None,
        };
        let mut sink = Sink { file: output, printer };
        let first_format = first.format();
        self.rewrite(first, is_dash(&inputs[0]), &mut workers, &mut sink)?;
        for path in others {
            let input = observe::open(path, &self.args.read)?;
            if self.makes_table(input.format()) {
                let problem =
                    format!("{} is {}, and the input before it {first_format}", input.name(), input.format());
                return refuse(problem, "give each an output of its own, or add --format text");
            }
            self.rewrite(input, is_dash(path), &mut workers, &mut sink)?;
        }
        sink.printer.finish()?;
        Ok(())
    }

    fn makes_table(&self, format: Format) -> bool {
        !self.args.check && self.args.format.makes_table(format)
    }

    /// Rewrites an input to lines.
    fn rewrite(
        &mut self,
        input: Input,
        is_dialogue: bool,
        workers: &mut Workers<'_>,
        sink: &mut Sink<'_>,
    ) -> anyhow::Result<()> {
        let (name, format) = (input.name().to_owned(), input.format());
        workers.tally = Tally::default();
        let read = if format == Format::UrlList {
            self.rewrite_list(input, is_dialogue, workers, sink)
        } else {
            rows::rewrite(self, input, workers, sink)
        };
        sink.finish()?;
        let tally = &workers.tally;
        let output = if tally.is_mostly_bad() { Output::Nothing } else { workers.output };
        report(tally, &name, output, sink.printer);
        self.urls += tally.urls;
        self.changed += tally.changed;
        if self.first_changed.is_none() {
            self.first_changed = tally.first_changed.as_ref().map(|(line, url)| {
                let location = tally.first_changed_at.unwrap_or(Location::Line(*line));
                format!("{name}{location}: {url}")
            });
        }
        read?;
        refuse_if(tally.is_mostly_bad(), tally.bad.count(), tally.bad.count() + tally.urls, &name)
    }

    /// Rewrites a list of URLs, as bytes.
    fn rewrite_list(
        &mut self,
        input: Input,
        is_dialogue: bool,
        workers: &mut Workers<'_>,
        sink: &mut Sink<'_>,
    ) -> anyhow::Result<()> {
        let name = input.name().to_owned();
        let source = Box::new(input.into_text());
        let mut batches = match is_dialogue {
            true => Batches::dialogue(source, io::stdin().is_terminal()),
            false => Batches::read_ahead(source),
        }
        .context("cannot start a thread that reads")?;
        while let Some(batch) = batches.next_of(&name, workers.tally.lines, "normalized")? {
            match batch {
                Batch::Lines { lines, is_last } => {
                    workers.rewrite(lines);
                    workers.write(is_dialogue && !is_last, &name, sink)?;
                }
                Batch::LongLine { part, is_last } => workers.pass_through(part, is_last, sink)?,
            }
            if is_dialogue {
                sink.finish()?;
            }
            self.watch.look(sink.printer);
        }
        Ok(())
    }
}

/// An error if most lines of an input are no URLs: it is probably no list of URLs.
pub(super) fn refuse_if(is_mostly_bad: bool, bad: u64, all: u64, name: &str) -> anyhow::Result<()> {
    if !is_mostly_bad {
        return Ok(());
    }
    let problem = format!("{} of {} of {name} are no URLs", count(bad), counted(all, "line", "lines"));
    let remedy = "expected one URL per line such as http://a.example/, or a table whose header names a column `url`; if \
                  another column holds the URLs, name it with --column url=NAME";
    refuse(problem, remedy)
}

/// Says which lines were no URLs.
fn report(tally: &Tally, name: &str, output: Output, printer: &mut Printer) {
    let fate = match output {
        Output::Nothing => None,
        Output::Lines { .. } => Some("passed through"),
    };
    tally.bad.report(name, tally.lines, fate, printer);
    printer.detail(format_args!(
        "{} in {}, {} rewritten",
        counted(tally.urls, "URL", "URLs"),
        counted(tally.lines, "line", "lines"),
        count(tally.changed)
    ));
}

/// Where lines go.
struct Sink<'a> {
    file: Option<&'a mut OutputFile>,
    printer: &'a mut Printer,
}

impl Sink<'_> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(bytes),
            None => self.printer.data().write_all(bytes),
        }
    }

    /// All that was written is out, unless it waits for the rest of a file.
    fn finish(&mut self) -> io::Result<()> {
        if self.file.is_none() { self.printer.finish() } else { Ok(()) }
    }
}

struct Workers<'n> {
    normalizer: &'n Normalizer,
    output: Output,
    workers: Vec<Worker>,
    /// How many of them had something to do.
    busy: usize,
    /// Lines of the input so far.
    tally: Tally,
    /// The beginning of a line that comes in parts.
    long_line: Option<String>,
}

impl Workers<'_> {
    /// Has `lines` rewritten by as many workers as it is worth.
    fn rewrite(&mut self, lines: &[u8]) {
        let pieces = cut(lines);
        if self.workers.len() < pieces.len() {
            self.workers.resize_with(pieces.len(), Worker::default);
        }
        let (normalizer, output) = (self.normalizer, self.output);
        let busy = &mut self.workers[..pieces.len()];
        if let ([worker], [piece]) = (&mut *busy, &*pieces) {
            worker.rewrite(normalizer, output, piece);
        } else {
            let pairs = busy.par_iter_mut().zip(pieces);
            pairs.for_each(|(worker, piece)| worker.rewrite(normalizer, output, piece));
        }
        self.busy = busy.len();
    }

    /// Writes what they made of it, unless most lines so far are no URLs. A dialogue that goes on has some lines to turn out well.
    fn write(&mut self, goes_on: bool, name: &str, sink: &mut Sink<'_>) -> anyhow::Result<()> {
        for worker in &mut self.workers[..self.busy] {
            self.tally.add(&mut worker.tally);
        }
        let is_mostly_bad = self.tally.is_mostly_bad() && !(goes_on && self.tally.lines < DIALOGUE_LINES);
        let bad = self.tally.bad.count();
        refuse_if(is_mostly_bad, bad, bad + self.tally.urls, name)?;
        for worker in &self.workers[..self.busy] {
            sink.write_all(&worker.out)?;
        }
        Ok(())
    }

    /// Writes a part of a line that is too long to be a URL. It cannot be written twice without holding it, so
    /// its result is empty in `tsv`, and JSON tells its place only.
    fn pass_through(&mut self, part: &[u8], is_last: bool, sink: &mut Sink<'_>) -> io::Result<()> {
        let line = self.tally.lines + 1;
        let start = self.long_line.take().unwrap_or_else(|| dedust_io::shorten(part));
        if let Output::Lines { format, .. } = self.output {
            match format {
                UrlFormat::Same | UrlFormat::Text | UrlFormat::Tsv => sink.write_all(part)?,
                UrlFormat::Json => {}
            }
            match format {
                _ if !is_last => {}
                UrlFormat::Same | UrlFormat::Text => sink.write_all(b"\n")?,
                UrlFormat::Tsv => sink.write_all(b"\t\n")?,
                UrlFormat::Json => sink.write_all(&worker::long_line(line)?)?,
            }
        }
        if is_last {
            self.tally.long_line(start);
        } else {
            self.long_line = Some(start);
        }
        Ok(())
    }
}

/// Cuts a batch at line ends into pieces of about the same size.
pub(super) fn cut(lines: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = lines;
    while rest.len() > PIECE_BYTES {
        let Some(end) = memchr::memchr(b'\n', &rest[PIECE_BYTES..]) else {
            break;
        };
        let (piece, after) = rest.split_at(PIECE_BYTES + end + 1);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines() {
        let lines = "http://a.example/some/path\n".repeat(20_000).into_bytes();
        let pieces = cut(&lines);
        assert!(pieces.len() > 2);
        assert!(pieces.iter().all(|piece| piece.ends_with(b"\n")));
        assert_eq!(pieces.concat(), lines);
        assert_eq!(cut(b""), Vec::<&[u8]>::new());
        assert_eq!(cut(b"no end"), [b"no end"]);
    }
}
