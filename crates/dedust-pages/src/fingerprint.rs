/*!
Text to [`Fingerprint`]: what is kept of a text to tell whether another one is the same, or nearly so.

Three kinds, from strict to lenient:

- the signature, MD5 of the text: equal texts. After Soon and Lee, 2008 and 2009;
- the simhash, 64 bits: texts that share most of their shingles differ in few bits. After Charikar, STOC 2002;
- the sketch, [`SKETCH_VALUES`] numbers: the share of equal ones estimates the share of common shingles. After Broder,
  1997, with one permutation (Li, Owen and Zhang, NIPS 2012) and empty bins filled from others as Shrivastava does, ICML
  2017.

Shingles are runs of [`SHINGLE_WORDS`] words, or the words themselves if there are fewer. A text of fewer than
[`MIN_TEXT_CHARS`] characters has no fingerprint: frames, scripts and error pages have such. Compares nothing itself.
*/

use md5::{Digest as _, Md5};
use xxhash_rust::xxh3::xxh3_64;

/// Characters below which a text says nothing.
pub const MIN_TEXT_CHARS: usize = 64;

/// The number of values of a [`Sketch`].
pub const SKETCH_VALUES: usize = 128;

/// Words that make one shingle.
const SHINGLE_WORDS: usize = 3;

/// The share of positions at which two sketches agree estimates the resemblance of the texts: common shingles by all.
pub type Sketch = [u16; SKETCH_VALUES];

/// What is kept of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// MD5 of the text.
    pub signature: [u8; 16],
    /// Nearly equal texts differ in few bits.
    pub simhash: u64,
    /// The share of equal values is about the share of common shingles.
    pub sketch: Sketch,
}

/// MD5 of a text; `None` if it is too short to say anything.
pub fn signature(text: &str) -> Option<[u8; 16]> {
    is_long_enough(text.chars()).then(|| Md5::digest(text.as_bytes()).into())
}

fn is_long_enough(mut chars: impl Iterator<Item = char>) -> bool {
    chars.nth(MIN_TEXT_CHARS - 1).is_some()
}

impl Fingerprint {
    /// The fingerprint of a text in blocks; `None` if it is too short to say anything.
    pub fn of<'t>(blocks: impl Iterator<Item = &'t str> + Clone) -> Option<Fingerprint> {
        if !is_long_enough(blocks.clone().flat_map(str::chars)) {
            return None;
        }
        let mut md5 = Md5::new();
        let mut shingles = Shingles::default();
        for block in blocks {
            md5.update(block.as_bytes());
            // Blocks hold no line breaks, so that "a b" in one is not "a" and "b" in two.
            md5.update(b"\n");
            block.split(' ').filter(|word| !word.is_empty()).for_each(|word| shingles.push(word));
        }
        let (simhash, sketch) = shingles.finish();
        Some(Fingerprint { signature: md5.finalize().into(), simhash, sketch })
    }
}

/// Takes words, keeps what the shingles say.
struct Shingles {
    /// Hashes of the words that the next shingle may have.
    recent: [u64; SHINGLE_WORDS],
    words: usize,
    votes: Votes,
    /// The least hash seen in each bin.
    least: [u64; SKETCH_VALUES],
}

impl Default for Shingles {
    fn default() -> Self {
        Self {
            recent: [0; SHINGLE_WORDS],
            words: 0,
            votes: Votes::default(),
            least: [u64::MAX; SKETCH_VALUES],
        }
    }
}

impl Shingles {
    fn push(&mut self, word: &str) {
        self.recent.rotate_left(1);
        self.recent[SHINGLE_WORDS - 1] = xxh3_64(word.as_bytes());
        self.words += 1;
        if self.words >= SHINGLE_WORDS {
            self.add(self.recent.into_iter().fold(0, combine));
        }
    }

    fn add(&mut self, shingle: u64) {
        self.votes.add(shingle);
        let hash = mixed(shingle ^ 0x5bf0_3635_dca5_1b9f);
        let bin = &mut self.least[(hash >> 57) as usize];
        *bin = (*bin).min(hash);
    }

    fn finish(mut self) -> (u64, Sketch) {
        if self.words < SHINGLE_WORDS {
            let first = SHINGLE_WORDS - self.words;
            for word in first..SHINGLE_WORDS {
                self.add(mixed(self.recent[word]));
            }
        }
        (self.votes.majority(), densified(&self.least))
    }
}

/// Sixteen bits of each bin; an empty bin takes those of another, chosen by its number alone, so that equal bins are
/// filled equally.
fn densified(least: &[u64; SKETCH_VALUES]) -> Sketch {
    let has_any = least.iter().any(|hash| *hash != u64::MAX);
    std::array::from_fn(|bin| {
        let mut source = bin;
        let mut attempt = 0u64;
        while has_any && least[source] == u64::MAX {
            attempt += 1;
            source = (mixed((bin as u64) << 32 | attempt) >> 57) as usize;
        }
        // Not the bits that chose the bin or made the hash the least.
        let hash = mixed(least[source]);
        // Bins filled from one source are not counted as one agreement each.
        (mixed(hash ^ attempt) >> 48) as u16
    })
}

fn combine(hash: u64, word: u64) -> u64 {
    mixed(hash.rotate_left(23) ^ word)
}

/// Spreads any difference over all bits.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xe703_7ed1_a0b4_28db);
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 32)
}

