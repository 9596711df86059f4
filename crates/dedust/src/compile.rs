/*!
[`SiteRules`] to [`SiteProgram`]: every key gets a slot, every rule its masks, checks and templates.
*/

use std::collections::{BTreeMap, BTreeSet};

use crate::pattern::{AnyValue, ValueClass, ValuePattern};
use crate::program::{
    Check, CompiledRule, FIXED_SLOTS, HASHBANG_SLOT, Layout, NO_SLOT, NameSlots, PORT_SLOT, SCHEME_SLOT,
    SEPARATOR_SLOT, SiteProgram, TRAILING_SLASH_SLOT,
};
use crate::rule::{Op, OtherParams, Part, Rewrite, Rule, SiteRules};
use crate::template::{Source, SourcePart, Template};
use crate::url::{ParamName, TokenKey, Value, has_subdomains};

pub(crate) fn compile_site(domain: &str, site: &SiteRules) -> SiteProgram {
    let mut keys = BTreeSet::new();
    for rule in site.rules() {
        keys.extend(rule.pattern.keys().map(|(key, _)| key));
    }
    let slots = assign_slots(&keys);
    let layout = Layout {
        slot_count: FIXED_SLOTS + slots.len(),
        subdomains: by_position(&slots, |key| match key {
            TokenKey::Subdomain(index) => Some(*index),
            _ => None,
        }),
        segments: by_position(&slots, |key| match key {
            TokenKey::PathSegment(index) => Some(*index),
            _ => None,
        }),
        path_params: by_name(&slots, |key| match key {
            TokenKey::PathParam(name) => Some(name),
            _ => None,
        }),
        query_params: by_name(&slots, |key| match key {
            TokenKey::QueryParam(name) => Some(name),
            _ => None,
        }),
        query_mask: mask(&slots, |key| matches!(key, TokenKey::QueryParam(_))),
        keeps_others: site.rules().iter().any(|rule| rule.other_params == OtherParams::Keep),
    };
    let compiler = Compiler { domain: domain.as_bytes(), slots, words: layout.slot_count.div_ceil(64) };
    SiteProgram {
        domain: domain.as_bytes().into(),
        with_subdomains: has_subdomains(domain.as_bytes()),
        substitutions: site.substitutions().into(),
        rules: site.rules().iter().map(|rule| compiler.compile(rule)).collect(),
        layout,
    }
}

/// Slots of the keys that are not fixed.
fn assign_slots(keys: &BTreeSet<&TokenKey>) -> BTreeMap<TokenKey, u32> {
    keys.iter()
        .filter(|key| fixed_slot(key).is_none())
        .zip(FIXED_SLOTS as u32..)
        .map(|(key, slot)| ((*key).clone(), slot))
        .collect()
}

fn fixed_slot(key: &TokenKey) -> Option<u32> {
    match key {
        TokenKey::Scheme => Some(SCHEME_SLOT),
        TokenKey::Port => Some(PORT_SLOT),
        TokenKey::TrailingSlash => Some(TRAILING_SLASH_SLOT),
        TokenKey::QuerySeparator => Some(SEPARATOR_SLOT),
        TokenKey::Hashbang => Some(HASHBANG_SLOT),
        _ => None,
    }
}

/// The bits of the slots whose keys are `wanted`.
fn mask(slots: &BTreeMap<TokenKey, u32>, wanted: impl Fn(&TokenKey) -> bool) -> Box<[u64]> {
    let mut mask = vec![0u64; (FIXED_SLOTS + slots.len()).div_ceil(64)];
    for (_, &slot) in slots.iter().filter(|(key, _)| wanted(key)) {
        mask[slot as usize / 64] |= 1 << (slot % 64);
    }
    mask.into()
}

fn by_position(slots: &BTreeMap<TokenKey, u32>, index_of: impl Fn(&TokenKey) -> Option<u16>) -> Box<[u32]> {
    let mut positions = Vec::new();
    for (key, &slot) in slots {
        if let Some(index) = index_of(key) {
            positions.resize(positions.len().max(usize::from(index) + 1), NO_SLOT);
            positions[usize::from(index)] = slot;
        }
    }
    positions.into()
}

