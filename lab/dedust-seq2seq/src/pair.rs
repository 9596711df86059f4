/*!
What models learn from: a source and what it is to become, in numbers.
*/

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One step of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// A word of the vocabulary.
    Word(u32),
    /// What stands at this place of the source.
    Copy(u16),
}

/// The word that ends every sequence.
pub const END: u32 = 0;

/// A source with one translation of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Words of the source, without the end.
    pub source: Vec<u32>,
    /// The translation, without the end.
    pub target: Vec<Symbol>,
    /// How much it counts.
    pub weight: f32,
}

/// Pairs to learn from, and pairs of other pages to check with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// To learn from.
    pub train: Vec<Pair>,
    /// To check with; none of their pages is among those to learn from.
    pub held_out: Vec<Pair>,
    /// Pairs of URLs before equal ones were taken together.
    pub observed: usize,
    /// Pairs of URLs that no translation could make: a part of the target is nowhere in the source.
    pub unlearnable: usize,
}

/// Takes equal pairs together.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairCounts {
    /// Weights by target, by source.
    counts: BTreeMap<Vec<u32>, BTreeMap<Vec<Symbol>, f64>>,
}

impl PairCounts {
    pub(crate) fn add(&mut self, source: &[u32], target: Vec<Symbol>, weight: f64) {
        let targets = match self.counts.get_mut(source) {
            Some(targets) => targets,
            None => self.counts.entry(source.to_vec()).or_default(),
        };
        *targets.entry(target).or_default() += weight;
    }

    /// Pairs in a fixed order. A source counts by the square root of how often it was seen, so that a site's one busy
    /// form does not drown all others; its translations share that by how often they were seen.
    pub(crate) fn into_pairs(self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (source, targets) in self.counts {
            let total: f64 = targets.values().sum();
            for (target, weight) in targets {
                pairs.push(Pair { source: source.clone(), target, weight: (weight / total.sqrt()) as f32 });
            }
        }
        pairs
    }

    /// Pairs in a fixed order, one of each that was seen, each counting once.
    pub(crate) fn into_equal_pairs(self) -> Vec<Pair> {
        let of_source = |(source, targets): (Vec<u32>, BTreeMap<Vec<Symbol>, f64>)| {
            targets.into_keys().map(move |target| Pair { source: source.clone(), target, weight: 1.0 })
        };
        self.counts.into_iter().flat_map(of_source).collect()
    }
}

/// Which URLs are held out: whole pages, and large pages in parts, so that a page with a thousand URLs is on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldOut {
    pub(crate) seed: u64,
    /// One in so many.
    pub(crate) one_in: u64,
}

/// URLs of a page that stay together.
const PART: u64 = 20;

impl HeldOut {
    /// Whether a URL of a page with `urls` URLs is held out.
    pub(crate) fn is_held_out(&self, page: u32, urls: usize, url: &[u8]) -> bool {
        let parts = (urls as u64).div_ceil(PART).max(1);
        let part = if parts == 1 { 0 } else { xxh3_64_with_seed(url, self.seed) % parts };
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&page.to_le_bytes());
        bytes[4..].copy_from_slice(&part.to_le_bytes());
        xxh3_64_with_seed(&bytes, self.seed).is_multiple_of(self.one_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_are_taken_together() {
        let mut counts = PairCounts::default();
        for _ in 0..3 {
            counts.add(&[1, 2], vec![Symbol::Word(1)], 1.0);
        }
        counts.add(&[1, 2], vec![Symbol::Copy(1)], 1.0);
        let pairs = counts.into_pairs();
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs.iter().map(|pair| pair.weight).sum::<f32>(), 2.0, "the square root of four");
        assert!(pairs[0].target == [Symbol::Word(1)] && pairs[0].weight == 1.5);
    }

    #[test]
    fn pages_are_held_out_whole_unless_they_are_large() {
        let held_out = HeldOut { seed: 1, one_in: 4 };
        let sides = |page: u32, urls: usize| {
            let count =
                (0..urls).filter(|url| held_out.is_held_out(page, urls, url.to_string().as_bytes())).count();
            (count, urls - count)
        };
        assert!((0..100).all(|page| matches!(sides(page, 5), (0, 5) | (5, 0))));
        let (out, inside) = sides(7, 1000);
        assert!(out > 0 && inside > 0, "{out} and {inside}");
    }
}
