/*!
Translates URLs to their canonical form: a small model per site, after Xu, Liu and Callan (SIGIR 2017), and what we made
of it.

A URL is a sequence of tokens. Those that many URLs of the site have are its functions (`wiki`, `title`), the others its
arguments (`LinearModel`, `7`). What a canonical form looks like depends on the functions and on where arguments stand,
not on what they are: that much of a URL is its template, and a model translates templates.

1. [`paper`]: tokens, placeholders and pairs as in the paper.
2. [`copying`]: ours. Tokens know which part of the URL they are, and a translation is written as words of the site and
   copies of parts of the source.
3. [`pair`]: what models are trained on, whatever their language.
4. `model` (feature `neural`): the networks, their training and their weights.
5. [`copying::learn`]: which translations are believed. What is left becomes ordinary rules, so that normalizing needs
   no model at all.

# Versions and features

Rust 1.90, and the [promise of `dedust`](dedust#versions-and-features). Weights are read by the version that wrote them.

| feature | adds |
|---|---|
| `neural` | networks and their training, and with them a tensor library; without it there is everything else |
*/

pub mod chance;
pub mod copying;
#[cfg(feature = "neural")]
mod learner;
#[cfg(feature = "neural")]
pub mod model;
pub mod pair;
pub mod paper;
#[cfg(feature = "neural")]
mod translator;
mod variant;
#[cfg(feature = "neural")]
pub use learner::{Options, Seq2Seq};
#[cfg(feature = "neural")]
pub use translator::Translator;
pub use variant::Variant;