/// Every shingle votes on every bit with its hash.
///
/// Counting 64 bits one by one is slow. Here the bits of a byte are spread over the eight bytes of a number, by a table,
/// and added up eight at a time, until a byte might overflow.
struct Votes {
    /// Votes for the bits `8 * i..8 * i + 8`, one byte each.
    recent: [u64; 8],
    recent_count: u32,
    totals: [u32; 64],
    count: u32,
}

/// The bits of a byte, each as one byte of the number.
static SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= (byte as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Default for Votes {
    fn default() -> Self {
        Self { recent: [0; 8], recent_count: 0, totals: [0; 64], count: 0 }
    }
}

impl Votes {
    fn add(&mut self, hash: u64) {
        for (recent, byte) in self.recent.iter_mut().zip(hash.to_le_bytes()) {
            *recent += SPREAD[usize::from(byte)];
        }
        self.recent_count += 1;
        if self.recent_count == u32::from(u8::MAX) {
            self.carry();
        }
    }

    fn carry(&mut self) {
        for (recent, totals) in self.recent.iter_mut().zip(self.totals.chunks_exact_mut(8)) {
            for (total, votes) in totals.iter_mut().zip(recent.to_le_bytes()) {
                *total += u32::from(votes);
            }
            *recent = 0;
        }
        self.count += std::mem::take(&mut self.recent_count);
    }

    /// The bits that more than half voted for.
    fn majority(mut self) -> u64 {
        self.carry();
        let bits = self.totals.iter().enumerate();
        bits.fold(0, |hash, (bit, &votes)| {
            hash | u64::from(2 * u64::from(votes) > u64::from(self.count)) << bit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A text of `words` words; texts of two seeds have hardly a run of words in common.
    fn article(seed: u64, words: u64) -> String {
        (0..words).map(|i| format!("w{} ", mixed(seed << 32 | i) >> 40)).collect()
    }

    fn of(text: &str) -> Fingerprint {
        Fingerprint::of([text.trim()].into_iter()).unwrap()
    }

    fn resemblance(left: &str, right: &str) -> f64 {
        let (left, right) = (of(left), of(right));
        let equal = left.sketch.iter().zip(&right.sketch).filter(|(left, right)| left == right).count();
        equal as f64 / SKETCH_VALUES as f64
    }

    #[test]
    fn the_signature_is_the_md5_of_the_text() {
        let text = "x".repeat(64);
        let hex: String = signature(&text).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "c1bb4f81d892b2d57947682aeb252456");
    }

    #[test]
    fn short_texts_say_nothing() {
        let text = "é".repeat(MIN_TEXT_CHARS);
        assert!(signature(&text).is_some() && Fingerprint::of([text.as_str()].into_iter()).is_some());
        let shorter = "é".repeat(MIN_TEXT_CHARS - 1);
        assert!(signature(&shorter).is_none() && Fingerprint::of([shorter.as_str()].into_iter()).is_none());
        assert!(Fingerprint::of(std::iter::empty()).is_none());
    }

    #[test]
    fn blocks_matter_to_the_signature_alone() {
        let (first, second) = (article(1, 20), article(2, 20));
        let (first, second) = (first.trim(), second.trim());
        let joined = format!("{first} {second}");
        let (one, two) = (of(&joined), Fingerprint::of([first, second].into_iter()).unwrap());
        assert_ne!(one.signature, two.signature);
        assert_eq!((one.simhash, one.sketch), (two.simhash, two.sketch));
    }

    #[test]
    fn votes_are_counted_as_one_by_one() {
        let hashes: Vec<u64> = (0..1001).map(mixed).collect();
        let mut votes = Votes::default();
        hashes.iter().for_each(|hash| votes.add(*hash));
        let slow = (0..64).fold(0, |found, bit| {
            let ones = hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count();
            found | u64::from(2 * ones > hashes.len()) << bit
        });
        assert_eq!(votes.majority(), slow);
    }

    #[test]
    fn a_small_change_leaves_most_bits_and_values() {
        let text = article(1, 2000);
        let changed = format!("{text} seen 17 times");
        assert!((of(&text).simhash ^ of(&changed).simhash).count_ones() <= 3);
        assert!(resemblance(&text, &changed) > 0.95);
    }

    #[test]
    fn other_texts_share_nothing() {
        assert!((of(&article(1, 400)).simhash ^ of(&article(2, 400)).simhash).count_ones() > 12);
        assert!(resemblance(&article(1, 400), &article(2, 400)) < 0.05);
        // Few shingles fill few bins.
        assert!(resemblance(&article(1, 12), &article(2, 12)) < 0.05);
        assert_eq!(resemblance(&article(1, 12), &article(1, 12)), 1.0);
    }

    #[test]
    fn half_the_text_in_common_is_a_resemblance_of_a_third() {
        let common = article(7, 3000);
        let (left, right) =
            (format!("{common}{}", article(8, 3000)), format!("{common}{}", article(9, 3000)));
        let found = resemblance(&left, &right);
        assert!((found - 1.0 / 3.0).abs() < 0.13, "{found}");
    }

    proptest! {
        #[test]
        fn any_text_has_a_fingerprint_or_none(blocks in prop::collection::vec(".{0,80}", 0..20)) {
            let chars: usize = blocks.iter().map(|block| block.chars().count()).sum();
            let found = Fingerprint::of(blocks.iter().map(String::as_str));
            prop_assert_eq!(found.is_some(), chars >= MIN_TEXT_CHARS);
        }
    }
}
