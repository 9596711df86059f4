/*!
Which URLs of a site are learned from.

URLs are told apart by their safe form, so that two spellings of one URL are never on both sides.
*/

use foldhash::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How large the training share is, and how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    draw: Draw,
    share: f64,
    max_urls: usize,
}

/// How the training share of a site is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// By a hash of the URL: any order of the input gives the same share.
    Random {
        /// Another seed, another share.
        seed: u64,
    },
    /// The URLs met first: learn today, use tomorrow.
    Order,
}

/// A split that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSplit {
    /// Not a share to learn from.
    #[error("the training share must be above 0 and at most 1, not {0}")]
    Share(f64),
    /// Nothing to learn from.
    #[error("the training share must hold at least one URL")]
    NoUrls,
}

impl Split {
    /// A share of each site's URLs, from 0 (excluded) to 1, and at most `max_urls` of them.
    pub fn new(draw: Draw, share: f64, max_urls: usize) -> Result<Self, InvalidSplit> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(InvalidSplit::Share(share));
        }
        if max_urls == 0 {
            return Err(InvalidSplit::NoUrls);
        }
        Ok(Self { draw, share, max_urls })
    }

    /// How the share is drawn.
    pub fn draw(&self) -> Draw {
        self.draw
    }

    /// The share, above 0 and at most 1.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The most URLs of a site that are learned from.
    pub fn max_urls(&self) -> usize {
        self.max_urls
    }

    /// The rank below which a URL is drawn at random.
    fn random_limit(&self) -> u64 {
        // Saturates: a share of 1 leaves out one hash of 2^64.
        (self.share * 2f64.powi(64)) as u64
    }
}

/// The distinct URLs of one site in safe form, each with a rank: the lowest are learned from.
#[derive(Debug)]
pub(super) struct Ranking {
    split: Split,
    rank_by_url: HashMap<u128, u64>,
}

impl Ranking {
    pub(super) fn new(split: Split) -> Self {
        Self { split, rank_by_url: HashMap::default() }
    }

    /// Adds a URL, given its safe form and the hash of that, and tells whether it may turn out to be learned from.
    pub(super) fn add(&mut self, safe: &[u8], hash: u128) -> bool {
        let arrival = self.rank_by_url.len() as u64;
        let rank = *self.rank_by_url.entry(hash).or_insert_with(|| match self.split.draw {
            Draw::Random { seed } => xxh3_64_with_seed(safe, seed),
            Draw::Order => arrival,
        });
        match self.split.draw {
            Draw::Random { .. } => rank < self.split.random_limit(),
            Draw::Order => rank < self.split.max_urls as u64,
        }
    }

    /// The number of distinct URLs.
    pub(super) fn len(&self) -> usize {
        self.rank_by_url.len()
    }

    /// The URLs to learn from, by the hashes of their safe forms.
    pub(super) fn drawn(self) -> HashSet<u128> {
        let Split { draw, share, max_urls } = self.split;
        let limit = match draw {
            Draw::Random { .. } => self.split.random_limit(),
            Draw::Order => (share * self.rank_by_url.len() as f64).ceil() as u64,
        };
        let mut drawn: Vec<(u64, u128)> =
            self.rank_by_url.into_iter().map(|(url, rank)| (rank, url)).filter(|at| at.0 < limit).collect();
        if drawn.len() > max_urls {
            drawn.select_nth_unstable(max_urls);
            drawn.truncate(max_urls);
        }
        drawn.into_iter().map(|(_, url)| url).collect()
    }
}
