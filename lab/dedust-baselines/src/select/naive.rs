/*!
The straightforward selection: (a) one rule per source, (b) none below another, (c) no circles.
*/

use std::collections::BTreeMap;

use super::compose::compose;
use super::{Assignment, Nested};
use crate::pattern_tree::{NodeId, PatternTree};
use crate::propose::CandidateRule;
use crate::propose::proof::Prover;

pub(super) fn assign(
    tree: &PatternTree<'_>,
    candidates: &[CandidateRule],
    nested: Nested,
    max_false_pair_rate: f64,
) -> Vec<Assignment> {
    let mut rules = one_per_source(candidates);
    if nested == Nested::KeepAncestor {
        let sources: Vec<NodeId> = rules.keys().copied().collect();
        rules.retain(|&source, _| !sources.iter().any(|&other| tree.is_ancestor(other, source)));
    }
    break_circles(tree, &mut rules);
    let mut prover = Prover::new(tree);
    rules
        .values()
        .filter_map(|first| {
            let (mut target, mut ops, mut joined) = (first.target, first.ops.clone(), false);
            while let Some(next) = acting_on(tree, &rules, target).filter(|next| next.target != target) {
                ops = compose(&ops, &next.ops);
                target = next.target;
                joined = true;
            }
            let holds = !joined || {
                let proven = prover.prove(first.source, target, ops.clone());
                proven.counts.support > 0 && proven.counts.fpr() <= max_false_pair_rate
            };
            holds.then_some(Assignment { source: first.source, target, ops })
        })
        .collect()
}

/// (a) The candidate with the smallest share of false pairs; then larger support, then the smaller target.
fn one_per_source(candidates: &[CandidateRule]) -> BTreeMap<NodeId, &CandidateRule> {
    let mut rules: BTreeMap<NodeId, &CandidateRule> = BTreeMap::new();
    for candidate in candidates {
        let better = |other: &&mut &CandidateRule| {
            let by_rate = candidate.counts.fpr().total_cmp(&other.counts.fpr());
            by_rate.then(other.counts.support.cmp(&candidate.counts.support)).is_lt()
        };
        match rules.get_mut(&candidate.source) {
            None => {
                rules.insert(candidate.source, candidate);
            }
            Some(other) => {
                if better(&other) {
                    *other = candidate;
                }
            }
        }
    }
    rules
}

/// The rule that applies to URLs of `node`: of its own and those above it, the one with the fewest false pairs.
fn acting_on<'r>(
    tree: &PatternTree<'_>,
    rules: &BTreeMap<NodeId, &'r CandidateRule>,
    node: NodeId,
) -> Option<&'r CandidateRule> {
    let mut acting: Option<&CandidateRule> = None;
    let mut at = Some(node);
    while let Some(node) = at {
        if let Some(rule) = rules.get(&node)
            && acting.is_none_or(|nearer| rule.counts.fpr() < nearer.counts.fpr())
        {
            acting = Some(rule);
        }
        at = tree.nodes()[node].parent();
    }
    acting
}

/// (c) Removes the rule that covers fewest URLs from every circle. Rules from a node to itself are none.
fn break_circles(tree: &PatternTree<'_>, rules: &mut BTreeMap<NodeId, &CandidateRule>) {
    let sources: Vec<NodeId> = rules.keys().copied().collect();
    for source in sources {
        while let Some(circle) = circle_from(tree, rules, source) {
            match circle.into_iter().min_by_key(|rule| (rule.covered, rule.source)) {
                Some(weakest) => rules.remove(&weakest.source),
                None => break,
            };
        }
    }
}

fn circle_from<'r>(
    tree: &PatternTree<'_>,
    rules: &BTreeMap<NodeId, &'r CandidateRule>,
    source: NodeId,
) -> Option<Vec<&'r CandidateRule>> {
    let mut path: Vec<&CandidateRule> = Vec::new();
    let mut at = rules.get(&source).copied();
    while let Some(rule) = at {
        if let Some(start) = path.iter().position(|seen| seen.source == rule.source) {
            return Some(path.split_off(start));
        }
        path.push(rule);
        at = acting_on(tree, rules, rule.target).filter(|next| next.target != rule.target);
    }
    None
}
