/*!
Reads an [`crate::Input`] row by row, whatever its format, and counts.

One [`Reader`] per input, filling one [`Observation`] per row. Bad rows are handed over and counted; whether there
were too many of them is for [`Reader::check`] to say, once the caller has seen enough. Keeps no rows.
*/

use std::fmt;

#[cfg(feature = "arrow")]
use arrow_array::ArrayRef;
#[cfg(feature = "arrow")]
use arrow_schema::ArrowError;

use crate::archive::{Archive, ArchiveFormat, NextRecord, RecordCounts};
#[cfg(feature = "arrow")]
use crate::arrow;
use crate::bad_row::{NoRow, SourcePosition};
use crate::format::entry::{FormatEntry, LineFormat, OpenTable};
use crate::inputs::partition;
use crate::line_rows::LineRows;
use crate::names::{Layout, NamedColumn};
use crate::table::{TableRows, guarded};
use crate::table_file::TableFile;
use crate::{
    BadRow, Column, DelimitedHeader, Document, Format, Location, Observation, Origin, Preset, ReadError, Text,
};

/// Rows of one input so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows delivered as observations.
    pub good: u64,
    /// Rows skipped. Blank lines and remarks are not rows.
    pub bad: u64,
    /// Columns that were ignored in rows that were delivered.
    pub bad_columns: u64,
    /// Pages of rows that were delivered of which only the beginning could be read.
    pub bad_bodies: u64,
}

impl RowCounts {
    /// An error if more than half of the rows are bad: the input is probably not what it was taken for.
    pub fn check(&self, file: &str, format: Format) -> Result<(), ReadError> {
        if self.bad > self.good {
            let &FormatEntry { name: format, expected, .. } = format.entry();
            let (file, RowCounts { good, bad, .. }) = (file.into(), *self);
            return Err(ReadError::MostlyBad { file, format, expected, good, bad });
        }
        Ok(())
    }
}

/// Yields the rows of one input in order.
pub struct Reader {
    origin: Origin,
    format: Format,
    rows: Rows,
    /// The part of an index, if the path names it.
    subset: Option<Box<str>>,
    counts: RowCounts,
    ended: bool,
}

/// What rows are cut from.
enum Rows {
    Lines(Box<LineRows>),
    Archive(Box<Archive>),
    Table(Box<dyn TableRows>),
}

/// What was read last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowKind {
    /// A row of a page.
    Page,
    /// A line or row that is none of a page, such as the header of an index.
    Other,
    /// A row that cannot be used.
    Bad(BadRow),
}

impl Reader {
    /// Reads lines of text: `start`, then `rest`. Some formats must have a host.
    pub(crate) fn of_lines(
        format: Format,
        lines: &LineFormat,
        host: Option<&str>,
        named: &[NamedColumn],
        start: Vec<u8>,
        rest: Text,
    ) -> Result<Reader, ReadError> {
        let origin = rest.origin().clone();
        if lines.needs_host && host.is_none() {
            return Err(ReadError::NoHost { file: origin.name().clone(), format: format.entry().name });
        }
        let rows = LineRows::new(lines, host.unwrap_or_default(), named, start, rest)?;
        Ok(Reader::of_rows(origin, format, Rows::Lines(Box::new(rows))))
    }

    /// Reads an archive: `start`, then `rest`.
    pub(crate) fn of_archive(format: Format, archive: ArchiveFormat, start: Vec<u8>, rest: Text) -> Reader {
        let origin = rest.origin().clone();
        Reader::of_rows(origin, format, Rows::Archive(Box::new(Archive::new(archive, start, rest))))
    }

    /// Reads a table, which is a file because it is not read from start to end.
    pub(crate) fn of_table(
        origin: Origin,
        format: Format,
        open: OpenTable,
        file: TableFile,
        named: &[NamedColumn],
    ) -> Result<Reader, ReadError> {
        let rows = guarded(origin.name(), 0, || open(origin.name(), file, named))?;
        Ok(Reader::of_rows(origin, format, Rows::Table(rows)))
    }

