/*!
Says whether the files of a set are as they were written, and repairs those that are not.

A folder comes in, a [`SeenReport`] comes out. [`check()`] changes nothing. [`repair()`] keeps as many keys as it can: what it
gives up is new once more when it is asked for. A set whose marker file is damaged cannot be repaired: the secret is gone,
and without it no key can be compared.
*/

use std::path::Path;

use crate::error::{Damage, SeenError};
use crate::file_names::Span;
use crate::folder::{Folder, Survey};
use crate::log::{self, Log, Records};
use crate::run::{self, Run};

/// What the files of a set were found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenReport {
    /// Files with keys, those that are missing too.
    pub files: Vec<FileReport>,
}

/// What one file was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReport {
    /// Its name in the folder.
    pub name: String,
    /// Keys that can be read, or after a repair those that were kept; 0 if that is not known.
    pub keys: u64,
    /// What is wrong with it, or was before the repair.
    pub fault: Option<Fault>,
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A log ends in bytes that are no whole records, as after a loss of power. They are cut off.
    Tail {
        /// How many bytes.
        bytes: u64,
        /// What is wrong with the first of them.
        damage: Damage,
    },
    /// The file is not as it was written. A repair keeps the keys that can be read, and a copy of the file.
    Damaged {
        /// Where.
        offset: u64,
        /// How.
        damage: Damage,
        /// Bytes that a repair cut off.
        cut_bytes: u64,
    },
    /// The file is gone, and its keys with it. A repair puts an empty file in its place.
    Missing,
}

impl SeenReport {
    /// Whether nothing is wrong with any file.
    pub fn is_whole(&self) -> bool {
        self.files.iter().all(|file| file.fault.is_none())
    }

    /// Keys that can be read.
    pub fn keys(&self) -> u64 {
        self.files.iter().map(|file| file.keys).sum()
    }
}

/// Reads all files of a set and says what is wrong with them. Changes nothing.
pub fn check(folder: impl AsRef<Path>) -> Result<SeenReport, SeenError> {
    report(folder.as_ref(), |_, _, found| Ok(found))
}

/// Makes a set one that can be opened, and says what was wrong with its files.
pub fn repair(folder: impl AsRef<Path>) -> Result<SeenReport, SeenError> {
    let report = report(folder.as_ref(), |folder, part, found| match found.fault {
        None => Ok(found),
        Some(fault) => part.repair(folder, fault),
    })?;
    Folder::open_existing(folder.as_ref())?.contents()?;
    Ok(report)
}

/// Reads every file and has `each` look at what was found, in the order of generations.
fn report(
    path: &Path,
    mut each: impl FnMut(&Folder, Part, FileReport) -> Result<FileReport, SeenError>,
) -> Result<SeenReport, SeenError> {
    let folder = Folder::open_existing(path)?;
    let files = parts_of(&folder.survey()?).into_iter().map(|part| each(&folder, part, part.check(&folder)?));
    Ok(SeenReport { files: files.collect::<Result<_, _>>()? })
}

/// The files of a set in the order of generations.
fn parts_of(Survey { contents, gaps, .. }: &Survey) -> Vec<Part> {
    let runs = contents.runs.iter().copied().map(Part::Run);
    let logs = contents.logs.iter().copied().map(Part::Log);
    let mut parts: Vec<Part> = runs.chain(logs).collect();
    for &gap in gaps {
        // Runs come before logs, so that after a log only a log can follow.
        if contents.logs.first().is_some_and(|&log| log < gap.first) {
            parts.extend((gap.first..=gap.last).map(Part::MissingLog));
        } else {
            parts.push(Part::MissingRun(gap));
        }
    }
    parts.sort_unstable_by_key(|part| part.first_generation());
    parts
}

/// A file of a set, by its generations.
#[derive(Clone, Copy, Debug)]
enum Part {
    Run(Span),
    Log(u64),
    MissingRun(Span),
    MissingLog(u64),
}

impl Part {
    fn first_generation(self) -> u64 {
        match self {
            Self::Run(span) | Self::MissingRun(span) => span.first,
            Self::Log(generation) | Self::MissingLog(generation) => generation,
        }
    }

    fn report(self, folder: &Folder, keys: u64, fault: Option<Fault>) -> FileReport {
        let path = match self {
            Self::Run(span) | Self::MissingRun(span) => folder.run(span),
            Self::Log(generation) | Self::MissingLog(generation) => folder.log(generation),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        FileReport { name, keys, fault }
    }

    fn check(self, folder: &Folder) -> Result<FileReport, SeenError> {
        let (keys, fault) = match self {
            Self::Run(span) => found(Run::open(folder, span).map(|run| (run.len(), None)))?,
            Self::Log(generation) => {
                let records = log::read(&folder.log(generation), generation);
                found(records.map(|records| (records.keys.len() as u64, tail_of(&records))))?
            }
            Self::MissingRun(_) | Self::MissingLog(_) => (0, Some(Fault::Missing)),
        };
        Ok(self.report(folder, keys, fault))
    }

    fn repair(self, folder: &Folder, mut fault: Fault) -> Result<FileReport, SeenError> {
        let keys = match self {
            Self::Run(span) => run::repair(folder, span)?,
            Self::Log(generation) => {
                let records = log::repair(&folder.log(generation), generation)?;
                if let Fault::Damaged { cut_bytes, .. } = &mut fault {
                    *cut_bytes = records.cut_bytes();
                }
                records.keys.len() as u64
            }
            Self::MissingRun(span) => run::write(folder, span, &[])?.len(),
            Self::MissingLog(generation) => {
                Log::create(folder.log(generation), generation)?;
                0
            }
        };
        Ok(self.report(folder, keys, Some(fault)))
    }
}

/// Damage is what a check looks for; all other errors end it.
fn found(outcome: Result<(u64, Option<Fault>), SeenError>) -> Result<(u64, Option<Fault>), SeenError> {
    match outcome {
        Err(SeenError::Damaged { offset, damage, .. }) => {
            Ok((0, Some(Fault::Damaged { offset, damage, cut_bytes: 0 })))
        }
        outcome => outcome,
    }
}

fn tail_of(records: &Records) -> Option<Fault> {
    records.tail.map(|tail| Fault::Tail { bytes: tail.bytes, damage: tail.damage })
}
