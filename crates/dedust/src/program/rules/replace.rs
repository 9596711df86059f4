/*!
Text of a URL that is replaced by other text: the URL is written, changed and read again.

Every replacement makes a URL shorter, or keeps its length and makes it smaller, so that making them again and again comes to an end.
*/

use memchr::memmem;

use super::change::{CannotChange, Changing};
use super::edited_url::{EditedUrl, Param, Piece, Touched};
use super::run::Read;
use super::{RuleMask, RuleProgram};
use crate::encoding::Cursor;
use crate::url::ParsedUrl;

/// Passes over the list of replacements after which a URL that still changes is left as it is.
const MAX_PASSES: usize = 10;

/// Flags of a replacement.
pub(super) const AT_START: u8 = 1;
pub(super) const AT_END: u8 = 2;

/// What is replaced by what.
#[derive(Clone, Copy, Debug)]
struct Replacement<'a> {
    from: &'a [u8],
    to: &'a [u8],
    at_start: bool,
    at_end: bool,
}

impl<'a> Replacement<'a> {
    fn read(program: &RuleProgram<'a>, cursor: &mut Cursor<'_>) -> Read<Self> {
        let flags = cursor.u8()?;
        let (from, to) = (program.text(cursor)??, program.text(cursor)??);
        // A damaged file could otherwise make a URL of any length.
        let shrinks = (to.len(), to) < (from.len(), from);
        shrinks.then_some(Self { from, to, at_start: flags & AT_START != 0, at_end: flags & AT_END != 0 })
    }

    /// Where `from` stands first in `url`, between whole tokens.
    fn find(&self, url: &[u8]) -> Option<usize> {
        let fits = |&at: &usize| {
            let end = at + self.from.len();
            (!self.at_start || at == 0)
                && (!self.at_end || end == url.len())
                && is_boundary(url, at)
                && is_boundary(url, end)
        };
        memmem::find_iter(url, self.from).find(fits)
    }

    /// Replaces the first occurrence in `url`, in place; whether there was one.
    fn apply(&self, url: &mut Vec<u8>) -> bool {
        match self.find(url) {
            Some(at) => {
                url.splice(at..at + self.from.len(), self.to.iter().copied());
                true
            }
            None => false,
        }
    }
}

/// Whether a token ends and another begins at `at`.
fn is_boundary(url: &[u8], at: usize) -> bool {
    at == 0 || at >= url.len() || !(url[at - 1].is_ascii_alphanumeric() && url[at].is_ascii_alphanumeric())
}

impl<'p> Changing<'_, 'p> {
    /// Makes the replacements that `cursor` lists in order, again and again, until none changes the URL.
    pub(super) fn replace(&mut self, cursor: &mut Cursor<'p>) -> Read<Result<(), CannotChange>> {
        let mut text = std::mem::take(&mut self.edited.text);
        self.write_text(&mut text);
        let changed = replace_all(self.program, cursor, &mut text);
        let made = changed.map(|changed| match changed {
            Some(false) => Ok(()),
            Some(true) => self.read_again(&text),
            None => Err(CannotChange),
        });
        self.edited.text = text;
        made
    }

    /// The URL as it is now.
    fn write_text(&mut self, text: &mut Vec<u8>) {
        let mut out = std::mem::take(&mut self.edited.out);
        self.edited.write_url(self.url, self.program, &mut out);
        text.clear();
        text.extend_from_slice(out.as_bytes());
        self.edited.out = out;
    }

    /// Takes a text in place of the URL, if that is a URL of the site in safe normal form. Of values that were forgotten, and of `;`
    /// that was read as `&`, a text says nothing.
    fn read_again(&mut self, text: &[u8]) -> Result<(), CannotChange> {
        let Self { edited, url, program, .. } = self;
        let is_written =
            !edited.parts.touched.is_forgotten && (!edited.parts.is_split || program.splits_params);
        let mut replaced = std::mem::take(&mut edited.replaced);
        let is_read = is_written
            && replaced.parse_from(text).is_ok()
            && replaced.as_bytes() == text
            && has_same_rules(url, &replaced, program)
            && edited.read_replaced(&replaced, program);
        edited.replaced = replaced;
        self.is_changed |= is_read;
        is_read.then_some(()).ok_or(CannotChange)
    }
}

