/*!
Rows of texts: formats of which a row is a line, or some of them.

Takes the lines of a text and hands each to the parser of its format. Knows no files, and keeps nothing but the current row.
*/

use std::io;

use crate::bad_row::{NoRow, SourcePosition};
use crate::format::entry::{CurrentRow, LineFormat, LineParser, OpenError, Opening, Parsed};
use crate::line_buffer::{LineBuffer, Next};
use crate::names::{Layout, NamedColumn};
use crate::{BadRowReason, DelimitedHeader, Location, Observation, Origin, Preset, ReadError, Text};

pub(crate) struct LineRows {
    lines: LineBuffer,
    parser: Box<dyn LineParser>,
}

impl LineRows {
    /// Reads `start`, then `rest`. `host` is that of a format which needs one.
    pub(crate) fn new(
        format: &LineFormat,
        host: &str,
        named: &[NamedColumn],
        start: Vec<u8>,
        rest: Text,
    ) -> Result<Self, ReadError> {
        let origin = rest.origin().clone();
        let mut lines = LineBuffer::new(start, Box::new(rest));
        let opening = Opening { file: origin.name(), lines: &mut lines, named, host };
        match (format.parser)(opening) {
            Ok(parser) => Ok(LineRows { lines, parser }),
            Err(OpenError::Refused(error)) => Err(error),
            Err(OpenError::Failed(error)) => Err(failure(&origin, &lines, error)),
        }
    }

    /// Reads the next row or line.
    pub(crate) fn read(
        &mut self,
        origin: &Origin,
        observation: &mut Observation,
    ) -> Result<Result<(), NoRow>, ReadError> {
        observation.start(Location::Line(self.lines.line()));
        if self.parser.parse_more(observation) {
            return Ok(Ok(()));
        }
        let parsed = match self.lines.next_row() {
            Ok(Next::Line) => self.parse(origin, observation),
            Ok(Next::TooLong) => Ok(Some(Err(BadRowReason::TooLong))),
            Ok(Next::End) => return Ok(Err(NoRow::End)),
            Err(error) => Err(error),
        };
        match parsed {
            Ok(Some(Ok(()))) => Ok(Ok(())),
            Ok(Some(Err(reason))) => {
                let position =
                    SourcePosition { file: origin.name(), location: Location::Line(self.lines.line()) };
                Ok(Err(NoRow::Bad(position.bad_row(reason, self.lines.row().trim_ascii_end()))))
            }
            Ok(None) => Ok(Err(NoRow::Other)),
            Err(error) => Err(failure(origin, &self.lines, error)),
        }
    }

    fn parse(&mut self, origin: &Origin, observation: &mut Observation) -> io::Result<Parsed> {
        let location = Location::Line(self.lines.line());
        observation.start(location);
        let position = SourcePosition { file: origin.name(), location };
        self.parser.parse(CurrentRow { lines: &mut self.lines, position, observation })
    }

    /// The tool that is known to write such inputs.
    pub(crate) fn preset(&self) -> Option<Preset> {
        self.parser.preset()
    }

    /// Which names of the input are used as which columns.
    pub(crate) fn layout(&self) -> Option<Layout> {
        self.parser.layout()
    }

    /// The row that was read last, with its line end; of a JSON array, the object alone.
    pub(crate) fn text_of_row(&self) -> &[u8] {
        self.parser.row_in(self.lines.text())
    }

    /// The beginning of what is not read yet.
    pub(crate) fn start(&self) -> &[u8] {
        self.lines.start()
    }

    /// The header of a delimited table.
    pub(crate) fn header(&self) -> Option<&DelimitedHeader> {
        self.parser.header()
    }
}

fn failure(origin: &Origin, lines: &LineBuffer, error: io::Error) -> ReadError {
    let (line, offset) = lines.before_row();
    origin.failure(line, offset, error)
}
