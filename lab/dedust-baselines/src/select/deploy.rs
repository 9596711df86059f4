/*!
Rules that lead to one destination, made to agree and proven together.

What one rule ignores at the destination, all must ignore, and the destination's own URLs too: a value written by
one and forgotten by another would keep duplicates apart. The union of what they ignore may merge more than each
alone, so it is proven again; if it does not hold, rules are taken in one by one, largest first.

A value that does not matter leaves no URL to fetch, unless the key itself can be left out: when the pages that were
seen with the key were mostly seen without it too (see [`Class::droppable`]), it is dropped instead of ignored.
*/

use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::UrlPart;
use dedust_learn::support::{InternedRows as _, PairCounter, PairCounts};

use super::Assignment;
use crate::pattern_tree::{KeyState, NodeId, PatternTree};
use crate::propose::TreeOp;
use crate::propose::proof::{Projection, Prover, staying_ops};

/// Pages that must have been seen without a key before it is left out.
const MIN_PAGES_WITHOUT: usize = 5;

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
            (rule.source != target, std::cmp::Reverse(tree.nodes()[rule.source].volume()), rule.source)
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
        let dropped = class.droppable(&ignored);
        let mut emit = |source, mut ops: Vec<(u32, TreeOp)>| {
            for (_, op) in ops.iter_mut().filter(|(key, _)| dropped.contains(key)) {
                *op = TreeOp::Drop;
            }
            let proven = prover.prove(source, target, ops);
            if proven.counts.support > 0 {
                let (ops, counts) = (proven.ops, proven.counts);
                deployed.push(DeployedRule { source, target, ops, counts });
            }
        };
        if !ignored.is_empty() {
            emit(target, class.own_ops(&ignored));
        }
        for rule in accepted.into_iter().filter(|rule| rule.source != target) {
            emit(rule.source, masked(&rule.ops, &ignored));
        }
    }
    without_shadows(tree, deployed)
}

/// Drops rules that do what the next rule above them does to the same URLs.
fn without_shadows(tree: &PatternTree<'_>, deployed: Vec<DeployedRule>) -> Vec<DeployedRule> {
    let by_source: BTreeMap<NodeId, &DeployedRule> =
        deployed.iter().map(|rule| (rule.source, rule)).collect();
    let above = |node: NodeId| {
        let mut at = tree.nodes()[node].parent();
        while let Some(ancestor) = at {
            if let Some(rule) = by_source.get(&ancestor) {
                return Some(*rule);
            }
            at = tree.nodes()[ancestor].parent();
        }
        None
    };
    let is_shadow = |rule: &DeployedRule| {
        rule.source != rule.target
            && above(rule.source).is_some_and(|above| above.target == rule.target && above.ops == rule.ops)
    };
    deployed.iter().filter(|rule| !is_shadow(rule)).cloned().collect()
}

/// The target keys that some rule ignores.
fn ignored(rules: &[&Assignment]) -> BTreeSet<u32> {
    let ops = rules.iter().flat_map(|rule| &rule.ops);
    ops.filter(|(_, op)| *op == TreeOp::Ignore).map(|(key, _)| *key).collect()
}

fn masked(ops: &[(u32, TreeOp)], ignored: &BTreeSet<u32>) -> Vec<(u32, TreeOp)> {
    let mut ops: Vec<(u32, TreeOp)> = ops.iter().copied().filter(|(key, _)| !ignored.contains(key)).collect();
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
        masked(&staying_ops(self.tree, self.target, &[]), ignored)
    }

    /// The ignored keys that URLs of the destination can do without: at least half of the pages seen with one of
    /// them (and [`MIN_PAGES_WITHOUT`]) were also seen with none. As in the search for duplicate nodes, a form that
    /// holds half of the pages is taken for one that holds all.
    fn droppable(&self, ignored: &BTreeSet<u32>) -> BTreeSet<u32> {
        let (tree, corpus) = (self.tree, self.tree.corpus());
        let mut keys: Vec<u32> =
            ignored.iter().copied().filter(|&key| self.can_be_absent(key, ignored)).collect();
        keys.truncate(u64::BITS as usize);
        if keys.is_empty() {
            return BTreeSet::new();
        }
        let projection = Projection::new(tree, self.target, self.target, &self.own_ops(ignored));
        let mut rows: Vec<(u64, u32, u64)> = Vec::new();
        let mut presence = vec![0u32; keys.len()];
        for &row in tree.members(self.target) {
            if let (Some(group), Some(label)) = (projection.group(corpus, row), corpus.label(row)) {
                let mut present = 0u64;
                for &pair in corpus.pairs(row) {
                    if let Some(at) = keys.iter().position(|&key| key == corpus.pair_key(pair)) {
                        present |= 1 << at;
                        presence[at] += 1;
                    }
                }
                rows.push((group, label, present));
            }
        }
        rows.sort_unstable();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(presence[at]), at));
        let mut dropped = 0u64;
        for at in order {
            let attempt = dropped | 1 << at;
            let (mut with, mut without) = (0, 0);
            for page in rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                if page.iter().any(|(_, _, present)| present & attempt != 0) {
                    with += 1;
                    without += usize::from(page.iter().any(|(_, _, present)| present & attempt == 0));
                }
            }
            if without >= MIN_PAGES_WITHOUT && 2 * without >= with {
                dropped = attempt;
            }
        }
        keys.iter().enumerate().filter(|(at, _)| dropped & 1 << at != 0).map(|(_, &key)| key).collect()
    }

    /// Whether leaving `key` out of a URL of the destination leaves a URL. Segments and labels can go only from the
    /// end, and only if those beyond them go as well, which is left to rules between nodes.
    fn can_be_absent(&self, key: u32, ignored: &BTreeSet<u32>) -> bool {
        let keys = self.tree.corpus().keys();
        let is_optional =
            matches!(self.tree.state(self.target, key), Some(KeyState::Star { optional: true }));
        is_optional
            && match keys[key as usize] {
                UrlPart::Scheme | UrlPart::PathSegment(_) | UrlPart::QuerySeparator => false,
                UrlPart::Subdomain(label) => {
                    let beyond =
                        |other: u32| matches!(keys[other as usize], UrlPart::Subdomain(at) if at > label);
                    let mut all = self.tree.nodes()[self.target].keys().iter().map(|(key, _)| *key);
                    !all.any(beyond) && !ignored.iter().copied().any(beyond)
                }
                _ => true,
            }
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
