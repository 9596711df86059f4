//! Every kind of change has an example that is made as it says, and stands in the schema and in the reference of rule files.
//!
//! The kinds are those that a rule file may name. Random rules take their examples from the same file.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dedust::rules::{Change, Rule, SiteRules, SiteSummary};
use dedust::{Normalizer, RuleSet};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    change: Value,
    url: String,
    /// What becomes of the URL, or of its key.
    canonical: Option<String>,
    key: Option<String>,
}

fn examples() -> Vec<Example> {
    serde_json::from_str(include_str!("../testdata/changes.json")).unwrap()
}

/// The names of all kinds, as they stand in the error about a name that there is not.
fn kinds() -> BTreeSet<String> {
    let error = serde_json::from_str::<Change>(r#""no_such_change""#).unwrap_err().to_string();
    let (_, expected) = error.split_once("expected one of ").unwrap();
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn kind_of(change: &Value) -> String {
    let name = change.as_str().or_else(|| Some(change.as_object()?.keys().next()?));
    name.unwrap().to_owned()
}

#[test]
fn every_kind_is_made() {
    let mut made = BTreeSet::new();
    for Example { change, url, canonical, key } in examples() {
        made.insert(kind_of(&change));
        let rule = Rule { fetchable: key.is_none(), ..Rule::new(serde_json::from_value(change).unwrap()) };
        let mut rules = RuleSet::new("by hand");
        rules.insert("example.org", SiteRules::new(SiteSummary::default(), vec![rule]).unwrap()).unwrap();
        let normalizer = Normalizer::compile(&rules);
        if let Some(canonical) = canonical {
            assert_eq!(normalizer.normalize(&url).unwrap().to_string(), canonical);
        } else {
            assert_eq!(normalizer.key(&url).unwrap().to_string(), key.unwrap());
        }
    }
    assert_eq!(made, kinds(), "a kind has no example in testdata/changes.json");
}

#[test]
fn every_kind_is_in_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../rules.schema.json")).unwrap();
    let names_of = |alternative: &Value| -> Vec<String> {
        match (alternative["enum"].as_array(), alternative["properties"].as_object()) {
            (Some(names), _) => names.iter().map(kind_of).collect(),
            (None, fields) => fields.unwrap().keys().cloned().collect(),
        }
    };
    let named = schema["$defs"]["change"]["oneOf"].as_array().unwrap().iter().flat_map(names_of);
    assert_eq!(named.collect::<BTreeSet<String>>(), kinds());
}

#[test]
fn every_kind_is_in_the_reference() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let reference = fs::read_to_string(reference).unwrap();
    let (_, changes) = reference.split_once("\n## Changes\n").unwrap();
    let (changes, _) = changes.split_once("\n### ").unwrap();
    // `{"drop": "q.sid"}` or `"unrepeat"`, in the first column.
    let first_column = changes.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let named = first_column.filter_map(|json| Some(kind_of(&serde_json::from_str(json).ok()?)));
    let named: BTreeSet<String> = named.collect();
    let missing: Vec<String> = kinds().difference(&named).cloned().collect();
    assert!(missing.is_empty(), "docs/rules.md does not name {missing:?}");
}
