/*!
The outline of a JSON text: the fields of an object with the texts of their values, and the lines on which these start.
*/

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A field of an object.
pub(super) struct Field<'a> {
    pub(super) name: String,
    pub(super) value: &'a RawValue,
}

/// The fields of an object, in order, also those that are there twice.
pub(super) fn fields(json: &str) -> serde_json::Result<Vec<Field<'_>>> {
    serde_json::from_str::<Fields<'_>>(json).map(|Fields(fields)| fields)
}

struct Fields<'a>(Vec<Field<'a>>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            fields.push(Field { name, value });
        }
        Ok(Fields(fields))
    }
}

/// Finds the lines of values in the text that they were read from.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where lines end.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// The line on which a value of the text starts, counted from 1.
    pub(super) fn of(&self, value: &RawValue) -> usize {
        let offset = value.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        1 + self.ends.partition_point(|&end| end < offset)
    }
}
