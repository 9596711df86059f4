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

/// Replace the first `from` by `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// A substitution with the search for its text.
pub(crate) type Prepared = (Substitution, memmem::Finder<'static>);

/// Passes over the list of substitutions after which a URL that still changes is given up.
pub const MAX_PASSES: usize = 10;

impl Substitution {
    /// Whether it brings every URL it changes closer to an end.
    pub(crate) fn shrinks(&self) -> bool {
        (self.to.len(), &self.to) < (self.from.len(), &self.from)
    }

    /// The search for `from`, prepared once.
    pub(crate) fn finder(&self) -> memmem::Finder<'static> {
        memmem::Finder::new(self.from.as_bytes()).into_owned()
    }

    /// Where `from` stands first in `url`, between whole tokens.
    fn find(&self, finder: &memmem::Finder<'_>, url: &[u8]) -> Option<usize> {
        let from = self.from.as_bytes();
        let fits = |&at: &usize| {
            let end = at + from.len();
            (!self.at_start || at == 0)
                && (!self.at_end || end == url.len())
                && is_boundary(url, at)
                && is_boundary(url, end)
        };
        finder.find_iter(url).find(fits)
    }

    /// Replaces the first occurrence in `url`, in place; whether there was one.
    pub(crate) fn apply(&self, finder: &memmem::Finder<'_>, url: &mut Vec<u8>) -> bool {
        match self.find(finder, url) {
            Some(at) => {
                url.splice(at..at + self.from.len(), self.to.bytes());
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

/// Applies `substitutions` in order, over and over, until none changes `url`; false when there is no end in sight.
pub(crate) fn substitute(substitutions: &[Prepared], url: &mut Vec<u8>) -> bool {
    (0..MAX_PASSES).any(|_| {
        let mut changed = false;
        for (substitution, finder) in substitutions {
            changed |= substitution.apply(finder, url);
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

    fn apply(substitution: &Substitution, url: &str) -> String {
        let mut url = url.as_bytes().to_vec();
        substitution.apply(&substitution.finder(), &mut url);
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
        let list = [(shorten.clone(), shorten.finder())];
        let mut url = b"http://x.example/a/b/b/b".to_vec();
        assert!(substitute(&list, &mut url));
        assert_eq!(url, b"http://x.example/a");
        let mut too_long = [&b"http://x.example/a"[..], &b"/b".repeat(20)].concat();
        assert!(!substitute(&list, &mut too_long));
    }
}
