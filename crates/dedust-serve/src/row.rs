/*!
What a line of a batch says: a URL, and the redirects that led to it.
*/

use std::borrow::Cow;

use serde::Deserialize;

/// A URL, as a line of text or of JSON has it.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Its bytes.
    pub(crate) url: Cow<'a, [u8]>,
    /// The URLs whose redirects led to it.
    pub(crate) chain: Vec<Cow<'a, str>>,
}

/// A line of JSON: an object with a URL, or a URL alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Json<'a> {
    Object {
        #[serde(borrow)]
        url: Cow<'a, str>,
        #[serde(borrow, default)]
        chain: Vec<Cow<'a, str>>,
    },
    Url(#[serde(borrow)] Cow<'a, str>),
}

impl<'a> Row<'a> {
    /// A line that is a URL.
    pub(crate) fn text(line: &'a [u8]) -> Self {
        Self { url: Cow::Borrowed(line), chain: Vec::new() }
    }

    /// A line of JSON.
    pub(crate) fn json(line: &'a [u8]) -> Result<Self, &'static str> {
        let (url, chain) = match serde_json::from_slice(line) {
            Ok(Json::Object { url, chain }) => (url, chain),
            Ok(Json::Url(url)) => (url, Vec::new()),
            Err(_) => {
                return Err(r#"no JSON such as {"url":"http://a.example/"}, with "chain" as a list of URLs"#);
            }
        };
        let url = match url {
            Cow::Borrowed(url) => Cow::Borrowed(url.as_bytes()),
            Cow::Owned(url) => Cow::Owned(url.into_bytes()),
        };
        Ok(Self { url, chain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_an_object_or_a_text() {
        let row = Row::json(
            br#"{"url": "http://a.example/\u0041", "chain": ["http://b.example/"], "status": 200}"#,
        );
        let row = row.unwrap();
        assert_eq!((&*row.url, &*row.chain), (&b"http://a.example/A"[..], &["http://b.example/".into()][..]));
        assert_eq!(&*Row::json(br#""http://a.example/""#).unwrap().url, b"http://a.example/");
        for wrong in [
            "",
            "http://a.example/",
            "{}",
            "7",
            "null",
            r#"{"url": 7}"#,
            r#"{"url": "x", "chain": "y"}"#,
            "[[[[",
        ] {
            assert!(Row::json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
