/*!
Edits: small changes to URLs that leave everything else alone.

A [`Rule`](super::Rule) covers whole URLs and says what to make of every part. An edit names only what it looks at and
what it changes, so one of them holds on a whole site: `q.sid` does not matter; `/w/index.php?title=X` is `/wiki/X`.
The edits of a site are applied one after the other, each once, each to what those before it left.
*/

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Atom, Evidence, Mapped, unique_keys};
use crate::pattern::ValueClass;
use crate::url::{RawValue, TokenKey, Value};

/// A change that is made to every URL of which some things are true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// What must be true of a URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "unique_keys")]
    pub when: BTreeMap<Spot, Test>,
    /// What is changed, in this order. If one of the changes cannot be made, none is.
    pub change: Vec<Change>,
    /// Whether the changed URL is known to show the page. An edit that is not fetchable changes keys only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fetchable: bool,
    /// Why it is trusted.
    pub evidence: Evidence,
}

/// A place in a URL that edits speak of. Ordered as [`TokenKey`], with segments from the right last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A key.
    Key(TokenKey),
    /// A path segment, counted from the right: `last_0` is the last.
    FromRight(u16),
}

/// What must be true of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Test {
    /// It is exactly this.
    Is(Value),
    /// It is one of these, which are sorted.
    OneOf(Vec<Value>),
    /// It is none of these; it may be absent.
    Not(Vec<Value>),
    /// It is there and of this class.
    Any(ValueClass),
    /// There is none.
    Absent,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Change {
    /// Leave it out, if it is there. Segments and labels behind it move up. All parameters of a name are left out together, unless
    /// the edit asks for the value of the first, or reads it.
    Drop(Spot),
    /// Its value does not matter: `*` in the key.
    Forget(Spot),
    /// The path does not matter: `*` in the key.
    ForgetPath,
    /// Some values stand for others, or for nothing. Others stay.
    Map {
        /// Where.
        of: TokenKey,
        /// Sorted by value.
        values: Vec<Mapped>,
    },
    /// Write a value in one spelling, where there are several.
    Fold {
        /// What is written in one spelling.
        of: Area,
        /// How.
        to: Spelling,
    },
    /// Put a value where there may be none, in place of any.
    Set {
        /// Where.
        key: TokenKey,
        /// What, one after the other.
        to: Vec<Source>,
    },
    /// A new path.
    Path(Vec<PathPart>),
    /// `/a/b/a/b/x` is `/a/b/x`.
    Unrepeat,
    /// `?a=1&b=2&a=1` is `?a=1&b=2`.
    UnrepeatParams,
}

/// Where spellings are made one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Area {
    /// All path segments.
    Path,
    /// The values of all query parameters.
    Params,
    /// The value of one key.
    Key(TokenKey),
}

/// Ways to spell a value that may mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Spelling {
    /// `A` is `a`.
    Lowercase,
    /// `%3A` is `:`, for characters that mean nothing special where they stand.
    Unescaped,
    /// `+` is `%20`, in parameters.
    PlusAsSpace,
    /// `%20` is `_`, and in parameters so is `+`.
    Underscored,
    /// `007` is `7`.
    Unpadded,
    /// Composed and decomposed accents are the same.
    Composed,
}

/// A part of a new path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum PathPart {
    /// A segment.
    Text(Box<str>),
    /// Segments of the path as it was, from one of them on.
    Segments {
        /// The first of them, counted from 0.
        from: u16,
        /// How many at the end are left out.
        #[serde(default, skip_serializing_if = "is_zero")]
        but_last: u16,
    },
    /// So many segments of the path as it was, from its start.
    First(u16),
    /// So many segments of the path as it was, at its end.
    Last(u16),
    /// A value, as one segment or as several.
    Value {
        /// The value.
        from: Source,
        /// The character at which it is taken apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        split: Option<char>,
    },
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Text before it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub prefix: Box<str>,
    /// The value is read here; without a place there is only the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Spot>,
    /// Only this part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Atom>,
    /// Counted another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Count>,
    /// Looked up in this table, sorted by the first of each two. What is not there cannot be translated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<(Box<str>, Box<str>)>,
    /// Text after it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub suffix: Box<str>,
}

