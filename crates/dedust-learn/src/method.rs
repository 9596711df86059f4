/*!
The learners by name. All take a [`Corpus`] and give rules of one form, so that differences between them come from
the algorithm alone.
*/

use std::fmt;
use std::str::FromStr;

use dedust::{Rule, Substitution};

use crate::corpus::Corpus;
use crate::pattern_tree::{BuildOptions, PatternTree};
use crate::propose::{ProposeOptions, propose};
use crate::select::{Nested, SelectOptions, Selection, select};

/// A way to learn rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Pattern tree with graph-based selection (WWW 2010).
    #[default]
    TreeGraph,
    /// Pattern tree with the straightforward selection (WWW 2010).
    TreeNaive,
    /// Safe normalization only: no rules.
    Standard,
}

/// What a method made of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The rules in the order in which they are to be tried.
    pub rules: Vec<Rule>,
    /// Rules on the text of URLs, in the order in which they are to be applied, before `rules`.
    pub substitutions: Vec<Substitution>,
    /// Candidates before any check.
    pub raw_rules: usize,
    /// Candidates that merged few enough different pages.
    pub qualified_rules: usize,
}

/// A name that is no method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no method; known are tree-graph, tree-naive and standard")]
pub struct UnknownMethod {
    name: Box<str>,
}

impl Method {
    /// All methods, best first.
    pub const ALL: [Self; 3] = [Self::TreeGraph, Self::TreeNaive, Self::Standard];

    /// The name on the command line and in rule files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TreeGraph => "tree-graph",
            Self::TreeNaive => "tree-naive",
            Self::Standard => "standard",
        }
    }

    /// Learns rules for one site. Candidates with a larger share of false pairs than `max_false_pair_rate` are
    /// dropped.
    pub fn learn(self, corpus: &Corpus, max_false_pair_rate: f64) -> Learned {
        let selection = match self {
            Self::TreeGraph => Selection::Graph,
            Self::TreeNaive => Selection::Naive(Nested::default()),
            Self::Standard => return Learned::default(),
        };
        let tree = PatternTree::build(corpus, &BuildOptions::default());
        let options = ProposeOptions { max_false_pair_rate, ..ProposeOptions::default() };
        let proposal = propose(&tree, &options);
        let select_options = SelectOptions { selection, max_false_pair_rate, ..SelectOptions::default() };
        Learned {
            rules: select(&tree, &proposal, &select_options),
            substitutions: Vec::new(),
            raw_rules: proposal.raw,
            qualified_rules: proposal.qualified.len(),
        }
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
