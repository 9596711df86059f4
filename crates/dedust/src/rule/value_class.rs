/*!
What values are made of: the classes that rules know values by.
*/

use std::fmt;

use serde::{Deserialize, Serialize};
use wide::{CmpEq as _, CmpGt as _, CmpLt as _, i8x16};

use crate::compiled::encoding::{Cursor, Encode as _, TooLarge, array_at};
use crate::marks::{LANES, lanes_of, low_lanes};
use crate::url::{Value, extension};

/// What values are made of. Learned from the values seen, used only to recognize unseen ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ValueClass {
    /// `2026-11-15` or `2026-11`.
    Date,
    /// Decimal digits.
    Digits,
    /// Eight or more lower-case or upper-case hexadecimal digits.
    Hex,
    /// Letters and digits of ASCII.
    Word,
    /// A file name with this extension, such as `*.html`.
    File(Box<str>),
    /// A value of another class between two fixed texts, such as `thread_<digits>.html`.
    Framed {
        /// What it starts with.
        prefix: Box<str>,
        /// What lies between.
        class: Box<ValueClass>,
        /// What it ends with.
        suffix: Box<str>,
    },
    /// Letters, digits, `-`, `_` and `.`.
    Slug,
    /// Anything, also the empty text and a parameter without `=`.
    Text,
}

impl ValueClass {
    /// The narrowest class that holds all `values`; [`ValueClass::Text`] when there are none.
    pub fn of<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let Some(first) = values.clone().next() else {
            return Self::Text;
        };
        let file = first.as_text().and_then(extension).map(|extension| Self::File(extension.into()));
        [Self::Date, Self::Digits, Self::Hex, Self::Word]
            .into_iter()
            .chain(file)
            .chain([Self::Slug])
            .find(|class| values.clone().all(|value| class.contains(value)))
            .unwrap_or(Self::Text)
    }

    /// Whether `value` is of this class.
    pub fn contains(&self, value: &Value) -> bool {
        self.contains_raw(value.as_raw())
    }

    pub(crate) fn contains_raw(&self, value: Option<&[u8]>) -> bool {
        let Some(text) = value.filter(|text| !text.is_empty()) else {
            return *self == Self::Text;
        };
        match self {
            Self::Date => is_date(text),
            Self::Digits => is_digits(text),
            Self::Hex => is_hex(text),
            Self::Word => is_word(text),
            Self::File(extension) => is_file(text, extension.as_bytes()),
            Self::Framed { prefix, class, suffix } => framed(text, prefix.as_bytes(), suffix.as_bytes())
                .is_some_and(|text| class.contains_raw(Some(text))),
            Self::Slug => is_slug(text),
            Self::Text => true,
        }
    }

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
    marks: [u8; LANES],
    /// No text is longer than the greatest number: a class that contains nothing.
    shortest: usize,
}

