/*!
Prints what is new of inputs that are no lists: rows of text tables as they came, of all else the URLs.
*/

use std::io::Write as _;
use std::ops::Range;

use dedust_io::{Input, Location, Observation, RowKind};
use rayon::prelude::*;

use super::args::DedupFormat;
use super::budgeted::Budgeted;
use super::piece::{KeyMaker, Piece, shows_page};
use super::{Filter, observe};
use crate::failure::refuse;
use crate::interrupt;
use crate::printer::Printer;
use crate::rule_file::Watch;

/// Bytes of rows that are held at a time.
const BATCH_BYTES: usize = 4 << 20;

/// Rows that are worth a worker of their own.
const PIECE_ROWS: usize = 2048;

/// Some rows.
#[derive(Default)]
pub(super) struct RowBatch {
    /// What is printed before them: headers.
    head: Vec<u8>,
    pub(super) text: Vec<u8>,
    pub(super) rows: Vec<Row>,
}

/// A row, by where it is in the text of its batch.
pub(super) struct Row {
    pub(super) url: Range<usize>,
    /// What is printed.
    pub(super) shown: Range<usize>,
    /// Whether the URL answered with a page, as far as is known.
    pub(super) shows_page: bool,
    location: Location,
}

impl RowBatch {
    /// Adds a row; without a text of its own the URL is printed.
    fn push(&mut self, observation: &Observation, row: Option<&[u8]>) {
        let (url, location) = (observation.url(), observation.location());
        // A URL that redirects to a page will do where URLs are printed.
        let shows_page = row.is_none() || shows_page(observation);
        let start = self.text.len();
        // Line ends within a URL mean nothing, and would make two of it.
        self.text.extend(url.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')));
        let url = start..self.text.len();
        let shown = match row {
            Some(row) => {
                self.text.extend_from_slice(row.strip_suffix(b"\n").unwrap_or(row));
                url.end..self.text.len()
            }
            None => url.clone(),
        };
        self.rows.push(Row { url, shown, shows_page, location });
    }
}

/// Prints what is new of an input.
pub(super) fn filter(
    filter: &mut Filter<'_>,
    input: Input,
    watch: &mut Watch,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let format = input.format();
    let keeps_rows = filter.args.format == DedupFormat::Same && format.is_text_table();
    let mut reader = input.observations()?;
    let mut batch = RowBatch::default();
    if let Some(header) = reader.header().filter(|_| keeps_rows) {
        let text = header.text.trim_ascii_end();
        match &filter.header {
            Some(first) if *first == text => {}
            Some(_) => {
                let problem = format!("{} has other columns than the input before it", reader.name());
                return refuse(problem, "give each an output of its own, or add --format text");
            }
            None => {
                filter.header = Some(text.to_vec());
                batch.head.extend_from_slice(text);
                batch.head.push(b'\n');
            }
        }
    }
    let mut observation = Observation::new();
    let mut bad_rows = 0;
    let read: anyhow::Result<()> = loop {
        if let Err(interrupted) = interrupt::check() {
            break Err(interrupted.into());
        }
        match reader.read_each(&mut observation) {
            Ok(Some(RowKind::Page)) => {
                let row = reader.text_of_row().filter(|_| keeps_rows);
                batch.push(&observation, row);
            }
            Ok(Some(RowKind::Bad(bad))) => {
                bad_rows += 1;
                if bad_rows <= observe::SHOWN {
                    printer.warning(bad);
                }
            }
            Ok(Some(RowKind::Other)) => {
                // The header of an index, or what it says of itself.
                let line = reader.text_of_row().filter(|_| keeps_rows).unwrap_or_default();
                if line.get(1..4) == Some(b"CDX") || line.starts_with(b"!") {
                    batch.head.extend_from_slice(line);
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break interrupt::check().map_err(Into::into).and(Err(error.into())),
        }
        if batch.text.len() >= BATCH_BYTES {
            reader.check()?;
            print_new(filter, &mut batch, reader.name(), printer)?;
            watch.look(printer);
        }
    };
    // What is refused is not printed; what was read before a failure is.
    let is_usable = reader.check();
    let printed = match (&read, &is_usable) {
        (Ok(()), Err(_)) => Ok(()),
        _ => print_new(filter, &mut batch, reader.name(), printer),
    };
    observe::report_urls(&reader, &mut filter.layouts, printer);
    printed.and(read)?;
    Ok(is_usable?)
}

/// Prints what is new of some rows of an input, unless the URLs of most are none.
fn print_new(
    filter: &mut Filter<'_>,
    batch: &mut RowBatch,
    name: &str,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let rows = batch.rows.len();
    let pieces = rows.div_ceil(PIECE_ROWS);
    if filter.pieces.len() < pieces {
        filter.pieces.resize_with(pieces, Piece::default);
    }
    let maker = KeyMaker {
        normalizer: filter.normalizer,
        hasher: &filter.seen.hasher(),
        schemes: &filter.args.schemes,
        shadow: filter.shadow.as_ref().map(|shadow| &shadow.normalizer),
        budgets: filter.budgets.as_ref().map(Budgeted::book),
    };
    let read = |(index, piece): (usize, &mut Piece)| {
        let start = index * PIECE_ROWS;
        piece.read_rows(maker, batch, start..rows.min(start + PIECE_ROWS));
    };
    filter.pieces[..pieces].par_iter_mut().enumerate().for_each(read);
    let before = filter.tally.lines;
    let printed = filter.refuse_if_mostly_bad(pieces, false, name).and_then(|()| {
        printer.data().write_all(&batch.head)?;
        filter.print(pieces, |_| &batch.text, printer)
    });
    filter.tally.bad.locate(before, |row| Some(batch.rows.get(row)?.location));
    printed?;
    batch.head.clear();
    batch.text.clear();
    batch.rows.clear();
    Ok(())
}
