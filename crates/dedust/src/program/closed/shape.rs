/*!
How closed rules lie in memory: what is of one site alone, and the shape that it shares with all sites whose rules are built
alike.

```text
site    offset        of the replaced texts, 4 bytes, if the shape says that there are any
        fingerprints  one byte for each name of a path parameter, of a query parameter, and for each rule: of the value
                      of the tag slot that it asks for
        ends          of the texts: 0, then one number for each, of 1, 2 or 4 bytes
        texts         the names, then all others that rules ask for or write, without gaps

shape   header        36 bytes, see `Shape`
        names         for each name: its first slot, and how many occurrences the rules know
        heads         for each rule: where the rest lies, and masks of what must and may be there
        rules         flags, numbers of checks, index in the site's list, checks by kind, template of the key, template of
                      the URL where that is another
```
Offsets count bytes from the start of the site's part or of the shape. Rules speak of texts by their numbers. So a shape
says nothing of what things are called, and a few shapes, which are always at hand, serve very many sites.
*/

use wide::{CmpEq as _, i8x16};

use super::slots::{FIXED_SLOTS, Span};
pub(super) use crate::delimiters::LANES;
use crate::delimiters::{lanes_of, low_lanes};
use crate::encoding::{Cursor, Text, array_at, u16_at, u32_at};
use crate::program::{END_WIDTH, FLAGS_AT, Texts, fingerprint_of};

pub(crate) const HEADER_BYTES: usize = 36;
/// Of the first slot of a name, and the number of its occurrences.
pub(crate) const NAME_BYTES: usize = 4;
/// The fingerprint of a rule that asks for no value of the tag slot; no value has it.
pub(crate) const ANY_FINGERPRINT: u8 = 0;

/// The header, whose numbers are read where they are needed: there are more of them than a machine can hold at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    header: &'a [u8; HEADER_BYTES],
    pub(super) bytes: &'a [u8],
    pub(super) site: &'a [u8],
}

/// Offsets of numbers in the header, of 16 bits each, or 32 for the last four. The first 32 bits are the length of the
/// shape.
const WORDS: usize = 3;
const SUBDOMAINS: usize = 4;
const SEGMENTS: usize = 5;
const PATH_NAMES: usize = 6;
const QUERY_NAMES: usize = 7;
const RULES: usize = 8;
const TAG_SLOT: usize = 9;
const FINGERPRINTS_AT: usize = 10;
const ENDS_AT: usize = 12;
const TEXTS_AT: usize = 14;
const HEADS_AT: usize = 16;

/// Names of parameters: those of the first are at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    /// Of the shape.
    bytes: &'a [u8],
    texts: Texts<'a>,
    /// The number of the first, and how many they are.
    first: u32,
    count: u32,
    fingerprints_at: u32,
    fingerprints: i8x16,
    /// A bit for each of the first sixteen fingerprints that is one.
    lanes: u32,
}

/// The slots of a name: the first in the low half, how many there are in the high one. One number, so that it is handed back
/// in a register.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameSlots(u32);

/// Which names are meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamesOf {
    Path,
    Query,
}

impl<'a> Shape<'a> {
    #[inline(always)]
    pub(super) fn read(bytes: &'a [u8], site: &'a [u8]) -> Option<Self> {
        let header = bytes.first_chunk()?;
        Some(Self { header, bytes, site })
    }

    #[inline(always)]
    fn small(&self, at: usize) -> u16 {
        u16_at(self.header, 2 * at)
    }

    #[inline(always)]
    fn large(&self, at: usize) -> u32 {
        u32_at(self.header, 2 * at)
    }

    #[inline(always)]
    pub(super) fn flags(&self) -> u8 {
        self.header[FLAGS_AT]
    }

    #[inline(always)]
    pub(super) fn subdomains(&self) -> u16 {
        self.small(SUBDOMAINS)
    }

    #[inline(always)]
    pub(super) fn segments(&self) -> u16 {
        self.small(SEGMENTS)
    }

    #[inline(always)]
    pub(super) fn tag_slot(&self) -> u16 {
        self.small(TAG_SLOT)
    }

    #[inline(always)]
    pub(super) fn rules(&self) -> u32 {
        self.small(RULES).into()
    }

    /// Of 32 bits each, in a mask.
    #[inline(always)]
    pub(super) fn words(&self) -> u32 {
        self.small(WORDS).into()
    }

