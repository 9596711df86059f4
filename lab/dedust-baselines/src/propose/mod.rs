/*!
Candidate rules from a pattern tree: nodes that hold the same pages, and how to get from one to the other.

1. [`duplicate_nodes`] finds pairs of nodes that share enough duplicates (Algorithm 2, equation 6).
2. [`operations`] says for every key of the target where its value comes from (Algorithm 3, and the test that tells
   a real replacement from a fake one).
3. [`proof`] runs the candidate on the training URLs and counts pairs of different pages that it would merge.

Takes a [`PatternTree`] whose corpus carries labels, returns a [`Proposal`]. Resolves no conflicts between
candidates: that is the work of [`crate::select`].
*/

mod duplicate_nodes;
mod node_facts;
mod operations;
pub(crate) mod proof;

use dedust_learn::support::PairCounts;

use crate::pattern_tree::{NodeId, PatternTree};

pub(crate) use node_facts::NodeFacts;
use operations::Operations;
use proof::Prover;

/// How to propose candidates. The defaults are the paper's constants and our readings of its text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProposeOptions {
    /// Two nodes are duplicates when this share of their URLs lies in common clusters. Default: 0.5.
    pub min_overlap: f64,
    /// A key maps to another when more than this share of their values is common. Default: 0.5.
    pub min_common_values: f64,
    /// What "common values" means. Default: [`CommonValues::Jaccard`].
    pub common_values: CommonValues,
    /// When a replacement is fake. Default: [`FakeTest::Ratio`].
    pub fake_test: FakeTest,
    /// Candidates with a larger share of false pairs are dropped. Default: 0.05.
    pub max_false_pair_rate: f64,
}

/// How the rate of common values of two keys is measured, inside the clusters that both nodes share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommonValues {
    /// Distinct values of both keys, over distinct values of either.
    #[default]
    Jaccard,
    /// The share of clusters in which the keys have a value in common.
    Aligned,
}

/// When a key is taken as irrelevant although its values recur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FakeTest {
    /// Duplicates disagree on it at least half as often as any two URLs do.
    #[default]
    Ratio,
    /// Duplicates disagree on it in at least a tenth of the cases.
    Raw,
}

impl Default for ProposeOptions {
    fn default() -> Self {
        Self {
            min_overlap: 0.5,
            min_common_values: 0.5,
            common_values: CommonValues::default(),
            fake_test: FakeTest::default(),
            max_false_pair_rate: 0.05,
        }
    }
}

/// What [`propose`] found.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// The number of candidates before the check for false pairs.
    pub raw: usize,
    /// The candidates that passed it.
    pub qualified: Vec<CandidateRule>,
}

/// A way to write the URLs of one node in the form of another, that passed its proof.
#[derive(Clone, Debug)]
pub struct CandidateRule {
    pub(crate) source: NodeId,
    pub(crate) target: NodeId,
    /// One operation per key of the target, in the order of keys.
    pub(crate) ops: Vec<(u32, TreeOp)>,
    /// Pairs over the members of both nodes.
    pub(crate) counts: PairCounts,
    /// URLs it can normalize.
    pub(crate) covered: usize,
}

/// Where the value of a target key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeOp {
    /// The target's own constant.
    Keep(u32),
    /// The value of this key of the source.
    Replace(u32),
    /// It does not matter.
    Ignore,
    /// It does not matter, and URLs can do without the key.
    Drop,
}

impl CandidateRule {
    pub(crate) fn is_self_rule(&self) -> bool {
        self.source == self.target
    }
}

/// Proposes candidate rules between the nodes of `tree`, proven on its corpus.
pub fn propose(tree: &PatternTree<'_>, options: &ProposeOptions) -> Proposal {
    let pairs = duplicate_nodes::find(tree, options.min_overlap);
    let mut facts = NodeFacts::new(tree);
    let mut prover = Prover::new(tree);
    let mut proposal = Proposal::default();
    for (s, t) in pairs {
        let operations = Operations::between(tree, &mut facts, s, t, options);
        let mut consider = |source, target, ops| {
            proposal.raw += 1;
            let candidate = prover.prove(source, target, ops);
            if candidate.counts.support > 0 && candidate.counts.fpr() <= options.max_false_pair_rate {
                proposal.qualified.push(candidate);
            }
        };
        consider(s, t, operations.forth);
        if let Some(back) = operations.back {
            consider(t, s, back);
        }
    }
    proposal.qualified.sort_by_key(|candidate| (candidate.source, candidate.target));
    proposal
}
