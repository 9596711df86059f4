/*!
Runs a candidate on the training URLs and counts what it would merge.

URLs of the source are written in the target's form. URLs of the target are projected to the same keys, because a
rewritten URL with an ignored value never equals a real one. All other URLs keep their identity and cannot meet.
*/

use dedust_learn::Corpus;
use dedust_learn::support::{InternedRows as _, PairCounter, PairCounts};
use foldhash::HashSet;

use super::{CandidateRule, TreeOp};
use crate::pattern_tree::{KeyState, NodeId, PatternTree};

/// Which group each URL of a node falls into when it is written in a target's form.
pub(crate) struct Projection {
    /// By key of the source: the target keys that its value goes to, as a range of `slots`.
    slots_by_key: Vec<(u32, u32)>,
    slots: Vec<u32>,
    /// Source keys that a URL must have, though not all members of the node do.
    required: Vec<u32>,
}

impl Projection {
    pub(crate) fn new(tree: &PatternTree<'_>, source: NodeId, target: NodeId, ops: &[(u32, TreeOp)]) -> Self {
        let mut reads: Vec<(u32, u32)> = ops
            .iter()
            .filter_map(|&(to, op)| match op {
                TreeOp::Replace(from) => Some((from, to)),
                TreeOp::Keep(_) | TreeOp::Ignore | TreeOp::Drop => None,
            })
            .collect();
        reads.sort_unstable();
        let mut slots_by_key = vec![(0, 0); tree.corpus().keys().len()];
        for (at, &(from, _)) in reads.iter().enumerate() {
            let range = &mut slots_by_key[from as usize];
            *range = if range.1 == 0 { (at as u32, at as u32 + 1) } else { (range.0, at as u32 + 1) };
        }
        let is_optional =
            |node, key| matches!(tree.state(node, key), Some(KeyState::Star { optional: true }) | None);
        let required = reads
            .iter()
            .filter(|&&(from, to)| is_optional(source, from) && !is_optional(target, to))
            .map(|&(from, _)| from)
            .collect();
        Self { slots_by_key, slots: reads.into_iter().map(|(_, to)| to).collect(), required }
    }

    /// Source keys that a URL must have to be covered, though not all members of the node do.
    pub(crate) fn required(&self) -> &[u32] {
        &self.required
    }

    /// The group of a row; `None` when the rule does not cover it.
    pub(crate) fn group(&self, corpus: &Corpus, row: u32) -> Option<u64> {
        let pairs = corpus.pairs(row);
        if !self.required.iter().all(|&key| pairs.iter().any(|&pair| corpus.pair_key(pair) == key)) {
            return None;
        }
        // A sum, because pairs of two nodes come in different orders.
        Some(pairs.iter().fold(0u64, |sum, &pair| {
            let (start, end) = self.slots_by_key[corpus.pair_key(pair) as usize];
            let slots = &self.slots[start as usize..end as usize];
            slots.iter().fold(sum, |sum, &slot| sum.wrapping_add(mix(slot, corpus.pair_value(pair))))
        }))
    }
}

/// A well-spread number for a value at a key.
fn mix(key: u32, value: u32) -> u64 {
    let mut x = (u64::from(key) << 32 | u64::from(value)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The operations that leave the URLs of `target` in their form, but forget the values that `ops` forgets.
pub(crate) fn staying_ops(
    tree: &PatternTree<'_>,
    target: NodeId,
    ops: &[(u32, TreeOp)],
) -> Vec<(u32, TreeOp)> {
    let forgotten = |key: u32| {
        let at = ops.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(ops[at].1).filter(|op| matches!(op, TreeOp::Ignore | TreeOp::Drop))
    };
    let keys = tree.nodes()[target].keys().iter();
    keys.map(|&(key, state)| match state {
        KeyState::Const(value) => (key, forgotten(key).unwrap_or(TreeOp::Keep(value))),
        KeyState::Star { .. } => (key, forgotten(key).unwrap_or(TreeOp::Replace(key))),
    })
    .collect()
}

/// Proves candidates on the corpus of a tree, in buffers of its own.
pub(crate) struct Prover<'t, 'c> {
    tree: &'t PatternTree<'c>,
    counter: PairCounter,
    rows: Vec<(u64, u32)>,
    source_groups: HashSet<u64>,
}

impl<'t, 'c> Prover<'t, 'c> {
    pub(crate) fn new(tree: &'t PatternTree<'c>) -> Self {
        Self { tree, counter: PairCounter::default(), rows: Vec::new(), source_groups: HashSet::default() }
    }

    /// The candidate with its counts; without support when it joins no URL of the source to one of the target.
    pub(crate) fn prove(&mut self, source: NodeId, target: NodeId, ops: Vec<(u32, TreeOp)>) -> CandidateRule {
        let (tree, corpus) = (self.tree, self.tree.corpus());
        self.rows.clear();
        self.source_groups.clear();
        let forth = Projection::new(tree, source, target, &ops);
        let mut covered = 0;
        for &row in tree.members(source) {
            if let Some(group) = forth.group(corpus, row) {
                covered += 1;
                if let Some(label) = corpus.label(row) {
                    self.rows.push((group, label));
                }
            }
        }
        let mut joins = source == target;
        if source != target {
            self.source_groups.extend(self.rows.iter().map(|&(group, _)| group));
            let stay = Projection::new(tree, target, target, &staying_ops(tree, target, &ops));
            for &row in tree.members(target) {
                if let (Some(group), Some(label)) = (stay.group(corpus, row), corpus.label(row)) {
                    joins |= self.source_groups.contains(&group);
                    self.rows.push((group, label));
                }
            }
        }
        let counts =
            if joins { self.counter.count(self.rows.iter().copied()) } else { PairCounts::default() };
        CandidateRule { source, target, ops, counts, covered }
    }
}
