/*!
Reads an [`crate::Input`] row by row, whatever its format, and counts.

One [`Reader`] per input, filling one [`Observation`] per row. Bad rows are handed over and counted; whether there
were too many of them is for [`Reader::check`] to say, once the caller has seen enough. Keeps no rows.
*/

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::bad_row::{BadRowReason, Place};
use crate::delimited::Delimited;
use crate::line_buffer::{LineBuffer, Next};
use crate::{BadRow, Format, Observation, Origin, ReadError, Text, access_log, jsonl, lines};

/// Rows of one input so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Rows delivered as observations.
    pub good: u64,
    /// Rows skipped. Blank lines and remarks are not rows.
    pub bad: u64,
    /// Columns that were ignored in rows that were delivered.
    pub bad_columns: u64,
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
    lines: LineBuffer,
    /// Present for the formats with a header.
    delimited: Option<Delimited>,
    /// What stands before the paths of an access log; empty for other formats.
    base: Box<str>,
    counts: RowCounts,
    ended: bool,
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
        let base = host.unwrap_or_default();
        let mut lines = LineBuffer::new(start, Box::new(rest));
        let delimited = match format {
            Format::Csv | Format::Tsv => match read_header(origin.name(), format, &mut lines) {
                Ok(header) => Some(header?),
                Err(error) => return Err(failure(&origin, &lines, error)),
            },
            Format::JsonLines | Format::UrlList | Format::AccessLog => None,
        };
        Ok(Reader { origin, format, lines, delimited, base, counts: RowCounts::default(), ended: false })
    }

    /// Reads the next row into `observation`.
    ///
    /// `None` at the end of the input. `Some(Err(..))` is a row that was skipped, after which reading goes on and
    /// `observation` holds nothing of use. A [`ReadError`] is final: after it, there are no more rows.
    pub fn read(&mut self, observation: &mut Observation) -> Result<Option<Result<(), BadRow>>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        match self.read_row(observation) {
            Ok(Some(Ok(()))) => {
                self.counts.good += 1;
                self.counts.bad_columns += observation.bad_columns().len() as u64;
                Ok(Some(Ok(())))
            }
            Ok(Some(Err(reason))) => {
                self.counts.bad += 1;
                Ok(Some(Err(self.place().bad_row(reason, self.lines.row()))))
            }
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(error) => {
                self.ended = true;
                Err(failure(&self.origin, &self.lines, error))
            }
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

    fn read_row(&mut self, observation: &mut Observation) -> io::Result<Option<Result<(), BadRowReason>>> {
        loop {
            match next_row(&mut self.lines)? {
                Next::Line => {}
                Next::TooLong => return Ok(Some(Err(BadRowReason::TooLong))),
                Next::End => return Ok(None),
            }
            observation.start(self.lines.line());
            let place = Place { file: self.origin.name(), line: self.lines.line() };
            match (self.format, &mut self.delimited) {
                (Format::JsonLines, _) => {
                    return Ok(Some(jsonl::parse(self.lines.row(), place, observation)));
                }
                (Format::AccessLog, _) => {
                    if let Some(row) = access_log::parse(self.lines.row(), self.base.as_bytes(), observation)
                    {
                        return Ok(Some(row));
                    }
                }
                (_, Some(delimited)) => return delimited.read(&mut self.lines, place, observation).map(Some),
                (_, None) => {
                    if let Some(row) = lines::parse(self.lines.row(), observation) {
                        return Ok(Some(row));
                    }
                }
            }
        }
    }

    fn place(&self) -> Place<'_> {
        Place { file: self.origin.name(), line: self.lines.line() }
    }
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
