/*!
The page, and its data.
*/

use std::sync::Arc;

use serde_json::Value;

use crate::service::{RULES, Service};

#[test]
fn the_page_has_a_strict_policy() {
    let service = Service::start();
    let answer = service.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let policy = answer.lines().find(|line| line.starts_with("content-security-policy: ")).unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
    assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("unsafe-inline"), "{policy}");
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
    ] {
        let answer = service.get(path);
        assert_eq!((answer.status, &*answer.content_type), (200, content_type), "{path}");
        assert!(!answer.body.is_empty());
    }
    assert_eq!(service.text("/page.js", "").status, 405);
}

#[test]
fn the_data_are_those_of_the_rules_of_now() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), RULES).unwrap();
    let urls = "http://a.example/p?sid=1\nhttp://a.example/p?sid=2\nhttp://a.example/<script>\n";
    std::fs::write(folder.path().join("urls.txt"), urls).unwrap();
    let crawl = folder.path().join("urls.txt");
    let service = Service::in_folder(folder, |options| options.crawl.push(crawl));
    let keys = || {
        let answer = service.get("/v1/report");
        assert_eq!((answer.status, &*answer.content_type), (200, "application/json"), "{}", answer.body);
        let data: Value = serde_json::from_str(&answer.body).unwrap();
        (data["total"]["crawl"]["urls"].clone(), data["total"]["crawl"]["keys"].clone())
    };
    assert_eq!(keys(), (3.into(), 2.into()));
    assert_eq!(service.write("/v1/rules/a.example/decisions", r#"{"verb":"off","all":true}"#).status, 200);
    assert_eq!(keys(), (3.into(), 3.into()), "the rules are off");
}
