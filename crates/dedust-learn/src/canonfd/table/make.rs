/*!
What an edit makes of URLs: tried on all of them, or made.
*/

use std::sync::OnceLock;

use dedust::{Change, Edit, Form, Mapped, ParamName, Spot, TokenKey, Value};
use foldhash::HashMap;

use super::fold::Folded;
use super::{NO_LIST, SpotNumber, Table};
use crate::canonfd::draft::Draft;
use crate::pair_number::{pair_number, place_of, raw_pair_number};

/// What an edit does to the pairs of a URL without looking at its form. Pairs are known by their numbers.
enum Step {
    /// The pair of this key goes.
    Drop(u32),
    /// The pair of this key becomes another.
    Become(u32, u64),
    /// The pair of this key becomes another, or goes, if it is listed.
    Map(u32, HashMap<u64, Option<u64>>),
    ForgetPath,
    /// The pairs that are listed become others.
    Fold(Folded),
}

/// What an edit does, in arithmetic.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// Whether they look at the pairs of a key, by its number.
    concerns: Vec<bool>,
    /// The only key that they look at, if there is no other.
    only: Option<SpotNumber>,
    forget_path: bool,
}

impl Steps {
    /// The pairs that are spelled in another way, if that is all that is done.
    pub(super) fn folded(&self) -> Option<impl Iterator<Item = u32>> {
        match self.steps.as_slice() {
            [Step::Fold(becomes)] => Some(becomes.keys().copied()),
            _ => None,
        }
    }
}

/// The only segment of a path that is forgotten.
const FORGOTTEN: TokenKey = TokenKey::PathSegment(0);