    /// Reads an Arrow table in memory, under a name for messages: `batches` gives the columns of one batch after the other, which
    /// have these names. `named` says which is which, where names do not tell.
    #[cfg(feature = "arrow")]
    pub fn of_batches(
        name: &str,
        names: &[&str],
        batches: impl Iterator<Item = Result<Vec<ArrayRef>, ArrowError>> + Send + 'static,
        named: &[NamedColumn],
    ) -> Result<Reader, ReadError> {
        let origin = Origin::in_memory(name);
        let rows = arrow::Table::of_batches(origin.name(), names, Box::new(batches), named)?;
        Ok(Reader::of_rows(origin, Format::Arrow, Rows::Table(Box::new(rows))))
    }

    fn of_rows(origin: Origin, format: Format, rows: Rows) -> Reader {
        let subset = partition(origin.name(), Column::Subset.name()).map(Into::into);
        Reader { origin, format, rows, subset, counts: RowCounts::default(), ended: false }
    }

    /// Reads the next row into `observation`.
    ///
    /// `None` at the end of the input. `Some(Err(..))` is a row that was skipped, after which reading goes on and
    /// `observation` holds nothing of use. A [`ReadError`] is final: after it, there are no more rows.
    pub fn read(&mut self, observation: &mut Observation) -> Result<Option<Result<(), BadRow>>, ReadError> {
        loop {
            match self.read_each(observation)? {
                Some(RowKind::Page) => return Ok(Some(Ok(()))),
                Some(RowKind::Bad(bad)) => return Ok(Some(Err(bad))),
                Some(RowKind::Other) => {}
                None => return Ok(None),
            }
        }
    }

