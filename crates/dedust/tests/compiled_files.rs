//! Compiled rules in a file do what they did in memory, and a file that is not as it was written is refused.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::fs;
use std::path::{Path, PathBuf};

use dedust::errors::{DamagedRules, OpenRulesError};
use dedust::{Normalizer, RuleSet, Scratch, is_compiled};

const EVERY_OPERATION: &[u8] = include_bytes!("../testdata/rules/every-operation.json");

/// Hosts and paths that the rules speak of, and some that they do not.
fn urls() -> Vec<String> {
    let rules = RuleSet::load(EVERY_OPERATION).unwrap();
    let mut urls = Vec::new();
    for (site, _) in rules.sites().chain([("unknown.example", rules.sites().next().unwrap().1)]) {
        for host in [site.to_owned(), format!("www.{site}"), format!("a.b.{site}:8080")] {
            for path in ["/", "/view", "/a/b/c/", "/index.php", "/thread_12.html", "/x;s=1;t=2/"] {
                for query in ["", "?", "?id=7", "?sid=9&id=7", "?b&a=1&a=2", "?a=1;b=2", "?utm_source=x#!y"] {
                    urls.push(format!("http://{host}{path}{query}"));
                    urls.push(format!("https://user@{host}{path}{query}"));
                }
            }
        }
    }
    urls
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn compiled() -> Vec<u8> {
    let mut bytes = Vec::new();
    Normalizer::compile(&RuleSet::load(EVERY_OPERATION).unwrap()).save(&mut bytes).unwrap();
    bytes
}

fn open(path: &Path, bytes: &[u8]) -> Result<Normalizer, OpenRulesError> {
    fs::write(path, bytes).unwrap();
    Normalizer::open(path)
}

#[test]
fn a_file_does_what_memory_does() {
    let rules = RuleSet::load(EVERY_OPERATION).unwrap();
    let memory = Normalizer::compile(&rules);
    let file = open(&folder("same").join("rules.bin"), &compiled()).unwrap();
    assert_eq!(file.site_count(), rules.sites().len() as u64);
    assert_eq!((file.rule_count(), file.method()), (memory.rule_count(), memory.method()));
    let mut changed = 0;
    for url in urls() {
        let explained = file.explain(&url).unwrap();
        assert_eq!(explained, memory.explain(&url).unwrap(), "{url}");
        changed += usize::from(explained.canonical != explained.safe);
    }
    assert!(changed > 0, "the rules are at work");
}

#[test]
fn rules_compiled_site_by_site_are_the_same() {
    let mut bytes = Vec::new();
    Normalizer::compile_from(EVERY_OPERATION).unwrap().save(&mut bytes).unwrap();
    assert_eq!(bytes, compiled());
    assert!(is_compiled(&bytes));
    assert!(!is_compiled(EVERY_OPERATION));
}

#[test]
fn many_at_a_time_are_as_one_at_a_time() {
    let normalizer = Normalizer::compile(&RuleSet::load(EVERY_OPERATION).unwrap());
    let mut urls = urls();
    for at in (0..urls.len()).step_by(5) {
        urls.insert(at, "no URL".into());
    }
    let (mut one, mut many) = (Scratch::default(), Scratch::default());
    let mut at = 0;
    normalizer.each_key(urls.iter().map(|url| url.as_bytes()), &mut many, |url, key| {
        assert_eq!(url, urls[at].as_bytes());
        assert_eq!(key, normalizer.key_with(url, &mut one));
        at += 1;
    });
    assert_eq!(at, urls.len());
    at = 0;
    normalizer.each_canonical(urls.iter().map(|url| url.as_bytes()), &mut many, |url, canonical| {
        assert_eq!(url, urls[at].as_bytes());
        assert_eq!(canonical, normalizer.normalize_with(url, &mut one));
        at += 1;
    });
    assert_eq!(at, urls.len());
    at = 0;
    normalizer.each_both(urls.iter().map(|url| url.as_bytes()), &mut many, |url, both| {
        assert_eq!(url, urls[at].as_bytes());
        assert_eq!(both.map(|both| both.key), normalizer.key_with(url, &mut one));
        assert_eq!(both.map(|both| both.canonical), normalizer.normalize_with(url, &mut one));
        at += 1;
    });
    assert_eq!(at, urls.len());
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let (path, bytes) = (folder("changed").join("rules.bin"), compiled());
    // Most of the header is empty.
    let places = (0..128).chain(4080..bytes.len());
    for at in places.step_by(7).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        match open(&path, &changed).map(|_| ()) {
            Err(OpenRulesError::Damaged(DamagedRules { start, end })) => {
                assert!((start..end).contains(&(at as u64)), "{at}: {start} to {end}");
            }
            refused => assert!(refused.is_err(), "{at}"),
        }
    }
}

