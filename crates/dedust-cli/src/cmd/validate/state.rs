/*!
Finished pairs on disk, so that an interruption costs nothing.

One line of JSON per pair, written at once when the pair is finished:

```json
{"url":"http://a.example/p?sid=1","other":"http://a.example/p","outcome":"same","page":"9c2d-71b0-8f1e"}
```
What was learned of a pair holds for any rule, so that rules and settings may change in between. Pairs that failed are
noted too, and tried again. A last line that was cut off is ignored.
*/

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use dedust_fetch::Fingerprint;
use serde::{Deserialize, Serialize};

use super::pair::Pair;
use super::trial::Comparison;
use crate::failure::Refusal;

/// What is known of pairs from before, and where more is noted.
pub(super) struct State {
    known: HashMap<Pair, Comparison>,
    file: Option<(PathBuf, Mutex<File>)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    url: String,
    other: String,
    outcome: OutcomeOfPair,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What is kept of the page that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeOfPair {
    Same,
    Different,
    Failed,
}

impl State {
    /// Nothing is known, and nothing is kept.
    pub(super) fn none() -> Self {
        Self { known: HashMap::new(), file: None }
    }

    /// What the file says, if there is one; more is noted there.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let failed = || format!("cannot use the state file {}", path.display());
        let mut file =
            File::options().read(true).append(true).create(true).open(path).with_context(failed)?;
        let (known, is_cut) = read(&file, path)?;
        if is_cut {
            file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(b"\n")).with_context(failed)?;
        }
        Ok(Self { known, file: Some((path.to_owned(), Mutex::new(file))) })
    }

    /// How many pairs need not be fetched again.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// What is known of a pair.
    pub(super) fn get(&self, pair: &Pair) -> Option<&Comparison> {
        self.known.get(pair)
    }

    /// Notes a pair that was fetched.
    pub(super) fn note(&self, pair: &Pair, comparison: &Comparison) -> anyhow::Result<()> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        let (outcome, reason, page) = match comparison {
            Comparison::Same(page) => (OutcomeOfPair::Same, None, page.as_ref().map(ToString::to_string)),
            Comparison::Different => (OutcomeOfPair::Different, None, None),
            Comparison::Failed(reason) => (OutcomeOfPair::Failed, Some(reason.clone()), None),
        };
        let line = Line { url: pair.url.clone(), other: pair.other.clone(), outcome, reason, page };
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&bytes).with_context(|| format!("cannot write to the state file {}", path.display()))
    }

    /// Removes the file: all that it says is in the rules now.
    pub(super) fn remove(self) -> io::Result<()> {
        match self.file {
            Some((path, _)) => fs::remove_file(path),
            None => Ok(()),
        }
    }
}

/// The pairs in the file, and whether its last line was cut off.
fn read(file: &File, path: &Path) -> anyhow::Result<(HashMap<Pair, Comparison>, bool)> {
    let mut known = HashMap::new();
    let mut reader = BufReader::new(file);
    let (mut line, mut number) = (Vec::new(), 0u64);
    let mut is_cut = false;
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line);
        if length.with_context(|| format!("cannot read the state file {}", path.display()))? == 0 {
            return Ok((known, is_cut));
        }
        number += 1;
        is_cut = line.last() != Some(&b'\n');
        if line.trim_ascii().is_empty() {
            continue;
        }
        let comparison = match serde_json::from_slice::<Line>(&line) {
            Ok(Line { url, other, outcome, page, .. }) => match outcome {
                OutcomeOfPair::Same => {
                    let page = page.and_then(|page| Fingerprint::parse(&page));
                    Some((Pair { url, other }, Comparison::Same(page)))
                }
                OutcomeOfPair::Different => Some((Pair { url, other }, Comparison::Different)),
                OutcomeOfPair::Failed => None,
            },
            // A line that was cut off before stands alone, and the pair is tried again.
            Err(error) if error.is_eof() => None,
            Err(_) => {
                return Err(Refusal::new(
                    format!("{}:{number} is not a line of a state file", path.display()),
                    "name another file with --state, or remove this one to start anew",
                )
                .into());
            }
        };
        known.extend(comparison);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(id: u32) -> Pair {
        Pair { url: format!("http://a.example/?id={id}"), other: format!("http://a.example/{id}") }
    }

    #[test]
    fn what_was_decided_is_known_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.jsonl");
        let state = State::open(&path).unwrap();
        let page = Comparison::Same(Some(Fingerprint::of(b"page", None)));
        state.note(&pair(1), &page).unwrap();
        state.note(&pair(2), &Comparison::Different).unwrap();
        state.note(&pair(3), &Comparison::Failed("timed out".into())).unwrap();
        assert_eq!(state.len(), 0);
        drop(state);
        let state = State::open(&path).unwrap();
        assert_eq!(state.len(), 2);
        assert_eq!(state.get(&pair(1)), Some(&page));
        assert_eq!(state.get(&pair(2)), Some(&Comparison::Different));
        assert_eq!(state.get(&pair(3)), None);
        state.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_line_that_was_cut_off_costs_one_pair() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.jsonl");
        let state = State::open(&path).unwrap();
        state.note(&pair(1), &Comparison::Same(None)).unwrap();
        state.note(&pair(2), &Comparison::Same(None)).unwrap();
        drop(state);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let state = State::open(&path).unwrap();
        assert_eq!((state.len(), state.get(&pair(2))), (1, None));
        state.note(&pair(2), &Comparison::Same(None)).unwrap();
        drop(state);
        assert_eq!(State::open(&path).unwrap().len(), 2);
    }

    #[test]
    fn other_files_are_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls.txt");
        fs::write(&path, "http://a.example/\n").unwrap();
        assert!(State::open(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"http://a.example/\n");
    }
}
