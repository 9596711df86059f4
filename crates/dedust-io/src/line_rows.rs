/*!
Rows of texts: formats of which a row is a line, or some of them.

Takes the lines of a text and hands each to the parser of its format. Knows no files, and keeps nothing but the current row.
*/

use std::io;
use std::sync::Arc;

use crate::bad_row::{BadRowReason, NoRow, SourcePosition};
use crate::cdx::{self, Cdx};
use crate::crawl_log::{self, Redirect};
use crate::delimited::Delimited;
use crate::jsonl::{self, Keys};
use crate::line_buffer::{LineBuffer, Next};
use crate::names::{Layout, NamedColumn, Names};
use crate::sniff::array_element;
use crate::{Format, Location, Observation, Origin, Preset, ReadError, Text, access_log, lines, nutch};

/// Rows of JSON by whose keys a tool is recognised.
const NAMED_ROWS: usize = 20;

/// The first line of a delimited table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DelimitedHeader {
    /// As written, with its line end.
    pub text: Vec<u8>,
    /// What stands between fields.
    pub separator: u8,
    /// How many fields there are.
    pub width: usize,
}

pub(crate) struct LineRows {
    format: Format,
    lines: LineBuffer,
    /// Present for the formats with a header.
    delimited: Option<(Delimited, DelimitedHeader)>,
    /// Those of JSON objects.
    keys: Keys,
    cdx: Cdx,
    /// Told by the line before.
    redirect: Redirect,
    /// What stands before the paths of an access log; empty for other formats.
    base: Box<str>,
}

/// What was made of a row.
enum Parsed {
    Row,
    Other,
    Bad(BadRowReason),
}

impl LineRows {
    /// Reads `start`, then `rest`.
    pub(crate) fn new(
        format: Format,
        base: Box<str>,
        named: &[NamedColumn],
        start: Vec<u8>,
        rest: Text,
    ) -> Result<Self, ReadError> {
        let origin = rest.origin().clone();
        let keys = match format {
            Format::JsonLines | Format::JsonArray => Keys::new(names_in(&start, named)?),
            _ => Keys::default(),
        };
        let mut lines = LineBuffer::new(start, Box::new(rest));
        let delimited = match format {
            Format::Csv | Format::Tsv => match read_header(origin.name(), format, named, &mut lines) {
                Ok(header) => Some(header?),
                Err(error) => return Err(failure(&origin, &lines, error)),
            },
            _ => None,
        };
        Ok(LineRows {
            format,
            lines,
            delimited,
            keys,
            cdx: Cdx::default(),
            redirect: Redirect::default(),
            base,
        })
    }

    /// Reads the next row or line.
    pub(crate) fn read(
        &mut self,
        origin: &Origin,
        observation: &mut Observation,
    ) -> Result<Result<(), NoRow>, ReadError> {
        match self.read_row(origin, observation) {
            Ok(Some(Parsed::Row)) => Ok(Ok(())),
            Ok(Some(Parsed::Other)) => Ok(Err(NoRow::Other)),
            Ok(Some(Parsed::Bad(reason))) => {
                let position =
                    SourcePosition { file: origin.name(), location: Location::Line(self.lines.line()) };
                Ok(Err(NoRow::Bad(position.bad_row(reason, self.lines.row().trim_ascii_end()))))
            }
            Ok(None) => Ok(Err(NoRow::End)),
            Err(error) => Err(failure(origin, &self.lines, error)),
        }
    }

    fn read_row(&mut self, origin: &Origin, observation: &mut Observation) -> io::Result<Option<Parsed>> {
        let location = Location::Line(self.lines.line());
        observation.start(location);
        if self.redirect.take(observation) {
            return Ok(Some(Parsed::Row));
        }
        match next_row(&mut self.lines)? {
            Next::Line => {}
            Next::TooLong => return Ok(Some(Parsed::Bad(BadRowReason::TooLong))),
            Next::End => return Ok(None),
        }
        let location = Location::Line(self.lines.line());
        observation.start(location);
        let position = SourcePosition { file: origin.name(), location };
        let row = self.lines.row();
        let parsed = match (self.format, &mut self.delimited) {
            (Format::JsonLines, _) => Some(jsonl::parse(row, position, &mut self.keys, observation)),
            (Format::JsonArray, _) => match array_element(row) {
                b"" => None,
                row => Some(jsonl::parse(row, position, &mut self.keys, observation)),
            },
            (Format::AccessLog, _) => access_log::parse(row, self.base.as_bytes(), observation),
            (Format::CrawlLog, _) => crawl_log::parse(row, &mut self.redirect, observation),
            (Format::NutchDump, _) => Some(nutch::read(&mut self.lines, observation)?),
            (Format::Cdx, _) => self.cdx.parse(row, observation),
            (Format::Cdxj, _) => cdx::parse_json(row, position, &mut self.keys, observation),
            (_, Some((delimited, _))) => Some(delimited.read(&mut self.lines, position, observation)?),
            (_, None) => lines::parse(row, observation),
        };
        Ok(Some(match parsed {
            Some(Ok(())) => Parsed::Row,
            Some(Err(reason)) => Parsed::Bad(reason),
            None => Parsed::Other,
        }))
    }

    /// The tool that is known to write such inputs.
    pub(crate) fn preset(&self) -> Option<Preset> {
        match (self.format, &self.delimited) {
            (Format::JsonLines | Format::JsonArray, _) => self.keys.names.preset(),
            (Format::CrawlLog, _) => Some(Preset::Heritrix),
            (Format::NutchDump, _) => Some(Preset::NutchCrawldb),
            (Format::Cdx, _) if self.cdx.is_of_wget() => Some(Preset::Wget),
            (_, Some((delimited, _))) => delimited.preset(),
            _ => None,
        }
    }

    /// Which names of the input are used as which columns.
    pub(crate) fn layout(&self) -> Option<Layout> {
        match (self.format, &self.delimited) {
            (Format::JsonLines | Format::JsonArray, _) => Some(self.keys.names.layout(self.keys.met())),
            (_, Some((delimited, _))) => Some(delimited.layout().clone()),
            _ => None,
        }
    }

    /// The row that was read last, with its line end; of a JSON array, the object alone.
    pub(crate) fn text_of_row(&self) -> &[u8] {
        match self.format {
            Format::JsonArray => array_element(self.lines.text()),
            _ => self.lines.text(),
        }
    }

    /// Whether the text starts with the header of an index.
    pub(crate) fn starts_with_header(&self) -> bool {
        self.lines.start().get(1..4) == Some(b"CDX")
    }

    /// The header of a delimited table.
    pub(crate) fn header(&self) -> Option<&DelimitedHeader> {
        self.delimited.as_ref().map(|(_, header)| header)
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
    named: &[NamedColumn],
    lines: &mut LineBuffer,
) -> io::Result<Result<(Delimited, DelimitedHeader), ReadError>> {
    next_row(lines)?;
    Ok(Delimited::from_header(file, format, named, lines)?.map(|delimited| {
        let (separator, width) = delimited.separator_and_width();
        let header = DelimitedHeader { text: lines.text().to_vec(), separator, width };
        (delimited, header)
    }))
}

/// The names of the first objects of a text.
fn names_in(start: &[u8], named: &[NamedColumn]) -> Result<Names, ReadError> {
    let mut names: Vec<String> = Vec::new();
    let lines = start.split(|&byte| byte == b'\n').map(array_element).filter(|line| !line.is_empty());
    for key in lines.take(NAMED_ROWS).flat_map(jsonl::keys_of) {
        if !names.contains(&key) {
            names.push(key);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Names::resolve(&names, named, None)
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
