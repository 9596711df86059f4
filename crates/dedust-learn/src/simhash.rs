/*!
Finds all pairs of fingerprints that differ in few bits.

The naive way compares every fingerprint with every other one. But two fingerprints that differ in at most
d bits, cut into d + 1 blocks, agree in at least one whole block. So: one table per block, sorted by that
block, and only fingerprints with an equal block are compared. With d = 3 these are 4 tables of 16-bit blocks.

Pages of one template have fingerprints that agree in most bits, which would leave most of them in one run
of a table. So blocks are cut only from bits that vary within the set, and a long run is searched in the
same way again, by the bits that still vary.

Takes fingerprints, reports pairs. Exact: every pair within the distance is reported, once. Makes no
fingerprints and decides nothing about pages (see [`crate::label`]).

After Manku, Jain and Das Sarma, WWW 2007.
*/

use crate::thresholds::near_pairs::{MAX_DEPTH, MAX_PAIRWISE};

/// Reports the positions `(i, j)`, `i < j`, of every two `fingerprints` that differ in at most
/// `max_hamming_bits` bits, each pair once.
///
/// The order of the reports depends only on `fingerprints`. Pass each fingerprint once: n equal ones
/// are n(n - 1)/2 pairs.
pub fn near_pairs(fingerprints: &[u64], max_hamming_bits: u32, mut on_pair: impl FnMut(usize, usize)) {
    let mut entries: Vec<Entry> = fingerprints
        .iter()
        .enumerate()
        .map(|(position, &fingerprint)| Entry { fingerprint, position })
        .collect();
    let mut search = Search { max_hamming_bits, tried_blocks: Vec::new(), on_pair: &mut on_pair };
    search.within(&mut entries, 0);
}

/// A fingerprint and where it stood. Tables hold them side by side: looking fingerprints up by position would make most
/// of the time of large sets.
#[derive(Clone, Copy)]
struct Entry {
    fingerprint: u64,
    position: usize,
}

struct Search<'a, F> {
    max_hamming_bits: u32,
    /// Blocks of tables already searched: a pair that agrees in one of them was reported there.
    tried_blocks: Vec<u64>,
    on_pair: &'a mut F,
}

impl<F: FnMut(usize, usize)> Search<'_, F> {
    /// Searches a table, which is left in another order.
    fn within(&mut self, table: &mut [Entry], depth: usize) {
        let Some(&first) = table.first() else { return };
        let varying_bits = table.iter().fold(0, |bits, entry| bits | (entry.fingerprint ^ first.fingerprint));
        if self.tried_blocks.iter().any(|block| block & varying_bits == 0) {
            return;
        }
        let block_count = self.max_hamming_bits.saturating_add(1);
        if table.len() <= MAX_PAIRWISE || depth == MAX_DEPTH || varying_bits.count_ones() < block_count {
            return self.pairwise(table);
        }
        let tried_before = self.tried_blocks.len();
        for block in cut(varying_bits, block_count) {
            table.sort_unstable_by_key(|entry| entry.fingerprint & block);
            for run in table.chunk_by_mut(|left, right| (left.fingerprint ^ right.fingerprint) & block == 0) {
                if run.len() > 1 {
                    self.within(run, depth + 1);
                }
            }
            self.tried_blocks.push(block);
        }
        self.tried_blocks.truncate(tried_before);
    }

    fn pairwise(&mut self, table: &[Entry]) {
        for (rank, left) in table.iter().enumerate() {
            for right in &table[rank + 1..] {
                let difference = left.fingerprint ^ right.fingerprint;
                if has_at_most(self.max_hamming_bits, difference)
                    && self.tried_blocks.iter().all(|block| block & difference != 0)
                {
                    let (left, right) = (left.position, right.position);
                    (self.on_pair)(left.min(right), left.max(right));
                }
            }
        }
    }
}

