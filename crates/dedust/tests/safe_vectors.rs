/*!
Safe normalization against tables: our own (`testdata/normalize/safe.json`) and the suites of other tools.

The suites are not part of this repository. They are looked for in `$DEDUST_DATA/vectors`, where `DEDUST_DATA`
defaults to `shared/data` beside the workspace; without them their test says so and passes.
Rows that we miss on purpose stand in `expected_failures.txt` as `file:line  reason`. The list is exact: an
unlisted miss, a listed row that succeeds and a listed row that does not exist all fail the test.
*/

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dedust::ParsedUrl;
use serde::Deserialize;

/// A row of `safe.json`: what a URL becomes, or that it is none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnCase {
    url: String,
    safe: Option<String>,
    #[serde(default)]
    error: bool,
    #[serde(rename = "why")]
    _why: String,
}

#[test]
fn own_table_holds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/normalize/safe.json");
    let cases: Vec<OwnCase> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    for OwnCase { url, safe, error, .. } in cases {
        assert_eq!(safe.is_none(), error, "{url}: either a result or an error is expected");
        assert_eq!(normalized(&url), safe, "{url}");
        if let Some(safe) = safe {
            assert_eq!(normalized(&safe).as_ref(), Some(&safe), "{url}: twice");
        }
    }
}

#[test]
fn other_suites_hold_except_for_known_misses() {
    let data = std::env::var_os("DEDUST_DATA")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into(), PathBuf::from);
    let vectors = data.join("vectors");
    let Ok(folder) = fs::read_dir(&vectors) else {
        println!(
            "SKIPPED: no folder {}, set DEDUST_DATA to the folder that holds `vectors`",
            vectors.display()
        );
        return;
    };
    let known_misses = known_misses(include_str!("expected_failures.txt"));
    let mut misses = BTreeMap::new();
    let mut passed = 0;
    for entry in folder {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "tsv") {
            let file = path.file_name().unwrap().to_str().unwrap();
            passed += check_suite(file, &fs::read_to_string(&path).unwrap(), &mut misses);
        }
    }
    println!("{passed} rows of other suites hold, {} are listed as known misses", known_misses.len());

    let unlisted: Vec<_> = misses.iter().filter(|(row, _)| !known_misses.contains_key(*row)).collect();
    let stale: Vec<_> = known_misses.iter().filter(|(row, _)| !misses.contains_key(*row)).collect();
    assert!(unlisted.is_empty(), "rows missed but not listed: {unlisted:#?}");
    assert!(stale.is_empty(), "rows listed that hold or do not exist: {stale:#?}");
}

/// Adds the rows that we miss to `misses`, by `file:line`; returns the number of the others.
fn check_suite(file: &str, text: &str, misses: &mut BTreeMap<String, String>) -> usize {
    let is_escaped = matches!(file, "whatwg_absolute.tsv" | "crawler_commons.tsv");
    let read = |field: &str| {
        if is_escaped { unescape(field) } else { field.to_owned() }
    };
    let mut passed = 0;
    for (index, line) in text.lines().enumerate().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        let [input, expected, note] = columns[..] else {
            continue;
        };
        let expected = match note.split(';').next() {
            Some("safe") => Some(read(expected)),
            Some("fail") => None,
            _ => continue,
        };
        let found = normalized(&read(input));
        if found == expected {
            passed += 1;
        } else {
            misses.insert(
                format!("{file}:{}", index + 1),
                format!("{input} -> {found:?}, expected {expected:?}"),
            );
        }
    }
    passed
}

fn normalized(url: &str) -> Option<String> {
    let url = ParsedUrl::parse(url).ok()?;
    Some(String::from_utf8(url.as_bytes().to_vec()).expect("text stays text"))
}

/// Reasons by `file:line`.
fn known_misses(list: &str) -> BTreeMap<String, String> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (row, reason) = line.split_once("  ").expect("two spaces between row and reason");
            (row.to_owned(), reason.to_owned())
        })
        .collect()
}

/// Undoes the JSON escapes for control characters, quotes and backslashes.
fn unescape(field: &str) -> String {
    let quoted = format!("\"{}\"", field.replace('"', "\\\""));
    serde_json::from_str(&quoted).expect("the suite has JSON escapes only")
}
