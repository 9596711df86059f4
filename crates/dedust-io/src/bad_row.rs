/*!
What is wrong with a row, or with one column of it, in terms a person can act on.

Values are shown shortened and with control characters escaped, so that a message is one line on any terminal.
Counting belongs to [`crate::Reader`], printing to the caller.
*/

use std::fmt;
use std::sync::Arc;

use crate::Column;

/// Longest piece of input shown in a message, in characters.
const SHOWN_CHARS: usize = 80;

/// Where a row is in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Location {
    /// The line the row starts on, counted from 1.
    Line(u64),
    /// A record of an archive.
    Record {
        /// Counted from 1.
        number: u64,
        /// The byte it starts at: of the file where each record is compressed by itself, as in a CDX index, else of the
        /// uncompressed archive.
        offset: u64,
    },
    /// A row of a table, counted from 1.
    Row(u64),
}

impl Location {
    /// The number of the line, record or row.
    pub fn number(self) -> u64 {
        match self {
            Location::Line(number) | Location::Record { number, .. } | Location::Row(number) => number,
        }
    }

    /// What is there, in a word for messages.
    fn noun(self) -> &'static str {
        match self {
            Location::Line(_) | Location::Row(_) => "row",
            Location::Record { .. } => "record",
        }
    }
}

impl fmt::Display for Location {
    /// To be put behind the name of a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line(line) => write!(f, ":{line}"),
            Location::Record { number, offset } => write!(f, ": record {number} at byte {offset}"),
            Location::Row(row) => write!(f, ": row {row}"),
        }
    }
}

impl Default for Location {
    fn default() -> Self {
        Location::Line(0)
    }
}

/// A value behind a message, if there is one.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// A row that was skipped. Reading goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{location}: {reason}, {} skipped{}", location.noun(), Shown(value))]
#[non_exhaustive]
pub struct BadRow {
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// Where the row is.
    pub location: Location,
    /// What is wrong.
    pub reason: BadRowReason,
    /// The row, shortened for display.
    pub value: String,
}

/// Why there is no row.
pub(crate) enum NoRow {
    End,
    /// It is none of a page: a header, a remark, a request.
    Other,
    Bad(BadRow),
}

/// Why a row was skipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadRowReason {
    /// The row has no URL, or null.
    #[error("no \"url\" column")]
    NoUrl,
    /// The URL is an empty text.
    #[error("\"url\" is empty")]
    EmptyUrl,
    /// The URL is a number, a list or the like.
    #[error("\"url\" is {found}, expected text")]
    WrongUrl {
        /// The value found, shortened.
        found: String,
    },
    /// The line is not valid JSON.
    #[error("invalid JSON at column {column} ({problem})")]
    InvalidJson {
        /// Byte within the line, counted from 1.
        column: usize,
        /// What the JSON parser says.
        problem: String,
    },
    /// The line holds bytes that are not UTF-8, which JSON has to be.
    #[error("not UTF-8 at column {column}")]
    NotUtf8 {
        /// Byte within the line, counted from 1.
        column: usize,
    },
    /// The line does not start with a brace.
    #[error("expected a JSON object such as {{\"url\":\"http://a.example/\"}}")]
    NotAnObject,
    /// A delimited row does not fit the header.
    #[error(
        "{found} fields where the header has {expected} (a field with a {separator} in it must be quoted)"
    )]
    FieldCount {
        /// Fields in the row.
        found: usize,
        /// Fields in the header.
        expected: usize,
        /// The separator, in words.
        separator: &'static str,
    },
    /// A quoted field does not end, or ends within another row.
    #[error("a quote is opened and not closed (a quote inside a quoted field is written twice)")]
    StrayQuote,
    /// Longer than [`crate::MAX_ROW_BYTES`].
    #[error("longer than 16 MiB")]
    TooLong,
    /// A line of a URL list holds a control character, so it is no URL.
    #[error("not text (it holds the control character 0x{byte:02x}), expected one URL per line")]
    ControlCharacter {
        /// The first such byte.
        byte: u8,
    },
    /// The line has not the form of its format, in words of that format.
    #[error("{0}")]
    OtherForm(&'static str),
    /// A line of an index does not have the fields that its header names.
    #[error("{found} fields where {expected} are expected")]
    IndexFields {
        /// Fields in the line.
        found: usize,
        /// Fields in the header.
        expected: usize,
    },
    /// Something else stands where a record of an archive should start.
    #[error(
        "no record starts here, expected a line such as {expected} (the length of the record before may be wrong)"
    )]
    NotARecord {
        /// The first line of a record.
        expected: &'static str,
    },
    /// The archive ends before the block of the record starts.
    #[error("cut off within its head")]
    HeadCutOff,
    /// The head of a record is not worth holding.
    #[error("its head is longer than 4 MiB")]
    HeadTooLong,
    /// The length of a record is missing or no number.
    #[error("Content-Length is {found}, expected a whole number of bytes")]
    BadLength {
        /// The value found, shortened and in quotes.
        found: String,
    },
    /// The block of a record ends too early.
    #[error("cut off after {found} of {expected} bytes")]
    CutShort {
        /// Bytes that are there.
        found: u64,
        /// Bytes that should be.
        expected: u64,
    },
    /// The block of a record is shorter than it says, and others follow.
    #[error(
        "its length is {length}, but another record starts after {found} bytes (fetch or write the file again)"
    )]
    LengthTooLong {
        /// Bytes that the record says it has.
        length: u64,
        /// Bytes before the next record.
        found: u64,
    },
    /// Compressed data end too early.
    #[error("cut off: its compressed data end before they are complete (fetch the file again)")]
    CutOff,
    /// Compressed data are damaged.
    #[error("cannot be decompressed ({problem})")]
    Undecodable {
        /// What the decompressor says.
        problem: String,
    },
    /// The record of a page does not say which.
    #[error("no WARC-Target-URI")]
    NoTarget,
    /// The record of a response does not hold one.
    #[error("the block starts with {found}, expected an HTTP status line such as HTTP/1.1 200 OK")]
    NotHttp {
        /// The first line, shortened and in quotes.
        found: String,
    },
}

