/*!
What a format has to say of itself: an entry of the table of [`crate::Format`].

Rows of most formats are lines. Their [`LineParser`] is handed line after line by [`crate::line_rows`] and puts what a row says into an
[`Observation`]; [`CopyRows`], for tables, writes rows with two values more. Opens no files, and knows no format by name.
*/

use std::io;
use std::sync::Arc;

use super::DelimitedHeader;
use super::sniff::Sign;
use crate::archive::ArchiveFormat;
use crate::bad_row::{BadRowReason, SourcePosition};
use crate::line_buffer::LineBuffer;
use crate::names::{Layout, NamedColumn};
use crate::table::TableRows;
use crate::table_file::TableFile;
use crate::{Observation, Preset, ReadError};

/// What is known of a format.
pub(crate) struct FormatEntry {
    /// What an input of this format is, in words: "read a.txt as a list of URLs".
    pub(crate) name: &'static str,
    /// What a row must look like, in words for a message.
    pub(crate) expected: &'static str,
    /// Whether the name says which tool writes it.
    pub(crate) names_tool: bool,
    /// By what it is recognised.
    pub(crate) sign: Sign,
    /// Ends of file names, in lower case, which decide where the content does not.
    pub(crate) extensions: &'static [&'static str],
    /// What its rows are, and who reads them.
    pub(crate) rows: RowFormat,
}

/// What rows are, and who reads them.
pub(crate) enum RowFormat {
    /// Lines of text, one or more for a row.
    Lines(LineFormat),
    /// Records of an archive, each with its page.
    Archive(ArchiveFormat),
    /// Rows of a table that is not read from start to end.
    Table(OpenTable),
}

/// Starts to read a table with a name for messages, some of whose columns the user named.
pub(crate) type OpenTable = fn(&Arc<str>, TableFile, &[NamedColumn]) -> Result<Box<dyn TableRows>, ReadError>;

/// How lines become rows.
pub(crate) struct LineFormat {
    /// Whether its URLs lack their host, which the user then has to name.
    pub(crate) needs_host: bool,
    /// Makes its parser.
    pub(crate) parser: fn(Opening<'_>) -> Result<Box<dyn LineParser>, OpenError>,
    /// How its rows are copied; `None` if it is no table.
    pub(crate) copy: Option<&'static dyn CopyRows>,
}

/// What is known of a text before its first row is read.
pub(crate) struct Opening<'a> {
    /// The name for messages.
    pub(crate) file: &'a Arc<str>,
    /// All lines. A format with a header reads it.
    pub(crate) lines: &'a mut LineBuffer,
    /// Columns that the user named.
    pub(crate) named: &'a [NamedColumn],
    /// What stands before the paths of a format that [needs a host](LineFormat::needs_host).
    pub(crate) host: &'a str,
}

/// Why a text cannot be read.
pub(crate) enum OpenError {
    /// It has no such header, or other columns.
    Refused(ReadError),
    /// Its first line cannot be read.
    Failed(io::Error),
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> Self {
        Self::Refused(error)
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// What was made of a row. `None`: it shows no page, as a header or a remark.
pub(crate) type Parsed = Option<Result<(), BadRowReason>>;

/// A row to be read.
pub(crate) struct CurrentRow<'a> {
    /// It starts with the current line, which is not blank.
    pub(crate) lines: &'a mut LineBuffer,
    /// Where that is, for messages.
    pub(crate) position: SourcePosition<'a>,
    /// What is to be filled.
    pub(crate) observation: &'a mut Observation,
}

/// Makes observations of lines.
pub(crate) trait LineParser: Send {
    /// Reads a row.
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed>;

    /// Makes an observation of what the line before told besides its own. `false`: it told nothing.
    fn parse_more(&mut self, _observation: &mut Observation) -> bool {
        false
    }

    /// The tool that is known to write such inputs.
    fn preset(&self) -> Option<Preset> {
        None
    }

    /// Which names of the input are used as which columns.
    fn layout(&self) -> Option<Layout> {
        None
    }

    /// The header of a delimited table.
    fn header(&self) -> Option<&DelimitedHeader> {
        None
    }

    /// The row within its lines.
    fn row_in<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text
    }
}

/// A format of which each line is a row by itself.
impl<P: FnMut(&[u8], &mut Observation) -> Parsed + Send> LineParser for P {
    fn parse(&mut self, row: CurrentRow<'_>) -> io::Result<Parsed> {
        Ok(self(row.lines.row(), row.observation))
    }
}

/// Writes rows with two values more. Texts are whole rows, with their line ends, which stay as they are.
pub(crate) trait CopyRows: Sync {
    /// Writes what the output must start with, if the first input does not. `start` is the beginning of the input.
    fn begin(&self, _start: &[u8], _out: &mut Vec<u8>) {}

    /// Writes a row. With the added names in place of values, it writes a header.
    fn extend(&self, text: &[u8], added: &AddedValues<'_>, out: &mut Vec<u8>);

    /// Whether lines that show no page are copied. Else those with a URL are rows like others.
    fn copies_other_lines(&self) -> bool {
        false
    }

    /// Writes a line that shows no page.
    fn copy(&self, _text: &[u8], _out: &mut Vec<u8>) {}
}

/// What is added to a row.
pub(crate) struct AddedValues<'a> {
    /// The names of the columns.
    pub(crate) names: [&'a str; 2],
    /// Their values.
    pub(crate) values: [Option<&'a [u8]>; 2],
    /// The header of a delimited table.
    pub(crate) header: Option<&'a DelimitedHeader>,
}

/// A row and its line end.
pub(crate) fn split_end(text: &[u8]) -> (&[u8], &[u8]) {
    let row = text.strip_suffix(b"\n").unwrap_or(text);
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    let end = &text[row.len()..];
    (row, if end.is_empty() { b"\n" } else { end })
}
