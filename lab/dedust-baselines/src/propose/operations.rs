/*!
Algorithm 3 and what follows from it: the operations that write a URL of one node in the form of another.

A key of the target that is constant is kept. One that maps to a key of the source is replaced by its value, unless
the replacement is fake: duplicates disagree on it about as often as any two URLs do, so it cannot matter. All
others are ignored, and source keys that no operation reads are dropped.
*/

use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;
use foldhash::{HashMap, HashSet};

use super::node_facts::{Facts, chance_disagreement};
use super::{CommonValues, FakeTest, NodeFacts, ProposeOptions, TreeOp};
use crate::pattern_tree::{KeyState, NodeId, PatternTree};

/// Members of one cluster that are looked at: it has one vote, however large it is.
const MEMBERS_PER_CLUSTER: usize = 8;
/// Clusters that the fake test looks at, evenly spaced.
const CLUSTERS_PER_TEST: usize = 2000;
/// Duplicates that disagree this often, relative to chance, make a replacement fake.
const FAKE_RATIO: f64 = 0.5;
/// The same as a plain share, for [`FakeTest::Raw`].
const FAKE_SHARE: f64 = 0.1;

/// The operations between two nodes, in both directions.
pub(super) struct Operations {
    pub(super) forth: Vec<(u32, TreeOp)>,
    /// `None` for a node with itself.
    pub(super) back: Option<Vec<(u32, TreeOp)>>,
}

impl Operations {
    pub(super) fn between(
        tree: &PatternTree<'_>,
        facts: &mut NodeFacts<'_, '_>,
        s: NodeId,
        t: NodeId,
        options: &ProposeOptions,
    ) -> Self {
        let corpus = tree.corpus();
        if s == t {
            let side = facts.of(s);
            let sample = Sample::of_one(&side);
            let ops =
                write_ops(tree, s, Some, |key, _| is_fake(corpus, &sample, &side, key, None, key, options));
            return Self { forth: ops, back: None };
        }
        let (left, right) = (facts.of(s), facts.of(t));
        let sample = Sample::of_both(&left, &right);
        let common = CommonKeys::count(corpus, &left, &right);
        let forth = write_ops(
            tree,
            t,
            |to| common.best_source(to, options, |rates| rates),
            |to, from| is_fake(corpus, &sample, &left, from, Some(&right), to, options),
        );
        let back = write_ops(
            tree,
            s,
            |to| common.best_source(to, options, |(a, b)| (b, a)),
            |to, from| is_fake(corpus, &sample, &left, to, Some(&right), from, options),
        );
        Self { forth, back: Some(back) }
    }
}

/// One operation per key of `target`, given which source key each maps to and which mappings are fake.
fn write_ops(
    tree: &PatternTree<'_>,
    target: NodeId,
    source_of: impl Fn(u32) -> Option<u32>,
    is_fake: impl Fn(u32, u32) -> bool,
) -> Vec<(u32, TreeOp)> {
    let keys = tree.nodes()[target].keys().iter();
    keys.map(|&(key, state)| {
        let op = match state {
            KeyState::Const(value) => TreeOp::Keep(value),
            KeyState::Star { .. } => match source_of(key) {
                Some(from) if !is_fake(key, from) => TreeOp::Replace(from),
                _ => TreeOp::Ignore,
            },
        };
        (key, op)
    })
    .collect()
}

/// How many values and clusters the keys of two nodes have in common, over the clusters that meet both.
#[derive(Default)]
struct CommonKeys {
    clusters: usize,
    /// Distinct values by key, of the left and of the right node.
    left: HashMap<u32, usize>,
    right: HashMap<u32, usize>,
    /// Distinct values that a left key and a right key share, and clusters in which they share one.
    shared: HashMap<(u32, u32), (usize, usize)>,
}

impl CommonKeys {
    fn count(corpus: &Corpus, left: &Facts, right: &Facts) -> Self {
        let mut counts = Self::default();
        let (mut left_pairs, mut right_pairs) = (HashSet::default(), HashSet::default());
        let mut agreeing: Vec<(u32, u32)> = Vec::new();
        for (rows, others) in common_clusters(left, right) {
            counts.clusters += 1;
            left_pairs.extend(rows.iter().flat_map(|&(_, row)| corpus.pairs(row)));
            right_pairs.extend(others.iter().flat_map(|&(_, row)| corpus.pairs(row)));
            agreeing.clear();
            for &(_, row) in rows.iter().take(MEMBERS_PER_CLUSTER) {
                for &(_, other) in others.iter().take(MEMBERS_PER_CLUSTER) {
                    for &a in corpus.pairs(row) {
                        let matches = |&&b: &&u32| corpus.pair_value(b) == corpus.pair_value(a);
                        let equal = corpus.pairs(other).iter().filter(matches);
                        agreeing.extend(equal.map(|&b| (corpus.pair_key(a), corpus.pair_key(b))));
                    }
                }
            }
            agreeing.sort_unstable();
            agreeing.dedup();
            for &keys in &agreeing {
                counts.shared.entry(keys).or_default().1 += 1;
            }
        }
        let mut left_keys_by_value: HashMap<u32, Vec<u32>> = HashMap::default();
        for &pair in &left_pairs {
            *counts.left.entry(corpus.pair_key(pair)).or_default() += 1;
            left_keys_by_value.entry(corpus.pair_value(pair)).or_default().push(corpus.pair_key(pair));
        }
        for &pair in &right_pairs {
            let key = corpus.pair_key(pair);
            *counts.right.entry(key).or_default() += 1;
            for &left_key in left_keys_by_value.get(&corpus.pair_value(pair)).into_iter().flatten() {
                counts.shared.entry((left_key, key)).or_default().0 += 1;
            }
        }
        counts
    }

