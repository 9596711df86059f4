/*!
Algorithm 1: builds the tree from the root down.

Counting is all there is to it: one array with a counter per pair, used anew for each node, and per key the sum
that its entropy needs. No value is looked at as text, except to break ties.
*/

use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;
use foldhash::HashMap;

use super::split::{entropy, floor, salient_count};
use super::{KeyState, Node, NodeId, PatternTree};

/// How to build a tree. The default is the reading that works best; the others are variants of the paper's text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BuildOptions {
    /// Whether to try the next key when the most regular one has no salient value. The paper stops there.
    /// Default: false.
    pub continue_on_trivial: bool,
    /// Where a value's frequency is counted. Default: per node.
    pub salience: Salience,
}

/// Where a value's frequency is counted to tell whether it is salient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Salience {
    /// Among the values of the split key in the node.
    #[default]
    PerNode,
    /// Among all values of all keys of the site.
    Global,
}

pub(super) fn build<'c>(corpus: &'c Corpus, options: &BuildOptions) -> PatternTree<'c> {
    let mut builder = Builder {
        corpus,
        options,
        global: (options.salience == Salience::Global).then(|| globally_salient(corpus)),
        counter: Counter::new(corpus),
        part_by_value: HashMap::default(),
        buffer: Vec::new(),
    };
    let mut tree = PatternTree { corpus, nodes: Vec::new(), rows: (0..corpus.len() as u32).collect() };
    tree.nodes.push(Node {
        parent: None,
        children: Vec::new(),
        depth: 0,
        split_key: None,
        members: 0..corpus.len(),
        keys: Vec::new(),
        excluded: None,
    });
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        let first_child = tree.nodes.len();
        builder.grow(&mut tree, node);
        open.extend((first_child..tree.nodes.len()).rev());
    }
    tree
}

struct Builder<'c, 'o> {
    corpus: &'c Corpus,
    options: &'o BuildOptions,
    /// By value number, whether it is salient in the whole site.
    global: Option<Vec<bool>>,
    counter: Counter,
    part_by_value: HashMap<u32, u32>,
    buffer: Vec<(u32, u32)>,
}

impl Builder<'_, '_> {
    /// Fills in the node's keys and adds its children to the tree, if it is to have any.
    fn grow(&mut self, tree: &mut PatternTree<'_>, node: NodeId) {
        let corpus = self.corpus;
        let members = tree.nodes[node].members.clone();
        let n = members.len();
        self.counter.count(corpus, &tree.rows[members]);
        tree.nodes[node].keys = self.counter.states(corpus, n);

        let mut done: Vec<u32> = Vec::new();
        let mut above = tree.nodes[node].parent;
        while let Some(ancestor) = above {
            done.extend(tree.nodes[ancestor].split_key);
            above = tree.nodes[ancestor].parent;
        }
        while let Some(key) = self.counter.most_regular_key(n, &done) {
            let salient = self.salient_values(key, n);
            if !salient.is_empty() || self.counter.presence[key as usize] < n as u32 {
                self.split(tree, node, key, &salient);
                return;
            }
            if !self.options.continue_on_trivial {
                return;
            }
            done.push(key);
        }
    }

    fn salient_values(&self, key: u32, n: usize) -> Vec<u32> {
        let mut values = self.counter.values_of(self.corpus, key);
        values.sort_unstable_by(|a, b| {
            b.1.cmp(&a.1).then_with(|| self.corpus.value(a.0).cmp(self.corpus.value(b.0)))
        });
        match &self.global {
            Some(is_salient) => values.retain(|(value, _)| is_salient[*value as usize]),
            None => {
                let frequencies: Vec<u32> = values.iter().map(|(_, count)| *count).collect();
                values.truncate(salient_count(&frequencies, n));
            }
        }
        values.into_iter().map(|(value, _)| value).collect()
    }

    fn split(&mut self, tree: &mut PatternTree<'_>, node: NodeId, key: u32, salient: &[u32]) {
        let corpus = self.corpus;
        let members = tree.nodes[node].members.clone();
        let wildcard = salient.len() as u32;
        let absent = wildcard + 1;
        self.part_by_value.clear();
        self.part_by_value.extend(salient.iter().copied().zip(0..));
        let mut sizes = vec![0usize; salient.len() + 2];
        self.buffer.clear();
        for &row in &tree.rows[members.clone()] {
            let pair = corpus.pairs(row).iter().find(|&&pair| corpus.pair_key(pair) == key);
            let part = pair.map_or(absent, |&pair| {
                self.part_by_value.get(&corpus.pair_value(pair)).copied().unwrap_or(wildcard)
            });
            sizes[part as usize] += 1;
            self.buffer.push((part, row));
        }
        let mut order: Vec<u32> = (0..sizes.len() as u32).filter(|&part| sizes[part as usize] > 0).collect();
        // Salient values come by frequency already; ties keep their order.
        order.sort_by_key(|&part| std::cmp::Reverse(sizes[part as usize]));

        tree.nodes[node].split_key = Some(key);
        let mut start = members.start;
        let mut next = vec![0usize; sizes.len()];
        for &part in &order {
            let end = start + sizes[part as usize];
            next[part as usize] = start;
            let excluded = (part == wildcard).then(|| (key, salient.to_vec()));
            let child = tree.nodes.len();
            tree.nodes[node].children.push(child);
            tree.nodes.push(Node {
                parent: Some(node),
                children: Vec::new(),
                depth: tree.nodes[node].depth + 1,
                split_key: None,
                members: start..end,
                keys: Vec::new(),
                excluded,
            });
            start = end;
        }
        for &(part, row) in &self.buffer {
            tree.rows[next[part as usize]] = row;
            next[part as usize] += 1;
        }
    }
}

