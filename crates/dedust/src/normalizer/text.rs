/*!
What a normalizer hands out, as owned values that cannot be mistaken for each other.
*/

use std::fmt;

/// A URL in canonical form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl(pub(super) Box<[u8]>);

/// The key of a URL: equal keys mean equal pages. Not a URL.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub(super) Box<[u8]>);

macro_rules! url_text {
    ($name:ident) => {
        impl $name {
            /// The bytes; ASCII unless the URL held bytes that are not UTF-8.
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
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

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == *other.as_bytes()
            }
        }

        /// Bytes that are not UTF-8 are shown as U+FFFD.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&String::from_utf8_lossy(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", String::from_utf8_lossy(&self.0))
            }
        }
    };
}
url_text!(CanonicalUrl);
url_text!(UrlKey);
