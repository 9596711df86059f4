/*!
Which URLs an edit concerns.
*/

use dedust::{Area, Change, Spot, Test, TokenKey, Value};

use super::{SpotNumber, Table};
use crate::canonfd::draft::Draft;

impl Table<'_> {
    /// The rows of which what `edit` asks for is true, and that it may change.
    pub(in crate::canonfd) fn concerned(&self, edit: &Draft) -> Vec<u32> {
        let mut rows = match self.shortest_list(edit) {
            None => (0..self.corpus.len() as u32).collect(),
            Some(pairs) => {
                let mut rows: Vec<u32> =
                    pairs.iter().flat_map(|&pair| &self.pairs[pair as usize].rows).copied().collect();
                rows.sort_unstable();
                rows.dedup();
                rows
            }
        };
        let tests = self.tests(edit);
        rows.retain(|&row| self.passes(row, &tests));
        if edit.change == [Change::Unrepeat] {
            rows.retain(|&row| self.repeats_itself(row));
        }
        rows
    }

    /// What `edit` asks for.
    pub(super) fn tests<'e>(&self, edit: &'e Draft) -> Vec<(SpotNumber, &'e Test)> {
        edit.when.iter().map(|(spot, test)| (self.number(spot), test)).collect()
    }

    /// Whether all of that is true of a row.
    pub(super) fn passes(&self, row: u32, tests: &[(SpotNumber, &Test)]) -> bool {
        tests.iter().all(|(spot, test)| test.holds(self.get(row, spot).map(|pair| self.raw(pair))))
    }

    /// The shortest list of pairs one of which all those rows have or had; `None` where none is known.
    fn shortest_list(&self, edit: &Draft) -> Option<Vec<u32>> {
        let size =
            |pairs: &[u32]| pairs.iter().map(|&pair| self.pairs[pair as usize].rows.len()).sum::<usize>();
        let mut best: Option<(usize, Vec<u32>)> = None;
        let mut offer = |pairs: Vec<u32>| {
            let size = size(&pairs);
            if best.as_ref().is_none_or(|(least, _)| size < *least) {
                best = Some((size, pairs));
            }
        };
        let pairs_of_key = |key: &TokenKey| {
            self.key_numbers.get(key).map_or(Vec::new(), |&key| self.pairs_by_key[key as usize].clone())
        };
        for (spot, test) in &edit.when {
            let Spot::Key(key) = spot else {
                match test {
                    Test::Is(value) => offer(self.segments_with(value)),
                    Test::Any(_) => {
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
                Test::Any(_) => offer(pairs_of_key(key)),
                Test::Not(_) | Test::Absent => {}
            }
        }
        if let [change] = edit.change.as_slice() {
            match change {
                Change::Drop(Spot::Key(key)) | Change::Forget(Spot::Key(key)) => offer(pairs_of_key(key)),
                Change::Map { of, values } => {
                    offer(values.iter().filter_map(|mapped| self.find_pair(of, &mapped.is)).collect());
                }
                Change::Fold { of, to } => {
                    let in_area = |pair: u32| match (of, self.key_of(pair)) {
                        (Area::Path, key) => matches!(key, TokenKey::PathSegment(_)),
                        (Area::Params, key) => matches!(key, TokenKey::QueryParam(_)),
                        (Area::Key(key), other) => key == other,
                    };
                    let is_query = |pair: u32| matches!(self.key_of(pair), TokenKey::QueryParam(_));
                    let may_change =
                        |pair: u32| self.raw(pair).is_some_and(|text| to.may_change(text, is_query(pair)));
                    let all = 0..self.pairs.len() as u32;
                    offer(all.filter(|&pair| in_area(pair) && may_change(pair)).collect());
                }
                Change::UnrepeatParams => {
                    let seconds = self.keys.iter().filter(|key| is_second(key));
                    offer(seconds.flat_map(pairs_of_key).collect());
                }
                _ => {}
            }
        }
        best.filter(|(size, _)| *size < self.corpus.len()).map(|(_, pairs)| pairs)
    }

    /// The pairs of any path segment.
    fn segments(&self) -> impl Iterator<Item = u32> {
        let keys = self.keys.iter().zip(&self.pairs_by_key);
        keys.filter(|(key, _)| matches!(key, TokenKey::PathSegment(_))).flat_map(|(_, pairs)| pairs).copied()
    }

    /// The pairs of any path segment with this value.
    fn segments_with(&self, value: &Value) -> Vec<u32> {
        let segments = self.keys.iter().filter(|key| matches!(key, TokenKey::PathSegment(_)));
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
pub(in crate::canonfd) fn is_second(key: &TokenKey) -> bool {
    matches!(key, TokenKey::QueryParam(name) if name.occurrence == 2)
}