/// Frequencies in one node.
struct Counter {
    /// By pair; all zero between nodes but for the pairs in `seen`.
    counts: Vec<u32>,
    seen: Vec<u32>,
    presence: Vec<u32>,
    distinct: Vec<u32>,
    seen_keys: Vec<u32>,
}

impl Counter {
    fn new(corpus: &Corpus) -> Self {
        let keys = corpus.keys().len();
        Self {
            counts: vec![0; corpus.pair_count()],
            seen: Vec::new(),
            presence: vec![0; keys],
            distinct: vec![0; keys],
            seen_keys: Vec::new(),
        }
    }

    fn count(&mut self, corpus: &Corpus, rows: &[u32]) {
        for pair in self.seen.drain(..) {
            self.counts[pair as usize] = 0;
        }
        for key in self.seen_keys.drain(..) {
            self.presence[key as usize] = 0;
            self.distinct[key as usize] = 0;
        }
        for &row in rows {
            for &pair in corpus.pairs(row) {
                let count = &mut self.counts[pair as usize];
                if *count == 0 {
                    self.seen.push(pair);
                }
                *count += 1;
            }
        }
        for &pair in &self.seen {
            let key = corpus.pair_key(pair) as usize;
            if self.presence[key] == 0 {
                self.seen_keys.push(key as u32);
            }
            self.presence[key] += self.counts[pair as usize];
            self.distinct[key] += 1;
        }
        self.seen_keys.sort_unstable();
        // Grouped by key, so that sums over a key's values are always taken in the same order.
        self.seen.sort_unstable_by_key(|&pair| (corpus.pair_key(pair), pair));
    }

    fn is_const(&self, key: u32, n: usize) -> bool {
        self.distinct[key as usize] == 1 && self.presence[key as usize] == n as u32
    }

    fn states(&self, corpus: &Corpus, n: usize) -> Vec<(u32, KeyState)> {
        let mut pairs = self.seen.iter();
        self.seen_keys
            .iter()
            .map(|&key| {
                let first = pairs.by_ref().find(|&&pair| corpus.pair_key(pair) == key);
                let state = match first {
                    Some(&pair) if self.is_const(key, n) => KeyState::Const(corpus.pair_value(pair)),
                    _ => KeyState::Star { optional: self.presence[key as usize] < n as u32 },
                };
                (key, state)
            })
            .collect()
    }

    /// The key with the lowest entropy that is neither constant, nor rare, nor done; ties go to the first key.
    fn most_regular_key(&self, n: usize, done: &[u32]) -> Option<u32> {
        let c_ln_c = |count: u32| {
            if count > 0 { f64::from(count) * f64::from(count).ln() } else { 0.0 }
        };
        let mut best: Option<(f64, u32)> = None;
        let mut at = 0;
        for &key in &self.seen_keys {
            let distinct = self.distinct[key as usize] as usize;
            let pairs = &self.seen[at..at + distinct];
            at += distinct;
            let presence = self.presence[key as usize];
            if self.is_const(key, n) || f64::from(presence) < floor(n) || done.contains(&key) {
                continue;
            }
            let sum: f64 = pairs.iter().map(|&pair| c_ln_c(self.counts[pair as usize])).sum();
            let entropy = entropy(n, sum + c_ln_c(n as u32 - presence));
            if best.is_none_or(|(lowest, _)| entropy < lowest) {
                best = Some((entropy, key));
            }
        }
        best.map(|(_, key)| key)
    }

    /// The values of `key` with their frequencies.
    fn values_of(&self, corpus: &Corpus, key: u32) -> Vec<(u32, u32)> {
        let start = self.seen.partition_point(|&pair| corpus.pair_key(pair) < key);
        let pairs = &self.seen[start..start + self.distinct[key as usize] as usize];
        pairs.iter().map(|&pair| (corpus.pair_value(pair), self.counts[pair as usize])).collect()
    }
}

/// Which values are salient when the frequencies of all values of all keys make one curve.
fn globally_salient(corpus: &Corpus) -> Vec<bool> {
    let mut frequency_by_value: HashMap<u32, u32> = HashMap::default();
    for row in 0..corpus.len() as u32 {
        for &pair in corpus.pairs(row) {
            *frequency_by_value.entry(corpus.pair_value(pair)).or_insert(0) += 1;
        }
    }
    let mut frequencies: Vec<u32> = frequency_by_value.values().copied().collect();
    frequencies.sort_unstable_by(|a, b| b.cmp(a));
    let salient = salient_count(&frequencies, corpus.len());
    let least = salient.checked_sub(1).map_or(u32::MAX, |last| frequencies[last]);
    (0..corpus.value_count() as u32)
        .map(|value| frequency_by_value.get(&value).is_some_and(|&frequency| frequency >= least))
        .collect()
}
