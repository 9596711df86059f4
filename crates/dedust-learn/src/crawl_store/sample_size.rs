/*!
How many observations of a site are learned from: its size in, the size of the sample out.
*/

use std::ops::AddAssign;

use dedust::ParsedUrl;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::hash::spread_seed;
use crate::text_hash::TextHash;
use crate::thresholds::sample::{
    MAX_PARTS_OF_URL, MAX_ROWS, MAX_SITE_BYTES, MAX_SITE_PARTS, MIN_SITE_PARTS, SHARE, SMALL_SITE_ROWS,
};

/// How much was observed of a site. Adds up, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteSize {
    /// Observations.
    pub rows: u64,
    /// The bytes of their URLs.
    pub bytes: u64,
    /// About how many parts these URLs have.
    pub parts: u64,
    /// The sum of a number for each observation, of which the lower 40 bits count. Samples are drawn in an order that depends on
    /// it: whoever does not know all that was observed of a site cannot make URLs that come first.
    pub digest: u64,
}

/// The bits of a digest that count: of those of many processes the sum is a signed number, too.
const DIGEST_BITS: u64 = (1 << 40) - 1;

impl SiteSize {
    /// That of one observation: its URL as it came, in safe normal form, and the hash of what it says of its page.
    pub(super) fn of_row(url: &[u8], parsed: &ParsedUrl, page: u64) -> Self {
        let is_delimiter = |byte: &&u8| matches!(byte, b'/' | b'?' | b'&' | b';');
        Self {
            rows: 1,
            bytes: url.len() as u64,
            parts: parsed.as_bytes().iter().filter(is_delimiter).count() as u64,
            digest: xxh3_64_with_seed(parsed.as_bytes(), page) & DIGEST_BITS,
        }
    }

    /// The seed of a kind of hash by which samples of a site are drawn.
    pub(super) fn seed(self, kind: u32) -> u64 {
        xxh3_64_with_seed(&(self.digest & DIGEST_BITS).to_le_bytes(), spread_seed(kind, 0))
    }

    /// How texts of the site are hashed.
    pub(super) fn text_hash(self) -> TextHash {
        TextHash::new(self.seed(4))
    }

    /// The observations that are few enough for memory.
    pub(super) fn rows_within_memory(self) -> u64 {
        let share = |most: u64, all: u64| (most as f64 / all.max(1) as f64).min(1.0);
        let parts = (MAX_PARTS_OF_URL * self.rows).clamp(MIN_SITE_PARTS, MAX_SITE_PARTS);
        (self.rows as f64 * share(MAX_SITE_BYTES, self.bytes).min(share(parts, self.parts))) as u64
    }
}

impl AddAssign for SiteSize {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.bytes += other.bytes;
        self.parts += other.parts;
        self.digest = self.digest.wrapping_add(other.digest) & DIGEST_BITS;
    }
}

/// How many observations of a site are learned from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSize {
    pub(crate) share: f64,
    pub(crate) most: u64,
}

impl Default for SampleSize {
    fn default() -> Self {
        Self { share: SHARE, most: MAX_ROWS }
    }
}

impl SampleSize {
    /// A share of each site's observations, from 0 to 1, and at most so many; but sites of up to 50,000 whole. Default:
    /// 0.2 and 100,000.
    pub fn new(share: f64, most: u64) -> Option<Self> {
        ((0.0..=1.0).contains(&share) && most > 0).then_some(Self { share, most })
    }

    /// The observations to learn from, of a site of this size.
    pub fn of(self, size: SiteSize) -> u64 {
        let least = SMALL_SITE_ROWS.min(self.most);
        ((size.rows as f64 * self.share) as u64)
            .clamp(least, self.most)
            .min(size.rows)
            .min(size.rows_within_memory())
    }

    /// The size below which, in each respect, a site is learned from whole.
    pub fn always_whole(self) -> SiteSize {
        let rows = SMALL_SITE_ROWS.min(self.most);
        SiteSize { rows, bytes: MAX_SITE_BYTES, parts: MIN_SITE_PARTS, digest: 0 }
    }

    /// Whether some observations of a site of this size are not learned from.
    pub fn leaves_out(self, size: SiteSize) -> bool {
        self.of(size) < size.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_very_many_parts_are_fewer() {
        let all = SampleSize::new(1.0, u64::MAX).expect("a share");
        let size =
            |parts: u64| SiteSize { rows: 100_000, bytes: 20_000_000, parts: 100_000 * parts, digest: 0 };
        assert_eq!(all.of(size(20)), 100_000);
        assert_eq!(all.of(size(200)), 16_000, "as many parts as of 100,000 URLs of 32 each");
        let few = SiteSize { rows: 300, bytes: 60_000, parts: 60_000, digest: 0 };
        assert_eq!(all.of(few), 300, "a small site is learned from whole");
        assert!(all.leaves_out(size(200)) && !all.leaves_out(size(20)));
    }

    #[test]
    fn a_digest_does_not_depend_on_the_order_and_depends_on_each_observation() {
        let row = |number: u64| {
            let url = format!("http://a.example/{number}");
            let parsed = ParsedUrl::parse(&url).expect("a URL");
            SiteSize::of_row(url.as_bytes(), &parsed, number / 2)
        };
        let sum = |rows: &mut dyn Iterator<Item = u64>| {
            rows.fold(SiteSize::default(), |mut sum, number| {
                sum += row(number);
                sum
            })
        };
        assert_eq!(sum(&mut (0..100)), sum(&mut (0..100).rev()));
        assert_ne!(sum(&mut (0..100)).digest, sum(&mut (0..99).chain([100])).digest);
        assert!(sum(&mut (0..100)).digest <= DIGEST_BITS);
    }
}
