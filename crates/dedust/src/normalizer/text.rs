/*!
What a normalizer hands out, as owned values that cannot be mistaken for each other.

Both are bytes, since a URL may hold bytes that are not UTF-8 and are kept as they are. They are compared, ordered and hashed as
these bytes, so a map by [`UrlKey`] can be asked for what [`Normalizer::key_with`](crate::Normalizer::key_with) returns.
*/

use std::borrow::Borrow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::url::ParsedUrl;

/// A URL in canonical form.
///
/// Serialized as a string, which fails for one that is not UTF-8. A string that is read must be a URL in safe normal form;
/// whether the rules of a site would change it is not asked.
///
/// ```
/// use dedust::{CanonicalUrl, Normalizer};
///
/// let url = Normalizer::default().normalize("HTTP://Example.org:80/a b")?;
/// assert_eq!(url, "http://example.org/a%20b");
/// assert_eq!(url.as_str(), Some("http://example.org/a%20b"));
/// assert_eq!(url.to_string(), "http://example.org/a%20b");
///
/// let json = serde_json::to_string(&url)?;
/// assert_eq!(json, r#""http://example.org/a%20b""#);
/// assert_eq!(serde_json::from_str::<CanonicalUrl>(&json)?, url);
/// assert!(serde_json::from_str::<CanonicalUrl>(r#""Example.org""#).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(pub(super) Box<[u8]>);

/// The key of a URL: equal keys mean equal pages. Not a URL.
///
/// Serialized as a string, which fails for one that is not UTF-8. Any string that is read is taken for a key.
///
/// ```
/// use std::collections::HashSet;
///
/// use dedust::{Normalizer, Scratch, UrlKey};
///
/// let normalizer = Normalizer::default();
/// let mut seen: HashSet<UrlKey> = HashSet::new();
/// assert!(seen.insert(normalizer.key("http://example.org/?b=1&a=2")?));
/// assert!(!seen.insert(normalizer.key("http://user@example.org/?a=2&b=1#top")?));
///
/// // Asked for by bytes, without a copy.
/// let mut scratch = Scratch::default();
/// assert!(seen.contains(normalizer.key_with(b"http://EXAMPLE.org?a=2&b=1", &mut scratch)?));
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub(super) Box<[u8]>);

macro_rules! url_text {
    ($name:ident) => {
        impl $name {
            /// The bytes; ASCII unless the URL held bytes that are not UTF-8.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// The text; `None` if the URL held bytes that are not UTF-8.
            pub fn as_str(&self) -> Option<&str> {
                str::from_utf8(&self.0).ok()
            }

            /// The bytes, owned.
            pub fn into_bytes(self) -> Vec<u8> {
                self.0.into()
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        // No `Borrow<str>`: not every one is text, and a `str` is hashed in another way than its bytes.
        impl Borrow<[u8]> for $name {
            fn borrow(&self) -> &[u8] {
                &self.0
            }
        }

        impl From<$name> for Vec<u8> {
            fn from(text: $name) -> Self {
                text.into_bytes()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                *self.0 == *other.as_bytes()
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == *other.as_bytes()
            }
        }

        impl PartialEq<[u8]> for $name {
            fn eq(&self, other: &[u8]) -> bool {
                *self.0 == *other
            }
        }

        impl PartialEq<&[u8]> for $name {
            fn eq(&self, other: &&[u8]) -> bool {
                *self.0 == **other
            }
        }

        /// Bytes that are not UTF-8 are shown as U+FFFD.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&String::from_utf8_lossy(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", String::from_utf8_lossy(&self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let text = self.as_str().ok_or_else(|| S::Error::custom("the URL is not UTF-8"))?;
                serializer.serialize_str(text)
            }
        }
    };
}
url_text!(CanonicalUrl);
url_text!(UrlKey);

impl<'de> Deserialize<'de> for CanonicalUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let url = ParsedUrl::parse(&text).map_err(D::Error::custom)?;
        match url.as_bytes() == text.as_bytes() {
            true => Ok(Self(text.into_bytes().into())),
            false => Err(D::Error::custom("expected a URL in safe normal form")),
        }
    }
}

impl<'de> Deserialize<'de> for UrlKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(String::deserialize(deserializer)?.into_bytes().into()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher as _, RandomState};

    use super::{CanonicalUrl, UrlKey};

    fn texts() -> [&'static [u8]; 4] {
        [b"http://a.example/", b"http://a.example/\xff", b"", b"*"]
    }

    #[test]
    fn borrowed_bytes_are_equal_ordered_and_hashed_as_the_key() {
        let state = RandomState::new();
        let keys: BTreeSet<UrlKey> = texts().iter().map(|&text| UrlKey(text.into())).collect();
        for text in texts() {
            let key = keys.get(text).expect("found by its bytes");
            assert_eq!(*key, text);
            assert_eq!(state.hash_one(key), state.hash_one(text));
        }
        assert!(!keys.contains(&b"http://b.example/"[..]));
    }

    #[test]
    fn bytes_outside_utf8_have_no_text_and_are_not_serialized() {
        let url = CanonicalUrl(b"http://a.example/\xff"[..].into());
        assert_eq!(url.as_str(), None);
        assert!(serde_json::to_string(&url).is_err());
        assert_eq!(url.to_string(), "http://a.example/\u{fffd}");
    }

    #[test]
    fn what_is_read_is_a_url_in_safe_form_or_any_key() {
        let url = |text: &str| serde_json::from_value::<CanonicalUrl>(text.into());
        assert_eq!(url("http://a.example/?b").unwrap(), "http://a.example/?b");
        assert!(url("http://A.example/?b").is_err());
        assert!(url("a.example").is_err());
        assert_eq!(serde_json::from_value::<UrlKey>("*".into()).unwrap(), "*");
    }
}
