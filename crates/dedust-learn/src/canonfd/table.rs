/*!
What every training URL has become so far, and what an edit would make of it.

A URL's place is a number: the sum of one well-mixed number per pair. Two URLs stand at the same place when the edits
that were made so far bring them to the same form. Leaving out a pair is a subtraction, taking a value for another an
exchange, so most edits are tried by arithmetic; the others are made on the [`Form`] of each URL they concern.
*/

use std::ops::Range;

use dedust::{Change, Edit, Form, Mapped, RawKey, RawValue, Spot, Test, TokenKey, Value};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::draft::Draft;
use crate::corpus::Corpus;

/// Marks the end of a list of rows.
const END: u32 = u32::MAX;

/// The training URLs of a site, in the form that edits left them.
pub(super) struct Table<'c> {
    corpus: &'c Corpus,
    keys: Vec<TokenKey>,
    key_numbers: FxHashMap<TokenKey, u32>,
    values: Vec<Value>,
    value_numbers: FxHashMap<Value, u32>,
    pairs: Vec<Pair>,
    pair_numbers: FxHashMap<(u32, u32), u32>,
    pairs_by_key: Vec<Vec<u32>>,
    /// Where the pairs of each row lie.
    rows: Vec<Range<u32>>,
    row_pairs: Vec<u32>,
    places: Vec<u64>,
    /// The first row at each place, and the next one after each row.
    first_at: FxHashMap<u64, u32>,
    next: Vec<u32>,
    /// Rows by label, and where those of each label end.
    rows_by_label: Vec<u32>,
    label_ends: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Pair {
    key: u32,
    value: u32,
    mix: u64,
    /// How many rows have it.
    count: usize,
    /// Rows that have it, or had it before an edit took it away.
    rows: Vec<u32>,
}

/// What an edit does to a place without looking at the form of the URL.
enum Step {
    /// The pair of this key goes.
    Drop(u32),
    /// The pair of this key becomes another.
    Become(u32, u64),
    /// The pair of this key becomes another, or goes, if its value is listed.
    Map(u32, FxHashMap<u32, u64>),
    ForgetPath,
}

