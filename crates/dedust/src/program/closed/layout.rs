/*!
Which key is kept in which slot: fixed ones first, then host labels, path segments, path and query parameters.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::encode::MAX_POSITIONS;
use super::slots::{
    FIXED_SLOTS, HASHBANG_SLOT, HTTP_SLOT, HTTPS_SLOT, NO_SLOT, PORT_SLOT, SCHEME_SLOT, SEPARATOR_SLOT,
    TRAILING_SLASH_SLOT,
};
use crate::encoding::{Encode as _, TooLarge};
use crate::rule::{OtherParams, Rule, ValuePattern};
use crate::url::{ParamName, TokenKey, Value};

/// Slots of one site, at most.
const MAX_SLOTS: usize = 16_000;

/// Which key is kept in which slot. A key without a slot is unknown to all rules of the site.
pub(super) struct Layout {
    subdomains: u16,
    segments: u16,
    param_slots: BTreeMap<TokenKey, u16>,
    words: u16,
    path_names: Vec<Name>,
    query_names: Vec<Name>,
    /// Bits of the slots of query parameters.
    query: Vec<u32>,
}

/// The name of a parameter.
pub(super) struct Name {
    pub(super) text: Box<str>,
    slot: u16,
    /// Occurrences that the rules know, one after the other from the first.
    count: u16,
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
        let words = slot_count.div_ceil(32);
        let mut query = vec![0u32; words];
        for (_, &slot) in param_slots.iter().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))) {
            query[usize::from(slot / 32)] |= 1 << (slot % 32);
        }
        let names = |name_of: fn(&TokenKey) -> Option<&ParamName>| {
            names(param_slots.iter().filter_map(|(key, slot)| Some((name_of(key)?, *slot))))
        };
        let path_names = names(|key| match key {
            TokenKey::PathParam(name) => Some(name),
            _ => None,
        })?;
        let query_names = names(|key| match key {
            TokenKey::QueryParam(name) => Some(name),
            _ => None,
        })?;
        let words = words as u16;
        Ok(Self { subdomains, segments, param_slots, words, path_names, query_names, query })
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
        out.put_u16(self.words);
        out.put_u16(self.subdomains);
        out.put_u16(self.segments);
        out.put_small(self.path_names.len())?;
        out.put_small(self.query_names.len())
    }

    /// For each name its first slot, and how many occurrences the rules know.
    pub(super) fn put_names(&self, out: &mut Vec<u8>) {
        for name in self.names() {
            out.put_u16(name.slot);
            out.put_u16(name.count);
        }
    }

    /// The names of path parameters, then those of query parameters.
    pub(super) fn names(&self) -> impl Iterator<Item = &Name> {
        self.path_names.iter().chain(&self.query_names)
    }
}

/// The names of parameters, each with its first slot.
fn names<'a>(params: impl Iterator<Item = (&'a ParamName, u16)>) -> Result<Vec<Name>, TooLarge> {
    let mut names: Vec<Name> = Vec::new();
    for (ParamName { name, occurrence }, slot) in params {
        match names.last_mut() {
            Some(last) if last.text == *name && u32::from(last.count) + 1 == *occurrence => {
                last.count = last.count.checked_add(1).ok_or(TooLarge)?;
            }
            // An occurrence that follows one the rules do not know can never be reached.
            _ if *occurrence == 1 => names.push(Name { text: name.clone(), slot, count: 1 }),
            _ => {}
        }
    }
    Ok(names)
}
