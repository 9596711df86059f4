/*!
Rules that lead to one destination, made to agree and proven together.

What one rule ignores at the destination, all must ignore, and the destination's own URLs too: a value written by
one and forgotten by another would keep duplicates apart. The union of what they ignore may merge more than each
alone, so it is proven again; if it does not hold, rules are taken in one by one, largest first.
*/

use std::collections::{BTreeMap, BTreeSet};

use super::Assignment;
use crate::metrics::{PairCounter, PairCounts};
use crate::pattern_tree::{NodeId, PatternTree};
use crate::propose::TreeOp;
use crate::propose::proof::{Projection, Prover, projection_of_target};

/// A rule that is to be applied.
#[derive(Clone, Debug)]
pub(super) struct DeployedRule {
    pub(super) source: NodeId,
    pub(super) target: NodeId,
    pub(super) ops: Vec<(u32, TreeOp)>,
    pub(super) counts: PairCounts,
}

pub(super) fn deploy(
    tree: &PatternTree<'_>,
    assignments: Vec<Assignment>,
    max_false_pair_rate: f64,
) -> Vec<DeployedRule> {
    let mut by_target: BTreeMap<NodeId, Vec<Assignment>> = BTreeMap::new();
    for assignment in assignments {
        by_target.entry(assignment.target).or_default().push(assignment);
    }
    let mut prover = Prover::new(tree);
    let mut deployed = Vec::new();
    for (target, mut incoming) in by_target {
        incoming.sort_by_key(|rule| {
            (
                rule.source != target,
                std::cmp::Reverse(tree.nodes()[rule.source].volume()),
                rule.source,
            )
        });
        let class = Class { tree, target };
        let mut accepted: Vec<&Assignment> = incoming.iter().collect();
        if class.counts(&accepted).fpr() > max_false_pair_rate {
            accepted.clear();
            for rule in &incoming {
                accepted.push(rule);
                if class.counts(&accepted).fpr() > max_false_pair_rate {
                    accepted.pop();
                }
            }
        }
        let ignored = ignored(&accepted);
        let mut emit = |source, ops| {
            let proven = prover.prove(source, target, ops);
            if proven.counts.support > 0 {
                let (ops, counts) = (proven.ops, proven.counts);
                deployed.push(DeployedRule {
                    source,
                    target,
                    ops,
                    counts,
                });
            }
        };
        if !ignored.is_empty() {
            emit(target, class.own_ops(&ignored));
        }
        for rule in accepted.into_iter().filter(|rule| rule.source != target) {
            emit(rule.source, masked(&rule.ops, &ignored));
        }
    }
    deployed
}

/// The target keys that some rule ignores.
fn ignored(rules: &[&Assignment]) -> BTreeSet<u32> {
    let ops = rules.iter().flat_map(|rule| &rule.ops);
    ops.filter(|(_, op)| *op == TreeOp::Ignore)
        .map(|(key, _)| *key)
        .collect()
}

fn masked(ops: &[(u32, TreeOp)], ignored: &BTreeSet<u32>) -> Vec<(u32, TreeOp)> {
    let mut ops: Vec<(u32, TreeOp)> = ops
        .iter()
        .copied()
        .filter(|(key, _)| !ignored.contains(key))
        .collect();
    ops.extend(ignored.iter().map(|&key| (key, TreeOp::Ignore)));
    ops.sort_unstable_by_key(|(key, _)| *key);
    ops
}

/// A destination.
struct Class<'t, 'c> {
    tree: &'t PatternTree<'c>,
    target: NodeId,
}

impl Class<'_, '_> {
    /// The operations that leave the destination's own URLs in their form.
    fn own_ops(&self, ignored: &BTreeSet<u32>) -> Vec<(u32, TreeOp)> {
        use crate::pattern_tree::KeyState;
        let keys = self.tree.nodes()[self.target].keys().iter();
        let ops: Vec<(u32, TreeOp)> = keys
            .map(|&(key, state)| match state {
                KeyState::Const(value) => (key, TreeOp::Keep(value)),
                KeyState::Star { .. } => (key, TreeOp::Replace(key)),
            })
            .collect();
        masked(&projection_of_target(&ops), ignored)
    }

    /// Pairs over the destination's URLs and those of all sources, each URL under its narrowest rule.
    fn counts(&self, rules: &[&Assignment]) -> PairCounts {
        let (tree, corpus) = (self.tree, self.tree.corpus());
        let ignored = ignored(rules);
        let mut sources: Vec<(NodeId, Vec<(u32, TreeOp)>)> = rules
            .iter()
            .filter(|rule| rule.source != self.target)
            .map(|rule| (rule.source, masked(&rule.ops, &ignored)))
            .collect();
        sources.push((self.target, self.own_ops(&ignored)));
        sources.sort_by_key(|(source, _)| std::cmp::Reverse(tree.nodes()[*source].depth()));
        let mut is_taken = vec![false; corpus.len()];
        let mut rows = Vec::new();
        for (source, ops) in &sources {
            let projection = Projection::new(tree, *source, self.target, ops);
            for &row in tree.members(*source) {
                if !std::mem::replace(&mut is_taken[row as usize], true)
                    && let (Some(group), Some(label)) = (projection.group(corpus, row), corpus.label(row))
                {
                    rows.push((group, label));
                }
            }
        }
        PairCounter::default().count(rows)
    }
}
