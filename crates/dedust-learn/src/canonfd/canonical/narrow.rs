/*!
Has a rule write canonical URLs under some values of one part of the URL only, where what it writes is alive.
*/

use std::collections::BTreeMap;

use dedust::rules::{AnyValue, Change, Rule, Spot, Test, UrlPart, Value, ValueClass};

use super::choice::Search;
use super::pages::{Gain, LEFT};
use crate::canonfd::families::Family;
use crate::thresholds::canonical as limits;
use crate::thresholds::proof::{LIMIT, MAX_DOUBT};

/// What canonical URLs are worth more with a rule than without, under one value of a part.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    worth: i64,
    good: u64,
    bad: u64,
    unmet: u64,
}

impl Search<'_, '_> {
    /// Narrows a writer of a slot if canonical URLs are worth more then; whether it did.
    pub(super) fn narrow(&mut self, slot: usize) -> bool {
        let mut is_better = false;
        for side in [0, 1] {
            let tests = self.slots[slot].writers[side].as_ref().map_or(0, |writer| writer.rule.when.len());
            if tests >= self.slots[slot].rule.when.len() + limits::MAX_NARROWED + 2 * side {
                continue;
            }
            let Some(rule) = self.narrowed(slot, side) else { continue };
            let (before, states, old) = (self.total(), self.states(), self.slots[slot].clone());
            let Some(writer) = &mut self.slots[slot].writers[side] else { continue };
            writer.rule = rule;
            let trees: Vec<u32> = self.trees_of(slot).to_vec();
            let is_asked = |tree: u32| trees.binary_search(&tree).is_ok();
            if !self.grow(is_asked) {
                return is_better;
            }
            let mut with = states.clone();
            with[slot][side] = true;
            self.set(&with);
            self.climb();
            if self.total() >= before + 4 * limits::MIN_ALIVE as i64 {
                is_better = true;
                continue;
            }
            self.slots[slot] = old;
            self.grow(|_| true);
            self.set(&states);
        }
        is_better
    }

