/*!
What is asked again and again of a node, worked out once: its labelled rows by cluster, and its values by key.
*/

use std::rc::Rc;

use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;

use crate::pattern_tree::{NodeId, PatternTree};

/// Facts of the nodes of one tree, made when first asked for.
pub(crate) struct NodeFacts<'t, 'c> {
    tree: &'t PatternTree<'c>,
    facts: Vec<Option<Rc<Facts>>>,
}

/// Facts of one node.
pub(crate) struct Facts {
    /// `(label, row)` of the labelled members, sorted.
    pub(crate) labelled: Vec<(u32, u32)>,
    /// `(key, value, count)` over all members, sorted.
    values: Vec<(u32, u32, u32)>,
    volume: usize,
}

impl<'t, 'c> NodeFacts<'t, 'c> {
    pub(crate) fn new(tree: &'t PatternTree<'c>) -> Self {
        Self { tree, facts: vec![None; tree.nodes().len()] }
    }

    pub(crate) fn of(&mut self, node: NodeId) -> Rc<Facts> {
        let tree = self.tree;
        Rc::clone(
            self.facts[node].get_or_insert_with(|| Rc::new(Facts::gather(tree.corpus(), tree.members(node)))),
        )
    }
}

impl Facts {
    fn gather(corpus: &Corpus, rows: &[u32]) -> Self {
        let mut labelled: Vec<(u32, u32)> =
            rows.iter().filter_map(|&row| Some((corpus.label(row)?, row))).collect();
        labelled.sort_unstable();
        let mut pairs: Vec<u32> = rows.iter().flat_map(|&row| corpus.pairs(row)).copied().collect();
        pairs.sort_unstable();
        let mut values: Vec<(u32, u32, u32)> = pairs
            .chunk_by(u32::eq)
            .map(|run| (corpus.pair_key(run[0]), corpus.pair_value(run[0]), run.len() as u32))
            .collect();
        values.sort_unstable();
        Self { labelled, values, volume: rows.len() }
    }

    /// `(key, value, count)` of one key, by value.
    fn values_of(&self, key: u32) -> &[(u32, u32, u32)] {
        let start = self.values.partition_point(|&(other, _, _)| other < key);
        let end = self.values.partition_point(|&(other, _, _)| other <= key);
        &self.values[start..end]
    }
}

/// The chance that two URLs, drawn from `a` and `b` together, differ at `key_a` of the one and `key_b` of the other:
/// 1 - sum over values v of p_v^2, where lacking the key counts as a value.
pub(crate) fn chance_disagreement(a: &Facts, key_a: u32, b: Option<&Facts>, key_b: u32) -> f64 {
    let volume = (a.volume + b.map_or(0, |b| b.volume)) as f64;
    let square = |count: u32| (f64::from(count) / volume).powi(2);
    let (left, right) = (a.values_of(key_a), b.map_or(&[][..], |b| b.values_of(key_b)));
    let (mut at, mut sum, mut present) = (0, 0.0, 0);
    for &(_, value, count) in left {
        while at < right.len() && right[at].1 < value {
            sum += square(right[at].2);
            present += right[at].2;
            at += 1;
        }
        let both = if at < right.len() && right[at].1 == value {
            at += 1;
            count + right[at - 1].2
        } else {
            count
        };
        sum += square(both);
        present += both;
    }
    for &(_, _, count) in &right[at..] {
        sum += square(count);
        present += count;
    }
    sum += square((volume as u32).saturating_sub(present));
    1.0 - sum
}
