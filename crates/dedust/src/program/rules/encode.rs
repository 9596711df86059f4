/*!
How are rules written for [`RuleProgram`](super::RuleProgram)? As a shape, and the texts of the site, which it names by
numbers.
*/

use std::cell::RefCell;

use super::early::{Early, splits_all_params};
use super::growth::unlimited_bytes;
use super::head::Head;
use super::independence::{Masks, alone, masks};
use super::mentions::{mentioned, mentions};
use super::names::NamesBuilder;
use super::put_rule::Encoder;
use super::triggers::{Trigger, depths, triggers};
use super::values::{OF_PATH, OF_QUERY, ValueHash, sort_into_buckets};
use super::{
    BARE, BITS, COUNT_AT, CompiledSite, DEPTHS, DEPTHS_AT, END_WIDTH, ENDS_AT, FEATURES_AT, FETCHABLE_AT,
    FIRST_LABEL_AT, FLAGS_AT, Feature, HAS_FOLDS, HAS_PATH_VALUES, HEAD_BYTES, KEYS_ONLY_AT, LABEL_AT,
    MASK_BYTES, MATTERS_AT, NO_LABELS, NO_TEXT, PATH_NAMES_AT, QUERY_NAMES_AT, RULES_AT, RuleMask,
    SPLITS_PARAMS, TEXTS_AT, TOTAL_AT, UNLIMITED_AT, VALUE_TABLE_AT, VALUES_AT, early_bits,
};
use crate::delimiters::LANES;
use crate::encoding::{Encode as _, TooLarge};
use crate::program::TextBuilder;
use crate::rule::{Change, Put, Rule};
use crate::url::{UrlPart, Value};

