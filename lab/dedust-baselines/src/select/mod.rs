/*!
Deployable rules from candidates: no two for one URL, no circles, every chain joined into one direct rule.

Candidates conflict: two start at one node, one covers another, some go round in a circle. [`naive`] settles this
case by case; [`graph`] chooses the best destinations by a random walk and lets everything flow there. Either way
[`deploy`] then looks at each destination as a whole: all rules that lead to it must forget the same values, or
their results could never meet, and they are proven again together.

Takes a [`Proposal`], returns rules in the order in which they are to be tried.
*/

mod compose;
mod deploy;
mod graph;
mod naive;
mod write_rules;

use crate::closed_rule::{ClosedRule, OtherParams, fitting};
use crate::pattern_tree::{NodeId, PatternTree};
use crate::propose::{CandidateRule, Proposal, TreeOp};

/// How to make rules of candidates.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SelectOptions {
    /// How to choose among candidates. Default: [`Selection::Graph`].
    pub selection: Selection,
    /// Joined rules with a larger share of false pairs are dropped. Default: 0.05.
    pub max_false_pair_rate: f64,
    /// What the rules do with query parameters that were not seen in training. Default: refuse the URL.
    pub other_params: OtherParams,
}

impl Default for SelectOptions {
    fn default() -> Self {
        Self { selection: Selection::Graph, max_false_pair_rate: 0.05, other_params: OtherParams::Refuse }
    }
}

/// How to choose among candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// Conflict by conflict (the paper's straightforward strategy).
    Naive(Nested),
    /// By destinations (the paper's graph-based strategy).
    Graph,
}

/// What the naive selection does with a rule whose source lies above that of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nested {
    /// Keep the upper one only.
    #[default]
    KeepAncestor,
    /// Keep both and try the one with fewer false pairs first.
    LowestRateFirst,
}

/// URLs of one node, to be written in the form of another that no rule leads away from.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    source: NodeId,
    target: NodeId,
    ops: Vec<(u32, TreeOp)>,
}

/// Chooses deployable rules, in the order in which they are to be tried.
pub fn select(tree: &PatternTree<'_>, proposal: &Proposal, options: &SelectOptions) -> Vec<ClosedRule> {
    let &SelectOptions { selection, max_false_pair_rate, other_params } = options;
    let candidates = &proposal.qualified;
    let assignments = match selection {
        Selection::Naive(nested) => naive::assign(tree, candidates, nested, max_false_pair_rate),
        Selection::Graph => graph::assign(tree, candidates, max_false_pair_rate),
    };
    let mut deployed = deploy::deploy(tree, assignments, max_false_pair_rate);
    match selection {
        Selection::Naive(Nested::LowestRateFirst) => {
            deployed.sort_by(|a, b| a.counts.fpr().total_cmp(&b.counts.fpr()));
        }
        // The narrowest pattern that has a rule speaks for a URL.
        Selection::Naive(Nested::KeepAncestor) | Selection::Graph => {
            deployed.sort_by_key(|rule| (std::cmp::Reverse(tree.nodes()[rule.source].depth()), rule.source));
        }
    }
    // Joined rules may leave out a segment between others.
    fitting(deployed.iter().map(|rule| write_rules::write(tree, rule, other_params)).collect())
}

/// The candidate from a node to itself, if there is one.
fn self_rule(candidates: &[CandidateRule], node: NodeId) -> Option<&CandidateRule> {
    let at = candidates
        .binary_search_by_key(&(node, node), |candidate| (candidate.source, candidate.target))
        .ok()?;
    Some(&candidates[at])
}
