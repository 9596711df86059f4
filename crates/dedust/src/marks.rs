/*!
Where some bytes stand in a text, found sixteen bytes at a time.
*/

use wide::{CmpEq as _, i8x16};

use crate::url::PADDING;

/// The places of three bytes, from left to right.
pub(crate) struct Marks<'a, const A: u8, const B: u8, const C: u8> {
    padded: &'a [u8],
    end: usize,
    /// Where the bytes start that `found` speaks of.
    at: usize,
    /// A bit for each of [`WINDOW`] bytes that are marks, the first one lowest.
    found: u32,
}

/// Bytes that are compared at once.
pub(crate) const LANES: usize = 16;
const WINDOW: usize = 2 * LANES;
const _: () = assert!(PADDING >= WINDOW, "what is looked at in one step may be read after the end of a text");

/// Sixteen bytes, to be compared at once.
///
/// Not by mapping each of them to a signed number: that is as fast only where the whole program is optimized at once.
#[inline(always)]
pub(crate) fn lanes_of(bytes: &[u8; LANES]) -> i8x16 {
    bytemuck::must_cast(*bytes)
}

/// A bit for each of the first `count` of sixteen bytes.
#[inline(always)]
pub(crate) fn low_lanes(count: usize) -> u32 {
    if count >= LANES { 0xFFFF } else { (1 << count) - 1 }
}

impl<'a, const A: u8, const B: u8, const C: u8> Marks<'a, A, B, C> {
    /// Looks at `padded[start..end]`, after which [`PADDING`] bytes follow.
    #[inline(always)]
    pub(crate) fn new(padded: &'a [u8], start: usize, end: usize) -> Self {
        let mut marks = Self { padded, end, at: start, found: 0 };
        if start < end {
            marks.look();
        }
        marks
    }

    #[inline(always)]
    fn look(&mut self) {
        let is_mark = |lanes: [u8; LANES]| {
            let bytes = lanes_of(&lanes);
            let is = |byte: u8| bytes.cmp_eq(i8x16::splat(byte.cast_signed()));
            let marks = if C == A { is(A) | is(B) } else { is(A) | is(B) | is(C) };
            marks.move_mask().cast_unsigned()
        };
        let Some(bytes) = self.padded.get(self.at..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
            return;
        };
        let (low, high) = bytes.split_at(LANES);
        let lanes = |half: &[u8]| half.first_chunk().copied().unwrap_or_default();
        let found = is_mark(lanes(low)) | is_mark(lanes(high)) << LANES;
        let left = self.end - self.at;
        self.found = if left >= WINDOW { found } else { found & !(u32::MAX << left) };
    }
}

impl<const A: u8, const B: u8, const C: u8> Iterator for Marks<'_, A, B, C> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.at += WINDOW;
            if self.at >= self.end {
                return None;
            }
            self.look();
        }
        let mark = self.at + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        let mut text = vec![b'a'; 150];
        for at in [0, 1, 15, 16, 31, 32, 33, 64, 99, 100, 149] {
            text[at] = [b'&', b'=', b';'][at % 3];
        }
        let mut padded = text.clone();
        padded.resize(150 + PADDING, b'&');
        for start in 0..150 {
            for end in start..=150 {
                let expected: Vec<usize> = (start..end).filter(|&at| text[at] != b'a').collect();
                let found: Vec<usize> = Marks::<b'&', b'=', b';'>::new(&padded, start, end).collect();
                assert_eq!(found, expected, "{start} to {end}");
            }
        }
    }
}
