/*!
What the crawl knows of each URL of a site: whether it shows its page, and whether another URL stands for it.
*/

use foldhash::HashMap;

use crate::canonical_fate::{CanonicalFate, Seen};
use crate::corpus::Corpus;

/// What the crawl knows of the canonical URL of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The URL stays as it is.
    Kept,
    /// It was fetched and showed the page.
    Alive,
    /// Nobody has fetched it.
    Unmet,
    /// It redirects, fails or shows another page.
    Wrong,
    /// Both it and the URL redirect or fail.
    Left,
}

/// What the site itself says of a URL. In order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// It is gone, or names another.
    Replaced,
    Unnamed,
    /// A canonical link of its page names it.
    Named,
}

/// What a canonical URL is worth to the URL that it stands for, in URLs that are fetched once less.
pub(super) type Gain = i8;

/// What one URL is worth.
const URL: Gain = 4;
/// One wrong canonical URL is not made good by many right ones.
const WRONG: Gain = -20 * URL;
/// Nothing is gained where what redirects becomes another URL that does.
pub(super) const LEFT: Gain = -2 * URL;

/// The URLs of a site, and what is known of them.
pub(super) struct Pages<'c> {
    pub(super) corpus: &'c Corpus,
    rows: HashMap<&'c [u8], u32>,
    seen: Vec<Seen>,
    /// For each URL, whether others have its key.
    has_others: Vec<bool>,
    /// Those whose page was seen alive under some URL, in an order that says nothing.
    pub(super) asked: Vec<u32>,
}

impl<'c> Pages<'c> {
    pub(super) fn new(corpus: &'c Corpus, keys: &[u32]) -> Self {
        let all = 0..corpus.len() as u32;
        let seen = |row: u32| corpus.content(row).seen(corpus.label(row).is_some());
        let seen: Vec<Seen> = all.clone().map(seen).collect();
        let mut is_alive = vec![false; corpus.page_count()];
        for row in all.clone().filter(|&row| seen[row as usize] == Seen::Page) {
            if let Some(page) = corpus.label(row) {
                is_alive[page as usize] = true;
            }
        }
        let is_asked = |row: &u32| {
            seen[*row as usize] == Seen::Page
                || corpus.label(*row).is_some_and(|page| is_alive[page as usize])
        };
        let asked = all.clone().filter(is_asked).collect();
        let rows = all.map(|row| (corpus.url(row), row)).collect();
        let mut sizes = vec![0u32; corpus.len()];
        keys.iter().for_each(|&key| sizes[key as usize] += 1);
        let has_others = keys.iter().map(|&key| sizes[key as usize] > 1).collect();
        Self { corpus, rows, seen, has_others, asked }
    }

    /// What is known of `canonical` as the canonical URL of a row, and what it is worth.
    pub(super) fn fate(&self, row: u32, canonical: &[u8]) -> (Fate, Gain) {
        let is_named = self.standing(row) == Standing::Named;
        let joined = match has_fewer_params(canonical, self.corpus.url(row)) {
            true => Gain::from(self.has_others[row as usize]),
            false => -1,
        };
        let unmet = (Fate::Unmet, joined - URL * Gain::from(is_named));
        let Some(&other) = self.rows.get(canonical) else { return unmet };
        if other == row {
            return (Fate::Kept, 0);
        }
        let (ours, theirs) = (self.corpus.label(row), self.corpus.label(other));
        match self.seen[other as usize] {
            // The rules say that it is the same page, and are believed; this one URL does not speak for them.
            Seen::Page if ours != theirs && self.corpus.are_different(row, other) => unmet,
            Seen::Page => {
                (Fate::Alive, URL * (1 + self.standing(other) as Gain - self.standing(row) as Gain))
            }
            Seen::Redirect | Seen::Error if self.is_gone(row) => (Fate::Left, LEFT),
            Seen::Redirect | Seen::Error => (Fate::Wrong, WRONG),
            Seen::Unknown => unmet,
        }
    }

    /// What is known of `canonical` as the canonical URL of a row. A page that is known to be another is one here, though the rules say
    /// that it is the same. `None` where both redirect or fail.
    pub(super) fn known(&self, row: u32, canonical: &[u8]) -> Option<CanonicalFate> {
        let Some(&other) = self.rows.get(canonical) else { return Some(CanonicalFate::Unmet) };
        let has_other_label = self.corpus.label(row) != self.corpus.label(other);
        let is_other = other != row && has_other_label && self.corpus.are_different(row, other);
        CanonicalFate::of(self.seen[row as usize], self.seen[other as usize], is_other)
    }

    /// Whether the site itself would have the URL stand for its page, or another.
    pub(super) fn standing(&self, row: u32) -> Standing {
        let content = self.corpus.content(row);
        match () {
            () if self.seen[row as usize] != Seen::Page || content.names_another() => Standing::Replaced,
            () if content.is_named_by_page() => Standing::Named,
            () => Standing::Unnamed,
        }
    }

    /// Whether a URL was fetched and showed a page.
    pub(super) fn is_alive(&self, row: u32) -> bool {
        self.seen[row as usize] == Seen::Page
    }

    /// Whether a URL redirects, or answers with an error.
    pub(super) fn is_gone(&self, row: u32) -> bool {
        self.seen[row as usize].is_gone()
    }

    /// Whether nobody has fetched a URL.
    pub(super) fn is_unknown(&self, row: u32) -> bool {
        self.seen[row as usize] == Seen::Unknown
    }

    /// The row of a URL.
    pub(super) fn row(&self, url: &[u8]) -> Option<u32> {
        self.rows.get(url).copied()
    }
}

/// Whether a URL is another without some of its parameters: if these mean nothing, the server shows the same.
fn has_fewer_params(url: &[u8], other: &[u8]) -> bool {
    let parts = |url: &[u8]| memchr::memchr(b'?', url).unwrap_or(url.len());
    let (end, other_end) = (parts(url), parts(other));
    url[..end] == other[..other_end] && url.len() < other.len()
}
