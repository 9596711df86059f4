/*!
Reads an [`crate::Input`] row by row, whatever its format, and counts.

One [`Reader`] per input, filling one [`Observation`] per row. Bad rows are handed over and counted; whether there
were too many of them is for [`Reader::check`] to say, once the caller has seen enough. Keeps no rows.
*/

use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::archive::{Archive, ArchiveFormat, NextRecord, RecordCounts};
#[cfg(feature = "arrow")]
use crate::arrow;
use crate::bad_row::{BadRowReason, Place};
use crate::cdx::{self, Cdx};
use crate::delimited::Delimited;
use crate::line_buffer::{LineBuffer, Next};
use crate::table::{TableRows, guarded};
use crate::{
    BadRow, Document, Format, Location, Observation, Origin, ReadError, Text, access_log, jsonl, lines,
    parquet,
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
            return Err(ReadError::MostlyBad { file: file.into(), format, good: self.good, bad: self.bad });
        }
        Ok(())
    }
}

/// Yields the rows of one input in order.
pub struct Reader {
    origin: Origin,
    format: Format,
    rows: Rows,
    counts: RowCounts,
    ended: bool,
}

/// What rows are cut from.
enum Rows {
    Lines(Box<LineRows>),
    Archive(Box<Archive>),
    Table(Box<dyn TableRows>),
}

struct LineRows {
    format: Format,
    lines: LineBuffer,
    /// Present for the formats with a header.
    delimited: Option<Delimited>,
    cdx: Cdx,
    /// What stands before the paths of an access log; empty for other formats.
    base: Box<str>,
}

/// Why there is no row.
enum NoRow {
    End,
    Bad(BadRow),
}

impl Reader {
    /// Reads `start`, then `rest`. An access log must have a host.
    pub(crate) fn new(
        format: Format,
        host: Option<Box<str>>,
        start: Vec<u8>,
        rest: Text,
    ) -> Result<Reader, ReadError> {
        let origin = rest.origin().clone();
        if format == Format::AccessLog && host.is_none() {
            return Err(ReadError::NoHost { file: origin.name().clone() });
        }
        let rows = match format {
            Format::Warc => Rows::Archive(Box::new(Archive::new(ArchiveFormat::Warc, start, rest))),
            Format::Arc => Rows::Archive(Box::new(Archive::new(ArchiveFormat::Arc, start, rest))),
            _ => Rows::Lines(Box::new(LineRows::new(format, host.unwrap_or_default(), start, rest)?)),
        };
        Ok(Reader { origin, format, rows, counts: RowCounts::default(), ended: false })
    }

    /// Reads a table, which is a file because it is not read from start to end.
    pub(crate) fn of_table(origin: Origin, format: Format, file: File) -> Result<Reader, ReadError> {
        let name = origin.name();
        let rows = guarded(name, 0, || -> Result<Box<dyn TableRows>, ReadError> {
            match format {
                #[cfg(feature = "arrow")]
                Format::Arrow => Ok(Box::new(arrow::Table::open(name, file)?)),
                _ => Ok(Box::new(parquet::Table::open(name, file)?)),
            }
        })?;
        Ok(Reader { origin, format, rows: Rows::Table(rows), counts: RowCounts::default(), ended: false })
    }

