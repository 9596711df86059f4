/*!
Chance that is the same on every machine: the n-th number of a seed is a hash of both.
*/

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A sequence of numbers that look random.
#[derive(Clone, Debug)]
pub struct Chance {
    seed: u64,
    count: u64,
}

impl Chance {
    /// The sequence of a seed, different for every name.
    pub fn new(seed: u64, name: &str) -> Self {
        Self { seed: xxh3_64_with_seed(name.as_bytes(), seed), count: 0 }
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.count += 1;
        xxh3_64_with_seed(&self.count.to_le_bytes(), self.seed)
    }

    /// The next number from 0 (included) to 1 (excluded).
    pub fn share(&mut self) -> f32 {
        (self.number() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Puts `items` in another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.number() % (last as u64 + 1);
            items.swap(last, other as usize);
        }
    }
}
