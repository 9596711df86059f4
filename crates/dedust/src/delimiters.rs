/*!
Where some bytes stand in a text, found sixteen bytes at a time.
*/

use memchr::memchr;
use wide::{CmpEq as _, i8x16};

/// Bytes after a URL that may be read with it.
pub(crate) const PADDING: usize = 64;

/// Bytes that are compared at once.
pub(crate) const LANES: usize = 16;

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

/// A bit for each of the sixteen bytes from `start` on that are this one.
#[inline(always)]
pub(crate) fn positions_of(byte: u8, padded: &[u8], start: usize) -> Option<u32> {
    let lanes = lanes_of(padded.get(start..)?.first_chunk()?);
    Some(lanes.cmp_eq(i8x16::splat(byte.cast_signed())).move_mask().cast_unsigned())
}

/// Bytes of a short text: those whose delimiters are found at once, one bit of a word for each.
pub(crate) const SHORT: usize = u64::BITS as usize;
const _: () = assert!(PADDING >= SHORT, "a short text may be read as if it had all these bytes");

/// As many bits, less than [`SHORT`].
#[inline(always)]
pub(crate) fn low_bits(count: u32) -> u64 {
    (1 << (count % u64::BITS)) - 1
}

/// Where some bytes stand among the `length` bytes from `start` on, less than [`SHORT`], and perhaps among those after
/// them: a word for each, the first byte lowest.
#[inline(always)]
pub(crate) fn short_delimiters<const N: usize>(
    padded: &[u8],
    start: usize,
    length: usize,
    delimiters: [u8; N],
) -> Option<[u64; N]> {
    let window = padded.get(start..)?.first_chunk::<SHORT>()?;
    let (first, second) = window.split_at(SHORT / 2);
    let mut found = [0; N];
    add_delimiters(first, 0, delimiters, &mut found);
    // Most are shorter than this.
    if length > SHORT / 2 {
        add_delimiters(second, SHORT / 2, delimiters, &mut found);
    }
    Some(found)
}

/// Whether there is a `;` in `padded[start..end]`, after which [`PADDING`] bytes follow.
#[inline(always)]
pub(crate) fn has_semicolon(padded: &[u8], start: usize, end: usize) -> bool {
    let length = end - start;
    match short_delimiters(padded, start, length, [b';']) {
        Some([semicolons]) if length < SHORT => semicolons & low_bits(length as u32) != 0,
        _ => memchr(b';', &padded[start..end]).is_some(),
    }
}

#[inline(always)]
fn add_delimiters<const N: usize>(window: &[u8], at: usize, delimiters: [u8; N], found: &mut [u64; N]) {
    for (index, lanes) in window.as_chunks::<LANES>().0.iter().enumerate() {
        let lanes = lanes_of(lanes);
        for (found, delimiter) in found.iter_mut().zip(delimiters) {
            let is_it = lanes.cmp_eq(i8x16::splat(delimiter.cast_signed())).move_mask().cast_unsigned();
            *found |= u64::from(is_it) << (at + index * LANES);
        }
    }
}
