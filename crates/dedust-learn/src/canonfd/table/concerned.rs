/*!
Which URLs a rule concerns.
*/

use std::sync::atomic::Ordering;

use dedust::rules::{Spot, Test, UrlPart, Value};
use dedust::support::WaitsFor;

use super::make::Steps;
use super::{RowSet, SpotNumber, Table};
use crate::canonfd::draft::Draft;
use crate::thresholds::work;

/// Something that a rule asks for, in numbers where values need not be looked at.
pub(super) enum Check<'e> {
    /// The row has this pair.
    Has(u32),
    /// It has one of these, which are sorted.
    HasOneOf(SpotNumber, Vec<u32>),
    /// It has none of these.
    HasNoneOf(Vec<u32>),
    Holds(SpotNumber, &'e Test),
}

impl Table<'_> {
    /// The rows of which what `rule` asks for is true, and that it may change, in order; and how many were looked at.
    pub(super) fn concerned(&self, rule: &Draft, steps: Option<&Steps>) -> (Vec<u32>, usize) {
        let mut rows = match self.shortest_list(rule, steps) {
            None => (0..self.corpus.len() as u32).collect(),
            Some((size, pairs)) => self.rows_of_any(&pairs, size),
        };
        let looked_at = rows.len();
        let checks = self.checks(rule);
        rows.retain(|&row| self.passes(row, &checks));
        if rule.is_closed {
            // All that is asked for is there: a row with as many parts has no other.
            rows.retain(|&row| self.parts_but_scheme(row) == rule.when.len());
        }
        if let [only] = &*rule.change
            && let WaitsFor::RepeatedSegments = only.facts().waits_for
        {
            rows.retain(|&row| self.repeats_itself(row));
        }
        (rows, looked_at)
    }

    /// How many parts a row has beside its scheme.
    fn parts_but_scheme(&self, row: u32) -> usize {
        self.row(row).iter().filter(|&&pair| *self.key_of(pair) != UrlPart::Scheme).count()
    }

    /// How much work it is to find out what `rule` would do.
    pub(in crate::canonfd) fn work_for(&self, rule: &Draft) -> u64 {
        let steps = self.steps(rule);
        let rows = match self.shortest_list(rule, steps.as_ref()) {
            None => self.corpus.len(),
            Some((size, _)) => size.min(self.corpus.len()),
        };
        let is_arithmetic = steps.is_some_and(|steps| steps.is_arithmetic());
        self.work_on(rows, if is_arithmetic { 0 } else { rows })
    }

    /// How much work it is to look at so many rows, and to take so many of them apart.
    pub(super) fn work_on(&self, looked_at: usize, taken_apart: usize) -> u64 {
        let pairs = self.pair_count().div_ceil(self.corpus.len().max(1));
        let per_pair = if pairs > work::FEW_PAIRS { work::PER_PAIR_OF_MANY } else { work::PER_PAIR_OF_FEW };
        (work::PER_RULE + looked_at * (1 + pairs / work::PAIRS_PER_UNIT) + taken_apart * pairs * per_pair)
            as u64
    }

    /// How much work was done, in units of some ten nanoseconds: counted, so that it is the same on any machine.
    pub(in crate::canonfd) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    pub(in crate::canonfd) fn add_work(&self, more: u64) {
        self.work.fetch_add(more, Ordering::Relaxed);
    }

    /// The rows that have or had one of these pairs, in order; `size` of them, some counted more than once.
    fn rows_of_any(&self, pairs: &[u32], size: usize) -> Vec<u32> {
        if let [pair] = pairs
            && let (rows, []) = self.rows_of(*pair)
        {
            return rows.to_vec();
        }
        let rows = || {
            let lists = pairs.iter().map(|&pair| self.rows_of(pair));
            lists.flat_map(|(first, later)| first.iter().chain(later)).copied()
        };
        if size > self.corpus.len() / work::MARKED_ONE_IN {
            return RowSet::of(rows(), self.corpus.len()).iter().collect();
        }
        let mut rows: Vec<u32> = rows().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// How many rows have or had one of these pairs; some are counted more than once.
    fn size_of(&self, pairs: &[u32]) -> usize {
        let lists = pairs.iter().map(|&pair| self.rows_of(pair));
        lists.map(|(first, later)| first.len() + later.len()).sum()
    }

    /// What `rule` asks for.
    pub(super) fn checks<'e>(&self, rule: &'e Draft) -> Vec<Check<'e>> {
        let check = |(spot, test): (&'e Spot, &'e Test)| {
            let number = self.number(spot);
            let Spot::Key(key) = spot else { return Check::Holds(number, test) };
            let find = |values: &[Value]| {
                let mut pairs: Vec<u32> =
                    values.iter().filter_map(|value| self.find_pair(key, value)).collect();
                pairs.sort_unstable();
                pairs
            };
            match test {
                Test::Is(value) => match self.find_pair(key, value) {
                    Some(pair) => Check::Has(pair),
                    None => Check::HasOneOf(number, Vec::new()),
                },
                Test::OneOf(values) => Check::HasOneOf(number, find(values)),
                Test::Not(values) => Check::HasNoneOf(find(values)),
                _ => Check::Holds(number, test),
            }
        };
        rule.when.iter().map(check).collect()
    }

    /// Whether all of that is true of a row.
    pub(super) fn passes(&self, row: u32, checks: &[Check<'_>]) -> bool {
        checks.iter().all(|check| match check {
            Check::Has(pair) => self.row(row).contains(pair),
            Check::HasOneOf(spot, pairs) => {
                self.get(row, spot).is_some_and(|pair| pairs.binary_search(&pair).is_ok())
            }
            Check::HasNoneOf(pairs) => !self.row(row).iter().any(|pair| pairs.contains(pair)),
            Check::Holds(spot, test) => test.holds(self.get(row, spot).map(|pair| self.raw(pair))),
        })
    }

    /// The shortest list of pairs one of which all those rows have or had, with how many rows that are; `None` where
    /// none is known.
    fn shortest_list(&self, rule: &Draft, steps: Option<&Steps>) -> Option<(usize, Vec<u32>)> {
        let mut best: Option<(usize, Vec<u32>)> = None;
        let mut offer = |pairs: Vec<u32>| {
            let size = self.size_of(&pairs);
            if best.as_ref().is_none_or(|(least, _)| size < *least) {
                best = Some((size, pairs));
            }
        };
        let pairs_of_key = |key: &UrlPart| {
            self.key_numbers.get(key).map_or(Vec::new(), |&key| self.pairs_by_key[key as usize].clone())
        };
        for (spot, test) in &rule.when {
            let Spot::Key(key) = spot else {
                match test {
                    Test::Is(value) => offer(self.segments_with(value)),
                    Test::Any(any) if !any.optional => {
                        let is_one = |pair: u32| test.holds(Some(self.raw(pair)));
                        offer(self.segments().filter(|&pair| is_one(pair)).collect());
                    }
                    _ => {}
                }
                continue;
            };
            let find = |value: &Value| self.find_pair(key, value);
            match test {
                Test::Is(value) => offer(find(value).into_iter().collect()),
                Test::OneOf(values) => offer(values.iter().filter_map(find).collect()),
                Test::Any(any) if !any.optional => offer(pairs_of_key(key)),
                // Rows without the key may pass, too.
                _ => {}
            }
        }
        if let [change] = rule.change.as_slice() {
            match change.facts().waits_for {
                WaitsFor::Part(Spot::Key(key)) => offer(pairs_of_key(key)),
                WaitsFor::Values(of, values) => {
                    offer(values.iter().filter_map(|mapped| self.find_pair(of, &mapped.is)).collect());
                }
                WaitsFor::Spelling(of, to) => offer(match steps.and_then(Steps::folded) {
                    Some(folded) => folded.collect(),
                    None => self.foldable(of, to, 0).collect(),
                }),
                WaitsFor::RepeatedParams => {
                    let seconds = self.keys.iter().filter(|key| is_second(key));
                    offer(seconds.flat_map(pairs_of_key).collect());
                }
                WaitsFor::Part(Spot::FromRight(_)) | WaitsFor::RepeatedSegments | WaitsFor::Anything => {}
            }
        }
        best.filter(|(size, _)| *size < self.corpus.len())
    }

    /// The pairs of any path segment.
    fn segments(&self) -> impl Iterator<Item = u32> {
        let keys = self.keys.iter().zip(&self.pairs_by_key);
        keys.filter(|(key, _)| matches!(key, UrlPart::PathSegment(_))).flat_map(|(_, pairs)| pairs).copied()
    }

    /// The pairs of any path segment with this value.
    fn segments_with(&self, value: &Value) -> Vec<u32> {
        let segments = self.keys.iter().filter(|key| matches!(key, UrlPart::PathSegment(_)));
        segments.filter_map(|key| self.find_pair(key, value)).collect()
    }

    /// Whether a segment of a row stands in its path twice.
    fn repeats_itself(&self, row: u32) -> bool {
        let pairs = self.row(row);
        let segments = pairs.iter().enumerate().filter(|&(_, &pair)| self.is_segment(pair));
        segments.into_iter().any(|(at, &pair)| {
            let mut others = pairs[at + 1..].iter().filter(|&&other| self.is_segment(other));
            others.any(|&other| self.value_of(other) == self.value_of(pair))
        })
    }
}

/// Whether a key is that of a parameter whose name was met before.
pub(in crate::canonfd) fn is_second(key: &UrlPart) -> bool {
    matches!(key, UrlPart::QueryParam(name) if name.occurrence == 2)
}