/// Makes replacements in order, over and over, until none changes `text`: whether any did. The inner `None` says that no end is in
/// sight.
fn replace_all(program: &RuleProgram<'_>, cursor: &mut Cursor<'_>, text: &mut Vec<u8>) -> Read<Option<bool>> {
    let count = cursor.u16()?;
    let list = *cursor;
    for pass in 0..MAX_PASSES {
        *cursor = list;
        let mut is_changed = false;
        for _ in 0..count {
            is_changed |= Replacement::read(program, cursor)?.apply(text);
        }
        if !is_changed {
            return Some(Some(pass > 0));
        }
    }
    Some(None)
}

/// Whether another URL is surely of the same site. Where a longer domain has rules of its own, its host must be the same.
fn has_same_rules(url: &ParsedUrl, other: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
    let domain = |url: &'_ ParsedUrl| url.host().len().checked_sub(program.domain_len);
    let (Some(at), Some(other_at)) = (domain(url), domain(other)) else { return false };
    other.is_hierarchical()
        && url.host()[at..] == other.host()[other_at..]
        && (other_at == 0 || other.host()[other_at - 1] == b'.')
        && (!program.has_longer || url.host() == other.host())
}

impl EditedUrl {
    /// Takes another URL apart and holds that, as something that rules have written. False when rules cannot speak of it.
    fn read_replaced(&mut self, replaced: &ParsedUrl, program: &RuleProgram<'_>) -> bool {
        let (limit, room, is_out_of_room) = (self.limit, self.room, self.is_out_of_room);
        let mut written = std::mem::take(&mut self.written);
        let is_read = self.read(replaced, program) && self.read_labels(replaced, program);
        let shift = written.len() as u32 + Piece::STAR.start;
        written.extend_from_slice(replaced.as_bytes());
        self.written = written;
        (self.limit, self.room, self.is_out_of_room) = (limit, room, is_out_of_room);
        let move_piece = |piece: &mut Piece| {
            if !piece.is_bare() {
                (piece.start, piece.end) = (piece.start + shift, piece.end + shift);
            }
        };
        let parts = &mut self.parts;
        let single = [Some(&mut parts.scheme), parts.port.as_mut(), parts.hashbang.as_mut()];
        single.into_iter().flatten().chain(&mut parts.labels).chain(&mut parts.segments).for_each(move_piece);
        for Param { name, value, .. } in parts.params.iter_mut().chain(&mut parts.path_params) {
            move_piece(name);
            move_piece(value);
        }
        parts.touched = Touched {
            scheme: true,
            host: true,
            port: true,
            path: true,
            query: true,
            hashbang: true,
            path_text: true,
            query_text: true,
            is_forgotten: false,
            slash_is_forgotten: false,
        };
        if !is_read {
            // What was there before is put back, and every rule may concern it.
            (self.triggered, self.characters) = (RuleMask::MAX, [u8::MAX; 2]);
            (self.is_in_order, self.has_repeated, self.has_text) = (false, true, true);
        }
        is_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replacement<'a>(from: &'a str, to: &'a str, at_start: bool, at_end: bool) -> Replacement<'a> {
        Replacement { from: from.as_bytes(), to: to.as_bytes(), at_start, at_end }
    }

    fn apply(replacement: Replacement<'_>, url: &str) -> String {
        let mut url = url.as_bytes().to_vec();
        replacement.apply(&mut url);
        String::from_utf8(url).unwrap()
    }

    #[test]
    fn whole_tokens_are_replaced() {
        let first_page = replacement("&page=1", "", false, false);
        assert_eq!(apply(first_page, "http://a.example/?t=5&page=1&x=2"), "http://a.example/?t=5&x=2");
        assert_eq!(apply(first_page, "http://a.example/?t=5&page=10"), "http://a.example/?t=5&page=10");
    }

    #[test]
    fn anchors_tie_to_the_ends() {
        let index = replacement("index.html", "", false, true);
        assert_eq!(apply(index, "http://a.example/index.html"), "http://a.example/");
        assert_eq!(apply(index, "http://a.example/index.html?x"), "http://a.example/index.html?x");
        let www = replacement("http://www.", "http://", true, false);
        assert_eq!(apply(www, "http://www.a.example/?u=http://www.b"), "http://a.example/?u=http://www.b");
    }
}
