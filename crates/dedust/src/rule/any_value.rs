/*!
Wildcards: any value of a class.
*/

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IntoDeserializer as _, MapAccess, Visitor};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ValueClass;
use crate::url::{RawValue, Value};

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
    pub fn holds(&self, value: Option<RawValue<'_>>) -> bool {
        value.map_or(self.optional, |value| {
            self.class.contains_raw(value) && !self.except.iter().any(|except| except.as_raw() == value)
        })
    }

    /// Whether any value fits that is there.
    pub(super) fn is_presence(&self) -> bool {
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
