/*!
Keys and values as text: `q.id`, `path_0`, `null` for a parameter without `=`.
*/

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ParamName, UrlPart, Value};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare => f.write_str("(no value)"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for ParamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.occurrence > 1 { write!(f, "#{}", self.occurrence) } else { Ok(()) }
    }
}

impl fmt::Display for UrlPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => f.write_str("scheme"),
            Self::Subdomain(index) => write!(f, "sub_{index}"),
            Self::Port => f.write_str("port"),
            Self::PathSegment(index) => write!(f, "path_{index}"),
            Self::TrailingSlash => f.write_str("tslash"),
            Self::PathParam(name) => write!(f, "mp.{name}"),
            Self::QuerySeparator => f.write_str("sep"),
            Self::QueryParam(name) => write!(f, "q.{name}"),
            Self::Hashbang => f.write_str("hashbang"),
        }
    }
}

/// Text that names no [`UrlPart`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key; keys are scheme, sub_N, port, path_N, tslash, mp.NAME, sep, q.NAME, hashbang")]
pub struct UnknownKey(Box<str>);

impl FromStr for UrlPart {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(text.into());
        let position = |digits: &str| digits.parse().map_err(|_| unknown());
        Ok(match text {
            "scheme" => Self::Scheme,
            "port" => Self::Port,
            "tslash" => Self::TrailingSlash,
            "sep" => Self::QuerySeparator,
            "hashbang" => Self::Hashbang,
            _ => {
                if let Some(digits) = text.strip_prefix("sub_") {
                    Self::Subdomain(position(digits)?)
                } else if let Some(digits) = text.strip_prefix("path_") {
                    Self::PathSegment(position(digits)?)
                } else if let Some(name) = text.strip_prefix("mp.") {
                    Self::PathParam(ParamName::from_text(name))
                } else if let Some(name) = text.strip_prefix("q.") {
                    Self::QueryParam(ParamName::from_text(name))
                } else {
                    return Err(unknown());
                }
            }
        })
    }
}

impl ParamName {
    /// `#` cannot stand in a name (it would start the fragment), so what follows one is the occurrence.
    fn from_text(text: &str) -> Self {
        match text.rsplit_once('#').and_then(|(name, count)| Some((name, count.parse().ok()?))) {
            Some((name, occurrence)) if occurrence > 1 => Self { name: name.into(), occurrence },
            _ => Self { name: text.into(), occurrence: 1 },
        }
    }
}

impl Serialize for UrlPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UrlPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_text().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Box<str>>::deserialize(deserializer)?.map_or(Self::Bare, Self::Text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back_as_written() {
        for text in
            ["scheme", "sub_3", "port", "path_12", "tslash", "mp.s", "sep", "q.a", "q.a#2", "q.", "hashbang"]
        {
            assert_eq!(text.parse::<UrlPart>().unwrap().to_string(), text);
        }
        assert!("path_x".parse::<UrlPart>().is_err());
        assert!("colour".parse::<UrlPart>().is_err());
    }
}
