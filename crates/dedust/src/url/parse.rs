/*!
Bytes to [`ParsedUrl`]: one pass that checks, normalizes safely and remembers where the parts lie.

Safe means that the result names the same page on every site, so that nothing here has to be learned:

- scheme and host in lower case, host names in punycode, IP addresses in one form, no default port;
- escapes with upper-case digits, decoded where the character is unreserved; forbidden bytes escaped;
- dot segments removed, `/` for an empty path, fragments dropped unless they start with `#!`.

Order and spelling of the query, repeated and trailing slashes, letter case of the path and `www.` are left
alone. Web schemes are read as browsers do (WHATWG URL Standard), with `\` for `/` and any number of slashes
after the colon; other schemes are read by the generic syntax and changed as little as possible.
Normalizing twice is the same as normalizing once, for any bytes.
*/

use std::fmt;

use super::authority::{self, is_slash};
use super::dot_segments;
use super::escape::Copier;
use super::normal;
use super::scan;
use crate::delimiters::PADDING;

/// Inputs above this length are refused; it keeps all offsets within 32 bits.
const MAX_INPUT_BYTES: usize = 64 << 20;

/// A URL after safe normalization: one buffer plus the offsets of its parts.
///
/// Hosts follow the WHATWG URL Standard, except that a name under `http` or another special scheme loses one trailing dot,
/// which makes no difference to DNS. Under other schemes, hosts keep their letter case and their dots.
///
/// ```
/// use dedust::ParsedUrl;
///
/// let url = ParsedUrl::parse("HTTP://Example.COM:80/a/../%7Eb?x=1#top")?;
/// assert_eq!(url.as_bytes(), b"http://example.com/~b?x=1");
/// assert_eq!(url.host(), b"example.com");
/// assert_eq!(url.query(), Some(&b"x=1"[..]));
/// assert_eq!(ParsedUrl::parse("http://Example.com./")?.host(), b"example.com");
/// assert_eq!(ParsedUrl::parse("ipfs://QmYwAP./")?.host(), b"QmYwAP.");
/// # Ok::<(), dedust::errors::ParseUrlError>(())
/// ```
#[derive(Clone, Default)]
pub struct ParsedUrl {
    /// The URL, and at least [`PADDING`] bytes after it, whatever they are: whoever copies or compares a part may then do so
    /// in steps that do not depend on its length.
    bytes: Vec<u8>,
    length: u32,
    parts: Parts,
}

/// Offsets into the buffer. All zero is the empty URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The colon after the scheme.
    pub(crate) scheme_end: u32,
    /// Without an authority, both ends of the host and `path_start` are equal.
    pub(crate) host_start: u32,
    pub(crate) host_end: u32,
    pub(crate) path_start: u32,
    pub(crate) path_end: u32,
    /// Equal to `path_end` without a query, otherwise after it.
    pub(crate) query_end: u32,
    pub(super) host_is_name: bool,
}

/// Why some bytes are not an absolute URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseUrlError {
    /// No `scheme:` at the start.
    #[error("no scheme, expected one such as `http:` at the start")]
    MissingScheme,
    /// A scheme that needs a host is followed by none.
    #[error("empty host, expected a name or an IP address")]
    EmptyHost,
    /// The host has bytes that no host can have, or looks like an IP address and is none.
    #[error("invalid host, expected a name or an IP address")]
    InvalidHost,
    /// The port is no number or too large.
    #[error("invalid port, expected a number up to 65535")]
    InvalidPort,
    /// The input exceeds what offsets are made for.
    #[error("url of {length} bytes, expected at most {MAX_INPUT_BYTES}")]
    TooLong {
        /// Length of the input after trimming.
        length: usize,
    },
}

impl ParsedUrl {
    /// Parses and safely normalizes `input`.
    pub fn parse(input: impl AsRef<[u8]>) -> Result<Self, ParseUrlError> {
        let mut url = Self::default();
        url.parse_from(input.as_ref())?;
        Ok(url)
    }

    /// Like [`ParsedUrl::parse`], into this value, reusing its buffer. On error this value is empty.
    pub fn parse_from(&mut self, input: &[u8]) -> Result<(), ParseUrlError> {
        if input.len() <= MAX_INPUT_BYTES {
            // Before it is looked at, so that it has arrived when parts of it are needed.
            self.copy(input);
            if let Some(parts) = normal::parts_of(input) {
                self.parts = parts;
                return Ok(());
            }
        }
        self.normalize_from(input)
    }

