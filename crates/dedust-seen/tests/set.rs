/*!
The set from outside: what it answers, now and after it is opened again, and what it refuses to open.
*/
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use dedust_seen::{Damage, Durability, Fault, SeenError, SeenKey, SeenSet};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

fn key(set: &SeenSet, number: u64) -> SeenKey {
    set.hasher().hash(&number.to_le_bytes())
}

fn small(folder: &Path) -> SeenSet {
    SeenSet::options().recent_keys(100).open(folder).unwrap()
}

/// Asks for the keys of some numbers.
fn ask(set: &mut SeenSet, numbers: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let keys: Vec<SeenKey> = numbers.into_iter().map(|number| key(set, number)).collect();
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
    let mut set = SeenSet::in_memory().unwrap();
    assert_eq!(ask(&mut set, [1, 2, 1]), [true, true, false]);
    assert_eq!(set.stats().disk_bytes, 0);
    set.sync().unwrap();
}

#[test]
fn keys_are_answered_one_by_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = SeenSet::options().durability(Durability::Power).open(folder.path()).unwrap();
    assert!(set.insert(key(&set, 1)).unwrap());
    assert!(!set.insert(key(&set, 1)).unwrap());
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
fn what_may_not_have_been_answered_is_still_known_when_a_log_is_full() {
    for sizes in [&[100][..], &[40, 100], &[100, 30]] {
        let folder = tempfile::tempdir().unwrap();
        let mut set = small(folder.path());
        let mut next = 0;
        for size in sizes {
            ask(&mut set, next..next + size);
            next += size;
        }
        drop(set);
        assert_eq!(small(folder.path()).stats().unanswered_keys, sizes.last().copied(), "{sizes:?}");
    }
}

#[test]
fn with_durability_power_the_folder_is_synced_after_a_log_is_created() {
    let syncs = |durability| {
        let folder = tempfile::tempdir().unwrap();
        let options = SeenSet::options().recent_keys(100).durability(durability);
        let mut set = options.open(folder.path()).unwrap();
        let first = set.stats().folder_syncs;
        // One rotation, whose run is complete when the set is dropped.
        ask(&mut set, 0..100);
        ask(&mut set, 100..101);
        drop(set);
        // No log is created.
        let set = options.open(folder.path()).unwrap();
        (first, set.stats().folder_syncs)
    };
    assert_eq!(syncs(Durability::Process), (1, 1));
    assert_eq!(syncs(Durability::Power), (2, 1));
}

#[test]
fn the_same_url_has_another_key_in_every_set() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [a, b] = folders.each_ref().map(|folder| SeenSet::open(folder.path()).unwrap().hasher());
    let (c, d) = (SeenSet::in_memory().unwrap().hasher(), SeenSet::in_memory().unwrap().hasher());
    let keys: HashSet<SeenKey> =
        [a, b, c, d].iter().map(|hasher| hasher.hash(b"http://a.example/")).collect();
    assert_eq!(keys.len(), 4);
    // And the same one when the set is opened again.
    let again = SeenSet::open(folders[0].path()).unwrap().hasher();
    assert_eq!(again.hash(b"http://a.example/"), a.hash(b"http://a.example/"));
}

/// URLs of two sites with the same XXH3. Words of 8 bytes are added to one sum, and the products of their halves to
/// another. Here one word is larger by as much as another is smaller, and so are their products.
fn forged_urls() -> [String; 2] {
    [('0', '1'), ('1', '0')].map(|(site, page)| {
        let (folders, title) = ("news/".repeat(22), "-title".repeat(16));
        format!("http://aaaaaaaaaaaaaaaaa{site}aaa5aoo.example/{folders}n{page}ageN-zQ{title}-tit")
    })
}

