/*!
How is one rule written? Its flags and masks, its tests, then its changes, with texts and names by their numbers.
*/

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::change::{MAX_DROPPED_NAMES, kind};
use super::mentions::mentioned;
use super::names::NamesBuilder;
use super::replace;
use super::{
    EXCEPT_PARAMS, FETCHABLE, IS_ALONE, IS_CLOSED, IS_LAST, MAY_FAIL, NEEDS_LABELS, NO_TEXT, RuleMask,
    StoredSpot, code,
};
use crate::encoding::{Encode as _, TooLarge};
use crate::program::TextBuilder;
use crate::rule::{
    AnyValue, Area, Change, Closed, Failure, Mapped, PathPart, Replace, Rule, Source, Spot, Test,
};
use crate::url::{ParamName, RawValue, UrlPart, Value};

/// Longer texts are refused.
const MAX_TEXT_BYTES: usize = u16::MAX as usize - 1;

/// The numbers of names and of texts.
pub(super) struct Encoder<'a> {
    pub(super) query: &'a NamesBuilder<'a>,
    pub(super) path: &'a NamesBuilder<'a>,
    pub(super) texts: RefCell<TextBuilder>,
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

    /// Writes a rule: whether it is alone, its masks, its tests and its changes.
    pub(super) fn put_rule(
        &self,
        list_index: usize,
        rule: &Rule,
        is_alone: bool,
        masks: [RuleMask; 2],
        out: &mut Vec<u8>,
    ) -> Result<(), TooLarge> {
        let can_fail = |(at, change): (usize, &Change)| match change.facts().fails {
            Failure::Never => false,
            // Nothing was changed before the first change.
            Failure::WithoutValue => at > 0,
            Failure::WithoutRoom(values) => at > 0 && values.iter().any(|mapped| mapped.becomes.is_some()),
            Failure::NoUrl => true,
        };
        let may_fail = rule.change.iter().enumerate().any(can_fail);
        let is_label = |key: &&UrlPart| matches!(key, UrlPart::Subdomain(_));
        let flags = [
            (FETCHABLE, rule.fetchable),
            (MAY_FAIL, may_fail),
            (IS_ALONE, is_alone),
            (IS_CLOSED, rule.closed != Closed::No),
            (EXCEPT_PARAMS, rule.closed == Closed::ExceptParams),
            (IS_LAST, rule.last),
            (NEEDS_LABELS, rule.closed != Closed::No || mentioned(rule).iter().any(is_label)),
        ];
        out.put_u8(flags.iter().map(|(flag, is_set)| if *is_set { *flag } else { 0 }).sum());
        out.put_u8(0);
        out.put_small(rule.when.len())?;
        let changes_at = out.len();
        out.put_u16(0);
        out.put_small(list_index)?;
        masks.iter().for_each(|&mask| out.put_u64(mask));
        for (spot, test) in &rule.when {
            self.put_test(spot, test, out)?;
        }
        if rule.closed != Closed::No {
            self.put_counted(rule, out)?;
        }
        let (mut changes, mut count) = (&rule.change[..], 0);
        while let [change, rest @ ..] = changes {
            let names = changes.iter().map_while(|change| self.dropped_name(rule, change));
            match names.clone().count() {
                0 | 1 => {
                    self.put_change(rule, change, out)?;
                    changes = rest;
                }
                together => {
                    out.put_u8(kind::DROP_NAMES);
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

    /// Of a closed rule: how many parts are there for sure if its tests are true, and where parts are that may be there or not.
    fn put_counted(&self, rule: &Rule, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let is_counted = |spot: &Spot| match spot {
            Spot::Key(UrlPart::Scheme) => false,
            Spot::Key(UrlPart::QueryParam(_) | UrlPart::QuerySeparator) => rule.closed == Closed::Yes,
            _ => true,
        };
        let (mut certain, mut possible) = (0, Vec::new());
        for (spot, test) in rule.when.iter().filter(|(spot, _)| is_counted(spot)) {
            match test {
                Test::Is(_) | Test::OneOf(_) => certain += 1,
                Test::Any(any) if !any.optional => certain += 1,
                Test::Any(_) | Test::Not(_) => possible.push(spot),
                Test::Absent => {}
            }
        }
        out.put_small(certain)?;
        out.put_small(possible.len())?;
        possible.into_iter().try_for_each(|spot| self.put_spot(spot, out))
    }

    /// The number of the name whose query parameters a change leaves out, all of them or those that another change of the rule
    /// left.
    fn dropped_name(&self, rule: &Rule, change: &Change) -> Option<u16> {
        let Change::Drop(spot @ Spot::Key(UrlPart::QueryParam(name))) = change else { return None };
        let first = Spot::Key(UrlPart::QueryParam(ParamName { name: name.name.clone(), occurrence: 1 }));
        let drops = |spot: &Spot| Change::drops_all(&rule.when, &rule.change, spot);
        let is_left_out = drops(spot) || drops(&first) && rule.change.contains(&Change::Drop(first.clone()));
        Some(self.query.id(&name.name)).filter(|&id| is_left_out && id < MAX_DROPPED_NAMES)
    }

    fn put_spot(&self, spot: &Spot, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let (code, index, occurrence) = match spot {
            Spot::FromRight(index) => (StoredSpot::FROM_RIGHT, *index, 0),
            Spot::Key(key) => match key {
                UrlPart::Scheme => (StoredSpot::SCHEME, 0, 0),
                UrlPart::Port => (StoredSpot::PORT, 0, 0),
                UrlPart::Hashbang => (StoredSpot::HASHBANG, 0, 0),
                UrlPart::TrailingSlash => (StoredSpot::TRAILING_SLASH, 0, 0),
                UrlPart::QuerySeparator => (StoredSpot::SEPARATOR, 0, 0),
                UrlPart::Subdomain(index) => (StoredSpot::LABEL, *index, 0),
                UrlPart::PathSegment(index) => (StoredSpot::SEGMENT, *index, 0),
                UrlPart::PathParam(name) => {
                    (StoredSpot::PATH_PARAM, self.path.id(&name.name), name.occurrence)
                }
                UrlPart::QueryParam(name) => {
                    (StoredSpot::QUERY_PARAM, self.query.id(&name.name), name.occurrence)
                }
            },
        };
        out.put_u8(code);
        out.put_u16(index);
        out.put_small(occurrence as usize)
    }

    /// What is dropped: one part, or all parameters of a name.
    fn put_dropped(&self, rule: &Rule, spot: &Spot, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let all =
            |name: &ParamName| ParamName { name: name.name.clone(), occurrence: StoredSpot::ALL.into() };
        match spot {
            Spot::Key(UrlPart::QueryParam(name)) if Change::drops_all(&rule.when, &rule.change, spot) => {
                self.put_key(&UrlPart::QueryParam(all(name)), out)
            }
            Spot::Key(UrlPart::PathParam(name)) if Change::drops_all(&rule.when, &rule.change, spot) => {
                self.put_key(&UrlPart::PathParam(all(name)), out)
            }
            _ => self.put_spot(spot, out),
        }
    }

    fn put_key(&self, key: &UrlPart, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.put_spot(&Spot::Key(key.clone()), out)
    }

    fn put_change(&self, rule: &Rule, change: &Change, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        match change {
            Change::Drop(spot) => {
                out.put_u8(kind::DROP);
                self.put_dropped(rule, spot, out)
            }
            Change::Forget(spot) => {
                out.put_u8(kind::FORGET);
                self.put_spot(spot, out)
            }
            Change::ForgetPath => {
                out.put_u8(kind::FORGET_PATH);
                Ok(())
            }
            Change::Map { of, values } => {
                out.put_u8(kind::MAP);
                self.put_key(of, out)?;
                let texts = values
                    .iter()
                    .map(|Mapped { is, becomes }| [is.as_raw(), becomes.as_deref().map(str::as_bytes)]);
                self.put_table(texts, out)
            }
            Change::Fold { of, to } => {
                out.put_u8(kind::FOLD);
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
                out.put_u8(kind::SET);
                self.put_key(key, out)?;
                let name = match key {
                    UrlPart::QueryParam(name) | UrlPart::PathParam(name) => name.name.as_bytes(),
                    _ => b"",
                };
                self.put_text(Some(name), out)?;
                out.put_small(to.len())?;
                to.iter().try_for_each(|source| self.put_source(source, out))
            }
            Change::Path(parts) => {
                out.put_u8(kind::PATH);
                out.put_small(parts.len())?;
                parts.iter().try_for_each(|part| self.put_part(part, out))
            }
            Change::Unrepeat => {
                out.put_u8(kind::UNREPEAT);
                Ok(())
            }
            Change::SplitParams => {
                out.put_u8(kind::SPLIT_PARAMS);
                Ok(())
            }
            Change::Order(order) => {
                out.put_u8(kind::ORDER);
                out.put_small(order.len())?;
                order.iter().try_for_each(|key| self.put_key(key, out))
            }
            Change::Replace(list) => {
                out.put_u8(kind::REPLACE);
                out.put_small(list.len())?;
                list.iter().try_for_each(|replace| self.put_replace(replace, out))
            }
            Change::UnrepeatParams => {
                out.put_u8(kind::UNREPEAT_PARAMS);
                Ok(())
            }
        }
    }

    fn put_replace(&self, replace: &Replace, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let Replace { from, to, at_start, at_end } = replace;
        let start = if *at_start { replace::AT_START } else { 0 };
        out.put_u8(start | if *at_end { replace::AT_END } else { 0 });
        self.put_text(Some(from.as_bytes()), out)?;
        self.put_text(Some(to.as_bytes()), out)
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
        self.put_spot(spot, out)?;
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
        self.put_spot(spot, out)?;
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
