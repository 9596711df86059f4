/*!
Rules of small sites put to the test, against web servers in the process of the test: URLs that differ from themselves at each visit,
and canonical URLs that are not alive.
*/

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dedust::rules::{CanonicalVerdict, Outcome, Verdict};
use dedust::{Normalizer, ParsedUrl, RuleSet};
use dedust_fetch::Fetcher;
use dedust_test_server::{Reply, Server};
use dedust_validate::{Finding, KnownPairs, Limits, Options, Validation, Validator};

/// A rule that leaves out `sid`, and others.
fn rules(others: &str) -> RuleSet {
    let rule = r#"{"change": [{"drop": "q.sid"}], "fetchable": true}"#;
    let json = format!(r#"{{"version": 1, "sites": {{"127.0.0.1": {{"rules": [{rule}{others}]}}}}}}"#);
    RuleSet::load(json.as_bytes()).unwrap()
}

/// Validates rules with URLs of a server, 40 samples for each rule.
fn validate(rules: &RuleSet, server: &Server, paths: &[String]) -> Validation {
    let options = Options { limits: Limits::new(40, 0.05).unwrap(), ..Options::default() };
    let mut validator = Validator::new(rules, options).unwrap();
    for path in paths {
        validator.observe(&ParsedUrl::parse(server.url(path)).unwrap());
    }
    let fetcher = Fetcher::builder().allow_host("127.0.0.1".parse().unwrap()).delay(Duration::ZERO).build();
    validator.run(&fetcher, &KnownPairs::default(), &()).unwrap()
}

fn outcomes(validation: &Validation) -> Vec<Outcome> {
    validation.findings.iter().map(|finding| finding.outcome).collect()
}

fn canonical(finding: &Finding) -> CanonicalVerdict {
    finding.canonical.as_ref().unwrap().verdict
}

/// Two visits of each of 50 pages.
fn views() -> Vec<String> {
    (0..50).flat_map(|id| (1..3).map(move |sid| format!("/view?id={id}&sid={sid}"))).collect()
}

/// The number that a parameter of a target has.
fn param(target: &str, name: &str) -> Option<u64> {
    let mut params = target.split(['?', '&']).filter_map(|param| param.split_once('='));
    params.find(|(key, _)| *key == name)?.1.parse().ok()
}

/// Twenty words for each `seed`, a title for none.
fn text(seed: u64) -> String {
    (0..20)
        .map(|at| format!("w{:x} ", (20 * seed + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40))
        .collect()
}

/// Pages that depend on `id` alone, each with a line of its own at each visit.
fn with_clock(clock: impl Fn(u64) -> String + Send + Sync + 'static) -> impl Fn(&str) -> Reply {
    let now = AtomicU64::new(0);
    move |target| match param(target, "id") {
        Some(id) => {
            let line = clock(now.fetch_add(1, Ordering::SeqCst));
            Reply::html(format!("<p>{}</p><p>{line}</p>", text(id)))
        }
        None => Reply::status(404),
    }
}

#[test]
fn a_clock_does_not_refute_a_rule_that_holds_and_saves_none_that_does_not() {
    let server = Server::start(with_clock(|now| format!("It is {now} seconds past noon.")));
    let rules = rules(r#", {"change": [{"drop": "q.id"}], "fetchable": true}"#);
    let validation = validate(&rules, &server, &views());
    assert_eq!(outcomes(&validation), [Outcome::Confirmed, Outcome::Refuted], "{:?}", validation.findings);
    let [holds, _] = &validation.findings[..] else { panic!() };
    assert_eq!((holds.trial.same, holds.trial.different, holds.trial.failed), (38, 0, 0));
    assert_eq!(canonical(holds).outcome, Outcome::Confirmed);
    assert!(validation.rules.site("127.0.0.1").unwrap().rules()[0].fetchable);
}

#[test]
fn what_changes_slowly_is_no_difference_either() {
    // The same for seven requests.
    let server = Server::start(with_clock(|now| format!("{} people are here now.", now / 7)));
    let rules = rules(r#", {"change": [{"drop": "q.id"}]}"#);
    let validation = validate(&rules, &server, &views());
    assert_eq!(outcomes(&validation), [Outcome::Confirmed, Outcome::Refuted], "{:?}", validation.findings);
}

#[test]
fn of_pages_that_are_others_at_each_visit_nothing_is_known() {
    let server = Server::start(with_clock(|now| text(1000 + now) + &text(2000 + now)));
    let validation = validate(&rules(""), &server, &views());
    assert_eq!(outcomes(&validation), [Outcome::Unknown]);
    let trial = &validation.findings[0].trial;
    let reason = "a page differs from itself at each visit".to_owned();
    assert_eq!((trial.compared(), &trial.failures), (0, &BTreeMap::from([(reason, 50)])));
}

#[test]
fn two_differing_pairs_of_forty_refute_nothing() {
    let differing = |differing: u64| {
        let server = Server::start(move |target| {
            let (id, sid) = (param(target, "id"), param(target, "sid"));
            let Some(id) = id else { return Reply::status(404) };
            Reply::html(text(if id < differing { 1000 * sid.unwrap_or(0) + id } else { id }))
        });
        let validation = validate(&rules(""), &server, &views()[..80]);
        let finding = &validation.findings[0];
        (finding.outcome, finding.trial.different)
    };
    assert_eq!(differing(0).0, Outcome::Confirmed);
    // 38 pairs of the same page are enough, and may come before both are met.
    assert_eq!(differing(2).0, Outcome::Confirmed);
    assert_eq!(differing(4), (Outcome::Unknown, 4));
    assert_eq!(differing(40), (Outcome::Refuted, 5));
}

#[test]
fn a_rule_whose_canonical_urls_redirect_changes_keys_only() {
    // `/p7` is sent to `/p7/`, of which the second rule makes `/p7`.
    let server = Server::start(|target| {
        let path = target.split('?').next().unwrap();
        match path.trim_end_matches('/').strip_prefix("/p").and_then(|id| id.parse().ok()) {
            Some(id) if path.ends_with('/') => Reply::html(text(id)),
            Some(id) => Reply::redirect(&format!("/p{id}/")),
            None => Reply::status(404),
        }
    });
    let paths: Vec<String> =
        (0..50).flat_map(|id| ["/?sid=1", "/?sid=2", "/", ""].map(|end| format!("/p{id}{end}"))).collect();
    let rules = rules(r#", {"change": [{"drop": "tslash"}], "fetchable": true}"#);
    let before = Normalizer::compile(&rules);
    let url = server.url("/p77/");
    assert_eq!(before.normalize(&url).unwrap(), url.trim_end_matches('/'));
    let validation = validate(&rules, &server, &paths);
    assert_eq!(outcomes(&validation), [Outcome::Confirmed, Outcome::Confirmed]);
    let site = validation.rules.site("127.0.0.1").unwrap();
    let verdict = |index: usize| -> Verdict { site.rules()[index].evidence.verdict.clone().unwrap() };
    let [sid, slash] = [verdict(0), verdict(1)].map(|verdict| verdict.canonical.unwrap());
    assert_eq!((slash.outcome, slash.alive, slash.redirected), (Outcome::Refuted, 0, 5));
    assert!(!site.rules()[1].fetchable);

    // The key is as before, and the URL that is alive stays.
    let after = Normalizer::compile(&validation.rules);
    assert_eq!(after.normalize(&url).unwrap(), url.as_str());
    assert_eq!(after.key(&url).unwrap(), before.key(&url).unwrap());

    // All canonical URLs of the other rule lose their slash to this one, which is no fault of it.
    assert_eq!((sid.outcome, sid.dead()), (Outcome::Confirmed, 0));
    assert!(site.rules()[0].fetchable);
    let mut relearned = rules.clone();
    relearned.keep(&validation.rules);
    assert!(!relearned.site("127.0.0.1").unwrap().rules()[1].fetchable);
}

#[test]
fn canonical_urls_are_alive_missing_or_show_another_page() {
    let found = |canonical_url: fn(u64) -> Reply| {
        let server = Server::start(move |target| match (param(target, "id"), param(target, "sid")) {
            (Some(id), Some(_)) => Reply::html(text(id)),
            (Some(id), None) => canonical_url(id),
            _ => Reply::status(404),
        });
        let validation = validate(&rules(""), &server, &views());
        let [finding] = &validation.findings[..] else { panic!() };
        assert_eq!(finding.outcome, Outcome::Confirmed);
        let shown = finding.canonical.as_ref().unwrap().trial.differing.len();
        (canonical(finding), shown)
    };
    let none = CanonicalVerdict::default();
    let refuted = CanonicalVerdict { outcome: Outcome::Refuted, ..none };
    let confirmed = CanonicalVerdict { outcome: Outcome::Confirmed, ..none };
    let alive = found(|id| Reply::html(text(id)));
    assert_eq!(alive, (CanonicalVerdict { alive: 38, ..confirmed }, 0));
    assert_eq!(found(|_| Reply::status(404)), (CanonicalVerdict { missing: 5, ..refuted }, 3));
    let others = found(|id| Reply::html(text(1000 + id)));
    assert_eq!(others, (CanonicalVerdict { different: 5, ..refuted }, 3));
    assert_eq!(found(|_| Reply::status(503)), (CanonicalVerdict { failed: 50, ..none }, 0));
}
