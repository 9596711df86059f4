/*!
The OpenAPI description against the routes, and answers against its schemas.
*/

use std::collections::BTreeSet;

use boon::{Compiler, Schemas};
use dedust_serve::{OPENAPI, ROUTES, SeenLocation};
use serde_json::Value;

use crate::service::Service;

fn description() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

/// Whether a text in JSON is as a schema says.
fn check(schema: &str, text: &str) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.set_default_draft(boon::Draft::V2020_12);
    compiler.add_resource("http://localhost/openapi.json", description()).unwrap();
    let location = format!("http://localhost/openapi.json#/components/schemas/{schema}");
    let index = compiler.compile(&location, &mut schemas).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = schemas.validate(&value, index) {
        panic!("{text} is no {schema}: {error:#}");
    }
}

#[test]
fn every_route_is_described_and_every_description_is_a_route() {
    let description = description();
    let described: BTreeSet<&str> =
        description["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(described, ROUTES.iter().copied().collect());
}

#[test]
fn methods_are_those_that_are_described() {
    let service = Service::start();
    let description = description();
    for (path, item) in description["paths"].as_object().unwrap() {
        let target = path.replace("{site}", "a.example");
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
            let answer = service.raw(request.as_bytes());
            let status: u16 = answer.split(' ').nth(1).unwrap().parse().unwrap();
            let is_described = !item[method.to_ascii_lowercase()].is_null();
            let is_there = status != 405 && status != 404;
            // Writing is refused before it is asked which method it is.
            assert!(
                is_described == is_there || (!is_described && status == 401),
                "{method} {path}: {status}"
            );
            let statuses = &item[method.to_ascii_lowercase()]["responses"];
            assert!(
                !is_described || !statuses[status.to_string()].is_null(),
                "{method} {path}: {status} is not described"
            );
        }
    }
}

#[test]
fn answers_are_as_described() {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("rules.json"), crate::service::RULES).unwrap();
    let seen = folder.path().join("seen");
    let service = Service::in_folder(folder, |options| options.seen = Some(SeenLocation::Folder(seen)));
    let rows = "{\"url\":\"http://a.example/p?sid=1\"}\n{\"url\":\"http://b.example/\"}\n{}\n";
    for (path, schema) in [
        ("/v1/normalize", "CanonicalAnswer"),
        ("/v1/keys", "KeyAnswer"),
        ("/v1/seen", "SeenAnswer"),
        ("/v1/explain", "ExplainAnswer"),
    ] {
        let answer = service.ndjson(path, rows);
        assert_eq!(answer.body.lines().count(), 3, "{path}");
        answer.body.lines().for_each(|line| check(schema, line));
    }
    check("ServedRules", &service.get("/v1/rules").body);
    check("Site", &service.get("/v1/rules/a.example").body);
    check("Problem", &service.get("/v1/rules/b.example").body);
    check("Problem", &service.get("/nothing").body);
    check("LearnState", &service.get("/v1/learn").body);
    check("Decided", &service.write("/v1/rules/a.example/decisions", r#"{"verb":"off","all":true}"#).body);
    let sent: Value = serde_json::from_str(&service.get("/openapi.json").body).unwrap();
    assert_eq!(sent, description());
}

#[test]
fn figures_are_as_prometheus_reads_them() {
    let service = Service::start();
    service.text("/v1/keys", "http://a.example/\n");
    let answer = service.get("/metrics");
    assert!(answer.content_type.starts_with("application/openmetrics-text"));
    assert!(answer.body.ends_with("# EOF\n"));
    for name in [
        "dedust_requests_total{route=\"/v1/keys\",status=\"200\"} 1",
        "dedust_request_seconds_bucket{",
        "dedust_rules_rules 2",
    ] {
        assert!(answer.body.contains(name), "{name} in {}", answer.body);
    }
}