    /// Reads the next row into `observation`.
    ///
    /// `None` at the end of the input. `Some(Err(..))` is a row that was skipped, after which reading goes on and
    /// `observation` holds nothing of use. A [`ReadError`] is final: after it, there are no more rows.
    pub fn read(&mut self, observation: &mut Observation) -> Result<Option<Result<(), BadRow>>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let read = match &mut self.rows {
            Rows::Lines(rows) => rows.read(&self.origin, observation),
            Rows::Archive(archive) => read_record(archive, &self.origin, observation),
            Rows::Table(table) => read_table(&mut **table, &self.origin, observation),
        };
        match read {
            Ok(Ok(())) => {
                self.counts.good += 1;
                self.counts.bad_columns += observation.bad_columns().len() as u64;
                self.counts.bad_bodies += u64::from(observation.bad_body().is_some());
                Ok(Some(Ok(())))
            }
            Ok(Err(NoRow::Bad(bad))) => {
                self.counts.bad += 1;
                Ok(Some(Err(bad)))
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

impl LineRows {
    fn new(format: Format, base: Box<str>, start: Vec<u8>, rest: Text) -> Result<Self, ReadError> {
        let origin = rest.origin().clone();
        let mut lines = LineBuffer::new(start, Box::new(rest));
        let delimited = match format {
            Format::Csv | Format::Tsv => match read_header(origin.name(), format, &mut lines) {
                Ok(header) => Some(header?),
                Err(error) => return Err(failure(&origin, &lines, error)),
            },
            _ => None,
        };
        Ok(LineRows { format, lines, delimited, cdx: Cdx::default(), base })
    }

    fn read(
        &mut self,
        origin: &Origin,
        observation: &mut Observation,
    ) -> Result<Result<(), NoRow>, ReadError> {
        match self.read_row(origin, observation) {
            Ok(Some(Ok(()))) => Ok(Ok(())),
            Ok(Some(Err(reason))) => {
                let place = Place { file: origin.name(), location: Location::Line(self.lines.line()) };
                Ok(Err(NoRow::Bad(place.bad_row(reason, self.lines.row()))))
            }
            Ok(None) => Ok(Err(NoRow::End)),
            Err(error) => Err(failure(origin, &self.lines, error)),
        }
    }

    fn read_row(
        &mut self,
        origin: &Origin,
        observation: &mut Observation,
    ) -> io::Result<Option<Result<(), BadRowReason>>> {
        loop {
            match next_row(&mut self.lines)? {
                Next::Line => {}
                Next::TooLong => return Ok(Some(Err(BadRowReason::TooLong))),
                Next::End => return Ok(None),
            }
            let location = Location::Line(self.lines.line());
            observation.start(location);
            let place = Place { file: origin.name(), location };
            let row = self.lines.row();
            let parsed = match (self.format, &mut self.delimited) {
                (Format::JsonLines, _) => Some(jsonl::parse(row, place, observation)),
                (Format::AccessLog, _) => access_log::parse(row, self.base.as_bytes(), observation),
                (Format::Cdx, _) => self.cdx.parse(row, observation),
                (Format::Cdxj, _) => cdx::parse_json(row, place, observation),
                (_, Some(delimited)) => Some(delimited.read(&mut self.lines, place, observation)?),
                (_, None) => lines::parse(row, observation),
            };
            if parsed.is_some() {
                return Ok(parsed);
            }
        }
    }
}

fn read_record(
    archive: &mut Archive,
    origin: &Origin,
    observation: &mut Observation,
) -> Result<Result<(), NoRow>, ReadError> {
    observation.start(Location::default());
    let next = archive.next(observation);
    let (number, offset) = archive.place();
    let place = Place { file: origin.name(), location: Location::Record { number, offset } };
    match next {
        Ok(NextRecord::Page) => {
            observation.set_location(place.location);
            observation.set_bad_body(archive.take_bad_body().map(|reason| place.bad_body(reason)));
            Ok(Ok(()))
        }
        Ok(NextRecord::Bad(reason)) => {
            let bad = place.bad_row(reason, archive.shown());
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
            let place = Place { file: origin.name(), location: table.location() };
            Err(NoRow::Bad(place.bad_row(reason, b"")))
        }
        None => Err(NoRow::End),
    })
}

fn failure(origin: &Origin, lines: &LineBuffer, error: io::Error) -> ReadError {
    let (line, offset) = lines.before_row();
    origin.failure(line, offset, error)
}

/// Reads up to the header. The format was told from it, so it is there.
fn read_header(
    file: &Arc<str>,
    format: Format,
    lines: &mut LineBuffer,
) -> io::Result<Result<Delimited, ReadError>> {
    next_row(lines)?;
    Delimited::from_header(file, format, lines)
}

/// The next line that is not blank.
fn next_row(lines: &mut LineBuffer) -> io::Result<Next> {
    loop {
        let next = lines.next_line()?;
        if next != Next::Line || lines.row().iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Ok(next);
        }
    }
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