    /// The key that shares most values with `to`, if it shares enough. `flip` says which way the rule goes.
    ///
    /// Ties: the same key first, then agreement in more clusters, then the order of keys.
    fn best_source(
        &self,
        to: u32,
        options: &ProposeOptions,
        flip: impl Fn((u32, u32)) -> (u32, u32),
    ) -> Option<u32> {
        let candidates = self.shared.iter().filter_map(|(&keys, &(values, clusters))| {
            let (from, other) = flip(keys);
            let union = self.left.get(&keys.0)? + self.right.get(&keys.1)? - values;
            let rate = match options.common_values {
                CommonValues::Jaccard => values as f64 / union as f64,
                CommonValues::Aligned => clusters as f64 / self.clusters as f64,
            };
            (other == to && rate > options.min_common_values).then_some((rate, from == to, clusters, from))
        });
        let order = |a: &(f64, bool, usize, u32), b: &(f64, bool, usize, u32)| {
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)).then(b.3.cmp(&a.3))
        };
        candidates.max_by(order).map(|(_, _, _, from)| from)
    }
}

/// `(label, row)` of the members of one cluster.
type Run<'a> = &'a [(u32, u32)];

/// The members of the clusters that both nodes hold.
fn common_clusters<'a>(left: &'a Facts, right: &'a Facts) -> impl Iterator<Item = (Run<'a>, Run<'a>)> {
    let mut others = right.labelled.chunk_by(|a, b| a.0 == b.0).peekable();
    left.labelled.chunk_by(|a, b| a.0 == b.0).filter_map(move |rows| {
        while others.next_if(|other| other[0].0 < rows[0].0).is_some() {}
        others.next_if(|other| other[0].0 == rows[0].0).map(|other| (rows, other))
    })
}

/// Members of clusters with two URLs or more: `(row, is on the left)`.
struct Sample {
    clusters: Vec<Vec<(u32, bool)>>,
}

impl Sample {
    fn of_one(side: &Facts) -> Self {
        let members = |rows: &[(u32, u32)]| rows.iter().map(|&(_, row)| (row, true)).collect();
        Self::thinned(side.labelled.chunk_by(|a, b| a.0 == b.0).map(members))
    }

    fn of_both(left: &Facts, right: &Facts) -> Self {
        let rows = left.labelled.iter().map(|&(label, row)| (label, row, true));
        let others = right.labelled.iter().map(|&(label, row)| (label, row, false));
        let mut all: Vec<(u32, u32, bool)> = rows.chain(others).collect();
        all.sort_unstable();
        let members = |rows: &[(u32, u32, bool)]| rows.iter().map(|&(_, row, left)| (row, left)).collect();
        Self::thinned(all.chunk_by(|a, b| a.0 == b.0).map(members))
    }

    /// Rows are in the order of a hash of their URL, so that the first of them are a fair sample.
    fn thinned(clusters: impl Iterator<Item = Vec<(u32, bool)>>) -> Self {
        let mut clusters: Vec<_> = clusters.filter(|rows| rows.len() > 1).collect();
        if clusters.len() > CLUSTERS_PER_TEST {
            let every = clusters.len();
            clusters =
                (0..CLUSTERS_PER_TEST).map(|at| clusters[at * every / CLUSTERS_PER_TEST].clone()).collect();
        }
        for rows in &mut clusters {
            rows.truncate(MEMBERS_PER_CLUSTER);
        }
        Self { clusters }
    }
}

/// Whether duplicates disagree at `left_key` of the left node and `right_key` of the right one so often that the
/// value cannot matter.
fn is_fake(
    corpus: &Corpus,
    sample: &Sample,
    left: &Facts,
    left_key: u32,
    right: Option<&Facts>,
    right_key: u32,
    options: &ProposeOptions,
) -> bool {
    if sample.clusters.is_empty() {
        return false;
    }
    let value_at = |&(row, is_left): &(u32, bool)| {
        let key = if is_left { left_key } else { right_key };
        corpus
            .pairs(row)
            .iter()
            .find(|&&pair| corpus.pair_key(pair) == key)
            .map(|&pair| corpus.pair_value(pair))
    };
    let disagreement: f64 = sample
        .clusters
        .iter()
        .map(|rows| {
            let mut values: Vec<Option<u32>> = rows.iter().map(value_at).collect();
            values.sort_unstable();
            let equal: usize = values.chunk_by(|a, b| a == b).map(|run| run.len() * (run.len() - 1)).sum();
            1.0 - equal as f64 / (rows.len() * (rows.len() - 1)) as f64
        })
        .sum::<f64>()
        / sample.clusters.len() as f64;
    match options.fake_test {
        FakeTest::Raw => disagreement >= FAKE_SHARE,
        FakeTest::Ratio => {
            let chance = chance_disagreement(left, left_key, right, right_key);
            chance > 0.0 && disagreement / chance >= FAKE_RATIO
        }
    }
}
