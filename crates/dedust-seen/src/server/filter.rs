/*!
Keys that this process has heard to be seen, so that it need not ask for them again. Bounded: a new key takes the place of an old one.

The keys themselves are compared, not parts of them: a filter that is wrong once in a million keys would hide a page in a million.
*/

/// Keys that can be in the place of a key.
const WAYS: usize = 4;

/// A table of keys.
pub(super) struct Filter {
    /// A power of two.
    buckets: Vec<[u128; WAYS]>,
}

impl Filter {
    /// Remembers at most so many keys, or up to twice as many.
    pub(super) fn new(keys: usize) -> Self {
        Self { buckets: vec![[0; WAYS]; keys.div_ceil(WAYS).next_power_of_two()] }
    }

    /// Whether the key is remembered. No key is 0 but one in 2^128, which is always asked for.
    pub(super) fn contains(&self, key: u128) -> bool {
        key != 0 && self.buckets[self.bucket(key)].contains(&key)
    }

    /// Remembers a key, in the place of the one of its bucket that came first.
    pub(super) fn insert(&mut self, key: u128) {
        let bucket = self.bucket(key);
        let bucket = &mut self.buckets[bucket];
        bucket.rotate_right(1);
        bucket[0] = key;
    }

    /// Forgets all keys.
    pub(super) fn clear(&mut self) {
        self.buckets.fill([0; WAYS]);
    }

    fn bucket(&self, key: u128) -> usize {
        key as usize & (self.buckets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_what_came_last_and_nothing_else() {
        let mut filter = Filter::new(8);
        assert_eq!(filter.buckets.len(), 2);
        for key in 1..=100_u128 {
            assert!(!filter.contains(key));
            filter.insert(key);
            assert!(filter.contains(key));
        }
        let kept: Vec<u128> = (1..=100).filter(|&key| filter.contains(key)).collect();
        assert_eq!(kept, Vec::from_iter(93..=100));
        assert!(!filter.contains(0) && !filter.contains((1 << 64) + 100));
        filter.clear();
        assert!(!filter.contains(100));
    }
}
