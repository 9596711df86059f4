/*!
How are edits written for [`EditProgram`](super::EditProgram)? As a shape, and the texts of the site, which it names by
numbers.
*/

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::change::MAX_DROPPED_NAMES;
use super::early::{Early, splits_all_params};
use super::head::Head;
use super::independence::{Masks, alone, masks};
use super::mentions::{mentioned, mentions};
use super::names::NamesBuilder;
use super::triggers::{Trigger, depths, triggers};
use super::values::{OF_PATH, OF_QUERY, ValueHash, sort_into_buckets};
use super::{
    BARE, BITS, COUNT_AT, CompiledSite, DEPTHS, DEPTHS_AT, EDITS_AT, END_WIDTH, ENDS_AT, EXCEPT_PARAMS,
    EditMask, FEATURES_AT, FETCHABLE, FETCHABLE_AT, FIRST_LABEL_AT, FLAGS_AT, Feature, HAS_FOLDS,
    HAS_PATH_VALUES, HEAD_BYTES, IS_ALONE, IS_CLOSED, IS_LAST, LABEL_AT, MASK_BYTES, MATTERS_AT, MAY_FAIL,
    NEEDS_LABELS, NO_LABELS, NO_TEXT, PATH_NAMES_AT, Place, QUERY_NAMES_AT, SPLITS_PARAMS, TEXTS_AT,
    TOTAL_AT, VALUE_TABLE_AT, VALUES_AT, code, early_bits,
};
use crate::encoding::{Encode as _, TooLarge};
use crate::marks::LANES;
use crate::program::{HAS_EDITS, TextBuilder};
use crate::rule::{AnyValue, Area, Change, Closed, Edit, Mapped, PathPart, Source, Spot, Test};
use crate::url::{ParamName, RawValue, TokenKey, Value};