impl<'c> Table<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let mut table = Self {
            corpus,
            keys: Vec::new(),
            key_numbers: FxHashMap::default(),
            values: Vec::new(),
            value_numbers: FxHashMap::default(),
            pairs: Vec::new(),
            pair_numbers: FxHashMap::default(),
            pairs_by_key: Vec::new(),
            rows: Vec::with_capacity(corpus.len()),
            row_pairs: Vec::new(),
            places: Vec::with_capacity(corpus.len()),
            first_at: FxHashMap::default(),
            next: vec![END; corpus.len()],
            rows_by_label: Vec::new(),
            label_ends: Vec::new(),
        };
        let mut labelled: Vec<(u32, u32)> =
            (0..corpus.len() as u32).filter_map(|row| Some((corpus.label(row)?, row))).collect();
        labelled.sort_unstable();
        table.label_ends = vec![0; corpus.page_count()];
        for (at, &(label, row)) in labelled.iter().enumerate() {
            table.rows_by_label.push(row);
            table.label_ends[label as usize] = at as u32 + 1;
        }
        for key in corpus.keys() {
            table.key(key);
        }
        for number in 0..corpus.value_count() as u32 {
            table.value(corpus.value(number));
        }
        for pair in 0..corpus.pair_count() as u32 {
            table.pair(corpus.pair_key(pair), corpus.pair_value(pair));
        }
        let is_slash: Vec<bool> = table.keys.iter().map(|key| *key == TokenKey::TrailingSlash).collect();
        for row in 0..corpus.len() as u32 {
            let start = table.row_pairs.len() as u32;
            let has_segment = corpus
                .pairs(row)
                .iter()
                .any(|&pair| matches!(table.keys[corpus.pair_key(pair) as usize], TokenKey::PathSegment(_)));
            // The slash of `/` ends no segment.
            let pairs = corpus.pairs(row).iter();
            let pairs = pairs.filter(|&&pair| has_segment || !is_slash[corpus.pair_key(pair) as usize]);
            table.row_pairs.extend(pairs);
            let range = start..table.row_pairs.len() as u32;
            let mut place = 0u64;
            for index in range.clone() {
                let pair = table.row_pairs[index as usize];
                place = place.wrapping_add(table.pairs[pair as usize].mix);
                table.pairs[pair as usize].rows.push(row);
                table.pairs[pair as usize].count += 1;
            }
            table.rows.push(range);
            table.places.push(place);
            table.enter(row, place);
        }
        table
    }

    pub(super) fn corpus(&self) -> &'c Corpus {
        self.corpus
    }

    fn key(&mut self, key: &TokenKey) -> u32 {
        if let Some(&number) = self.key_numbers.get(key) {
            return number;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.key_numbers.insert(key.clone(), number);
        self.pairs_by_key.push(Vec::new());
        number
    }

    fn value(&mut self, value: &Value) -> u32 {
        if let Some(&number) = self.value_numbers.get(value) {
            return number;
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.value_numbers.insert(value.clone(), number);
        number
    }

    fn pair(&mut self, key: u32, value: u32) -> u32 {
        if let Some(&number) = self.pair_numbers.get(&(key, value)) {
            return number;
        }
        let number = self.pairs.len() as u32;
        let mix = mix_pair(&self.keys[key as usize], self.values[value as usize].as_text());
        self.pairs.push(Pair { key, value, mix, count: 0, rows: Vec::new() });
        self.pair_numbers.insert((key, value), number);
        self.pairs_by_key[key as usize].push(number);
        number
    }

    /// All keys that were ever met, by number.
    pub(super) fn keys(&self) -> &[TokenKey] {
        &self.keys
    }

    pub(super) fn key_of(&self, pair: u32) -> &TokenKey {
        &self.keys[self.pairs[pair as usize].key as usize]
    }

    pub(super) fn value_of(&self, pair: u32) -> &Value {
        &self.values[self.pairs[pair as usize].value as usize]
    }

    pub(super) fn find_pair(&self, key: &TokenKey, value: &Value) -> Option<u32> {
        let ids = (*self.key_numbers.get(key)?, *self.value_numbers.get(value)?);
        self.pair_numbers.get(&ids).copied()
    }

    /// The pairs of a row.
    pub(super) fn row(&self, row: u32) -> &[u32] {
        let Range { start, end } = self.rows[row as usize];
        &self.row_pairs[start as usize..end as usize]
    }

    pub(super) fn place(&self, row: u32) -> u64 {
        self.places[row as usize]
    }

    /// The pairs of a key that some row has, with the number of such rows, most frequent first.
    pub(super) fn values_of_key(&self, key: u32) -> Vec<(usize, u32)> {
        let mut counts: Vec<(usize, u32)> = self.pairs_by_key[key as usize]
            .iter()
            .map(|&pair| (self.count(pair), pair))
            .filter(|(count, _)| *count > 0)
            .collect();
        counts.sort_unstable_by_key(|&(count, pair)| (std::cmp::Reverse(count), pair));
        counts
    }

    /// How many rows have a pair.
    pub(super) fn count(&self, pair: u32) -> usize {
        self.pairs[pair as usize].count
    }

    /// The rows at a place.
    pub(super) fn at(&self, place: u64) -> impl Iterator<Item = u32> {
        let mut row = self.first_at.get(&place).copied().unwrap_or(END);
        std::iter::from_fn(move || {
            let this = row;
            (this != END).then(|| {
                row = self.next[this as usize];
                this
            })
        })
    }

    fn enter(&mut self, row: u32, place: u64) {
        let first = self.first_at.entry(place).or_insert(END);
        self.next[row as usize] = std::mem::replace(first, row);
    }

    fn leave(&mut self, row: u32) {
        let place = self.places[row as usize];
        let after = self.next[row as usize];
        let Some(first) = self.first_at.get_mut(&place) else { return };
        if *first == row {
            *first = after;
            return;
        }
        let mut at = *first;
        while at != END {
            if self.next[at as usize] == row {
                self.next[at as usize] = after;
                return;
            }
            at = self.next[at as usize];
        }
    }

    /// The rows that have a label.
    pub(super) fn rows_with_label(&self, label: u32) -> &[u32] {
        let label = label as usize;
        let start = if label == 0 { 0 } else { self.label_ends[label - 1] };
        &self.rows_by_label[start as usize..self.label_ends[label] as usize]
    }

    /// What stands at a spot of a row.
    fn get(&self, row: u32, spot: &SpotNumber) -> Option<u32> {
        let pairs = self.row(row);
        match *spot {
            SpotNumber::Never => None,
            SpotNumber::Key(key) => pairs.iter().copied().find(|&pair| self.pairs[pair as usize].key == key),
            SpotNumber::FromRight(index) => {
                let segments = pairs.iter().filter(|&&pair| self.is_segment(pair));
                let depth = segments.count();
                let wanted = depth.checked_sub(usize::from(index) + 1)? as u16;
                pairs.iter().copied().find(|&pair| *self.key_of(pair) == TokenKey::PathSegment(wanted))
            }
        }
    }

    pub(super) fn is_segment(&self, pair: u32) -> bool {
        matches!(self.key_of(pair), TokenKey::PathSegment(_))
    }

    fn number(&self, spot: &Spot) -> SpotNumber {
        match spot {
            Spot::Key(key) => {
                self.key_numbers.get(key).map_or(SpotNumber::Never, |&key| SpotNumber::Key(key))
            }
            Spot::FromRight(index) => SpotNumber::FromRight(*index),
        }
    }

    fn raw(&self, pair: u32) -> RawValue<'_> {
        self.value_of(pair).as_text().map(str::as_bytes)
    }

    /// The rows of which what `edit` asks for is true.
    pub(super) fn concerned(&self, edit: &Draft) -> Vec<u32> {
        let rows_of_key = |key: u32| self.pairs_by_key[key as usize].as_slice();
        let size =
            |pairs: &[u32]| pairs.iter().map(|&pair| self.pairs[pair as usize].rows.len()).sum::<usize>();
        // The shortest list of rows that holds all of them.
        let mut best: Option<Vec<u32>> = None;
        let mut offer = |pairs: Vec<u32>| {
            if best.as_ref().is_none_or(|best| size(&pairs) < size(best)) {
                best = Some(pairs);
            }
        };
        for (spot, test) in &edit.when {
            let Spot::Key(key) = spot else {
                if let Test::Is(value) = test {
                    offer(self.segments_with(value));
                }
                continue;
            };
            let find = |value: &Value| self.find_pair(key, value);
            match test {
                Test::Is(value) => offer(find(value).into_iter().collect()),
                Test::OneOf(values) => offer(values.iter().filter_map(find).collect()),
                Test::Any(_) => match self.number(spot) {
                    SpotNumber::Key(key) => offer(rows_of_key(key).to_vec()),
                    _ => offer(Vec::new()),
                },
                Test::Not(_) | Test::Absent => {}
            }
        }
        if let [change] = edit.change.as_slice() {
            match change {
                Change::Drop(Spot::Key(key)) | Change::Forget(Spot::Key(key)) => {
                    offer(self.key_numbers.get(key).map_or(Vec::new(), |&key| rows_of_key(key).to_vec()));
                }
                Change::Map { of, values } => {
                    offer(values.iter().filter_map(|mapped| self.find_pair(of, &mapped.is)).collect());
                }
                _ => {}
            }
        }
        let mut rows: Vec<u32> = match best {
            None => (0..self.corpus.len() as u32).collect(),
            Some(pairs) => {
                let mut rows: Vec<u32> =
                    pairs.iter().flat_map(|&pair| &self.pairs[pair as usize].rows).copied().collect();
                rows.sort_unstable();
                rows.dedup();
                rows
            }
        };
        let tests: Vec<(SpotNumber, &Test)> =
            edit.when.iter().map(|(spot, test)| (self.number(spot), test)).collect();
        rows.retain(|&row| {
            tests.iter().all(|(spot, test)| test.holds(self.get(row, spot).map(|pair| self.raw(pair))))
        });
        rows
    }

    /// The pairs of any path segment with this value.
    fn segments_with(&self, value: &Value) -> Vec<u32> {
        let Some(&value) = self.value_numbers.get(value) else { return Vec::new() };
        let segments = self.keys.iter().zip(0..).filter(|(key, _)| matches!(key, TokenKey::PathSegment(_)));
        segments.filter_map(|(_, key)| self.pair_numbers.get(&(key, value)).copied()).collect()
    }

    /// The rows that `edit` would move, with where to.
    pub(super) fn moves(&self, edit: &Draft) -> Vec<(u32, u64)> {
        let rows = self.concerned(edit);
        let steps: Option<Vec<Step>> = edit.change.iter().map(|change| self.step(change)).collect();
        let mut form = Form::default();
        let whole = Edit {
            when: Default::default(),
            change: edit.change.clone(),
            fetchable: false,
            evidence: Default::default(),
        };
        rows.into_iter()
            .filter_map(|row| {
                let place = match &steps {
                    Some(steps) => self.stepped(row, steps),
                    None => {
                        form.read_pairs(
                            self.row(row).iter().map(|&pair| (self.key_of(pair), self.raw(pair))),
                        );
                        if form.apply(&whole) { place_of(&form) } else { self.place(row) }
                    }
                };
                (place != self.place(row)).then_some((row, place))
            })
            .collect()
    }

    /// The change as arithmetic, where that is all there is to it.
    fn step(&self, change: &Change) -> Option<Step> {
        // What stands behind it would move up.
        let is_followed = |key: &TokenKey| match key {
            TokenKey::Subdomain(index) => self.key_numbers.contains_key(&TokenKey::Subdomain(index + 1)),
            TokenKey::QueryParam(name) | TokenKey::PathParam(name) => {
                let mut after = name.clone();
                after.occurrence += 1;
                self.key_numbers.contains_key(&TokenKey::QueryParam(after.clone()))
                    || self.key_numbers.contains_key(&TokenKey::PathParam(after))
            }
            TokenKey::PathSegment(_) | TokenKey::Scheme => true,
            TokenKey::QuerySeparator => true,
            TokenKey::Port | TokenKey::TrailingSlash | TokenKey::Hashbang => false,
        };
        match change {
            Change::Drop(Spot::Key(key)) if !is_followed(key) => {
                Some(Step::Drop(*self.key_numbers.get(key)?))
            }
            Change::Forget(Spot::Key(key)) => {
                Some(Step::Become(*self.key_numbers.get(key)?, mix_pair(key, Some("*"))))
            }
            Change::ForgetPath => Some(Step::ForgetPath),
            Change::Map { of, values } => {
                let drops = values.iter().any(|mapped| mapped.becomes.is_none());
                if drops && is_followed(of) {
                    return None;
                }
                let becomes = |mapped: &Mapped| {
                    let value = *self.value_numbers.get(&mapped.is)?;
                    Some((value, mapped.becomes.as_deref().map_or(0, |text| mix_pair(of, Some(text)))))
                };
                Some(Step::Map(*self.key_numbers.get(of)?, values.iter().filter_map(becomes).collect()))
            }
            _ => None,
        }
    }

    fn stepped(&self, row: u32, steps: &[Step]) -> u64 {
        let mut place = self.place(row);
        for &number in self.row(row) {
            let pair = &self.pairs[number as usize];
            for step in steps {
                match step {
                    Step::Drop(key) if *key == pair.key => place = place.wrapping_sub(pair.mix),
                    Step::Become(key, mix) if *key == pair.key => {
                        place = place.wrapping_sub(pair.mix).wrapping_add(*mix);
                    }
                    Step::Map(key, becomes) if *key == pair.key => {
                        if let Some(mix) = becomes.get(&pair.value) {
                            place = place.wrapping_sub(pair.mix).wrapping_add(*mix);
                        }
                    }
                    Step::ForgetPath if is_of_path(&self.keys[pair.key as usize]) => {
                        place = place.wrapping_sub(pair.mix);
                    }
                    _ => {}
                }
            }
        }
        if steps.iter().any(|step| matches!(step, Step::ForgetPath)) {
            place = place.wrapping_add(mix_pair(&TokenKey::PathSegment(0), Some("*")));
        }
        place
    }

    /// Makes `edit`.
    pub(super) fn apply(&mut self, edit: &Draft) {
        let mut form = Form::default();
        let whole = Edit {
            when: Default::default(),
            change: edit.change.clone(),
            fetchable: false,
            evidence: Default::default(),
        };
        for row in self.concerned(edit) {
            form.read_pairs(self.row(row).iter().map(|&pair| (self.key_of(pair), self.raw(pair))));
            if !form.apply(&whole) {
                continue;
            }
            let mut new: Vec<(TokenKey, Value)> = Vec::new();
            visit_keys(&form, |key, value| {
                let value = value.map_or(Value::Bare, |text| Value::from(&*String::from_utf8_lossy(text)));
                new.push((key, value));
            });
            let mut place = 0u64;
            let start = self.row_pairs.len() as u32;
            for (key, value) in new {
                let (key, value) = (self.key(&key), self.value(&value));
                let pair = self.pair(key, value);
                place = place.wrapping_add(self.pairs[pair as usize].mix);
                if !self.row(row).contains(&pair) {
                    self.pairs[pair as usize].rows.push(row);
                }
                self.pairs[pair as usize].count += 1;
                self.row_pairs.push(pair);
            }
            for index in self.rows[row as usize].clone() {
                let pair = self.row_pairs[index as usize];
                self.pairs[pair as usize].count -= 1;
            }
            self.leave(row);
            self.rows[row as usize] = start..self.row_pairs.len() as u32;
            self.places[row as usize] = place;
            self.enter(row, place);
        }
    }
}

