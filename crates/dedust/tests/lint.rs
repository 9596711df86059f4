//! Whatever the bytes of a file: `lint` ends, and finds errors where loading does.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::fs;
use std::path::Path;

use dedust::RuleSet;
use dedust::rules::lint;
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of rule files that may stand where others do.
const PIECES: [&str; 18] = [
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "7",
    "\"off\": {},",
    "\"q.sid\"",
    "\"drop\"",
    "\n",
    "{}",
    "[]",
    "\"rules\"",
];

fn file() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rules/every-rule.json");
    fs::read_to_string(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_files_have_errors_that_loading_has_too(
        damage in vec((any::<prop::sample::Index>(), 0..9usize, prop::sample::select(&PIECES[..])), 1..4),
    ) {
        let mut text = file();
        for (at, removed, piece) in damage {
            let start = at.index(text.len());
            let end = (start + removed).min(text.len());
            if text.is_char_boundary(start) && text.is_char_boundary(end) {
                text.replace_range(start..end, piece);
            }
        }
        let problems = lint(&text);
        let has_errors = problems.iter().any(|problem| problem.is_error);
        prop_assert_eq!(has_errors, RuleSet::load(text.as_bytes()).is_err(), "{:?}\n{}", problems, text);
        let lines = 1 + text.matches('\n').count();
        prop_assert!(problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
    }

    #[test]
    fn any_text_at_all_is_looked_at(text in ".{0,200}") {
        prop_assert!(lint(&text).iter().any(|problem| problem.is_error));
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let text = format!("{{\"version\": 1, \"sites\": {}", "[".repeat(100_000));
    assert!(lint(&text).iter().any(|problem| problem.is_error));
}