impl BadRowReason {
    /// Whether the row itself is as it should be, and only its URL is missing.
    pub fn is_about_url(&self) -> bool {
        matches!(self, BadRowReason::NoUrl | BadRowReason::EmptyUrl | BadRowReason::WrongUrl { .. })
    }

    /// Whether it is unknown where the next record of the archive starts.
    pub(crate) fn loses_place(&self) -> bool {
        matches!(
            self,
            BadRowReason::NotARecord { .. }
                | BadRowReason::HeadCutOff
                | BadRowReason::HeadTooLong
                | BadRowReason::BadLength { .. }
        )
    }
}

/// A page of which only the beginning could be had. The row is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{location}: {reason}, only its beginning is used")]
#[non_exhaustive]
pub struct BadBody {
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// Where the record is.
    pub location: Location,
    /// What is wrong.
    pub reason: BadBodyReason,
}

/// Why only the beginning of a body could be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadBodyReason {
    /// Longer than [`crate::MAX_BODY_BYTES`].
    #[error("the body is longer than 8 MiB")]
    TooLong,
    /// The body is not encoded as its headers say.
    #[error("the body cannot be decoded as {encoding} ({problem})")]
    Damaged {
        /// The encoding.
        encoding: String,
        /// What the decoder says.
        problem: String,
    },
}

/// A column whose value could not be used. The row is kept as if the column were absent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{location}: column \"{column}\" is {value}, expected {}, column ignored", column.expected())]
#[non_exhaustive]
pub struct BadColumn {
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// Where the row is.
    pub location: Location,
    /// Which column.
    pub column: Column,
    /// The value, shortened for display; text is in quotes.
    pub value: String,
}

/// Where a row was found; what messages about it begin with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourcePosition<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) location: Location,
}

impl SourcePosition<'_> {
    pub(crate) fn bad_row(self, reason: BadRowReason, row: &[u8]) -> BadRow {
        BadRow { file: self.file.clone(), location: self.location, reason, value: shorten(row) }
    }

    pub(crate) fn bad_body(self, reason: BadBodyReason) -> BadBody {
        BadBody { file: self.file.clone(), location: self.location, reason }
    }

    pub(crate) fn bad_column(self, column: Column, value: String) -> BadColumn {
        BadColumn { file: self.file.clone(), location: self.location, column, value }
    }
}

/// The first 80 characters of some input, on one line of any terminal.
pub fn shorten(bytes: &[u8]) -> String {
    // A character is at most four bytes, so a longer piece could not be shown anyway.
    let head = &bytes[..bytes.len().min(SHOWN_CHARS * 4 + 4)];
    let text = String::from_utf8_lossy(head);
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN_CHARS {
            shown.push_str("...");
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The same in quotes, for a value that is text.
pub(crate) fn shorten_quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", shorten(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_at_a_character() {
        assert_eq!(shorten("ä".repeat(80).as_bytes()), "ä".repeat(80));
        assert_eq!(shorten("ä".repeat(81).as_bytes()), format!("{}...", "ä".repeat(80)));
        assert_eq!(shorten(&vec![b'x'; 1 << 20]), format!("{}...", "x".repeat(80)));
    }

    #[test]
    fn shown_values_stay_on_one_line() {
        assert_eq!(shorten(b"a\tb\r\n\x1b[31m\0"), "a\\tb\\r\\n\\u{1b}[31m\\u{0}");
        assert_eq!(shorten(b"caf\xe9"), "caf\u{fffd}");
    }
}
