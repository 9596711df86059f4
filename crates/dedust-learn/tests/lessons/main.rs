//! CanonFD learns the lessons in `testdata/learn/*.md`; their README describes the form.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

mod runner;

use dedust_learn::support::{CanonFd, Learner as _};

#[test]
fn every_lesson_is_learned() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/learn");
    runner::check_all(folder.as_ref(), |name| {
        assert_eq!(name, CanonFd.name(), "the method of a lesson");
        CanonFd
    });
}
