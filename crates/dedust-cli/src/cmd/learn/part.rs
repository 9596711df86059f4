/*!
`learn --part` and `merge`: several processes read a crawl, and one learns from what they have read.

A part is a folder: the observations of every n-th input file, as [`CrawlStore::suspend`] leaves them; and, last, `part.json`, without
which the part is not complete. All parts together make the crawl that one process
would have read, so that the rules are the same. How pages of archives are read depends on the other pages of the part.
*/

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context as _;
use dedust_io::OutputFile;
use dedust_learn::support::SuspendedStore;
use dedust_learn::{CrawlStore, LearnOptions, StoredCrawl, Trainer};
use serde::{Deserialize, Serialize};

use super::LearnArgs;
use super::settings::Settings;
use crate::ExitStatus;
use crate::failure::{Refusal, refuse};
use crate::line_source::name_of;
use crate::number::counted;
use crate::observe::read_all;
use crate::printer::Printer;

const VERSION: u32 = 3;
/// Parts that a crawl may be read in.
const MAX_PARTS: u32 = 100_000;

/// One of several parts, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartOf {
    number: u32,
    of: u32,
}

/// `part.json`.
#[derive(Debug, Serialize, Deserialize)]
struct PartFile {
    version: u32,
    part: PartOf,
    settings: Settings,
    store: SuspendedStore,
}

impl FromStr for PartOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, of)| Some(Self { number: number.parse().ok()?, of: of.parse().ok()? }));
        numbers
            .filter(|part| (1..=part.of).contains(&part.number) && part.of <= MAX_PARTS)
            .ok_or_else(|| "expected the number of a part and how many there are, such as 3/8".to_owned())
    }
}

impl PartOf {
    /// Whether the thing with this index, from 0, is in the part.
    pub(super) fn has(self, index: usize) -> bool {
        index % self.of as usize == self.number as usize - 1
    }
}

/// Reads the inputs of a part and writes it.
pub(super) fn write(
    args: &LearnArgs,
    part: PartOf,
    options: &LearnOptions,
    printer: &mut Printer,
) -> anyhow::Result<ExitStatus> {
    let folder = &args.output;
    make_folder(folder, args.force)?;
    let files = dedust_io::expand(&args.inputs)?;
    let inputs: Vec<PathBuf> = files
        .iter()
        .enumerate()
        .filter(|(index, _)| part.has(*index))
        .map(|(_, file)| file.clone())
        .collect();
    let mut store = CrawlStore::new(options.evidence, options.sample_size())
        .with_mirrors()
        .spill_to(folder, args.memory as usize * 1_000_000);
    // There may be more parts than files.
    if !inputs.is_empty() {
        read_all(&inputs, &args.read, printer, |row| row.observe_in(&mut store))?;
    }
    let cannot_write = || format!("cannot write to the folder {}", folder.display());
    let store = store.suspend().with_context(cannot_write)?;
    let rows = store.rows();
    let written = PartFile { version: VERSION, part, settings: Settings::of(args, options), store };
    let mut output = OutputFile::create(folder.join("part.json"), true)?;
    serde_json::to_writer(&mut output, &written).with_context(cannot_write)?;
    output.write_all(b"\n").with_context(cannot_write)?;
    output.commit()?;
    printer.note(format_args!(
        "part {} of {}: {} of {} of {}, written to {}",
        part.number,
        part.of,
        counted(rows, "URL", "URLs"),
        inputs.len(),
        counted(files.len() as u64, "file", "files"),
        name_of(folder)
    ));
    printer.hint(
        "when all parts are there, learn from them: dedust merge PART... -o RULES, with the same options",
    );
    Ok(ExitStatus::Success)
}

