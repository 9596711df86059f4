/*!
How numbers and texts stand in compiled rules: little endian, without gaps, texts after their length.

Reading never trusts what it reads: whatever lies beyond the end is `None`. Writing refuses what has no room.
*/

use wide::CmpEq as _;

use crate::delimiters::{LANES, lanes_of, low_lanes};
use crate::url::RawValue;

/// The length that stands for no text at all: a parameter without `=`, a value that becomes nothing.
const NOTHING: u16 = u16::MAX;

/// Something of a site is larger than compiled rules have room for.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// Appends to compiled rules.
pub(crate) trait Encode {
    fn put_u8(&mut self, number: u8);
    fn put_u16(&mut self, number: u16);
    fn put_u32(&mut self, number: u32);
    fn put_u64(&mut self, number: u64);

    /// A number that must fit into 16 bits.
    fn put_small(&mut self, number: usize) -> Result<(), TooLarge>;

    /// A text of less than 65,535 bytes, or its absence.
    fn put_text(&mut self, text: RawValue<'_>) -> Result<(), TooLarge>;

    /// Overwrites the number at `at`, for what is known only later.
    fn set_u32(&mut self, at: usize, number: usize) -> Result<(), TooLarge>;
}

impl Encode for Vec<u8> {
    fn put_u8(&mut self, number: u8) {
        self.push(number);
    }

    fn put_u16(&mut self, number: u16) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    fn put_u32(&mut self, number: u32) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    fn put_u64(&mut self, number: u64) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    fn put_small(&mut self, number: usize) -> Result<(), TooLarge> {
        self.put_u16(u16::try_from(number).map_err(|_| TooLarge)?);
        Ok(())
    }

    fn put_text(&mut self, text: RawValue<'_>) -> Result<(), TooLarge> {
        let Some(text) = text else {
            self.put_u16(NOTHING);
            return Ok(());
        };
        let length = u16::try_from(text.len()).ok().filter(|&length| length < NOTHING);
        self.put_u16(length.ok_or(TooLarge)?);
        self.extend_from_slice(text);
        Ok(())
    }

    fn set_u32(&mut self, at: usize, number: usize) -> Result<(), TooLarge> {
        let number = u32::try_from(number).map_err(|_| TooLarge)?;
        let bytes = self.get_mut(at..at + 4).ok_or(TooLarge)?;
        bytes.copy_from_slice(&number.to_le_bytes());
        Ok(())
    }
}

/// The number at an offset of some bytes of fixed length.
#[inline(always)]
pub(crate) fn u16_at<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The number at an offset of some bytes of fixed length.
#[inline(always)]
pub(crate) fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The number at an offset of some bytes of fixed length.
#[inline(always)]
pub(crate) fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// So many bytes from an offset on.
#[inline(always)]
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..at.wrapping_add(N))?.first_chunk()
}

/// Reads on from some offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// With 32 bits, adding to it as a `usize` cannot overflow, which saves a check wherever something is read.
    at: u32,
}

impl<'a> Cursor<'a> {
    /// An offset beyond 4 GiB is one where nothing can be read.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }

    #[inline(always)]
    pub(crate) fn at(bytes: &'a [u8], at: u32) -> Self {
        Self { bytes, at }
    }

    #[inline(always)]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let array = array_at(self.bytes, self.at as usize)?;
        self.at = self.at.wrapping_add(N as u32);
        Some(array)
    }

    #[inline(always)]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|&[byte]| byte)
    }

    #[inline(always)]
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(|bytes| u16::from_le_bytes(*bytes))
    }

    #[inline(always)]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    #[inline(always)]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The next `length` bytes.
    #[inline(always)]
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(self.at as usize..)?.get(..length)?;
        self.at = self.at.wrapping_add(length as u32);
        Some(bytes)
    }

    #[inline(always)]
    pub(crate) fn text(&mut self) -> Option<RawValue<'a>> {
        match self.u16()? {
            NOTHING => Some(None),
            length => self.take(usize::from(length)).map(Some),
        }
    }
}

/// The first eight bytes of a text as a number, so that most texts are compared by comparing numbers. `padded` holds
/// the text from `start` on and whatever comes after it.
#[inline(always)]
pub(crate) fn first_word(padded: &[u8], start: usize, length: usize) -> u64 {
    let word =
        array_at(padded, start).map_or_else(|| last_word(padded, start), |word| u64::from_le_bytes(*word));
    if length >= 8 { word } else { word & !(u64::MAX << (8 * length)) }
}

/// What there is of eight bytes, as a number. Apart, since it is needed only where nothing follows a text.
#[cold]
#[inline(never)]
fn last_word(padded: &[u8], start: usize) -> u64 {
    let mut bytes = [0; 8];
    for (byte, &from) in bytes.iter_mut().zip(padded.get(start..).unwrap_or_default()) {
        *byte = from;
    }
    u64::from_le_bytes(bytes)
}

