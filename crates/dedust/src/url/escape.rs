/*!
Copies the bytes of one URL component, with escapes and forbidden bytes in their one normal form.

Takes input bytes and a [`ByteSet`] that says which bytes cannot simply be copied there; appends to a buffer.
Bytes that need nothing are copied as runs, so a URL that is already normal costs one scan and one copy.
Only escapes of unreserved characters are decoded: anything else could change which page is meant.
Bytes that are neither ASCII nor part of valid UTF-8 are kept raw, since their encoding is unknown.
*/

use super::scan::{self, ByteSet, SPECIAL_PATH, USERINFO};

/// Where a component ended, and whether its path must be searched for dot segments.
pub(super) struct Copied {
    pub(super) end: usize,
    pub(super) has_dot_segment: bool,
}

/// Copies from an input to a buffer, as late and in as few pieces as possible.
pub(super) struct Copier<'a> {
    pub(super) input: &'a [u8],
    pub(super) out: &'a mut Vec<u8>,
    /// Everything before this index is in `out` already, or was left out.
    pending: usize,
}

impl<'a> Copier<'a> {
    pub(super) fn new(input: &'a [u8], out: &'a mut Vec<u8>) -> Self {
        Self { input, out, pending: 0 }
    }

    /// Whether nothing was copied or replaced yet.
    #[inline]
    pub(super) fn is_untouched(&self) -> bool {
        self.out.is_empty()
    }

    /// Index in the buffer that the input byte at `at` has or will have.
    #[inline]
    pub(super) fn position(&self, at: usize) -> u32 {
        // The length limit on inputs keeps every position below 2^32.
        (self.out.len() + at - self.pending) as u32
    }

    /// Copies everything before `at`.
    #[inline]
    pub(super) fn flush(&mut self, at: usize) {
        self.out.extend_from_slice(&self.input[self.pending..at]);
        self.pending = at;
    }

    /// Writes `replacement` instead of the input bytes `from..to`.
    #[inline]
    pub(super) fn replace(&mut self, from: usize, to: usize, replacement: &[u8]) {
        self.flush(from);
        self.out.extend_from_slice(replacement);
        self.pending = to;
    }

    /// Normalizes one component that starts at `from`, up to its end or the byte that ends it.
    ///
    /// `?` and `#` end it in those sets in which they need attention, except in user information.
    #[inline(always)]
    pub(super) fn component<const SET: ByteSet>(&mut self, from: usize) -> Copied {
        let mut at = from;
        let mut has_dot_segment = false;
        loop {
            at = scan::skip_plain::<SET>(self.input, at);
            let Some(&byte) = self.input.get(at) else { break };
            if matches!(byte, b'?' | b'#') && SET != USERINFO && scan::needs_attention::<SET>(byte) {
                break;
            }
            match byte {
                b'.' => {
                    has_dot_segment |= at > 0 && self.input[at - 1] == b'/';
                    at += 1;
                }
                b'%' => {
                    let decoded_dot = self.escape(&mut at);
                    has_dot_segment |= decoded_dot && matches!(self.out[..], [.., b'/', b'.']);
                }
                b'\\' if SET == SPECIAL_PATH => {
                    self.replace(at, at + 1, b"/");
                    at += 1;
                    has_dot_segment |= self.input.get(at) == Some(&b'.');
                }
                0x80.. => self.non_ascii(&mut at),
                _ => {
                    if scan::needs_attention::<SET>(byte) {
                        self.replace(at, at + 1, &escape_of(byte));
                    }
                    at += 1;
                }
            }
        }
        Copied { end: at, has_dot_segment }
    }

    /// Normalizes the escape at `at` and steps over it; whether that wrote a dot.
    #[inline]
    fn escape(&mut self, at: &mut usize) -> bool {
        let start = *at;
        let Some(value) = decode_escape(&self.input[start..]) else {
            *at += 1;
            return false;
        };
        *at += 3;
        if is_unreserved(value) {
            self.flush(start);
            // After a malformed `%` or `%4` a decoded digit would complete an escape that was not there.
            let completes_escape = value.is_ascii_hexdigit()
                && match self.out[..] {
                    [.., b'%'] => true,
                    [.., b'%', digit] => digit.is_ascii_hexdigit(),
                    _ => false,
                };
            if !completes_escape {
                self.out.push(value);
                self.pending = *at;
                return value == b'.';
            }
        }
        let normal = escape_of(value);
        if self.input[start..*at] != normal {
            self.replace(start, *at, &normal);
        }
        false
    }

