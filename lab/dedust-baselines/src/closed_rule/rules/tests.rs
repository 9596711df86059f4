/*! Closed rules, and the sentences of the rules that they become. */

use super::*;
use crate::closed_rule::{Pattern, Rewrite};
use dedust::rules::Evidence;

fn any(class: ValueClass, optional: bool) -> ValuePattern {
    ValuePattern::Any(AnyValue { class, except: Vec::new(), optional })
}

fn is(text: &str) -> ValuePattern {
    ValuePattern::Is(text.into())
}

fn rule(pattern: &[(&str, ValuePattern)], target: &[(&str, Op)]) -> ClosedRule {
    let key = |name: &str| name.parse::<UrlPart>().unwrap();
    ClosedRule {
        pattern: Pattern::new(pattern.iter().map(|(name, pattern)| (key(name), pattern.clone()))),
        other_params: OtherParams::Refuse,
        rewrite: Rewrite::new(target.iter().map(|(name, op)| (key(name), op.clone())), Vec::new()),
        fetchable: true,
        evidence: Evidence::default(),
    }
}

fn sentences(pattern: &[(&str, ValuePattern)], target: &[(&str, Op)]) -> Vec<String> {
    rule(pattern, target).rules().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_left_out_comes_last() {
    let pattern = [
        ("scheme", is("http")),
        ("path_0", is("index.php")),
        ("q.id", any(ValueClass::Digits, false)),
        ("q.sid", any(ValueClass::Text, true)),
    ];
    let target = [
        ("scheme", Op::Keep("http".into())),
        ("path_0", Op::Keep("index.php".into())),
        ("q.id", Op::Copy(UrlPart::query("id"))),
    ];
    assert_eq!(
        sentences(&pattern, &target),
        [
            "under `/index.php`, where the scheme is `http`, where `id` is like `digits`, with or without `sid`, where a URL \
          has nothing else: `sid` does not matter; then no more rules are made"
        ]
    );
}

#[test]
fn values_are_read_before_they_are_written() {
    let target = |first: &str, second: &str| {
        let copy = |name: &str| Op::Copy(UrlPart::query(name));
        [
            ("scheme", Op::Keep("http".into())),
            ("path_0", Op::Keep("a".into())),
            ("q.x", copy(first)),
            ("q.y", copy(second)),
        ]
    };
    let any = || any(ValueClass::Text, false);
    let pattern =
        [("scheme", is("http")), ("path_0", is("a")), ("q.x", any()), ("q.y", any()), ("q.z", any())];
    assert_eq!(
        sentences(&pattern, &target("y", "z")),
        [
            "under `/a`, where the scheme is `http`, where there is `x`, where there is `y`, where there is `z`, where a URL \
          has nothing else: `x` is `{q.y}`; `y` is `{q.z}`; parameters are written in the order `x`, `y`; then no more rules are made"
        ]
    );
    // There is no order in which two values change places.
    assert_eq!(rule(&pattern, &target("y", "x")).rules(), None);
}

#[test]
fn there_is_a_rule_for_each_length_of_a_path_that_moves() {
    let pattern = [("scheme", is("http")), ("path_0", is("a")), ("path_1", any(ValueClass::Word, true))];
    let target = [
        ("scheme", Op::Keep("http".into())),
        ("path_0", Op::Keep("b".into())),
        ("path_1", Op::Keep("c".into())),
        ("path_2", Op::Copy(UrlPart::PathSegment(1))),
    ];
    let rules = rule(&pattern, &target).rules().unwrap();
    let paths: Vec<String> = rules.iter().map(|rule| format!("{:?}", rule.when.len())).collect();
    assert_eq!(paths, ["3", "2"], "with and without the second segment");
}
