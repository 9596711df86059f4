/*!
Which values of a URL trigger edits? Those of the path and of query parameters are looked up by a print of one byte, sixteen at once.
*/

use wide::{CmpEq as _, i8x16};

use super::edited_url::Piece;
use super::{
    BARE, EditProgram, NO_ID, PATH_NAMES_AT, QUERY_NAMES_AT, VALUE_BYTES, VALUE_TABLE_AT, VALUES_AT,
    early_bits,
};
use crate::encoding::{array_at, first_word, u16_at, u32_at};
use crate::marks::{LANES, lanes_of, low_lanes};

/// Whose values are looked up: those of the path, or those of a query parameter, whose number is added.
pub(super) const OF_PATH: u16 = 0;
pub(super) const OF_QUERY: u16 = 1;
/// The values that edits wait for, known by prints of one byte.

#[derive(Clone, Copy)]
pub(super) struct Values<'p> {
    program: &'p EditProgram<'p>,
    prints_at: usize,
    count: usize,
    /// The first sixteen prints, and a bit for each that is one.
    first: i8x16,
    lanes: u32,
}

impl Values<'_> {
    /// The edits that wait for a value with a print.
    #[inline(always)]
    pub(super) fn triggered(&self, print: u8, of: u16, value: (&[u8], usize, usize)) -> u32 {
        let lanes = i8x16::splat(print.cast_signed());
        let likely = self.first.cmp_eq(lanes).move_mask().cast_unsigned() & self.lanes;
        let mut edits = if likely == 0 { 0 } else { self.program.triggered_by_likely(0, likely, of, value) };
        let mut from = LANES;
        while from < self.count {
            let Some(prints) = array_at::<LANES>(self.program.site, self.prints_at + from) else { break };
            let is_it = lanes_of(prints).cmp_eq(lanes).move_mask().cast_unsigned();
            let likely = is_it & low_lanes(self.count - from);
            if likely != 0 {
                edits |= self.program.triggered_by_likely(from, likely, of, value);
            }
            from += LANES;
        }
        edits
    }
}

impl EditProgram<'_> {
    /// The edits that wait for a value, of a length that is [`BARE`] if it is none.
    #[inline(always)]
    pub(super) fn triggered_by_value(&self, of: u16, value: (&[u8], usize, usize)) -> u32 {
        let (padded, start, length) = value;
        self.values().triggered(value_print(of, padded, start, length), of, value)
    }

    /// The values that edits wait for.
    #[inline(always)]
    pub(super) fn values(&self) -> Values<'_> {
        let names =
            usize::from(u16_at(self.head, QUERY_NAMES_AT)) + usize::from(u16_at(self.head, PATH_NAMES_AT));
        let count = usize::from(u16_at(self.head, VALUES_AT));
        let first = array_at(self.site, names).map_or(i8x16::splat(0), lanes_of);
        Values { program: self, prints_at: names, count, first, lanes: low_lanes(count) }
    }

    /// The edits that wait for the value of a query parameter. The number of its name is given, and what is done early to it.
    #[inline(always)]
    pub(super) fn triggered_by_param(&self, (id, early): (u16, u8), padded: &[u8], value: Piece) -> u32 {
        if early & early_bits::HAS_VALUES == 0 || id == NO_ID {
            return 0;
        }
        let length = if value.is_bare() { BARE } else { value.len() };
        self.triggered_by_value(OF_QUERY + id, (padded, value.start as usize, length))
    }

    /// The edits that wait for a value that may be one of some.
    #[inline(never)]
    fn triggered_by_likely(&self, from: usize, likely: u32, of: u16, value: (&[u8], usize, usize)) -> u32 {
        let (mut edits, mut likely) = (0, likely);
        while likely != 0 {
            let number = from + likely.trailing_zeros() as usize;
            let at = u32_at(self.head, VALUE_TABLE_AT) as usize + VALUE_BYTES * number;
            let Some(entry) = array_at::<VALUE_BYTES>(self.shape, at) else { return edits };
            if u16_at(entry, 8) == of && self.is_text(u32_at(entry, 4), value) {
                edits |= u32_at(entry, 0);
            }
            likely &= likely - 1;
        }
        edits
    }
}

/// A number for a value; different values mostly have different ones.
#[inline(always)]
pub(super) fn value_print(of: u16, padded: &[u8], start: usize, length: usize) -> u8 {
    let word = if length == BARE { 0 } else { first_word(padded, start, length) };
    let mixed = word ^ (length as u64).rotate_left(24) ^ u64::from(of).rotate_left(40);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}
