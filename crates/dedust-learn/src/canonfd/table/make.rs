/*!
What a rule makes of URLs: tried on all of them, or made.
*/

use std::sync::OnceLock;

use dedust::rules::{Change, Mapped, ParamName, Spot, UrlPart, Value};
use dedust::support::{Put, RuleList, Taken, UrlParts};
use foldhash::HashMap;

use super::fold::Folded;
use super::{NO_LIST, SpotNumber, Table};
use crate::canonfd::draft::Draft;
use crate::pair_number::{form_id_of, pair_number, raw_pair_number};
use crate::thresholds;

/// What a rule does to the pairs of a URL without looking at its form. Pairs are known by their numbers.
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

/// What a rule does, in arithmetic.
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The only key that they look at, if there is no other.
    only: Option<u32>,
    /// Otherwise, whether they look at the pairs of a key, by its number.
    concerns: Vec<bool>,
    /// Keys that change too when a key goes: rows that have one of them are taken apart.
    followers: Vec<u32>,
    /// The key that goes with the last parameter, if parameters are taken away.
    separator: Option<u32>,
    forget_path: bool,
}

impl Steps {
    /// Whether they look at the pairs of a key.
    fn concerns(&self, key: u32) -> bool {
        match self.only {
            Some(only) => only == key,
            None => self.concerns.get(key as usize).is_some_and(|concerns| *concerns),
        }
    }

    /// Whether they tell what becomes of any row.
    pub(super) fn is_arithmetic(&self) -> bool {
        self.followers.is_empty() && self.separator.is_none()
    }

    /// The pairs that are spelled in another way, if that is all that is done.
    pub(super) fn folded(&self) -> Option<impl Iterator<Item = u32>> {
        match self.steps.as_slice() {
            [Step::Fold(becomes)] => Some(becomes.keys().copied()),
            _ => None,
        }
    }
}

/// The only segment of a path that is forgotten.
const FORGOTTEN: UrlPart = UrlPart::PathSegment(0);

