//! Compiled rules in a file do what they did in memory, and a file that is not as it was written is refused.

#![expect(clippy::unwrap_used, reason = "a failure is what a test is for")]

use std::fs;
use std::path::{Path, PathBuf};

use dedust::errors::OpenRulesError;
use dedust::{Normalizer, RuleSet, Scratch, is_compiled};

const EVERY_OPERATION: &[u8] = include_bytes!("../../../testdata/rules-v1/every-operation.json");

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
    assert_eq!(file.damage(), Ok(()));
    assert_eq!(file.check_all(), Ok(()));
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
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    let (path, bytes) = (folder("changed").join("rules.bin"), compiled());
    let urls = urls();
    // Most of the header is empty.
    let places = (0..128).chain(4080..bytes.len());
    for at in places.step_by(7).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        let Ok(normalizer) = open(&path, &changed) else { continue };
        for url in urls.iter().step_by(11) {
            normalizer.key(url).unwrap();
            normalizer.normalize(url).unwrap();
        }
        let damage = normalizer.check_all().unwrap_err();
        assert!((damage.start..damage.end).contains(&(at as u64)), "{at}: {damage}");
        assert!(normalizer.damage().is_err());
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
    newer[8] = 9;
    let error = open(&path, &newer).unwrap_err();
    assert_eq!(error.to_string(), "compiled rules have format version 9, this build reads version 5");
    assert!(matches!(Normalizer::open(path.with_extension("none")), Err(OpenRulesError::Read(_))));
}