#[test]
fn a_page_cannot_be_hidden_by_a_url_with_the_same_xxh3() {
    let [victim, forged] = forged_urls();
    assert_eq!(xxh3_128(victim.as_bytes()), xxh3_128(forged.as_bytes()));
    let folder = tempfile::tempdir().unwrap();
    for mut set in [SeenSet::in_memory().unwrap(), SeenSet::open(folder.path()).unwrap()] {
        let hasher = set.hasher();
        assert!(set.insert(hasher.hash(forged.as_bytes())).unwrap());
        assert!(set.insert(hasher.hash(victim.as_bytes())).unwrap(), "{victim} is hidden");
    }
}

#[test]
fn a_set_whose_secret_is_gone_is_refused() {
    let (folder, _) = filled();
    let path = folder.path().join("SEEN");
    let whole = fs::read(&path).unwrap();
    for bytes in [&b""[..], &[0; 40], &whole[..50], &whole[..whole.len() - 1]] {
        fs::write(&path, bytes).unwrap();
        let error = SeenSet::open(folder.path()).unwrap_err();
        assert!(matches!(error, SeenError::Damaged { .. }), "{error}");
        assert!(dedust_seen::repair(folder.path()).is_err());
        assert_eq!(fs::read(&path).unwrap(), bytes, "nothing is changed");
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(SeenSet::open(folder.path()).unwrap().stats().keys, 750);
}

#[test]
#[cfg(unix)]
fn pipes_and_folders_in_place_of_files_are_refused() {
    for name in ["SEEN", "log-00000001", "run-00000001-00000001"] {
        let folder = tempfile::tempdir().unwrap();
        if name != "SEEN" {
            drop(SeenSet::open(folder.path()).unwrap());
            fs::remove_file(folder.path().join("log-00000001")).unwrap();
        }
        let path = folder.path().join(name);
        let assert_refused = || {
            assert!(matches!(SeenSet::open(folder.path()), Err(SeenError::NotAFile { .. })), "{name}");
            assert!(matches!(dedust_seen::check(folder.path()), Err(SeenError::NotAFile { .. })), "{name}");
        };
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_refused();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_refused();
    }
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
fn other_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["dedust set of seen keys, format 1", "dedust set of seen keys, format 3"] {
        fs::write(folder.path().join("SEEN"), format!("{line}\nmore\n")).unwrap();
        let error = SeenSet::open(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with(&format!("expected format 2, found {line:?}")), "{error}");
    }
}

#[test]
fn a_file_instead_of_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "").unwrap();
    assert!(matches!(SeenSet::open(&path), Err(SeenError::Io { .. })));
}

