/*!
Rules as they stand in rule files, and what they make of URLs: each kind of change and test by example.
*/

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

mod order;
mod params;
mod places;

use dedust::{Normalizer, RuleSet};

const DOMAIN: &str = "example.org";

/// A normalizer of these rules for `example.org`, given as JSON.
fn rules(json: &str) -> Normalizer {
    let rules: serde_json::Value = serde_json::from_str(json).unwrap();
    let file = serde_json::json!({"version": 1, "sites": {DOMAIN: {"rules": rules}}});
    Normalizer::compile(&RuleSet::load(file.to_string().as_bytes()).unwrap())
}

/// Checks key and canonical URL, both without `http://example.org`.
#[track_caller]
fn check(normalizer: &Normalizer, url: &str, key: &str, canonical: &str) {
    let full = |text: &str| {
        if text.contains(':') && !text.starts_with('/') {
            text.to_owned()
        } else {
            format!("http://{DOMAIN}{text}")
        }
    };
    assert_eq!(normalizer.key(full(url)).unwrap().to_string(), full(key), "key of {url}");
    assert_eq!(normalizer.normalize(full(url)).unwrap().to_string(), full(canonical), "canonical of {url}");
    let (both_key, both_canonical) = normalizer.both(full(url)).unwrap();
    assert_eq!(
        (both_key.to_string(), both_canonical.to_string()),
        (full(key), full(canonical)),
        "both of {url}"
    );
}

/// Checks that neither rules nor order of parameters change a URL.
#[track_caller]
fn stays(normalizer: &Normalizer, url: &str) {
    check(normalizer, url, url, url);
}