    #[inline(always)]
    pub(super) fn texts(&self) -> Texts<'a> {
        let (ends, start) = (self.large(ENDS_AT), self.large(TEXTS_AT));
        Texts::new(self.site, ends, start, self.flags() >> END_WIDTH & 3)
    }

    /// What there is of the head of a rule and all after it.
    #[inline(always)]
    pub(super) fn head(&self, rule: u32) -> Cursor<'a> {
        let at = self.large(HEADS_AT).wrapping_add(rule.wrapping_mul(4 + 8 * self.words()));
        Cursor::at(self.bytes, at)
    }

    /// Which of the rules from `from` on ask for this fingerprint or none: a bit for each of [`LANES`].
    #[inline(always)]
    pub(super) fn likely_rules(&self, from: u32, fingerprint: u8) -> Option<u32> {
        let names = u32::from(self.small(PATH_NAMES)) + u32::from(self.small(QUERY_NAMES));
        let fingerprints =
            array_at(self.site, (self.large(FINGERPRINTS_AT).wrapping_add(names + from)) as usize)?;
        let likely = equal_lanes(fingerprints, fingerprint) | equal_lanes(fingerprints, ANY_FINGERPRINT);
        Some(likely & low_lanes((self.rules() - from) as usize))
    }

    /// The names of parameters that rules speak of, to look some of them up.
    #[inline(always)]
    pub(super) fn names(&self, of: NamesOf) -> Option<Names<'a>> {
        let path_names = u32::from(self.small(PATH_NAMES));
        let (first, count) = match of {
            NamesOf::Path => (0, path_names),
            NamesOf::Query => (path_names, u32::from(self.small(QUERY_NAMES))),
        };
        let fingerprints_at = self.large(FINGERPRINTS_AT).wrapping_add(first);
        let fingerprints = lanes_of(array_at(self.site, fingerprints_at as usize)?);
        let lanes = low_lanes(count as usize);
        Some(Names {
            bytes: self.bytes,
            texts: self.texts(),
            first,
            count,
            fingerprints_at,
            fingerprints,
            lanes,
        })
    }

    /// Whether the URL has what the tag slot tells as soon as its path is read.
    #[inline(always)]
    pub(super) fn is_tagged_by_path(&self) -> bool {
        u32::from(self.tag_slot())
            < u32::from(FIXED_SLOTS) + u32::from(self.subdomains()) + u32::from(self.segments())
    }
}

impl Names<'_> {
    /// The slots of a name. Apart from whoever asks, who has no registers left for it.
    #[inline(never)]
    pub(super) fn slots_of(&self, padded: &[u8], name: Span) -> NameSlots {
        let (start, length) = name.extent();
        let Some(name) = Text::new(padded, start, length) else { return NameSlots::NONE };
        let fingerprint = i8x16::splat(fingerprint_of(name.word, name.length).cast_signed());
        let likely = self.fingerprints.cmp_eq(fingerprint).move_mask().cast_unsigned() & self.lanes;
        let number = self.first + likely.trailing_zeros();
        // Mostly no other name has the fingerprint.
        if likely != 0 && self.texts.is_text(number, &name) {
            return self.slots(number);
        }
        if likely & likely.wrapping_sub(1) == 0 && self.count <= LANES as u32 {
            return NameSlots::NONE;
        }
        self.slots_of_rare(padded, start, length)
    }

    /// The slots of any name.
    #[inline(never)]
    fn slots_of_rare(&self, padded: &[u8], start: usize, length: usize) -> NameSlots {
        let Some(name) = Text::new(padded, start, length) else { return NameSlots::NONE };
        let fingerprint = fingerprint_of(name.word, name.length);
        for from in (0..self.count).step_by(LANES) {
            let fingerprints = array_at(self.texts.site, self.fingerprints_at.wrapping_add(from) as usize);
            let lanes = low_lanes((self.count - from) as usize);
            let mut likely =
                fingerprints.map_or(0, |fingerprints| equal_lanes(fingerprints, fingerprint)) & lanes;
            while likely != 0 {
                let number = self.first + from + likely.trailing_zeros();
                if self.texts.is_text(number, &name) {
                    return self.slots(number);
                }
                likely &= likely - 1;
            }
        }
        NameSlots::NONE
    }

    #[inline(always)]
    fn slots(&self, number: u32) -> NameSlots {
        let entry = array_at(self.bytes, HEADER_BYTES + NAME_BYTES * number as usize);
        entry.map_or(NameSlots::NONE, |entry| NameSlots(u32::from_le_bytes(*entry)))
    }
}

impl NameSlots {
    /// Of a name that rules do not speak of: more slots than there are.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// The first, [`NO_SLOT`] if there is none.
    #[inline(always)]
    pub(super) fn first(self) -> u16 {
        self.0 as u16
    }

    /// How many occurrences of it the rules know.
    #[inline(always)]
    pub(super) fn count(self) -> u16 {
        (self.0 >> 16) as u16
    }
}

/// The fingerprint of a value that is none.
pub(crate) const BARE_FINGERPRINT: u8 = 1;

#[inline(always)]
fn equal_lanes(bytes: &[u8; LANES], byte: u8) -> u32 {
    lanes_of(bytes).cmp_eq(i8x16::splat(byte.cast_signed())).move_mask().cast_unsigned()
}
