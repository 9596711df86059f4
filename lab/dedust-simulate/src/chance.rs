/*!
Chance that repeats: hashes, bijections and an order of rows, all from a seed and integer arithmetic alone.

The same seed gives the same numbers on every platform. None of this is meant to be unpredictable.
*/

/// The finalizer of splitmix64, a bijection of 64 bits.
#[inline]
pub(super) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// A hash of two numbers, injective in each of them while the other stays.
#[inline]
pub(super) fn mix_two(first: u64, second: u64) -> u64 {
    mix(mix(first.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ second)
}

/// Splitmix64: a sequence of numbers from a seed.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    state: u64,
}

impl Sequence {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    pub(super) fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Brings `items` into a random order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.draw() % (last as u64 + 1);
            items.swap(last, other as usize);
        }
    }
}

/// A bijection of the numbers below `1 << bits`, for up to 32 bits.
#[inline]
pub(super) fn scatter(number: u64, bits: u32, salt: u64) -> u64 {
    let mask = (1 << bits) - 1;
    let half = bits.div_ceil(2);
    let mut number = (number ^ salt) & mask;
    for odd in [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D] {
        number = number.wrapping_mul(odd) & mask;
        number ^= number >> half;
    }
    number
}

/// An order of the numbers below some length: each comes once, neighbours end up far apart.
///
/// [`scatter`] on the next power of two, applied until the result is in range. It needs no memory, so any part of the
/// order can be had alone.
#[derive(Clone, Debug)]
pub(super) struct Order {
    len: u64,
    bits: u32,
    salt: u64,
}

impl Order {
    pub(super) fn new(len: u64, salt: u64) -> Self {
        Self { len, bits: (u64::BITS - len.saturating_sub(1).leading_zeros()).max(1), salt }
    }

    /// The number at `position`, which is below the length.
    #[inline]
    pub(super) fn at(&self, position: u64) -> u64 {
        let mut number = scatter(position, self.bits, self.salt);
        while number >= self.len {
            number = scatter(number, self.bits, self.salt);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for len in [1, 2, 3, 5, 64, 65, 1000, 4096, 10_007] {
            let order = Order::new(len, 7);
            let mut seen = vec![false; len as usize];
            for position in 0..len {
                let number = order.at(position) as usize;
                assert!(!std::mem::replace(&mut seen[number], true), "{number} of {len} came twice");
            }
        }
    }

    #[test]
    fn neighbours_end_up_apart() {
        let order = Order::new(100_000, 3);
        let close = (1..100_000).filter(|&at| order.at(at).abs_diff(order.at(at - 1)) < 10).count();
        assert!(close < 100, "{close} neighbours stayed close");
    }
}
