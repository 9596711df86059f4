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
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dedust_fetch::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::pair::Pair;
use crate::trial::{Comparison, Liveness};

/// What is known of pairs from before, and where more is noted. By default nothing is, and nowhere.
#[derive(Debug, Default)]
pub struct KnownPairs {
    known: Known,
    file: Option<(PathBuf, Mutex<File>)>,
}

/// Pairs, by what was asked of them.
#[derive(Debug, Default)]
struct Known {
    compared: HashMap<Pair, Comparison>,
    /// URLs and their canonical URLs.
    canonical: HashMap<Pair, Liveness>,
}

/// Why pairs cannot be read from a state file, or noted there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It cannot be opened.
    #[error("cannot use the state file {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("cannot read the state file {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is some other file.
    #[error("{}:{line} is not a line of a state file", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A pair cannot be noted.
    #[error("cannot write to the state file {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
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
    /// Whether the other URL shows it without a redirect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    direct: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeOfPair {
    Same,
    Different,
    Failed,
    // Of a canonical URL:
    Alive,
    Redirected,
    Missing,
    OtherPage,
}

impl KnownPairs {
    /// What the state file says, if there is one; more is noted there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StateError> {
        let path = path.as_ref();
        let failed = |source| StateError::Open { path: path.to_owned(), source };
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        let (known, is_cut) = read(&file, path)?;
        if is_cut {
            file.seek(SeekFrom::End(0)).and_then(|_| file.write_all(b"\n")).map_err(failed)?;
        }
        Ok(Self { known, file: Some((path.to_owned(), Mutex::new(file))) })
    }

    /// How many pairs need not be fetched again.
    pub fn len(&self) -> usize {
        let Known { compared, canonical } = &self.known;
        compared.len() + canonical.keys().filter(|pair| !compared.contains_key(pair)).count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of a pair.
    pub(crate) fn get(&self, pair: &Pair) -> Option<&Comparison> {
        self.known.compared.get(pair)
    }

    /// What is known of a canonical URL.
    pub(crate) fn liveness(&self, pair: &Pair) -> Option<&Liveness> {
        self.known.canonical.get(pair)
    }

    /// Notes a pair that was fetched, and whether its other URL was without a redirect.
    pub(crate) fn note(
        &self,
        pair: &Pair,
        comparison: &Comparison,
        is_direct: bool,
    ) -> Result<(), StateError> {
        let (outcome, reason, page) = match comparison {
            Comparison::Same(page) => (OutcomeOfPair::Same, None, page.as_ref().map(ToString::to_string)),
            Comparison::Different => (OutcomeOfPair::Different, None, None),
            Comparison::Failed(reason) => (OutcomeOfPair::Failed, Some(reason.clone()), None),
        };
        self.write(Line { outcome, reason, page, direct: is_direct, ..Line::of(pair) })
    }

    /// Notes a canonical URL that was fetched.
    pub(crate) fn note_liveness(&self, pair: &Pair, liveness: &Liveness) -> Result<(), StateError> {
        let (outcome, reason) = match liveness {
            Liveness::Alive => (OutcomeOfPair::Alive, None),
            Liveness::Redirected => (OutcomeOfPair::Redirected, None),
            Liveness::Missing => (OutcomeOfPair::Missing, None),
            Liveness::Different => (OutcomeOfPair::OtherPage, None),
            Liveness::Failed(reason) => (OutcomeOfPair::Failed, Some(reason.clone())),
        };
        self.write(Line { outcome, reason, ..Line::of(pair) })
    }

    fn write(&self, line: Line) -> Result<(), StateError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        let failed = |source| StateError::Write { path: path.clone(), source };
        let mut bytes = serde_json::to_vec(&line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&bytes).map_err(failed)
    }

    /// Removes the file: all that it says is in the rules now.
    pub fn remove(self) -> io::Result<()> {
        match self.file {
            Some((path, _)) => fs::remove_file(path),
            None => Ok(()),
        }
    }
}

impl Line {
    /// A pair of which nothing was learned.
    fn of(pair: &Pair) -> Self {
        let Pair { url, other } = pair.clone();
        Self { url, other, outcome: OutcomeOfPair::Failed, reason: None, page: None, direct: false }
    }
}

