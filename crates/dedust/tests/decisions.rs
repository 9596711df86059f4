//! People keep the last word: what somebody turned off is not applied, and gets in nobody's way.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust::{Normalizer, RuleSet};

const REFUTED: &str = r#""evidence": {"urls": 9, "support_pairs": 4, "false_pairs": 0, "groups": 4, "failed_groups": 0,
    "failure_bound": 0.5, "kinds": [], "verdict": {"outcome": "refuted", "same": 0, "different": 9, "failed": 0}}"#;

fn load(rules: &str) -> RuleSet {
    load_site(&format!(r#"{{"rules": [{rules}]}}"#))
}

fn load_site(site: &str) -> RuleSet {
    let file = format!(r#"{{"version": 1, "sites": {{"a.example": {site}}}}}"#);
    RuleSet::load(file.as_bytes()).unwrap()
}

fn normalized(rules: &RuleSet, url: &str) -> String {
    let normalizer = Normalizer::compile(rules);
    let canonical = normalizer.normalize(url).unwrap().to_string();
    let mut compiled = Vec::new();
    normalizer.save(&mut compiled).unwrap();
    let mut saved = Vec::new();
    rules.save(&mut saved).unwrap();
    assert_eq!(RuleSet::load(&saved[..]).unwrap(), *rules, "what is saved is what is loaded");
    canonical
}

#[test]
fn a_rule_that_is_off_is_not_applied_and_the_others_keep_their_places() {
    let rules = load(
        r#"{"change": [{"drop": "q.sid"}], "fetchable": true, "off": {"by": "anna"}},
           {"change": [{"drop": "q.ref"}], "fetchable": true}"#,
    );
    let url = "http://a.example/p?id=1&ref=2&sid=3";
    assert_eq!(normalized(&rules, url), "http://a.example/p?id=1&sid=3");
    let normalizer = Normalizer::compile(&rules);
    assert_eq!(normalizer.rule_count(), 1);
    assert_eq!(normalizer.explain(url).unwrap().rules, [1]);
    assert_eq!(normalized(&rules, "http://a.example/p?id=1"), "http://a.example/p?id=1");
}

#[test]
fn a_pinned_rule_is_applied_even_if_it_was_refuted() {
    let refuted = format!(r#"{{"change": [{{"drop": "q.sid"}}], "fetchable": true, {REFUTED}}}"#);
    let url = "http://a.example/p?sid=3";
    assert_eq!(normalized(&load(&refuted), url), url);
    let pinned = refuted.replacen('{', r#"{"pinned": {}, "#, 1);
    assert_eq!(normalized(&load(&pinned), url), "http://a.example/p");
    let off = pinned.replacen('{', r#"{"off": {}, "#, 1);
    assert_eq!(normalized(&load(&off), url), url);
}

#[test]
fn what_is_not_applied_takes_nothing_away_from_later_rules() {
    let later = r#"{"when": {"q.s": {"is": "1"}}, "change": [{"drop": "q.t"}], "fetchable": true}"#;
    for state in [r#""off": {}"#, REFUTED] {
        let rules = load(&format!(r#"{{"change": [{{"drop": "q.s"}}], {state}}}, {later}"#));
        assert_eq!(normalized(&rules, "http://a.example/?s=1&t=2"), "http://a.example/?s=1");
        assert_eq!(normalized(&rules, "http://a.example/?s=2&t=2"), "http://a.example/?s=2&t=2");
    }
}

#[test]
fn a_rule_that_is_off_stands_beside_rules_of_any_kind() {
    let rules = load(
        r#"{"change": [{"drop": "q.s"}], "fetchable": true},
           {"change": [{"replace": [{"from": "/index.html", "to": "/"}]}], "off": {}}"#,
    );
    assert_eq!(normalized(&rules, "http://a.example/index.html?s=1"), "http://a.example/index.html");
}

#[test]
fn a_mirror_that_is_off_moves_nothing() {
    let url = "http://a.example/p";
    let mirror = r#"{"mirror": {"of": "b.example", "fetchable": true}}"#;
    assert_eq!(normalized(&load_site(mirror), url), "http://b.example/p");
    let off = load_site(&mirror.replace("true", r#"true, "off": {}"#));
    assert_eq!(normalized(&off, url), url);
    assert!(off.site("a.example").unwrap().mirror().is_none());
    assert_eq!(Normalizer::compile(&off).mirror_count(), 0);
}

#[test]
fn a_rule_that_is_off_must_still_make_sense_by_itself() {
    let file = r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [], "off": {}}]}}}"#;
    assert!(RuleSet::load(file.as_bytes()).is_err());
}