/// Other rules for the same sites, as large as [`compiled`]: each block of the file is whole, and other answers come of it.
fn other_compiled() -> Vec<u8> {
    let rules =
        String::from_utf8(EVERY_OPERATION.to_vec()).unwrap().replace("showthread.php", "viewtopic_.php");
    let mut bytes = Vec::new();
    Normalizer::compile_from(rules.as_bytes()).unwrap().save(&mut bytes).unwrap();
    bytes
}

#[test]
fn opened_rules_stay_as_they_are_whatever_happens_to_the_file() {
    let path = folder("overwritten").join("rules.bin");
    let normalizer = open(&path, &compiled()).unwrap();
    let answers = || urls().iter().map(|url| normalizer.explain(url).unwrap()).collect::<Vec<_>>();
    let before = answers();

    // In place, as `cp` does: the same inode.
    fs::write(&path, other_compiled()).unwrap();
    let other = Normalizer::open(&path).unwrap();
    let thread = "http://a.example/thread_7.html";
    assert_eq!(normalizer.normalize(thread).unwrap(), "http://a.example/showthread.php?t=7");
    assert_eq!(other.normalize(thread).unwrap(), "http://a.example/viewtopic_.php?t=7");
    assert!(answers() == before);

    fs::write(&path, b"").unwrap();
    assert!(answers() == before);
    fs::remove_file(&path).unwrap();
    assert!(answers() == before);
}

/// What a reader finds that opens a file while it is overwritten: the beginning of one, the end of another.
#[test]
fn a_file_that_is_half_overwritten_is_refused() {
    let path = folder("half").join("rules.bin");
    let (old, new) = (compiled(), other_compiled());
    assert_eq!(old.len(), new.len());
    let differs: Vec<usize> = (0..old.len()).filter(|&at| old[at] != new[at]).collect();
    for at in differs[1..].iter().copied().step_by(3) {
        let half = [&new[..at], &old[at..]].concat();
        assert!(open(&path, &half).is_err(), "{at}");
    }
}

#[test]
fn no_cut_goes_unnoticed() {
    let (path, bytes) = (folder("cut").join("rules.bin"), compiled());
    for length in [0, 1, 7, 8, 11, 12, 100, 4095, 4096, 4200, bytes.len() - 1] {
        assert!(open(&path, &bytes[..length]).is_err(), "{length}");
    }
    let longer = [&bytes[..], b"\n"].concat();
    assert!(matches!(open(&path, &longer), Err(OpenRulesError::Length { .. })));
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let path = folder("foreign").join("rules.bin");
    assert!(matches!(open(&path, EVERY_OPERATION), Err(OpenRulesError::Foreign)));
    assert!(matches!(open(&path, b""), Err(OpenRulesError::Foreign)));
    let mut newer = compiled();
    newer[8] = 14;
    let error = open(&path, &newer).unwrap_err();
    assert_eq!(error.to_string(), "compiled rules have format version 14, this build reads version 13");
    assert!(matches!(Normalizer::open(path.with_extension("none")), Err(OpenRulesError::Read(_))));
}
