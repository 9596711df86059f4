/*!
Rewrites tables to tables with a key and a canonical URL for each row.

The URLs of a batch of rows are shared out to workers. Rows whose URL is none are kept, without key and URL.
*/

use std::io::{self, IsTerminal as _, Write};
use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;

use dedust::errors::ParseUrlError;
use dedust::{Both, Normalizer, Scratch};
use dedust_io::{
    AddedColumns, AddedNames, Format, Input, OutputFile, RewriteError, Rewriter, TextColumn, UrlBatch,
};
use rayon::prelude::*;

use super::{Job, refuse_if};
use crate::failure::refuse;
use crate::interrupt;
use crate::number::{count, counted};
use crate::observe::{self, SHOWN};
use crate::printer::Printer;

/// Rows that are worth a worker of their own.
const PIECE_ROWS: usize = 1024;

/// Rows of an input so far.
#[derive(Default)]
struct Tally {
    urls: u64,
    /// Rows whose URL is missing or none.
    bad: u64,
    /// Rows that were left out.
    bad_rows: u64,
    changed: u64,
    messages: Vec<String>,
}

/// Buffers to rewrite URLs in.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    added: AddedColumns,
    changed: u64,
    /// Rows of the piece whose URL is none, and why.
    bad: Vec<(usize, Option<ParseUrlError>)>,
}

/// Rewrites all inputs to one table.
pub(super) fn run(
    job: &mut Job<'_>,
    first: Input,
    others: &[PathBuf],
    output: Option<&mut OutputFile>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let format = first.format();
    let is_binary = matches!(format, Format::Parquet | Format::Arrow);
    if output.is_none() && is_binary && io::stdout().is_terminal() {
        let problem = format!("{} is {format}, which cannot be shown on a terminal", first.name());
        return refuse(problem, "name a file with -o, or print URLs with --format text");
    }
    let names = AddedNames { key: job.args.key_column.clone(), url: job.args.url_column.clone() };
    if names.key == names.url {
        let problem = format!("--key-column and --url-column are both `{}`", names.key);
        return refuse(problem, "expected two names");
    }
    let mut stdout;
    let sink: &mut (dyn Write + Send) = match output {
        Some(file) => file,
        None => {
            stdout = OutputFile::create("-", false)?;
            &mut stdout
        }
    };
    let mut rewriter = Rewriter::new(format, names, sink);
    let mut workers = Workers { normalizer: job.normalizer, workers: Vec::new() };
    add(job, &mut rewriter, first, &mut workers, printer)?;
    for path in others {
        let input = observe::open(path, &job.args.read)?;
        add(job, &mut rewriter, input, &mut workers, printer)?;
    }
    Ok(rewriter.finish()?)
}

fn add(
    job: &mut Job<'_>,
    rewriter: &mut Rewriter<'_>,
    input: Input,
    workers: &mut Workers<'_>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let (name, format) = (input.name().to_owned(), input.format());
    let mut tally = Tally::default();
    let added = rewriter.add(input, &mut |batch, added| {
        workers.rewrite(batch, added);
        tally.add(batch, workers);
        job.watch.look(printer);
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    tally.report(printer);
    interrupt::check()?;
    let layout = match added {
        Ok(layout) => layout.unwrap_or_default(),
        Err(error @ RewriteError::Write(_)) => {
            return Err(anyhow::Error::new(error).context(format!("cannot copy {name}")));
        }
        // As it is, so that what to do about it is found.
        Err(RewriteError::Read(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    job.layouts.note_urls(&name, format, layout);
    job.urls += tally.urls;
    job.changed += tally.changed;
    let bad = tally.bad + tally.bad_rows;
    refuse_if(bad > tally.urls, bad, bad + tally.urls, &name)
}

struct Workers<'n> {
    normalizer: &'n Normalizer,
    workers: Vec<Worker>,
}

impl Workers<'_> {
    fn rewrite(&mut self, batch: &UrlBatch, added: &mut AddedColumns) {
        let rows = batch.urls.len();
        let normalizer = self.normalizer;
        if rows <= PIECE_ROWS || rayon::current_num_threads() == 1 {
            self.workers.resize_with(1, Worker::default);
            let worker = &mut self.workers[0];
            // Straight into the columns, without a copy.
            mem::swap(&mut worker.added, added);
            worker.rewrite(normalizer, &batch.urls, 0..rows);
            mem::swap(&mut worker.added, added);
            return;
        }
        self.workers.resize_with(rows.div_ceil(PIECE_ROWS), Worker::default);
        self.workers.par_iter_mut().enumerate().for_each(|(index, worker)| {
            let start = index * PIECE_ROWS;
            worker.rewrite(normalizer, &batch.urls, start..rows.min(start + PIECE_ROWS));
        });
        for worker in &self.workers {
            added.append(&worker.added);
        }
    }
}

impl Worker {
    /// Makes keys and canonical URLs of some rows.
    fn rewrite(&mut self, normalizer: &Normalizer, urls: &TextColumn, rows: std::ops::Range<usize>) {
        let Self { scratch, added, changed, bad } = self;
        added.clear();
        bad.clear();
        *changed = 0;
        let present = || rows.clone().filter_map(|row| urls.get(row));
        let mut row = rows.start;
        normalizer.each_both(present(), scratch, |url, result| {
            while urls.get(row).is_none() {
                added.push(None);
                row += 1;
            }
            *changed += u64::from(result.is_ok_and(|both| both.canonical != url));
            bad.extend(result.err().map(|error| (row, Some(error))));
            added.push(result.ok().map(|Both { key, canonical }| (key, canonical)));
            row += 1;
        });
        added.pad_to(rows.len());
        if urls.has_absent() {
            bad.extend(rows.filter(|row| urls.get(*row).is_none()).map(|row| (row, None)));
        }
    }
}

impl Tally {
    fn add(&mut self, batch: &UrlBatch, workers: &Workers<'_>) {
        for bad in &batch.bad_rows {
            self.bad_rows += 1;
            self.message(|| bad.to_string());
        }
        let mut bad_urls = 0;
        for worker in &workers.workers {
            self.changed += worker.changed;
            bad_urls += worker.bad.len() as u64;
            for (row, error) in &worker.bad {
                self.message(|| {
                    let location = batch.location(*row);
                    let file = &batch.file;
                    match error {
                        Some(error) => {
                            let url = dedust_io::shorten(batch.urls.get(*row).unwrap_or_default());
                            format!("{file}{location}: {error}, kept without key: {url}")
                        }
                        None => format!("{file}{location}: no URL, kept without key"),
                    }
                });
            }
        }
        self.bad += bad_urls;
        self.urls += batch.urls.len() as u64 - bad_urls;
    }

    fn message(&mut self, message: impl FnOnce() -> String) {
        if self.messages.len() < SHOWN {
            self.messages.push(message());
        }
    }

    fn report(&self, printer: &mut Printer) {
        for message in &self.messages {
            printer.warning(message);
        }
        let rows = counted(self.urls + self.bad + self.bad_rows, "row", "rows");
        if self.bad_rows > 0 {
            printer.warning(format_args!("{} of {rows} left out", count(self.bad_rows)));
        }
        if self.bad > 0 {
            printer.warning(format_args!(
                "{} of {rows} kept without key, since they have no URL",
                count(self.bad)
            ));
        }
        printer.detail(format_args!(
            "{} in {rows}, {} rewritten",
            counted(self.urls, "URL", "URLs"),
            count(self.changed)
        ));
    }
}