static SIMPLE_CLASSES: [SimpleClass; 8] = {
    const fn class(letters_before: u8, has_marks: bool, shortest: usize) -> SimpleClass {
        let marks = if has_marks { u8::MAX } else { 0 };
        SimpleClass { letters_before: [letters_before; LANES], marks: [marks; LANES], shortest }
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
        let marks = bytes.cmp_eq(lanes(b'-')) | bytes.cmp_eq(lanes(b'_')) | bytes.cmp_eq(lanes(b'.'));
        let lower = bytes | lanes(0x20);
        let fits = is_between(bytes, b'0', b'9')
            | lower.cmp_gt(lanes(b'a' - 1)) & lower.cmp_lt(lanes_of(&class.letters_before))
            | marks & lanes_of(&class.marks);
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

fn is_digits(text: &[u8]) -> bool {
    consists_of(text, |bytes| is_between(bytes, b'0', b'9'), u8::is_ascii_digit)
}

fn is_hex(text: &[u8]) -> bool {
    let in_lanes = |bytes| is_between(bytes, b'0', b'9') | is_between(bytes | lanes(0x20), b'a', b'f');
    text.len() >= 8 && consists_of(text, in_lanes, u8::is_ascii_hexdigit)
}

fn is_word(text: &[u8]) -> bool {
    consists_of(text, are_alphanumeric, u8::is_ascii_alphanumeric)
}

/// Whether there are only letters and digits of ASCII, `-`, `_` and `.`.
pub(crate) fn is_slug(text: &[u8]) -> bool {
    let in_lanes = |bytes: i8x16| {
        let is = |byte: u8| bytes.cmp_eq(lanes(byte));
        are_alphanumeric(bytes) | is(b'-') | is(b'_') | is(b'.')
    };
    consists_of(text, in_lanes, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether all bytes are of a kind, told of sixteen at a time and of one.
#[inline(always)]
fn consists_of(text: &[u8], in_lanes: impl Fn(i8x16) -> i8x16, is_one: impl Fn(&u8) -> bool) -> bool {
    let all = |bytes: &[u8; LANES]| in_lanes(lanes_of(bytes)).move_mask() == 0xFFFF;
    let Some(last) = text.last_chunk::<LANES>() else {
        return text.iter().all(is_one);
    };
    // The last lanes overlap with those before.
    text.chunks_exact(LANES).all(|chunk| chunk.first_chunk().is_some_and(all)) && all(last)
}

#[inline(always)]
fn are_alphanumeric(bytes: i8x16) -> i8x16 {
    is_between(bytes, b'0', b'9') | is_between(bytes | lanes(0x20), b'a', b'z')
}

/// Bytes outside ASCII are negative, and between no two that are not.
#[inline(always)]
fn is_between(bytes: i8x16, low: u8, high: u8) -> i8x16 {
    bytes.cmp_gt(lanes(low - 1)) & bytes.cmp_lt(lanes(high + 1))
}

#[inline(always)]
fn lanes(byte: u8) -> i8x16 {
    i8x16::splat(byte.cast_signed())
}

fn is_file(text: &[u8], extension: &[u8]) -> bool {
    text.strip_suffix(extension).is_some_and(|stem| stem.len() > 1 && stem.ends_with(b"."))
}

/// What lies between two texts.
fn framed<'a>(text: &'a [u8], prefix: &[u8], suffix: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(prefix).and_then(|text| text.strip_suffix(suffix))
}

/// `yyyy-mm` or `yyyy-mm-dd` with a year from 1900 to 2099.
fn is_date(text: &[u8]) -> bool {
    let number = |range: std::ops::Range<usize>, smallest: u32, largest: u32| {
        text.get(range).is_some_and(|digits| {
            digits.iter().all(u8::is_ascii_digit) && {
                let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
                (smallest..=largest).contains(&number)
            }
        })
    };
    let month = number(0..4, 1900, 2099) && text.get(4) == Some(&b'-') && number(5..7, 1, 12);
    month && (text.len() == 7 || (text.len() == 10 && text[7] == b'-' && number(8..10, 1, 31)))
}

impl fmt::Display for ValueClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Date => "date",
            Self::Digits => "digits",
            Self::Hex => "hex",
            Self::Word => "word",
            Self::File(extension) => return write!(f, "*.{extension}"),
            Self::Framed { prefix, class, suffix } => return write!(f, "{prefix}<{class}>{suffix}"),
            Self::Slug => "slug",
            Self::Text => "text",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_bytes_are_told_apart_as_one_is() {
        type IsClass = fn(&[u8]) -> bool;
        type IsOne = fn(u8) -> bool;
        let fits: [(IsClass, IsOne); 4] = [
            (is_digits, |byte| byte.is_ascii_digit()),
            (is_hex, |byte| byte.is_ascii_hexdigit()),
            (is_word, |byte| byte.is_ascii_alphanumeric()),
            (is_slug, |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
        ];
        for (is_class, is_one) in fits {
            for (length, at) in [(8, 3), (16, 15), (17, 16), (40, 20), (40, 39)] {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'7'; length];
                    text[at] = byte;
                    assert_eq!(is_class(&text), is_one(byte), "{byte:#x} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn one_way_for_all_classes_tells_the_same() {
        for class in [ValueClass::Digits, ValueClass::Hex, ValueClass::Word, ValueClass::Slug] {
            let code = class.simple_code().unwrap();
            for length in [0usize, 1, 7, 8, 15, 16, 17, 40] {
                for byte in 0..=u8::MAX {
                    for at in [0, length / 2, length.saturating_sub(1)] {
                        let mut text = vec![b'7'; length];
                        if let Some(place) = text.get_mut(at) {
                            *place = byte;
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

    fn class_of(values: &[&str]) -> ValueClass {
        let values: Vec<Value> = values.iter().map(|text| Value::from(*text)).collect();
        ValueClass::of(values.iter())
    }

    #[test]
    fn classes_are_the_narrowest_that_fit() {
        assert_eq!(class_of(&["7", "42"]), ValueClass::Digits);
        assert_eq!(class_of(&["9f8e7d6c", "00112233aa"]), ValueClass::Hex);
        assert_eq!(class_of(&["2026-11-15", "2026-01"]), ValueClass::Date);
        assert_eq!(class_of(&["intro", "7"]), ValueClass::Word);
        assert_eq!(class_of(&["a_b.html", "c.html"]), ValueClass::File("html".into()));
        assert_eq!(class_of(&["a-b.html", "c-d"]), ValueClass::Slug);
        assert_eq!(class_of(&["a b", "c"]), ValueClass::Text);
        assert_eq!(class_of(&["7", ""]), ValueClass::Text);
    }

    #[test]
    fn dates_have_months_and_days() {
        assert!(ValueClass::Date.contains(&"2026-02-28".into()));
        assert!(!ValueClass::Date.contains(&"2026-13-01".into()));
        assert!(!ValueClass::Date.contains(&"20260228".into()));
    }
}