/// `times` n `plus`: pages counted from one as results counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The factor.
    pub times: i64,
    /// What is added.
    pub plus: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

impl Source {
    /// The value at `spot`, as it is.
    pub fn of(spot: Spot) -> Self {
        Self { of: Some(spot), ..Self::text("") }
    }

    /// Always this text.
    pub fn text(text: &str) -> Self {
        Self { prefix: text.into(), of: None, part: None, count: None, table: Vec::new(), suffix: "".into() }
    }
}

impl Count {
    /// What becomes of a number in decimal digits; nothing when that is no number, or less than zero.
    pub fn of(self, digits: &[u8]) -> Option<i64> {
        if digits.is_empty() || digits.len() > 15 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().fold(0i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        let count = number.checked_mul(self.times)?.checked_add(self.plus)?;
        (count >= 0).then_some(count)
    }
}

impl Test {
    /// Whether it is true of a value; `None` when there is none, `Some(None)` for a parameter without `=`.
    pub fn holds(&self, value: Option<RawValue<'_>>) -> bool {
        let is = |expected: &Value| value == Some(expected.as_raw());
        match self {
            Self::Is(expected) => is(expected),
            Self::OneOf(values) => values.iter().any(is),
            Self::Not(values) => !values.iter().any(is),
            Self::Any(class) => value.is_some_and(|value| class.contains_raw(value)),
            Self::Absent => value.is_none(),
        }
    }
}

impl From<TokenKey> for Spot {
    fn from(key: TokenKey) -> Self {
        Self::Key(key)
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "{key}"),
            Self::FromRight(index) => write!(f, "last_{index}"),
        }
    }
}

impl Serialize for Spot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Spot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix("last_").and_then(|digits| digits.parse().ok()) {
            Some(index) => Ok(Self::FromRight(index)),
            None => text.parse().map(Self::Key).map_err(serde::de::Error::custom),
        }
    }
}

/// Reads like a sentence: on `/viewtopic.php`, `sid` does not matter.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_sentence(f, &self.when, &self.change)
    }
}

pub(super) fn write_sentence(
    f: &mut fmt::Formatter<'_>,
    when: &BTreeMap<Spot, Test>,
    changes: &[Change],
) -> fmt::Result {
    write_conditions(f, when)?;
    // What is read is not left out, but written elsewhere.
    let is_read = |key: &TokenKey| changes.iter().any(|change| change.reads(key));
    let mut said = changes.iter().filter(|change| match change {
        Change::Drop(Spot::Key(key)) => !is_read(key),
        Change::Fold { of: Area::Key(key), .. } => !is_read(key),
        _ => true,
    });
    if let Some(first) = said.next() {
        write_change(f, when, first)?;
    }
    said.try_for_each(|change| {
        f.write_str("; ")?;
        write_change(f, when, change)
    })
}

impl Change {
    /// Whether dropping a place drops all parameters of its name, in an edit that asks for this and changes that.
    pub fn drops_all(when: &BTreeMap<Spot, Test>, change: &[Self], spot: &Spot) -> bool {
        let Spot::Key(key @ (TokenKey::QueryParam(name) | TokenKey::PathParam(name))) = spot else {
            return false;
        };
        name.occurrence == 1 && !when.contains_key(spot) && !change.iter().any(|change| change.reads(key))
    }

    /// Whether it reads the value of a key.
    pub fn reads(&self, key: &TokenKey) -> bool {
        let is_it = |source: &Source| matches!(&source.of, Some(Spot::Key(read)) if read == key);
        match self {
            Self::Set { to, .. } => to.iter().any(is_it),
            Self::Path(parts) => {
                parts.iter().any(|part| matches!(part, PathPart::Value { from, .. } if is_it(from)))
            }
            _ => false,
        }
    }
}