/// The program of a site with these rules, each with its index in the site's list.
pub(crate) fn encode(rules: &[(usize, &Rule)]) -> Result<CompiledSite, TooLarge> {
    let mut query_names = NamesBuilder::new(mentions(rules).filter_map(|key| match key {
        UrlPart::QueryParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let mut path_names = NamesBuilder::new(mentions(rules).filter_map(|key| match key {
        UrlPart::PathParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let (mut texts, mut site) = (TextBuilder::default(), Vec::new());
    // What comes first and concerns all is done when a URL is read.
    let splits_params = rules.first().is_some_and(|(_, rule)| splits_all_params(rule));
    let (split, rules_after) = rules.split_at(usize::from(splits_params));
    query_names.put_texts(&mut texts, &mut site)?;
    path_names.put_texts(&mut texts, &mut site)?;
    let is_alone = alone(rules_after);
    let mut head = Head::default();
    head.put_u32(LABEL_AT, NO_TEXT as usize)?;
    // Those that are made early come last, and need no bit.
    let mut early: Vec<(usize, &Rule, bool)> =
        split.iter().map(|&(list_index, rule)| (list_index, rule, true)).collect();
    let mut rules_in_order = Vec::new();
    for (&(list_index, rule), is_alone) in rules_after.iter().zip(is_alone) {
        match Early::of(rule).filter(|_| is_alone) {
            Some(changes) => {
                for change in changes {
                    if let Early::NoLabel(_, text) = change {
                        head.put_u32(LABEL_AT, texts.number(text.as_bytes())? as usize)?;
                    }
                    head.add_early(change, rule.fetchable, &mut query_names, &mut path_names);
                }
                early.push((list_index, rule, is_alone));
            }
            None => rules_in_order.push((list_index, rule, is_alone)),
        }
    }
    let count = rules_in_order.len();
    head.put(COUNT_AT, count)?;
    head.put(TOTAL_AT, rules.len())?;
    let mut waiting_for_labels = Vec::new();
    for (number, (_, rule, is_alone)) in rules_in_order.iter().enumerate() {
        let bit = bit_of(number, count);
        for depth in (0..DEPTHS).filter(|depth| depths(rule) & (1 << depth) != 0) {
            head.add(DEPTHS_AT + MASK_BYTES * depth, bit);
        }
        if rule.fetchable {
            head.add(FETCHABLE_AT, bit);
        }
        // One that is the last for a URL ends the list there, whatever it changes.
        if !rule.fetchable || rule.last {
            head.add(KEYS_ONLY_AT, bit);
        }
        if rule.fetchable || !is_alone {
            head.add(MATTERS_AT, bit);
        }
        let max_values = MAX_VALUES.saturating_sub(head.values.len());
        let mut waits_for = triggers(rule, max_values);
        if waits_for.len() > max_values {
            waits_for = triggers(rule, 0);
        }
        for trigger in &waits_for {
            match trigger {
                Trigger::QueryName(name) => query_names.add(name, bit),
                Trigger::PathName(name) => path_names.add(name, bit),
                Trigger::Param(name, value) => {
                    query_names.add_early(name, early_bits::HAS_VALUES);
                    let of = OF_QUERY.checked_add(query_names.id(name)).ok_or(TooLarge)?;
                    head.add_value(of, value.clone(), bit);
                }
                Trigger::Segment(text) => {
                    head.bytes[FLAGS_AT] |= HAS_PATH_VALUES;
                    head.add_value(OF_PATH, Value::Text(text.clone()), bit);
                }
                Trigger::Characters(area, characters) => head.add_fold(*area as usize, *characters, bit),
                Trigger::Feature(feature) => {
                    head.add(FEATURES_AT + MASK_BYTES * *feature as usize, bit);
                    if *feature == Feature::Labels {
                        waiting_for_labels.push(*rule);
                    }
                }
            }
        }
    }
    head.bytes[UNLIMITED_AT] = unlimited_bytes(rules);
    head.bytes[FIRST_LABEL_AT] = first_label(rules, &waiting_for_labels);
    if splits_params {
        head.bytes[FLAGS_AT] |= SPLITS_PARAMS;
    }
    head.put(QUERY_NAMES_AT, query_names.len())?;
    head.put(PATH_NAMES_AT, path_names.len())?;
    head.put(VALUES_AT, head.values.len())?;

    let mut out = vec![0; HEAD_BYTES];
    if head.bytes[FLAGS_AT] & HAS_FOLDS != 0 {
        head.folds.iter().for_each(|&mask| out.put_u64(mask));
    }
    query_names.put(&mut out);
    path_names.put(&mut out);
    head.put_u32(VALUE_TABLE_AT, out.len())?;
    let hash = |(of, value, _): &(u16, Value, RuleMask)| {
        let (text, length) = value.as_raw().map_or((&b""[..], BARE), |text| (text, text.len()));
        ValueHash::new(*of, text, 0, length)
    };
    let mut values = std::mem::take(&mut head.values);
    let buckets = if values.len() > LANES { sort_into_buckets(&mut values, hash) } else { Vec::new() };
    site.extend(values.iter().map(|value| hash(value).fingerprint()));
    buckets.into_iter().for_each(|start| site.put_u16(start));
    for (of, value, mask) in &values {
        let value = value.as_raw();
        out.put_u64(*mask);
        out.put_u32(value.map_or(Ok(NO_TEXT), |text| texts.number(text))?);
        out.put_u32(u32::from(*of));
    }
    let offsets = out.len();
    head.put_u32(RULES_AT, offsets)?;
    out.resize(offsets + 4 * rules.len(), 0);
    let encoder = Encoder { query: &query_names, path: &path_names, texts: RefCell::new(texts) };
    let ordered: Vec<&Rule> = rules_in_order.iter().map(|(_, rule, _)| *rule).collect();
    let bits = |rules: &[usize]| rules.iter().fold(0, |bits, &number| bits | 1 << bit_of(number, count));
    let all = (0..count.min(BITS)).fold(0, |bits, bit| bits | 1 << bit);
    let masks: Vec<[RuleMask; 2]> = match masks(&ordered) {
        Some(masks) => {
            masks.iter().map(|Masks { again, conflicts }| [bits(again), bits(conflicts)]).collect()
        }
        None => vec![[all; 2]; count],
    };
    let mut masks = masks.into_iter();
    for (number, (list_index, rule, is_alone)) in rules_in_order.into_iter().chain(early).enumerate() {
        out.set_u32(offsets + 4 * number, out.len())?;
        // Those that are made early need no masks.
        encoder.put_rule(list_index, rule, is_alone, masks.next().unwrap_or_default(), &mut out)?;
    }
    let texts = encoder.texts.into_inner();
    head.bytes[4] = texts.end_width() << END_WIDTH;
    head.put_u32(ENDS_AT, site.len())?;
    head.put_u32(TEXTS_AT, site.len() + ((texts.len() + 1) << texts.end_width()))?;
    head.put_u32(0, out.len())?;
    texts.put(&mut site);
    out[..HEAD_BYTES].copy_from_slice(&head.bytes);
    Ok(CompiledSite { shape: out, site })
}

/// The lowest position of a label that rules speak of which wait for labels. One that is set may come after the others.
fn first_label(rules: &[(usize, &Rule)], waiting: &[&Rule]) -> u8 {
    let is_set = |change: &Change| matches!(change.facts().puts, Put::Value(UrlPart::Subdomain(_), _));
    let sets_some = rules.iter().any(|(_, rule)| rule.change.iter().any(is_set));
    let positions = waiting.iter().flat_map(|rule| mentioned(rule)).filter_map(|key| match key {
        UrlPart::Subdomain(index) if sets_some => Some(index.saturating_sub(1)),
        UrlPart::Subdomain(index) => Some(*index),
        _ => None,
    });
    positions.min().map_or(NO_LABELS, |first| u8::try_from(first).unwrap_or(NO_LABELS - 1).min(NO_LABELS - 1))
}

/// More values of a site are not waited for one by one.
const MAX_VALUES: usize = 1 << 14;

/// The bit of a rule.
fn bit_of(number: usize, count: usize) -> u32 {
    let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
    (number / each) as u32
}
