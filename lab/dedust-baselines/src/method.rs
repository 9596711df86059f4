/*!
The methods by name: our own, those of the literature, and doing nothing.
*/

use std::fmt;
use std::str::FromStr;

use dedust_learn::support::{CanonFd, LearnSettings, Learned, Learner};
use dedust_learn::{Corpus, Progress};

use crate::closed_rule::learned;
use crate::decision_tree::{DecisionTreeOptions, learn_decision_tree};
use crate::dustbuster;
use crate::fanout::{FanoutOptions, learn_fanout};
use crate::pattern_tree::{BuildOptions, PatternTree};
use crate::propose::{ProposeOptions, propose};
use crate::select::{Nested, SelectOptions, Selection, select};

/// A way to learn rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Method {
    /// [`CanonFd`]: rules that do not change which page is meant, by votes and bounds.
    #[default]
    CanonFd,
    /// Pattern tree with graph-based selection (WWW 2010).
    TreeGraph,
    /// Pattern tree with the straightforward selection (WWW 2010).
    TreeNaive,
    /// Substitutions of strings, from a list of URLs (WWW 2007).
    DustBuster,
    /// Rewrite rules from pairs of duplicates, widened where five values are seen (after KDD 2008).
    Fanout5,
    /// The same, widened where ten values are seen.
    Fanout10,
    /// Rewrite rules on parts of values, with contexts from a decision tree (after WSDM 2010).
    DecisionTree,
    /// Safe normalization only: no rules.
    Standard,
    /// Nothing at all: no rules, and every URL as met is a page of its own
    /// ([`skips_safe_normalization`](Learner::skips_safe_normalization)).
    KeepAll,
}

/// A name that is no method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no method; known are {}", known())]
pub struct UnknownMethod {
    name: Box<str>,
}

fn known() -> String {
    Method::ALL.map(Method::name).join(", ")
}

impl Method {
    /// All methods, best first.
    pub const ALL: [Self; 9] = [
        Self::CanonFd,
        Self::TreeGraph,
        Self::TreeNaive,
        Self::DecisionTree,
        Self::Fanout5,
        Self::Fanout10,
        Self::DustBuster,
        Self::Standard,
        Self::KeepAll,
    ];

    /// The name on the command line and in rule files.
    pub fn name(self) -> &'static str {
        match self {
            Self::CanonFd => CanonFd.name(),
            Self::TreeGraph => "tree-graph",
            Self::TreeNaive => "tree-naive",
            Self::DustBuster => "dustbuster",
            Self::Fanout5 => "fanout-5",
            Self::Fanout10 => "fanout-10",
            Self::DecisionTree => "decision-tree",
            Self::Standard => "standard",
            Self::KeepAll => "keep-all",
        }
    }
}

impl Learner for Method {
    fn name(&self) -> &'static str {
        (*self).name()
    }

    fn learn(&self, corpus: &Corpus, settings: &LearnSettings, progress: &dyn Progress) -> Learned {
        let max_false_pair_rate = settings.max_false_pair_rate;
        let fanout = |fanout| {
            let options = FanoutOptions { fanout, max_false_pair_rate, ..FanoutOptions::default() };
            learn_fanout(corpus, &options)
        };
        match self {
            Self::CanonFd => CanonFd.learn(corpus, settings, progress),
            Self::TreeGraph => learn_tree(corpus, Selection::Graph, max_false_pair_rate),
            Self::TreeNaive => learn_tree(corpus, Selection::Naive(Nested::default()), max_false_pair_rate),
            Self::DustBuster => dustbuster::learn(corpus, max_false_pair_rate),
            Self::Fanout5 => fanout(5),
            Self::Fanout10 => fanout(10),
            Self::DecisionTree => {
                let options = DecisionTreeOptions { max_false_pair_rate, ..DecisionTreeOptions::default() };
                learn_decision_tree(corpus, &options)
            }
            Self::Standard | Self::KeepAll => Learned::default(),
        }
    }

    fn skips_safe_normalization(&self) -> bool {
        *self == Self::KeepAll
    }

    fn leaves_out_mirrors(&self) -> bool {
        *self == Self::CanonFd && CanonFd.leaves_out_mirrors()
    }
}

fn learn_tree(corpus: &Corpus, selection: Selection, max_false_pair_rate: f64) -> Learned {
    let tree = PatternTree::build(corpus, &BuildOptions::default());
    let proposal = propose(&tree, &ProposeOptions { max_false_pair_rate, ..ProposeOptions::default() });
    let options = SelectOptions { selection, max_false_pair_rate, ..SelectOptions::default() };
    Learned {
        raw_rules: proposal.raw,
        qualified_rules: proposal.qualified.len(),
        ..learned(&select(&tree, &proposal, &options))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}
