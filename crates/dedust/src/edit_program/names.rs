/*!
Flat tables of the names that edits speak of: what is known of a name is found by looking in one place, nearly always.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::{NAME_BYTES, NO_ID, NO_NAME};
use crate::compiled::encoding::{Cursor, Encode as _, TooLarge, first_word, is_same, u16_at, u32_at};

/// Places for each name in a table of names, at most.
const MAX_ROOM: usize = 4;
/// More names than this do not fill a table.
const MANY_NAMES: usize = 64;

/// A name that edits speak of, or any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) id: u16,
    /// Those that wait for it.
    pub(super) edits: u32,
    /// Of [`early_bits`](super::early_bits).
    pub(super) early: u8,
}

/// A flat table of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) at: usize,
    /// A power of two, or 0.
    pub(super) places: usize,
    pub(super) seed: u8,
    /// How far behind its place a name may stand.
    pub(super) steps: u8,
}

impl Names {
    #[inline(always)]
    pub(super) fn find(self, bytes: &[u8], word: u64, padded: &[u8], start: usize, length: usize) -> Name {
        const UNKNOWN: Name = Name { id: NO_ID, edits: 0, early: 0 };
        if self.places == 0 {
            return UNKNOWN;
        }
        let place = name_hash(word, padded, start, length, self.seed);
        let mut step = 0;
        loop {
            let at = self.at + ((place + step) & (self.places - 1)) * NAME_BYTES;
            let Some(entry) = Cursor::new(bytes, at).array::<NAME_BYTES>() else { return UNKNOWN };
            let first = u64::from(u32_at(entry, 0)) | u64::from(u32_at(entry, 4)) << 32;
            if first == word
                && usize::from(u16_at(entry, 12)) == length
                && (length <= 8
                    || is_same(bytes, (u32_at(entry, 16) >> 8) as usize, padded, start + 8, length - 8))
            {
                return Name { id: u16_at(entry, 14), edits: u32_at(entry, 8), early: entry[16] };
            }
            if step == usize::from(self.steps) {
                return UNKNOWN;
            }
            step += 1;
        }
    }
}

/// Where a name is looked for, by its first and last bytes.
#[inline(always)]
fn name_hash(word: u64, padded: &[u8], start: usize, length: usize, seed: u8) -> usize {
    let last = if length > 8 { first_word(padded, start + length - 8, 8) } else { 0 };
    let mixed = (word ^ last.rotate_left(23) ^ length as u64).wrapping_add(u64::from(seed));
    let mixed = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 32)).wrapping_mul(0xD1B5_4A32_D192_ED03) >> 40) as usize
}

/// A flat table of names that is being filled.
#[derive(Default)]
pub(super) struct NamesBuilder {
    pub(super) places: Vec<Option<KnownName>>,
    place_of: BTreeMap<Box<str>, usize>,
    pub(super) seed: u8,
    /// How far behind its place a name stands, at most.
    pub(super) steps: u8,
}

pub(super) struct KnownName {
    text: Box<str>,
    id: u16,
    /// The edits that wait for it.
    edits: u32,
    /// What is done early to parameters of that name.
    early: u8,
}

impl NamesBuilder {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Result<Self, TooLarge> {
        let names: BTreeSet<&str> = names.collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        // The smallest table in which every name stands in its place, or nearly so.
        let names: Vec<&str> = names.into_iter().collect();
        let least = names.len().next_power_of_two() * if names.len() > MANY_NAMES { 2 } else { 1 };
        let most = MAX_ROOM * names.len().next_power_of_two();
        let rooms =
            std::iter::successors(Some(least), |room| Some(2 * room)).take_while(|&room| room <= most);
        let mut best = (usize::MAX, 0, 0);
        for (room, seed) in rooms.flat_map(|room| (0..=u8::MAX).map(move |seed| (room, seed))) {
            let places = arrange(&names, room, seed);
            let steps = places.iter().map(|(_, steps)| *steps).max().unwrap_or(0);
            if steps < best.0 {
                best = (steps, room, seed);
            }
            if steps == 0 {
                break;
            }
        }
        let (steps, room, seed) = best;
        let steps = u8::try_from(steps).map_err(|_| TooLarge)?;
        let mut table = Self { places: Vec::new(), place_of: BTreeMap::new(), seed, steps };
        table.places.resize_with(room, || None);
        for ((name, id), (place, _)) in names.iter().zip(0..).zip(arrange(&names, room, seed)) {
            table.place_of.insert((*name).into(), place);
            table.places[place] = Some(KnownName { text: (*name).into(), id, edits: 0, early: 0 });
        }
        Ok(table)
    }

    pub(super) fn add(&mut self, name: &str, bit: u32) {
        if let Some(&place) = self.place_of.get(name)
            && let Some(known) = &mut self.places[place]
        {
            known.edits |= 1 << bit;
        }
    }

    pub(super) fn add_early(&mut self, name: &str, early: u8) {
        if let Some(&place) = self.place_of.get(name)
            && let Some(known) = &mut self.places[place]
        {
            known.early |= early;
        }
    }

    pub(super) fn id(&self, name: &str) -> u16 {
        let known = self.place_of.get(name).and_then(|&place| self.places[place].as_ref());
        known.map_or(NO_ID, |known| known.id)
    }

    /// Writes the table; returns where.
    pub(super) fn put(&self, out: &mut Vec<u8>) -> Result<usize, TooLarge> {
        let at = out.len();
        for place in &self.places {
            match place {
                None => {
                    out.put_u64(0);
                    out.put_u32(0);
                    out.put_u16(NO_NAME);
                    out.put_u16(NO_ID);
                    out.put_u32(0);
                }
                Some(KnownName { text, id, edits, early }) => {
                    let length = u16::try_from(text.len()).ok().filter(|&length| length != NO_NAME);
                    out.put_u64(first_word(text.as_bytes(), 0, text.len()));
                    out.put_u32(*edits);
                    out.put_u16(length.ok_or(TooLarge)?);
                    out.put_u16(*id);
                    out.put_u32(u32::from(*early));
                }
            }
        }
        Ok(at)
    }

    /// Writes what there is of names beyond their first eight bytes.
    pub(super) fn put_long(&self, table: usize, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        for (index, name) in self.places.iter().enumerate() {
            if let Some(KnownName { text, early, .. }) = name
                && text.len() > 8
            {
                let at = out.len();
                if at >= 1 << 24 {
                    return Err(TooLarge);
                }
                out.set_u32(table + index * NAME_BYTES + 16, at << 8 | usize::from(*early))?;
                out.extend_from_slice(&text.as_bytes()[8..]);
            }
        }
        Ok(())
    }
}

/// Where each name stands in a table with so many places, and how far that is behind its own place.
fn arrange(names: &[&str], room: usize, seed: u8) -> Vec<(usize, usize)> {
    let mut is_taken = vec![false; room];
    let place = |name: &&str| {
        let (text, length) = (name.as_bytes(), name.len());
        let own = name_hash(first_word(text, 0, length), text, 0, length, seed);
        // There are no more names than places.
        let steps = (0..room).find(|steps| !is_taken[(own + steps) & (room - 1)]).unwrap_or(0);
        let place = (own + steps) & (room - 1);
        is_taken[place] = true;
        (place, steps)
    };
    names.iter().map(place).collect()
}
