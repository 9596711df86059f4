/*!
How many observations of a site are learned from: its size in, the size of the sample out.
*/

use serde::{Deserialize, Serialize};

use super::StoredSite;

/// How many observations of a site are learned from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSize {
    share: f64,
    most: u64,
}

/// Bytes of the URLs of a site that are learned from: memory is bounded for long URLs, too.
const MAX_SITE_BYTES: u64 = 64 << 20;

/// A site of up to so many observations is learned from whole.
const SMALL_SITE_ROWS: u64 = 50_000;

impl Default for SampleSize {
    fn default() -> Self {
        Self { share: 0.2, most: 100_000 }
    }
}

impl SampleSize {
    /// A share of each site's observations, from 0 to 1, and at most so many; but sites of up to 50,000 whole. Default:
    /// 0.2 and 100,000.
    pub fn new(share: f64, most: u64) -> Option<Self> {
        ((0.0..=1.0).contains(&share) && most > 0).then_some(Self { share, most })
    }

    /// The observations to learn from, of this many with URLs of so many bytes together.
    pub fn of(self, rows: u64, bytes: u64) -> u64 {
        let least = SMALL_SITE_ROWS.min(self.most);
        ((rows as f64 * self.share) as u64).clamp(least, self.most).min(rows).min(rows_within(rows, bytes))
    }

    /// The observations and bytes of URLs below which a site is learned from whole.
    pub fn always_whole(self) -> (u64, u64) {
        (SMALL_SITE_ROWS.min(self.most), MAX_SITE_BYTES)
    }

    /// Whether some observations of the site are not learned from.
    pub(super) fn leaves_out(self, site: &StoredSite) -> bool {
        self.of(site.rows, site.bytes) < site.rows
    }
}

/// The observations of a site, of this many with URLs of so many bytes, that are small enough to be learned from.
pub(super) fn rows_within(rows: u64, bytes: u64) -> u64 {
    (rows as f64 * (MAX_SITE_BYTES as f64 / bytes.max(1) as f64).min(1.0)) as u64
}
