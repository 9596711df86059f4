/*!
The methods of the literature that learn rules for URLs, behind the trait [`Learner`](dedust_learn::support::Learner).

They are here to be compared with [`CanonFd`](dedust_learn::support::CanonFd), the learner of `dedust-learn`. [`Method`] lists all by
name, CanonFD among them.

- [`PatternTree`], [`propose()`] and [`select()`]: a pattern tree whose nodes are rewritten to each other (Lei et al., WWW 2010).
- [`dustbuster`]: substitutions of strings (Bar-Yossef, Keidar and Schonfeld, WWW 2007).
- [`learn_fanout`]: rewrite rules from pairs of duplicates (after KDD 2008).
- [`learn_decision_tree`]: the same on parts of values, with contexts from a decision tree (after WSDM 2010).

```
use dedust_baselines::Method;
use dedust_learn::{Clues, Crawl, EvidenceKinds, Trainer};

let mut crawl = Crawl::new(EvidenceKinds::AUTO);
for page in 0..40 {
    for session in [1, 2] {
        let url = format!("http://example.org/view?id={page}&sid={}", 7919 * page + session);
        let digest = format!("{page}");
        crawl.observe(url.as_bytes(), &Clues { digest: Some(digest.as_bytes()), ..Clues::default() })?;
    }
}
let trainer = Trainer::builder().learner(Method::TreeGraph).build()?;
let training = trainer.train(&crawl.into_corpora(), &())?;
assert_eq!(training.sites[0].saved, 40);
# Ok::<(), Box<dyn std::error::Error>>(())
```

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features.
*/

mod closed_rule;
mod decision_tree;
pub mod dustbuster;
mod fanout;
mod method;
mod pattern_tree;
mod propose;
mod select;

pub use closed_rule::{ClosedRule, Op, OtherParams, Pattern, Rewrite, ValuePattern, fitting, learned};
pub use decision_tree::{DecisionTreeOptions, learn_decision_tree};
pub use fanout::{FanoutOptions, learn_fanout};
pub use method::{Method, UnknownMethod};
pub use pattern_tree::{BuildOptions, Node, NodeFacts, NodeId, PatternTree, Salience};
pub use propose::{CandidateRule, CommonValues, FakeTest, Proposal, ProposeOptions, propose};
pub use select::{Nested, SelectOptions, Selection, select};
