/*!
Rules: the rules of a site. A rule says what must be true of a URL and what is then changed, and leaves the rest alone.

The rules of a site are made one after the other, each once, each to what those before it left. Most name only what they look
at: `q.sid` does not matter; `/w/index.php?title=X` is `/wiki/X`. A *closed* rule also asks that a URL has no other parts than it
names, and the one that is *last* ends the list for the URLs of which its tests are true. The rules of the literature are closed
and last.
*/

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Unexpected, Visitor};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AnyValue, Atom, Decision, Evidence, Put, unique_keys};
use crate::url::{RawValue, UrlPart, Value};

/// A change that is made to every URL of which some things are true.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "RuleFields")]
pub struct Rule {
    /// What must be true of a URL.
    pub when: BTreeMap<Spot, Test>,
    /// Whether the URL may have parts that `when` does not name.
    pub closed: Closed,
    /// What is changed, in this order. If one of the changes cannot be made, none is.
    pub change: Vec<Change>,
    /// Whether no later rule is made to a URL of which the tests are true.
    pub last: bool,
    /// Whether the changed URL is known to show the page. A rule that is not fetchable changes keys only.
    pub fetchable: bool,
    /// Why it is trusted. A rule that was written by hand has none: whoever wrote it vouches for it.
    pub evidence: Evidence,
    /// Somebody turned it off: it stays in the file and is not applied.
    pub off: Option<Box<Decision>>,
    /// Somebody vouches for it: it stays when the rules are learned again.
    pub pinned: Option<Box<Decision>>,
}

/// Whether a URL may have parts that a rule does not name in its tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closed {
    /// It may.
    #[default]
    No,
    /// Only query parameters.
    ExceptParams,
    /// It may not.
    Yes,
}

/// A rule as it stands in a rule file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFields {
    /// For people; what counts are the other fields.
    #[serde(default, rename = "says")]
    _says: de::IgnoredAny,
    #[serde(default, deserialize_with = "unique_keys")]
    when: BTreeMap<Spot, Test>,
    #[serde(default)]
    closed: Closed,
    change: Vec<Change>,
    #[serde(default)]
    last: bool,
    #[serde(default)]
    fetchable: bool,
    #[serde(default)]
    evidence: Evidence,
    #[serde(default, deserialize_with = "given")]
    off: Option<Box<Decision>>,
    #[serde(default, deserialize_with = "given")]
    pinned: Option<Box<Decision>>,
}

/// What is there; `null` would leave open whether it is.
pub(super) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl From<RuleFields> for Rule {
    fn from(fields: RuleFields) -> Self {
        let RuleFields { _says: _, when, closed, change, last, fetchable, evidence, off, pinned } = fields;
        Self { when, closed, change, last, fetchable, evidence, off, pinned }
    }
}

/// Says first what the rule does, and leaves out what is not said of it.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Rule", 9)?;
        fields.serialize_field("says", &self.to_string())?;
        if !self.when.is_empty() {
            fields.serialize_field("when", &self.when)?;
        }
        if self.closed != Closed::No {
            fields.serialize_field("closed", &self.closed)?;
        }
        fields.serialize_field("change", &self.change)?;
        for (name, is_so) in [("last", self.last), ("fetchable", self.fetchable)] {
            if is_so {
                fields.serialize_field(name, &true)?;
            }
        }
        for (name, decision) in [("off", &self.off), ("pinned", &self.pinned)] {
            if let Some(decision) = decision {
                fields.serialize_field(name, decision)?;
            }
        }
        if !self.evidence.is_none() {
            fields.serialize_field("evidence", &self.evidence)?;
        }
        fields.end()
    }
}

/// `true`, `false` or `"except_params"`.
impl Serialize for Closed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::No => serializer.serialize_bool(false),
            Self::Yes => serializer.serialize_bool(true),
            Self::ExceptParams => serializer.serialize_str("except_params"),
        }
    }
}

impl<'de> Deserialize<'de> for Closed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ClosedVisitor)
    }
}

struct ClosedVisitor;

