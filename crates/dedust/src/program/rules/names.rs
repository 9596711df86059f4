/*!
Which names do rules speak of, and what is known of each? Names are looked up by a fingerprint of one byte, sixteen at once.
*/

use foldhash::HashMap;
use wide::{CmpEq as _, i8x16};

use super::{NAME_BYTES, NO_ID, RuleMask, RuleProgram};
use crate::delimiters::{LANES, lanes_of, low_lanes};
use crate::encoding::{Encode as _, Text, TooLarge, array_at, first_word, is_same, u64_at};
use crate::program::{TextBuilder, fingerprint_of};

/// Names whose fingerprints are held in registers.
const REGISTER_NAMES: u32 = 2 * LANES as u32;

/// A name that rules speak of, or any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) id: u16,
    /// Those that wait for it.
    pub(super) rules: RuleMask,
    /// Of [`early_bits`](super::early_bits).
    pub(super) early: u8,
}

/// The names of query parameters, or of path parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'p> {
    program: &'p RuleProgram<'p>,
    /// The number of the first, which is that of its fingerprint, its text and its entry, and how many they are.
    first: u32,
    count: u32,
    /// The fingerprints of the first [`REGISTER_NAMES`], and a bit for each that is one.
    fingerprints: [i8x16; 2],
    lanes: u32,
}

impl<'p> Names<'p> {
    #[inline(always)]
    pub(super) fn new(program: &'p RuleProgram<'p>, first: u32, count: u32) -> Self {
        let fingerprints = |at: u32| fingerprints_at(program.site, at as usize);
        let fingerprints = [fingerprints(first), fingerprints(first + LANES as u32)];
        let lanes = if count >= REGISTER_NAMES { u32::MAX } else { (1 << count) - 1 };
        Self { program, first, count, fingerprints, lanes }
    }

    /// The name of a parameter; `word` is its [first word](first_word).
    #[inline(always)]
    pub(super) fn find(&self, word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        let fingerprint = i8x16::splat(fingerprint_of(word, length).cast_signed());
        let is_it = |fingerprints: i8x16| fingerprints.cmp_eq(fingerprint).move_mask().cast_unsigned();
        let mut likely = is_it(self.fingerprints[0]);
        if self.count > LANES as u32 {
            likely |= is_it(self.fingerprints[1]) << LANES;
        }
        likely &= self.lanes;
        if likely == 0 && self.count <= REGISTER_NAMES {
            return UNKNOWN;
        }
        // Mostly it is the first, and no longer than two words.
        let id = likely.trailing_zeros();
        let (at, text_length) = self.program.texts().any_extent(self.first.wrapping_add(id));
        let site = self.program.site;
        let has_same_end =
            || array_at::<8>(site, at + length - 8) == array_at::<8>(padded, start + length - 8);
        if likely != 0
            && text_length == length
            && length <= 16
            && first_word(site, at, length) == word
            && (length <= 8 || has_same_end())
        {
            return self.name(id);
        }
        find_likely(self.program, (self.first, self.count), likely, (padded, start, length))
    }

    /// The name with a number.
    #[inline(always)]
    pub(super) fn name(&self, id: u32) -> Name {
        name(self.program, self.first, id)
    }
}

#[inline(always)]
fn name(program: &RuleProgram<'_>, first: u32, id: u32) -> Name {
    let at = program.names_at() + NAME_BYTES * first.wrapping_add(id) as usize;
    match array_at::<NAME_BYTES>(program.shape, at) {
        Some(entry) => Name { id: id as u16, rules: u64_at(entry, 0), early: entry[8] },
        None => UNKNOWN,
    }
}

/// The name of a parameter that may be one of some, or one of those whose fingerprints are not held there. Not a method, so that [`Names`] need
/// not be in memory.
#[inline(never)]
fn find_likely(
    program: &RuleProgram<'_>,
    (first, count): (u32, u32),
    mut likely: u32,
    (padded, start, length): (&[u8], usize, usize),
) -> Name {
    let text = Text::new(padded, start, length);
    let is_it = |at: usize| match &text {
        Some(text) => text.is_at(program.site, at),
        // Little follows it.
        None => is_same(program.site, at, padded, start, length),
    };
    let (mut from, mut next) = (0, REGISTER_NAMES);
    loop {
        while likely != 0 {
            let id = from + likely.trailing_zeros();
            let (at, text_length) = program.texts().any_extent(first + id);
            if text_length == length && is_it(at) {
                return name(program, first, id);
            }
            likely &= likely - 1;
        }
        if next >= count {
            return UNKNOWN;
        }
        (from, next) = (next, next + LANES as u32);
        let fingerprints = fingerprints_at(program.site, (first + from) as usize);
        let fingerprint = fingerprint_of(first_word(padded, start, length), length);
        let is_likely = fingerprints.cmp_eq(i8x16::splat(fingerprint.cast_signed()));
        likely = is_likely.move_mask().cast_unsigned() & low_lanes((count - from) as usize);
    }
}

#[inline(always)]
fn fingerprints_at(site: &[u8], at: usize) -> i8x16 {
    array_at(site, at).map_or(i8x16::splat(0), lanes_of)
}

const UNKNOWN: Name = Name { id: NO_ID, rules: 0, early: 0 };

/// Names that were given numbers, in the order in which rules speak of them.
#[derive(Default)]
pub(super) struct NamesBuilder<'n> {
    names: Vec<KnownName<'n>>,
    id_by_name: HashMap<&'n str, u16>,
}

struct KnownName<'n> {
    text: &'n str,
    /// The rules that wait for it.
    rules: RuleMask,
    /// What is done early to parameters of that name.
    early: u8,
}

impl<'n> NamesBuilder<'n> {
    pub(super) fn new(names: impl Iterator<Item = &'n str>) -> Result<Self, TooLarge> {
        let mut all = Self::default();
        for text in names {
            let next = u16::try_from(all.names.len()).ok().filter(|&id| id < NO_ID).ok_or(TooLarge)?;
            if *all.id_by_name.entry(text).or_insert(next) == next {
                all.names.push(KnownName { text, rules: 0, early: 0 });
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
            known.rules |= 1 << bit;
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

    /// Gives the names the next numbers of texts, and appends their fingerprints.
    pub(super) fn put_texts(
        &self,
        texts: &mut TextBuilder,
        fingerprints: &mut Vec<u8>,
    ) -> Result<(), TooLarge> {
        for KnownName { text, .. } in &self.names {
            texts.push(text.as_bytes())?;
            fingerprints.push(fingerprint_of(first_word(text.as_bytes(), 0, text.len()), text.len()));
        }
        Ok(())
    }

    /// Appends what is known of each name.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        for KnownName { rules, early, .. } in &self.names {
            out.put_u64(*rules);
            out.put_u32(u32::from(*early));
        }
    }
}
