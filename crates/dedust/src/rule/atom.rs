/*!
Parts of values: the number in `thread_123.html`, the stem of `index.php`, the words of a slug.
*/

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::url::extension;

/// The address of a part of a value. Counting starts at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Atom {
    /// A run of decimal digits, counted from the left.
    Digits(u8),
    /// A run of decimal digits, counted from the right.
    DigitsFromRight(u8),
    /// A file name without its extension and the dot.
    Stem,
    /// The extension of a file name.
    Extension,
    /// What stands between separators.
    Piece {
        /// An ASCII character.
        separator: char,
        /// Counted from the left.
        index: u8,
    },
    /// What stands between separators.
    PieceFromRight {
        /// An ASCII character.
        separator: char,
        /// Counted from the right.
        index: u8,
    },
}

impl Atom {
    /// The part of `value` at this address, if it has one.
    pub fn of<'a>(&self, value: &'a [u8]) -> Option<&'a [u8]> {
        let runs = |value: &'a [u8]| {
            value
                .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
                .filter(|run| run[0].is_ascii_digit())
        };
        match *self {
            Self::Digits(index) => runs(value).nth(index.into()),
            Self::DigitsFromRight(index) => runs(value).nth_back(index.into()),
            Self::Stem => Some(&value[..value.len() - extension_of(value)?.len() - 1]),
            Self::Extension => extension_of(value),
            Self::Piece { separator, index } => split(value, separator)?.nth(index.into()),
            Self::PieceFromRight { separator, index } => split(value, separator)?.nth_back(index.into()),
        }
    }
}

fn extension_of(value: &[u8]) -> Option<&[u8]> {
    std::str::from_utf8(value).ok().and_then(extension).map(str::as_bytes)
}

fn split(value: &[u8], separator: char) -> Option<impl DoubleEndedIterator<Item = &[u8]>> {
    let separator = u8::try_from(separator).ok().filter(u8::is_ascii)?;
    Some(value.split(move |&byte| byte == separator))
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits(index) => write!(f, "digits[{index}]"),
            Self::DigitsFromRight(index) => write!(f, "digits[-{}]", u16::from(*index) + 1),
            Self::Stem => f.write_str("stem"),
            Self::Extension => f.write_str("extension"),
            Self::Piece { separator, index } => write!(f, "split({separator})[{index}]"),
            Self::PieceFromRight { separator, index } => {
                write!(f, "split({separator})[-{}]", u16::from(*index) + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(atom: Atom, value: &str) -> Option<&str> {
        atom.of(value.as_bytes()).map(|part| std::str::from_utf8(part).unwrap())
    }

    #[test]
    fn digits_are_counted_from_either_end() {
        assert_eq!(read(Atom::Digits(0), "thread_12-p3.html"), Some("12"));
        assert_eq!(read(Atom::Digits(1), "thread_12-p3.html"), Some("3"));
        assert_eq!(read(Atom::DigitsFromRight(0), "big-cat-123"), Some("123"));
        assert_eq!(read(Atom::Digits(0), "none"), None);
        assert_eq!(read(Atom::Digits(0), ""), None);
    }

    #[test]
    fn file_names_have_a_stem_and_an_extension() {
        assert_eq!(read(Atom::Stem, "a.b.html"), Some("a.b"));
        assert_eq!(read(Atom::Extension, "a.b.html"), Some("html"));
        assert_eq!(read(Atom::Stem, "v1.2"), None);
    }

    #[test]
    fn pieces_lie_between_separators() {
        assert_eq!(read(Atom::Piece { separator: '-', index: 0 }, "7-slug-words"), Some("7"));
        assert_eq!(read(Atom::PieceFromRight { separator: ':', index: 0 }, "7:slug"), Some("slug"));
        assert_eq!(read(Atom::Piece { separator: '-', index: 3 }, "7-slug"), None);
        assert_eq!(read(Atom::Piece { separator: 'é', index: 0 }, "7-slug"), None);
    }
}
