/*!
Tells how good rules are, and the methods that learn them.

- [`metrics`]: the figures, as pure functions of groups and labels.
- [`Evaluator`]: the figures of a [`Normalizer`](dedust::Normalizer) on URLs whose pages are known.
- [`compare`]: any number of [`Learner`](dedust_learn::support::Learner)s side by side, on one split into what is learned from and
  what is scored.

Learns nothing itself, and knows no method by name.

# Versions and features

Rust 1.90, the [promise of `dedust`](dedust#versions-and-features), and no features.
*/

pub mod compare;
mod evaluate;
pub mod metrics;

pub use evaluate::{CanonicalFates, CanonicalUrl, EvaluatedUrl, Evaluation, Evaluator, Scores};

/// Every error of this crate.
pub mod errors {
    pub use crate::compare::{InvalidSplit, RefusedRules};
}
