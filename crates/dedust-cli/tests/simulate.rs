/*!
Drives `dedust simulate`: files, refusals, and that its output can be learned from and judged.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn dedust(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dedust"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn succeed(folder: &Path, arguments: &str) -> Output {
    let output = dedust(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn each_site_gets_observations_and_truth() {
    let folder = tempfile::tempdir().unwrap();
    let output = succeed(folder.path(), "simulate -o sites --sites 2 --urls 3000 --fake 0.1");
    assert!(output.stdout.is_empty());
    let report = String::from_utf8(output.stderr).unwrap();
    let mut lines = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap()[..4], ["profile", "sites", "URLs", "pages"]);
    let row = lines.next().unwrap();
    assert_eq!((row[0], row[1], lines.next()), ("www10", "2", None));

    let sites = folder.path().join("sites");
    assert_eq!(names(&sites), ["_truth", "site-0001.example.jsonl", "site-0002.example.jsonl"]);
    let observed = fs::read_to_string(sites.join("site-0001.example.jsonl")).unwrap();
    let truth = fs::read_to_string(sites.join("_truth/site-0001.example.jsonl")).unwrap();
    let mut wrong = 0;
    for (observed, truth) in observed.lines().zip(truth.lines()) {
        let [observed, truth]: [serde_json::Value; 2] =
            [observed, truth].map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(observed["url"], truth["url"]);
        wrong += usize::from(observed["cluster"] != truth["page"]);
    }
    let urls = observed.lines().count();
    assert_eq!(truth.lines().count(), urls);
    assert!((0.05..0.15).contains(&(wrong as f64 / urls as f64)), "{wrong} of {urls}");
}

#[test]
fn threads_do_not_matter_and_the_stream_is_the_files_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--profile small --sites 6 --urls 500 --seed 9 -q";
    succeed(folder.path(), &format!("simulate -o one --threads 1 {options}"));
    succeed(folder.path(), &format!("simulate -o many {options}"));
    let stream = succeed(folder.path(), &format!("simulate -o - {options}"));
    assert!(stream.stderr.is_empty());
    let mut files = Vec::new();
    for name in names(&folder.path().join("one")) {
        if name == "_truth" {
            continue;
        }
        for name in [format!("_truth/{name}"), name] {
            let bytes = fs::read(folder.path().join("one").join(&name)).unwrap();
            assert_eq!(bytes, fs::read(folder.path().join("many").join(&name)).unwrap());
            if !name.starts_with("_truth") {
                files.extend(bytes);
            }
        }
    }
    assert_eq!(files, stream.stdout);
}

#[test]
fn a_folder_in_use_needs_force() {
    let folder = tempfile::tempdir().unwrap();
    let options = "simulate -o . --sites 1 --urls 200";
    fs::write(folder.path().join("mine.txt"), "precious").unwrap();
    let refused = dedust(folder.path(), options);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("the folder . is not empty"), "{message}");
    assert!(message.contains("--force"), "{message}");
    assert_eq!(names(folder.path()), ["mine.txt"]);
    succeed(folder.path(), &format!("{options} --force"));
    assert_eq!(names(folder.path()).len(), 3);
    assert_eq!(fs::read(folder.path().join("mine.txt")).unwrap(), b"precious");
}

#[test]
fn wrong_options_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in [
        ("--phenomena mirror", "unknown phenomenon `mirror`"),
        ("--lies soft-errors", "unknown lie `soft-errors`"),
        ("--fake 1.5", "share of fake is 1.5"),
        ("--singletons -1", "share of singletons is -1"),
        ("--profile big", "invalid value 'big'"),
        ("--sites 0", "0 is not in 1..=1000000"),
    ] {
        let refused = dedust(folder.path(), &format!("simulate -o sites {}", options.replacen(' ', "=", 1)));
        assert_eq!(refused.status.code(), Some(2), "{options}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(expected), "{options}: {message}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn what_is_simulated_can_be_learned_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--profile small --sites 1 --urls 3000 --phenomena two-random-keys";
    succeed(folder.path(), &format!("simulate -o sites {options}"));
    // The truth is not learned from, whether the folder is named or a pattern.
    succeed(folder.path(), "learn sites -o rules.json");
    succeed(folder.path(), "learn sites/*.jsonl -o same.json");
    let [rules, same] = ["rules.json", "same.json"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(rules == same);
    succeed(folder.path(), "evaluate rules.json sites/_truth/site-0001.example.jsonl --min-recall 0.95");
}

#[test]
fn lying_sites_have_evidence_in_place_of_labels() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--lies canonical-to-first-page,soft-error --sites 2 --urls 1000 --seed 4";
    let report = succeed(folder.path(), &format!("simulate -o sites {options}")).stderr;
    let report = String::from_utf8(report).unwrap();
    let mut lines = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap()[..4], ["lies", "sites", "URLs", "pages"]);
    assert_eq!(lines.next().unwrap()[..3], ["2", "2", "2,000"]);

    let sites = folder.path().join("sites");
    let stream = succeed(folder.path(), &format!("simulate -o - {options}")).stdout;
    let mut files = Vec::new();
    let mut pages = [BTreeSet::new(), BTreeSet::new()];
    for (pages, site) in pages.iter_mut().zip(["site-0001.example", "site-0002.example"]) {
        let observed = fs::read_to_string(sites.join(format!("{site}.jsonl"))).unwrap();
        let truth = fs::read_to_string(sites.join(format!("_truth/{site}.jsonl"))).unwrap();
        assert_eq!((observed.lines().count(), truth.lines().count()), (1_000, 1_000));
        let mut lists = 0;
        for (observed, truth) in observed.lines().zip(truth.lines()) {
            let [observed, truth]: [serde_json::Value; 2] =
                [observed, truth].map(|line| serde_json::from_str(line).unwrap());
            assert_eq!(observed["url"], truth["url"]);
            assert_eq!(observed["simhash"].is_string(), observed["status"] == 200);
            lists += usize::from(observed["canonical"] == format!("https://www.{site}/blog/list"));
            pages.insert(truth["page"].as_u64().unwrap());
        }
        assert!(lists > 50, "{lists}");
        files.extend(observed.into_bytes());
    }
    assert_eq!(files, stream);
    assert!(pages[0].is_disjoint(&pages[1]));

    succeed(folder.path(), "learn sites/site-0001.example.jsonl -o rules.json");
    succeed(folder.path(), "evaluate rules.json sites/_truth/site-0001.example.jsonl");
}

#[test]
fn lies_and_labels_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for option in
        ["--profile=small", "--phenomena=mirrors", "--fake=0.1", "--fragmented=0.1", "--singletons=0.1"]
    {
        let refused = dedust(folder.path(), &format!("simulate -o sites --lies all {option}"));
        assert_eq!(refused.status.code(), Some(2), "{option}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains("cannot be used with"), "{option}: {message}");
    }
}

#[test]
fn help_names_every_phenomenon_and_lie() {
    let folder = tempfile::tempdir().unwrap();
    let help = String::from_utf8(succeed(folder.path(), "simulate --help").stdout).unwrap();
    for name in ["two-random-keys", "session-in-path", "crawler-trap", "database-mapping", "changing-pages"] {
        assert!(help.contains(name), "{name}");
    }
}
