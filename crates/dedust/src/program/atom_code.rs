/*!
Parts of values in compiled rules.
*/

use crate::encoding::Cursor;
use crate::rule::Atom;

/// Atoms in compiled rules: a code, a separator, an index.
impl Atom {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        // Bytes outside ASCII separate nothing, and neither do the characters they stand for.
        let byte = |separator: char| u8::try_from(separator).unwrap_or(u8::MAX);
        out.extend_from_slice(&match *self {
            Self::Digits(index) => [0, 0, index],
            Self::DigitsFromRight(index) => [1, 0, index],
            Self::Stem => [2, 0, 0],
            Self::Extension => [3, 0, 0],
            Self::Piece { separator, index } => [4, byte(separator), index],
            Self::PieceFromRight { separator, index } => [5, byte(separator), index],
        });
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let &[code, separator, index] = cursor.array()?;
        let separator = char::from(separator);
        Some(match code {
            0 => Self::Digits(index),
            1 => Self::DigitsFromRight(index),
            2 => Self::Stem,
            3 => Self::Extension,
            4 => Self::Piece { separator, index },
            5 => Self::PieceFromRight { separator, index },
            _ => return None,
        })
    }
}