    /// Escapes the characters in the run of non-ASCII bytes at `at`, keeps what is not UTF-8, and steps over it.
    #[cold]
    fn non_ascii(&mut self, at: &mut usize) {
        let start = *at;
        let run = &self.input[start..];
        let run = &run[..run.iter().position(u8::is_ascii).unwrap_or(run.len())];
        *at += run.len();
        self.flush(start);
        for chunk in run.utf8_chunks() {
            for &byte in chunk.valid().as_bytes() {
                self.out.extend_from_slice(&escape_of(byte));
            }
            self.out.extend_from_slice(chunk.invalid());
        }
        self.pending = *at;
    }
}

/// The value of the escape that `bytes` start with, if it is well formed.
#[inline]
pub(super) fn decode_escape(bytes: &[u8]) -> Option<u8> {
    match *bytes {
        [b'%', high, low, ..] => Some(hex_value(high)? << 4 | hex_value(low)?),
        _ => None,
    }
}

/// Whether `bytes` start with an escape that stays as it is.
#[inline]
pub(super) fn is_normal_escape(bytes: &[u8]) -> bool {
    match *bytes {
        [_, b'0'..=b'9' | b'A'..=b'F', b'0'..=b'9' | b'A'..=b'F', ..] => {
            decode_escape(bytes).is_some_and(|value| !is_unreserved(value))
        }
        _ => false,
    }
}

#[inline]
fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn escape_of(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// RFC 3986 section 2.3: escaped or not, these characters mean the same.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::super::scan::{FRAGMENT, OPAQUE, PATH, QUERY, SPECIAL_QUERY};
    use super::*;

    fn normalized<const SET: ByteSet>(input: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut copier = Copier::new(input, &mut out);
        let end = copier.component::<SET>(0).end;
        copier.flush(end);
        out
    }

    #[test]
    fn only_unreserved_escapes_are_decoded() {
        assert_eq!(normalized::<QUERY>(b"%7e%41%2d%2F%2b%c3%bc"), b"~A-%2F%2B%C3%BC");
    }

    #[test]
    fn malformed_escapes_stay() {
        assert_eq!(normalized::<PATH>(b"/100%/%4/%zz/%"), b"/100%/%4/%zz/%");
    }

    #[test]
    fn decoding_never_completes_an_escape() {
        for input in [&b"%2%35"[..], b"%%34%31", b"%%32%35", b"%4%%31", b"%%7e", b"%a%41%42"] {
            let once = normalized::<PATH>(input);
            assert_eq!(normalized::<PATH>(&once), once, "{}", input.escape_ascii());
        }
        assert_eq!(normalized::<PATH>(b"%2%35"), b"%2%35");
    }

    #[test]
    fn bytes_outside_utf8_are_kept() {
        assert_eq!(normalized::<PATH>(b"/caf\xE9/caf\xC3\xA9"), b"/caf\xE9/caf%C3%A9");
    }

    #[test]
    fn each_component_has_its_own_set() {
        assert_eq!(normalized::<SPECIAL_PATH>(br#"a'b"c^d{|}\"#), br#"a'b%22c%5Ed%7B|%7D/"#);
        assert_eq!(normalized::<SPECIAL_QUERY>(br#"a'b"c^d{|}\?`"#), br#"a%27b%22c^d{|}\?`"#);
        assert_eq!(normalized::<QUERY>(b"a'b"), b"a'b");
        assert_eq!(normalized::<FRAGMENT>(b"a'`#?"), b"a'%60#?");
        assert_eq!(normalized::<USERINFO>(b"a?@/:;="), b"a%3F%40%2F%3A%3B%3D");
        assert_eq!(normalized::<OPAQUE>(b"a %41%3a<\x01"), b"a %41%3a<%01");
    }
}
