/*!
`dedust normalize`: lines in, as many lines out, in the same order.

Batches of lines are cut into pieces, one per worker, which are rewritten at the same time and written one after the
other. Workers keep their buffers from batch to batch.
*/

mod worker;

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;
use dedust::Normalizer;
use rayon::prelude::*;

use self::worker::{Output, Tally, Worker};
use crate::ExitStatus;
use crate::args::{NormalizeArgs, UrlFormat};
use crate::line_source::{Batch, Batches, name_of};
use crate::number::{count, counted};
use crate::printer::Printer;
use crate::rule_file::{self, Watch};

/// Bytes of lines that are worth a worker of their own.
const PIECE_BYTES: usize = 128 << 10;

/// Rewrites lines.
pub(crate) fn run(args: &NormalizeArgs, printer: &mut Printer) -> anyhow::Result<ExitStatus> {
    let from_stdin = args.urls.as_os_str() == "-";
    let mut watch = Watch::new(&args.rules);
    let normalizer = rule_file::normalizer(&args.rules, &args.trust, from_stdin, printer)?;
    printer.detail(format_args!(
        "{} of {}",
        counted(normalizer.rule_count(), "rule", "rules"),
        counted(normalizer.site_count(), "site", "sites")
    ));
    if from_stdin && io::stdin().is_terminal() {
        printer.hint("reading URLs from the terminal, one per line; end with Ctrl-D, stop with Ctrl-C");
    }
    let name = name_of(&args.urls);
    let output =
        if args.check { Output::Nothing } else { Output::Lines { format: args.format, key: args.key } };
    let mut batches = Batches::read_ahead(Box::new(dedust_io::open_text(&args.urls)?), from_stdin)
        .context("cannot start a thread that reads")?;
    let mut workers = Workers {
        normalizer: &normalizer,
        output,
        workers: Vec::new(),
        busy: 0,
        tally: Tally::default(),
        long_line: None,
    };
    loop {
        let batch = match batches.next() {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(error) => {
                printer.finish()?;
                report(&workers.tally, &name, output, printer);
                let lines = counted(workers.tally.lines, "line", "lines");
                return Err(error).with_context(|| {
                    format!("cannot read {name} to its end; the first {lines} of it were normalized")
                });
            }
        };
        match batch {
            Batch::Lines(lines) => {
                workers.rewrite(lines);
                workers.write(printer)?;
            }
            Batch::LongLine { part, is_last } => workers.pass_through(part, is_last, printer)?,
        }
        if from_stdin {
            printer.finish()?;
        }
        watch.look(printer);
    }
    printer.finish()?;
    report(&workers.tally, &name, output, printer);
    if args.check && workers.tally.changed > 0 {
        let Tally { changed, urls, .. } = workers.tally;
        let verb = if changed == 1 { "is" } else { "are" };
        printer.note(format_args!(
            "{} of {} {verb} not canonical",
            count(changed),
            counted(urls, "URL", "URLs")
        ));
        if let Some((line, url)) = &workers.tally.first_changed {
            printer.note(format_args!("the first is {name}:{line}: {url}"));
        }
        return Ok(ExitStatus::No);
    }
    Ok(ExitStatus::Success)
}

/// Says which lines were no URLs.
fn report(tally: &Tally, name: &str, output: Output, printer: &mut Printer) {
    let (fate, was, were) = match output {
        Output::Nothing => ("", "", ""),
        Output::Lines { .. } => (", passed through", " and was passed through", " and were passed through"),
    };
    for bad in &tally.first_bad {
        printer.warning(format_args!("{name}:{}: {}{fate}: {}", bad.line, bad.problem, bad.value));
    }
    if tally.bad > 0 {
        let are_no_urls = match tally.bad {
            1 => format!("is no URL{was}"),
            _ => format!("are no URLs{were}"),
        };
        let lines = counted(tally.lines, "line", "lines");
        printer.warning(format_args!("{} of {lines} {are_no_urls}", count(tally.bad)));
    }
    printer.detail(format_args!(
        "{} in {}, {} rewritten",
        counted(tally.urls, "URL", "URLs"),
        counted(tally.lines, "line", "lines"),
        count(tally.changed)
    ));
}

struct Workers<'n> {
    normalizer: &'n Normalizer,
    output: Output,
    workers: Vec<Worker>,
    /// How many of them had something to do.
    busy: usize,
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

    /// Writes what they made of it.
    fn write(&mut self, printer: &mut Printer) -> io::Result<()> {
        for worker in &mut self.workers[..self.busy] {
            printer.data().write_all(&worker.out)?;
            self.tally.add(&mut worker.tally);
        }
        Ok(())
    }

    /// Writes a part of a line that is too long to be a URL. It cannot be written twice without holding it, so
    /// its result is empty in `tsv`, and JSON tells its place only.
    fn pass_through(&mut self, part: &[u8], is_last: bool, printer: &mut Printer) -> io::Result<()> {
        let line = self.tally.lines + 1;
        let start = self.long_line.take().unwrap_or_else(|| dedust_io::shorten(part));
        let data = printer.data();
        if let Output::Lines { format, .. } = self.output {
            match format {
                UrlFormat::Text | UrlFormat::Tsv => data.write_all(part)?,
                UrlFormat::Json => {}
            }
            match format {
                _ if !is_last => {}
                UrlFormat::Text => data.write_all(b"\n")?,
                UrlFormat::Tsv => data.write_all(b"\t\n")?,
                UrlFormat::Json => worker::write_long_line(line, data)?,
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
