/*!
What we remember of a site: its distinct URLs as rows of interned pairs, each with a duplicate label.

A pair is a key with a value, known by one number; a row is the list of its pairs. A key that a URL lacks is simply
not in its row. Made by a [`Crawl`](crate::Crawl).
*/

use std::collections::BTreeSet;

use dedust::rules::{UrlPart, Value};

use crate::evidence::EvidenceKinds;
use crate::label::{Content, Relation};
use crate::likeness::Likeness;

/// The distinct URLs of one site, with their pairs and labels.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(crate) site: Box<str>,
    pub(crate) urls: UrlList,
    /// Pairs of row `i`: `row_pairs[row_ends[i - 1]..row_ends[i]]`.
    pub(crate) row_pairs: Vec<u32>,
    pub(crate) row_ends: Vec<u32>,
    pub(crate) keys: Vec<UrlPart>,
    pub(crate) pair_keys: Vec<u32>,
    pub(crate) pair_values: Vec<u32>,
    pub(crate) values: Vec<Value>,
    pub(crate) labels: Vec<u32>,
    pub(crate) sizes: Vec<Option<(u64, u64)>>,
    pub(crate) contents: Vec<Content>,
    pub(crate) likeness: Likeness,
    pub(crate) has_clusters: bool,
    /// Hosts that say that their pages are those of another, with that one, by what stands before the site in their names.
    pub(crate) declared_hosts: BTreeSet<[Box<str>; 2]>,
    pub(crate) kinds: Vec<EvidenceKinds>,
    pub(crate) page_count: usize,
    pub(crate) labelled_count: usize,
    pub(crate) latest: Option<Box<str>>,
}

/// The label of a row whose page is not known.
pub const NO_LABEL: u32 = u32::MAX;

/// URLs one behind the other, by their rows.
#[derive(Clone, Debug, Default)]
pub struct UrlList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl UrlList {
    /// The number of URLs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds the URL of the next row.
    pub fn push(&mut self, url: &[u8]) {
        self.bytes.extend_from_slice(url);
        self.ends.push(self.bytes.len());
    }

    /// The URL of a row.
    pub fn get(&self, row: usize) -> &[u8] {
        &self.bytes[if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row]]
    }
}

impl Corpus {
    /// The registrable domain.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// The number of distinct URLs that rules can speak of.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no URLs.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The safely normalized URL of a row.
    pub fn url(&self, row: u32) -> &[u8] {
        self.urls.get(row as usize)
    }

    /// The page of a row, if it is known. Pages are numbered from 0.
    pub fn label(&self, row: u32) -> Option<u32> {
        Some(self.labels[row as usize]).filter(|&label| label != NO_LABEL)
    }

    /// The evidence that ties a row to a duplicate of it.
    pub fn kinds(&self, row: u32) -> EvidenceKinds {
        self.kinds[row as usize]
    }

    /// The smallest and the largest response seen for a row, in bytes.
    pub fn size_range(&self, row: u32) -> Option<(u64, u64)> {
        self.sizes[row as usize]
    }

    /// Whether two rows with different labels really show different pages: text that changes from fetch to fetch makes
    /// labels differ too.
    pub fn are_different(&self, row: u32, other: u32) -> bool {
        self.relation(row, other) == Relation::Different
    }

    /// Whether pages are known by labels that came with the crawl.
    pub(crate) fn has_clusters(&self) -> bool {
        self.has_clusters
    }

    /// What the pages of two rows with different labels say of each other.
    pub(crate) fn relation(&self, row: u32, other: u32) -> Relation {
        self.content(row).relation(self.content(other), &self.likeness)
    }

    /// Whether hosts with a label say that their pages are those of hosts with another label, or with none, in its place.
    pub(crate) fn is_declared_host(&self, label: &str, becomes: Option<&str>) -> bool {
        let has = |host: &str, label: &str| host.split('.').any(|other| other == label);
        label == "www"
            || self.declared_hosts.iter().any(|[from, to]| {
                has(from, label) && !has(to, label) && becomes.is_none_or(|becomes| has(to, becomes))
            })
    }

    /// The share of pairs of fetches of one page that differ slightly is at most this, with 95 % confidence.
    pub(crate) fn slight_noise(&self) -> f64 {
        self.likeness.noise
    }

    pub(crate) fn content(&self, row: u32) -> &Content {
        &self.contents[row as usize]
    }

    /// The number of distinct pages among the labelled rows.
    pub fn page_count(&self) -> usize {
        self.page_count
    }

    /// The number of rows whose page is known.
    pub fn labelled_count(&self) -> usize {
        self.labelled_count
    }

    /// The latest time of an observation.
    pub fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }

    /// The keys of the site; a key's number is its rank in the order of [`UrlPart`].
    pub fn keys(&self) -> &[UrlPart] {
        &self.keys
    }

    pub(crate) fn labels(&self) -> &[u32] {
        &self.labels
    }

    pub(crate) fn pairs(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let start = if row == 0 { 0 } else { self.row_ends[row - 1] as usize };
        &self.row_pairs[start..self.row_ends[row] as usize]
    }

    pub(crate) fn pair_count(&self) -> usize {
        self.pair_keys.len()
    }

    pub(crate) fn pair_key(&self, pair: u32) -> u32 {
        self.pair_keys[pair as usize]
    }

    /// The number of a pair's value; equal values of different keys have equal numbers.
    pub(crate) fn pair_value(&self, pair: u32) -> u32 {
        self.pair_values[pair as usize]
    }

    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn value(&self, value: u32) -> &Value {
        &self.values[value as usize]
    }
}
