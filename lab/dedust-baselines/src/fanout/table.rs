/*!
The site as a table of numbers: which keys a URL has (its shape), the values under them, and rules on both.
*/

use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;
use foldhash::HashMap;

/// The number that stands for any value.
pub(super) const STAR: u32 = u32::MAX;

/// Rows of a corpus, each a shape with values in the order of its keys.
pub(super) struct Table<'c> {
    pub(super) corpus: &'c Corpus,
    /// Key sets, each in the order of keys.
    shapes: Vec<Box<[u32]>>,
    shape_ids: HashMap<Box<[u32]>, u32>,
    shape_by_row: Vec<u32>,
    values: Vec<u32>,
    starts: Vec<u32>,
}

/// Where the value of a key of the result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum FanoutOp {
    /// Always this value.
    Literal(u32),
    /// The value of this key.
    Copy(u32),
    /// It does not matter.
    Star,
}

/// The operations of all rules, each list known by a number. Keys that a list leaves out are deleted.
#[derive(Default)]
pub(super) struct Transformations {
    lists: Vec<Box<[(u32, FanoutOp)]>>,
    ids: HashMap<Box<[(u32, FanoutOp)]>, u32>,
}

/// A rule: which URLs, and what becomes of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct WideRule {
    pub(super) shape: u32,
    /// A value or [`STAR`] for every key of the shape.
    pub(super) context: Box<[u32]>,
    pub(super) transformation: u32,
    /// Whether some wildcard has `fanout` values as evidence.
    pub(super) is_widened: bool,
}

impl<'c> Table<'c> {
    pub(super) fn new(corpus: &'c Corpus) -> Self {
        let mut table = Self {
            corpus,
            shapes: Vec::new(),
            shape_ids: HashMap::default(),
            shape_by_row: Vec::with_capacity(corpus.len()),
            values: Vec::new(),
            starts: vec![0],
        };
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut keys: Vec<u32> = Vec::new();
        for row in 0..corpus.len() as u32 {
            pairs.clear();
            pairs.extend(
                corpus.pairs(row).iter().map(|&pair| (corpus.pair_key(pair), corpus.pair_value(pair))),
            );
            pairs.sort_unstable();
            keys.clear();
            keys.extend(pairs.iter().map(|&(key, _)| key));
            let shape = table.shape_id(&keys);
            table.shape_by_row.push(shape);
            table.values.extend(pairs.iter().map(|&(_, value)| value));
            table.starts.push(table.values.len() as u32);
        }
        table
    }

    /// The number of a key set, which is a new one if no URL has it.
    pub(super) fn shape_id(&mut self, keys: &[u32]) -> u32 {
        if let Some(&known) = self.shape_ids.get(keys) {
            return known;
        }
        let next = self.shapes.len() as u32;
        self.shapes.push(keys.into());
        self.shape_ids.insert(keys.into(), next);
        next
    }

    /// The number of a key set that some URL has.
    pub(super) fn known_shape(&self, keys: &[u32]) -> Option<u32> {
        self.shape_ids.get(keys).copied()
    }

    pub(super) fn shape(&self, row: u32) -> u32 {
        self.shape_by_row[row as usize]
    }

    /// The keys of a shape.
    pub(super) fn keys(&self, shape: u32) -> &[u32] {
        &self.shapes[shape as usize]
    }

    /// The values of a row, in the order of its shape's keys.
    pub(super) fn values(&self, row: u32) -> &[u32] {
        &self.values[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    /// The rows of every page that was seen under two URLs or more. Rows are sorted by a hash of their URL, so the
    /// first of a page are a random sample of it.
    pub(super) fn pages(&self) -> Vec<Vec<u32>> {
        let mut pages: Vec<Vec<u32>> = vec![Vec::new(); self.corpus.page_count()];
        for row in 0..self.corpus.len() as u32 {
            if let Some(label) = self.corpus.label(row) {
                pages[label as usize].push(row);
            }
        }
        pages.retain(|rows| rows.len() > 1);
        pages
    }
}

impl Transformations {
    pub(super) fn intern(&mut self, ops: &[(u32, FanoutOp)]) -> u32 {
        if let Some(&known) = self.ids.get(ops) {
            return known;
        }
        let next = self.lists.len() as u32;
        self.lists.push(ops.into());
        self.ids.insert(ops.into(), next);
        next
    }

    pub(super) fn get(&self, id: u32) -> &[(u32, FanoutOp)] {
        &self.lists[id as usize]
    }

    /// Keeps every key of a shape, but forgets the values that are [`STAR`] in `forgotten`.
    pub(super) fn forgetting(&mut self, keys: &[u32], forgotten: &[u32]) -> u32 {
        let ops: Vec<(u32, FanoutOp)> = keys
            .iter()
            .zip(forgotten)
            .map(|(&key, &value)| (key, if value == STAR { FanoutOp::Star } else { FanoutOp::Copy(key) }))
            .collect();
        self.intern(&ops)
    }
}

impl WideRule {
    /// Whether `values` of the rule's shape fit its context.
    pub(super) fn fits(&self, values: &[u32]) -> bool {
        self.context.iter().zip(values).all(|(&context, &value)| context == STAR || context == value)
    }

    /// What is known of its results: a value or [`STAR`] for every key of the transformation.
    pub(super) fn results(&self, keys: &[u32], ops: &[(u32, FanoutOp)]) -> Vec<u32> {
        ops.iter()
            .map(|&(_, op)| match op {
                FanoutOp::Literal(value) => value,
                FanoutOp::Copy(from) => keys.binary_search(&from).map_or(STAR, |at| self.context[at]),
                FanoutOp::Star => STAR,
            })
            .collect()
    }
}

/// Whether a rule of shape `keys` with these operations only forgets values.
pub(super) fn is_in_place(keys: &[u32], ops: &[(u32, FanoutOp)]) -> bool {
    keys.len() == ops.len()
        && keys
            .iter()
            .zip(ops)
            .all(|(key, (to, op))| key == to && (*op == FanoutOp::Star || *op == FanoutOp::Copy(*key)))
}

/// A well-spread number for a value at a key; sums of these do not depend on the order.
pub(super) fn mix(key: u32, value: u32) -> u64 {
    crate::fanout::proof::mix(u64::from(key) << 32 | u64::from(value))
}
