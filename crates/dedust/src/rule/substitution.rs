/*!
Rules on the text of a URL: replace one string by another, wherever it stands between whole tokens.

A token is a run of letters and digits, or a single other character: `page=1` is not part of `page=10`. Every
substitution makes a URL shorter, or keeps its length and makes it smaller, so that applying them again and again
comes to an end.
*/

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::Evidence;
use crate::compiled::encoding::{Cursor, Encode as _, TooLarge};

/// Replace the first `from` by `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Substitution {
    /// The text to look for.
    pub from: Box<str>,
    /// The text to put in its place.
    pub to: Box<str>,
    /// Whether it must start the URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_start: bool,
    /// Whether it must end the URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_end: bool,
    /// Why it is trusted.
    pub evidence: Evidence,
}

/// Passes over the list of substitutions after which a URL that still changes is given up.
pub const MAX_PASSES: usize = 10;

impl Substitution {
    /// Whether it brings every URL it changes closer to an end.
    pub(crate) fn shrinks(&self) -> bool {
        (self.to.len(), &self.to) < (self.from.len(), &self.from)
    }
}

/// What a substitution replaces, read from compiled rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replacement<'a> {
    pub(crate) from: &'a [u8],
    pub(crate) to: &'a [u8],
    pub(crate) at_start: bool,
    pub(crate) at_end: bool,
    /// The place of the substitution in the site's list.
    pub(crate) place: u32,
}

impl<'a> Replacement<'a> {
    pub(crate) fn encode(substitution: &Substitution, place: u32, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        out.put_u8(u8::from(substitution.at_start) | u8::from(substitution.at_end) << 1);
        out.put_u32(place);
        out.put_text(Some(substitution.from.as_bytes()))?;
        out.put_text(Some(substitution.to.as_bytes()))
    }

    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let (flags, place) = (cursor.u8()?, cursor.u32()?);
        let (from, to) = (cursor.text()??, cursor.text()??);
        // Else there would be no end to it, whatever a file says.
        let shrinks = (to.len(), to) < (from.len(), from);
        shrinks.then_some(Self { from, to, at_start: flags & 1 != 0, at_end: flags & 2 != 0, place })
    }

    /// Those at a place of compiled rules: their number, then one after the other.
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

/// Applies substitutions in order, over and over, until none changes `url`; false when there is no end in sight.
pub(crate) fn substitute<'a>(
    substitutions: impl Iterator<Item = Replacement<'a>> + Clone,
    url: &mut Vec<u8>,
) -> bool {
    (0..MAX_PASSES).any(|_| {
        let mut changed = false;
        for substitution in substitutions.clone() {
            changed |= substitution.apply(url);
        }
        !changed
    })
}

impl fmt::Display for Substitution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (if self.at_start { "^" } else { "" }, if self.at_end { "$" } else { "" });
        write!(f, "{start}{}{end} -> {start}{}{end}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substitution(from: &str, to: &str, at_start: bool, at_end: bool) -> Substitution {
        Substitution { from: from.into(), to: to.into(), at_start, at_end, evidence: Evidence::default() }
    }

    fn replacement(substitution: &Substitution) -> Replacement<'_> {
        let Substitution { from, to, at_start, at_end, .. } = substitution;
        let (from, to) = (from.as_bytes(), to.as_bytes());
        Replacement { from, to, at_start: *at_start, at_end: *at_end, place: 0 }
    }

    fn apply(substitution: &Substitution, url: &str) -> String {
        let mut url = url.as_bytes().to_vec();
        replacement(substitution).apply(&mut url);
        String::from_utf8(url).unwrap()
    }

    #[test]
    fn whole_tokens_are_replaced() {
        let first_page = substitution("&page=1", "", false, false);
        assert_eq!(apply(&first_page, "http://a.example/?t=5&page=1&x=2"), "http://a.example/?t=5&x=2");
        assert_eq!(apply(&first_page, "http://a.example/?t=5&page=10"), "http://a.example/?t=5&page=10");
    }

    #[test]
    fn marks_tie_to_the_ends() {
        let index = substitution("index.html", "", false, true);
        assert_eq!(apply(&index, "http://a.example/index.html"), "http://a.example/");
        assert_eq!(apply(&index, "http://a.example/index.html?x"), "http://a.example/index.html?x");
        let www = substitution("http://www.", "http://", true, false);
        assert_eq!(apply(&www, "http://www.a.example/?u=http://www.b"), "http://a.example/?u=http://www.b");
    }

    #[test]
    fn substitutions_are_repeated_until_nothing_changes() {
        let shorten = substitution("/a/b", "/a", false, false);
        let list = [replacement(&shorten)].into_iter();
        let mut url = b"http://x.example/a/b/b/b".to_vec();
        assert!(substitute(list.clone(), &mut url));
        assert_eq!(url, b"http://x.example/a");
        let mut too_long = [&b"http://x.example/a"[..], &b"/b".repeat(20)].concat();
        assert!(!substitute(list, &mut too_long));
    }
}
