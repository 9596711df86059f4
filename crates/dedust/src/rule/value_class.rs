/*!
What values are made of: the classes that rules know values by.
*/

use std::fmt;

use serde::{Deserialize, Serialize};
use wide::{CmpEq as _, CmpGt as _, CmpLt as _, i8x16};

use crate::delimiters::{LANES, lanes_of};
use crate::url::{Value, extension};

/// What values are made of. Learned from the values seen, used only to recognize unseen ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
}

pub(crate) fn is_digits(text: &[u8]) -> bool {
    consists_of(text, |bytes| is_between(bytes, b'0', b'9'), u8::is_ascii_digit)
}

pub(crate) fn is_hex(text: &[u8]) -> bool {
    let in_lanes = |bytes| is_between(bytes, b'0', b'9') | is_between(bytes | lanes(0x20), b'a', b'f');
    text.len() >= 8 && consists_of(text, in_lanes, u8::is_ascii_hexdigit)
}

pub(crate) fn is_word(text: &[u8]) -> bool {
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

/// Whether all bytes are of a kind, by a test of sixteen bytes at a time and one of a single byte.
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
pub(crate) fn is_between(bytes: i8x16, low: u8, high: u8) -> i8x16 {
    bytes.cmp_gt(lanes(low - 1)) & bytes.cmp_lt(lanes(high + 1))
}

#[inline(always)]
pub(crate) fn lanes(byte: u8) -> i8x16 {
    i8x16::splat(byte.cast_signed())
}

pub(crate) fn is_file(text: &[u8], extension: &[u8]) -> bool {
    text.strip_suffix(extension).is_some_and(|stem| stem.len() > 1 && stem.ends_with(b"."))
}

/// What lies between two texts.
pub(crate) fn framed<'a>(text: &'a [u8], prefix: &[u8], suffix: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(prefix).and_then(|text| text.strip_suffix(suffix))
}

/// `yyyy-mm` or `yyyy-mm-dd` with a year from 1900 to 2099.
pub(crate) fn is_date(text: &[u8]) -> bool {
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