impl Table<'_> {
    /// The rows that `rule` would move, with where to; in the order of the rows.
    pub(in crate::canonfd) fn moves(&self, rule: &Draft) -> Vec<(u32, u64)> {
        let (moves, work) = self.moves_and_work(rule);
        self.add_work(work);
        moves
    }

    /// The rows that `rule` would move, with where to, and the work to find and to join them.
    pub(in crate::canonfd) fn moves_and_work(&self, rule: &Draft) -> (Vec<(u32, u64)>, u64) {
        let steps = self.steps(rule);
        let (rows, looked_at) = self.concerned(rule, steps.as_ref());
        let (moves, taken_apart) = self.moves_of(rule, steps.as_ref(), rows);
        let work = self.work_on(looked_at, taken_apart) + moves.len() as u64 * thresholds::work::PER_MOVE;
        (moves, work)
    }

    /// Where `rule` moves those of these rows that it does, and how many of them had to be taken apart.
    pub(super) fn moves_of(
        &self,
        rule: &Draft,
        steps: Option<&Steps>,
        rows: Vec<u32>,
    ) -> (Vec<(u32, u64)>, usize) {
        let (mut parts, mut rules, mut taken_apart) = (UrlParts::default(), None, 0);
        let mut becomes = |row: u32| match steps {
            Some(steps) if self.is_arithmetic(row, steps) => Some(self.stepped(row, steps)),
            _ => {
                taken_apart += 1;
                let rules = rules.get_or_insert_with(|| compiled(rule));
                self.read_row(row, rules, &mut parts);
                parts.apply(rules, 0).then(|| form_id_of(&parts))
            }
        };
        let moved = |row: u32| Some((row, becomes(row).filter(|form_id| *form_id != self.form_id(row))?));
        (rows.into_iter().filter_map(moved).collect(), taken_apart)
    }

    /// Whether steps tell what becomes of a row: nothing in it moves up, and a separator keeps something to separate.
    fn is_arithmetic(&self, row: u32, steps: &Steps) -> bool {
        if steps.is_arithmetic() {
            return true;
        }
        let keys = self.row_keys(row);
        let is_param = |key: &&u32| matches!(self.keys[**key as usize], UrlPart::QueryParam(_));
        let keeps_separator = steps.separator.is_none_or(|separator| {
            !keys.contains(&separator) || keys.iter().filter(is_param).count() > steps.steps.len()
        });
        keeps_separator && !keys.iter().any(|key| steps.followers.contains(key))
    }

    fn read_row(&self, row: u32, rules: &RuleList, parts: &mut UrlParts) {
        parts.read_pairs(self.row(row).iter().map(|&pair| (self.key_of(pair), self.raw(pair))), rules);
    }

    /// The changes as arithmetic, where that is all there is to them.
    pub(super) fn steps(&self, rule: &Draft) -> Option<Steps> {
        let puts: Vec<Put<'_>> = rule.change.iter().map(|change| change.facts().puts).collect();
        let steps: Vec<Step> = match puts[..] {
            [Put::Spelling(of, to)] => vec![Step::Fold(self.folded(of, to)?)],
            _ => {
                let steps = rule.change.iter().map(|change| self.steps_of(rule, change));
                steps.collect::<Option<Vec<Vec<Step>>>>()?.into_iter().flatten().collect()
            }
        };
        let key = |step: &Step| match step {
            Step::Drop(key) | Step::Become(key, _) | Step::Map(key, _) => Some(*key),
            Step::ForgetPath | Step::Fold(_) => None,
        };
        let only =
            steps.first().and_then(key).filter(|only| steps.iter().all(|step| key(step) == Some(*only)));
        let concerns = |(number, of): (usize, &UrlPart)| {
            steps.iter().any(|step| match step {
                Step::ForgetPath => is_of_path(of),
                Step::Fold(_) => matches!(of, UrlPart::PathSegment(_) | UrlPart::QueryParam(_)),
                step => key(step) == Some(number as u32),
            })
        };
        let concerns = match only {
            Some(_) => Vec::new(),
            None => self.keys.iter().enumerate().map(concerns).collect(),
        };
        let taken = rule.change.iter().filter_map(taken_away);
        let leave_others = taken.clone().filter(|key| !drops_all(rule, key));
        let takes_params = taken.clone().any(|key| matches!(key, UrlPart::QueryParam(_)));
        let number = |key: UrlPart| self.key_numbers.get(&key).copied();
        Some(Steps {
            only,
            concerns,
            followers: leave_others.filter_map(follower).filter_map(number).collect(),
            separator: number(UrlPart::QuerySeparator).filter(|_| takes_params),
            forget_path: steps.iter().any(|step| matches!(step, Step::ForgetPath)),
            steps,
        })
    }

    fn steps_of(&self, rule: &Draft, change: &Change) -> Option<Vec<Step>> {
        match change.facts().takes {
            Taken::Part(Spot::Key(key)) if drops_all(rule, key) => {
                let named = std::iter::successors(Some(key.clone()), follower);
                Some(named.map_while(|key| self.key_numbers.get(&key).copied()).map(Step::Drop).collect())
                    .filter(|steps: &Vec<Step>| !steps.is_empty())
            }
            takes => Some(vec![self.step(takes)?]),
        }
    }

    fn step(&self, takes: Taken<'_>) -> Option<Step> {
        match takes {
            Taken::Part(Spot::Key(key)) if goes_alone(key) => Some(Step::Drop(*self.key_numbers.get(key)?)),
            Taken::Value(Spot::Key(key)) => {
                Some(Step::Become(*self.key_numbers.get(key)?, pair_number(key, Some("*"))))
            }
            Taken::Path => Some(Step::ForgetPath),
            Taken::Values(of, values) => {
                if values.iter().any(|mapped| mapped.becomes.is_none()) && !goes_alone(of) {
                    return None;
                }
                let entry = |mapped: &Mapped| {
                    let becomes = mapped.becomes.as_deref().map(|text| pair_number(of, Some(text)));
                    (pair_number(of, mapped.is.as_text()), becomes)
                };
                Some(Step::Map(*self.key_numbers.get(of)?, values.iter().map(entry).collect()))
            }
            Taken::Nothing | Taken::Part(_) | Taken::Value(Spot::FromRight(_)) => None,
        }
    }

    fn stepped(&self, row: u32, steps: &Steps) -> u64 {
        let step = |form_id: u64, number: u32| {
            let becomes = self.after_steps(number, steps).unwrap_or_default();
            form_id.wrapping_sub(self.pairs[number as usize].mix).wrapping_add(becomes)
        };
        let form_id = self.form_id(row);
        if let Some(only) = steps.only {
            return self.get(row, &SpotNumber::Key(only)).map_or(form_id, |number| step(form_id, number));
        }
        let pairs = self.row_keys(row).iter().zip(self.row(row));
        let concerned = pairs.filter(|(key, _)| steps.concerns(**key));
        let form_id = concerned.fold(form_id, |form_id, (_, number)| step(form_id, *number));
        if steps.forget_path { form_id.wrapping_add(pair_number(&FORGOTTEN, Some("*"))) } else { form_id }
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

    /// Makes `rule`, which moves these rows.
    pub(in crate::canonfd) fn apply(&mut self, rule: &Draft, moves: &[(u32, u64)]) {
        let first_made = self.pairs.len() as u32;
        self.apply_to(rule, moves);
        self.fold_made(first_made);
    }

    fn apply_to(&mut self, rule: &Draft, moves: &[(u32, u64)]) {
        self.values_by_key.fill_with(OnceLock::new);
        // Spellings make many pairs, which are numbered as forms show them.
        let steps = self.steps(rule).filter(|steps| steps.folded().is_none());
        if steps.is_some() {
            self.add_pairs_of(rule);
        }
        let forgotten = self.find_pair(&FORGOTTEN, &Value::from("*"));
        let (mut parts, rules) = (UrlParts::default(), compiled(rule));
        let mut pairs: Vec<u32> = Vec::new();
        for &(row, form_id) in moves {
            pairs.clear();
            if let Some(steps) = steps.as_ref().filter(|steps| self.is_arithmetic(row, steps)) {
                let old = self.row_keys(row).iter().zip(self.row(row));
                pairs.extend(old.filter_map(|(&key, &pair)| match steps.concerns(key) {
                    true => self.pairs_by_mix.get(&self.after_steps(pair, steps)?).copied(),
                    false => Some(pair),
                }));
                pairs.extend(forgotten.filter(|_| steps.forget_path));
            } else {
                self.read_row(row, &rules, &mut parts);
                parts.apply(&rules, 0);
                parts.pairs(|key, occurrence, value| {
                    let known = self.pairs_by_mix.get(&raw_pair_number(key, occurrence, value)).copied();
                    pairs.push(known.unwrap_or_else(|| {
                        let text = |bytes: &[u8]| Value::from(&*String::from_utf8_lossy(bytes));
                        self.pair(&key.to_key(occurrence), value.map_or(Value::Bare, text))
                    }));
                });
            }
            self.replace(row, &pairs, form_id);
        }
    }

    /// Adds the pairs that its steps may make.
    fn add_pairs_of(&mut self, rule: &Draft) {
        for change in &rule.change {
            match change.facts().takes {
                Taken::Value(Spot::Key(key)) => drop(self.pair(key, Value::from("*"))),
                Taken::Path => drop(self.pair(&FORGOTTEN, Value::from("*"))),
                Taken::Values(of, values) => {
                    for text in values.iter().filter_map(|mapped| mapped.becomes.as_deref()) {
                        self.pair(of, Value::from(text));
                    }
                }
                Taken::Nothing | Taken::Part(_) | Taken::Value(Spot::FromRight(_)) => {}
            }
        }
    }

    /// Gives a row other pairs, whose sum is its form id.
    fn replace(&mut self, row: u32, pairs: &[u32], form_id: u64) {
        let mixes = pairs.iter().map(|&pair| self.pairs[pair as usize].mix);
        debug_assert_eq!(mixes.fold(0, u64::wrapping_add), form_id);
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
        // Where it was, if there is room.
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
        self.form_ids[row as usize] = form_id;
        self.enter(row, form_id);
    }
}