    /// Takes over a URL as it is.
    #[inline(always)]
    fn copy(&mut self, input: &[u8]) {
        /// Bytes that are copied at once.
        const STEP: usize = 32;
        self.length = input.len() as u32;
        if self.bytes.len() < input.len() + PADDING {
            self.make_room(input.len());
        }
        let (steps, rest) = input.as_chunks::<STEP>();
        for (to, from) in self.bytes.as_chunks_mut().0.iter_mut().zip(steps) {
            *to = *from;
        }
        match (input.last_chunk::<STEP>(), self.bytes.get_mut(..input.len())) {
            // The last step overlaps with those before.
            (Some(from), Some(to)) if !rest.is_empty() => {
                if let Some(to) = to.last_chunk_mut() {
                    *to = *from;
                }
            }
            (None, Some(to)) => to.copy_from_slice(input),
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, length: usize) {
        self.bytes.resize((length + PADDING).next_multiple_of(256), 0);
    }

    /// Parses input that may have to be changed.
    #[inline(never)]
    fn normalize_from(&mut self, input: &[u8]) -> Result<(), ParseUrlError> {
        let input = trim(input);
        if input.len() > MAX_INPUT_BYTES {
            *self = Self::default();
            return Err(ParseUrlError::TooLong { length: input.len() });
        }
        let mut parsed = parse_into(input, &mut self.bytes, &mut self.parts);
        // No tab or line break gets through, so input that was copied as it is had none.
        if parsed != Ok(Copying::Verbatim) && memchr::memchr3(b'\t', b'\n', b'\r', input).is_some() {
            let is_kept = |byte: &u8| !matches!(byte, b'\t' | b'\n' | b'\r');
            let unbroken: Vec<u8> = input.iter().copied().filter(is_kept).collect();
            parsed = parse_into(&unbroken, &mut self.bytes, &mut self.parts);
        }
        if let Err(error) = parsed {
            *self = Self { bytes: std::mem::take(&mut self.bytes), ..Self::default() };
            self.bytes.clear();
            return Err(error);
        }
        self.length = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&[0; PADDING]);
        Ok(())
    }

    /// The whole normalized URL.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length as usize]
    }

    /// The whole normalized URL, and [`PADDING`] bytes or more after it.
    #[inline]
    pub(crate) fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// Where its parts lie.
    #[inline]
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// `http`, in lower case.
    pub fn scheme(&self) -> &[u8] {
        &self.bytes[..self.parts.scheme_end as usize]
    }

    /// What stands before `@` in the authority, if anything.
    pub fn userinfo(&self) -> Option<&[u8]> {
        let start = self.parts.scheme_end + 3;
        (self.parts.host_start > start).then(|| self.part(start, self.parts.host_start - 1))
    }

    /// The host, empty for a URL without an authority. An IPv6 address keeps its brackets.
    pub fn host(&self) -> &[u8] {
        self.part(self.parts.host_start, self.parts.host_end)
    }

    /// Whether there is a host and it is a name, to be read label by label, rather than an IP address.
    pub fn host_is_name(&self) -> bool {
        self.parts.host_is_name
    }

    /// The port if it is not the scheme's default.
    pub fn port(&self) -> Option<&[u8]> {
        let start = self.parts.host_end + 1;
        (self.parts.path_start > start).then(|| self.part(start, self.parts.path_start))
    }

    /// The path, starting with `/` for a hierarchical URL.
    pub fn path(&self) -> &[u8] {
        self.part(self.parts.path_start, self.parts.path_end)
    }

    /// What stands between `?` and the fragment; `None` without `?`, `Some(b"")` for a bare one.
    pub fn query(&self) -> Option<&[u8]> {
        let start = self.parts.path_end + 1;
        (self.parts.query_end >= start).then(|| self.part(start, self.parts.query_end))
    }

    /// What stands after `#!`; other fragments are dropped.
    pub fn hashbang(&self) -> Option<&[u8]> {
        self.as_bytes()[self.parts.query_end as usize..].strip_prefix(b"#!")
    }

    /// Whether this is a URL that rules can speak of: hierarchical, with a host.
    pub fn is_hierarchical(&self) -> bool {
        self.parts.host_end > self.parts.host_start && self.parts.path_end > self.parts.path_start
    }

    fn part(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }
}

impl PartialEq for ParsedUrl {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes() && self.parts == other.parts
    }
}

impl Eq for ParsedUrl {}

impl fmt::Debug for ParsedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParsedUrl({})", self.as_bytes().escape_ascii())
    }
}

fn trim(mut input: &[u8]) -> &[u8] {
    while let [0..=b' ', rest @ ..] = input {
        input = rest;
    }
    while let [rest @ .., 0..=b' '] = input {
        input = rest;
    }
    input
}

/// What the scheme decides about the rest.
#[derive(Clone, Copy)]
enum Syntax {
    /// As browsers read it, with a host.
    Special {
        default_port: u16,
    },
    File,
    Generic,
}

impl Syntax {
    fn of(scheme: &[u8]) -> Self {
        match scheme {
            b"http" | b"ws" => Self::Special { default_port: 80 },
            b"https" | b"wss" => Self::Special { default_port: 443 },
            b"ftp" => Self::Special { default_port: 21 },
            b"file" => Self::File,
            _ => Self::Generic,
        }
    }
}

/// How a URL went from input to buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copying {
    Verbatim,
    Edited,
}

