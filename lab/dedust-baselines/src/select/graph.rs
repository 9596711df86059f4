/*!
The graph-based selection: destinations first, then everything that reaches them.

Nodes with candidates are the vertices of a graph; a candidate is an edge of weight 1 - fpr, and a node is tied to
the nearest vertex above it by an edge of weight 1. A random walk that starts from the nodes' volumes ranks them:
a good destination is general and popular.

The paper prints the limit of a plain walk, which does not exist on a graph of two-way rules (it oscillates), loses
all mass at vertices without a way out, and forgets the volumes. We read it as a walk with restart: with
probability 0.15 it starts anew by volume, and it also does so at a dead end.
*/

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use super::compose::compose;
use super::{Assignment, self_rule};
use crate::pattern_tree::{KeyState, NodeId, PatternTree};
use crate::propose::proof::Prover;
use crate::propose::{CandidateRule, TreeOp};

const DAMPING: f64 = 0.85;
const TOLERANCE: f64 = 1e-10;
const MAX_STEPS: usize = 200;

/// An edge of the graph, by vertex number.
#[derive(Clone, Copy)]
struct Edge<'r> {
    from: usize,
    to: usize,
    weight: f64,
    /// `None` for the tie to a node above.
    rule: Option<&'r CandidateRule>,
}

pub(super) fn assign(
    tree: &PatternTree<'_>,
    candidates: &[CandidateRule],
    max_false_pair_rate: f64,
) -> Vec<Assignment> {
    let mut vertices: Vec<NodeId> =
        candidates.iter().flat_map(|candidate| [candidate.source, candidate.target]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let edges = edges(tree, candidates, &vertices);
    let volumes: Vec<f64> = vertices.iter().map(|&node| tree.nodes()[node].volume() as f64).collect();
    let arrows: Vec<(usize, usize, f64)> =
        edges.iter().map(|edge| (edge.from, edge.to, edge.weight)).collect();
    let ranks = walk(&volumes, &arrows);

    let mut order: Vec<usize> = (0..vertices.len()).collect();
    let wildcards = |vertex: usize| {
        let keys = tree.nodes()[vertices[vertex]].keys();
        keys.iter().filter(|(_, state)| matches!(state, KeyState::Star { .. })).count()
    };
    order.sort_by(|&a, &b| {
        ranks[b]
            .total_cmp(&ranks[a])
            .then(volumes[b].total_cmp(&volumes[a]))
            .then_with(|| wildcards(a).cmp(&wildcards(b)))
            .then(a.cmp(&b))
    });

    let mut prover = Prover::new(tree);
    let mut is_assigned = vec![false; vertices.len()];
    let mut assignments = Vec::new();
    for destination in order {
        if is_assigned[destination] {
            continue;
        }
        let node = vertices[destination];
        let own = self_rule(candidates, node);
        let attracts =
            |edge: &Edge<'_>| edge.rule.is_some() && edge.to == destination && !is_assigned[edge.from];
        if own.is_none() && !edges.iter().any(attracts) {
            continue;
        }
        is_assigned[destination] = true;
        if let Some(own) = own {
            assignments.push(Assignment { source: node, target: node, ops: own.ops.clone() });
        }
        let ways = ways_to(destination, vertices.len(), &edges, &is_assigned);
        for (vertex, first) in ways.iter().enumerate() {
            let Some(first) = first else { continue };
            match joined_ops(vertex, destination, &ways) {
                // Reached over ties alone: the destination's own rule covers it, if there is one.
                None => is_assigned[vertex] |= own.is_some(),
                // The node above has the same way to go, and its rule covers this one's URLs.
                Some(_) if first.rule.is_none() => is_assigned[vertex] = true,
                Some((ops, hops)) => {
                    // A single rule that leads to the destination itself is proven already.
                    let holds = (hops == 1 && first.to == destination) || {
                        let proven = prover.prove(vertices[vertex], node, ops.clone());
                        proven.counts.support > 0 && proven.counts.fpr() <= max_false_pair_rate
                    };
                    if holds {
                        is_assigned[vertex] = true;
                        assignments.push(Assignment { source: vertices[vertex], target: node, ops });
                    }
                }
            }
        }
    }
    assignments
}

fn edges<'r>(tree: &PatternTree<'_>, candidates: &'r [CandidateRule], vertices: &[NodeId]) -> Vec<Edge<'r>> {
    let number: BTreeMap<NodeId, usize> = vertices.iter().copied().zip(0..).collect();
    let rules = candidates.iter().filter(|candidate| !candidate.is_self_rule()).map(|candidate| Edge {
        from: number[&candidate.source],
        to: number[&candidate.target],
        weight: 1.0 - candidate.counts.fpr(),
        rule: Some(candidate),
    });
    let ties = vertices.iter().enumerate().filter_map(|(from, &node)| {
        let mut above = tree.nodes()[node].parent();
        while let Some(ancestor) = above {
            if let Some(&to) = number.get(&ancestor) {
                return Some(Edge { from, to, weight: 1.0, rule: None });
            }
            above = tree.nodes()[ancestor].parent();
        }
        None
    });
    rules.chain(ties).collect()
}

/// The share of time that a walk with restart spends at each vertex: pi = (1 - d) v + d (P^T pi + dangling v), with
/// v the volumes as shares and P the weights of the edges `(from, to, weight)`, each row summing to 1.
fn walk(volumes: &[f64], edges: &[(usize, usize, f64)]) -> Vec<f64> {
    let total: f64 = volumes.iter().sum();
    let restart: Vec<f64> = volumes.iter().map(|volume| volume / total).collect();
    let mut out_weight = vec![0.0; volumes.len()];
    for &(from, _, weight) in edges {
        out_weight[from] += weight;
    }
    let mut ranks = restart.clone();
    for _ in 0..MAX_STEPS {
        let dangling: f64 =
            ranks.iter().zip(&out_weight).filter(|(_, out)| **out == 0.0).map(|(rank, _)| rank).sum();
        let mut next: Vec<f64> =
            restart.iter().map(|share| (1.0 - DAMPING + DAMPING * dangling) * share).collect();
        for &(from, to, weight) in edges {
            if out_weight[from] > 0.0 {
                next[to] += DAMPING * ranks[from] * weight / out_weight[from];
            }
        }
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change < TOLERANCE {
            break;
        }
    }
    ranks
}

/// For every vertex that is free and reaches `destination`, the first edge of its best way there: largest product of
/// weights, then fewest edges.
fn ways_to<'r>(
    destination: usize,
    count: usize,
    edges: &[Edge<'r>],
    is_assigned: &[bool],
) -> Vec<Option<Edge<'r>>> {
    let mut into: Vec<Vec<Edge<'r>>> = vec![Vec::new(); count];
    for edge in edges {
        into[edge.to].push(*edge);
    }
    let mut ways: Vec<Option<Edge<'r>>> = vec![None; count];
    let mut done = vec![false; count];
    let mut queue = BinaryHeap::from([Reached { weight: 1.0, hops: 0, vertex: destination, first: None }]);
    while let Some(Reached { weight, hops, vertex, first }) = queue.pop() {
        if std::mem::replace(&mut done[vertex], true) {
            continue;
        }
        ways[vertex] = first;
        let free = into[vertex].iter().filter(|edge| !done[edge.from] && !is_assigned[edge.from]);
        queue.extend(free.map(|edge| Reached {
            weight: weight * edge.weight,
            hops: hops + 1,
            vertex: edge.from,
            first: Some(*edge),
        }));
    }
    ways
}

