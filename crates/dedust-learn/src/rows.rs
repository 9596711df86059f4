/*!
URLs to rows of numbers: keys, values and pairs, each numbered when first met.
*/

use std::ops::ControlFlow;

use dedust::ParsedUrl;
use dedust::rules::{ParamName, UrlPart, Value};
use dedust::support::{Interner, RawKey, Separators, visit_tokens};
use foldhash::HashMap;

/// Numbers keys, values and pairs as rows come.
pub(crate) struct RowBuilder {
    domain_len: usize,
    separators: Separators,
    names: Interner,
    texts: Interner,
    key_ids: HashMap<(u8, u32, u32), u32>,
    pub(crate) keys: Vec<UrlPart>,
    pair_ids: HashMap<u64, u32>,
    pub(crate) pair_keys: Vec<u32>,
    pub(crate) pair_values: Vec<u32>,
    pub(crate) row_pairs: Vec<u32>,
    pub(crate) row_ends: Vec<u32>,
    occurrences: Vec<(u32, u32)>,
}

/// The value number of a parameter without `=`; texts start at 1.
const BARE: u32 = 0;

impl RowBuilder {
    pub(crate) fn new(domain_len: usize, separators: Separators) -> Self {
        Self {
            domain_len,
            separators,
            names: Interner::default(),
            texts: Interner::default(),
            key_ids: HashMap::default(),
            keys: Vec::new(),
            pair_ids: HashMap::default(),
            pair_keys: Vec::new(),
            pair_values: Vec::new(),
            row_pairs: Vec::new(),
            row_ends: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    /// Adds a row; false, with nothing added, for a URL of which rules cannot speak.
    pub(crate) fn push(&mut self, url: &ParsedUrl) -> bool {
        let start = self.row_pairs.len();
        self.occurrences.clear();
        let is_text = url.as_bytes().is_ascii();
        let flow = visit_tokens(url, self.domain_len, self.separators, |key, value| {
            match self.pair(key, value, is_text) {
                Some(pair) => {
                    self.row_pairs.push(pair);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            }
        });
        if flow.is_break() {
            self.row_pairs.truncate(start);
            return false;
        }
        self.row_ends.push(self.row_pairs.len() as u32);
        true
    }

    /// The number of a pair of a URL that is known to be text, or not; `None` if it turns out not to be.
    fn pair(&mut self, key: RawKey<'_>, value: Option<&[u8]>, is_text: bool) -> Option<u32> {
        let key = self.key(key)?;
        let value = match value {
            None => BARE,
            Some(text) => {
                if !is_text {
                    std::str::from_utf8(text).ok()?;
                }
                self.texts.intern(text) + 1
            }
        };
        let next = self.pair_keys.len() as u32;
        let pair = *self.pair_ids.entry((u64::from(key) << 32) | u64::from(value)).or_insert(next);
        if pair == next {
            self.pair_keys.push(key);
            self.pair_values.push(value);
        }
        Some(pair)
    }

    fn key(&mut self, key: RawKey<'_>) -> Option<u32> {
        let id = match key {
            RawKey::Scheme => (0, 0, 0),
            RawKey::Port => (1, 0, 0),
            RawKey::TrailingSlash => (2, 0, 0),
            RawKey::QuerySeparator => (3, 0, 0),
            RawKey::Hashbang => (4, 0, 0),
            RawKey::Subdomain(u16::MAX) | RawKey::PathSegment(u16::MAX) => return None,
            RawKey::Subdomain(index) => (5, u32::from(index), 0),
            RawKey::PathSegment(index) => (6, u32::from(index), 0),
            RawKey::PathParam(name) => (7, self.names.intern(name), 1),
            RawKey::QueryParam(name) => (8, self.names.intern(name), 1),
        };
        let id = match key {
            RawKey::PathParam(_) | RawKey::QueryParam(_) => {
                let first = self.key_id(id, key)?;
                let occurrence = match self.occurrences.iter_mut().find(|(key, _)| *key == first) {
                    Some((_, count)) => {
                        *count += 1;
                        *count
                    }
                    None => {
                        self.occurrences.push((first, 1));
                        1
                    }
                };
                if occurrence == 1 {
                    return Some(first);
                }
                (id.0, id.1, occurrence)
            }
            _ => id,
        };
        self.key_id(id, key)
    }

    fn key_id(&mut self, id: (u8, u32, u32), key: RawKey<'_>) -> Option<u32> {
        if let Some(&known) = self.key_ids.get(&id) {
            return Some(known);
        }
        let named =
            |name: &[u8]| Some(ParamName { name: std::str::from_utf8(name).ok()?.into(), occurrence: id.2 });
        let key = match key {
            RawKey::Scheme => UrlPart::Scheme,
            RawKey::Subdomain(index) => UrlPart::Subdomain(index),
            RawKey::Port => UrlPart::Port,
            RawKey::PathSegment(index) => UrlPart::PathSegment(index),
            RawKey::TrailingSlash => UrlPart::TrailingSlash,
            RawKey::PathParam(name) => UrlPart::PathParam(named(name)?),
            RawKey::QuerySeparator => UrlPart::QuerySeparator,
            RawKey::QueryParam(name) => UrlPart::QueryParam(named(name)?),
            RawKey::Hashbang => UrlPart::Hashbang,
        };
        let next = self.keys.len() as u32;
        self.keys.push(key);
        self.key_ids.insert(id, next);
        Some(next)
    }

    /// The values by their numbers.
    pub(crate) fn values(&self) -> Vec<Value> {
        let texts =
            (0..self.texts.len() as u32).map(|id| Value::from(&*String::from_utf8_lossy(self.texts.get(id))));
        std::iter::once(Value::Bare).chain(texts).collect()
    }

    /// Renumbers keys in the order of [`UrlPart`], so that comparing numbers compares keys.
    pub(crate) fn sort_keys(mut self) -> Self {
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.keys[a as usize].cmp(&self.keys[b as usize]));
        let mut new_id = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_id[old as usize] = new as u32;
        }
        self.keys = order.iter().map(|&old| self.keys[old as usize].clone()).collect();
        for key in &mut self.pair_keys {
            *key = new_id[*key as usize];
        }
        self
    }
}