impl Visitor<'_> for ClosedVisitor {
    type Value = Closed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`true`, `false` or \"except_params\" for `closed`")
    }

    fn visit_bool<E: de::Error>(self, is_closed: bool) -> Result<Closed, E> {
        Ok(if is_closed { Closed::Yes } else { Closed::No })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Closed, E> {
        match text {
            "except_params" => Ok(Closed::ExceptParams),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// A part of a URL that rules speak of. Ordered as [`UrlPart`], with segments from the right last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A key.
    Key(UrlPart),
    /// A path segment, counted from the right: `last_0` is the last.
    FromRight(u16),
}

/// What must be true of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Test {
    /// It is exactly this.
    Is(Value),
    /// It is one of these, which are sorted.
    OneOf(Vec<Value>),
    /// It is none of these; it may be absent.
    Not(Vec<Value>),
    /// There is none.
    Absent,
    /// It is of a class; it may be absent if that is said, and may not be one of some values.
    Any(AnyValue),
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// Leave it out, if it is there. Segments and labels behind it move up. All parameters of a name are left out together, unless
    /// the rule asks for the value of the first, or reads it.
    Drop(Spot),
    /// Its value does not matter: `*` in the key.
    Forget(Spot),
    /// The path does not matter: `*` in the key.
    ForgetPath,
    /// Some values stand for others, or for nothing. Others stay.
    Map {
        /// Where.
        of: UrlPart,
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
    /// Put a value where there may be none, in place of any. Of a query parameter, nothing is one without `=`.
    Set {
        /// Where.
        key: UrlPart,
        /// What, one after the other.
        to: Vec<Source>,
    },
    /// A new path.
    Path(Vec<PathPart>),
    /// `/a/b/a/b/x` is `/a/b/x`.
    Unrepeat,
    /// `?a=1&b=2&a=1` is `?a=1&b=2`.
    UnrepeatParams,
    /// `;` separates query parameters as `&` does: `?a=1;b` has the parameters `a` and `b`. Keys have `&` for both.
    SplitParams,
    /// These query parameters come first, in this order. Keys do not depend on it.
    Order(Vec<UrlPart>),
    /// Replace texts of the URL by others, one after the other, again and again until none of them changes it. Not made to a URL of
    /// which some value was forgotten, nor where the result is no URL of the site in safe normal form.
    Replace(Vec<Replace>),
}

/// Which text is replaced by which. A token is a run of letters and digits, or a single other character; only whole tokens are
/// replaced, so `page=1` is not found in `page=10`. The new text is shorter, or as long and smaller, so that there is an end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// The text to look for; the first is replaced.
    pub from: Box<str>,
    /// The text to write instead.
    pub to: Box<str>,
    /// Whether it must start the URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_start: bool,
    /// Whether it must end the URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_end: bool,
}

/// A value that stands for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapped {
    /// The value.
    pub is: Value,
    /// What it becomes; the key is left out when there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<Box<str>>,
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
    Key(UrlPart),
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Text before it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub prefix: Box<str>,
    /// The value is read here; without a spot there is only the text.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

impl Rule {
    /// A rule of keys that makes one change to every URL, without evidence.
    pub fn new(change: Change) -> Self {
        Self { change: vec![change], ..Self::default() }
    }

    /// As how many rules it counts: each replaced text is looked for in every URL.
    pub(super) fn weight(&self) -> usize {
        let replaced = self.change.iter().map(|change| match change.facts().puts {
            Put::Texts(list) => list.len(),
            Put::Nothing | Put::Value(..) | Put::Path(_) | Put::Spelling(..) => 0,
        });
        replaced.sum::<usize>().max(1)
    }
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
    /// What becomes of a number in decimal digits; `None` when that is no number, or less than zero.
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
            Self::Any(any) => any.holds(value),
            Self::Absent => value.is_none(),
        }
    }
}

impl From<UrlPart> for Spot {
    fn from(key: UrlPart) -> Self {
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
            None => text.parse().map(Self::Key).map_err(de::Error::custom),
        }
    }
}

impl Change {
    /// Whether dropping a spot drops all parameters of its name, in a rule that asks for this and changes that.
    pub fn drops_all(when: &BTreeMap<Spot, Test>, change: &[Self], spot: &Spot) -> bool {
        let Spot::Key(key @ (UrlPart::QueryParam(name) | UrlPart::PathParam(name))) = spot else {
            return false;
        };
        name.occurrence == 1 && !when.contains_key(spot) && !change.iter().any(|change| change.reads(key))
    }

    /// Whether it reads the value of a key.
    pub fn reads(&self, key: &UrlPart) -> bool {
        self.facts().sources().any(|source| matches!(&source.of, Some(Spot::Key(read)) if read == key))
    }
}