/// A vertex from which the destination is reached, best first.
struct Reached<'r> {
    weight: f64,
    hops: usize,
    vertex: usize,
    first: Option<Edge<'r>>,
}

impl Ord for Reached<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight
            .total_cmp(&other.weight)
            .then(other.hops.cmp(&self.hops))
            .then(other.vertex.cmp(&self.vertex))
            .then_with(|| {
                let to = |reached: &Self| reached.first.map(|edge| (edge.to, edge.rule.is_some()));
                to(other).cmp(&to(self))
            })
    }
}

impl PartialOrd for Reached<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached<'_> {}

/// The rules on the way from `vertex` to `destination` as one, and how many they were; ties change nothing.
fn joined_ops(
    vertex: usize,
    destination: usize,
    ways: &[Option<Edge<'_>>],
) -> Option<(Vec<(u32, TreeOp)>, usize)> {
    let mut joined: Option<(Vec<(u32, TreeOp)>, usize)> = None;
    let mut at = vertex;
    while at != destination {
        let edge = ways[at].as_ref()?;
        if let Some(rule) = edge.rule {
            joined = Some(match joined {
                None => (rule.ops.clone(), 1),
                Some((ops, hops)) => (compose(&ops, &rule.ops), hops + 1),
            });
        }
        at = edge.to;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_circle_of_two_the_larger_node_ranks_higher() {
        let ranks = walk(&[900.0, 100.0], &[(0, 1, 1.0), (1, 0, 1.0)]);
        assert!((ranks[0] - 0.532).abs() < 0.001, "{ranks:?}");
        assert!((ranks[1] - 0.468).abs() < 0.001, "{ranks:?}");
    }

    #[test]
    fn a_dead_end_loses_no_mass() {
        let ranks = walk(&[1.0, 1.0, 2.0], &[(0, 1, 1.0)]);
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{ranks:?}");
        assert!(ranks[1] > ranks[0], "{ranks:?}");
    }
}