/// A set whose files are all there: runs, and a log.
fn filled() -> (tempfile::TempDir, Vec<PathBuf>) {
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

/// Files of a set with names and bytes, to be put back.
fn bytes_of(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn the_last_log_is_cut_off_where_it_is_damaged() {
    let (folder, files) = filled();
    let log = files.iter().find(|path| path.to_string_lossy().contains("log-")).unwrap();
    let mut set = small(folder.path());
    ask(&mut set, 750..760);
    ask(&mut set, 760..770);
    drop(set);
    let mut bytes = fs::read(log).unwrap();
    let last_record = 24 + 10 * 16;
    let at = bytes.len() - last_record - 1;
    bytes[at] ^= 1;
    fs::write(log, &bytes).unwrap();
    // A check changes nothing.
    for _ in 0..2 {
        let report = dedust_seen::check(folder.path()).unwrap();
        assert_eq!(report.keys(), 750);
        let tail = Fault::Tail { bytes: 2 * last_record as u64, damage: Damage::Checksum };
        assert_eq!(report.files.last().unwrap().fault, Some(tail));
    }
    let mut set = small(folder.path());
    assert_eq!(set.stats().cut_bytes, 2 * last_record as u64);
    assert!(ask(&mut set, 0..750).iter().all(|&is_new| !is_new));
    assert!(ask(&mut set, 750..770).iter().all(|&is_new| is_new));
    drop(set);
    let set = small(folder.path());
    assert_eq!((set.stats().keys, set.stats().cut_bytes), (770, 0));
}

#[test]
fn logs_before_the_last_are_cut_off_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut set = small(folder.path());
    ask(&mut set, 0..50);
    ask(&mut set, 50..60);
    drop(set);
    let path = folder.path().join("log-00000001");
    let mut bytes = fs::read(&path).unwrap();
    let last_record = 24 + 10 * 16;
    let at = bytes.len() - 16;
    bytes[at..].fill(0);
    fs::write(&path, bytes).unwrap();
    fs::write(folder.path().join("log-00000002"), [&b"dedustL1"[..], &2_u64.to_le_bytes()].concat()).unwrap();
    let mut set = small(folder.path());
    assert_eq!((set.stats().keys, set.stats().cut_bytes), (50, last_record));
    assert!(ask(&mut set, 0..50).iter().all(|&is_new| !is_new));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A loss of power leaves zeros in place of any pages that had not reached the disk, and may shorten the file.
    #[test]
    fn a_log_that_lost_pages_is_opened(
        lost_pages in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        lost_bytes in any::<prop::sample::Index>(),
    ) {
        const PAGE: usize = 512;
        let folder = tempfile::tempdir().unwrap();
        let mut set = SeenSet::open(folder.path()).unwrap();
        for start in (0..1000).step_by(10) {
            ask(&mut set, start..start + 10);
        }
        drop(set);
        let path = folder.path().join("log-00000001");
        let mut bytes = fs::read(&path).unwrap();
        for page in lost_pages {
            let start = page.index(bytes.len() / PAGE) * PAGE;
            bytes[start..start + PAGE].fill(0);
        }
        bytes.truncate(bytes.len() - lost_bytes.index(PAGE));
        fs::write(&path, &bytes).unwrap();
        let mut set = SeenSet::open(folder.path()).unwrap();
        let stats = set.stats();
        prop_assert!(stats.cut_bytes > 0 && stats.keys < 1000);
        // What is left are the keys that came first.
        let is_new = ask(&mut set, 0..1000);
        prop_assert_eq!(is_new.iter().position(|&is_new| is_new), Some(stats.keys as usize));
        prop_assert_eq!(set.stats().keys, 1000);
    }
}

#[test]
fn any_file_of_a_set_can_be_repaired() {
    let (folder, files) = filled();
    let whole = bytes_of(&files);
    for (path, bytes) in files.iter().zip(&whole) {
        let mut damaged = bytes.clone();
        let at = damaged.len() - 1;
        damaged[at] ^= 1;
        damaged[0] ^= 1;
        for contents in [Some(&damaged[..]), Some(&bytes[..20]), Some(b"neither log nor run"), None] {
            match contents {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let found = dedust_seen::check(folder.path()).unwrap();
            let repaired = dedust_seen::repair(folder.path()).unwrap();
            assert_eq!(found.is_whole(), repaired.is_whole());
            let after = dedust_seen::check(folder.path()).unwrap();
            assert!(after.is_whole(), "{}: {after:?}", path.display());
            assert_eq!(after.keys(), repaired.keys());
            let mut set = small(folder.path());
            let lost = ask(&mut set, 0..750).iter().filter(|&&is_new| is_new).count();
            assert!(lost <= 400, "{lost} keys are gone with {}", path.display());
            drop(set);
            put_back(folder.path(), &files, &whole);
        }
    }
    assert_eq!(small(folder.path()).stats().keys, 750);
}

/// Makes the files of a set what they were.
fn put_back(folder: &Path, files: &[PathBuf], bytes: &[Vec<u8>]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("SEEN") {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, bytes) in files.iter().zip(bytes) {
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn logs_that_are_missing_between_others_are_replaced_by_empty_ones() {
    let folder = tempfile::tempdir().unwrap();
    drop(small(folder.path()));
    let log = |generation: u64| [&b"dedustL1"[..], &generation.to_le_bytes()].concat();
    fs::write(folder.path().join("log-00000004"), log(4)).unwrap();
    let missing = dedust_seen::check(folder.path()).unwrap();
    assert_eq!(missing.files[1].fault, Some(Fault::Missing));
    dedust_seen::repair(folder.path()).unwrap();
    assert!(dedust_seen::check(folder.path()).unwrap().is_whole());
    // Not as many as a name may claim.
    fs::write(folder.path().join("log-200000000000"), log(200_000_000_000)).unwrap();
    assert!(matches!(dedust_seen::repair(folder.path()), Err(SeenError::Missing { generation: 5, .. })));
    assert!(fs::read_dir(folder.path()).unwrap().count() < 10);
}

#[test]
fn where_there_is_no_set_nothing_is_checked_and_nothing_made() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("absent")] {
        assert!(matches!(dedust_seen::check(&path), Err(SeenError::NoSet { .. })));
        assert!(matches!(dedust_seen::repair(&path), Err(SeenError::NoSet { .. })));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // A process was killed before it could write its marker.
    fs::write(folder.path().join("SEEN"), "").unwrap();
    assert!(matches!(dedust_seen::check(folder.path()), Err(SeenError::NoSet { .. })));
    assert_eq!(fs::read(folder.path().join("SEEN")).unwrap(), b"");
    SeenSet::open(folder.path()).unwrap();
    assert!(dedust_seen::check(folder.path()).unwrap().is_whole());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What any bytes in the files of a set lead to: an answer or an error, and after a repair always an answer.
    #[test]
    fn any_bytes_are_opened_or_refused(
        log in prop::collection::vec(any::<u8>(), 0..200),
        run in prop::collection::vec(any::<u8>(), 0..200),
        keeps_header in any::<bool>(),
    ) {
        let (folder, files) = filled();
        for path in &files {
            let is_log = path.to_string_lossy().contains("log-");
            let header = if is_log { 16 } else { 32 };
            let kept = if keeps_header { fs::read(path).unwrap()[..header].to_vec() } else { Vec::new() };
            fs::write(path, [&kept[..], if is_log { &log } else { &run }].concat()).unwrap();
        }
        let _ = dedust_seen::check(folder.path()).unwrap();
        let _ = SeenSet::open(folder.path());
        dedust_seen::repair(folder.path()).unwrap();
        prop_assert!(dedust_seen::check(folder.path()).unwrap().is_whole());
        small(folder.path());
    }
}

#[test]
fn sets_can_be_handed_to_other_threads() {
    fn is_send<T: Send + Sync>() {}
    is_send::<SeenSet>();
    is_send::<SeenError>();
}

/// With a umask by which others may write: the test itself, started again by a shell.
#[cfg(unix)]
#[test]
fn a_folder_that_the_set_makes_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    const PARENT: &str = "DEDUST_TEST_PARENT";
    if let Some(parent) = std::env::var_os(PARENT) {
        let parent = Path::new(&parent);
        for name in ["seen", "above/seen", "there"] {
            assert_eq!(ask(&mut SeenSet::open(parent.join(name)).unwrap(), [1]), [true]);
        }
        return;
    }
    let parent = tempfile::tempdir().unwrap();
    let mode = |name: &str| fs::metadata(parent.path().join(name)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(parent.path().join("there")).unwrap();
    fs::set_permissions(parent.path().join("there"), fs::Permissions::from_mode(0o750)).unwrap();
    let opened = std::process::Command::new("sh")
        .args(["-c", "umask 002 && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_folder_that_the_set_makes_is_for_its_owner_alone"])
        .env(PARENT, parent.path())
        .output()
        .unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stdout));
    assert_eq!([mode("seen"), mode("above/seen"), mode("above")], [0o700, 0o700, 0o775]);
    assert_eq!(mode("there"), 0o750, "a folder of the user stays as it is");
}
