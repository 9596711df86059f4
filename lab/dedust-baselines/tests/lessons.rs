//! The methods of the literature learn the lessons in `testdata/learn/*.md`, which have the form of those of CanonFD.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

#[path = "../../../crates/dedust-learn/tests/lessons/runner.rs"]
mod runner;

use dedust_baselines::Method;

#[test]
fn every_lesson_is_learned() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/learn");
    runner::check_all(folder.as_ref(), |name| name.parse::<Method>().unwrap());
}