    /// Like [`Reader::read`], for those who copy an input: also stops at what is no row of a page.
    pub fn read_each(&mut self, observation: &mut Observation) -> Result<Option<RowKind>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let read = match &mut self.rows {
            Rows::Lines(rows) => rows.read(&self.origin, observation),
            Rows::Archive(archive) => read_record(archive, &self.origin, observation),
            Rows::Table(table) => read_table(&mut **table, &self.origin, observation),
        };
        let read = match read {
            Ok(Ok(())) if self.is_page(observation) => Ok(Ok(())),
            Ok(Ok(())) => Ok(Err(NoRow::Other)),
            other => other,
        };
        match read {
            Ok(Ok(())) => {
                self.counts.good += 1;
                self.counts.bad_columns += observation.bad_columns().len() as u64;
                self.counts.bad_bodies += u64::from(observation.bad_body().is_some());
                Ok(Some(RowKind::Page))
            }
            Ok(Err(NoRow::Other)) => Ok(Some(RowKind::Other)),
            Ok(Err(NoRow::Bad(bad))) => {
                self.counts.bad += 1;
                Ok(Some(RowKind::Bad(bad)))
            }
            Ok(Err(NoRow::End)) => {
                self.ended = true;
                Ok(None)
            }
            Err(error) => {
                self.ended = true;
                Err(error)
            }
        }
    }

    /// Completes a row by what its tool means by it. `false` if it is none of a page.
    fn is_page(&self, observation: &mut Observation) -> bool {
        let subset = self.subset.as_deref();
        let is_page = self.preset().is_none_or(|preset| preset.complete(observation, subset));
        observation.complete();
        is_page
    }

    /// The tool that is known to write such inputs.
    pub fn preset(&self) -> Option<Preset> {
        match &self.rows {
            Rows::Lines(rows) => rows.preset(),
            Rows::Table(table) => table.known().names.preset(),
            Rows::Archive(_) => None,
        }
    }

    /// Which names of the input are used as which columns. Of JSON, those that were met so far; `None` for formats without
    /// names.
    pub fn layout(&self) -> Option<Layout> {
        match &self.rows {
            Rows::Lines(rows) => rows.layout(),
            Rows::Table(table) => Some(table.known().layout.clone()),
            Rows::Archive(_) => None,
        }
    }

    /// The row that was read last, as it stands in a text, with its line end; of a JSON array, the object alone. `None` for other
    /// formats.
    pub fn text_of_row(&self) -> Option<&[u8]> {
        match &self.rows {
            Rows::Lines(rows) => Some(rows.text_of_row()),
            Rows::Table(_) | Rows::Archive(_) => None,
        }
    }

    /// The beginning of what is not read yet of a text.
    pub(crate) fn start(&self) -> &[u8] {
        match &self.rows {
            Rows::Lines(rows) => rows.start(),
            Rows::Table(_) | Rows::Archive(_) => &[],
        }
    }

    /// The header of a delimited table.
    pub fn header(&self) -> Option<&DelimitedHeader> {
        match &self.rows {
            Rows::Lines(rows) => rows.header(),
            Rows::Table(_) | Rows::Archive(_) => None,
        }
    }

    /// The page behind the row that was read last. Only archives have pages, and not of every row: a picture has none,
    /// nor has a page that was found unchanged.
    pub fn document(&self) -> Option<&Document> {
        match &self.rows {
            Rows::Lines(_) | Rows::Table(_) => None,
            Rows::Archive(archive) => archive.document(),
        }
    }

    /// The same, given away.
    pub fn take_document(&mut self) -> Option<Document> {
        match &mut self.rows {
            Rows::Lines(_) | Rows::Table(_) => None,
            Rows::Archive(archive) => archive.take_document(),
        }
    }

    /// The records of an archive so far, pages or not. `None` for other formats.
    pub fn records(&self) -> Option<RecordCounts> {
        match &self.rows {
            Rows::Lines(_) | Rows::Table(_) => None,
            Rows::Archive(archive) => Some(archive.counts()),
        }
    }

    /// The name for messages: the path, or `standard input`.
    pub fn name(&self) -> &str {
        self.origin.name()
    }

    /// What changes when an object of a store does. `None` for all else.
    pub fn version(&self) -> Option<&str> {
        self.origin.version()
    }

    /// The format of the rows.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Rows read so far.
    pub fn counts(&self) -> RowCounts {
        self.counts
    }

    /// An error if more than half of the rows so far were bad. To be called at the end, or at any time before.
    pub fn check(&self) -> Result<(), ReadError> {
        self.counts.check(self.origin.name(), self.format)
    }
}

fn read_record(
    archive: &mut Archive,
    origin: &Origin,
    observation: &mut Observation,
) -> Result<Result<(), NoRow>, ReadError> {
    observation.start(Location::default());
    let next = archive.next(observation);
    let (number, offset) = archive.position();
    let position = SourcePosition { file: origin.name(), location: Location::Record { number, offset } };
    match next {
        Ok(NextRecord::Page) => {
            observation.set_location(position.location);
            observation.set_bad_body(archive.take_bad_body().map(|reason| position.bad_body(reason)));
            Ok(Ok(()))
        }
        Ok(NextRecord::Bad(reason)) => {
            let bad = position.bad_row(reason, archive.shown());
            Ok(Err(NoRow::Bad(bad)))
        }
        Ok(NextRecord::End) => Ok(Err(NoRow::End)),
        Err(source) => {
            let record = number.saturating_sub(1);
            Err(ReadError::ReadArchive { file: origin.name().clone(), record, offset, source })
        }
    }
}

fn read_table(
    table: &mut dyn TableRows,
    origin: &Origin,
    observation: &mut Observation,
) -> Result<Result<(), NoRow>, ReadError> {
    let row = table.location().number();
    Ok(match guarded(origin.name(), row, || table.read(origin.name(), observation))? {
        Some(Ok(())) => Ok(()),
        Some(Err(reason)) => {
            let position = SourcePosition { file: origin.name(), location: table.location() };
            Err(NoRow::Bad(position.bad_row(reason, b"")))
        }
        None => Err(NoRow::End),
    })
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("origin", &self.origin)
            .field("format", &self.format)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
