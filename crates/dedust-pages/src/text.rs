/*!
Text as it is compared: white space as single spaces, characters in normal form C.
*/

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Appends the words of `bytes`, each after a space unless it is the first of all, and returns where they start;
/// `None` if there are none.
pub(crate) fn push_words(out: &mut String, bytes: &[u8]) -> Option<usize> {
    let before = out.len();
    if bytes.is_ascii() {
        for word in bytes.split(|&byte| is_ascii_space(byte)).filter(|word| !word.is_empty()) {
            if !out.is_empty() {
                out.push(' ');
            }
            // Checked above: this borrows.
            out.push_str(&String::from_utf8_lossy(word));
        }
    } else {
        let text = String::from_utf8_lossy(bytes);
        let text: Cow<'_, str> = match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => text,
            _ => text.nfc().collect::<String>().into(),
        };
        for word in text.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    if out.len() == before { None } else { Some(before + usize::from(before > 0)) }
}

/// The characters of an attribute.
pub(crate) fn of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// As `char::is_whitespace`.
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::push_words;

    #[test]
    fn words_are_set_one_space_apart() {
        let mut out = String::new();
        assert_eq!(push_words(&mut out, b" \n\x0b"), None);
        assert_eq!(push_words(&mut out, b" a\t\r\n b "), Some(0));
        assert_eq!(push_words(&mut out, "\u{a0}é\u{2003}z".as_bytes()), Some(4));
        assert_eq!(push_words(&mut out, "\u{3000}".as_bytes()), None);
        assert_eq!(out, "a b é z");
    }

    #[test]
    fn equal_characters_become_equal_bytes() {
        let mut out = String::new();
        push_words(&mut out, "e\u{301}".as_bytes());
        push_words(&mut out, b"\xff");
        assert_eq!(out, "é \u{fffd}");
    }
}