/// Where the edit is made: the fixed start of the path first, then everything else.
fn write_conditions(f: &mut fmt::Formatter<'_>, when: &BTreeMap<Spot, Test>) -> fmt::Result {
    let segment = |index: usize| when.get(&Spot::Key(TokenKey::PathSegment(index as u16)));
    let fixed: Vec<&Value> = (0..when.len())
        .map_while(|index| match segment(index) {
            Some(Test::Is(value)) => Some(value),
            _ => None,
        })
        .collect();
    let is_whole = segment(fixed.len()) == Some(&Test::Absent);
    let mut separator = "";
    if !fixed.is_empty() {
        f.write_str(if is_whole { "on `" } else { "under `" })?;
        fixed.iter().try_for_each(|value| write!(f, "/{value}"))?;
        f.write_str("`")?;
        separator = ", ";
    }
    for (spot, test) in when {
        if matches!(spot, Spot::Key(TokenKey::PathSegment(index)) if usize::from(*index) < fixed.len()) {
            continue;
        }
        let name = Name(spot);
        match test {
            Test::Is(value) => write!(f, "{separator}where {name} is `{value}`")?,
            Test::OneOf(values) => {
                write!(f, "{separator}where {name} is one of {} known values", values.len())?;
            }
            Test::Not(values) => {
                write!(f, "{separator}unless {name} is ")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}`{value}`", if at == 0 { "" } else { " or " })?;
                }
            }
            // That a value is there to be read goes without saying.
            Test::Any(ValueClass::Text) if matches!(spot, Spot::Key(TokenKey::QueryParam(_))) => {
                write!(f, "{separator}where there is {name}")?;
            }
            Test::Any(ValueClass::Text) => continue,
            Test::Any(class) => write!(f, "{separator}where {name} is like `{class}`")?,
            Test::Absent => match spot {
                Spot::Key(TokenKey::PathSegment(depth)) if is_whole && usize::from(*depth) == fixed.len() => {
                    continue;
                }
                Spot::Key(TokenKey::PathSegment(depth)) => {
                    write!(f, "{separator}where the path has at most {depth} segments")?;
                }
                _ => write!(f, "{separator}where there is no {name}")?,
            },
        }
        separator = ", ";
    }
    f.write_str(if separator.is_empty() { "" } else { ": " })
}

/// A place as people call it.
struct Name<'a>(&'a Spot);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Spot::FromRight(0) => f.write_str("the last path segment"),
            Spot::FromRight(index) => write!(f, "path segment {} from the end", u32::from(*index) + 1),
            Spot::Key(key) => match key {
                TokenKey::Scheme => f.write_str("the scheme"),
                TokenKey::Subdomain(_) => write!(f, "host label `{key}`"),
                TokenKey::Port => f.write_str("the port"),
                TokenKey::PathSegment(index) => write!(f, "path segment {}", u32::from(*index) + 1),
                TokenKey::TrailingSlash => f.write_str("a trailing slash"),
                TokenKey::PathParam(name) => write!(f, "`;{name}`"),
                TokenKey::QuerySeparator => f.write_str("the separator of parameters"),
                TokenKey::QueryParam(name) => write!(f, "`{name}`"),
                TokenKey::Hashbang => f.write_str("what follows `#!`"),
            },
        }
    }
}

