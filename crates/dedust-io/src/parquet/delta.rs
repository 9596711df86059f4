/*!
How many values a page in a delta encoding says it has.

Texts in these encodings come behind a list of their lengths, `DELTA_BYTE_ARRAY` has a list of shared beginnings before that,
and the `parquet` crate allocates what the head of a list declares. A page comes in, the largest number that a list of it
declares goes out. Lists are passed over and not decoded.
*/

use ::parquet::basic::Encoding;
use ::parquet::column::page::Page;

/// Highest levels of a column, which say whether its pages hold levels at all.
#[derive(Clone, Copy)]
pub(super) struct MaxLevels {
    pub(super) repetition: i16,
    pub(super) definition: i16,
}

/// The longest list that `page` declares. `None`: the page is damaged.
pub(super) fn declared_values(page: &Page, levels: MaxLevels) -> Option<u64> {
    let list_count = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Some(0),
    };
    let mut rest = values_of(page, levels)?;
    let mut longest = 0;
    for _ in 0..list_count {
        // A page without values may be empty.
        if page.num_values() == 0 || rest.is_empty() {
            break;
        }
        let list = List::read(&mut rest)?;
        longest = longest.max(list.count);
        if list.count > u64::from(page.num_values()) {
            break;
        }
        rest = list.skip(rest)?;
    }
    Some(longest)
}

/// What stands behind the levels of a page.
fn values_of(page: &Page, levels: MaxLevels) -> Option<&[u8]> {
    match page {
        Page::DataPageV2 { buf, rep_levels_byte_len, def_levels_byte_len, .. } => {
            let start = rep_levels_byte_len.checked_add(*def_levels_byte_len)?;
            buf.get(usize::try_from(start).ok()?..)
        }
        Page::DataPage { buf, .. } => {
            let mut rest = &buf[..];
            for _ in [levels.repetition, levels.definition].into_iter().filter(|level| *level > 0) {
                let (len, behind) = rest.split_first_chunk::<4>()?;
                rest = behind.get(usize::try_from(u32::from_le_bytes(*len)).ok()?..)?;
            }
            Some(rest)
        }
        Page::DictionaryPage { .. } => None,
    }
}

/// The head of a list of numbers, as differences in blocks.
struct List {
    /// Miniblocks of a block.
    miniblocks: usize,
    /// Numbers of a miniblock.
    miniblock_len: u64,
    /// Numbers of the list.
    count: u64,
}

impl List {
    fn read(rest: &mut &[u8]) -> Option<Self> {
        let (block_len, miniblocks, count) = (number(rest)?, number(rest)?, number(rest)?);
        let _first = number(rest)?;
        let miniblock_len = block_len.checked_div(miniblocks).filter(|len| *len > 0)?;
        Some(Self { miniblocks: usize::try_from(miniblocks).ok()?, miniblock_len, count })
    }

    /// What stands behind the blocks that `rest` starts with.
    fn skip<'a>(&self, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        // The first number is in the head.
        let mut left = self.count.saturating_sub(1);
        while left > 0 {
            let _least_difference = number(&mut rest)?;
            let (bit_widths, behind) = rest.split_at_checked(self.miniblocks)?;
            rest = behind;
            for bits in bit_widths {
                if left == 0 {
                    break;
                }
                let bytes = u64::from(*bits).checked_mul(self.miniblock_len)? / 8;
                rest = rest.get(usize::try_from(bytes).ok()?..)?;
                left = left.saturating_sub(self.miniblock_len);
            }
        }
        Some(rest)
    }
}

/// Takes a number of seven bits a byte.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(encoding: Encoding, buf: &[u8]) -> Page {
        Page::DataPage {
            buf: buf.to_vec().into(),
            num_values: 5,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    /// A list of five equal numbers: blocks of 128 in 4 miniblocks, of which all are of no bits.
    const FIVE: &[u8] = b"\x80\x01\x04\x05\x02\x00\x00\x00\x00\x00";
    /// One of 2^35 numbers.
    const MANY: &[u8] = b"\x80\x01\x04\x80\x80\x80\x80\x80\x01\x02\x00\x00\x00\x00\x00";

    fn declared(encoding: Encoding, parts: &[&[u8]], definition: i16) -> Option<u64> {
        declared_values(&page(encoding, &parts.concat()), MaxLevels { repetition: 0, definition })
    }

    #[test]
    fn every_list_is_counted() {
        use Encoding::{DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, PLAIN};
        assert_eq!(declared(DELTA_LENGTH_BYTE_ARRAY, &[FIVE, b"texts"], 0), Some(5));
        assert_eq!(declared(DELTA_LENGTH_BYTE_ARRAY, &[MANY, b"texts"], 0), Some(1 << 35));
        assert_eq!(declared(DELTA_BYTE_ARRAY, &[FIVE, FIVE, b"texts"], 0), Some(5));
        assert_eq!(declared(DELTA_BYTE_ARRAY, &[MANY, FIVE, b"texts"], 0), Some(1 << 35));
        assert_eq!(declared(DELTA_BYTE_ARRAY, &[FIVE, MANY, b"texts"], 0), Some(1 << 35));
        assert_eq!(declared(DELTA_BYTE_ARRAY, &[b"\x02\0\0\0\x0a\x01", FIVE, MANY], 1), Some(1 << 35));
        assert_eq!(declared(PLAIN, &[MANY], 0), Some(0));
    }

    #[test]
    fn damaged_lists_are_told() {
        for damaged in [&b"\x80"[..], b"\x80\x01\x00\x05\x02", &FIVE[..5], &[0xff; 20]] {
            assert_eq!(declared(Encoding::DELTA_BYTE_ARRAY, &[damaged], 0), None, "{damaged:?}");
        }
        assert_eq!(declared(Encoding::DELTA_BYTE_ARRAY, &[b"\xff\xff\xff\xff"], 1), None);
    }
}
