/*!
Values in one spelling, where there are several.
*/

use crate::rule::Spelling;

impl Spelling {
    /// Whether a value may be spelled in another way; quick, and true rather than false.
    pub fn may_change(self, value: &[u8], in_query: bool) -> bool {
        match self {
            Self::Lowercase => value.iter().any(u8::is_ascii_uppercase),
            Self::Unescaped | Self::Composed => memchr::memchr(b'%', value).is_some(),
            Self::PlusAsSpace => in_query && memchr::memchr(b'+', value).is_some(),
            Self::Underscored => memchr::memchr2(b'%', b'+', value).is_some(),
            Self::Unpadded => memchr::memchr(b'0', value).is_some(),
        }
    }

    /// Writes what stands at `at` of a value, and says how much of it was read.
    pub(super) fn write_next(
        self,
        start: usize,
        at: usize,
        end: usize,
        in_query: bool,
        text: &mut Vec<u8>,
    ) -> usize {
        let byte = text[at];
        if byte == b'%' && at + 3 <= end {
            let escape = [text[at], text[at + 1], text[at + 2]];
            match (self, &escape) {
                (Self::Underscored, b"%20") => text.push(b'_'),
                (Self::Unescaped, _) => match unescape(escape, in_query) {
                    Some(byte) => text.push(byte),
                    None => text.extend_from_slice(&escape),
                },
                _ => text.extend_from_slice(&escape),
            }
            return 3;
        }
        match self {
            Self::Lowercase => text.push(byte.to_ascii_lowercase()),
            Self::PlusAsSpace if byte == b'+' && in_query => text.extend_from_slice(b"%20"),
            Self::Underscored if byte == b'+' && in_query => text.push(b'_'),
            Self::Unpadded if byte == b'0' => {
                let starts_number = at == start || !matches!(text[at - 1], b'0'..=b'9' | b'.');
                let goes_on = at + 1 < end && text[at + 1].is_ascii_digit();
                // Zeros at the start of a number, one after the other.
                let is_padding = goes_on && (starts_number || self.is_in_padding(start, at, text));
                if !is_padding {
                    text.push(byte);
                }
            }
            _ => text.push(byte),
        }
        1
    }

    fn is_in_padding(self, start: usize, at: usize, text: &[u8]) -> bool {
        let zeros = text[start..at].iter().rev().take_while(|&&byte| byte == b'0').count();
        let before = at - zeros;
        zeros > 0 && (before == start || !matches!(text[before - 1], b'0'..=b'9' | b'.'))
    }
}

/// The character of an escape, where it means the same unescaped.
fn unescape(escape: [u8; 3], in_query: bool) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = (digit(escape[1])? * 16 + digit(escape[2])?) as u8;
    let means_nothing: &[u8] = if in_query { b":/@!$'()*," } else { b":@!$'()*," };
    means_nothing.contains(&byte).then_some(byte)
}

/// The value with its escaped accents composed, if that is another value.
pub(super) fn compose(value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut at = 0;
    while at < value.len() {
        let digit = |offset: usize| value.get(at + offset).and_then(|&byte| char::from(byte).to_digit(16));
        match (value[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) if high >= 8 => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    let composed = icu_normalizer::ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let mut out = Vec::with_capacity(value.len());
    for &byte in composed.as_bytes() {
        if byte.is_ascii() {
            out.push(byte);
        } else {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
    (out != value).then_some(out)
}
