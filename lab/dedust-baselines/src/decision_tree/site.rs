/*!
What the stages ask about a site, looked up once.
*/

use dedust::rules::UrlPart;
use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::deep_tokens::DeepTokens;
use crate::fanout::proof::{Forms, mix};

/// A part of a URL that can hold a value, by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SpotNumber {
    /// The value of a key.
    Key(u32),
    /// A path segment, counted from the end.
    FromEnd(u16),
}

/// A value in a URL: where it stands, under which key, and its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) spot: SpotNumber,
    pub(super) key: u32,
    pub(super) value: u32,
}

pub(super) struct Site<'c> {
    pub(super) corpus: &'c Corpus,
    pub(super) tokens: DeepTokens,
    /// URLs by a hash of all their pairs.
    pub(super) forms: Forms,
    pub(super) form_by_row: Vec<u64>,
    pub(super) rows_by_key: Vec<Vec<u32>>,
    /// Rows by a hash of their keys other than query parameters.
    pub(super) rows_by_frame: HashMap<u64, Vec<u32>>,
    value_hashes: Vec<u64>,
    /// By key: which path segment it is.
    segments: Vec<Option<u16>>,
    is_query: Vec<bool>,
    is_text: Vec<bool>,
}

impl<'c> Site<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let keys = corpus.keys();
        let segment = |key: &UrlPart| match key {
            UrlPart::PathSegment(index) => Some(*index),
            _ => None,
        };
        let is_text = |key: &UrlPart| {
            !matches!(key, UrlPart::Scheme | UrlPart::TrailingSlash | UrlPart::QuerySeparator)
        };
        let value_hash =
            |value: u32| corpus.value(value).as_text().map_or(1, |text| xxh3_64(text.as_bytes()));
        let mut site = Self {
            corpus,
            tokens: DeepTokens::of(corpus),
            forms: Forms::new(std::iter::empty()),
            form_by_row: Vec::with_capacity(corpus.len()),
            rows_by_key: vec![Vec::new(); keys.len()],
            rows_by_frame: HashMap::default(),
            value_hashes: (0..corpus.value_count() as u32).map(value_hash).collect(),
            segments: keys.iter().map(segment).collect(),
            is_query: keys.iter().map(|key| matches!(key, UrlPart::QueryParam(_))).collect(),
            is_text: keys.iter().map(is_text).collect(),
        };
        let mut view = Vec::new();
        for row in 0..corpus.len() as u32 {
            site.view(row, false, &mut view);
            let depth = site.depth(&view);
            let form = view.iter().fold(0u64, |sum, entry| {
                sum.wrapping_add(site.token_hash(entry.spot, depth, site.value_hash(entry.value)))
            });
            site.form_by_row.push(form);
            for entry in &view {
                site.rows_by_key[entry.key as usize].push(row);
            }
            let frame = site.frame(view.iter().map(|entry| entry.key));
            site.rows_by_frame.entry(frame).or_default().push(row);
        }
        site.forms = Forms::new(site.form_by_row.iter().copied().zip(0..));
        site
    }

    /// The values of a row in the order of spots; path segments by their keys, or counted from the end.
    pub(super) fn view(&self, row: u32, from_end: bool, view: &mut Vec<Entry>) {
        let pairs = self.corpus.pairs(row);
        let depth = pairs.iter().filter(|&&pair| self.segment(self.corpus.pair_key(pair)).is_some()).count();
        view.clear();
        view.extend(pairs.iter().map(|&pair| {
            let (key, value) = (self.corpus.pair_key(pair), self.corpus.pair_value(pair));
            let spot = match self.segment(key) {
                Some(index) if from_end => SpotNumber::FromEnd((depth - 1 - usize::from(index)) as u16),
                _ => SpotNumber::Key(key),
            };
            Entry { spot, key, value }
        }));
        view.sort_unstable_by_key(|entry| entry.spot);
    }

    /// Path segments of a URL.
    pub(super) fn depth(&self, view: &[Entry]) -> usize {
        view.iter().filter(|entry| self.segment(entry.key).is_some()).count()
    }

    pub(super) fn segment(&self, key: u32) -> Option<u16> {
        self.segments[key as usize]
    }

    /// The number of a path segment in either way of counting.
    pub(super) fn segment_at(&self, spot: SpotNumber) -> Option<u16> {
        match spot {
            SpotNumber::Key(key) => self.segment(key),
            SpotNumber::FromEnd(index) => Some(index),
        }
    }

    pub(super) fn is_query(&self, key: u32) -> bool {
        self.is_query[key as usize]
    }

    /// Whether values of this key can be read as text, and written elsewhere.
    pub(super) fn is_text(&self, key: u32) -> bool {
        self.is_text[key as usize]
    }

    pub(super) fn text(&self, value: u32) -> Option<&str> {
        self.corpus.value(value).as_text()
    }

    pub(super) fn value_hash(&self, value: u32) -> u64 {
        self.value_hashes[value as usize]
    }

    /// A number for a value at a spot of a URL with `depth` path segments; sums of these tell URLs apart.
    pub(super) fn token_hash(&self, spot: SpotNumber, depth: usize, value_hash: u64) -> u64 {
        let slot = match spot {
            SpotNumber::FromEnd(index) => 1 << 32 | (depth as u64).wrapping_sub(1 + u64::from(index)),
            SpotNumber::Key(key) => match self.segment(key) {
                Some(index) => 1 << 32 | u64::from(index),
                None => u64::from(key),
            },
        };
        mix(mix(slot) ^ value_hash)
    }

    /// A hash of the keys that are no query parameters.
    pub(super) fn frame(&self, keys: impl Iterator<Item = u32>) -> u64 {
        keys.filter(|&key| !self.is_query(key)).fold(0u64, |sum, key| sum.wrapping_add(mix(u64::from(key))))
    }
}
