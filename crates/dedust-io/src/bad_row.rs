/*!
What is wrong with a row, or with one column of it, in terms a person can act on.

Values are shown shortened and with control characters escaped, so that a message is one line on any terminal.
Counting belongs to [`crate::Reader`], printing to the caller.
*/

use std::sync::Arc;

use crate::Column;

/// Longest piece of input shown in a message, in characters.
const SHOWN_CHARS: usize = 80;

/// A row that was skipped. Reading goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}, row skipped: {value}")]
#[non_exhaustive]
pub struct BadRow {
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// The line the row starts on, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub reason: BadRowReason,
    /// The row, shortened for display.
    pub value: String,
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
    /// A line of an access log has another form.
    #[error("not a line of an access log in the common or combined format")]
    NotALogLine,
    /// A request in an access log names no page.
    #[error("the request is neither for a path nor for a URL")]
    NoPath,
}

/// A column whose value could not be used. The row is kept as if the column were absent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: column \"{column}\" is {value}, expected {}, column ignored", column.expected())]
#[non_exhaustive]
pub struct BadColumn {
    /// The input, as named by the user.
    pub file: Arc<str>,
    /// The line the row starts on, counted from 1.
    pub line: u64,
    /// Which column.
    pub column: Column,
    /// The value, shortened for display; text is in quotes.
    pub value: String,
}

/// Where a row was found; what messages about it begin with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) line: u64,
}

impl Place<'_> {
    pub(crate) fn bad_row(self, reason: BadRowReason, row: &[u8]) -> BadRow {
        BadRow { file: self.file.clone(), line: self.line, reason, value: shorten(row) }
    }

    pub(crate) fn bad_column(self, column: Column, value: String) -> BadColumn {
        BadColumn { file: self.file.clone(), line: self.line, column, value }
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
