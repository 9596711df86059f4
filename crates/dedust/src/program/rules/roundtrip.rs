/*!
Is a URL that rules have made read as what it was made from?

A canonical URL is only handed out if it is its own canonical URL and has the same key. That can be checked by
reading it and making all rules again. But if reading it would give the very [`EditedUrl`] that it was written from, as it does
nearly always, then the rules can be made to that, and mostly none is left to make.
*/

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::edited_url::{EditedUrl, Piece};
use super::run::Scope;
use super::{RuleMask, RuleProgram};
use crate::text_buffer::TextBuffer;
use crate::url::{ParsedUrl, is_query_text};

/// What rules make of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// Nothing: the parts are as they were read.
    Unchanged,
    /// Nothing that could be fetched, or the URL itself.
    Refused,
    /// Another URL, which is canonical.
    Canonical,
    /// Another URL, which is canonical, though some rules change it and others change it back: its parts are not as they would be read.
    Restored,
    /// Another URL, which is canonical if it has the same key as the first.
    SameIfKeysAre,
    /// Another URL, of which nothing is known.
    Unknown,
}

/// How a part of a URL is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Roundtrip {
    AsItIs,
    /// It has a value that is not known.
    NotAtAll,
    Perhaps,
}

/// URLs longer than this are not vouched for: what is written may be too long to be a URL.
const MAX_BYTES: usize = 1 << 20;

impl Edited {
    /// Whether the URL stays as it is.
    pub(crate) fn is_same_url(self) -> bool {
        matches!(self, Self::Unchanged | Self::Refused)
    }
}

impl EditedUrl {
    /// Makes those rules to a URL that was read whose results can be fetched, and writes the result to `out` if that is
    /// another URL. Whether a part of `out`, another host, has the same rules, is asked where it is not known. What the rules make of the
    /// result is written to `again_out`, if that may be another URL.
    #[inline]
    pub(crate) fn rewrite(
        &mut self,
        url: &ParsedUrl,
        program: &RuleProgram<'_>,
        out: &mut TextBuffer,
        again_out: &mut TextBuffer,
        has_same_rules: impl FnOnce(&TextBuffer, Range<usize>) -> bool,
    ) -> Edited {
        self.make_early(url, program, Scope::Fetchable);
        let is_changed_early = self.parts.touched.any();
        if !is_changed_early && self.stays(program) {
            return Edited::Unchanged;
        }
        let was_split = self.parts.is_split;
        let first = self.run(url, program, Scope::Fetchable, RuleMask::MAX);
        if first.changed == 0 && !is_changed_early {
            // That `;` separates parameters is no change of the URL, but one of its parts.
            return if self.parts.is_split == was_split { Edited::Unchanged } else { Edited::Refused };
        }
        let roundtrip = self.roundtrip(url, program);
        if roundtrip == Roundtrip::NotAtAll {
            return Edited::Refused;
        }
        self.write_url(url, program, out);
        if out.as_bytes() == url.as_bytes() {
            return Edited::Refused;
        }
        let length = out.as_bytes().len();
        if roundtrip == Roundtrip::Perhaps || self.repeats || length > MAX_BYTES {
            return Edited::Unknown;
        }
        if self.is_out_of_room || length.max(url.as_bytes().len()) > program.unlimited_bytes() {
            return Edited::Unknown;
        }
        self.set_room(length);
        if self.parts.touched.host && program.has_longer && !has_same_rules(out, self.host_in(out)) {
            return Edited::Unknown;
        }
        // What was made early cannot be made again, and most other rules are sure to do nothing more.
        let again = if self.has_repeated { RuleMask::MAX } else { first.again };
        let was_split = self.parts.is_split;
        let second = match first.changed {
            0 => first,
            _ => self.run(url, program, Scope::Fetchable, again),
        };
        if self.is_out_of_room || self.parts.is_split != was_split {
            return Edited::Unknown;
        }
        let has_conflict = (first.conflicts | second.conflicts) & (first.changed | second.changed) != 0;
        match (second.changed, has_conflict) {
            (0, false) => Edited::Canonical,
            (0, true) => Edited::SameIfKeysAre,
            (_, true) => Edited::Unknown,
            // One rule leaves `www` out and a later one puts it back, say, where other rules need it to be left out.
            (_, false) => {
                self.write_url(url, program, again_out);
                if again_out.as_bytes() == out.as_bytes() { Edited::Restored } else { Edited::Unknown }
            }
        }
    }

