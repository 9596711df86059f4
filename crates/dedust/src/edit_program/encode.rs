/*!
Edits to bytes that [`EditProgram`](super::EditProgram) runs.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::early::Early;
use super::names::NamesBuilder;
use super::waits::{Wait, alone, depths, waits};
use super::{
    BARE, BITS, COUNT_AT, DEPTHS, DEPTHS_AT, EARLY_AT, EXCEPT_PARAMS, FETCHABLE, FETCHABLE_AT, FILTER_AT,
    FLAGS_AT, FOLD_BYTES, HAS_FOLDS, HEAD_BYTES, IS_ALONE, IS_CLOSED, IS_LAST, LABEL_AT, LABEL_INDEX_AT,
    LABEL_LENGTH_AT, MATTERS_AT, MAY_FAIL, OF_PATH, OF_QUERY, PATH_CHARACTERS_AT, PATH_NAMES_AT,
    PATH_SEED_AT, PATH_STEPS_AT, Place, QUERY_NAMES_AT, QUERY_SEED_AT, QUERY_STEPS_AT, SPEAKS_OF_LABELS,
    TOTAL_AT, VALUES_AT, code, early_bits, filter_bit, spelling_bits, value_tag,
};
use crate::compiled::encoding::{Encode as _, TooLarge};
use crate::rule::{AnyValue, Area, Change, Closed, Edit, Mapped, PathPart, Source, Spot, Test};
use crate::url::{ParamName, RawValue, TokenKey, Value};

/// Appends edits, each with its place in the site's list, to the program of a site.
pub(crate) fn encode(edits: &[(usize, &Edit)], out: &mut Vec<u8>) -> Result<(), TooLarge> {
    let mut query_names = NamesBuilder::new(mentions(edits).filter_map(|key| match key {
        TokenKey::QueryParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let mut path_names = NamesBuilder::new(mentions(edits).filter_map(|key| match key {
        TokenKey::PathParam(name) => Some(&*name.name),
        _ => None,
    }))?;
    let is_alone = alone(edits);
    let mut head =
        Head { bytes: [0; HEAD_BYTES], folds: [0; FOLD_BYTES / 4], edits_by_tag: BTreeMap::new(), filter: 0 };
    // Those that are made early come last, and need no bit.
    let (mut early, mut edits_in_order) = (Vec::new(), Vec::new());
    for (&(place, edit), is_alone) in edits.iter().zip(is_alone) {
        match Early::of(edit).filter(|_| is_alone) {
            Some(changes) => {
                for change in changes {
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
    for (number, (_, edit, is_alone)) in edits_in_order.iter().enumerate() {
        let bit = bit_of(number, count);
        for depth in (0..DEPTHS).filter(|depth| depths(edit) & (1 << depth) != 0) {
            head.add(DEPTHS_AT + 4 * depth, bit);
        }
        if edit.fetchable {
            head.add(FETCHABLE_AT, bit);
        }
        if edit.fetchable || !is_alone {
            head.add(MATTERS_AT, bit);
        }
        for wait in &waits(edit) {
            match wait {
                Wait::QueryName(name) => query_names.add(name, bit),
                Wait::PathName(name) => path_names.add(name, bit),
                Wait::Param(name, value) => {
                    query_names.add_early(name, early_bits::HAS_VALUES);
                    head.add_value(OF_QUERY + u32::from(query_names.id(name)), value.as_raw(), bit);
                }
                Wait::Segment(text) => head.add_value(OF_PATH, Some(text.as_bytes()), bit),
                Wait::Characters(area, characters) => head.add_fold(*area as usize, *characters, bit),
                Wait::Mark(mark) => head.add(4 * *mark as usize, bit),
            }
        }
    }
    // Of an edit that is made early, nobody else speaks of the same.
    let has_early_label = head.bytes[EARLY_AT] & (early_bits::NO_LABEL[0] | early_bits::NO_LABEL[1]) != 0;
    let counts_labels = edits.iter().any(|(_, edit)| edit.closed != Closed::No);
    if counts_labels || !has_early_label && mentions(edits).any(|key| matches!(key, TokenKey::Subdomain(_))) {
        head.bytes[FLAGS_AT] |= SPEAKS_OF_LABELS;
    }
    head.put(QUERY_NAMES_AT, query_names.places.len())?;
    head.put(PATH_NAMES_AT, path_names.places.len())?;
    (head.bytes[QUERY_SEED_AT], head.bytes[PATH_SEED_AT]) = (query_names.seed, path_names.seed);
    (head.bytes[QUERY_STEPS_AT], head.bytes[PATH_STEPS_AT]) = (query_names.steps, path_names.steps);
    let values = head.value_table();
    head.put(VALUES_AT, values.len())?;

    head.bytes[FILTER_AT..].copy_from_slice(&head.filter.to_le_bytes());
    out.extend_from_slice(&head.bytes);
    if head.bytes[FLAGS_AT] & HAS_FOLDS != 0 {
        head.folds.iter().for_each(|&mask| out.put_u32(mask));
    }
    let query_at = query_names.put(out)?;
    let path_at = path_names.put(out)?;
    for (tag, mask) in values {
        out.put_u32(tag);
        out.put_u32(mask);
    }
    let places = out.len();
    out.resize(places + 4 * edits.len(), 0);
    query_names.put_long(query_at, out)?;
    path_names.put_long(path_at, out)?;
    let ids = Ids { query: &query_names, path: &path_names };
    for (number, (place, edit, is_alone)) in edits_in_order.into_iter().chain(early).enumerate() {
        out.set_u32(places + 4 * number, out.len())?;
        ids.put_edit(place, edit, is_alone, out)?;
    }
    Ok(())
}

/// The bit of an edit.
fn bit_of(number: usize, count: usize) -> u32 {
    let each = if count <= BITS { 1 } else { count.div_ceil(BITS) };
    (number / each) as u32
}

/// All keys that edits speak of.
fn mentions<'a>(edits: &[(usize, &'a Edit)]) -> impl Iterator<Item = &'a TokenKey> {
    edits.iter().flat_map(|(_, edit)| {
        let key = |spot: &'a Spot| match spot {
            Spot::Key(key) => Some(key),
            Spot::FromRight(_) => None,
        };
        let read = move |source: &'a Source| source.of.as_ref().and_then(key);
        let mut keys: Vec<&TokenKey> = edit.when.keys().filter_map(key).collect();
        for change in &edit.change {
            match change {
                Change::Drop(spot) | Change::Forget(spot) => keys.extend(key(spot)),
                Change::Map { of, .. } | Change::Fold { of: Area::Key(of), .. } => keys.push(of),
                Change::Set { key, to } => {
                    keys.push(key);
                    keys.extend(to.iter().filter_map(read));
                }
                Change::Path(parts) => keys.extend(parts.iter().filter_map(|part| match part {
                    PathPart::Value { from, .. } => read(from),
                    _ => None,
                })),
                Change::Order(order) => keys.extend(order),
                Change::ForgetPath
                | Change::Fold { .. }
                | Change::Unrepeat
                | Change::UnrepeatParams
                | Change::SplitParams
                | Change::Write(_)
                | Change::Replace(_)
                | Change::Move(_) => {}
            }
        }
        keys
    })
}

/// The header, and what is collected for the tables after it.
struct Head {
    bytes: [u8; HEAD_BYTES],
    folds: [u32; FOLD_BYTES / 4],
    edits_by_tag: BTreeMap<u32, u32>,
    filter: u64,
}

impl Head {
    /// Writes a number of 16 bits.
    fn put(&mut self, at: usize, number: usize) -> Result<(), TooLarge> {
        let number = u16::try_from(number).map_err(|_| TooLarge)?;
        self.bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
        Ok(())
    }

    /// Sets a bit of a mask.
    fn add(&mut self, at: usize, bit: u32) {
        self.bytes[at + bit as usize / 8] |= 1 << (bit % 8);
    }

    fn add_value(&mut self, of: u32, value: RawValue<'_>, bit: u32) {
        let (text, length) = value.map_or((&b""[..], BARE), |text| (text, text.len()));
        let tag = value_tag(of, text, 0, length);
        *self.edits_by_tag.entry(tag).or_default() |= 1 << bit;
        self.filter |= filter_bit(tag);
    }

    /// Notes a change that is made early, in keys, and in URLs if that can be fetched.
    fn add_early(
        &mut self,
        change: Early<'_>,
        fetchable: bool,
        query_names: &mut NamesBuilder,
        path_names: &mut NamesBuilder,
    ) {
        let site = |[in_keys, in_urls]: [u8; 2]| if fetchable { in_keys | in_urls } else { in_keys };
        let drop = site([early_bits::DROP_IN_KEYS, early_bits::DROP_IN_URLS]);
        match change {
            Early::DropParam(name) => query_names.add_early(name, drop),
            Early::DropPathParam(name) => path_names.add_early(name, drop),
            Early::ForgetParam(name) => query_names.add_early(name, early_bits::FORGET_IN_KEYS),
            Early::NoSlash => self.bytes[EARLY_AT] |= site(early_bits::NO_SLASH),
            Early::Http => self.bytes[EARLY_AT] |= site(early_bits::HTTP),
            // A label without text is any.
            Early::ForgetLabel(index) => {
                self.bytes[EARLY_AT] |= site(early_bits::NO_LABEL);
                self.bytes[LABEL_INDEX_AT] = index;
            }
            Early::NoLabel(index, text) => {
                self.bytes[EARLY_AT] |= site(early_bits::NO_LABEL);
                self.bytes[LABEL_INDEX_AT] = index;
                // At most eight bytes.
                self.bytes[LABEL_LENGTH_AT] = text.len() as u8;
                self.bytes[LABEL_AT..LABEL_AT + text.len()].copy_from_slice(text.as_bytes());
            }
        }
    }

    fn add_fold(&mut self, area: usize, characters: u8, bit: u32) {
        self.bytes[FLAGS_AT] |= HAS_FOLDS;
        self.bytes[PATH_CHARACTERS_AT + area] |= characters;
        for character in (0..spelling_bits::COUNT).filter(|at| characters & (1 << at) != 0) {
            self.folds[area * spelling_bits::COUNT + character] |= 1 << bit;
        }
    }

    /// Tags and masks of values, at least half of the places empty.
    fn value_table(&self) -> Vec<(u32, u32)> {
        if self.edits_by_tag.is_empty() {
            return Vec::new();
        }
        let mut table = vec![(0, 0); (2 * self.edits_by_tag.len()).next_power_of_two()];
        for (&tag, &edits) in &self.edits_by_tag {
            let mut at = (tag >> 8) as usize & (table.len() - 1);
            while table[at].0 != 0 {
                at = (at + 1) & (table.len() - 1);
            }
            table[at] = (tag, edits);
        }
        table
    }
}

/// The numbers of names.
struct Ids<'a> {
    query: &'a NamesBuilder,
    path: &'a NamesBuilder,
}

impl Ids<'_> {
    fn put_edit(&self, place: usize, edit: &Edit, is_alone: bool, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let can_fail = |change: &Change| matches!(change, Change::Set { .. } | Change::Path(_));
        // Nothing was changed before the first change.
        let may_fail = edit.change.iter().skip(1).any(can_fail);
        let flags = [
            (FETCHABLE, edit.fetchable),
            (MAY_FAIL, may_fail),
            (IS_ALONE, is_alone),
            (IS_CLOSED, edit.closed != Closed::No),
            (EXCEPT_PARAMS, edit.closed == Closed::ExceptParams),
            (IS_LAST, edit.last),
        ];
        out.put_u8(flags.iter().map(|(flag, is_set)| if *is_set { *flag } else { 0 }).sum());
        out.put_u8(0);
        out.put_small(edit.when.len())?;
        out.put_small(edit.change.len())?;
        out.put_small(place)?;
        for (spot, test) in &edit.when {
            self.put_place(spot, out)?;
            put_test(test, out)?;
        }
        edit.change.iter().try_for_each(|change| self.put_change(edit, change, out))
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
                let entry = |Mapped { is, becomes }: &Mapped, out: &mut Vec<u8>| {
                    out.put_text(is.as_raw())?;
                    out.put_text(becomes.as_deref().map(str::as_bytes))
                };
                put_table(values, entry, out)
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
                out.put_text(Some(name))?;
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
                out.put_text(Some(text.as_bytes()))?;
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
            return out.put_text(Some(prefix.as_bytes()));
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
        out.put_text(Some(prefix.as_bytes()))?;
        out.put_text(Some(suffix.as_bytes()))?;
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
        let entry = |(from, to): &(Box<str>, Box<str>), out: &mut Vec<u8>| {
            out.put_text(Some(from.as_bytes()))?;
            out.put_text(Some(to.as_bytes()))
        };
        put_table(table, entry, out)
    }
}

fn put_test(test: &Test, out: &mut Vec<u8>) -> Result<(), TooLarge> {
    let put_values = |values: &[Value], out: &mut Vec<u8>| {
        let values: BTreeSet<RawValue<'_>> = values.iter().map(Value::as_raw).collect();
        let values: Vec<RawValue<'_>> = values.into_iter().collect();
        put_table(&values, |value, out| out.put_text(*value), out)
    };
    match test {
        Test::Is(value) => {
            out.put_u8(code::IS);
            out.put_text(value.as_raw())
        }
        Test::OneOf(values) => {
            out.put_u8(code::ONE_OF);
            put_values(values, out)
        }
        Test::Not(values) => {
            out.put_u8(code::NOT);
            put_values(values, out)
        }
        Test::Any(AnyValue { class, except, optional }) if except.is_empty() && !optional => {
            out.put_u8(code::ANY);
            class.encode(out)
        }
        Test::Any(AnyValue { class, except, optional }) => {
            out.put_u8(code::ANY_BUT);
            out.put_u8(u8::from(*optional));
            class.encode(out)?;
            put_values(except, out)
        }
        Test::Absent => {
            out.put_u8(code::ABSENT);
            Ok(())
        }
    }
}

/// A table that is searched by the text with which each entry starts, in order: its length in bytes, the number of
/// entries, where each starts from here, the entries.
fn put_table<T>(
    entries: &[T],
    put: impl Fn(&T, &mut Vec<u8>) -> Result<(), TooLarge>,
    out: &mut Vec<u8>,
) -> Result<(), TooLarge> {
    let mut texts = Vec::new();
    let mut starts = Vec::with_capacity(entries.len());
    for entry in entries {
        starts.push(u32::try_from(texts.len()).map_err(|_| TooLarge)?);
        put(entry, &mut texts)?;
    }
    let mut table = Vec::with_capacity(4 + 4 * entries.len() + texts.len());
    table.put_u32(u32::try_from(entries.len()).map_err(|_| TooLarge)?);
    starts.iter().for_each(|&start| table.put_u32(start));
    table.extend_from_slice(&texts);
    out.put_block(&table)
}
