/*!
How are closed rules written? Every key gets a slot, every rule its masks, checks and templates.

A site with more than there is room for (16,000 keys; texts of 64 KiB) is refused as a whole.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Layout;
use super::proof;
use super::put_template::put_template;
use super::shape::{ANY_FINGERPRINT, BARE_FINGERPRINT, HEADER_BYTES};
use super::slots::NO_SLOT;
use super::{NO_TEXT, RULE_HAS_GUARDS, RULE_HAS_URL, RULE_IS_PROVEN, RULE_KEEPS_OTHERS, RULE_WRITES};
use crate::encoding::{Encode as _, TooLarge, first_word};
use crate::program::{
    CompiledSite, END_WIDTH, HAS_REPLACEMENTS, KEEPS_ORDER, KEEPS_OTHERS, Replacement, TextBuilder,
    fingerprint_of,
};
use crate::rule::{AnyValue, Op, OtherParams, Readers, Replace, Rule, ValueClass, ValuePattern};
use crate::url::{RawValue, TokenKey, Value};

/// The program of a site with these rules and texts that are replaced before, each with its index in the site's list.
pub(crate) fn encode(
    rules: Vec<(usize, &Rule)>,
    replaced: &[(usize, &Replace)],
) -> Result<CompiledSite, TooLarge> {
    Compiler::new(rules, replaced.is_empty())?.finish(replaced)
}

/// Positions beyond this are unknown to all rules.
pub(super) const MAX_POSITIONS: u16 = 1000;

/// Whether there are URLs with the keys of the pattern: a segment or label needs those before it.
pub(crate) fn can_cover(rule: &Rule) -> bool {
    let has = |key: TokenKey| rule.pattern.get(&key).is_some();
    rule.pattern.keys().all(|(key, pattern)| match key {
        TokenKey::PathSegment(index) | TokenKey::Subdomain(index) if *index >= MAX_POSITIONS => {
            pattern.is_optional()
        }
        TokenKey::PathSegment(index @ 1..) => has(TokenKey::PathSegment(index - 1)) || pattern.is_optional(),
        TokenKey::Subdomain(index @ 1..) => has(TokenKey::Subdomain(index - 1)) || pattern.is_optional(),
        _ => true,
    })
}

struct Compiler<'a> {
    rules: Vec<(usize, &'a Rule)>,
    layout: Layout,
    /// The slot by whose value most rules are told apart.
    tag_slot: u16,
    is_provable: bool,
    texts: TextBuilder,
    /// The shape.
    out: Vec<u8>,
}

impl<'a> Compiler<'a> {
    fn new(rules: Vec<(usize, &'a Rule)>, is_provable: bool) -> Result<Self, TooLarge> {
        let keys: BTreeSet<&TokenKey> =
            rules.iter().flat_map(|(_, rule)| rule.pattern.keys().map(|(key, _)| key)).collect();
        let layout = Layout::new(&keys)?;
        let (texts, out) = (TextBuilder::default(), Vec::new());
        let mut compiler = Self { rules, layout, tag_slot: NO_SLOT, is_provable, texts, out };
        compiler.tag_slot = compiler.find_tag_slot();
        Ok(compiler)
    }

    /// The program of the site.
    fn finish(mut self, replaced: &[(usize, &Replace)]) -> Result<CompiledSite, TooLarge> {
        let rules = std::mem::take(&mut self.rules);
        // Names come first: their numbers are those of their fingerprints.
        let names: Vec<Box<str>> = self.layout.names().map(|name| name.text.clone()).collect();
        for name in &names {
            self.texts.push(name.as_bytes())?;
        }
        let lists = usize::from(!replaced.is_empty());
        self.put_shape(&rules, lists)?;
        let passes = |(_, rule): &(usize, &Rule)| rule.other_params == OtherParams::Keep;
        let has_order = |rule: &(usize, &Rule)| passes(rule) || writes_in_place(rule.1);
        self.out[4] = flag(KEEPS_OTHERS, rules.iter().any(passes))
            | flag(KEEPS_ORDER, rules.iter().any(has_order))
            | flag(HAS_REPLACEMENTS, !replaced.is_empty())
            | self.texts.end_width() << END_WIDTH;

        let mut site = vec![0; 4 * lists];
        site.extend(names.iter().map(|name| fingerprint(Some(name.as_bytes()))));
        site.extend(rules.iter().map(|(_, rule)| self.fingerprint(rule)));
        self.texts.put(&mut site);
        if !replaced.is_empty() {
            site.set_u32(0, site.len())?;
            site.put_u32(u32::try_from(replaced.len()).map_err(|_| TooLarge)?);
            for (list_index, replace) in replaced {
                let list_index = u32::try_from(*list_index).map_err(|_| TooLarge)?;
                Replacement::encode(replace, list_index, &mut site)?;
            }
        }
        Ok(CompiledSite { shape: self.out, site })
    }

    /// All but the flags, which come last.
    fn put_shape(&mut self, rules: &[(usize, &Rule)], lists: usize) -> Result<(), TooLarge> {
        self.out.put_u32(0);
        self.out.put_u16(0);
        self.layout.put_counts(&mut self.out)?;
        self.out.put_small(rules.len())?;
        self.out.put_u16(self.tag_slot);
        // Offsets of what is of the site alone, which its numbers of names, rules and texts tell.
        let offsets_at = self.out.len();
        self.out.resize(HEADER_BYTES, 0);
        self.layout.put_names(&mut self.out);
        let heads = self.out.len();
        let head_bytes = 4 + 8 * self.layout.words();
        self.out.resize(heads + rules.len() * head_bytes, 0);
        let all: Vec<&Rule> = rules.iter().map(|(_, rule)| *rule).collect();
        let readers = Readers::new(all.iter().copied());
        for (index, (list_index, rule)) in rules.iter().enumerate() {
            let mut head = Vec::with_capacity(head_bytes);
            head.put_u32(u32::try_from(self.out.len()).map_err(|_| TooLarge)?);
            for (must, may) in self.layout.masks(rule) {
                head.put_u32(must);
                head.put_u32(may);
            }
            let at = heads + index * head_bytes;
            self.out[at..at + head_bytes].copy_from_slice(&head);
            let guards = if self.is_provable { proof::guards(&all, &readers, index) } else { None };
            self.put_rule(*list_index, rule, guards)?;
        }
        let fingerprints = 4 * lists;
        let ends = fingerprints + self.layout.names().count() + rules.len();
        self.out.set_u32(offsets_at, fingerprints)?;
        self.out.set_u32(offsets_at + 4, ends)?;
        self.out.set_u32(offsets_at + 8, ends + ((self.texts.len() + 1) << self.texts.end_width()))?;
        self.out.set_u32(offsets_at + 12, heads)?;
        self.out.set_u32(0, self.out.len())
    }

    /// The slot with the most different values that rules ask for.
    fn find_tag_slot(&self) -> u16 {
        let mut values_by_slot: BTreeMap<u16, BTreeSet<&Value>> = BTreeMap::new();
        for (_, rule) in &self.rules {
            for (key, pattern) in rule.pattern.keys() {
                let slot = self.layout.slot(key);
                if let ValuePattern::Is(value) = pattern
                    && !is_told_by_masks(key, value)
                {
                    values_by_slot.entry(slot).or_default().insert(value);
                }
            }
        }
        let most =
            values_by_slot.iter().max_by_key(|(slot, values)| (values.len(), std::cmp::Reverse(**slot)));
        most.map_or(NO_SLOT, |(slot, _)| *slot)
    }

    /// The fingerprint of the value of the tag slot that the rule asks for.
    fn fingerprint(&self, rule: &Rule) -> u8 {
        let mut keys = rule.pattern.keys();
        match keys.find(|(key, _)| self.layout.slot(key) == self.tag_slot) {
            Some((_, ValuePattern::Is(value))) => fingerprint(value.as_raw()),
            _ => ANY_FINGERPRINT,
        }
    }

    fn put_rule(
        &mut self,
        list_index: usize,
        rule: &Rule,
        guards: Option<Vec<TokenKey>>,
    ) -> Result<(), TooLarge> {
        let writes = rule.writes();
        let guards = guards.filter(|_| writes);
        let has_guards = guards.as_ref().is_some_and(|guards| !guards.is_empty());
        let (mut key, mut url) = (Vec::new(), Vec::new());
        put_template(rule, &self.layout, false, &mut self.texts, &mut key)?;
        if writes {
            put_template(rule, &self.layout, true, &mut self.texts, &mut url)?;
        }
        let has_url = writes && url != key;
        self.out.put_u8(
            flag(RULE_KEEPS_OTHERS, rule.other_params == OtherParams::Keep)
                | flag(RULE_WRITES, writes)
                | flag(RULE_IS_PROVEN, guards.is_some())
                | flag(RULE_HAS_URL, has_url)
                | flag(RULE_HAS_GUARDS, has_guards),
        );
        let checks_at = self.out.len();
        self.out.extend_from_slice(&[0; 3]);
        self.out.put_small(list_index)?;
        let url_at = self.out.len();
        if has_url {
            self.out.put_u32(0);
        }
        if let Some(guards) = guards.filter(|_| has_guards) {
            self.out.put_u8(u8::try_from(guards.len()).map_err(|_| TooLarge)?);
            guards.iter().for_each(|key| self.out.put_u16(self.layout.slot(key)));
        }
        if rule.other_params == OtherParams::Keep {
            for (_, named) in self.layout.named(rule) {
                self.out.put_u32(named);
            }
        }
        for (at, count) in self.put_checks(rule)?.into_iter().enumerate() {
            self.out[checks_at + at] = u8::try_from(count).map_err(|_| TooLarge)?;
        }
        self.out.extend_from_slice(&key);
        if has_url {
            self.out.set_u32(url_at, self.out.len())?;
            self.out.extend_from_slice(&url);
        }
        Ok(())
    }

    /// Checks that a value is a certain one, that it is of a simple class, and all others; returns their numbers.
    fn put_checks(&mut self, rule: &Rule) -> Result<[usize; 3], TooLarge> {
        let (mut simple, mut others, mut counts) = (Vec::new(), Vec::new(), [0; 3]);
        for (key, pattern) in rule.pattern.keys() {
            let slot = self.layout.slot(key);
            match pattern {
                ValuePattern::Is(value) if is_told_by_masks(key, value) => {}
                ValuePattern::Is(value) => {
                    counts[0] += 1;
                    self.out.put_u16(slot);
                    let text = value.as_raw().map(|text| self.texts.small_number(text)).transpose()?;
                    self.out.put_u16(text.unwrap_or(NO_TEXT));
                }
                ValuePattern::Any(AnyValue { class, except, .. }) => match class.simple_code() {
                    Some(code) if except.is_empty() => {
                        counts[1] += 1;
                        simple.put_u16(slot);
                        simple.put_u8(code);
                    }
                    _ if *class == ValueClass::Text && except.is_empty() => {}
                    _ => {
                        counts[2] += 1;
                        others.put_u16(slot);
                        class.encode(&mut others)?;
                        others.put_small(except.len())?;
                        for value in except {
                            others.put_text(value.as_raw())?;
                        }
                    }
                },
            }
        }
        self.out.extend_from_slice(&simple);
        self.out.extend_from_slice(&others);
        Ok(counts)
    }
}

fn flag(flag: u8, is_set: bool) -> u8 {
    if is_set { flag } else { 0 }
}

/// The fingerprint of a value.
fn fingerprint(value: RawValue<'_>) -> u8 {
    value.map_or(BARE_FINGERPRINT, |text| fingerprint_of(first_word(text, 0, text.len()), text.len()))
}

/// Whether a URL with this key has this value, or the masks tell which.
fn is_told_by_masks(key: &TokenKey, value: &Value) -> bool {
    match key {
        TokenKey::TrailingSlash => *value == Value::from("/"),
        TokenKey::QuerySeparator => *value == Value::from(";"),
        TokenKey::Scheme => [Value::from("http"), Value::from("https")].contains(value),
        _ => false,
    }
}

/// Whether query parameters of a written URL stay where they are: every one is one of the source, and there are several.
pub(super) fn writes_in_place(rule: &Rule) -> bool {
    let params = rule.rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).count();
    (params > 1 || rule.other_params == OtherParams::Keep)
        && rule.rewrite.ops().filter(|(key, _)| matches!(key, TokenKey::QueryParam(_))).all(|(key, op)| {
            match op {
                Op::Copy(from) | Op::Map { of: from, .. } => from == key,
                Op::Keep(value) => rule.pattern.get(key) == Some(&ValuePattern::Is(value.clone())),
                Op::Ignore | Op::Join(_) => false,
            }
        })
}