/// Makes the folder of a part. One that is there is overwritten if it is meant to be and holds a part or nothing.
fn make_folder(folder: &Path, force: bool) -> anyhow::Result<()> {
    if folder.exists() {
        let is_part = folder.join("part.json").exists() || folder.join("part-000").exists();
        let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        let may_be_used = is_empty || force && is_part;
        if !may_be_used {
            let remedy =
                if is_part { "overwrite it with --force" } else { "name a folder that is not there yet" };
            return refuse(format!("{} already exists", folder.display()), remedy);
        }
        if !is_empty {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// The crawl of which the inputs are all parts.
pub(super) fn merge(args: &LearnArgs, trainer: &Trainer) -> anyhow::Result<StoredCrawl> {
    let folders = part_folders(&args.inputs)?;
    let options = trainer.options();
    let settings = Settings::of(args, options);
    let mut found: Vec<(PartOf, PathBuf)> = Vec::new();
    let mut stores = Vec::new();
    for folder in folders {
        let PartFile { part, settings: was, store, .. } = open(&folder)?;
        if let Some(difference) = was.option_difference(&settings) {
            let name = folder.display();
            return refuse(
                format!("{name} was read for other rules: {difference}"),
                "give `merge` the options of `learn --part`",
            );
        }
        if let Some((first, _)) = found.first().filter(|(first, _)| first.of != part.of) {
            let name = folder.display();
            return refuse(
                format!("{name} is one of {} parts, and others are of {}", part.of, first.of),
                "name the parts of one crawl",
            );
        }
        if let Some((_, other)) = found.iter().find(|(other, _)| other.number == part.number) {
            let (name, other) = (folder.display(), other.display());
            return refuse(
                format!("{name} and {other} are both part {} of {}", part.number, part.of),
                "name each part once",
            );
        }
        found.push((part, folder.clone()));
        stores.push((folder, store));
    }
    check_complete(&found)?;
    let named = trainer.finds_mirrors().then_some(&*options.mirror);
    StoredCrawl::of_suspended(options.evidence, options.sample_size(), &stores, named)
        .context("cannot read all files of the parts")
}

/// The folders of parts that are meant: those that are named, and those in a folder that is named.
fn part_folders(inputs: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let is_part = |folder: &Path| folder.join("part-000").exists() || folder.join("part.json").exists();
    let mut folders = Vec::new();
    for input in inputs {
        if is_part(input) {
            folders.push(input.clone());
            continue;
        }
        let entries =
            fs::read_dir(input).with_context(|| format!("cannot read the folder {}", input.display()))?;
        let mut within: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_part(path)).collect();
        if within.is_empty() {
            let problem = format!("{} is no part of `dedust learn --part`, and holds none", input.display());
            return refuse(problem, "name the folders that `learn --part` has written");
        }
        within.sort();
        folders.append(&mut within);
    }
    Ok(folders)
}

fn open(folder: &Path) -> anyhow::Result<PartFile> {
    let name = folder.display();
    let path = folder.join("part.json");
    let again = "write it again with `dedust learn --part --force`";
    if !path.exists() {
        return refuse(format!("{name} is not complete: its writer has not ended, or failed"), again);
    }
    let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let part: Option<PartFile> = serde_json::from_slice(&text).ok();
    part.filter(|part| part.version == VERSION).ok_or_else(|| {
        Refusal::new(format!("{name} was not written by this version of dedust"), again).into()
    })
}

fn check_complete(found: &[(PartOf, PathBuf)]) -> anyhow::Result<()> {
    let of = found.first().map_or(0, |(part, _)| part.of);
    let is_missing = |number: &u32| !found.iter().any(|(part, _)| part.number == *number);
    let missing: Vec<String> =
        (1..=of).filter(is_missing).take(5).map(|number| format!("{number}/{of}")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    refuse(
        format!("{} of {} parts are there; missing: {}", found.len(), of, missing.join(", ")),
        "write them with `dedust learn --part`, and name all",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("3/8".parse(), Ok(PartOf { number: 3, of: 8 }));
        for wrong in ["0/8", "9/8", "3", "a/b", "1/0", "-1/2", "1/1000000"] {
            assert!(wrong.parse::<PartOf>().is_err(), "{wrong}");
        }
        let all = ["1/3", "2/3", "3/3"].map(|part| part.parse::<PartOf>().unwrap());
        for index in 0..10 {
            assert_eq!(all.iter().filter(|part| part.has(index)).count(), 1);
        }
    }
}
