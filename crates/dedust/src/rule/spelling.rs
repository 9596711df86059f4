/*!
Values in one spelling, where there are several.
*/

use super::Spelling;

impl Spelling {
    /// As it is stored in compiled rules.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The spelling that has a code.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        const ALL: [Spelling; 6] = [
            Spelling::Lowercase,
            Spelling::Unescaped,
            Spelling::PlusAsSpace,
            Spelling::Underscored,
            Spelling::Unpadded,
            Spelling::Composed,
        ];
        ALL.get(usize::from(code)).copied().filter(|spelling| spelling.code() == code)
    }

    /// Whether a value may be spelled in another way; quick, and true rather than false.
    pub fn may_change(self, value: &[u8], in_query: bool) -> bool {
        match self {
            Self::Lowercase => value.iter().any(u8::is_ascii_uppercase),
            Self::Unescaped => memchr::memchr_iter(b'%', value).any(|at| {
                let escape = value.get(at..).and_then(|rest| rest.first_chunk());
                escape.is_some_and(|escape| unescape(*escape, in_query).is_some())
            }),
            Self::Composed => memchr::memchr(b'%', value).is_some(),
            Self::PlusAsSpace => in_query && memchr::memchr(b'+', value).is_some(),
            Self::Underscored => {
                in_query && memchr::memchr(b'+', value).is_some()
                    || memchr::memchr_iter(b'%', value).any(|at| value[at..].starts_with(b"%20"))
            }
            Self::Unpadded => memchr::memchr(b'0', value).is_some(),
        }
    }

    /// A text in this spelling: the value of a parameter, or something else.
    pub fn of(self, text: &[u8], in_query: bool) -> Vec<u8> {
        let mut spelled = text.to_vec();
        self.write(0, text.len(), in_query, &mut Composer::default(), &mut spelled);
        spelled.split_off(text.len())
    }

    /// Writes `text[start..end]`, the value of a parameter or something else, in this spelling to the end of `text`.
    pub(crate) fn write(
        self,
        start: usize,
        end: usize,
        in_query: bool,
        composer: &mut Composer,
        text: &mut Vec<u8>,
    ) {
        // Composing is done on the whole value at once.
        if self == Self::Composed {
            if composer.compose(&text[start..end]) {
                composer.write(text);
            } else {
                text.extend_from_within(start..end);
            }
            return;
        }
        text.reserve(3 * (end - start));
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            // What is not written as it is, apart from capitals.
            let next = match self {
                Self::PlusAsSpace | Self::Underscored => memchr::memchr2(b'%', b'+', rest),
                Self::Unpadded => memchr::memchr2(b'%', b'0', rest),
                Self::Lowercase | Self::Unescaped | Self::Composed => memchr::memchr(b'%', rest),
            };
            let (copy, stop) = (text.len(), next.map_or(end, |next| at + next));
            text.extend_from_within(at..stop);
            if self == Self::Lowercase {
                text[copy..].make_ascii_lowercase();
            }
            at = stop;
            if at < end {
                at += self.write_next(start, at, end, in_query, text);
            }
        }
    }

    /// Writes what stands at `at` of a value, and says how much of it was read.
    fn write_next(self, start: usize, at: usize, end: usize, in_query: bool, text: &mut Vec<u8>) -> usize {
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
    let means_nothing = matches!(byte, b':' | b'@' | b'!' | b'$' | b'\'' | b'(' | b')' | b'*' | b',');
    (means_nothing || in_query && byte == b'/').then_some(byte)
}

/// Composes accents, in buffers of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Composer {
    unescaped: Vec<u8>,
    composed: String,
}

impl Composer {
    /// Composes the escaped accents of a value; false when it holds something that is no text.
    fn compose(&mut self, value: &[u8]) -> bool {
        self.unescaped.clear();
        self.composed.clear();
        let mut at = 0;
        while at < value.len() {
            let digit =
                |offset: usize| value.get(at + offset).and_then(|&byte| char::from(byte).to_digit(16));
            match (value[at], digit(1), digit(2)) {
                (b'%', Some(high), Some(low)) if high >= 8 => {
                    self.unescaped.push((high * 16 + low) as u8);
                    at += 3;
                }
                (byte, _, _) => {
                    self.unescaped.push(byte);
                    at += 1;
                }
            }
        }
        let Ok(text) = std::str::from_utf8(&self.unescaped) else { return false };
        let normalizer = icu_normalizer::ComposingNormalizerBorrowed::new_nfc();
        // Writing to a string does not fail.
        normalizer.normalize_to(text, &mut self.composed).is_ok()
    }

    /// Writes what was composed, escaped.
    fn write(&self, text: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        for &byte in self.composed.as_bytes() {
            if byte.is_ascii() {
                text.push(byte);
            } else {
                text.extend_from_slice(&[
                    b'%',
                    DIGITS[usize::from(byte >> 4)],
                    DIGITS[usize::from(byte & 15)],
                ]);
            }
        }
    }
}
