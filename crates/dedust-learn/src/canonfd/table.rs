/*!
What every training URL has become so far, and what a rule would make of it.

A URL's form id is a number: the sum of one well-mixed number per pair. Two URLs have the same form when the rules
that were made so far have made the same of them. Leaving out a pair is a subtraction, taking a value for another or
spelling it in another way an exchange, so most rules are tried by arithmetic; the others are made on the
[parts](dedust::support::UrlParts) of each URL they concern. A pair is known by its number, too: no text is compared to find it.
*/

mod concerned;
mod fold;
mod make;
mod row_set;
#[cfg(test)]
mod tests;

pub(super) use self::row_set::RowSet;

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use dedust::rules::{Spot, UrlPart, Value};
use dedust::support::RawValue;
use foldhash::HashMap;

use self::fold::Folds;
use crate::corpus::Corpus;
use crate::known_names::looks_random;
use crate::pair_number::pair_number;
use crate::thresholds;

/// Marks the end of a list of rows.
const END: u32 = u32::MAX;
/// No rule gave a pair to any row.
const NO_LIST: u32 = u32::MAX;

/// The training URLs of a site, in the form that rules left them.
pub(super) struct Table<'c> {
    corpus: &'c Corpus,
    keys: Vec<UrlPart>,
    key_numbers: HashMap<UrlPart, u32>,
    /// Values that rules made; those of the corpus come before them.
    made_values: Vec<Value>,
    /// First those of the corpus, then those that rules made.
    pairs: Vec<Pair>,
    pairs_by_mix: HashMap<u64, u32>,
    pairs_by_key: Vec<Vec<u32>>,
    /// What was found out about each key since the last rule.
    values_by_key: Vec<OnceLock<KeyValues>>,
    /// What becomes of pairs in other spellings.
    folds: Folds,
    /// Where the pairs of each row lie.
    rows: Vec<Range<u32>>,
    row_pairs: Vec<u32>,
    /// The keys of those pairs: most are looked at for their key alone.
    row_keys: Vec<u32>,
    /// Rows that had each pair in the beginning, and where those of each pair end.
    first_rows: Vec<u32>,
    first_row_ends: Vec<u32>,
    /// Rows that rules gave a pair, for the pairs that know where to look.
    later_rows: Vec<Vec<u32>>,
    form_ids: Vec<u64>,
    /// The first row of each form, and the rows before and after each row.
    first_of: HashMap<u64, u32>,
    previous: Vec<u32>,
    next: Vec<u32>,
    /// How much work was done, see [`Table::work`].
    work: AtomicU64,
    /// Rows by label, and where those of each label end.
    rows_by_label: Vec<u32>,
    label_ends: Vec<u32>,
}

/// What the values of a key look like.
#[derive(Clone, Debug)]
pub(super) struct KeyValues {
    /// Rows that have the key.
    pub(super) rows: usize,
    /// Distinct values.
    pub(super) values: usize,
    /// The pairs of values that are not rare, most frequent first.
    pub(super) frequent: Vec<u32>,
    /// Whether they do not repeat themselves and are no words.
    pub(super) are_random: bool,
}

#[derive(Clone, Debug)]
struct Pair {
    key: u32,
    value: u32,
    mix: u64,
    /// How many rows have it.
    count: u32,
    /// The list of rows that rules gave it, or [`NO_LIST`].
    later_rows: u32,
}