fn by_name(slots: &BTreeMap<TokenKey, u32>, name_of: impl Fn(&TokenKey) -> Option<&ParamName>) -> NameSlots {
    let mut names: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (key, &slot) in slots {
        if let Some(ParamName { name, occurrence }) = name_of(key) {
            let occurrences = names.entry(name).or_default();
            // An occurrence that follows one the rules do not know can never be reached.
            if occurrences.len() + 1 == *occurrence as usize {
                occurrences.push(slot);
            }
        }
    }
    names.into_iter().map(|(name, slots)| (name.as_bytes().into(), slots.into())).collect()
}

struct Compiler<'a> {
    domain: &'a [u8],
    slots: BTreeMap<TokenKey, u32>,
    words: usize,
}

impl Compiler<'_> {
    fn slot(&self, key: &TokenKey) -> u32 {
        fixed_slot(key).or_else(|| self.slots.get(key).copied()).unwrap_or(NO_SLOT)
    }

    fn compile(&self, rule: &Rule) -> CompiledRule {
        let mut must = vec![0u64; self.words];
        let mut may = vec![0u64; self.words];
        let mut checks = Vec::new();
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.slot(key);
            let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
            may[word] |= bit;
            if !pattern.is_optional() {
                must[word] |= bit;
            }
            match pattern {
                ValuePattern::Is(value) => checks.push(Check::Is { slot, value: owned(value) }),
                ValuePattern::Any(AnyValue { class, except, .. }) => {
                    if *class != ValueClass::Text || !except.is_empty() {
                        let except = except.iter().map(owned).collect();
                        checks.push(Check::Class { slot, class: class.clone(), except });
                    }
                }
            }
        }
        let writes = rule.rewrite.is_writable() && !rule.is_in_place();
        CompiledRule {
            must: must.into(),
            may: may.into(),
            checks: checks.into(),
            keeps_others: rule.other_params == OtherParams::Keep,
            key: self.template(&rule.rewrite, false),
            url: writes.then(|| self.template(&rule.rewrite, true)),
        }
    }

    fn source(&self, op: &Op) -> Source {
        match op {
            Op::Keep(value) => Source::Literal(owned(value)),
            Op::Copy(from) => Source::Slot(self.slot(from)),
            Op::Ignore => Source::Star,
            Op::Join(parts) => Source::Join(parts.iter().map(|part| self.part(part)).collect()),
        }
    }

    fn part(&self, part: &Part) -> SourcePart {
        match part {
            Part::Text(text) => SourcePart::Literal(text.as_bytes().into()),
            Part::Copy(from) => SourcePart::Slot(self.slot(from)),
            Part::Atom { of, which } => SourcePart::Atom(self.slot(of), *which),
        }
    }

    /// The template of the key, or of the URL, in which query parameters keep the order of the site.
    fn template(&self, rewrite: &Rewrite, in_site_order: bool) -> Template {
        let one = |key: TokenKey| rewrite.get(&key).map(|op| self.source(op));
        let all = |wanted: fn(&TokenKey) -> bool| {
            rewrite.ops().filter(move |(key, _)| wanted(key)).map(|(_, op)| self.source(op))
        };
        let named = |key: &TokenKey, op: &Op| -> Option<(Box<[u8]>, Source)> {
            match key {
                TokenKey::PathParam(name) | TokenKey::QueryParam(name) => {
                    Some((name.name.as_bytes().into(), self.source(op)))
                }
                _ => None,
            }
        };
        let mut subdomains: Vec<Source> = all(|key| matches!(key, TokenKey::Subdomain(_))).collect();
        subdomains.reverse();
        let mut query: Vec<(&TokenKey, &Op)> =
            rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).collect();
        if in_site_order {
            let place = |key: &TokenKey| rewrite.query_order().iter().position(|other| other == key);
            query.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        }
        Template {
            scheme: one(TokenKey::Scheme).unwrap_or(Source::Star),
            subdomains: subdomains.into(),
            domain: self.domain.into(),
            port: one(TokenKey::Port),
            segments: all(|key| matches!(key, TokenKey::PathSegment(_))).collect(),
            path_params: rewrite
                .ops()
                .filter(|(key, _)| matches!(key, TokenKey::PathParam(_)))
                .filter_map(|(key, op)| named(key, op))
                .collect(),
            trailing_slash: one(TokenKey::TrailingSlash),
            separator: one(TokenKey::QuerySeparator),
            is_sorted: !in_site_order,
            query_params: query.into_iter().filter_map(|(key, op)| named(key, op)).collect(),
            hashbang: one(TokenKey::Hashbang),
        }
    }
}

fn owned(value: &Value) -> Option<Box<[u8]>> {
    value.as_raw().map(Into::into)
}
