/*!
Which URLs of a site a rule covers.

A [`Pattern`] names every key that a URL may have and says what its value must look like. It is closed: a URL
with any other key is not covered, because nothing was learned about that key.
*/

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer as _, MapAccess, Visitor};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ValueClass, unique_keys};
use crate::url::{RawValue, TokenKey, Value};

/// What a URL must look like, key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Pattern {
    #[serde(deserialize_with = "unique_keys")]
    keys: BTreeMap<TokenKey, ValuePattern>,
}

/// What the value of one key must look like.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValuePattern {
    /// Exactly this value.
    Is(Value),
    /// Any value of a class.
    Any(AnyValue),
}

/// A wildcard: a class of values, less the exceptions, that may be allowed to be absent. Written as the class alone where that is
/// all there is to say: `"digits"`, or `{"class": "digits", "except": ["0"], "optional": true}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyValue {
    /// What the value is made of.
    pub class: ValueClass,
    /// Values that other rules speak of.
    pub except: Vec<Value>,
    /// Whether the key may be missing.
    pub optional: bool,
}

impl AnyValue {
    /// Whether a value fits; `None` is an absent one.
    pub(crate) fn holds(&self, value: Option<RawValue<'_>>) -> bool {
        value.map_or(self.optional, |value| {
            self.class.contains_raw(value) && !self.except.iter().any(|except| except.as_raw() == value)
        })
    }

    /// Whether any value fits that is there.
    pub(crate) fn is_presence(&self) -> bool {
        *self == ValueClass::Text.into()
    }
}

impl From<ValueClass> for AnyValue {
    fn from(class: ValueClass) -> Self {
        Self { class, except: Vec::new(), optional: false }
    }
}

impl Serialize for AnyValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { class, except, optional } = self;
        if except.is_empty() && !optional {
            return class.serialize(serializer);
        }
        let mut fields = serializer.serialize_struct("AnyValue", 3)?;
        fields.serialize_field("class", class)?;
        if !except.is_empty() {
            fields.serialize_field("except", except)?;
        }
        if *optional {
            fields.serialize_field("optional", optional)?;
        }
        fields.end()
    }
}

/// A class that has texts is an object too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnyFields {
    class: Option<ValueClass>,
    file: Option<Box<str>>,
    framed: Option<Framed>,
    #[serde(default)]
    except: Vec<Value>,
    #[serde(default)]
    optional: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Framed {
    prefix: Box<str>,
    class: Box<ValueClass>,
    suffix: Box<str>,
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = AnyValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a class of values")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<AnyValue, E> {
        ValueClass::deserialize(name.into_deserializer()).map(AnyValue::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<AnyValue, A::Error> {
        let AnyFields { class, file, framed, except, optional } =
            AnyFields::deserialize(MapAccessDeserializer::new(map))?;
        let framed =
            framed.map(|Framed { prefix, class, suffix }| ValueClass::Framed { prefix, class, suffix });
        let mut classes = class.into_iter().chain(file.map(ValueClass::File)).chain(framed);
        match (classes.next(), classes.next()) {
            (Some(class), None) => Ok(AnyValue { class, except, optional }),
            (None, _) => Err(de::Error::missing_field("class")),
            _ => Err(de::Error::custom("expected one of `class`, `file` and `framed`")),
        }
    }
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

    /// The keys with their value patterns, owned.
    pub(super) fn into_keys(self) -> impl Iterator<Item = (TokenKey, ValuePattern)> {
        self.keys.into_iter()
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
            (Self::Any(any), value) => any.holds(value.map(Value::as_raw)),
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

impl fmt::Display for ValuePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(value) => write!(f, "{value}"),
            Self::Any(any) => write!(f, "<{any}>"),
        }
    }
}

/// Reads `digits? except 0, 1`, with a `?` where it may be absent.
impl fmt::Display for AnyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class, if self.optional { "?" } else { "" })?;
        for (index, value) in self.except.iter().enumerate() {
            write!(f, "{}{value}", if index == 0 { " except " } else { ", " })?;
        }
        Ok(())
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