/// The program of a site with these edits, each with its place in the site's list.
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
        split.iter().map(|&(place, edit)| (place, edit, true)).collect();
    let mut edits_in_order = Vec::new();
    for (&(place, edit), is_alone) in edits_after.iter().zip(is_alone) {
        match Early::of(edit).filter(|_| is_alone) {
            Some(changes) => {
                for change in changes {
                    if let Early::NoLabel(_, text) = change {
                        head.put_u32(LABEL_AT, texts.number(text.as_bytes())? as usize)?;
                    }
                    head.add_early(change, edit.fetchable, &mut query_names, &mut path_names);
                }
                early.push((place, edit, is_alone));
            }
            None => edits_in_order.push((place, edit, is_alone)),
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
    let places = out.len();
    head.put_u32(EDITS_AT, places)?;
    out.resize(places + 4 * edits.len(), 0);
    let encoder = Encoder { query: &query_names, path: &path_names, texts: RefCell::new(texts) };
    let ordered: Vec<&Edit> = edits_in_order.iter().map(|(_, edit, _)| *edit).collect();
    let bits = |edits: &[usize]| edits.iter().fold(0, |bits, &number| bits | 1 << bit_of(number, count));
    let mut masks =
        masks(&ordered).into_iter().map(|Masks { again, conflicts }| [bits(&again), bits(&conflicts)]);
    for (number, (place, edit, is_alone)) in edits_in_order.into_iter().chain(early).enumerate() {
        out.set_u32(places + 4 * number, out.len())?;
        // Those that are made early need no masks.
        encoder.put_edit(place, edit, is_alone, masks.next().unwrap_or_default(), &mut out)?;
    }
    let texts = encoder.texts.into_inner();
    head.bytes[4] = HAS_EDITS | texts.end_width() << END_WIDTH;
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

/// Longer texts are refused.
const MAX_TEXT_BYTES: usize = u16::MAX as usize - 1;

/// The bit of an edit.
fn bit_of(number: usize, count: usize) -> u32 {
    let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
    (number / each) as u32
}

/// The numbers of names and of texts.
struct Encoder<'a> {
    query: &'a NamesBuilder<'a>,
    path: &'a NamesBuilder<'a>,
    texts: RefCell<TextBuilder>,
}

impl Encoder<'_> {
    /// Writes the number of a text.
    fn put_text(&self, text: RawValue<'_>, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        if text.is_some_and(|text| text.len() > MAX_TEXT_BYTES) {
            return Err(TooLarge);
        }
        out.put_u32(text.map_or(Ok(NO_TEXT), |text| self.texts.borrow_mut().number(text))?);
        Ok(())
    }

    fn put_edit(
        &self,
        place: usize,
        edit: &Edit,
        is_alone: bool,
        masks: [EditMask; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), TooLarge> {
        let can_fail = |change: &Change| matches!(change, Change::Set { .. } | Change::Path(_));
        // Nothing was changed before the first change.
        let may_fail = edit.change.iter().skip(1).any(can_fail);
        let is_label = |key: &&TokenKey| matches!(key, TokenKey::Subdomain(_));
        let flags = [
            (FETCHABLE, edit.fetchable),
            (MAY_FAIL, may_fail),
            (IS_ALONE, is_alone),
            (IS_CLOSED, edit.closed != Closed::No),
            (EXCEPT_PARAMS, edit.closed == Closed::ExceptParams),
            (IS_LAST, edit.last),
            (NEEDS_LABELS, edit.closed != Closed::No || mentioned(edit).iter().any(is_label)),
        ];
        out.put_u8(flags.iter().map(|(flag, is_set)| if *is_set { *flag } else { 0 }).sum());
        out.put_u8(0);
        out.put_small(edit.when.len())?;
        let changes_at = out.len();
        out.put_u16(0);
        out.put_small(place)?;
        masks.iter().for_each(|&mask| out.put_u64(mask));
        for (spot, test) in &edit.when {
            self.put_test(spot, test, out)?;
        }
        if edit.closed != Closed::No {
            self.put_counted(edit, out)?;
        }
        let (mut changes, mut count) = (&edit.change[..], 0);
        while let [change, rest @ ..] = changes {
            let names = changes.iter().map_while(|change| self.dropped_name(edit, change));
            match names.clone().count() {
                0 | 1 => {
                    self.put_change(edit, change, out)?;
                    changes = rest;
                }
                together => {
                    out.put_u8(code::DROP_NAMES);
                    out.put_u64(names.fold(0, |names, id| names | 1 << id));
                    changes = &changes[together..];
                }
            }
            count += 1;
        }
        let count = u16::try_from(count).map_err(|_| TooLarge)?;
        out[changes_at..changes_at + 2].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    /// Of a closed edit: how many parts are there for sure if its tests are true, and the places of parts that may be there or not.
    fn put_counted(&self, edit: &Edit, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let is_counted = |spot: &Spot| match spot {
            Spot::Key(TokenKey::Scheme) => false,
            Spot::Key(TokenKey::QueryParam(_) | TokenKey::QuerySeparator) => edit.closed == Closed::Yes,
            _ => true,
        };
        let (mut certain, mut possible) = (0, Vec::new());
        for (spot, test) in edit.when.iter().filter(|(spot, _)| is_counted(spot)) {
            match test {
                Test::Is(_) | Test::OneOf(_) => certain += 1,
                Test::Any(any) if !any.optional => certain += 1,
                Test::Any(_) | Test::Not(_) => possible.push(spot),
                Test::Absent => {}
            }
        }
        out.put_small(certain)?;
        out.put_small(possible.len())?;
        possible.into_iter().try_for_each(|spot| self.put_place(spot, out))
    }

    /// The number of the name whose query parameters a change leaves out, all of them or those that another change of the edit
    /// left.
    fn dropped_name(&self, edit: &Edit, change: &Change) -> Option<u16> {
        let Change::Drop(spot @ Spot::Key(TokenKey::QueryParam(name))) = change else { return None };
        let first = Spot::Key(TokenKey::QueryParam(ParamName { name: name.name.clone(), occurrence: 1 }));
        let drops = |spot: &Spot| Change::drops_all(&edit.when, &edit.change, spot);
        let is_left_out = drops(spot) || drops(&first) && edit.change.contains(&Change::Drop(first.clone()));
        Some(self.query.id(&name.name)).filter(|&id| is_left_out && id < MAX_DROPPED_NAMES)
    }

    fn put_place(&self, spot: &Spot, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let (code, index, occurrence) = match spot {
            Spot::FromRight(index) => (Place::FROM_RIGHT, *index, 0),
            Spot::Key(key) => match key {
                TokenKey::Scheme => (Place::SCHEME, 0, 0),
                TokenKey::Port => (Place::PORT, 0, 0),
                TokenKey::Hashbang => (Place::HASHBANG, 0, 0),
                TokenKey::TrailingSlash => (Place::TRAILING_SLASH, 0, 0),
                TokenKey::QuerySeparator => (Place::SEPARATOR, 0, 0),
                TokenKey::Subdomain(index) => (Place::LABEL, *index, 0),
                TokenKey::PathSegment(index) => (Place::SEGMENT, *index, 0),
                TokenKey::PathParam(name) => (Place::PATH_PARAM, self.path.id(&name.name), name.occurrence),
                TokenKey::QueryParam(name) => {
                    (Place::QUERY_PARAM, self.query.id(&name.name), name.occurrence)
                }
            },
        };
        out.put_u8(code);
        out.put_u16(index);
        out.put_small(occurrence as usize)
    }

    /// What is dropped: a place, or all parameters of a name.
    fn put_dropped(&self, edit: &Edit, spot: &Spot, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let all = |name: &ParamName| ParamName { name: name.name.clone(), occurrence: Place::ALL.into() };
        match spot {
            Spot::Key(TokenKey::QueryParam(name)) if Change::drops_all(&edit.when, &edit.change, spot) => {
                self.put_key(&TokenKey::QueryParam(all(name)), out)
            }
            Spot::Key(TokenKey::PathParam(name)) if Change::drops_all(&edit.when, &edit.change, spot) => {
                self.put_key(&TokenKey::PathParam(all(name)), out)
            }
            _ => self.put_place(spot, out),
        }
    }

    fn put_key(&self, key: &TokenKey, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.put_place(&Spot::Key(key.clone()), out)
    }

    fn put_change(&self, edit: &Edit, change: &Change, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        match change {
            Change::Drop(spot) => {
                out.put_u8(code::DROP);
                self.put_dropped(edit, spot, out)
            }
            Change::Forget(spot) => {
                out.put_u8(code::FORGET);
                self.put_place(spot, out)
            }
            Change::ForgetPath => {
                out.put_u8(code::FORGET_PATH);
                Ok(())
            }
            Change::Map { of, values } => {
                out.put_u8(code::MAP);
                self.put_key(of, out)?;
                let texts = values
                    .iter()
                    .map(|Mapped { is, becomes }| [is.as_raw(), becomes.as_deref().map(str::as_bytes)]);
                self.put_table(texts, out)
            }
            Change::Fold { of, to } => {
                out.put_u8(code::FOLD);
                out.put_u8(to.code());
                match of {
                    Area::Path => out.put_u8(code::FOLD_PATH),
                    Area::Params => out.put_u8(code::FOLD_PARAMS),
                    Area::Key(key) => {
                        out.put_u8(code::FOLD_ONE);
                        self.put_key(key, out)?;
                    }
                }
                Ok(())
            }
            Change::Set { key, to } => {
                out.put_u8(code::SET);
                self.put_key(key, out)?;
                let name = match key {
                    TokenKey::QueryParam(name) => name.name.as_bytes(),
                    _ => b"",
                };
                self.put_text(Some(name), out)?;
                out.put_small(to.len())?;
                to.iter().try_for_each(|source| self.put_source(source, out))
            }
            Change::Path(parts) => {
                out.put_u8(code::PATH);
                out.put_small(parts.len())?;
                parts.iter().try_for_each(|part| self.put_part(part, out))
            }
            Change::Unrepeat => {
                out.put_u8(code::UNREPEAT);
                Ok(())
            }
            Change::SplitParams => {
                out.put_u8(code::SPLIT_PARAMS);
                Ok(())
            }
            Change::Order(order) => {
                out.put_u8(code::ORDER);
                out.put_small(order.len())?;
                order.iter().try_for_each(|key| self.put_key(key, out))
            }
            // Not changes of parts: what writes URLs anew becomes a template, the others come before all edits.
            Change::Write(_) | Change::Replace(_) | Change::Move(_) => Err(TooLarge),
            Change::UnrepeatParams => {
                out.put_u8(code::UNREPEAT_PARAMS);
                Ok(())
            }
        }
    }

    fn put_part(&self, part: &PathPart, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        match part {
            PathPart::Text(text) => {
                out.put_u8(code::PART_TEXT);
                self.put_text(Some(text.as_bytes()), out)?;
            }
            PathPart::Segments { from, but_last } => {
                out.put_u8(code::PART_SEGMENTS);
                out.put_u16(*from);
                out.put_u16(*but_last);
            }
            PathPart::First(count) => {
                out.put_u8(code::PART_FIRST);
                out.put_u16(*count);
            }
            PathPart::Last(count) => {
                out.put_u8(code::PART_LAST);
                out.put_u16(*count);
            }
            PathPart::Value { from, split } => {
                out.put_u8(code::PART_VALUE);
                // A slash separates anyway.
                let separator = split.and_then(|split| u8::try_from(split).ok()).filter(u8::is_ascii);
                out.put_u8(separator.unwrap_or(b'/'));
                self.put_source(from, out)?;
            }
        }
        Ok(())
    }

    fn put_source(&self, source: &Source, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let Source { prefix, of, part, count, table, suffix } = source;
        let Some(spot) = of else {
            // Nothing comes after a text alone.
            out.put_u8(0);
            return self.put_text(Some(prefix.as_bytes()), out);
        };
        let flags = [
            (code::SOURCE_READS, true),
            (code::SOURCE_HAS_ATOM, part.is_some()),
            (code::SOURCE_COUNTS, count.is_some()),
            // Counting comes first.
            (code::SOURCE_HAS_TABLE, count.is_none() && !table.is_empty()),
        ];
        let flags: u8 = flags.iter().map(|(flag, is_set)| if *is_set { *flag } else { 0 }).sum();
        out.put_u8(flags);
        self.put_text(Some(prefix.as_bytes()), out)?;
        self.put_text(Some(suffix.as_bytes()), out)?;
        self.put_place(spot, out)?;
        if let Some(atom) = part {
            atom.encode(out);
        }
        if let Some(count) = count {
            out.put_u64(count.times.cast_unsigned());
            out.put_u64(count.plus.cast_unsigned());
        }
        if flags & code::SOURCE_HAS_TABLE == 0 {
            return Ok(());
        }
        self.put_table(table.iter().map(|(from, to)| [Some(from.as_bytes()), Some(to.as_bytes())]), out)
    }

    /// Writes a [`StoredTest`](super::StoredTest), and what comes after it.
    fn put_test(&self, spot: &Spot, test: &Test, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let is_optional = matches!(test, Test::Any(AnyValue { optional: true, .. }));
        let (code, values) = match test {
            Test::Is(value) => (code::IS, std::slice::from_ref(value)),
            Test::Not(values) if values.len() == 1 => (code::IS_NOT, values.as_slice()),
            Test::OneOf(values) => (code::ONE_OF, values.as_slice()),
            Test::Not(values) => (code::NOT, values.as_slice()),
            Test::Any(any) if any.except.is_empty() && !is_optional => (code::ANY, [].as_slice()),
            Test::Any(any) => (code::ANY_BUT, any.except.as_slice()),
            Test::Absent => (code::ABSENT, [].as_slice()),
        };
        out.put_u8(code);
        self.put_place(spot, out)?;
        out.put_u8(u8::from(is_optional));
        out.put_u8(0);
        if let (code::IS | code::IS_NOT, [value]) = (code, values) {
            return self.put_text(value.as_raw(), out);
        }
        let values: BTreeSet<RawValue<'_>> = values.iter().map(Value::as_raw).collect();
        out.put_u32(u32::try_from(values.len()).map_err(|_| TooLarge)?);
        if let Test::Any(any) = test {
            any.class.encode(out)?;
        }
        values.into_iter().try_for_each(|value| self.put_text(value, out))
    }

    /// A table that is searched by the first text of each entry, in order: the number of entries, then the numbers of the
    /// texts of each.
    fn put_table<'t, const N: usize>(
        &self,
        entries: impl ExactSizeIterator<Item = [RawValue<'t>; N]>,
        out: &mut Vec<u8>,
    ) -> Result<(), TooLarge> {
        out.put_u32(u32::try_from(entries.len()).map_err(|_| TooLarge)?);
        entries.flatten().try_for_each(|text| self.put_text(text, out))
    }
}
