/*!
Edits on the text of a URL: one string is replaced by another, wherever it stands between whole tokens.

Every one of them makes a URL shorter, or keeps its length and makes it smaller, so that making them again and again comes to an
end.
*/

use memchr::memmem;

use crate::encoding::{Cursor, Encode as _, TooLarge};
use crate::rule::Replace;

/// Passes over the list of replacements after which a URL that still changes is given up.
pub(crate) const MAX_PASSES: usize = 10;

/// What is replaced by what, read from compiled rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacement<'a> {
    pub(crate) from: &'a [u8],
    pub(crate) to: &'a [u8],
    pub(crate) at_start: bool,
    pub(crate) at_end: bool,
    /// The index of the edit in the site's list.
    pub(crate) list_index: u32,
}

impl<'a> Replacement<'a> {
    pub(crate) fn encode(replace: &Replace, list_index: u32, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        out.put_u8(u8::from(replace.at_start) | u8::from(replace.at_end) << 1);
        out.put_u32(list_index);
        out.put_text(Some(replace.from.as_bytes()))?;
        out.put_text(Some(replace.to.as_bytes()))
    }

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let (flags, list_index) = (cursor.u8()?, cursor.u32()?);
        let (from, to) = (cursor.text()??, cursor.text()??);
        // Else there would be no end to it, whatever a file says.
        let shrinks = (to.len(), to) < (from.len(), from);
        shrinks.then_some(Self { from, to, at_start: flags & 1 != 0, at_end: flags & 2 != 0, list_index })
    }

    /// Those at an offset of compiled rules: their number, then one after the other.
    pub(crate) fn list(bytes: &'a [u8], at: u32) -> impl Iterator<Item = Self> + Clone {
        let mut cursor = Cursor::new(bytes, at as usize);
        let count = if at == 0 { 0 } else { cursor.u32().unwrap_or_default() };
        (0..count).map_while(move |_| Self::read(&mut cursor))
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
    pub(crate) fn apply(&self, url: &mut Vec<u8>) -> bool {
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

/// Makes replacements in order, over and over, until none changes `url`; false when there is no end in sight.
pub(crate) fn replace_all<'a>(
    replacements: impl Iterator<Item = Replacement<'a>> + Clone,
    url: &mut Vec<u8>,
) -> bool {
    (0..MAX_PASSES).any(|_| {
        let mut changed = false;
        for replacement in replacements.clone() {
            changed |= replacement.apply(url);
        }
        !changed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(from: &str, to: &str, at_start: bool, at_end: bool) -> Replace {
        Replace { from: from.into(), to: to.into(), at_start, at_end }
    }

    fn replacement(replace: &Replace) -> Replacement<'_> {
        let Replace { from, to, at_start, at_end } = replace;
        let (from, to) = (from.as_bytes(), to.as_bytes());
        Replacement { from, to, at_start: *at_start, at_end: *at_end, list_index: 0 }
    }

    fn apply(replace: &Replace, url: &str) -> String {
        let mut url = url.as_bytes().to_vec();
        replacement(replace).apply(&mut url);
        String::from_utf8(url).unwrap()
    }

    #[test]
    fn whole_tokens_are_replaced() {
        let first_page = replace("&page=1", "", false, false);
        assert_eq!(apply(&first_page, "http://a.example/?t=5&page=1&x=2"), "http://a.example/?t=5&x=2");
        assert_eq!(apply(&first_page, "http://a.example/?t=5&page=10"), "http://a.example/?t=5&page=10");
    }

    #[test]
    fn anchors_tie_to_the_ends() {
        let index = replace("index.html", "", false, true);
        assert_eq!(apply(&index, "http://a.example/index.html"), "http://a.example/");
        assert_eq!(apply(&index, "http://a.example/index.html?x"), "http://a.example/index.html?x");
        let www = replace("http://www.", "http://", true, false);
        assert_eq!(apply(&www, "http://www.a.example/?u=http://www.b"), "http://a.example/?u=http://www.b");
    }

    #[test]
    fn replacements_are_repeated_until_nothing_changes() {
        let shorten = replace("/a/b", "/a", false, false);
        let list = [replacement(&shorten)].into_iter();
        let mut url = b"http://x.example/a/b/b/b".to_vec();
        assert!(replace_all(list.clone(), &mut url));
        assert_eq!(url, b"http://x.example/a");
        let mut too_long = [&b"http://x.example/a"[..], &b"/b".repeat(20)].concat();
        assert!(!replace_all(list, &mut too_long));
    }
}
