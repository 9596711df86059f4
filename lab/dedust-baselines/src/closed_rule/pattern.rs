/*!
Which URLs of a site a rule covers.

A [`Pattern`] names every key that a URL may have and says what its value must look like. It is closed: a URL
with any other key is not covered, because nothing was learned about that key.
*/

use std::collections::BTreeMap;
use std::fmt;

use dedust::rules::{AnyValue, UrlPart, Value};

use super::shape::write_shape;

/// What a URL must look like, key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    keys: BTreeMap<UrlPart, ValuePattern>,
}

/// What the value of one key must look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValuePattern {
    /// Exactly this value.
    Is(Value),
    /// Any value of a class.
    Any(AnyValue),
}

impl Pattern {
    /// A pattern of these keys.
    pub fn new(keys: impl IntoIterator<Item = (UrlPart, ValuePattern)>) -> Self {
        Self { keys: keys.into_iter().collect() }
    }

    /// The keys with their value patterns, in the order of [`UrlPart`].
    pub fn keys(&self) -> impl Iterator<Item = (&UrlPart, &ValuePattern)> {
        self.keys.iter()
    }

    /// What the pattern says about `key`; `None` means that the key must be absent.
    pub fn get(&self, key: &UrlPart) -> Option<&ValuePattern> {
        self.keys.get(key)
    }

    /// Whether a URL with these pairs is covered.
    pub fn matches(&self, tokens: &BTreeMap<UrlPart, Value>) -> bool {
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
    pub(super) fn overlaps(&self, other: &Self) -> bool {
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

/// Reads like a URL: `http://<word>.example.org/view?id=<digits>` without the domain, which is the site's.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_shape(f, self.keys.iter().map(|(key, pattern)| (key, pattern as &dyn fmt::Display)))
    }
}

#[cfg(test)]
mod tests {
    use dedust::rules::ValueClass;

    use super::*;

    #[test]
    fn a_closed_pattern_refuses_unknown_keys() {
        let any = AnyValue { class: ValueClass::Digits, except: vec!["1".into()], optional: true };
        let pattern = Pattern::new([(UrlPart::query("page"), ValuePattern::Any(any))]);
        let url = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| (UrlPart::query(name), Value::from(*value))).collect()
        };
        assert!(pattern.matches(&url(&[("page", "2")])));
        assert!(pattern.matches(&url(&[])));
        assert!(!pattern.matches(&url(&[("page", "1")])));
        assert!(!pattern.matches(&url(&[("page", "two")])));
        assert!(!pattern.matches(&url(&[("page", "2"), ("sid", "9")])));
    }
}
