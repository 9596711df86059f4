/*!
How are edits written for [`EditProgram`](super::EditProgram)? As a shape, and the texts of the site, which it names by
numbers.
*/

use std::cell::RefCell;

use super::early::{Early, splits_all_params};
use super::growth::unlimited_bytes;
use super::head::Head;
use super::independence::{Masks, alone, masks};
use super::mentions::{mentioned, mentions};
use super::names::NamesBuilder;
use super::put_edit::Encoder;
use super::triggers::{Trigger, depths, triggers};
use super::values::{OF_PATH, OF_QUERY, ValueHash, sort_into_buckets};
use super::{
    BARE, BITS, COUNT_AT, CompiledSite, DEPTHS, DEPTHS_AT, EDITS_AT, END_WIDTH, ENDS_AT, EditMask,
    FEATURES_AT, FETCHABLE_AT, FIRST_LABEL_AT, FLAGS_AT, Feature, HAS_FOLDS, HAS_PATH_VALUES, HEAD_BYTES,
    KEYS_ONLY_AT, LABEL_AT, MASK_BYTES, MATTERS_AT, NO_LABELS, NO_TEXT, PATH_NAMES_AT, QUERY_NAMES_AT,
    SPLITS_PARAMS, TEXTS_AT, TOTAL_AT, UNLIMITED_AT, VALUE_TABLE_AT, VALUES_AT, early_bits,
};
use crate::delimiters::LANES;
use crate::encoding::{Encode as _, TooLarge};
use crate::program::TextBuilder;
use crate::rule::{Change, Edit};
use crate::url::{TokenKey, Value};

/// The program of a site with these edits, each with its index in the site's list.
pub(crate) fn encode(edits: &[(usize, &Edit)]) -> Result<CompiledSite, TooLarge> {
    let mut query_names = NamesBuilder::new(mentions(edits).filter_map(|key| match key {
        TokenKey::QueryParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let mut path_names = NamesBuilder::new(mentions(edits).filter_map(|key| match key {
        TokenKey::PathParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let (mut texts, mut site) = (TextBuilder::default(), Vec::new());
    // What comes first and concerns all is done when a URL is read.
    let splits_params = edits.first().is_some_and(|(_, edit)| splits_all_params(edit));
    let (split, edits_after) = edits.split_at(usize::from(splits_params));
    query_names.put_texts(&mut texts, &mut site)?;
    path_names.put_texts(&mut texts, &mut site)?;
    let is_alone = alone(edits_after);
    let mut head = Head::default();
    head.put_u32(LABEL_AT, NO_TEXT as usize)?;
    // Those that are made early come last, and need no bit.
    let mut early: Vec<(usize, &Edit, bool)> =
        split.iter().map(|&(list_index, edit)| (list_index, edit, true)).collect();
    let mut edits_in_order = Vec::new();
    for (&(list_index, edit), is_alone) in edits_after.iter().zip(is_alone) {
        match Early::of(edit).filter(|_| is_alone) {
            Some(changes) => {
                for change in changes {
                    if let Early::NoLabel(_, text) = change {
                        head.put_u32(LABEL_AT, texts.number(text.as_bytes())? as usize)?;
                    }
                    head.add_early(change, edit.fetchable, &mut query_names, &mut path_names);
                }
                early.push((list_index, edit, is_alone));
            }
            None => edits_in_order.push((list_index, edit, is_alone)),
        }
    }
    let count = edits_in_order.len();
    head.put(COUNT_AT, count)?;
    head.put(TOTAL_AT, edits.len())?;
    let mut waiting_for_labels = Vec::new();
    for (number, (_, edit, is_alone)) in edits_in_order.iter().enumerate() {
        let bit = bit_of(number, count);
        for depth in (0..DEPTHS).filter(|depth| depths(edit) & (1 << depth) != 0) {
            head.add(DEPTHS_AT + MASK_BYTES * depth, bit);
        }
        if edit.fetchable {
            head.add(FETCHABLE_AT, bit);
        }
        // One that is the last for a URL ends the list there, whatever it changes.
        if !edit.fetchable || edit.last {
            head.add(KEYS_ONLY_AT, bit);
        }
        if edit.fetchable || !is_alone {
            head.add(MATTERS_AT, bit);
        }
        let max_values = MAX_VALUES.saturating_sub(head.values.len());
        let mut waits_for = triggers(edit, max_values);
        if waits_for.len() > max_values {
            waits_for = triggers(edit, 0);
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
                        waiting_for_labels.push(*edit);
                    }
                }
            }
        }
    }
    head.bytes[UNLIMITED_AT] = unlimited_bytes(edits);
    head.bytes[FIRST_LABEL_AT] = first_label(edits, &waiting_for_labels);
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
    let hash = |(of, value, _): &(u16, Value, EditMask)| {
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
    head.put_u32(EDITS_AT, offsets)?;
    out.resize(offsets + 4 * edits.len(), 0);
    let encoder = Encoder { query: &query_names, path: &path_names, texts: RefCell::new(texts) };
    let ordered: Vec<&Edit> = edits_in_order.iter().map(|(_, edit, _)| *edit).collect();
    let bits = |edits: &[usize]| edits.iter().fold(0, |bits, &number| bits | 1 << bit_of(number, count));
    let all = (0..count.min(BITS)).fold(0, |bits, bit| bits | 1 << bit);
    let masks: Vec<[EditMask; 2]> = match masks(&ordered) {
        Some(masks) => {
            masks.iter().map(|Masks { again, conflicts }| [bits(again), bits(conflicts)]).collect()
        }
        None => vec![[all; 2]; count],
    };
    let mut masks = masks.into_iter();
    for (number, (list_index, edit, is_alone)) in edits_in_order.into_iter().chain(early).enumerate() {
        out.set_u32(offsets + 4 * number, out.len())?;
        // Those that are made early need no masks.
        encoder.put_edit(list_index, edit, is_alone, masks.next().unwrap_or_default(), &mut out)?;
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

/// The lowest position of a label that edits speak of which wait for labels. One that is set may come after the others.
fn first_label(edits: &[(usize, &Edit)], waiting: &[&Edit]) -> u8 {
    let is_set = |change: &Change| matches!(change, Change::Set { key: TokenKey::Subdomain(_), .. });
    let sets_some = edits.iter().any(|(_, edit)| edit.change.iter().any(is_set));
    let positions = waiting.iter().flat_map(|edit| mentioned(edit)).filter_map(|key| match key {
        TokenKey::Subdomain(index) if sets_some => Some(index.saturating_sub(1)),
        TokenKey::Subdomain(index) => Some(*index),
        _ => None,
    });
    positions.min().map_or(NO_LABELS, |first| u8::try_from(first).unwrap_or(NO_LABELS - 1).min(NO_LABELS - 1))
}

/// More values of a site are not waited for one by one.
const MAX_VALUES: usize = 1 << 14;

/// The bit of an edit.
fn bit_of(number: usize, count: usize) -> u32 {
    let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
    (number / each) as u32
}