impl<'c> Table<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let mut table = Self {
            corpus,
            keys: Vec::new(),
            key_numbers: HashMap::default(),
            made_values: Vec::new(),
            // Rules make few more.
            pairs: Vec::with_capacity(corpus.pair_count() + corpus.pair_count() / 8),
            pairs_by_mix: HashMap::default(),
            pairs_by_key: Vec::new(),
            values_by_key: Vec::new(),
            folds: Folds::default(),
            rows: Vec::with_capacity(corpus.len()),
            row_pairs: Vec::new(),
            row_keys: Vec::new(),
            first_rows: Vec::new(),
            first_row_ends: Vec::new(),
            later_rows: Vec::new(),
            form_ids: Vec::with_capacity(corpus.len()),
            first_of: HashMap::default(),
            previous: vec![END; corpus.len()],
            next: vec![END; corpus.len()],
            work: AtomicU64::new(0),
            rows_by_label: Vec::new(),
            label_ends: vec![0; corpus.page_count()],
        };
        let mut labelled: Vec<(u32, u32)> =
            (0..corpus.len() as u32).filter_map(|row| Some((corpus.label(row)?, row))).collect();
        labelled.sort_unstable();
        for (at, &(label, row)) in labelled.iter().enumerate() {
            table.rows_by_label.push(row);
            table.label_ends[label as usize] = at as u32 + 1;
        }
        for key in corpus.keys() {
            table.key(key);
        }
        table.pairs_by_mix.reserve(corpus.pair_count());
        table.first_of.reserve(corpus.len());
        for pair in 0..corpus.pair_count() as u32 {
            let (key, value) = (corpus.pair_key(pair), corpus.pair_value(pair));
            let mix = pair_number(&table.keys[key as usize], corpus.value(value).as_text());
            table.add_pair(key, value, mix);
        }
        let is_slash: Vec<bool> = table.keys.iter().map(|key| *key == UrlPart::TrailingSlash).collect();
        for row in 0..corpus.len() as u32 {
            let start = table.row_pairs.len() as u32;
            let has_segment = corpus.pairs(row).iter().any(|&pair| table.is_segment(pair));
            let mut form_id = 0u64;
            for &number in corpus.pairs(row) {
                let pair = &mut table.pairs[number as usize];
                // The slash of `/` ends no segment.
                if has_segment || !is_slash[pair.key as usize] {
                    form_id = form_id.wrapping_add(pair.mix);
                    pair.count += 1;
                    table.row_pairs.push(number);
                    table.row_keys.push(pair.key);
                }
            }
            table.rows.push(start..table.row_pairs.len() as u32);
            table.form_ids.push(form_id);
            table.enter(row, form_id);
        }
        table.list_rows();
        table
    }

    /// Lists the rows of each pair.
    fn list_rows(&mut self) {
        let mut end = 0;
        let starts = self.pairs.iter().map(|pair| {
            let start = end;
            end += pair.count;
            start
        });
        // Each end moves from where its rows start to where they end.
        self.first_row_ends = starts.collect();
        self.first_rows = vec![0; self.row_pairs.len()];
        for (row, range) in self.rows.iter().enumerate() {
            for &pair in &self.row_pairs[range.start as usize..range.end as usize] {
                let end = &mut self.first_row_ends[pair as usize];
                self.first_rows[*end as usize] = row as u32;
                *end += 1;
            }
        }
    }

    /// The pairs of all rows, as they were in the beginning.
    pub(super) fn pair_count(&self) -> usize {
        self.first_rows.len()
    }

    /// The rows that had a pair in the beginning, in order, and those that rules gave it; some have lost it again.
    fn rows_of(&self, pair: u32) -> (&[u32], &[u32]) {
        let later = self.pairs[pair as usize].later_rows;
        let later = self.later_rows.get(later as usize).map_or(&[][..], Vec::as_slice);
        let Some(&end) = self.first_row_ends.get(pair as usize) else { return (&[], later) };
        let start = (pair as usize).checked_sub(1).map_or(0, |before| self.first_row_ends[before]);
        (&self.first_rows[start as usize..end as usize], later)
    }

    pub(super) fn corpus(&self) -> &'c Corpus {
        self.corpus
    }

    fn key(&mut self, key: &UrlPart) -> u32 {
        if let Some(&number) = self.key_numbers.get(key) {
            return number;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key.clone());
        self.key_numbers.insert(key.clone(), number);
        self.pairs_by_key.push(Vec::new());
        self.values_by_key.push(OnceLock::new());
        number
    }

    /// The pair of a key and a value that a rule made.
    fn pair(&mut self, key: &UrlPart, value: Value) -> u32 {
        let mix = pair_number(key, value.as_text());
        if let Some(&number) = self.pairs_by_mix.get(&mix) {
            return number;
        }
        let key = self.key(key);
        let number = (self.corpus.value_count() + self.made_values.len()) as u32;
        self.made_values.push(value);
        self.add_pair(key, number, mix)
    }

    fn add_pair(&mut self, key: u32, value: u32, mix: u64) -> u32 {
        let number = self.pairs.len() as u32;
        self.pairs.push(Pair { key, value, mix, count: 0, later_rows: NO_LIST });
        self.pairs_by_mix.insert(mix, number);
        self.pairs_by_key[key as usize].push(number);
        number
    }

    /// All keys that were ever met, by number.
    pub(super) fn keys(&self) -> &[UrlPart] {
        &self.keys
    }

    pub(super) fn key_of(&self, pair: u32) -> &UrlPart {
        &self.keys[self.pairs[pair as usize].key as usize]
    }

    pub(super) fn key_number(&self, pair: u32) -> u32 {
        self.pairs[pair as usize].key
    }

    pub(super) fn value_of(&self, pair: u32) -> &Value {
        let value = self.pairs[pair as usize].value;
        match (value as usize).checked_sub(self.corpus.value_count()) {
            None => self.corpus.value(value),
            Some(made) => &self.made_values[made],
        }
    }

    fn raw(&self, pair: u32) -> RawValue<'_> {
        self.value_of(pair).as_text().map(str::as_bytes)
    }

    pub(super) fn find_pair(&self, key: &UrlPart, value: &Value) -> Option<u32> {
        self.pairs_by_mix.get(&pair_number(key, value.as_text())).copied()
    }

    /// What the values of a key look like.
    pub(super) fn values_of(&self, key: &UrlPart) -> &KeyValues {
        const NONE: &KeyValues = &KeyValues { rows: 0, values: 0, frequent: Vec::new(), are_random: false };
        let Some(&key) = self.key_numbers.get(key) else { return NONE };
        self.values_by_key[key as usize].get_or_init(|| {
            let pairs = self.pairs_by_key[key as usize].iter().copied().filter(|&pair| self.count(pair) > 0);
            let rows: usize = pairs.clone().map(|pair| self.count(pair)).sum();
            let values = pairs.clone().count();
            let random = pairs.clone().filter(|&pair| self.raw(pair).is_some_and(looks_random)).count();
            let mut frequent: Vec<u32> = pairs
                .filter(|&pair| {
                    thresholds::suggest::RARE_ONE_IN * self.count(pair) >= rows
                        || values <= thresholds::suggest::MAX_FREQUENT
                })
                .collect();
            frequent.sort_unstable_by_key(|&pair| (std::cmp::Reverse(self.count(pair)), pair));
            KeyValues {
                rows,
                values,
                frequent,
                are_random: random as f64 >= thresholds::suggest::MIN_RANDOM * values as f64,
            }
        })
    }

    /// The values that some row has under a key.
    pub(super) fn values_seen(&self, key: &UrlPart) -> impl Iterator<Item = &Value> {
        let pairs =
            self.key_numbers.get(key).map_or(&[][..], |&key| self.pairs_by_key[key as usize].as_slice());
        pairs.iter().filter(|&&pair| self.count(pair) > 0).map(|&pair| self.value_of(pair))
    }

    /// The pairs of which something is true.
    pub(super) fn pairs_with(&self, is_true: impl Fn(&UrlPart, &str) -> bool) -> Vec<u32> {
        let all = 0..self.pairs.len() as u32;
        all.filter(|&pair| self.value_of(pair).as_text().is_some_and(|text| is_true(self.key_of(pair), text)))
            .collect()
    }

    /// How many rows have a pair.
    pub(super) fn count(&self, pair: u32) -> usize {
        self.pairs[pair as usize].count as usize
    }

    pub(super) fn is_segment(&self, pair: u32) -> bool {
        matches!(self.key_of(pair), UrlPart::PathSegment(_))
    }

    /// The pairs of a row.
    pub(super) fn row(&self, row: u32) -> &[u32] {
        let Range { start, end } = self.rows[row as usize];
        &self.row_pairs[start as usize..end as usize]
    }

    /// The keys of the pairs of a row.
    fn row_keys(&self, row: u32) -> &[u32] {
        let Range { start, end } = self.rows[row as usize];
        &self.row_keys[start as usize..end as usize]
    }

    /// What stands at a spot of a row.
    fn get(&self, row: u32, spot: &SpotNumber) -> Option<u32> {
        let keys = self.row_keys(row);
        let at = match *spot {
            SpotNumber::Never => None,
            SpotNumber::Key(key) => keys.iter().position(|&other| other == key),
            SpotNumber::FromRight(index) => {
                let is_segment = |key: u32| matches!(self.keys[key as usize], UrlPart::PathSegment(_));
                let mut segments = (0..keys.len()).filter(|&at| is_segment(keys[at]));
                segments.nth_back(usize::from(index))
            }
        };
        at.map(|at| self.row(row)[at])
    }

    fn number(&self, spot: &Spot) -> SpotNumber {
        match spot {
            Spot::Key(key) => {
                self.key_numbers.get(key).map_or(SpotNumber::Never, |&key| SpotNumber::Key(key))
            }
            Spot::FromRight(index) => SpotNumber::FromRight(*index),
        }
    }

    /// The rows that have a label.
    pub(super) fn rows_with_label(&self, label: u32) -> &[u32] {
        let label = label as usize;
        let start = if label == 0 { 0 } else { self.label_ends[label - 1] };
        &self.rows_by_label[start as usize..self.label_ends[label] as usize]
    }

    pub(super) fn form_id(&self, row: u32) -> u64 {
        self.form_ids[row as usize]
    }

    /// The rows of a form.
    pub(super) fn at(&self, form_id: u64) -> impl Iterator<Item = u32> {
        let mut row = self.first_of.get(&form_id).copied().unwrap_or(END);
        std::iter::from_fn(move || {
            let this = row;
            (this != END).then(|| {
                row = self.next[this as usize];
                this
            })
        })
    }

    fn enter(&mut self, row: u32, form_id: u64) {
        let first = self.first_of.entry(form_id).or_insert(END);
        let after = std::mem::replace(first, row);
        self.previous[row as usize] = END;
        self.next[row as usize] = after;
        if after != END {
            self.previous[after as usize] = row;
        }
    }

    fn leave(&mut self, row: u32) {
        let (before, after) = (self.previous[row as usize], self.next[row as usize]);
        if after != END {
            self.previous[after as usize] = before;
        }
        if before != END {
            self.next[before as usize] = after;
        } else if after != END {
            self.first_of.insert(self.form_ids[row as usize], after);
        } else {
            self.first_of.remove(&self.form_ids[row as usize]);
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