/// A text that is compared with many others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// What holds it, and eight more bytes at least.
    bytes: &'a [u8],
    start: usize,
    pub(crate) length: usize,
    /// Its [first word](first_word), and which of the eight bytes that are.
    pub(crate) word: u64,
    mask: u64,
}

impl<'a> Text<'a> {
    /// `bytes[start..start + length]`; `None` if too few bytes follow.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], start: usize, length: usize) -> Option<Self> {
        let mask = if length >= 8 { u64::MAX } else { (1 << (8 * length)) - 1 };
        let word = u64::from_le_bytes(*array_at(bytes, start)?) & mask;
        Some(Self { bytes, start, length, word, mask })
    }

    /// Whether it is the text of the same length that starts at an offset, and after which eight bytes or more follow too.
    #[inline(always)]
    pub(crate) fn is_at(&self, bytes: &[u8], at: usize) -> bool {
        let Some(word) = array_at(bytes, at) else { return false };
        (u64::from_le_bytes(*word) ^ self.word) & self.mask == 0
            && (self.length <= 8 || self.rest_is_at(bytes, at))
    }

    /// Whether also what there is beyond the first word is the same.
    #[inline(always)]
    fn rest_is_at(&self, bytes: &[u8], at: usize) -> bool {
        let last = self.length - 8;
        // Words overlap.
        array_at::<8>(bytes, at + last) == array_at(self.bytes, self.start + last)
            && (last <= 8 || is_same_inside(self.bytes, self.start, bytes, at, self.length))
    }
}

/// Whether two texts of one length are the same but for the first and last eight bytes.
#[inline(never)]
fn is_same_inside(one: &[u8], one_at: usize, other: &[u8], other_at: usize, length: usize) -> bool {
    fn inside(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
        bytes.get(at..at.checked_add(length)?)?.get(8..length - 8)
    }
    inside(one, one_at, length) == inside(other, other_at, length)
}

/// Whether two short texts are equal, without a call for most of them. Both start at an offset of some bytes that go on
/// after them.
#[inline(always)]
pub(crate) fn is_same(one: &[u8], one_at: usize, other: &[u8], other_at: usize, length: usize) -> bool {
    let mut at = 0;
    while at < length {
        let (Some(one), Some(other)) = (array_at(one, one_at + at), array_at(other, other_at + at)) else {
            return is_same_end(one, one_at + at, other, other_at + at, length - at);
        };
        let equal = lanes_of(one).cmp_eq(lanes_of(other)).move_mask().cast_unsigned();
        if !equal & low_lanes(length - at) != 0 {
            return false;
        }
        at += LANES;
    }
    true
}

/// Whether two texts are equal that less than sixteen bytes follow.
#[cold]
#[inline(never)]
fn is_same_end(one: &[u8], one_at: usize, other: &[u8], other_at: usize, length: usize) -> bool {
    let one = one.get(one_at..).and_then(|rest| rest.get(..length));
    let other = other.get(other_at..).and_then(|rest| rest.get(..length));
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        bytes.put_u8(7);
        bytes.put_text(Some(b"text")).unwrap();
        bytes.put_text(None).unwrap();
        bytes.put_u64(u64::MAX - 1);
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(cursor.u8(), Some(7));
        assert_eq!(cursor.text(), Some(Some(&b"text"[..])));
        assert_eq!(cursor.text(), Some(None));
        assert_eq!(cursor.u64(), Some(u64::MAX - 1));
        assert_eq!(cursor.u8(), None);
    }

    #[test]
    fn nothing_is_read_beyond_the_end() {
        for bytes in [&[][..], &[5], &[5, 0], &[5, 0, b'a']] {
            assert_eq!(Cursor::new(bytes, 0).text(), None);
            assert_eq!(Cursor::new(bytes, 9).text(), None);
            assert_eq!(Cursor::new(bytes, 0).u32(), None);
        }
    }

    #[test]
    fn texts_without_room_are_refused() {
        assert!(Vec::new().put_text(Some(&[b'x'; 65_534])).is_ok());
        assert!(Vec::new().put_text(Some(&[b'x'; 65_535])).is_err());
    }

    #[test]
    fn words_end_with_the_text() {
        let padded = b"abcdefghijkl";
        assert_eq!(first_word(padded, 0, 3), u64::from_le_bytes(*b"abc\0\0\0\0\0"));
        assert_eq!(first_word(padded, 1, 11), u64::from_le_bytes(*b"bcdefghi"));
        assert_eq!(first_word(padded, 9, 3), u64::from_le_bytes(*b"jkl\0\0\0\0\0"));
        assert_eq!(first_word(padded, 12, 0), 0);
    }
}
