/*!
Which URLs of a site a rule covers.

A [`Pattern`] names every key that a URL may have and says what its value must look like. It is closed: a URL
with any other key is not covered, because nothing was learned about that key.
*/

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::url::{TokenKey, Value, extension};

/// What a URL must look like, key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern {
    keys: BTreeMap<TokenKey, ValuePattern>,
}

/// What the value of one key must look like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValuePattern {
    /// Exactly this value.
    Is(Value),
    /// Any value of a class.
    Any(AnyValue),
}

/// A wildcard: a class of values, less the exceptions, that may be allowed to be absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnyValue {
    /// What the value is made of.
    pub class: ValueClass,
    /// Values that other rules speak of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Value>,
    /// Whether the key may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// What values are made of. Learned from the values seen, used only to recognize unseen ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl Pattern {
    /// A pattern of these keys.
    pub fn new(keys: impl IntoIterator<Item = (TokenKey, ValuePattern)>) -> Self {
        Self { keys: keys.into_iter().collect() }
    }

    /// The keys with their value patterns, in the order of [`TokenKey`].
    pub fn keys(&self) -> impl Iterator<Item = (&TokenKey, &ValuePattern)> {
        self.keys.iter()
    }

    /// What the pattern says about `key`; `None` means that the key must be absent.
    pub fn get(&self, key: &TokenKey) -> Option<&ValuePattern> {
        self.keys.get(key)
    }

    /// Whether a URL with these pairs is covered.
    pub fn matches(&self, tokens: &BTreeMap<TokenKey, Value>) -> bool {
        tokens.keys().all(|key| self.keys.contains_key(key))
            && self.keys.iter().all(|(key, pattern)| pattern.matches(tokens.get(key)))
    }
}

impl ValuePattern {
    /// Whether `value`, `None` for an absent key, fits.
    pub fn matches(&self, value: Option<&Value>) -> bool {
        match (self, value) {
            (Self::Is(expected), Some(value)) => value == expected,
            (Self::Is(_), None) => false,
            (Self::Any(any), Some(value)) => any.class.contains(value) && !any.except.contains(value),
            (Self::Any(any), None) => any.optional,
        }
    }

    /// Whether a URL may lack the key.
    pub fn is_optional(&self) -> bool {
        matches!(self, Self::Any(AnyValue { optional: true, .. }))
    }

    /// Whether some value fits both.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Is(value), pattern) | (pattern, Self::Is(value)) => pattern.matches(Some(value)),
            // Two classes nearly always share a value; claiming so is the safe side for cycle checks.
            (Self::Any(_), Self::Any(_)) => true,
        }
    }
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
            Self::Digits => text.iter().all(u8::is_ascii_digit),
            Self::Hex => text.len() >= 8 && text.iter().all(u8::is_ascii_hexdigit),
            Self::Word => text.iter().all(u8::is_ascii_alphanumeric),
            Self::File(extension) => text
                .strip_suffix(extension.as_bytes())
                .is_some_and(|stem| stem.len() > 1 && stem.ends_with(b".")),
            Self::Framed { prefix, class, suffix } => text
                .strip_prefix(prefix.as_bytes())
                .and_then(|text| text.strip_suffix(suffix.as_bytes()))
                .is_some_and(|text| class.contains_raw(Some(text))),
            Self::Slug => {
                text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            }
            Self::Text => true,
        }
    }
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

impl fmt::Display for ValuePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(f, "{value}"),
            Self::Any(any) => {
                write!(f, "<{}{}", any.class, if any.optional { "?" } else { "" })?;
                for (index, value) in any.except.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { " except " } else { ", " })?;
                }
                f.write_str(">")
            }
        }
    }
}

/// Reads like a URL: `http://<word>.example.org/view?id=<digits>` without the domain, which is the site's.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::url_shape::write_shape(
            f,
            self.keys.iter().map(|(key, pattern)| (key, pattern as &dyn fmt::Display)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_closed_pattern_refuses_unknown_keys() {
        let any = AnyValue { class: ValueClass::Digits, except: vec!["1".into()], optional: true };
        let pattern = Pattern::new([(TokenKey::query("page"), ValuePattern::Any(any))]);
        let url = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| (TokenKey::query(name), Value::from(*value))).collect()
        };
        assert!(pattern.matches(&url(&[("page", "2")])));
        assert!(pattern.matches(&url(&[])));
        assert!(!pattern.matches(&url(&[("page", "1")])));
        assert!(!pattern.matches(&url(&[("page", "two")])));
        assert!(!pattern.matches(&url(&[("page", "2"), ("sid", "9")])));
    }
}
