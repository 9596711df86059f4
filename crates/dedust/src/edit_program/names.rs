/*!
Which names do edits speak of, and what is known of each? Names are looked up by a print of one byte, sixteen at once.
*/

use foldhash::HashMap;
use wide::{CmpEq as _, i8x16};

use super::{NAME_BYTES, NO_ID};
use crate::encoding::{Encode as _, Text, TooLarge, array_at, first_word, is_same, u32_at};
use crate::marks::{LANES, lanes_of, low_lanes};
use crate::program::TextBuilder;
use crate::program::{Texts, print_of};

/// Names whose prints are at hand.
const NEAR_NAMES: u32 = 2 * LANES as u32;

/// A name that edits speak of, or any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) id: u16,
    /// Those that wait for it.
    pub(super) edits: u32,
    /// Of [`early_bits`](super::early_bits).
    pub(super) early: u8,
}

/// The names of query parameters, or of path parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    site: &'a [u8],
    shape: &'a [u8],
    texts: Texts<'a>,
    /// Where the entries of all names lie in the shape.
    entries: usize,
    /// The number of the first, which is that of its print, its text and its entry, and how many they are.
    first: u32,
    count: u32,
    /// The prints of the first [`NEAR_NAMES`], and a bit for each that is one.
    prints: [i8x16; 2],
    lanes: u32,
}

impl<'a> Names<'a> {
    #[inline(always)]
    pub(super) fn new(
        site: &'a [u8],
        shape: &'a [u8],
        texts: Texts<'a>,
        entries: usize,
        first: u32,
        count: u32,
    ) -> Self {
        let prints = [prints_at(site, first as usize), prints_at(site, first as usize + LANES)];
        let lanes = if count >= NEAR_NAMES { u32::MAX } else { (1 << count) - 1 };
        Self { site, shape, texts, entries, first, count, prints, lanes }
    }

    /// The name of a parameter; `word` is its [first word](first_word).
    #[inline(always)]
    pub(super) fn find(&self, word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        let print = i8x16::splat(print_of(word, length).cast_signed());
        let is_it = |prints: i8x16| prints.cmp_eq(print).move_mask().cast_unsigned();
        let mut likely = is_it(self.prints[0]);
        if self.count > LANES as u32 {
            likely |= is_it(self.prints[1]) << LANES;
        }
        likely &= self.lanes;
        if likely == 0 && self.count <= NEAR_NAMES {
            return UNKNOWN;
        }
        self.find_likely(likely, word, padded, start, length)
    }

    #[inline(never)]
    fn find_likely(&self, mut likely: u32, word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        let name = Text::new(padded, start, length);
        let is_it = |at: usize| match &name {
            Some(name) => name.is_at(self.site, at),
            // Little follows it.
            None => is_same(self.site, at, padded, start, length),
        };
        let (mut from, mut next) = (0, NEAR_NAMES);
        loop {
            while likely != 0 {
                let id = from + likely.trailing_zeros();
                let (at, text_length) = self.texts.any_extent(self.first + id);
                if text_length == length && is_it(at) {
                    return self.name(id);
                }
                likely &= likely - 1;
            }
            if next >= self.count {
                return UNKNOWN;
            }
            (from, next) = (next, next + LANES as u32);
            let prints = prints_at(self.site, (self.first + from) as usize);
            let print = i8x16::splat(print_of(word, length).cast_signed());
            likely =
                prints.cmp_eq(print).move_mask().cast_unsigned() & low_lanes((self.count - from) as usize);
        }
    }

    /// The name with a number.
    #[inline(always)]
    pub(super) fn name(&self, id: u32) -> Name {
        match array_at::<NAME_BYTES>(self.shape, self.entries + NAME_BYTES * (self.first + id) as usize) {
            Some(entry) => Name { id: id as u16, edits: u32_at(entry, 0), early: entry[4] },
            None => UNKNOWN,
        }
    }
}

#[inline(always)]
fn prints_at(site: &[u8], at: usize) -> i8x16 {
    array_at(site, at).map_or(i8x16::splat(0), lanes_of)
}

const UNKNOWN: Name = Name { id: NO_ID, edits: 0, early: 0 };

/// Names that were given numbers, in the order in which edits speak of them.
#[derive(Default)]
pub(super) struct NamesBuilder<'n> {
    names: Vec<KnownName<'n>>,
    id_by_name: HashMap<&'n str, u16>,
}

struct KnownName<'n> {
    text: &'n str,
    /// The edits that wait for it.
    edits: u32,
    /// What is done early to parameters of that name.
    early: u8,
}

impl<'n> NamesBuilder<'n> {
    pub(super) fn new(names: impl Iterator<Item = &'n str>) -> Result<Self, TooLarge> {
        let mut all = Self::default();
        for text in names {
            let next = u16::try_from(all.names.len()).ok().filter(|&id| id < NO_ID).ok_or(TooLarge)?;
            if *all.id_by_name.entry(text).or_insert(next) == next {
                all.names.push(KnownName { text, edits: 0, early: 0 });
            }
        }
        Ok(all)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn add(&mut self, name: &str, bit: u32) {
        let id = self.id(name);
        if let Some(known) = self.names.get_mut(usize::from(id)) {
            known.edits |= 1 << bit;
        }
    }

    pub(super) fn add_early(&mut self, name: &str, early: u8) {
        let id = self.id(name);
        if let Some(known) = self.names.get_mut(usize::from(id)) {
            known.early |= early;
        }
    }

    pub(super) fn id(&self, name: &str) -> u16 {
        self.id_by_name.get(name).copied().unwrap_or(NO_ID)
    }

    /// Gives the names the next numbers of texts, and appends their prints.
    pub(super) fn put_texts(&self, texts: &mut TextBuilder, prints: &mut Vec<u8>) -> Result<(), TooLarge> {
        for KnownName { text, .. } in &self.names {
            texts.push(text.as_bytes())?;
            prints.push(print_of(first_word(text.as_bytes(), 0, text.len()), text.len()));
        }
        Ok(())
    }

    /// Appends what is known of each name.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        for KnownName { edits, early, .. } in &self.names {
            out.put_u32(*edits);
            out.put_u32(u32::from(*early));
        }
    }
}