/// Whether at most so many bits are set. Faster than counting them where processors have no instruction for that, or may
/// not be assumed to have one.
fn has_at_most(count: u32, bits: u64) -> bool {
    (0..count.min(u64::BITS)).fold(bits, |bits, _| bits & bits.wrapping_sub(1)) == 0
}

/// Cuts the set bits of `bits` into `block_count` masks of nearly equal size, from the lowest bit up.
fn cut(bits: u64, block_count: u32) -> impl Iterator<Item = u64> {
    let total = bits.count_ones();
    let mut rest = bits;
    (0..block_count).map(move |block| {
        let size = total * (block + 1) / block_count - total * block / block_count;
        (0..size).fold(0, |mask, _| {
            let lowest = rest & rest.wrapping_neg();
            rest ^= lowest;
            mask | lowest
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(fingerprints: &[u64], max_hamming_bits: u32) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        near_pairs(fingerprints, max_hamming_bits, |i, j| pairs.push((i, j)));
        pairs.sort_unstable();
        pairs
    }

    fn brute_force(fingerprints: &[u64], max_hamming_bits: u32) -> Vec<(usize, usize)> {
        let count = fingerprints.len();
        (0..count)
            .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
            .filter(|&(i, j)| (fingerprints[i] ^ fingerprints[j]).count_ones() <= max_hamming_bits)
            .collect()
    }

    #[test]
    fn distance_three_is_found_and_four_is_not() {
        assert_eq!(found(&[0, 0b0111, 0b1111], 3), [(0, 1), (1, 2)]);
    }

    #[test]
    fn bits_are_counted_as_far_as_needed() {
        for bits in [0, 1, 0b1011, 1 << 63, u64::MAX, u64::MAX - 1] {
            for count in [0, 1, 3, 63, 64, u32::MAX] {
                assert_eq!(has_at_most(count, bits), bits.count_ones() <= count, "{count} of {bits:b}");
            }
        }
    }

    #[test]
    fn blocks_share_out_all_bits() {
        let blocks: Vec<u64> = cut(u64::MAX, 4).collect();
        assert_eq!(blocks, [0xffff, 0xffff_0000, 0xffff_0000_0000, 0xffff_0000_0000_0000]);
        assert_eq!(cut(0b1011_0010, 3).collect::<Vec<_>>(), [0b10, 0b1_0000, 0b1010_0000]);
    }

    #[test]
    fn all_fingerprints_near_each_other_are_found() {
        let fingerprints: Vec<u64> = (0..256).collect();
        assert_eq!(found(&fingerprints, 3), brute_force(&fingerprints, 3));
        assert_eq!(found(&fingerprints, 64).len(), 256 * 255 / 2);
    }

    #[test]
    fn a_large_random_set_costs_far_less_than_all_pairs() {
        let fingerprints: Vec<u64> =
            (0..200_000u64).map(|i| (i ^ (i << 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        near_pairs(&fingerprints, 0, |i, j| panic!("{i} and {j} are equal"));
        let mut near = fingerprints.clone();
        near.extend(fingerprints[..100].iter().map(|fingerprint| fingerprint ^ 0x8000_0100_0000_0001));
        let pairs = found(&near, 3);
        assert!((0..100).all(|i| pairs.binary_search(&(i, 200_000 + i)).is_ok()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn equals_brute_force(
            centres in prop::collection::vec(any::<u64>(), 1..4),
            // Each fingerprint is a centre with up to six bits flipped, many of them in the lowest 16.
            flips in prop::collection::vec((any::<usize>(), prop::collection::vec(0u32..90, 0..6)), 0..300),
            max_hamming_bits in 0u32..6,
        ) {
            let fingerprints: Vec<u64> = flips
                .iter()
                .map(|(centre, bits)| {
                    bits.iter().fold(centres[centre % centres.len()], |fingerprint, &bit| {
                        fingerprint ^ 1 << if bit < 64 { bit } else { bit % 16 }
                    })
                })
                .collect();
            let expected = brute_force(&fingerprints, max_hamming_bits);
            prop_assert_eq!(found(&fingerprints, max_hamming_bits), expected);
        }
    }
}
