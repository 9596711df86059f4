/*!
Canonical URLs that were observed, beside rules: which are applied, and that what is promised of keys and canonical URLs holds with them.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use dedust::rules::{DecidedRules, Decision, DecisionVerb, Prefer, SiteRules};
use dedust::{Normalizer, RuleSet, Scratch};

/// `sid` is left out of canonical URLs; a slash at the end, `www` and `lang` of keys alone.
const RULES: &str = r#"[
    {"change": [{"drop": "q.sid"}], "fetchable": true}, {"change": [{"drop": "tslash"}]},
    {"change": [{"map": {"of": "sub_0", "values": [{"is": "www"}]}}]}, {"change": [{"drop": "q.lang"}]}]"#;

fn load(canonical_urls: &str) -> RuleSet {
    load_sites(&format!(r#""a.example": {{"rules": {RULES}, "canonical_urls": {{{canonical_urls}}}}}"#))
}

fn load_sites(sites: &str) -> RuleSet {
    RuleSet::load(format!(r#"{{"version": 1, "sites": {{{sites}}}}}"#).as_bytes()).unwrap()
}

/// The canonical URL, which has the key of its URL and is its own; one at a time, many at a time, and from a file of compiled rules.
#[track_caller]
fn canonical(rules: &RuleSet, url: &str) -> String {
    let normalizer = Normalizer::compile(rules);
    let canonical = normalizer.normalize(url).unwrap();
    let key = normalizer.key(url).unwrap();
    assert_eq!(normalizer.key(&canonical).unwrap(), key);
    assert_eq!(normalizer.normalize(&canonical).unwrap(), canonical);
    assert_eq!(normalizer.explain(url).unwrap().canonical, canonical);
    let (mut compiled, mut scratch) = (Vec::new(), Scratch::default());
    normalizer.save(&mut compiled).unwrap();
    for same in [&normalizer, &Normalizer::from_bytes(&compiled).unwrap()] {
        let expected = (key.clone(), canonical.clone());
        assert_eq!(same.both(url).unwrap(), expected);
        same.each_canonical([url.as_bytes()], &mut scratch, |_, found| {
            assert_eq!(found, Ok(canonical.as_bytes()));
        });
        same.each_both([url.as_bytes()], &mut scratch, |_, found| {
            assert_eq!(
                found.map(|both| (both.key, both.canonical)),
                Ok((key.as_bytes(), canonical.as_bytes()))
            );
        });
    }
    canonical.to_string()
}

const X: &str = "http://a.example/x";
const X_SLASH: &str = "http://a.example/x/";
const X_SID: &str = "http://a.example/x?sid=1";

#[test]
fn what_was_observed_stands_for_what_rules_write() {
    let rules = load(
        r#""http://a.example/x": "http://a.example/x/", "http://a.example/y/": "http://www.a.example/y""#,
    );
    for url in [X, X_SID, X_SLASH] {
        assert_eq!(canonical(&rules, url), X_SLASH);
    }
    assert_eq!(canonical(&rules, "http://a.example/y/?sid=1"), "http://www.a.example/y");
    assert_eq!(canonical(&rules, "http://a.example/y"), "http://a.example/y", "nothing was observed of it");
    assert_eq!(canonical(&load(""), X_SID), X);
}

#[test]
fn a_url_stays_as_it_is_where_nothing_is_known_to_show_the_page() {
    let rules = load(r#""http://a.example/x": null"#);
    for url in [X, X_SID] {
        assert_eq!(canonical(&rules, url), url);
    }
    assert_eq!(canonical(&rules, "http://a.example/x/?sid=1"), X_SLASH);
}

#[test]
fn a_url_that_rules_write_otherwise_stands_for_others_with_an_entry_of_its_own() {
    let by_itself = r#""http://a.example/x": "http://a.example/x?sid=7""#;
    assert_eq!(canonical(&load(by_itself), X_SID), "http://a.example/x?sid=7");
    // Without `x`, `x?sid=7` would become that.
    let other = r#""http://a.example/x/": "http://a.example/x?sid=7""#;
    assert_eq!(canonical(&load(other), X_SLASH), X_SLASH);
    assert_eq!(canonical(&load(&format!("{by_itself}, {other}")), X_SLASH), "http://a.example/x?sid=7");
    let as_it_was = format!(r#"{other}, "http://a.example/x": null"#);
    assert_eq!(canonical(&load(&as_it_was), X_SLASH), "http://a.example/x?sid=7");
    assert_eq!(canonical(&load(&as_it_was), X_SID), X_SID);
}

#[test]
fn what_breaks_a_promise_is_not_applied() {
    for entry in [
        // Another page, another site, no site at all.
        r#""http://a.example/x": "http://a.example/y""#,
        r#""http://a.example/x": "http://b.example/x""#,
        r#""http://a.example/x": "mailto:x@a.example""#,
        r#""http://a.example/x": "x""#,
        // Not as URLs are written.
        r#""http://a.example/x": "http://A.example/x/""#,
        r#""http://a.example/x": "http://me@a.example/x/""#,
        r#""http://A.example/x": "http://a.example/x/""#,
        // Rules never write it.
        r#""http://a.example/x?sid=1": "http://a.example/x/""#,
        // It is written otherwise itself, or stands for nothing in the end.
        r#""http://a.example/x": "http://a.example/x/?sid=7""#,
        r#""http://a.example/x": "http://a.example/x/", "http://a.example/x/": "http://www.a.example/x""#,
        r#""http://a.example/x": "http://a.example/x/", "http://a.example/x/": "http://a.example/x""#,
    ] {
        assert_eq!(canonical(&load(entry), X_SID), X, "{entry}");
    }
}

#[test]
fn a_host_with_rules_of_its_own_is_not_written() {
    let site = format!(
        r#""a.example": {{"rules": {RULES}, "canonical_urls": {{"http://a.example/x": "http://www.a.example/x"}}}}"#
    );
    assert_eq!(canonical(&load_sites(&site), X_SID), "http://www.a.example/x");
    let own = r#""www.a.example": {"rules": [{"change": [{"drop": "q.ref"}]}]}"#;
    assert_eq!(canonical(&load_sites(&format!("{site}, {own}")), X_SID), X);
}

#[test]
fn what_was_observed_of_the_original_holds_for_its_mirror() {
    let original = format!(
        r#""a.example": {{"rules": {RULES}, "canonical_urls": {{"http://a.example/x": "http://a.example/x/", "http://a.example/y": null}}}}"#
    );
    let mirror = |fetchable| {
        load_sites(&format!(
            r#"{original}, "old.example": {{"mirror": {{"of": "a.example", "fetchable": {fetchable}}}}}"#
        ))
    };
    assert_eq!(canonical(&mirror(true), "http://old.example/x?sid=1"), X_SLASH);
    assert_eq!(canonical(&mirror(true), "http://old.example/y?sid=1"), "http://a.example/y?sid=1");
    let url = "http://old.example/x?sid=1";
    assert_eq!(canonical(&mirror(false), url), url);
    assert_eq!(Normalizer::compile(&mirror(true)).without_mirrors().normalize(url).unwrap(), url);
}

#[test]
fn without_the_rule_that_joined_two_urls_neither_stands_for_the_other() {
    let mut rules = load(
        r#""http://a.example/x": "http://a.example/x/", "http://a.example/y": "http://www.a.example/y""#,
    );
    let entries = rules.site("a.example").unwrap().canonical_urls().clone();
    let slash = rules.site("a.example").unwrap().rules()[1].id().to_string();
    let mut decide = |verb| {
        let ids = std::slice::from_ref(&slash);
        rules.decide("a.example", DecidedRules::Ids(ids), verb, &Decision::default()).unwrap();
        rules.clone()
    };
    let off = decide(DecisionVerb::Off);
    assert_eq!(canonical(&off, X_SID), X);
    assert_eq!(
        canonical(&off, "http://a.example/y?sid=1"),
        "http://www.a.example/y",
        "other rules join these"
    );
    assert_eq!(off.site("a.example").unwrap().canonical_urls(), &entries, "the file keeps them");
    assert_eq!(canonical(&decide(DecisionVerb::On), X_SID), X_SLASH);
    // Not written any more, since it is one of other rules.
    let mut replaced = off;
    replaced.replace_rules("a.example", Vec::new()).unwrap();
    assert_eq!(replaced.site("a.example").unwrap().canonical_urls(), &entries);
    assert_eq!(canonical(&replaced, X_SID), X_SID);
}

#[test]
fn a_url_that_is_there_twice_is_refused() {
    let file = |urls: &str| {
        format!(r#"{{"version": 1, "sites": {{"a.example": {{"canonical_urls": {{{urls}}}}}}}}}"#)
    };
    let once = file(r#""http://a.example/x": null, "http://a.example/y": null"#);
    assert!(RuleSet::load(once.as_bytes()).is_ok());
    let twice = file(r#""http://a.example/x": null, "http://a.example/x": "http://a.example/x/""#);
    let error = format!("{:?}", RuleSet::load(twice.as_bytes()).unwrap_err());
    assert!(error.contains("http://a.example/x"), "{error}");
    assert!(Normalizer::compile_from(twice.as_bytes()).is_err());
}

#[test]
fn a_file_is_written_with_them() {
    let rules = load(r#""http://a.example/x": "http://a.example/x/", "http://a.example/y": null"#);
    let mut saved = Vec::new();
    rules.save(&mut saved).unwrap();
    assert_eq!(RuleSet::load(&saved[..]).unwrap(), rules);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("canonical_urls.bin");
    let mut compiled = Vec::new();
    Normalizer::compile_from(&saved[..]).unwrap().save(&mut compiled).unwrap();
    std::fs::write(&path, &compiled).unwrap();
    assert_eq!(Normalizer::open(&path).unwrap().normalize(X_SID).unwrap(), X_SLASH);
    // An entry that is not applied is not compiled, so that fingerprints are those of what is done.
    let fingerprint = |entries: &str| Normalizer::compile(&load(entries)).fingerprint();
    assert_eq!(fingerprint(r#""http://a.example/x": "http://a.example/y""#), fingerprint(""));
    assert_ne!(fingerprint(r#""http://a.example/x": null"#), fingerprint(""));
}

fn observed(rules: &RuleSet) -> Vec<(&str, Option<&str>)> {
    let entries = rules.site("a.example").map(SiteRules::canonical_urls);
    entries.into_iter().flatten().map(|(written, canonical)| (&**written, canonical.as_deref())).collect()
}

#[test]
fn keeping_decisions_keeps_what_the_new_crawl_observed() {
    let slash = r#""http://a.example/x": "http://a.example/x/""#;
    let pinned = |entries: &str| {
        let mut rules = load(entries);
        rules.decide("a.example", DecidedRules::All, DecisionVerb::Pin, &Decision::default()).unwrap();
        rules
    };
    let earlier = pinned(r#""http://a.example/x": null, "http://a.example/z": null"#);
    let mut learned = load(slash);
    learned.keep(&earlier);
    assert_eq!(observed(&learned), [(X, Some(X_SLASH))]);
    assert_eq!(canonical(&learned, X_SID), X_SLASH);
    // Of a site that was not met again the rules are those before, and so is what was observed of what they write.
    let mut other = RuleSet::default();
    let before = pinned(slash);
    other.keep(&before);
    assert_eq!(observed(&other), [(X, Some(X_SLASH))]);
    assert_eq!(canonical(&other, X_SID), X_SLASH);
}

#[test]
fn merging_keeps_what_both_observed() {
    let of = |urls: u64, entries: &str| {
        let summary =
            format!(r#"{{"urls": {urls}, "labelled": 0, "pages": 0, "raw_rules": 0, "qualified_rules": 0}}"#);
        load_sites(&format!(
            r#""a.example": {{"summary": {summary}, "rules": {RULES}, "canonical_urls": {{{entries}}}}}"#
        ))
    };
    let small = of(10, r#""http://a.example/x": null, "http://a.example/y": null"#);
    let large = of(20, r#""http://a.example/x": "http://a.example/x/", "http://a.example/z": null"#);
    for (first, second) in [(&small, &large), (&large, &small)] {
        for prefer in [None, Some(Prefer::First)] {
            let merged = first.merge(second, prefer).rules;
            let expected = [(X, Some(X_SLASH)), ("http://a.example/y", None), ("http://a.example/z", None)];
            assert_eq!(observed(&merged), expected);
        }
    }
    assert_eq!(small.merge(&small, None).rules, small);
}
