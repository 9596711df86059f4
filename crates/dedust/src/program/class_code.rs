/*!
Classes of values in compiled rules: how they are written, and whether a value is of one, where it lies.
*/

use wide::{CmpEq as _, CmpGt as _, CmpLt as _};

use crate::delimiters::{LANES, lanes_of, low_lanes};
use crate::encoding::{Cursor, Encode as _, TooLarge, array_at};
use crate::rule::ValueClass;
use crate::rule::value_class::{
    framed, is_between, is_date, is_digits, is_file, is_hex, is_slug, is_word, lanes,
};

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

/// The code of a class that [`class_contains`] knows; none for others.
impl ValueClass {
    pub(crate) fn simple_code(&self) -> Option<u8> {
        match self {
            Self::Digits => Some(ClassCode::DIGITS.0),
            Self::Hex => Some(ClassCode::HEX.0),
            Self::Word => Some(ClassCode::WORD.0),
            Self::Slug => Some(ClassCode::SLUG.0),
            Self::Date | Self::File(_) | Self::Framed { .. } | Self::Text => None,
        }
    }
}

/// What [`class_contains`] looks for, by [simple code](ValueClass::simple_code): digits in all of them.
struct SimpleClass {
    /// The letters that belong to it, of either case, come before this one.
    letters_before: [u8; LANES],
    /// All bits if `-`, `_` and `.` belong to it, else none.
    punctuation: [u8; LANES],
    /// No text is longer than the greatest number: a class that contains nothing.
    shortest: usize,
}

static SIMPLE_CLASSES: [SimpleClass; 8] = {
    const fn class(letters_before: u8, has_punctuation: bool, shortest: usize) -> SimpleClass {
        let punctuation = if has_punctuation { u8::MAX } else { 0 };
        SimpleClass { letters_before: [letters_before; LANES], punctuation: [punctuation; LANES], shortest }
    }
    const NOT_SIMPLE: SimpleClass = class(b'a', false, usize::MAX);
    let mut classes = [NOT_SIMPLE; 8];
    classes[ClassCode::DIGITS.0 as usize] = class(b'a', false, 1);
    classes[ClassCode::HEX.0 as usize] = class(b'g', false, 8);
    classes[ClassCode::WORD.0 as usize] = class(b'z' + 1, false, 1);
    classes[ClassCode::SLUG.0 as usize] = class(b'z' + 1, true, 1);
    classes
};

/// Whether `padded[start..start + length]`, after which [`PADDING`](crate::url::PADDING) bytes follow, is of a class that
/// has a [simple code](ValueClass::simple_code). Takes the same way for all classes, since nobody can tell which comes
/// next.
#[inline(never)]
pub(crate) fn class_contains(code: u8, padded: &[u8], start: usize, length: usize) -> bool {
    let class = &SIMPLE_CLASSES[usize::from(code) % SIMPLE_CLASSES.len()];
    let mut contains = length >= class.shortest;
    let mut at = 0;
    while at < length {
        let Some(bytes) = array_at::<LANES>(padded, start + at) else {
            return false;
        };
        let bytes = lanes_of(bytes);
        let punctuation = bytes.cmp_eq(lanes(b'-')) | bytes.cmp_eq(lanes(b'_')) | bytes.cmp_eq(lanes(b'.'));
        let lower = bytes | lanes(0x20);
        let fits = is_between(bytes, b'0', b'9')
            | lower.cmp_gt(lanes(b'a' - 1)) & lower.cmp_lt(lanes_of(&class.letters_before))
            | punctuation & lanes_of(&class.punctuation);
        contains &= !fits.move_mask().cast_unsigned() & low_lanes(length - at) == 0;
        at += LANES;
    }
    contains
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_for_all_classes_tells_the_same() {
        for class in [ValueClass::Digits, ValueClass::Hex, ValueClass::Word, ValueClass::Slug] {
            let code = class.simple_code().unwrap();
            for length in [0usize, 1, 7, 8, 15, 16, 17, 40] {
                for byte in 0..=u8::MAX {
                    for at in [0, length / 2, length.saturating_sub(1)] {
                        let mut text = vec![b'7'; length];
                        if let Some(target) = text.get_mut(at) {
                            *target = byte;
                        }
                        let padded = [b"xy", &text[..], &[b'?'; 32]].concat();
                        let found = class_contains(code, &padded, 2, length);
                        assert_eq!(
                            found,
                            class.contains_raw(Some(&text)),
                            "{class}: {}",
                            text.escape_ascii()
                        );
                    }
                }
            }
        }
        assert!(!class_contains(ClassCode::TEXT.0, &[b'7'; 40], 0, 3));
    }
}