impl Known {
    fn add(&mut self, line: Line) {
        let Line { url, other, outcome, page, direct, .. } = line;
        let pair = Pair { url, other };
        let liveness = match outcome {
            OutcomeOfPair::Same => {
                let page = page.and_then(|page| Fingerprint::parse(&page));
                if direct {
                    self.canonical.insert(pair.clone(), Liveness::Alive);
                }
                self.compared.insert(pair, Comparison::Same(page));
                return;
            }
            OutcomeOfPair::Different => {
                self.compared.insert(pair, Comparison::Different);
                return;
            }
            OutcomeOfPair::Failed => return,
            OutcomeOfPair::Alive => Liveness::Alive,
            OutcomeOfPair::Redirected => Liveness::Redirected,
            OutcomeOfPair::Missing => Liveness::Missing,
            OutcomeOfPair::OtherPage => Liveness::Different,
        };
        self.canonical.insert(pair, liveness);
    }
}

/// The longest line that is read, with its end: room for two URLs as long as rows may be. A device may have no end of a line at all.
const MAX_LINE_BYTES: usize = 64 << 20;

/// The pairs in the file, and whether its last line was cut off.
fn read(file: &File, path: &Path) -> Result<(Known, bool), StateError> {
    let mut known = Known::default();
    let mut reader = BufReader::new(file);
    let (mut line, mut number) = (Vec::new(), 0u64);
    let mut is_cut = false;
    loop {
        line.clear();
        let length = (&mut reader).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line);
        if length.map_err(|source| StateError::Read { path: path.to_owned(), source })? == 0 {
            return Ok((known, is_cut));
        }
        number += 1;
        is_cut = line.last() != Some(&b'\n');
        if is_cut && line.len() == MAX_LINE_BYTES {
            return Err(StateError::Malformed { path: path.to_owned(), line: number });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(&line) {
            Ok(line) => known.add(line),
            // A line that was cut off before stands alone, and the pair is tried again.
            Err(error) if error.is_eof() => {}
            Err(_) => return Err(StateError::Malformed { path: path.to_owned(), line: number }),
        }
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
        let state = KnownPairs::open(&path).unwrap();
        let page = Comparison::Same(Some(Fingerprint::of(b"page", None)));
        state.note(&pair(1), &page, true).unwrap();
        state.note(&pair(2), &Comparison::Different, false).unwrap();
        state.note(&pair(3), &Comparison::Failed("timed out".into()), false).unwrap();
        let dead = [Liveness::Alive, Liveness::Redirected, Liveness::Missing, Liveness::Different];
        for (id, liveness) in (10..).zip(&dead) {
            state.note_liveness(&pair(id), liveness).unwrap();
        }
        state.note_liveness(&pair(1), &Liveness::Failed("timed out".into())).unwrap();
        assert_eq!(state.len(), 0);
        drop(state);
        let state = KnownPairs::open(&path).unwrap();
        assert_eq!(state.len(), 6);
        assert!((10..).zip(&dead).all(|(id, liveness)| state.liveness(&pair(id)) == Some(liveness)));
        assert_eq!(state.get(&pair(10)), None);
        assert_eq!([1, 2].map(|id| state.liveness(&pair(id))), [Some(&Liveness::Alive), None]);
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
        let state = KnownPairs::open(&path).unwrap();
        state.note(&pair(1), &Comparison::Same(None), false).unwrap();
        state.note(&pair(2), &Comparison::Same(None), false).unwrap();
        drop(state);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        let state = KnownPairs::open(&path).unwrap();
        assert_eq!((state.len(), state.get(&pair(2))), (1, None));
        state.note(&pair(2), &Comparison::Same(None), false).unwrap();
        drop(state);
        assert_eq!(KnownPairs::open(&path).unwrap().len(), 2);
    }

    #[test]
    fn a_file_whose_line_does_not_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros");
        File::create(&path).unwrap().set_len(MAX_LINE_BYTES as u64 + 1).unwrap();
        let refused = KnownPairs::open(&path).map(drop);
        assert!(matches!(refused, Err(StateError::Malformed { line: 1, .. })), "{refused:?}");
    }

    #[test]
    fn other_files_are_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls.txt");
        fs::write(&path, "http://a.example/\n").unwrap();
        assert!(KnownPairs::open(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"http://a.example/\n");
    }
}