/// A rule as it is made. What is too large to be compiled changes nothing.
fn compiled(draft: &Draft) -> RuleList {
    RuleList::new([&draft.to_rule()]).unwrap_or_default()
}

/// Whether a key can go without others of another kind changing.
pub(super) fn goes_alone(key: &UrlPart) -> bool {
    !matches!(key, UrlPart::PathSegment(_) | UrlPart::Scheme | UrlPart::QuerySeparator)
}

/// The key that a change takes away, at least from some URLs.
fn taken_away(change: &Change) -> Option<&UrlPart> {
    match change.facts().takes {
        Taken::Part(Spot::Key(key)) => Some(key),
        Taken::Values(of, values) => values.iter().any(|mapped| mapped.becomes.is_none()).then_some(of),
        Taken::Nothing | Taken::Part(Spot::FromRight(_)) | Taken::Value(_) | Taken::Path => None,
    }
}

/// Whether dropping a key drops all parameters of its name.
fn drops_all(Draft { when, change, .. }: &Draft, key: &UrlPart) -> bool {
    let spot = Spot::Key(key.clone());
    change.contains(&Change::Drop(spot.clone())) && Change::drops_all(when, change, &spot)
}

/// What stands behind a key, and moves up when that is taken away.
fn follower(key: &UrlPart) -> Option<UrlPart> {
    let after = |name: &ParamName| ParamName { occurrence: name.occurrence + 1, ..name.clone() };
    match key {
        UrlPart::Subdomain(index) => Some(UrlPart::Subdomain(index + 1)),
        UrlPart::PathParam(name) => Some(UrlPart::PathParam(after(name))),
        UrlPart::QueryParam(name) => Some(UrlPart::QueryParam(after(name))),
        _ => None,
    }
}

fn is_of_path(key: &UrlPart) -> bool {
    matches!(key, UrlPart::PathSegment(_) | UrlPart::TrailingSlash | UrlPart::PathParam(_))
}
