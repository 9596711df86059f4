/*!
Classes of values in compiled rules: how they are written, and whether a value is of one, where it lies.
*/

use crate::encoding::{Cursor, Encode as _, TooLarge};
use crate::rule::ValueClass;
use crate::rule::value_class::{framed, is_date, is_digits, is_file, is_hex, is_slug, is_word};

impl ValueClass {
    /// Appends the class to compiled rules: its code, then its texts.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let code = match self {
            Self::Date => ClassCode::DATE,
            Self::Digits => ClassCode::DIGITS,
            Self::Hex => ClassCode::HEX,
            Self::Word => ClassCode::WORD,
            Self::Slug => ClassCode::SLUG,
            Self::Text => ClassCode::TEXT,
            Self::File(_) => ClassCode::FILE,
            Self::Framed { .. } => ClassCode::FRAMED,
        };
        out.put_u8(code.0);
        match self {
            Self::File(extension) => out.put_text(Some(extension.as_bytes())),
            Self::Framed { prefix, class, suffix } => {
                out.put_text(Some(prefix.as_bytes()))?;
                out.put_text(Some(suffix.as_bytes()))?;
                class.encode(out)
            }
            _ => Ok(()),
        }
    }
}

/// A class in compiled rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClassCode(u8);

impl ClassCode {
    const DATE: Self = Self(0);
    const DIGITS: Self = Self(1);
    const HEX: Self = Self(2);
    const WORD: Self = Self(3);
    const SLUG: Self = Self(4);
    const TEXT: Self = Self(5);
    const FILE: Self = Self(6);
    const FRAMED: Self = Self(7);
}

/// Classes within classes that are looked into; JSON allows as many.
const MAX_CLASS_DEPTH: u32 = 128;

/// Whether `value` is of the class that was [encoded](ValueClass::encode) at `cursor`.
#[inline(always)]
pub(crate) fn is_in_class(cursor: &mut Cursor<'_>, value: Option<&[u8]>) -> Option<bool> {
    let code = ClassCode(cursor.u8()?);
    let text = value.unwrap_or_default();
    Some(match code {
        ClassCode::TEXT => true,
        ClassCode::DIGITS => !text.is_empty() && is_digits(text),
        ClassCode::HEX => is_hex(text),
        ClassCode::WORD => !text.is_empty() && is_word(text),
        ClassCode::SLUG => !text.is_empty() && is_slug(text),
        ClassCode::DATE => is_date(text),
        _ => return is_in_composed(code, cursor, value, MAX_CLASS_DEPTH),
    })
}

fn is_in_composed(
    code: ClassCode,
    cursor: &mut Cursor<'_>,
    value: Option<&[u8]>,
    depth: u32,
) -> Option<bool> {
    let text = value.unwrap_or_default();
    match code {
        ClassCode::FILE => Some(is_file(text, cursor.text()??)),
        ClassCode::FRAMED if depth > 0 => {
            let (prefix, suffix) = (cursor.text()??, cursor.text()??);
            let inner = if text.is_empty() { None } else { framed(text, prefix, suffix) };
            let mut class = *cursor;
            let is_inside = match ClassCode(class.u8()?) {
                code @ (ClassCode::FILE | ClassCode::FRAMED) => {
                    *cursor = class;
                    is_in_composed(code, cursor, inner, depth - 1)?
                }
                _ => is_in_class(cursor, inner)?,
            };
            Some(inner.is_some() && is_inside)
        }
        _ => None,
    }
}
