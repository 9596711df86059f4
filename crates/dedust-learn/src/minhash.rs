/*!
Sketches of texts: how much two texts have in common, and which texts may have much.

A [`Sketch`] is made elsewhere, one number per bin of one permutation. The share of positions at which two sketches agree
estimates the resemblance r of the texts, the shingles in common by the shingles in either, with a standard deviation
of sqrt(r(1 - r) / 128): 0.02 at r = 0.95.

Texts that may resemble each other are found by bands: sketches cut into [`BANDS`] bands of equal length agree in a whole
band with probability 1 - (1 - r^8)^16, which is 0.9999 at r = 0.9 and 0.06 at r = 0.5.

After Broder, 1997; Li, Owen and Zhang, NIPS 2012.
*/

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::thresholds::likeness::BANDS;

/// The number of values of a [`Sketch`].
pub const SKETCH_VALUES: usize = 128;

/// What is kept of the shingles of a text. The share of equal values is about the share of common shingles.
pub type Sketch = [u16; SKETCH_VALUES];

const BAND_VALUES: usize = SKETCH_VALUES / BANDS;

/// The estimated share of common shingles, from 0 to 1.
pub(crate) fn resemblance(left: &Sketch, right: &Sketch) -> f64 {
    let equal = left.iter().zip(right).filter(|(left, right)| left == right).count();
    equal as f64 / SKETCH_VALUES as f64
}

/// A hash of one band of a sketch, the same for two sketches if they agree there.
pub(crate) fn band_hash(sketch: &Sketch, band: usize, seed: u64) -> u64 {
    let mut bytes = [0; 2 * BAND_VALUES];
    for (pair, value) in bytes.chunks_exact_mut(2).zip(&sketch[band * BAND_VALUES..]) {
        pair.copy_from_slice(&value.to_le_bytes());
    }
    xxh3_64_with_seed(&bytes, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_equal_values_is_the_resemblance() {
        let left: Sketch = std::array::from_fn(|i| i as u16);
        let mut right = left;
        right[..32].iter_mut().for_each(|value| *value += 1000);
        assert_eq!(resemblance(&left, &left), 1.0);
        assert_eq!(resemblance(&left, &right), 0.75);
    }

    #[test]
    fn bands_agree_where_all_their_values_do() {
        let left: Sketch = std::array::from_fn(|i| i as u16);
        let mut right = left;
        right[BAND_VALUES * 3 + 1] = 9999;
        for band in 0..BANDS {
            assert_eq!(band_hash(&left, band, 7) == band_hash(&right, band, 7), band != 3);
        }
        assert_ne!(band_hash(&left, 0, 1), band_hash(&left, 0, 2));
    }
}
