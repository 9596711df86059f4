/*!
Learning by way of the server.
*/

use std::sync::Arc;

use dedust::RuleSet;
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
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), RULES).unwrap();
    std::fs::write(folder.path().join("crawl.jsonl"), crawl()).unwrap();
    let crawl = folder.path().join("crawl.jsonl");
    Service::in_folder(folder, |options| options.crawl.push(crawl))
}

fn state(service: &Service) -> Value {
    serde_json::from_str(&service.get("/v1/learn").body).unwrap()
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
    assert_eq!(service.write("/v1/learn", "").status, 202);
    let is_done = (0..1_000_000)
        .any(|_| !["reading", "learning"].contains(&state(&service)["state"].as_str().unwrap()));
    assert!(is_done);
    let end = state(&service);
    assert_eq!(end["state"], "done", "{end}");
    assert_eq!(end["kept"], 2, "{end}");
    let urls = "http://c.example/p?id=7&sid=999\nhttp://c.example/p?id=8\nhttp://a.example/p?sid=1\n";
    assert_eq!(
        service.text("/v1/keys", urls).body,
        "http://c.example/p?id=7\nhttp://c.example/p?id=8\nhttp://a.example/p\n"
    );
    let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
    assert_eq!(
        file.site("a.example").unwrap().edits()[0].pinned.as_ref().unwrap().by.as_deref(),
        Some("anna")
    );
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