#[derive(Clone, Copy)]
enum SpotNumber {
    Key(u32),
    FromRight(u16),
    /// No row has it.
    Never,
}

fn is_of_path(key: &TokenKey) -> bool {
    matches!(key, TokenKey::PathSegment(_) | TokenKey::TrailingSlash | TokenKey::PathParam(_))
}

/// The pairs of a form with their keys.
fn visit_keys(form: &Form, mut visit: impl FnMut(TokenKey, RawValue<'_>)) {
    let mut seen: Vec<(bool, Box<str>)> = Vec::new();
    form.pairs(|key, value| {
        let mut named = |in_query: bool, name: &[u8]| {
            let name: Box<str> = String::from_utf8_lossy(name).into();
            let occurrence =
                1 + seen.iter().filter(|other| **other == (in_query, name.clone())).count() as u32;
            seen.push((in_query, name.clone()));
            dedust::ParamName { name, occurrence }
        };
        let key = match key {
            RawKey::Scheme => TokenKey::Scheme,
            RawKey::Subdomain(index) => TokenKey::Subdomain(index),
            RawKey::Port => TokenKey::Port,
            RawKey::PathSegment(index) => TokenKey::PathSegment(index),
            RawKey::TrailingSlash => TokenKey::TrailingSlash,
            RawKey::PathParam(name) => TokenKey::PathParam(named(false, name)),
            RawKey::QuerySeparator => TokenKey::QuerySeparator,
            RawKey::QueryParam(name) => TokenKey::QueryParam(named(true, name)),
            RawKey::Hashbang => TokenKey::Hashbang,
        };
        visit(key, value);
    });
}

fn place_of(form: &Form) -> u64 {
    let mut place = 0u64;
    visit_keys(form, |key, value| {
        let text = value.map(|text| String::from_utf8_lossy(text));
        place = place.wrapping_add(mix_pair(&key, text.as_deref()));
    });
    place
}

/// A well-spread number for a pair.
fn mix_pair(key: &TokenKey, value: Option<&str>) -> u64 {
    let seed = match key {
        TokenKey::Scheme => 1,
        TokenKey::Port => 2,
        TokenKey::TrailingSlash => 3,
        TokenKey::QuerySeparator => 4,
        TokenKey::Hashbang => 5,
        TokenKey::Subdomain(index) => 0x100 + u64::from(*index),
        TokenKey::PathSegment(index) => 0x2_0000 + u64::from(*index),
        TokenKey::PathParam(name) => xxh3_64_with_seed(name.name.as_bytes(), 6) ^ u64::from(name.occurrence),
        TokenKey::QueryParam(name) => xxh3_64_with_seed(name.name.as_bytes(), 7) ^ u64::from(name.occurrence),
    };
    match value {
        Some(text) => xxh3_64_with_seed(text.as_bytes(), seed),
        None => xxh3_64_with_seed(b"\0bare", seed.wrapping_add(1 << 40)),
    }
}
