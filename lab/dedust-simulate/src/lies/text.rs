/*!
Fingerprints of texts that are never written: a text is a sequence of features, and a feature is two numbers.

[`TextHasher`] takes features in and gives the 64-bit simhash of them, a digest, and their number. Texts with most
features in common have simhashes that differ in few bits, as those of real pages do.
*/

use xxhash_rust::xxh3::xxh3_64;

use crate::chance::mix_two;

/// Sums up the features of one text.
pub(super) struct TextHasher {
    /// For each bit, how many features have it set, less how many have not.
    balance_by_bit: [i32; 64],
    digest: u64,
    features: u32,
}

impl TextHasher {
    pub(super) fn new() -> Self {
        Self { balance_by_bit: [0; 64], digest: 0, features: 0 }
    }

    /// Adds the first `count` features of `source`, which stands for a template, a page, or a part of one.
    pub(super) fn add(&mut self, source: u64, count: u32) {
        for index in 0..count {
            let mut feature = [0; 12];
            feature[..8].copy_from_slice(&source.to_le_bytes());
            feature[8..].copy_from_slice(&index.to_le_bytes());
            let hash = xxh3_64(&feature);
            for (bit, balance) in self.balance_by_bit.iter_mut().enumerate() {
                *balance += ((hash >> bit & 1) as i32) * 2 - 1;
            }
            self.digest = mix_two(self.digest, hash);
        }
        self.features += count;
    }

    /// Each bit is set where more features have it set than not.
    pub(super) fn simhash(&self) -> u64 {
        let bits = self.balance_by_bit.iter().enumerate();
        bits.fold(0, |simhash, (bit, &balance)| simhash | u64::from(balance > 0) << bit)
    }

    /// Equal for equal sequences of features.
    pub(super) fn digest(&self) -> u64 {
        self.digest
    }

    pub(super) fn features(&self) -> u32 {
        self.features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(parts: &[(u64, u32)]) -> TextHasher {
        let mut text = TextHasher::new();
        parts.iter().for_each(|&(source, count)| text.add(source, count));
        text
    }

    #[test]
    fn texts_are_as_far_apart_as_they_have_features_of_their_own() {
        let bits = |own: u32| {
            let distance = |page: u64| {
                let [one, other] =
                    [1, 2].map(|side| hash(&[(page, 200 - own), (1_000_000 * side + page, own)]));
                assert_ne!(one.digest(), other.digest());
                (one.simhash() ^ other.simhash()).count_ones()
            };
            f64::from((0..50).map(distance).sum::<u32>()) / 50.0
        };
        let (number, small_box, half, whole) = (bits(1), bits(6), bits(100), bits(200));
        assert!(
            number < 4.0 && number < small_box && small_box < half && half < whole,
            "{number} {small_box} {half}"
        );
        assert!((28.0..36.0).contains(&whole), "{whole}");
    }

    #[test]
    fn the_simhash_of_one_feature_is_its_hash() {
        let feature = [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(hash(&[(7, 1)]).simhash(), xxh3_64(&feature));
        assert_eq!(hash(&[(7, 3), (9, 4)]).features(), 7);
    }
}
