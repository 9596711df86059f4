/*!
The labelled URLs of one site that methods are scored on.
*/

use dedust_learn::support::{LabelBuilder, Labels, UrlList};
use dedust_learn::{Clues, EvidenceKinds};
use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_128;

use crate::metrics::Tally;

/// Which of the labelled URLs a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Those that were not learned from, in no spelling.
    Unseen,
    /// All, those that were learned from included.
    Whole,
}

impl Scope {
    /// Both, the harder one first.
    pub const ALL: [Self; 2] = [Self::Unseen, Self::Whole];
}

/// Gathers URLs with what is known of their pages.
#[derive(Debug)]
pub(super) struct ScoredUrlsBuilder {
    labels: LabelBuilder,
    row_by_url: HashMap<u128, u32>,
    urls: UrlList,
    /// Hashes of the safe forms, by row.
    safe: Vec<u128>,
}

/// Distinct URLs as met, in the order in which they came, each with its page.
#[derive(Debug)]
pub struct ScoredUrls {
    urls: UrlList,
    hashes: Vec<u128>,
    labels: Vec<u32>,
    unseen: Vec<bool>,
    unlabelled: usize,
    /// What is known of all URLs, and the number of each that has a page.
    known: Labels,
    numbers: Vec<u32>,
}

impl ScoredUrlsBuilder {
    pub(super) fn new(kinds: EvidenceKinds) -> Self {
        Self {
            labels: LabelBuilder::new(kinds),
            row_by_url: HashMap::default(),
            urls: UrlList::default(),
            safe: Vec::new(),
        }
    }

    pub(super) fn observe(&mut self, url: &[u8], safe: &[u8], clues: &Clues<'_>) {
        let next = self.urls.len() as u32;
        let row = *self.row_by_url.entry(xxh3_128(url)).or_insert(next);
        if row == next {
            self.urls.push(url);
            self.safe.push(xxh3_128(safe));
        }
        self.labels.observe(row, safe, clues);
    }

    /// The labelled URLs, given the safe forms of those learned from.
    pub(super) fn finish(self, learned_from: &HashSet<u128>) -> ScoredUrls {
        let Self { labels, row_by_url, urls, safe } = self;
        drop(row_by_url);
        let known = labels.finish(urls.len());
        let labels: Vec<Option<u32>> = known.iter().collect();
        let mut scored = ScoredUrls {
            urls: UrlList::default(),
            hashes: Vec::new(),
            labels: Vec::new(),
            unseen: Vec::new(),
            unlabelled: 0,
            known,
            numbers: Vec::new(),
        };
        for ((row, label), safe) in labels.into_iter().enumerate().zip(safe) {
            let Some(label) = label else {
                scored.unlabelled += 1;
                continue;
            };
            scored.urls.push(urls.get(row));
            scored.hashes.push(xxh3_128(urls.get(row)));
            scored.labels.push(label);
            scored.unseen.push(!learned_from.contains(&safe));
            scored.numbers.push(row as u32);
        }
        scored
    }
}

impl ScoredUrls {
    /// The number of labelled URLs.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// URLs whose page is not known, which are left out.
    pub fn unlabelled(&self) -> usize {
        self.unlabelled
    }

    /// The URLs of a scope as met, in the order in which they came.
    pub fn urls(&self, scope: Scope) -> impl Iterator<Item = &[u8]> {
        self.rows(scope).map(|row| self.urls.get(row))
    }

    /// The URLs of a scope with their pages, in the order in which they came.
    pub fn labelled(&self, scope: Scope) -> impl Iterator<Item = (&[u8], u32)> {
        self.rows(scope).map(|row| (self.urls.get(row), self.labels[row]))
    }

    pub(super) fn rows(&self, scope: Scope) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |&row| scope == Scope::Whole || self.unseen[row])
    }

    pub(super) fn url(&self, row: usize) -> &[u8] {
        self.urls.get(row)
    }

    /// The hash of a URL as met.
    pub(super) fn hash(&self, row: usize) -> u128 {
        self.hashes[row]
    }

    pub(super) fn label(&self, row: usize) -> u32 {
        self.labels[row]
    }

    /// The counts of grouping the URLs of a scope.
    pub(super) fn tally(&self, scope: Scope, group: impl Fn(usize) -> u128) -> Tally {
        let rows: Vec<usize> = self.rows(scope).collect();
        let number = |at: usize| self.numbers[rows[at]];
        Tally::count_with(rows.iter().map(|&row| (group(row), self.label(row))), |one, other| {
            self.known.are_different(number(one), number(other))
        })
    }
}