fn write_change(f: &mut fmt::Formatter<'_>, when: &BTreeMap<Spot, Test>, change: &Change) -> fmt::Result {
    match change {
        Change::Drop(spot) => match (spot, when.get(spot)) {
            (Spot::Key(TokenKey::QueryParam(name)), Some(Test::Is(value))) => {
                write!(f, "`{name}={value}` is the same as none")
            }
            (Spot::Key(TokenKey::PathSegment(_)) | Spot::FromRight(_), _) => {
                write!(f, "{} is left out", Name(spot))
            }
            _ => write!(f, "{} does not matter", Name(spot)),
        },
        Change::Forget(spot) => write!(f, "{} does not matter", Name(spot)),
        Change::ForgetPath => f.write_str("the path does not matter"),
        Change::Map { of, values } => {
            for (at, Mapped { is, becomes }) in values.iter().enumerate() {
                f.write_str(if at == 0 { "" } else { ", " })?;
                match (of, is, becomes) {
                    (TokenKey::QueryParam(name), Value::Bare, None) => {
                        write!(f, "`{name}` without value is the same as none")?
                    }
                    (TokenKey::QueryParam(name), is, None) => write!(f, "`{name}={is}` is the same as none")?,
                    (TokenKey::QueryParam(name), is, Some(becomes)) => {
                        write!(f, "`{name}={is}` is the same as `{name}={becomes}`")?;
                    }
                    (_, is, None) => write!(f, "`{is}` is the same as none")?,
                    (_, is, Some(becomes)) => write!(f, "`{is}` is the same as `{becomes}`")?,
                }
            }
            Ok(())
        }
        Change::Fold { of, to } => {
            let place = match of {
                Area::Path => "the path".to_owned(),
                Area::Params => "parameters".to_owned(),
                Area::Key(key) => Name(&Spot::Key(key.clone())).to_string(),
            };
            let what = match to {
                Spelling::Lowercase => "letter case does not matter",
                Spelling::Unescaped => "escapes such as `%3A` do not matter",
                Spelling::PlusAsSpace => "`+` is the same as `%20`",
                Spelling::Underscored => "spaces are the same as `_`",
                Spelling::Unpadded => "leading zeros do not matter",
                Spelling::Composed => "composed and decomposed accents are the same",
            };
            write!(f, "in {place}, {what}")
        }
        Change::Set { key, to } => {
            write!(f, "{} is `", Name(&Spot::Key(key.clone())))?;
            to.iter().try_for_each(|source| write!(f, "{source}"))?;
            f.write_str("`")
        }
        Change::Path(parts) => {
            f.write_str("the path is `")?;
            for part in parts {
                match part {
                    PathPart::Text(text) => write!(f, "/{text}")?,
                    PathPart::First(1) => f.write_str("/{first segment}")?,
                    PathPart::First(count) => write!(f, "/{{first {count} segments}}")?,
                    PathPart::Last(1) => f.write_str("/{last segment}")?,
                    PathPart::Last(count) => write!(f, "/{{last {count} segments}}")?,
                    PathPart::Segments { from: 0, but_last } => {
                        write!(f, "/{{all but the last {but_last}}}")?
                    }
                    PathPart::Segments { .. } => f.write_str("/{rest}")?,
                    PathPart::Value { from, split: None } => write!(f, "/{from}")?,
                    PathPart::Value { from, split: Some(split) } => write!(f, "/{from} with / for {split}")?,
                }
            }
            f.write_str("`")
        }
        Change::Unrepeat => f.write_str("parts of the path that repeat themselves are written once"),
        Change::UnrepeatParams => f.write_str("parameters that say the same twice are written once"),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        if let Some(spot) = &self.of {
            let part = self.part.map_or(String::new(), |part| format!(".{part}"));
            match self.count {
                _ if !self.table.is_empty() => {
                    write!(f, "{{{spot}{part}, by a table of {}}}", self.table.len())?
                }
                None => write!(f, "{{{spot}{part}}}")?,
                Some(Count { times: 1, plus }) => write!(f, "{{{spot}{part} {plus:+}}}")?,
                Some(Count { times, plus }) => write!(f, "{{{times} * {spot}{part} {plus:+}}}")?,
            }
        }
        f.write_str(&self.suffix)
    }
}
