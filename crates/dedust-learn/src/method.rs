/*!
The learners by name. All take a [`Corpus`] and give rules of one form, so that differences between them come from
the algorithm alone.
*/

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dedust::{Edit, Promise, RefusedEdit, Rule, Substitution};

use crate::canonfd::{Mode, Proof, learn_canonfd};
use crate::corpus::Corpus;
use crate::decision_tree::{DecisionTreeOptions, learn_decision_tree};
use crate::dustbuster;
use crate::fanout::{FanoutOptions, learn_fanout};
use crate::pattern_tree::{BuildOptions, PatternTree};
use crate::progress::Progress;
use crate::propose::{ProposeOptions, propose};
use crate::select::{Nested, SelectOptions, Selection, select};

/// A way to learn rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Edits that do not change which page is meant, by votes and bounds: our own.
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
    /// Translation by a neural model (SIGIR 2017), compiled to rules. The learner is lent by another crate.
    Seq2Seq,
    /// Safe normalization only: no rules.
    Standard,
    /// Nothing at all: no rules, and every URL as met is a page of its own. A rule file cannot say so, because the
    /// safe tier is always on: comparisons take [`Scores::keep_all`](crate::Scores::keep_all) for this method.
    KeepAll,
}

/// A learner that another crate lends.
pub trait Learner: fmt::Debug + Send + Sync {
    /// Learns rules for one site.
    fn learn(&self, corpus: &Corpus, progress: &dyn Progress) -> Learned;
}

/// What methods are given beside the corpus.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearnSettings {
    /// Candidates with a larger share of false pairs are dropped, by methods that know such a limit. Default: 0.05.
    pub max_false_pair_rate: f64,
    /// How much proof [`Method::CanonFd`] asks for.
    pub proof: Proof,
    /// The learner of [`Method::Seq2Seq`]. Default: none.
    pub seq2seq: Option<Arc<dyn Learner>>,
}

impl Default for LearnSettings {
    fn default() -> Self {
        Self { max_false_pair_rate: 0.05, proof: Proof::default(), seq2seq: None }
    }
}

impl LearnSettings {
    /// The same with another limit on false pairs.
    #[must_use]
    pub fn with_max_false_pair_rate(self, max_false_pair_rate: f64) -> Self {
        Self { max_false_pair_rate, ..self }
    }

    /// The same with another measure of proof for [`Method::CanonFd`].
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { proof: Proof { mode, ..self.proof }, ..self }
    }

    /// The same with another share of pages that one edit of [`Method::CanonFd`] may lose.
    #[must_use]
    pub fn with_max_loss(self, max_loss: f64) -> Self {
        Self { proof: Proof { max_loss, ..self.proof }, ..self }
    }

    /// The same where all hosts of a registrable domain are taken to have one owner, or not.
    #[must_use]
    pub fn with_trusted_hosts(self, trusts_hosts: bool) -> Self {
        Self { proof: Proof { trusts_hosts, ..self.proof }, ..self }
    }

    /// The same with a learner for [`Method::Seq2Seq`].
    #[must_use]
    pub fn with_seq2seq(self, learner: Arc<dyn Learner>) -> Self {
        Self { seq2seq: Some(learner), ..self }
    }

    /// Whether a method can learn with these settings.
    pub fn allow(&self, method: Method) -> bool {
        method != Method::Seq2Seq || self.seq2seq.is_some()
    }
}

/// What a method made of a corpus.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The rules in the order in which they are to be tried.
    pub rules: Vec<Rule>,
    /// Rules on the text of URLs, in the order in which they are to be applied, before `rules`.
    pub substitutions: Vec<Substitution>,
    /// Edits in the order in which they are to be made, in place of rules.
    pub edits: Vec<Edit>,
    /// The hosts on which the edits hold, without `www`, sorted; empty for all.
    pub hosts: Vec<Box<str>>,
    /// Edits that were considered and not believed, those with most votes first.
    pub refused: Vec<RefusedEdit>,
    /// What the rules are expected to lose at most, if the method says so.
    pub promise: Option<Promise>,
    /// Candidates before any check.
    pub raw_rules: usize,
    /// Candidates that merged few enough different pages.
    pub qualified_rules: usize,
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
    pub const ALL: [Self; 10] = [
        Self::CanonFd,
        Self::TreeGraph,
        Self::TreeNaive,
        Self::DecisionTree,
        Self::Fanout5,
        Self::Fanout10,
        Self::DustBuster,
        Self::Seq2Seq,
        Self::Standard,
        Self::KeepAll,
    ];

    /// The name on the command line and in rule files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CanonFd => "canonfd",
            Self::TreeGraph => "tree-graph",
            Self::TreeNaive => "tree-naive",
            Self::DustBuster => "dustbuster",
            Self::Fanout5 => "fanout-5",
            Self::Fanout10 => "fanout-10",
            Self::DecisionTree => "decision-tree",
            Self::Seq2Seq => "seq2seq",
            Self::Standard => "standard",
            Self::KeepAll => "keep-all",
        }
    }

    /// Learns rules for one site; none, if the method is one that the settings do not [allow](LearnSettings::allow).
    pub fn learn(self, corpus: &Corpus, settings: &LearnSettings, progress: &dyn Progress) -> Learned {
        let &LearnSettings { max_false_pair_rate, proof, ref seq2seq } = settings;
        let selection = match self {
            Self::CanonFd => return learn_canonfd(corpus, proof, max_false_pair_rate),
            Self::TreeGraph => Selection::Graph,
            Self::TreeNaive => Selection::Naive(Nested::default()),
            Self::DustBuster => return dustbuster::learn(corpus, max_false_pair_rate),
            Self::Fanout5 | Self::Fanout10 => {
                let fanout = if self == Self::Fanout5 { 5 } else { 10 };
                let options = FanoutOptions { fanout, max_false_pair_rate, ..FanoutOptions::default() };
                return learn_fanout(corpus, &options);
            }
            Self::DecisionTree => {
                let options = DecisionTreeOptions { max_false_pair_rate, ..DecisionTreeOptions::default() };
                return learn_decision_tree(corpus, &options);
            }
            Self::Seq2Seq => {
                return seq2seq
                    .as_ref()
                    .map_or_else(Learned::default, |learner| learner.learn(corpus, progress));
            }
            Self::Standard | Self::KeepAll => return Learned::default(),
        };
        let tree = PatternTree::build(corpus, &BuildOptions::default());
        let options = ProposeOptions { max_false_pair_rate, ..ProposeOptions::default() };
        let proposal = propose(&tree, &options);
        let select_options = SelectOptions { selection, max_false_pair_rate, ..SelectOptions::default() };
        Learned {
            rules: select(&tree, &proposal, &select_options),
            raw_rules: proposal.raw,
            qualified_rules: proposal.qualified.len(),
            ..Learned::default()
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
