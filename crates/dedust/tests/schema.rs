//! The JSON Schema of rule files says what loading them says: both take the same files, and refuse the same mistakes.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use dedust::RuleSet;
use serde_json::Value;

fn in_crate(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn schema(schemas: &mut Schemas) -> SchemaIndex {
    let mut compiler = Compiler::new();
    compiler.add_resource("rules.schema.json", in_crate("rules.schema.json")).unwrap();
    compiler.compile("rules.schema.json", schemas).unwrap()
}

#[test]
fn what_is_saved_fits() {
    let mut schemas = Schemas::new();
    let schema = schema(&mut schemas);
    for name in ["every-operation.json", "every-rule.json"] {
        let file = in_crate(&format!("testdata/rules/{name}"));
        assert!(
            schemas.validate(&file, schema).is_ok(),
            "{name}: {}",
            schemas.validate(&file, schema).unwrap_err()
        );
    }
}

#[test]
fn both_take_and_refuse_the_same_rules() {
    let mut schemas = Schemas::new();
    let schema = schema(&mut schemas);
    for (rule, fits) in [
        (r#"{"change": [{"drop": "q.sid"}]}"#, true),
        (r#"{"change": ["split_params"], "fetchable": true, "says": "anything"}"#, true),
        (
            r#"{"when": {"last_0": "absent", "q.a#2": {"any": {"class": "digits", "optional": true}}}, "change": [{"forget": "path_1"}]}"#,
            true,
        ),
        (
            r#"{"when": {"path_0": {"any": {"file": "html"}}}, "closed": "except_params", "change": [{"order": ["q.a"]}], "last": true}"#,
            true,
        ),
        (r#"{"change": [{"drop": "q.sid"}], "off": {}}"#, true),
        (
            r#"{"change": [{"drop": "q.sid"}], "pinned": {"by": "anna", "at": "2026-11-16T12:00:00Z", "why": "known"}}"#,
            true,
        ),
        (r#"{"change": [{"drop": "q.sid"}], "off": true}"#, false),
        (r#"{"change": [{"drop": "q.sid"}], "off": null}"#, false),
        (r#"{"change": [{"drop": "q.sid"}], "off": {"at": "monday"}}"#, false),
        (r#"{"change": [{"drop": "q.sid"}], "off": {"who": "anna"}}"#, false),
        (r#"{"change": [{"dorp": "q.sid"}]}"#, false),
        (r#"{"change": [{"drop": "query.sid"}]}"#, false),
        (r#"{"change": []}"#, false),
        (r#"{"change": [], "last": true}"#, true),
        (r#"{"change": [{"replace": [{"from": "/index.html", "to": "/"}]}]}"#, true),
        (r#"{"change": [{"replace": {"from": "/index.html", "to": "/"}}]}"#, false),
        (r#"{"change": [{"write": {"scheme": {"keep": "http"}}}]}"#, false),
        (r#"{"when": {"q.a": {"si": "1"}}, "change": [{"drop": "q.sid"}]}"#, false),
        (r#"{"when": {"q.a": {"any": "digit"}}, "change": [{"drop": "q.sid"}]}"#, false),
        (r#"{"closed": "yes", "change": [{"drop": "q.sid"}]}"#, false),
        (r#"{"colour": "red", "change": [{"drop": "q.sid"}]}"#, false),
    ] {
        agree_on(&schemas, schema, &format!(r#"{{"rules": [{rule}]}}"#), fits);
    }
}

#[test]
fn both_take_and_refuse_the_same_counts_of_canonical_urls() {
    let mut schemas = Schemas::new();
    let schema = schema(&mut schemas);
    for (counts, bound, fits) in [
        (r#"{"alive": 40, "unmet": 3, "wrong": 0}"#, "0.0722", true),
        (r#"{"alive": 40, "unmet": 3, "wrong": 0}"#, "1.5", false),
        (r#"{"alive": 40, "unmet": 3}"#, "0.0722", false),
        (r#"{"alive": 40, "unmet": 3, "wrong": 0, "dead": 1}"#, "0.0722", false),
        (r#"{"alive": 40, "unmet": -3, "wrong": 0}"#, "0.0722", false),
    ] {
        let evidence = format!(
            r#"{{"urls": 9, "support_pairs": 9, "false_pairs": 0, "groups": 9, "failed_groups": 0, "failure_bound": 0.3, "kinds": [],
                "canonical": {counts}, "canonical_bound": {bound}}}"#
        );
        let rule =
            format!(r#"{{"change": [{{"drop": "q.sid"}}], "fetchable": true, "evidence": {evidence}}}"#);
        agree_on(&schemas, schema, &format!(r#"{{"rules": [{rule}]}}"#), fits);
    }
    for (counts, fits) in [(r#"{"alive": 1, "unmet": 0, "wrong": 2}"#, true), (r#"{"alive": 1}"#, false)] {
        let summary = format!(
            r#"{{"urls": 9, "labelled": 9, "pages": 3, "raw_rules": 1, "qualified_rules": 1, "canonical": {counts}}}"#
        );
        agree_on(&schemas, schema, &format!(r#"{{"summary": {summary}, "rules": []}}"#), fits);
    }
}

/// Whether loading and the schema take, or refuse, what is said of a site.
fn agree_on(schemas: &Schemas, schema: SchemaIndex, site: &str, fits: bool) {
    let file = format!(r#"{{"version": 1, "sites": {{"a.example": {site}}}}}"#);
    assert_eq!(RuleSet::load(file.as_bytes()).is_ok(), fits, "loading {site}");
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(schemas.validate(&file, schema).is_ok(), fits, "the schema on {site}");
}

#[test]
fn both_take_and_refuse_the_same_canonical_urls() {
    let mut schemas = Schemas::new();
    let schema = schema(&mut schemas);
    for (site, fits) in [
        (
            r#"{"rules": [], "canonical_urls": {"http://a.example/?id=7": "http://a.example/x", "http://a.example/y": null}}"#,
            true,
        ),
        (r#"{"canonical_urls": {}}"#, true),
        (r#"{"canonical_urls": {"http://a.example/": 7}}"#, false),
        (r#"{"canonical_urls": {"http://a.example/": ["http://a.example/x"]}}"#, false),
        (r#"{"canonical_urls": ["http://a.example/"]}"#, false),
        (r#"{"canonical_urls": null}"#, false),
        (r#"{"mirror": {"of": "b.example"}, "canonical_urls": {"http://a.example/": null}}"#, false),
    ] {
        agree_on(&schemas, schema, site, fits);
    }
}

#[test]
fn both_take_and_refuse_the_same_mirrors() {
    let mut schemas = Schemas::new();
    let schema = schema(&mut schemas);
    for (site, fits) in [
        (r#"{"mirror": {"of": "b.example"}}"#, true),
        (r#"{"mirror": {"of": "b.example", "except": ["", "x"], "fetchable": true, "pinned": {}}}"#, true),
        (r#"{"mirror": {"of": "b.example"}, "rules": []}"#, false),
        (r#"{"mirror": {"of": "b.example", "except": ["x/y"]}}"#, false),
        (r#"{"mirror": {"of": "b.example", "last": true}}"#, false),
        (r#"{"mirror": {}}"#, false),
        (r#"{"mirror": null}"#, false),
    ] {
        agree_on(&schemas, schema, site, fits);
    }
}