    /// The rule of a writer under those values of one part under which it makes canonical URLs better; `None` if it does so everywhere or
    /// nowhere.
    fn narrowed(&self, slot: usize, side: usize) -> Option<Rule> {
        let rule = &self.slots[slot].writers[side].as_ref()?.rule;
        if rule.change == [Change::SplitParams] {
            return None;
        }
        let states = self.states()[slot];
        let mut off = states;
        off[side] = false;
        let mut on = states;
        on[side] = true;
        let gain_of = |tree: &u32| -> (u32, i64) {
            let gain = |state| i64::from(self.fate(*tree, slot, state).1 as Gain);
            (*tree, gain(on) - gain(off))
        };
        let gains: BTreeMap<u32, i64> =
            self.trees_of(slot).iter().map(gain_of).filter(|(_, gain)| *gain != 0).collect();
        if !gains.values().any(|gain| *gain > 0) || !gains.values().any(|gain| *gain < 0) {
            return None;
        }
        let rows: Vec<(u32, i64)> =
            self.rows.iter().filter_map(|(row, tree)| Some((*row, *gains.get(tree)?))).collect();
        let everywhere: i64 = rows.iter().map(|(_, gain)| gain).sum();
        let corpus = self.pages.corpus;
        let mut keys: Vec<u32> =
            rows.iter().flat_map(|(row, _)| corpus.pairs(*row)).map(|&pair| corpus.pair_key(pair)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut best: Option<(i64, UrlPart, Test)> = None;
        for key in keys {
            let part = &corpus.keys()[key as usize];
            let excepted = match rule.when.get(&Spot::Key(part.clone())) {
                None => &[][..],
                Some(Test::Any(AnyValue { class: ValueClass::Text, except, optional: false })) => except,
                Some(_) => continue,
            };
            if rule.change.iter().any(|change| change.facts().valued_part() == Some(part)) {
                continue;
            }
            let mut by_value: BTreeMap<Option<&Value>, Sum> = BTreeMap::new();
            for &(row, gain) in &rows {
                let pair = corpus.pairs(row).iter().find(|&&pair| corpus.pair_key(pair) == key);
                let value = pair.map(|&pair| corpus.value(corpus.pair_value(pair)));
                // Other rules have made another value of one that is excepted.
                if value.is_some_and(|value| excepted.contains(value)) {
                    continue;
                }
                let sum = by_value.entry(value).or_default();
                sum.worth += gain;
                sum.good += u64::from(gain > 0);
                sum.bad += u64::from(gain <= LEFT.into());
                sum.unmet += u64::from(gain < 0 && gain > LEFT.into());
            }
            if let Some((worth, test)) = test_of(&by_value)
                && worth > everywhere.max(0)
                && best.as_ref().is_none_or(|(most, ..)| worth > *most)
            {
                best = Some((worth, part.clone(), test));
            }
        }
        let (_, part, test) = best?;
        let mut narrowed = rule.clone();
        let spot = Spot::Key(part);
        let test = match (rule.when.get(&spot), test) {
            (Some(Test::Any(asked)), Test::Not(mut except)) => {
                except.extend(asked.except.iter().cloned());
                except.sort_unstable();
                Test::Any(AnyValue { class: ValueClass::Text, except, optional: false })
            }
            (_, test) => test,
        };
        narrowed.when.insert(spot, test);
        Some(narrowed)
    }
}

/// What must be true of a part so that a rule writes nothing where what it writes is wrong, and what that is worth. Each value is a
/// hypothesis of its own, so the more there are, the more must speak for each.
fn test_of(by_value: &BTreeMap<Option<&Value>, Sum>) -> Option<(i64, Test)> {
    let doubt = MAX_DOUBT / by_value.len() as f64;
    let prior = Family::Other.prior();
    let count = |of: fn(&Sum) -> u64| by_value.values().map(of).sum::<u64>() as f64;
    let met = count(|sum| sum.good) / count(|sum| sum.good + sum.unmet).max(1.0);
    let is_wrong = |sum: &Sum| sum.bad > 0 && prior.doubt(sum.bad, sum.good + sum.bad, LIMIT) >= 1.0 - doubt;
    // Had what is written there been met as often as elsewhere, some of it would have been.
    let is_unlike = |sum: &Sum| sum.good == 0 && (1.0 - met).powf(sum.unmet as f64) <= doubt;
    let is_bad = |sum: &Sum| is_wrong(sum) || is_unlike(sum);
    let rest: i64 = by_value.values().filter(|sum| !is_bad(sum)).map(|sum| sum.worth).sum();
    let good = by_value.iter().filter(|(_, sum)| !is_bad(sum) && sum.good > 0);
    let bad: Vec<Value> =
        by_value.iter().filter(|(_, sum)| is_bad(sum)).filter_map(|(value, _)| value.cloned()).collect();
    let is_absence_bad = by_value.get(&None).is_some_and(is_bad);
    if rest <= 0 {
        return None;
    }
    let is_absence_good = by_value.get(&None).is_some_and(|sum| !is_bad(sum) && sum.good > 0);
    if is_absence_good && good.clone().all(|(value, _)| value.is_none()) {
        return Some((by_value.get(&None)?.worth, Test::Absent));
    }
    let mut good: Vec<Value> = good.filter_map(|(value, _)| value.cloned()).collect();
    match good.len() {
        _ if bad.is_empty() && !is_absence_bad => None,
        // Where values differ, one that was never seen may be like any of them.
        1 if !is_absence_good => Some((rest, Test::Is(good.remove(0)))),
        2..=limits::MAX_VALUES if !is_absence_good => Some((rest, Test::OneOf(good))),
        _ if !is_absence_bad && (1..=limits::MAX_VALUES).contains(&bad.len()) => Some((rest, Test::Not(bad))),
        _ => None,
    }
}