    fn roundtrip(&self, url: &ParsedUrl, program: &RuleProgram<'_>) -> Roundtrip {
        let touched = self.parts.touched;
        if touched.is_forgotten && !self.is_writable() {
            return Roundtrip::NotAtAll;
        }
        let is_read = is_web(url.scheme())
            && (!touched.scheme || self.parts.port.is_none() && is_web(self.text(url, self.parts.scheme)))
            && (!touched.host || self.host_roundtrips(url))
            && (!touched.port || self.parts.port.is_none())
            && (!touched.path || self.path_roundtrips(url))
            && (!touched.query || self.query_roundtrips(url, program))
            && (!touched.hashbang || self.parts.hashbang.is_none());
        if is_read { Roundtrip::AsItIs } else { Roundtrip::Perhaps }
    }

    /// Whether all values are known.
    pub(super) fn is_writable(&self) -> bool {
        let parts = &self.parts;
        let is_known = |piece: &Piece| *piece != Piece::STAR;
        !parts.path_is_forgotten
            && (!parts.has_slash || !parts.touched.slash_is_forgotten)
            && is_known(&parts.scheme)
            && parts.labels.iter().chain(&parts.port).chain(&parts.segments).all(is_known)
            && parts.params.iter().chain(&parts.path_params).all(|param| is_known(&param.value))
    }

    /// Where the host, a name, stands in the URL that was written.
    fn host_in(&self, out: &TextBuffer) -> Range<usize> {
        let start = self.parts.scheme.len() + b"://".len();
        let rest = out.as_bytes().get(start..).unwrap_or_default();
        start..start + memchr2(b'/', b':', rest).unwrap_or(rest.len())
    }

    fn host_roundtrips(&self, url: &ParsedUrl) -> bool {
        let host = url.parts().host_start..url.parts().host_end;
        let is_label_byte = |&byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_plain =
            |text: &[u8]| !text.is_empty() && text.iter().all(is_label_byte) && !text.starts_with(b"xn--");
        url.host_is_name()
            && self.parts.labels.iter().all(|&label| {
                (label.start >= host.start && label.end <= host.end) || is_plain(self.text(url, label))
            })
    }

    fn path_roundtrips(&self, url: &ParsedUrl) -> bool {
        let parts = &self.parts;
        let Some(&last) = parts.segments.last() else { return parts.path_params.is_empty() };
        let last = self.text(url, last);
        // An empty last segment would be a slash, dots a step, and what follows a semicolon a parameter.
        if matches!(last, b"" | b"." | b"..") || memchr(b';', last).is_some() {
            return false;
        }
        if !parts.touched.path_text && parts.path_params.is_empty() {
            return true;
        }
        let is_whole = |piece: Piece, before: u8, after: u8| {
            let (start, end) = (url.parts().path_start, url.parts().path_end);
            let byte = |at: u32| url.padded().get(at as usize).copied();
            piece.start > start
                && piece.end <= end
                && byte(piece.start - 1) == Some(before)
                && (piece.end == end || byte(piece.end) == Some(after) || byte(piece.end) == Some(b'/'))
        };
        let is_segment = |text: &[u8]| !matches!(text, b"" | b"." | b"..") && is_plain(text, b"!$&'()*+,=:@");
        // What parameters follow may be dots, which would be a step without them.
        parts.segments.iter().all(|&piece| is_whole(piece, b'/', b'/') || is_segment(self.text(url, piece)))
            && parts.path_params.iter().all(|param| is_whole(param.value, b'=', b';'))
    }

    fn query_roundtrips(&self, url: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        let (start, end) = (url.parts().path_end, url.parts().query_end);
        let byte = |at: u32| url.padded().get(at as usize).copied();
        let is_whole = |piece: Piece| {
            piece.start > start
                && piece.end <= end
                && byte(piece.start - 1) == Some(b'=')
                && (piece.end == end
                    || byte(piece.end) == Some(b'&')
                    || program.splits_params && byte(piece.end) == Some(b';'))
        };
        !self.has_semicolon
            && (!self.parts.touched.query_text
                || self.parts.params.iter().all(|param| {
                    if param.is_text {
                        let text = self.text(url, param.value);
                        return !param.value.is_written()
                            || is_query_text(text) && is_plain(text, b"!$()*+,:@/");
                    }
                    let has_known_name = !param.name.is_written() || {
                        let name = self.text(url, param.name);
                        !name.is_empty() && is_plain(name, b"!$()*+,:@/")
                    };
                    has_known_name
                        && (param.value.is_bare()
                            || is_whole(param.value)
                            || is_plain(self.text(url, param.value), b"!$()*+,=:@/?"))
                }))
    }
}

fn is_web(scheme: &[u8]) -> bool {
    matches!(scheme, b"http" | b"https")
}

/// Whether a text is read as it is where these characters may stand: letters, digits, and escapes of what is neither.
fn is_plain(text: &[u8], characters: &[u8]) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        if is_unreserved(*byte) || characters.contains(byte) {
            continue;
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'A'..=b'F' => Some(byte - b'A' + 10),
            _ => None,
        };
        match (byte, after) {
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) if !is_unreserved(high << 4 | low) => rest = after,
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}
