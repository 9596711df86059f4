/*!
What people decide by way of the server.
*/

use dedust::RuleSet;
use serde_json::Value;

use crate::service::Service;

fn ids(service: &Service) -> Vec<String> {
    let site: Value = serde_json::from_str(&service.get("/v1/rules/a.example").body).unwrap();
    site["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

const PATH: &str = "/v1/rules/a.example/decisions";

#[test]
fn a_rule_that_is_turned_off_is_not_applied_from_then_on() {
    let service = Service::start();
    let url = "http://a.example/p?sid=1\n";
    assert_eq!(service.text("/v1/keys", url).body, "http://a.example/p\n");
    let id = &ids(&service)[0];
    let body = format!(r#"{{"verb":"off","ids":["{id}"],"by":"anna","why":"breaks the search"}}"#);
    let answer = service.write(PATH, &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let decided: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!((&decided["changed"], &decided["rules"][0]["applied"]), (&1.into(), &false.into()));
    assert_eq!(service.text("/v1/keys", url).body, url);

    let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
    let rules = file.site("a.example").unwrap().rules();
    let off = rules[0].off.as_deref().unwrap();
    assert_eq!((off.by.as_deref(), off.why.as_deref()), (Some("anna"), Some("breaks the search")));
    assert!(off.at.as_deref().unwrap().ends_with('Z'));
    assert_eq!(rules[1].off, None, "only what was named");

    let answer = service.write(PATH, r#"{"verb":"on","all":true}"#);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(service.text("/v1/keys", url).body, "http://a.example/p\n");
    let names: Vec<String> = std::fs::read_dir(service.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["rules.json"], "nothing is left beside the file");
}

#[test]
fn a_rule_is_pinned_and_unpinned() {
    let service = Service::start();
    let id = &ids(&service)[1];
    let pinned = || {
        let file = RuleSet::load(std::fs::File::open(service.rules()).unwrap()).unwrap();
        file.site("a.example").unwrap().rules()[1].pinned.is_some()
    };
    assert_eq!(service.write(PATH, &format!(r#"{{"verb":"pin","ids":["{}"]}}"#, &id[..6])).status, 200);
    assert!(pinned(), "by the beginning of its id");
    assert_eq!(service.write(PATH, &format!(r#"{{"verb":"unpin","ids":["{id}"]}}"#)).status, 200);
    assert!(!pinned());
}

#[test]
fn what_cannot_be_decided_changes_nothing() {
    let service = Service::start();
    let before = std::fs::read(service.rules()).unwrap();
    let cases = [
        (PATH, r#"{"verb":"off","ids":["zzzz"]}"#, 404),
        ("/v1/rules/b.example/decisions", r#"{"verb":"off","all":true}"#, 404),
        (PATH, r#"{"verb":"off"}"#, 400),
        (PATH, r#"{"verb":"off","all":true,"ids":["1"]}"#, 400),
        (PATH, r#"{"verb":"destroy","all":true}"#, 400),
        (PATH, r#"{"verb":"off","all":true,"force":true}"#, 400),
        (PATH, "", 400),
    ];
    for (path, body, status) in cases {
        let answer = service.write(path, body);
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
        assert!(answer.body.contains("remedy"), "{}", answer.body);
    }
    assert_eq!(std::fs::read(service.rules()).unwrap(), before);
}

#[test]
fn whoever_does_not_know_the_token_changes_nothing() {
    let service = Service::start();
    let before = std::fs::read(service.rules()).unwrap();
    let body = r#"{"verb":"off","all":true}"#;
    assert_eq!(service.post(PATH, body, &[]).status, 401);
    assert_eq!(service.post(PATH, body, &[("authorization", "Bearer 0123456789abcdef")]).status, 401);
    let token = format!("Bearer {}", service.token);
    for (name, value) in [("origin", "http://evil.example"), ("origin", "null"), ("host", "evil.example")] {
        let answer = service.post(PATH, body, &[("authorization", &token), (name, value)]);
        assert!([403, 421].contains(&answer.status), "{name}: {value}: {answer:?}");
    }
    assert_eq!(std::fs::read(service.rules()).unwrap(), before);
    assert_eq!(service.write(PATH, body).status, 200, "the token is right");
}
