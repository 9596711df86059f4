/*!
Learning by way of the server.
*/

use std::sync::Arc;

use dedust::RuleSet;
use dedust_learn::support::{LearnSettings, Learned, Learner};
use dedust_learn::{Corpus, Progress};
use dedust_serve::LearnerOf;
use serde_json::Value;

use crate::service::{RULES, Service};

/// Pages of which each is there with three values of `sid`.
fn crawl() -> String {
    let row = |at: usize| {
        format!("{{\"url\":\"http://c.example/p?id={}&sid={at}\",\"digest\":\"{}\"}}\n", at / 3, at / 3)
    };
    (0..300).map(row).collect()
}

fn with_crawl() -> Service {
    with_rules(RULES)
}

fn with_rules(rules: &str) -> Service {
    with_learner(rules, None)
}

/// Serves rules, with a learner in place of the default one.
fn with_learner(rules: &str, learner: Option<LearnerOf>) -> Service {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), rules).unwrap();
    std::fs::write(folder.path().join("crawl.jsonl"), crawl()).unwrap();
    let crawl = folder.path().join("crawl.jsonl");
    Service::in_folder(folder, |options| {
        options.crawl.push(crawl);
        options.learner = learner.unwrap_or(options.learner);
    })
}

fn state(service: &Service) -> Value {
    serde_json::from_str(&service.get("/v1/learn").body).unwrap()
}

/// How learning ends that is asked for now.
fn learned(service: &Service) -> Value {
    assert_eq!(service.write("/v1/learn", "").status, 202);
    let is_done =
        (0..1_000_000).any(|_| !["reading", "learning"].contains(&state(service)["state"].as_str().unwrap()));
    assert!(is_done);
    state(service)
}

#[test]
fn what_was_learned_is_served_and_what_was_decided_stays() {
    let service = with_crawl();
    assert_eq!(state(&service)["state"], "idle");
    assert_eq!(
        service.write("/v1/rules/a.example/decisions", r#"{"verb":"pin","all":true,"by":"anna"}"#).status,
        200
    );
    assert_eq!(service.post("/v1/learn", "", &[]).status, 401);
    let end = learned(&service);
    assert_eq!(end["state"], "done", "{end}");
    assert_eq!(end["kept"], 2, "{end}");
    let urls = "http://c.example/p?id=7&sid=999\nhttp://c.example/p?id=8\nhttp://a.example/p?sid=1\n";
    assert_eq!(
        service.text("/v1/keys", urls).body,
        "http://c.example/p?id=7\nhttp://c.example/p?id=8\nhttp://a.example/p\n"
    );
    let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
    assert_eq!(
        file.site("a.example").unwrap().rules()[0].pinned.as_ref().unwrap().by.as_deref(),
        Some("anna")
    );
}

/// [`RULES`] that were learned with these options.
fn rules_of(options: &str) -> String {
    RULES.replacen("\"version\": 1,", &format!("\"version\": 1, \"options\": {options},"), 1)
}

#[test]
fn rules_are_learned_again_with_the_options_of_their_file() {
    let url = "http://c.example/p?id=7&sid=999\n";
    // By digests, which the crawl has, `sid` does not matter; by redirects alone, of which it has none, nothing is known.
    for (options, key) in
        [(r#"{"evidence": "digest"}"#, "http://c.example/p?id=7\n"), (r#"{"evidence": "redirect"}"#, url)]
    {
        let service = with_rules(&rules_of(options));
        let end = learned(&service);
        assert_eq!(end["state"], "done", "{end}");
        let asked: Value = serde_json::from_str(options).unwrap();
        assert_eq!(end["options"]["evidence"], asked["evidence"], "{end}");
        assert_eq!(service.text("/v1/keys", url).body, key);
        let events = service.events.lock().unwrap();
        assert!(events.iter().any(|event| event.event == "learning_options"), "{events:?}");
        // And so on from then.
        let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
        let written: Value = serde_json::from_str(file.options().unwrap()).unwrap();
        assert_eq!(written["evidence"], asked["evidence"]);
        assert_eq!(written["max_loss"], 0.005);
    }
}

/// A method that learns nothing.
#[derive(Debug)]
struct Idle;

impl Learner for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn learn(&self, _corpus: &Corpus, _settings: &LearnSettings, _progress: &dyn Progress) -> Learned {
        Learned::default()
    }
}

#[test]
fn rules_are_learned_again_by_the_method_of_their_file() {
    let rules = rules_of(r#"{"method": "idle"}"#);
    let service = with_learner(&rules, Some(|method| (method == "idle").then(|| Arc::new(Idle) as _)));
    let end = learned(&service);
    assert_eq!((&end["state"], &end["options"]["method"]), (&"done".into(), &"idle".into()), "{end}");
    let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
    assert_eq!((file.method(), file.rule_count()), ("idle", 0));
    // A server without this method leaves the rules alone.
    let end = learned(&with_rules(&rules));
    assert_eq!(end["state"], "failed");
    assert!(end["error"].as_str().unwrap().starts_with("method is idle, "), "{end}");
}

#[test]
fn options_out_of_range_are_refused_by_name_and_leave_the_rules_alone() {
    for (options, expected) in [
        (r#"{"max_loss": 2}"#, "max_loss is 2, expected 0 to 1"),
        (r#"{"max_fpr": -1}"#, "max_fpr is -1, expected 0 to 1"),
        (r#"{"sample": 1.5}"#, "sample is 1.5, expected 0 to 1"),
        (r#"{"max_sample": 0}"#, "max_sample is 0, expected 1 or more"),
        (r#"{"mode": "bold"}"#, "mode is bold: unknown variant"),
        (r#"{"evidence": "hearsay"}"#, "evidence is hearsay: unknown kind"),
        (r#"{"prefer": ["www", "bare"]}"#, "prefer cannot be met"),
        (r#"{"mirror": ["a=b"]}"#, "mirror is a=b: expected two registrable domains"),
        (r#"{"method": "seq2seq"}"#, "method is seq2seq"),
        (r#"{"shape": 1}"#, "shape is 1: unknown field"),
    ] {
        let service = with_rules(&rules_of(options));
        let end = learned(&service);
        assert_eq!(end["state"], "failed", "{end}");
        assert!(end["error"].as_str().unwrap().contains(expected), "{options}: {end}");
        assert_eq!(service.text("/v1/keys", "http://a.example/p?sid=1\n").body, "http://a.example/p\n");
    }
}

#[test]
fn without_a_crawl_nothing_is_learned() {
    let service = Service::start();
    let answer = service.write("/v1/learn", "");
    assert_eq!(answer.status, 501);
    assert!(answer.body.contains("dedust serve RULES CRAWL"));
}

#[test]
fn a_crawl_that_cannot_be_read_leaves_the_rules_alone() {
    let service = Service::with(|options| options.crawl.push("/nowhere/crawl.jsonl".into()));
    assert_eq!(service.write("/v1/learn", "").status, 202);
    let is_failed = (0..1_000_000).any(|_| state(&service)["state"] == "failed");
    assert!(is_failed, "{}", state(&service));
    assert!(state(&service)["error"].as_str().unwrap().contains("/nowhere/crawl.jsonl"));
    assert_eq!(service.text("/v1/keys", "http://a.example/p?sid=1\n").body, "http://a.example/p\n");
}
