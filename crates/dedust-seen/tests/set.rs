/*!
The set from outside: what it answers, now and after it is opened again, and what it refuses to open.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use dedust_seen::{Durability, SeenError, SeenKey, SeenSet};
use proptest::prelude::*;

fn key(number: u64) -> SeenKey {
    SeenKey::of(&number.to_le_bytes())
}

fn small(folder: &Path) -> SeenSet {
    SeenSet::options().recent_keys(100).open(folder).unwrap()
}

/// Asks for the keys of some numbers.
fn ask(set: &mut SeenSet, numbers: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let keys: Vec<SeenKey> = numbers.into_iter().map(key).collect();
    let mut is_new = Vec::new();
    set.insert_batch(&keys, &mut is_new).unwrap();
    is_new
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn answers_are_those_of_a_hash_set(
        batches in prop::collection::vec(prop::collection::vec(0..3000_u64, 0..400), 1..30),
        reopen_every in 1..8_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut set = small(folder.path());
        let mut expected = HashSet::new();
        for (index, batch) in batches.iter().enumerate() {
            let answers: Vec<bool> = batch.iter().map(|&number| expected.insert(number)).collect();
            prop_assert_eq!(ask(&mut set, batch.iter().copied()), answers);
            prop_assert_eq!(set.stats().keys, expected.len() as u64);
            if index % reopen_every == 0 {
                drop(set);
                set = small(folder.path());
                prop_assert_eq!(set.stats().keys, expected.len() as u64);
            }
        }
    }
}

#[test]
fn many_keys_are_merged_into_few_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = small(folder.path());
    for start in (0..40_000).step_by(200) {
        assert!(ask(&mut set, start..start + 200).iter().all(|&is_new| is_new));
    }
    assert!(ask(&mut set, 0..40_000).iter().all(|&is_new| !is_new));
    let stats = set.stats();
    assert_eq!((stats.keys, stats.new_keys, stats.lookups), (40_000, 40_000, 80_000));
    // Whatever was merged when it was closed, opening finds every key again.
    drop(set);
    let mut set = small(folder.path());
    assert_eq!(set.stats().keys, 40_000);
    assert!(ask(&mut set, 0..40_000).iter().all(|&is_new| !is_new));
}

#[test]
fn a_set_in_memory_leaves_nothing_behind() {
    let mut set = SeenSet::in_memory();
    assert_eq!(ask(&mut set, [1, 2, 1]), [true, true, false]);
    assert_eq!(set.stats().disk_bytes, 0);
    set.sync().unwrap();
}

#[test]
fn keys_are_answered_one_by_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = SeenSet::options().durability(Durability::Power).open(folder.path()).unwrap();
    assert!(set.insert(key(1)).unwrap());
    assert!(!set.insert(key(1)).unwrap());
    set.sync().unwrap();
}

#[test]
fn a_set_that_was_not_closed_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = small(folder.path());
    ask(&mut set, 0..7);
    ask(&mut set, 5..10);
    ask(&mut set, 0..10);
    drop(set);
    let set = small(folder.path());
    assert_eq!(set.stats().unanswered_keys, Some(3));
    set.close().unwrap();
    assert_eq!(small(folder.path()).stats().unanswered_keys, None);
}

#[test]
fn a_set_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let set = SeenSet::open(folder.path()).unwrap();
    assert!(matches!(SeenSet::open(folder.path()), Err(SeenError::InUse { .. })));
    drop(set);
    SeenSet::open(folder.path()).unwrap();
}

#[test]
fn folders_of_others_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "").unwrap();
    let error = SeenSet::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("is no set of seen keys: it holds \"thesis.tex\""), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn formats_to_come_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("SEEN"), "dedust set of seen keys, format 2\n").unwrap();
    let error = SeenSet::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("expected \"dedust set of seen keys, format 1\""), "{error}");
}

#[test]
fn a_file_instead_of_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    assert!(matches!(SeenSet::open(&path), Err(SeenError::Io { .. })));
}

/// A set whose files are all there: runs, and a log.
fn filled() -> (tempfile::TempDir, Vec<std::path::PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let mut set = small(folder.path());
    for start in (0..700).step_by(100) {
        ask(&mut set, start..start + 100);
    }
    ask(&mut set, 700..750);
    drop(set);
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = names.filter(|path| !path.ends_with("SEEN")).collect();
    files.sort();
    (folder, files)
}

#[test]
fn lost_files_are_missed() {
    let (folder, files) = filled();
    assert!(files.len() >= 3, "{files:?}");
    let (_, but_the_last_run) = files.split_last().unwrap();
    for path in but_the_last_run.iter().filter(|path| path.to_string_lossy().contains("run-")) {
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        assert!(matches!(SeenSet::open(folder.path()), Err(SeenError::Missing { .. })), "{}", path.display());
        fs::write(path, bytes).unwrap();
    }
    SeenSet::open(folder.path()).unwrap();
}

#[test]
fn files_of_other_bytes_are_refused() {
    let (folder, files) = filled();
    for path in &files {
        let bytes = fs::read(path).unwrap();
        fs::write(path, b"not what was written, but longer than any header of these files is").unwrap();
        let error = SeenSet::open(folder.path()).unwrap_err();
        assert!(matches!(error, SeenError::Damaged { .. }), "{}: {error}", path.display());
        fs::write(path, bytes).unwrap();
    }
    SeenSet::open(folder.path()).unwrap();
}

#[test]
fn sets_can_be_handed_to_other_threads() {
    fn is_send<T: Send + Sync>() {}
    is_send::<SeenSet>();
    is_send::<SeenError>();
}
