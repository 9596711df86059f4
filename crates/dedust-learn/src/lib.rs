/*!
Learns how websites spell their URLs: a crawl with duplicate evidence in, normalization rules out.

1. A [`Crawl`] takes URLs with [`Clues`] about their pages and becomes one [`Corpus`] per site: interned rows, each
   with a duplicate label. A [`CrawlStore`] does so for crawls larger than memory, and samples large sites.
2. A [`PatternTree`] splits the URLs of a site into ever narrower patterns.
3. [`propose`] finds nodes that hold the same pages, says how to get from one to the other, and proves it.
4. [`select`] makes deployable rules of the candidates.
5. A [`Trainer`] does all this for many sites at a time, with any [`Method`].
6. An [`Evaluator`] tells how good the result is, by the measures of [`metrics`].

The same observations give the same rules, in any order and on any number of threads.
*/

mod canonfd;
mod cluster;
pub mod compare;
mod confidence;
mod corpus;
mod crawl;
mod crawl_store;
mod decision_tree;
pub mod dustbuster;
mod evaluate;
mod evidence;
mod fanout;
mod fitting;
mod host_links;
mod interner;
mod known_names;
mod label;
mod learner;
mod likeness;
mod method;
pub mod metrics;
mod minhash;
mod pair_number;
mod pattern_tree;
mod progress;
mod propose;
mod rows;
mod rule_evidence;
mod select;
mod simhash;
pub mod simulate;
mod trainer;
mod union_find;

pub use canonfd::{
    FetchedGroups, Lack, MAX_PAIRS_OF_GROUP, Mode, Proof, Refusal, learn_canonfd, on_agreeing_hosts,
};
pub use cluster::{Clusterer, Clusters};
pub use confidence::failure_bound;
pub use corpus::Corpus;
pub use crawl::Crawl;
pub use crawl_store::{CrawlStore, MirrorSite, PARTS, SampleSize, StoredCrawl, StoredSite};
pub use decision_tree::{DecisionTreeOptions, learn_decision_tree};
pub use evaluate::{Evaluation, Evaluator, Scores};
pub use evidence::{EvidenceKind, EvidenceKinds};
pub use fanout::{FanoutOptions, learn_fanout};
pub use fitting::fitting;
pub use label::{Clues, LabelBuilder, Labels, MainClues};
pub use learner::{CanonFd, LearnSettings, Learned, Learner};
pub use method::Method;
pub use minhash::{SKETCH_VALUES, Sketch};
pub use pair_number::pair_number;
pub use pattern_tree::{BuildOptions, Node, NodeId, PatternTree, Salience};
pub use progress::Progress;
pub use propose::{CandidateRule, CommonValues, FakeTest, Proposal, ProposeOptions, propose};
pub use rule_evidence::rule_evidence;
pub use select::{Nested, SelectOptions, Selection, select};
pub use trainer::{SiteReport, Trainer, TrainerBuilder, Training};

/// Every error of this crate.
pub mod errors {
    pub use crate::compare::{InvalidSplit, RefusedRules};
    pub use crate::evidence::ParseEvidenceError;
    pub use crate::method::UnknownMethod;
    pub use crate::trainer::{InvalidSettings, TrainError, TrainStoredError};
}

/// The code of the README, kept true.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
