/*!
Any bytes as a file of a set of seen keys: reading never panics or hangs, a check changes nothing, and a set that was
repaired can be opened. The first byte chooses the file: the marker, a log or a run. The second says how many bytes of a
file as it is written come before the input.
*/

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use dedust_seen::SeenSet;
use libfuzzer_sys::fuzz_target;

const FILES: [&str; 3] = ["SEEN", "log-00000002", "run-00000001-00000001"];

/// The files of a small set, as they were written.
static WRITTEN: LazyLock<[Vec<u8>; FILES.len()]> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut set = open(folder.path()).expect("an empty folder can be opened");
    for number in 0..5_u8 {
        let key = set.hasher().hash(&[number]);
        assert!(set.insert(key).expect("a key can be added"));
    }
    drop(set);
    FILES.map(|name| fs::read(folder.path().join(name)).expect("the set has a log and a run"))
});

fuzz_target!(|bytes: &[u8]| {
    let [file, kept, rest @ ..] = bytes else { return };
    let file = usize::from(*file) % FILES.len();
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, written) in FILES.iter().zip(&*WRITTEN) {
        fs::write(folder.path().join(name), written).expect("a file can be written");
    }
    let written = &WRITTEN[file];
    let kept = usize::from(*kept).min(written.len());
    let changed = [&written[..kept], rest].concat();
    let path = folder.path().join(FILES[file]);
    fs::write(&path, &changed).expect("a file can be written");

    let checked = dedust_seen::check(folder.path());
    assert!(fs::read(&path).expect("the file is there") == changed, "a check changes nothing");
    let Ok(checked) = checked else {
        assert_eq!(file, 0, "only a marker is beyond repair");
        return;
    };
    let repaired = dedust_seen::repair(folder.path()).expect("all but markers can be repaired");
    assert_eq!(checked.is_whole(), repaired.is_whole());
    assert!(repaired.keys() <= (WRITTEN.concat().len() + changed.len()) as u64 / 16);
    assert!(dedust_seen::check(folder.path()).expect("it was repaired").is_whole());
    let set = open(folder.path()).expect("it was repaired");
    assert_eq!(set.stats().keys, repaired.keys());
});

fn open(folder: &Path) -> Result<SeenSet, dedust_seen::SeenError> {
    SeenSet::options().recent_keys(4).open(folder)
}
