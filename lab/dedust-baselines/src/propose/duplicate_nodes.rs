/*!
Algorithm 2: pairs of nodes whose URLs are duplicates of each other.

overlap(s, t) = (sum over clusters c that meet both of |c in s| + |c in t|) / (|s| + |t|)   (equation 6, counted as
a multiset, so that overlap(s, s) = 1 as the paper says), over the labelled URLs. A node is paired with itself when
its duplicate rate 1 - C/N is large enough. Nodes of which one is above the other are no pair: the upper one's own
rule covers that case.
*/

use dedust_learn::support::{InternedRows as _, NO_LABEL};
use foldhash::HashMap;

use crate::pattern_tree::{NodeId, PatternTree};

/// A cluster that meets more leaves than this is judged by so many of them, evenly spaced.
const MAX_LEAVES_PER_CLUSTER: usize = 200;

/// Pairs `(s, t)` with `s <= t`, in order.
pub(super) fn find(tree: &PatternTree<'_>, min_overlap: f64) -> Vec<(NodeId, NodeId)> {
    let corpus = tree.corpus();
    let nodes = tree.nodes();
    let mut leaf_of_row = vec![0u32; corpus.len()];
    for (node, _) in nodes.iter().enumerate().filter(|(_, node)| node.children().is_empty()) {
        for &row in tree.members(node) {
            leaf_of_row[row as usize] = node as u32;
        }
    }
    // Rows in the order of their labels: one run per cluster.
    let mut labelled: Vec<(u32, u32)> = corpus
        .labels()
        .iter()
        .zip(&leaf_of_row)
        .filter(|(label, _)| **label != NO_LABEL)
        .map(|(&label, &leaf)| (label, leaf))
        .collect();
    labelled.sort_unstable();

    let mut urls = vec![0u64; nodes.len()];
    let mut pages = vec![0u64; nodes.len()];
    let mut shared: HashMap<(u32, u32), u64> = HashMap::default();
    let mut in_cluster = vec![0u64; nodes.len()];
    let mut met: Vec<u32> = Vec::new();
    for cluster in labelled.chunk_by(|a, b| a.0 == b.0) {
        let mut leaves = 0;
        for run in cluster.chunk_by(|a, b| a.1 == b.1) {
            leaves += 1;
            climb(tree, run[0].1, run.len() as u64, &mut in_cluster, &mut met);
        }
        for &node in &met {
            urls[node as usize] += in_cluster[node as usize];
            pages[node as usize] += 1;
        }
        if leaves > MAX_LEAVES_PER_CLUSTER {
            met.drain(..).for_each(|node| in_cluster[node as usize] = 0);
            let runs: Vec<_> = cluster.chunk_by(|a, b| a.1 == b.1).collect();
            for at in 0..MAX_LEAVES_PER_CLUSTER {
                let run = runs[at * runs.len() / MAX_LEAVES_PER_CLUSTER];
                climb(tree, run[0].1, run.len() as u64, &mut in_cluster, &mut met);
            }
        }
        met.sort_unstable();
        for (at, &s) in met.iter().enumerate() {
            for &t in &met[at + 1..] {
                if !tree.is_ancestor(s as usize, t as usize) && !tree.is_ancestor(t as usize, s as usize) {
                    *shared.entry((s, t)).or_insert(0) += in_cluster[s as usize] + in_cluster[t as usize];
                }
            }
        }
        met.drain(..).for_each(|node| in_cluster[node as usize] = 0);
    }

    let overlaps = |numerator: u64, denominator: u64| numerator as f64 >= min_overlap * denominator as f64;
    let mut pairs: Vec<(NodeId, NodeId)> = shared
        .into_iter()
        .filter(|&((s, t), count)| overlaps(count, urls[s as usize] + urls[t as usize]))
        .map(|((s, t), _)| (s as usize, t as usize))
        .chain(
            (0..nodes.len())
                .filter(|&node| urls[node] > 0 && overlaps(urls[node] - pages[node], urls[node]))
                .map(|node| (node, node)),
        )
        .collect();
    pairs.sort_unstable();
    pairs
}

/// Counts `count` URLs of the cluster at hand in a leaf and everything above it.
fn climb(tree: &PatternTree<'_>, leaf: u32, count: u64, in_cluster: &mut [u64], met: &mut Vec<u32>) {
    let mut at = Some(leaf as usize);
    while let Some(node) = at {
        if in_cluster[node] == 0 {
            met.push(node as u32);
        }
        in_cluster[node] += count;
        at = tree.nodes()[node].parent();
    }
}
