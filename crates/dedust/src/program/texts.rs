/*!
The texts of a site, by number: rules speak of texts by their numbers, so that sites whose rules are built alike share all but the
texts.
*/

use crate::encoding::array_at;

/// The texts of a site, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts<'a> {
    pub(crate) site: &'a [u8],
    ends: u32,
    start: u32,
    width: u32,
}

impl<'a> Texts<'a> {
    /// Where ends and texts lie, and how many bytes an end takes, as a power of two.
    #[inline(always)]
    pub(crate) fn new(site: &'a [u8], ends: u32, start: u32, width: u8) -> Self {
        Self { site, ends, start, width: u32::from(width).min(2) }
    }

    /// Where a text starts in the bytes of the site, and how long it is.
    #[inline(always)]
    pub(crate) fn extent(&self, number: u32) -> (usize, usize) {
        if self.width == 0
            && let Some(&[start, end]) = array_at(self.site, self.ends.wrapping_add(number) as usize)
        {
            return (self.start.wrapping_add(start.into()) as usize, end.saturating_sub(start).into());
        }
        let (start, length) = wide_extent(self.site, self.ends, number, self.width);
        (self.start.wrapping_add(start) as usize, length as usize)
    }

    /// Like [`Texts::extent`], for sites whose ends often take more than one byte.
    #[inline(always)]
    pub(crate) fn any_extent(&self, number: u32) -> (usize, usize) {
        let at = self.ends.wrapping_add(number << self.width);
        let ends = array_at(self.site, at as usize).map_or(0, |ends| u64::from_le_bytes(*ends));
        let bits = 8 << self.width;
        let mask = (1u64 << bits) - 1;
        let (start, end) = (ends & mask, ends >> bits & mask);
        (self.start as usize + start as usize, end.saturating_sub(start) as usize)
    }

    #[inline(always)]
    pub(crate) fn get(&self, number: u32) -> Option<&'a [u8]> {
        let (start, length) = self.extent(number);
        self.site.get(start..)?.get(..length)
    }
}

/// Where a text of a site starts, all of whose texts together are longer than one byte can tell, and how long it is.
#[inline(never)]
fn wide_extent(site: &[u8], ends: u32, number: u32, width: u32) -> (u32, u32) {
    let at = ends.wrapping_add(number << width);
    // Both ends at once.
    let ends = array_at(site, at as usize).map_or(0, |ends| u64::from_le_bytes(*ends));
    let bits = 8 << width;
    let mask = u32::MAX >> (32 - bits);
    let (start, end) = (ends as u32 & mask, (ends >> bits) as u32 & mask);
    (start, end.saturating_sub(start))
}

/// A number for a text, never [`ANY_FINGERPRINT`]; different texts mostly have different ones. `word` is its
/// [first](crate::encoding::first_word).
#[inline(always)]
pub(crate) fn fingerprint_of(word: u64, length: usize) -> u8 {
    ((word ^ length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56).max(1) as u8
}
