/*!
Which key is kept in which slot: fixed ones first, then host labels, path segments, path and query parameters.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::MAX_POSITIONS;
use crate::compiled::encoding::{Encode as _, TooLarge, first_word};
use crate::pattern::ValuePattern;
use crate::program::{
    FIXED_SLOTS, HASHBANG_SLOT, HTTP_SLOT, HTTPS_SLOT, NAME_BYTES, NO_NAME, NO_SLOT, PORT_SLOT, SCHEME_SLOT,
    SEPARATOR_SLOT, TRAILING_SLASH_SLOT, name_hash,
};
use crate::rule::{OtherParams, Rule};
use crate::url::{ParamName, TokenKey, Value};

/// Slots of one site, at most.
const MAX_SLOTS: usize = 16_000;
/// Places of a table of names, at most.
const MAX_NAME_PLACES: usize = 1 << 15;

/// Which key is kept in which slot. A key without a slot is unknown to all rules of the site.
pub(super) struct Layout {
    subdomains: u16,
    segments: u16,
    param_slots: BTreeMap<TokenKey, u16>,
    slot_count: u16,
    path_names: Names,
    query_names: Names,
    /// Bits of the slots of query parameters.
    query: Vec<u32>,
}

/// A flat table of names, each of which has a place that no other has.
#[derive(Default)]
struct Names {
    places: Vec<Option<Name>>,
    seed: u8,
    /// Where the table was written.
    at: usize,
}

struct Name {
    text: Box<str>,
    slot: u16,
    /// Occurrences that the rules know, one after the other from the first.
    count: u8,
}

impl Layout {
    pub(super) fn new(keys: &BTreeSet<&TokenKey>) -> Result<Self, TooLarge> {
        let positions = |index_of: fn(&TokenKey) -> Option<u16>| {
            let indexes = keys.iter().filter_map(|key| index_of(key)).filter(|&index| index < MAX_POSITIONS);
            indexes.max().map_or(0, |index| index + 1)
        };
        let subdomains = positions(|key| match key {
            TokenKey::Subdomain(index) => Some(*index),
            _ => None,
        });
        let segments = positions(|key| match key {
            TokenKey::PathSegment(index) => Some(*index),
            _ => None,
        });
        let params: Vec<&TokenKey> = keys
            .iter()
            .copied()
            .filter(|key| matches!(key, TokenKey::PathParam(_) | TokenKey::QueryParam(_)))
            .collect();
        let first = FIXED_SLOTS + subdomains + segments;
        let slot_count = usize::from(first) + params.len();
        if slot_count > MAX_SLOTS {
            return Err(TooLarge);
        }
        let param_slots: BTreeMap<TokenKey, u16> = params.into_iter().cloned().zip(first..).collect();
        let mut query = vec![0u32; slot_count.div_ceil(32)];
        for (_, &slot) in param_slots.iter().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))) {
            query[usize::from(slot / 32)] |= 1 << (slot % 32);
        }
        let names = |name_of: fn(&TokenKey) -> Option<&ParamName>| {
            Names::new(param_slots.iter().filter_map(|(key, slot)| Some((name_of(key)?, *slot))))
        };
        let path_names = names(|key| match key {
            TokenKey::PathParam(name) => Some(name),
            _ => None,
        })?;
        let query_names = names(|key| match key {
            TokenKey::QueryParam(name) => Some(name),
            _ => None,
        })?;
        let slot_count = slot_count as u16;
        Ok(Self { subdomains, segments, param_slots, slot_count, path_names, query_names, query })
    }

    pub(super) fn slot(&self, key: &TokenKey) -> u16 {
        let position =
            |first: u16, index: u16, count: u16| if index < count { first + index } else { NO_SLOT };
        match key {
            TokenKey::Scheme => SCHEME_SLOT,
            TokenKey::Port => PORT_SLOT,
            TokenKey::TrailingSlash => TRAILING_SLASH_SLOT,
            TokenKey::QuerySeparator => SEPARATOR_SLOT,
            TokenKey::Hashbang => HASHBANG_SLOT,
            TokenKey::Subdomain(index) => position(FIXED_SLOTS, *index, self.subdomains),
            TokenKey::PathSegment(index) => position(FIXED_SLOTS + self.subdomains, *index, self.segments),
            TokenKey::PathParam(_) | TokenKey::QueryParam(_) => {
                self.param_slots.get(key).copied().unwrap_or(NO_SLOT)
            }
        }
    }

    /// Words of 32 bits in a mask.
    pub(super) fn words(&self) -> usize {
        self.query.len()
    }

    /// The keys that a URL must have and those that the pattern names, as pairs of words.
    pub(super) fn named(&self, rule: &Rule) -> Vec<(u32, u32)> {
        let mut masks = vec![(0, 0); self.words()];
        masks[0].1 |= 1 << HTTP_SLOT | 1 << HTTPS_SLOT;
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.slot(key);
            // What is asked for is told by masks where it can be.
            let asked = match pattern {
                ValuePattern::Is(value) if *key == TokenKey::Scheme && *value == Value::from("http") => {
                    HTTP_SLOT
                }
                ValuePattern::Is(value) if *key == TokenKey::Scheme && *value == Value::from("https") => {
                    HTTPS_SLOT
                }
                _ => slot,
            };
            masks[0].0 |= if asked == slot { 0 } else { 1 << asked };
            // Only a key that may be missing can have no slot: a position that is never reached.
            if let Some((must, may)) = masks.get_mut(usize::from(slot / 32)) {
                *may |= 1 << (slot % 32);
                if !pattern.is_optional() {
                    *must |= 1 << (slot % 32);
                }
            }
        }
        masks
    }

    /// The keys that a URL must have and those that it may have, as pairs of words.
    pub(super) fn masks(&self, rule: &Rule) -> Vec<(u32, u32)> {
        let mut masks = self.named(rule);
        if rule.other_params == OtherParams::Keep {
            masks.iter_mut().zip(&self.query).for_each(|((_, may), query)| *may |= query);
        }
        masks
    }

    /// The part of the header that speaks of slots.
    pub(super) fn put_counts(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        out.put_u16(self.slot_count);
        out.put_u16(self.subdomains);
        out.put_u16(self.segments);
        out.put_small(self.path_names.places.len())?;
        out.put_small(self.query_names.places.len())
    }

    pub(super) fn put_seeds(&self, out: &mut Vec<u8>) {
        out.put_u8(self.path_names.seed);
        out.put_u8(self.query_names.seed);
    }

    pub(super) fn put_names(&mut self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.path_names.put(out)?;
        self.query_names.put(out)
    }

    /// What there is of names beyond their first eight bytes.
    pub(super) fn put_long_names(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.path_names.put_long(out)?;
        self.query_names.put_long(out)
    }
}

impl Names {
    fn new<'a>(names: impl Iterator<Item = (&'a ParamName, u16)>) -> Result<Self, TooLarge> {
        let mut known: Vec<Name> = Vec::new();
        for (ParamName { name, occurrence }, slot) in names {
            match known.last_mut() {
                Some(last) if last.text == *name && u32::from(last.count) + 1 == *occurrence => {
                    last.count = last.count.checked_add(1).ok_or(TooLarge)?;
                }
                // An occurrence that follows one the rules do not know can never be reached.
                _ if *occurrence == 1 => known.push(Name { text: name.clone(), slot, count: 1 }),
                _ => {}
            }
        }
        if known.is_empty() {
            return Ok(Self::default());
        }
        // The smallest table in which every name has a place of its own.
        let mut room = known.len().next_power_of_two();
        while room <= MAX_NAME_PLACES {
            for seed in 0..=u8::MAX {
                let place = |name: &Name| {
                    let (text, length) = (name.text.as_bytes(), name.text.len());
                    name_hash(first_word(text, 0, length), length, seed) & (room - 1)
                };
                let mut is_taken = vec![false; room];
                if known.iter().all(|name| !std::mem::replace(&mut is_taken[place(name)], true)) {
                    let mut places: Vec<Option<Name>> = Vec::new();
                    places.resize_with(room, || None);
                    for name in known {
                        let at = place(&name);
                        places[at] = Some(name);
                    }
                    return Ok(Self { places, seed, at: 0 });
                }
            }
            room *= 2;
        }
        Err(TooLarge)
    }

    fn put(&mut self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.at = out.len();
        for place in &self.places {
            match place {
                None => {
                    out.put_u64(0);
                    out.put_u16(NO_NAME);
                    out.put_u16(NO_SLOT);
                    out.put_u32(0);
                }
                Some(Name { text, slot, count }) => {
                    let length = u16::try_from(text.len()).ok().filter(|&length| length != NO_NAME);
                    out.put_u64(first_word(text.as_bytes(), 0, text.len()));
                    out.put_u16(length.ok_or(TooLarge)?);
                    out.put_u16(*slot);
                    out.put_u32(u32::from(*count));
                }
            }
        }
        Ok(())
    }

    fn put_long(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        for (index, name) in self.places.iter().enumerate() {
            if let Some(Name { text, count, .. }) = name
                && text.len() > 8
            {
                let at = out.len();
                if at >= 1 << 24 {
                    return Err(TooLarge);
                }
                out.extend_from_slice(&text.as_bytes()[8..]);
                out.set_u32(self.at + index * NAME_BYTES + 12, at << 8 | usize::from(*count))?;
            }
        }
        Ok(())
    }
}