/// Parses `input`, reading tabs and line breaks as ordinary bytes, and overwrites `out` and `parts`.
fn parse_into(input: &[u8], out: &mut Vec<u8>, parts: &mut Parts) -> Result<Copying, ParseUrlError> {
    out.clear();
    out.reserve(input.len() + 1 + PADDING);
    *parts = Parts::default();
    let mut copier = Copier::new(input, out);
    // By far the most frequent, and nothing to change.
    let (after_colon, syntax) = if input.starts_with(b"https:") {
        (6, Syntax::Special { default_port: 443 })
    } else if input.starts_with(b"http:") {
        (5, Syntax::Special { default_port: 80 })
    } else {
        read_scheme(&mut copier)?
    };
    parts.scheme_end = copier.position(after_colon) - 1;
    let copying = match syntax {
        Syntax::Special { default_port } => {
            let authority = authority::two_slashes(&mut copier, after_colon);
            let path = authority::read_special(&mut copier, authority, default_port, parts)?;
            read_special_tail(&mut copier, path, false, parts)
        }
        Syntax::File => {
            let path = authority::read_file(&mut copier, after_colon, parts)?;
            read_special_tail(&mut copier, path, true, parts)
        }
        Syntax::Generic => {
            let path = if input[after_colon..].starts_with(b"//") {
                authority::read(&mut copier, after_colon + 2, None, parts)?
            } else {
                parts.host_start = copier.position(after_colon);
                parts.host_end = parts.host_start;
                after_colon
            };
            read_generic_tail(&mut copier, path, parts)
        }
    };
    Ok(copying)
}

/// Returns the index after the colon and what the scheme means.
fn read_scheme(copier: &mut Copier<'_>) -> Result<(usize, Syntax), ParseUrlError> {
    let input = copier.input;
    let colon = memchr::memchr(b':', input).ok_or(ParseUrlError::MissingScheme)?;
    let is_scheme_byte = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if !input[0].is_ascii_alphabetic() || !input[..colon].iter().all(is_scheme_byte) {
        return Err(ParseUrlError::MissingScheme);
    }
    copier.flush(colon);
    copier.out.make_ascii_lowercase();
    Ok((colon + 1, Syntax::of(copier.out)))
}

/// Path, query and fragment of a special or `file` URL.
#[inline]
fn read_special_tail(copier: &mut Copier<'_>, at: usize, is_file: bool, parts: &mut Parts) -> Copying {
    if !copier.input.get(at).is_some_and(|&byte| is_slash(byte)) {
        copier.replace(at, at, b"/");
    }
    let path = copier.component::<{ scan::SPECIAL_PATH }>(at);
    if path.has_dot_segment || is_file {
        copier.flush(path.end);
        dot_segments::remove(copier.out, parts.path_start as usize, is_file);
    }
    parts.path_end = copier.position(path.end);
    let query_end = match copier.input.get(path.end) {
        Some(b'?') => copier.component::<{ scan::SPECIAL_QUERY }>(path.end + 1).end,
        _ => path.end,
    };
    read_fragment(copier, query_end, parts)
}

/// Path, query and fragment of a URL about whose scheme nothing is known.
fn read_generic_tail(copier: &mut Copier<'_>, at: usize, parts: &mut Parts) -> Copying {
    parts.path_start = copier.position(at);
    let path_start = parts.path_start as usize;
    let has_authority = parts.path_start > parts.scheme_end + 1;
    let path_end = if copier.input.get(at) == Some(&b'/') {
        let path = copier.component::<{ scan::PATH }>(at);
        copier.flush(path.end);
        if path.has_dot_segment {
            dot_segments::remove(copier.out, path_start, false);
        }
        if !has_authority && copier.out[path_start..].starts_with(b"//") {
            // Otherwise the path would be read as an authority.
            copier.out.splice(path_start..path_start, *b"/.");
        }
        path.end
    } else {
        let end = copier.component::<{ scan::OPAQUE }>(at).end;
        if end < copier.input.len() && end > at && copier.input[end - 1] == b' ' {
            // A space at the very end would be trimmed next time.
            copier.replace(end - 1, end, b"%20");
        }
        end
    };
    parts.path_end = copier.position(path_end);
    let query_end = match copier.input.get(path_end) {
        Some(b'?') => copier.component::<{ scan::QUERY }>(path_end + 1).end,
        _ => path_end,
    };
    read_fragment(copier, query_end, parts)
}

/// Keeps a fragment that starts with `#!` and drops any other; copies all that is left to copy.
#[inline]
fn read_fragment(copier: &mut Copier<'_>, at: usize, parts: &mut Parts) -> Copying {
    parts.query_end = copier.position(at);
    let end = if copier.input[at..].starts_with(b"#!") {
        copier.component::<{ scan::FRAGMENT }>(at + 1).end
    } else {
        at
    };
    let is_verbatim = copier.is_untouched() && end == copier.input.len();
    copier.flush(end);
    if is_verbatim { Copying::Verbatim } else { Copying::Edited }
}

#[cfg(test)]
mod tests;
