//! Sites that show the pages of others: what becomes of their URLs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dedust::errors::{InvalidSite, LoadRulesError};
use dedust::{Normalizer, RuleSet, Scratch};

/// `new.example`, where `sid` does not matter; and sites that show its pages.
fn rules(mirrors: &[(&str, &str)]) -> String {
    let mirrors: String = mirrors
        .iter()
        .map(|(site, mirror)| format!(r#","{site}": {{ "mirror": {{ {mirror}, "evidence": {EVIDENCE} }} }}"#))
        .collect();
    let rule = format!(
        r#"{{ "when": {{}}, "change": [ {{ "drop": "q.sid" }} ], "fetchable": true, "evidence": {EVIDENCE} }}"#
    );
    format!(r#"{{ "version": 1, "sites": {{ "new.example": {{ "rules": [ {rule} ] }} {mirrors} }} }}"#)
}

const EVIDENCE: &str = r#"{ "urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9, "failed_groups": 0,
    "failure_bound": 0.1, "kinds": [] }"#;

fn normalizer(mirrors: &[(&str, &str)]) -> Normalizer {
    let loaded = Normalizer::compile(&RuleSet::load(rules(mirrors).as_bytes()).unwrap());
    let streamed = Normalizer::compile_from(rules(mirrors).as_bytes()).unwrap();
    assert_eq!(loaded.site_count(), streamed.site_count());
    streamed
}

const OLD: (&str, &str) = ("old.example", r#""of": "new.example", "fetchable": true, "except": ["contact"]"#);

#[test]
fn a_url_of_a_mirror_is_one_of_the_original() {
    let normalizer = normalizer(&[OLD]);
    let cases = [
        ("http://www.old.example/a?b=1&sid=7", "http://www.new.example/a?b=1"),
        ("http://old.example:8080/", "http://new.example:8080/"),
        // What must not change: a section of its own, other sites, and what only ends alike.
        ("http://old.example/contact/7", "http://old.example/contact/7"),
        ("http://old.example/contacts/7", "http://new.example/contacts/7"),
        ("http://bold.example/a", "http://bold.example/a"),
    ];
    for (url, expected) in cases {
        assert_eq!(normalizer.normalize(url).unwrap(), expected);
        assert_eq!(normalizer.key(url).unwrap(), normalizer.key(expected).unwrap());
        assert_eq!(normalizer.normalize(expected).unwrap(), expected);
        let (key, canonical) = normalizer.both(url).unwrap();
        assert_eq!(key, normalizer.key(expected).unwrap());
        assert_eq!(canonical, expected);
    }
    let mut many = Vec::new();
    normalizer.each_canonical(
        cases.iter().map(|(url, _)| url.as_bytes()),
        &mut Scratch::default(),
        |_, url| {
            many.push(String::from_utf8(url.unwrap().to_vec()).unwrap());
        },
    );
    assert_eq!(many, cases.map(|(_, expected)| expected));
    let explained = normalizer.explain("http://old.example/a?sid=1").unwrap();
    assert_eq!(
        (explained.site.as_deref(), explained.mirror.as_deref()),
        (Some("new.example"), Some("old.example"))
    );
    assert_eq!(explained.rules, [0]);
}

#[test]
fn pages_that_may_not_be_there_are_fetched_where_they_were_seen() {
    let normalizer = normalizer(&[("old.example", r#""of": "new.example", "fetchable": false"#)]);
    let url = "http://old.example/a?sid=1";
    assert_eq!(normalizer.normalize(url).unwrap(), url);
    assert_eq!(normalizer.key(url).unwrap(), "http://new.example/a");
    let (key, canonical) = normalizer.both(url).unwrap();
    assert_eq!(key, "http://new.example/a");
    assert_eq!(canonical, url);
}

#[test]
fn a_user_is_in_no_key_and_stays_in_the_url() {
    let normalizer = normalizer(&[OLD]);
    let url = "http://me@old.example/a";
    assert_eq!(normalizer.normalize(url).unwrap(), url);
    assert_eq!(normalizer.key(url).unwrap(), "http://new.example/a");
}

#[test]
fn a_mirror_of_a_mirror_is_one_of_the_original() {
    let older = ("older.example", r#""of": "old.example", "fetchable": true"#);
    let normalizer = normalizer(&[OLD, older]);
    assert_eq!(normalizer.key("http://older.example/a").unwrap(), "http://new.example/a");
    assert_eq!(normalizer.key("http://older.example/contact").unwrap(), "http://older.example/contact");
}

#[test]
fn mirrors_in_a_circle_are_left_alone() {
    let circle = [
        ("a.example", r#""of": "b.example", "fetchable": true"#),
        ("b.example", r#""of": "a.example", "fetchable": true"#),
    ];
    let normalizer = normalizer(&circle);
    assert_eq!(normalizer.key("http://a.example/x").unwrap(), "http://a.example/x");
    assert_eq!(normalizer.site_count(), 1);
}

#[test]
fn what_can_be_no_mirror_is_refused() {
    for (site, of) in [
        ("a.example", "a.example"),
        ("127.0.0.1", "a.example"),
        ("a.example", "127.0.0.1"),
        ("a.example", "A/"),
        // Neither of them could be found by the name of a site, if that is a mirror as well.
        ("a.example", "www.b.example"),
        ("www.a.example", "b.example"),
        ("a.example", "b.example:80"),
        ("a.example", "b.example."),
    ] {
        let rules = rules(&[(site, &format!(r#""of": "{of}", "fetchable": true"#))]);
        let refused = RuleSet::load(rules.as_bytes()).unwrap_err();
        assert!(matches!(
            refused,
            LoadRulesError::InvalidSite { source: InvalidSite::Mirror | InvalidSite::Name(_), .. }
        ));
        assert!(Normalizer::compile_from(rules.as_bytes()).is_err());
    }
}

#[test]
fn rules_with_mirrors_are_saved_as_they_were_loaded() {
    let loaded = RuleSet::load(rules(&[OLD]).as_bytes()).unwrap();
    let mut saved = Vec::new();
    loaded.save(&mut saved).unwrap();
    assert_eq!(RuleSet::load(saved.as_slice()).unwrap(), loaded);
    assert_eq!(
        loaded.site("old.example").unwrap().entry(0).unwrap().to_string(),
        "shows the pages of new.example, except /contact"
    );
}

#[test]
fn without_mirrors_no_url_leaves_its_site() {
    let file = rules(&[OLD, ("older.example", r#""of": "old.example", "fetchable": true"#)]);
    let mut compiled = Vec::new();
    Normalizer::compile_from(file.as_bytes()).unwrap().save(&mut compiled).unwrap();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("without_mirrors.bin");
    std::fs::write(&path, &compiled).unwrap();
    for trusted in [Normalizer::compile_from(file.as_bytes()).unwrap(), Normalizer::open(&path).unwrap()] {
        assert_eq!(trusted.mirror_count(), 2);
        assert_eq!(trusted.normalize("http://older.example/a?sid=1").unwrap(), "http://new.example/a");
        let normalizer = trusted.without_mirrors();
        assert_eq!(normalizer.mirror_count(), 2, "how many there are, applied or not");
        let urls = [
            "http://www.old.example/a?sid=1",
            "http://older.example/a?sid=1",
            "http://old.example/contact/7",
        ];
        for url in urls {
            let explained = normalizer.explain(url).unwrap();
            assert_eq!((&*explained.key.to_string(), &*explained.canonical.to_string()), (url, url));
            assert_eq!((explained.mirror, explained.rules), (None, Vec::new()));
        }
        let urls = || urls.iter().map(|url| url.as_bytes());
        let mut scratch = Scratch::default();
        normalizer.each_canonical(urls(), &mut scratch, |url, canonical| assert_eq!(canonical, Ok(url)));
        normalizer.each_key(urls(), &mut scratch, |url, key| assert_eq!(key, Ok(url)));
        assert_eq!(normalizer.normalize("http://new.example/a?sid=1").unwrap(), "http://new.example/a");
    }
}

#[test]
fn rules_without_mirrors_have_one_fingerprint_however_they_are_opened() {
    let opened = |file: &str| {
        let mut compiled = Vec::new();
        let by_site = Normalizer::compile_from(file.as_bytes()).unwrap();
        by_site.save(&mut compiled).unwrap();
        let at_once = Normalizer::compile(&RuleSet::load(file.as_bytes()).unwrap());
        [by_site, at_once, Normalizer::from_bytes(&compiled).unwrap()]
    };
    let fingerprints = |file: &str, leaves_out: bool| {
        let [first, second, third] = opened(file)
            .map(|normalizer| if leaves_out { normalizer.without_mirrors() } else { normalizer })
            .map(|normalizer| normalizer.fingerprint());
        assert!(first == second && second == third, "{first:x} {second:x} {third:x}");
        first
    };
    let plain = r#"{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.sid"}]}]}}}"#;
    assert_eq!(fingerprints(plain, false), fingerprints(plain, true));
    // Here the keys are others.
    let with_mirror = rules(&[OLD]);
    assert_ne!(fingerprints(&with_mirror, false), fingerprints(&with_mirror, true));
}
