/*!
The file `RULES`: a fingerprint of the rules that made the keys of a set.

With other rules a page may have another key, and is new once more. The file says only that they have changed; it is written
beside and renamed, apart from `SEEN`, whose secret must never be lost.
*/

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::bytes::check_is_file;
use crate::error::{SeenError, failed};
use crate::folder::Folder;

const NAME: &str = "RULES";
/// More than the length of the file.
const MAX_BYTES: u64 = 64;

/// Notes the rules that keys are made with from now on. Whether those before were others; not if none are known.
pub(crate) fn exchange(folder: &Folder, fingerprint: u128) -> Result<bool, SeenError> {
    let path = folder.path().join(NAME);
    let now = format!("{fingerprint:032x}\n");
    let before = read(&path)?;
    if before.as_deref() == Some(now.as_bytes()) {
        return Ok(false);
    }
    let unfinished = Folder::unfinished(&path);
    write(&unfinished, now.as_bytes()).map_err(failed("write", &unfinished))?;
    folder.publish(&path)?;
    Ok(before.is_some())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, SeenError> {
    match File::open(path) {
        Ok(file) => {
            check_is_file(path)?;
            let mut bytes = Vec::new();
            file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed("read", path))?;
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("open", path)(error)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_rules_are_noticed_once() {
        let path = tempfile::tempdir().unwrap();
        let folder = Folder::open(path.path()).unwrap();
        let changed = [7, 7, 8, 8, 7].map(|fingerprint| exchange(&folder, fingerprint).unwrap());
        assert_eq!(changed, [false, false, true, false, true]);
    }

    #[test]
    fn what_is_no_fingerprint_counts_as_another() {
        let path = tempfile::tempdir().unwrap();
        let folder = Folder::open(path.path()).unwrap();
        for bytes in [&b""[..], b"\xff\xfe", &[b'0'; 1000]] {
            std::fs::write(path.path().join(NAME), bytes).unwrap();
            assert!(exchange(&folder, 0).unwrap());
            assert!(!exchange(&folder, 0).unwrap());
        }
    }
}