impl Table<'_> {
    /// The rows that `edit` would move, with where to; in the order of the rows.
    pub(in crate::canonfd) fn moves(&self, edit: &Draft) -> Vec<(u32, u64)> {
        let steps = self.steps(edit);
        let rows = self.concerned(edit, steps.as_ref());
        self.moves_of(edit, steps.as_ref(), rows)
    }

    pub(super) fn moves_of(&self, edit: &Draft, steps: Option<&Steps>, rows: Vec<u32>) -> Vec<(u32, u64)> {
        let moved = |row: u32, place: u64| (place != self.place(row)).then_some((row, place));
        if let Some(steps) = steps {
            return rows.into_iter().filter_map(|row| moved(row, self.stepped(row, steps))).collect();
        }
        let (mut form, whole) = (Form::default(), unconditional(edit));
        rows.into_iter()
            .filter_map(|row| {
                self.read_row(row, &mut form);
                if form.apply(&whole) { moved(row, place_of(&form)) } else { None }
            })
            .collect()
    }

    fn read_row(&self, row: u32, form: &mut Form) {
        form.read_pairs(self.row(row).iter().map(|&pair| (self.key_of(pair), self.raw(pair))));
    }

    /// The changes as arithmetic, where that is all there is to them.
    pub(super) fn steps(&self, edit: &Draft) -> Option<Steps> {
        let steps: Vec<Step> = match edit.change.as_slice() {
            [Change::Fold { of, to }] => vec![Step::Fold(self.folded(of, *to)?)],
            changes => changes.iter().map(|change| self.step(change)).collect::<Option<_>>()?,
        };
        let concerns = |(number, key): (usize, &TokenKey)| {
            steps.iter().any(|step| match step {
                Step::Drop(of) | Step::Become(of, _) | Step::Map(of, _) => *of as usize == number,
                Step::ForgetPath => is_of_path(key),
                Step::Fold(_) => matches!(key, TokenKey::PathSegment(_) | TokenKey::QueryParam(_)),
            })
        };
        let key = |step: &Step| match step {
            Step::Drop(key) | Step::Become(key, _) | Step::Map(key, _) => Some(*key),
            Step::ForgetPath | Step::Fold(_) => None,
        };
        let only =
            steps.first().and_then(key).filter(|only| steps.iter().all(|step| key(step) == Some(*only)));
        Some(Steps {
            concerns: self.keys.iter().enumerate().map(concerns).collect(),
            only: only.map(SpotNumber::Key),
            forget_path: steps.iter().any(|step| matches!(step, Step::ForgetPath)),
            steps,
        })
    }

    fn step(&self, change: &Change) -> Option<Step> {
        match change {
            Change::Drop(Spot::Key(key)) if !self.is_followed(key) => {
                Some(Step::Drop(*self.key_numbers.get(key)?))
            }
            Change::Forget(Spot::Key(key)) => {
                Some(Step::Become(*self.key_numbers.get(key)?, pair_number(key, Some("*"))))
            }
            Change::ForgetPath => Some(Step::ForgetPath),
            Change::Map { of, values } => {
                if values.iter().any(|mapped| mapped.becomes.is_none()) && self.is_followed(of) {
                    return None;
                }
                let entry = |mapped: &Mapped| {
                    let becomes = mapped.becomes.as_deref().map(|text| pair_number(of, Some(text)));
                    (pair_number(of, mapped.is.as_text()), becomes)
                };
                Some(Step::Map(*self.key_numbers.get(of)?, values.iter().map(entry).collect()))
            }
            _ => None,
        }
    }

    /// Whether something else changes when a key goes: what stands behind it would move up, or a separator go with it.
    fn is_followed(&self, key: &TokenKey) -> bool {
        let after = |name: &ParamName| ParamName { occurrence: name.occurrence + 1, ..name.clone() };
        match key {
            TokenKey::Subdomain(index) => self.key_numbers.contains_key(&TokenKey::Subdomain(index + 1)),
            TokenKey::PathParam(name) => self.key_numbers.contains_key(&TokenKey::PathParam(after(name))),
            TokenKey::QueryParam(name) => {
                self.key_numbers.contains_key(&TokenKey::QueryParam(after(name)))
                    || self.key_numbers.contains_key(&TokenKey::QuerySeparator)
            }
            TokenKey::PathSegment(_) | TokenKey::Scheme | TokenKey::QuerySeparator => true,
            TokenKey::Port | TokenKey::TrailingSlash | TokenKey::Hashbang => false,
        }
    }

    fn stepped(&self, row: u32, steps: &Steps) -> u64 {
        let step = |place: u64, number: u32| {
            let becomes = self.after_steps(number, steps).unwrap_or_default();
            place.wrapping_sub(self.pairs[number as usize].mix).wrapping_add(becomes)
        };
        let place = self.place(row);
        if let Some(only) = &steps.only {
            return self.get(row, only).map_or(place, |number| step(place, number));
        }
        let pairs = self.row_keys(row).iter().zip(self.row(row));
        let concerned = pairs.filter(|(key, _)| steps.concerns[**key as usize]);
        let place = concerned.fold(place, |place, (_, number)| step(place, *number));
        if steps.forget_path { place.wrapping_add(pair_number(&FORGOTTEN, Some("*"))) } else { place }
    }

    /// What becomes of a pair; `None` when it goes.
    fn after_steps(&self, number: u32, steps: &Steps) -> Option<u64> {
        let pair = &self.pairs[number as usize];
        let mut mix = pair.mix;
        for step in &steps.steps {
            match step {
                Step::Drop(key) if *key == pair.key => return None,
                Step::Become(key, becomes) if *key == pair.key => mix = *becomes,
                Step::Map(key, becomes) if *key == pair.key => {
                    if let Some(becomes) = becomes.get(&mix) {
                        mix = (*becomes)?;
                    }
                }
                Step::ForgetPath if is_of_path(&self.keys[pair.key as usize]) => return None,
                Step::Fold(becomes) => mix = becomes.get(&number).copied().unwrap_or(mix),
                _ => {}
            }
        }
        Some(mix)
    }

    /// Makes `edit`, which moves these rows.
    pub(in crate::canonfd) fn apply(&mut self, edit: &Draft, moves: &[(u32, u64)]) {
        let first_made = self.pairs.len() as u32;
        self.apply_to(edit, moves);
        self.fold_made(first_made);
    }

    fn apply_to(&mut self, edit: &Draft, moves: &[(u32, u64)]) {
        self.values_by_key.fill_with(OnceLock::new);
        let mut pairs: Vec<u32> = Vec::new();
        // Spellings make many pairs, which are numbered as forms show them.
        let steps = self.steps(edit).filter(|steps| steps.folded().is_none());
        if let Some(mut steps) = steps {
            self.add_pairs_of(edit);
            steps.concerns.resize(self.keys.len(), false);
            let forgotten = self.find_pair(&FORGOTTEN, &Value::from("*"));
            for &(row, place) in moves {
                pairs.clear();
                let old = self.row_keys(row).iter().zip(self.row(row));
                pairs.extend(old.filter_map(|(&key, &pair)| match steps.concerns[key as usize] {
                    true => self.pairs_by_mix.get(&self.after_steps(pair, &steps)?).copied(),
                    false => Some(pair),
                }));
                pairs.extend(forgotten.filter(|_| steps.forget_path));
                self.replace(row, &pairs, place);
            }
            return;
        }
        let (mut form, whole) = (Form::default(), unconditional(edit));
        for &(row, place) in moves {
            self.read_row(row, &mut form);
            if form.apply(&whole) {
                pairs.clear();
                form.pairs(|key, occurrence, value| {
                    let known = self.pairs_by_mix.get(&raw_pair_number(key, occurrence, value)).copied();
                    pairs.push(known.unwrap_or_else(|| {
                        let text = |bytes: &[u8]| Value::from(&*String::from_utf8_lossy(bytes));
                        self.pair(&key.to_key(occurrence), value.map_or(Value::Bare, text))
                    }));
                });
                self.replace(row, &pairs, place);
            }
        }
    }

    /// Adds the pairs that its steps may make.
    fn add_pairs_of(&mut self, edit: &Draft) {
        for change in &edit.change {
            match change {
                Change::Forget(Spot::Key(key)) => drop(self.pair(key, Value::from("*"))),
                Change::ForgetPath => drop(self.pair(&FORGOTTEN, Value::from("*"))),
                Change::Map { of, values } => {
                    for text in values.iter().filter_map(|mapped| mapped.becomes.as_deref()) {
                        self.pair(of, Value::from(text));
                    }
                }
                _ => {}
            }
        }
    }

    /// Gives a row other pairs, whose sum is its place.
    fn replace(&mut self, row: u32, pairs: &[u32], place: u64) {
        let mixes = pairs.iter().map(|&pair| self.pairs[pair as usize].mix);
        debug_assert_eq!(mixes.fold(0, u64::wrapping_add), place);
        let old = self.rows[row as usize].clone();
        for &number in pairs {
            if self.row(row).contains(&number) {
                continue;
            }
            let pair = &mut self.pairs[number as usize];
            pair.count += 1;
            if pair.later_rows == NO_LIST {
                pair.later_rows = self.later_rows.len() as u32;
                self.later_rows.push(Vec::new());
            }
            self.later_rows[pair.later_rows as usize].push(row);
        }
        for index in old.clone() {
            let pair = self.row_pairs[index as usize];
            if !pairs.contains(&pair) {
                self.pairs[pair as usize].count -= 1;
            }
        }
        self.leave(row);
        // In the same place where there is room.
        let start = if pairs.len() <= old.len() {
            self.row_pairs[old.start as usize..][..pairs.len()].copy_from_slice(pairs);
            old.start
        } else {
            let start = self.row_pairs.len() as u32;
            self.row_pairs.extend_from_slice(pairs);
            self.row_keys.resize(self.row_pairs.len(), 0);
            start
        };
        for (at, &pair) in pairs.iter().enumerate() {
            self.row_keys[start as usize + at] = self.pairs[pair as usize].key;
        }
        self.rows[row as usize] = start..start + pairs.len() as u32;
        self.places[row as usize] = place;
        self.enter(row, place);
    }
}

/// The changes of an edit, for URLs that are known to be concerned.
fn unconditional(edit: &Draft) -> Edit {
    Edit {
        when: Default::default(),
        change: edit.change.clone(),
        fetchable: false,
        evidence: Default::default(),
    }
}

fn is_of_path(key: &TokenKey) -> bool {
    matches!(key, TokenKey::PathSegment(_) | TokenKey::TrailingSlash | TokenKey::PathParam(_))
}
