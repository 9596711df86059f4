/*!
Document bytes to [`Page`]: the title and the text that a reader sees.

The encoding is told by a byte order mark, the content type, a `<meta>` tag, or the bytes themselves, in this order.
Takes documents as they are: broken markup is read as browsers do. Follows no links and runs no scripts.
*/

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::markup;

/// Bytes in which a `<meta>` tag with the encoding is looked for.
const META_BYTES: usize = 1024;

/// What a reader sees of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The content of `<title>`, empty if there is none.
    pub title: String,
    /// The visible text, runs of white space as one space.
    pub text: String,
}

impl Page {
    /// Reads a document, if it is one that has text: HTML, XHTML or plain text by its content type, or HTML by its
    /// first bytes if it has none.
    pub fn read(body: &[u8], content_type: Option<&str>) -> Option<Self> {
        let kind = content_type.map(|value| {
            let kind = value.split(';').next().unwrap_or_default();
            kind.trim().to_ascii_lowercase()
        });
        let is_html = match kind.as_deref() {
            Some("text/html" | "application/xhtml+xml") => true,
            Some("text/plain") => false,
            None | Some("") if body.trim_ascii_start().starts_with(b"<") => true,
            _ => return None,
        };
        let (text, _) = encoding(body, content_type, is_html).decode_with_bom_removal(body);
        Some(if is_html {
            markup::read(&text)
        } else {
            Self { title: String::new(), text: collapsed(&text) }
        })
    }
}

fn encoding(body: &[u8], content_type: Option<&str>, is_html: bool) -> &'static Encoding {
    Encoding::for_bom(body)
        .map(|(encoding, _)| encoding)
        .or_else(|| charset_in(content_type?.as_bytes()))
        .or_else(|| {
            if is_html { charset_in(&body[..body.len().min(META_BYTES)]).map(ascii_based) } else { None }
        })
        .unwrap_or(if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 })
}

/// The encoding named after the first `charset=` that names one.
fn charset_in(text: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"charset";
    text.windows(NAME.len()).enumerate().filter(|(_, word)| word.eq_ignore_ascii_case(NAME)).find_map(
        |(at, _)| {
            let value = text[at + NAME.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
            let end = value.iter().position(|byte| b"\"'; />\t\r\n".contains(byte)).unwrap_or(value.len());
            Encoding::for_label(&value[..end])
        },
    )
}

/// A tag that could be read cannot be in UTF-16.
fn ascii_based(encoding: &'static Encoding) -> &'static Encoding {
    if encoding.is_ascii_compatible() { encoding } else { UTF_8 }
}

/// Runs of white space as one space, none at the ends.
pub(crate) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8], content_type: Option<&str>) -> Option<String> {
        Page::read(body, content_type).map(|page| page.text)
    }

    #[test]
    fn the_encoding_is_found() {
        let html = Some("text/html");
        assert_eq!(text(b"<p>caf\xe9", Some("text/html; charset=ISO-8859-1")).unwrap(), "café");
        assert_eq!(text(b"<p>caf\xe9", html).unwrap(), "café");
        assert_eq!(text("<p>café".as_bytes(), html).unwrap(), "café");
        assert_eq!(text(b"<meta charset='windows-1251'><p>\xe4\xe0", html).unwrap(), "да");
        let http_equiv = b"<meta http-equiv=content-type content=\"text/html; CHARSET = koi8-r\"><p>\xc4\xc1";
        assert_eq!(text(http_equiv, html).unwrap(), "да");
        assert_eq!(text(b"\xff\xfe<\0p\0>\0a\0", html).unwrap(), "a");
        assert_eq!(text(b"<meta charset=utf-16><p>a", html).unwrap(), "a");
        assert_eq!(text(b"<p>caf\xe9", Some("text/html; charset=nonsense")).unwrap(), "café");
    }

    #[test]
    fn only_documents_with_text_are_read() {
        assert_eq!(text(b" a  <b>\n", Some("text/plain")).unwrap(), "a <b>");
        assert_eq!(text(b"\n<p>a", None).unwrap(), "a");
        assert_eq!(text(b"<p>a", Some("Application/XHTML+XML")).unwrap(), "a");
        for kind in [Some("image/png"), Some("application/json"), None] {
            assert_eq!(text(b"a", kind), None);
        }
    }
}
