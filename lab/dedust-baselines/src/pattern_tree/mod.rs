/*!
Splits a site's URLs into a tree of ever narrower patterns.

The root covers the whole site. Each split takes the key whose values are most regular (lowest entropy, see
[`split`]); every salient value gets a child, all others share one wildcard child, and URLs that lack the key a
third kind. Takes a [`Corpus`], returns a [`PatternTree`]. Proposes no rules (see [`crate::propose`]) and looks at
no labels: duplicates are the business of later stages.

After Lei et al., *A pattern tree-based approach to learning URL normalization rules*, WWW 2010, Algorithm 1 and
equations 4 and 5. Where the paper leaves a point open or cannot be meant as printed we read it so:

- Absence counts as a value in the entropy, and a key takes part only when at least 1 % of the URLs (and two) have
  it. Otherwise the rarest keys would split first and shatter the tree.
- Keys that are constant in a node make no node of their own.
- Salience gets a floor, a least drop and a tail of ones (see [`split::salient_count`]).
- Having a key or not always separates: different key sets are different formations.
*/

mod build;
mod node_facts;
mod split;

use std::ops::Range;

use crate::closed_rule::{Pattern, ValuePattern};
use dedust::rules::{AnyValue, UrlPart, Value, ValueClass};
use dedust_learn::Corpus;
use dedust_learn::support::InternedRows as _;

pub use build::{BuildOptions, Salience};
pub use node_facts::NodeFacts;

/// A node's number: its place in [`PatternTree::nodes`], 0 for the root.
pub type NodeId = usize;

/// The patterns of one site, from general to narrow.
#[derive(Clone, Debug)]
pub struct PatternTree<'c> {
    corpus: &'c Corpus,
    nodes: Vec<Node>,
    /// All rows, so arranged that every node owns a range.
    rows: Vec<u32>,
}

/// A pattern, and the URLs of the corpus that it covers.
#[derive(Clone, Debug)]
pub struct Node {
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    depth: usize,
    split_key: Option<u32>,
    members: Range<usize>,
    /// Every key that some member has, in the order of keys.
    keys: Vec<(u32, KeyState)>,
    /// For a wildcard child: the salient values that its siblings stand for.
    excluded: Option<(u32, Vec<u32>)>,
}

/// What a node's members have in common at one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyState {
    /// All have this value.
    Const(u32),
    /// Values differ, or some lack the key.
    Star {
        /// Whether some members lack the key.
        optional: bool,
    },
}

impl<'c> PatternTree<'c> {
    /// Builds the tree of a corpus.
    pub fn build(corpus: &'c Corpus, options: &BuildOptions) -> Self {
        build::build(corpus, options)
    }

    /// The corpus it was built from.
    pub fn corpus(&self) -> &'c Corpus {
        self.corpus
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The rows that a node covers.
    pub fn members(&self, node: NodeId) -> &[u32] {
        &self.rows[self.nodes[node].members.clone()]
    }

    /// The number of levels below the root.
    pub fn height(&self) -> usize {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// Whether `ancestor` lies above `node`.
    pub fn is_ancestor(&self, ancestor: NodeId, node: NodeId) -> bool {
        let (outer, inner) = (&self.nodes[ancestor].members, &self.nodes[node].members);
        ancestor != node && outer.start <= inner.start && inner.end <= outer.end
    }

    /// The key at which a node's children differ.
    pub fn split_key(&self, node: NodeId) -> Option<&'c UrlPart> {
        self.nodes[node].split_key.map(|key| &self.corpus.keys()[key as usize])
    }

    /// The pattern of a node: what unseen URLs must look like to be taken for its members.
    pub fn pattern(&self, node: NodeId) -> Pattern {
        let keys = &self.nodes[node].keys;
        Pattern::new(keys.iter().map(|&(key, state)| {
            let value = match state {
                KeyState::Const(value) => ValuePattern::Is(self.corpus.value(value).clone()),
                KeyState::Star { optional } => ValuePattern::Any(AnyValue {
                    class: self.class(node, key),
                    except: self.excluded_values(node, key),
                    optional,
                }),
            };
            (self.corpus.keys()[key as usize].clone(), value)
        }))
    }

    pub(crate) fn state(&self, node: NodeId, key: u32) -> Option<KeyState> {
        let keys = &self.nodes[node].keys;
        keys.binary_search_by_key(&key, |(key, _)| *key).ok().map(|at| keys[at].1)
    }

    fn class(&self, node: NodeId, key: u32) -> ValueClass {
        let corpus = self.corpus;
        let mut values: Vec<u32> = self
            .members(node)
            .iter()
            .flat_map(|&row| corpus.pairs(row))
            .filter(|&&pair| corpus.pair_key(pair) == key)
            .map(|&pair| corpus.pair_value(pair))
            .collect();
        values.sort_unstable();
        values.dedup();
        ValueClass::of(values.iter().map(|&value| corpus.value(value)))
    }

    /// The values of `key` that lead to another branch of the tree, in their own order.
    fn excluded_values(&self, node: NodeId, key: u32) -> Vec<Value> {
        let mut at = Some(node);
        while let Some(node) = at {
            match &self.nodes[node].excluded {
                Some((excluded, values)) if *excluded == key => {
                    let mut values: Vec<Value> =
                        values.iter().map(|&value| self.corpus.value(value).clone()).collect();
                    values.sort();
                    return values;
                }
                _ => at = self.nodes[node].parent,
            }
        }
        Vec::new()
    }
}

impl Node {
    /// The node above; none for the root.
    pub fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    /// The nodes below, largest first.
    pub fn children(&self) -> &[NodeId] {
        &self.children
    }

    /// The distance from the root.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of URLs covered.
    pub fn volume(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn keys(&self) -> &[(u32, KeyState)] {
        &self.keys
    }
}
