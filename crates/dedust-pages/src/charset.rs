/*!
Bytes to characters, as browsers do it.

The encoding is told by a byte order mark, the `charset` of the content type, a `<meta>` tag within the first 1,024
bytes, or else guessed from the bytes themselves. Bytes that are not valid in it become U+FFFD; nothing fails.

After the WHATWG HTML standard, "determining the character encoding", and the Encoding standard.
*/

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252, X_USER_DEFINED};
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// Bytes in which a `<meta>` tag with the encoding is looked for.
const PRESCAN_BYTES: usize = 1024;

/// Bytes that a guess is made from.
const GUESS_BYTES: usize = 64 << 10;

/// The characters of a document.
pub(crate) fn decode<'b>(body: &'b [u8], content_type: Option<&[u8]>, is_html: bool) -> Cow<'b, str> {
    encoding_of(body, content_type, is_html).decode_with_bom_removal(body).0
}

fn encoding_of(body: &[u8], content_type: Option<&[u8]>, is_html: bool) -> &'static Encoding {
    Encoding::for_bom(body)
        .map(|(encoding, _)| encoding)
        .or_else(|| charset_parameter(content_type?))
        .or_else(|| if is_html { prescan(&body[..body.len().min(PRESCAN_BYTES)]) } else { None })
        .unwrap_or_else(|| guess(body))
}

/// The encoding named after the first `charset=` that names one.
fn charset_parameter(text: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"charset";
    let mut places = (0..text.len().saturating_sub(NAME.len()))
        .filter(|&at| text[at..at + NAME.len()].eq_ignore_ascii_case(NAME));
    places.find_map(|at| {
        let value = text[at + NAME.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let value = match value.split_first() {
            Some((quote @ (b'"' | b'\''), rest)) => rest.split(|byte| byte == quote).next()?,
            _ => value.split(|byte| byte.is_ascii_whitespace() || *byte == b';').next()?,
        };
        Encoding::for_label(value)
    })
}

/// The encoding that the first `<meta>` tag with one names. Comments and scripts are not looked into.
fn prescan(start: &[u8]) -> Option<&'static Encoding> {
    let mut is_meta = false;
    let mut attribute = Vec::new();
    let (mut charset, mut content) = (None, None);
    let mut is_content_type = false;
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                is_meta = name == b"meta";
                (charset, content, is_content_type) = (None, None, false);
            }
            CallbackEvent::AttributeName { name } if is_meta => {
                attribute.clear();
                attribute.extend_from_slice(name);
            }
            CallbackEvent::AttributeValue { value } if is_meta => match attribute.as_slice() {
                b"charset" => charset = charset.or_else(|| Encoding::for_label(value)),
                b"content" => content = content.or_else(|| charset_parameter(value)),
                b"http-equiv" => is_content_type = value.eq_ignore_ascii_case(b"content-type"),
                _ => {}
            },
            CallbackEvent::CloseStartTag { .. } if is_meta => {
                is_meta = false;
                return charset.or(if is_content_type { content } else { None });
            }
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    let Some(Ok(found)) = Tokenizer::new_with_emitter(start, emitter).next() else { return None };
    // A tag that could be read cannot be in UTF-16.
    Some(match found {
        encoding if !encoding.is_ascii_compatible() => UTF_8,
        encoding if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

fn guess(body: &[u8]) -> &'static Encoding {
    let start = &body[..body.len().min(GUESS_BYTES)];
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        // A character that was cut in two.
        Err(error) => start.len() < body.len() && error.error_len().is_none(),
    };
    if is_utf8 {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start, start.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(body: &[u8], content_type: Option<&str>) -> String {
        decode(body, content_type.map(str::as_bytes), true).into_owned()
    }

    #[test]
    fn a_byte_order_mark_wins_over_everything() {
        assert_eq!(html(b"\xff\xfea\0", Some("text/html; charset=utf-8")), "a");
        assert_eq!(html(b"\xef\xbb\xbf\xc3\xa9", Some("text/html; charset=iso-8859-1")), "é");
    }

    #[test]
    fn the_content_type_wins_over_the_page() {
        assert_eq!(
            html(b"<meta charset=utf-8>caf\xe9", Some("text/html; charset=ISO-8859-1")),
            "<meta charset=utf-8>café"
        );
        assert_eq!(html(b"\xe9", Some("text/html;charset=\"latin1\"")), "é");
        assert_eq!(html(b"caf\xe9", Some("text/html; charset=nonsense")), "café");
    }

    #[test]
    fn a_meta_tag_is_found_where_browsers_find_it() {
        let ends_in_yes = |body: &[u8]| html(body, None).ends_with("да");
        assert!(ends_in_yes(b"<META Charset='windows-1251'>\xe4\xe0"));
        assert!(ends_in_yes(
            b"<meta content=\"text/html; CHARSET = koi8-r\" http-equiv=Content-Type>\xc4\xc1"
        ));
        assert!(ends_in_yes(b"<!-- <meta charset=koi8-r> --><meta charset=windows-1251>\xe4\xe0"));
        assert!(ends_in_yes(b"<script>'<meta charset=koi8-r>'</script><meta charset=windows-1251>\xe4\xe0"));
        assert!(ends_in_yes(b"<meta name=x content='charset=koi8-r'><meta charset=windows-1251>\xe4\xe0"));
        assert_eq!(html("<meta charset=utf-16>é".as_bytes(), None), "<meta charset=utf-16>é");
    }

    #[test]
    fn without_a_word_the_bytes_tell() {
        assert_eq!(html("naïve".as_bytes(), None), "naïve");
        assert!(html(b"Le caf\xe9 est tr\xe8s fort, voil\xe0.", None).starts_with("Le café"));
        let russian =
            encoding_rs::WINDOWS_1251.encode("Съешь же ещё этих мягких французских булок, да выпей чаю.").0;
        assert!(html(&russian, None).starts_with("Съешь"));
        let japanese = encoding_rs::SHIFT_JIS.encode("いろはにほへと ちりぬるを わかよたれそ つねならむ").0;
        assert!(html(&japanese, None).starts_with("いろは"));
    }

    #[test]
    fn bytes_without_meaning_become_replacement_characters() {
        assert_eq!(html(b"a\xffb", Some("text/html; charset=utf-8")), "a\u{fffd}b");
    }
}
