/*!
Which values of a URL trigger rules? Those of the path and of query parameters are looked up by a fingerprint of one byte, sixteen at once;
many are first divided into buckets.
*/

use wide::{CmpEq as _, i8x16};

use super::edited_url::Piece;
use super::{
    BARE, NO_ID, PATH_NAMES_AT, QUERY_NAMES_AT, RuleMask, RuleProgram, VALUE_BYTES, VALUE_TABLE_AT,
    VALUES_AT, early_bits,
};
use crate::delimiters::{LANES, lanes_of, low_lanes};
use crate::encoding::{array_at, first_word, u16_at, u32_at, u64_at};

/// Whose values are looked up: those of the path, or those of a query parameter, whose number is added.
pub(super) const OF_PATH: u16 = 0;
pub(super) const OF_QUERY: u16 = 1;

/// The values that rules wait for, known by fingerprints of one byte. Where there are many, those in whose bucket a value belongs are
/// compared.
#[derive(Clone, Copy)]
pub(super) struct Values<'p> {
    program: &'p RuleProgram<'p>,
    fingerprints_at: usize,
    count: usize,
    /// The first sixteen fingerprints, and a bit for each that is one, if there are no buckets.
    first: i8x16,
    lanes: u32,
}

impl Values<'_> {
    /// The rules that wait for a value with a hash.
    #[inline(always)]
    pub(super) fn triggered(&self, hash: ValueHash, of: u16, value: (&[u8], usize, usize)) -> RuleMask {
        if self.count > LANES {
            return self.triggered_of_many(hash, of, value);
        }
        let fingerprint = i8x16::splat(hash.fingerprint().cast_signed());
        let likely = self.first.cmp_eq(fingerprint).move_mask().cast_unsigned() & self.lanes;
        if likely == 0 { 0 } else { self.program.triggered_by_likely(0, likely, of, value) }
    }

    /// The rules that wait for a value with a hash, which is compared with those in its bucket.
    #[inline]
    fn triggered_of_many(&self, hash: ValueHash, of: u16, value: (&[u8], usize, usize)) -> RuleMask {
        let starts_at = self.fingerprints_at + self.count;
        let bucket = hash.bucket(bucket_count(self.count));
        let Some(bounds) = array_at::<4>(self.program.site, starts_at + 2 * bucket) else { return 0 };
        let (mut from, end) = (usize::from(u16_at(bounds, 0)), usize::from(u16_at(bounds, 2)));
        let fingerprint = i8x16::splat(hash.fingerprint().cast_signed());
        let mut rules = 0;
        while from < end {
            let Some(fingerprints) = array_at::<LANES>(self.program.site, self.fingerprints_at + from) else {
                break;
            };
            let is_it = lanes_of(fingerprints).cmp_eq(fingerprint).move_mask().cast_unsigned();
            let likely = is_it & low_lanes(end - from);
            if likely != 0 {
                rules |= self.program.triggered_by_likely(from, likely, of, value);
            }
            from += LANES;
        }
        rules
    }
}

/// A power of two for so many values, which are some eight in each bucket.
fn bucket_count(values: usize) -> usize {
    (values / (LANES / 2)).next_power_of_two()
}

/// Puts many values into the order of their buckets, and says where each bucket starts and the last one ends.
pub(super) fn sort_into_buckets<T>(values: &mut [T], hash: impl Fn(&T) -> ValueHash) -> Vec<u16> {
    let buckets = bucket_count(values.len());
    let bucket = |value: &T| hash(value).bucket(buckets);
    values.sort_by_key(bucket);
    (0..=buckets).map(|at| values.partition_point(|value| bucket(value) < at) as u16).collect()
}

impl RuleProgram<'_> {
    /// The rules that wait for a value, of a length that is [`BARE`] if it is none.
    #[inline(always)]
    pub(super) fn triggered_by_value(&self, of: u16, value: (&[u8], usize, usize)) -> RuleMask {
        let (padded, start, length) = value;
        self.values().triggered(ValueHash::new(of, padded, start, length), of, value)
    }

    /// The values that rules wait for.
    #[inline(always)]
    pub(super) fn values(&self) -> Values<'_> {
        let names =
            usize::from(u16_at(self.head, QUERY_NAMES_AT)) + usize::from(u16_at(self.head, PATH_NAMES_AT));
        let count = usize::from(u16_at(self.head, VALUES_AT));
        let first = array_at(self.site, names).map_or(i8x16::splat(0), lanes_of);
        Values { program: self, fingerprints_at: names, count, first, lanes: low_lanes(count) }
    }

    /// The rules that wait for the value of a query parameter. The number of its name is given, and what is done early to it.
    #[inline(always)]
    pub(super) fn triggered_by_param(&self, (id, early): (u16, u8), padded: &[u8], value: Piece) -> RuleMask {
        if early & early_bits::HAS_VALUES == 0 || id == NO_ID {
            return 0;
        }
        let length = if value.is_bare() { BARE } else { value.len() };
        self.triggered_by_value(OF_QUERY + id, (padded, value.start as usize, length))
    }

    /// The rules that wait for a value that may be one of some.
    #[inline(never)]
    fn triggered_by_likely(
        &self,
        from: usize,
        likely: u32,
        of: u16,
        value: (&[u8], usize, usize),
    ) -> RuleMask {
        let (mut rules, mut likely) = (0, likely);
        while likely != 0 {
            let number = from + likely.trailing_zeros() as usize;
            let at = u32_at(self.head, VALUE_TABLE_AT) as usize + VALUE_BYTES * number;
            let Some(entry) = array_at::<VALUE_BYTES>(self.shape, at) else { return rules };
            if u16_at(entry, 12) == of && self.is_text(u32_at(entry, 8), value) {
                rules |= u64_at(entry, 0);
            }
            likely &= likely - 1;
        }
        rules
    }
}

/// A number for a value and for whose it is; different values mostly have different ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueHash(u64);

impl ValueHash {
    #[inline(always)]
    pub(super) fn new(of: u16, padded: &[u8], start: usize, length: usize) -> Self {
        let mut word = 0;
        if length != BARE {
            word = first_word(padded, start, length);
            if length > 8 {
                let last =
                    array_at::<8>(padded, start + length - 8).map_or(0, |bytes| u64::from_le_bytes(*bytes));
                word ^= last.rotate_left(29);
            }
        }
        let mixed = word ^ (length as u64).rotate_left(24) ^ u64::from(of).rotate_left(40);
        Self(mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline(always)]
    pub(super) fn fingerprint(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// Which of some buckets, a power of two.
    #[inline(always)]
    fn bucket(self, buckets: usize) -> usize {
        (self.0 >> 40) as usize & (buckets - 1)
    }
}
