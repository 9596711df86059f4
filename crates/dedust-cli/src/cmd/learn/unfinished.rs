/*!
What a run keeps on disk until it is done, so that an interrupted one can go on.

The folder `RULES.unfinished` holds the observations that memory had no room for; then `read.json`, which says that all
were read, from what and for which settings; then `learned-NNN.json` for every part of the crawl whose sites are learned. It is there
only if memory was short: smaller crawls are read again in no time.
*/

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::RuleSet;
use dedust_io::OutputFile;
use dedust_learn::{
    EvidenceKinds, PARTS, Progress, SampleSize, SiteReport, StoredCrawl, StoredSite, Trainer, Training,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::part::PartOf;
use super::settings::Settings;
use crate::args::LearnArgs;
use crate::failure::Refusal;
use crate::method::Method;
use crate::printer::Printer;

const VERSION: u32 = 3;

/// The folder of a run.
pub(super) struct Unfinished {
    folder: PathBuf,
    settings: Settings,
    method: Method,
    evidence: EvidenceKinds,
    /// Of the sites, where not all are learned.
    part: Option<PartOf>,
    resume: bool,
}

/// `read.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Read {
    version: u32,
    settings: Settings,
    sites: Vec<StoredSite>,
}

/// `learned-NNN.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Learned<R> {
    sites: Vec<SiteReport>,
    rules: R,
}

impl Unfinished {
    /// The folder of the run that `args` ask for. What another run left there must be meant to be used or overwritten.
    pub(super) fn prepare(args: &LearnArgs) -> anyhow::Result<Self> {
        let folder = if args.output.as_os_str() == "-" {
            std::env::temp_dir().join(format!("dedust-{}.unfinished", std::process::id()))
        } else {
            let mut name = args.output.clone().into_os_string();
            name.push(".unfinished");
            name.into()
        };
        let settings = Settings::of(args);
        let unfinished = Self {
            folder,
            settings,
            method: args.method,
            evidence: args.evidence,
            part: args.part,
            resume: args.resume,
        };
        if !args.resume && !args.force && unfinished.read_path().exists() {
            return Err(Refusal::new(
                format!("an earlier run was interrupted and left {}", unfinished.folder.display()),
                "go on with it by --resume, or start over with --force",
            )
            .into());
        }
        if !unfinished.resume || !unfinished.read_path().exists() {
            unfinished.remove()?;
        }
        Ok(unfinished)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn read_path(&self) -> PathBuf {
        self.folder.join("read.json")
    }

    fn learned_path(&self, part: usize) -> PathBuf {
        self.folder.join(format!("learned-{part:03}.json"))
    }

    /// What the interrupted run had read, if it had come that far.
    pub(super) fn resume(&self, sample: SampleSize) -> anyhow::Result<Option<StoredCrawl>> {
        let path = self.read_path();
        if !self.resume || !path.exists() {
            return Ok(None);
        }
        let folder = self.folder.display();
        let start_over = "start over with --force instead of --resume";
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let Read { version, settings, sites } =
            serde_json::from_slice(&text).ok().filter(|read: &Read| read.version == VERSION).ok_or_else(
                || Refusal::new(format!("{folder} was not left by this version of dedust"), start_over),
            )?;
        debug_assert_eq!(version, VERSION);
        if let Some(difference) = settings.difference(&self.settings) {
            return Err(Refusal::new(
                format!("the run that left {folder} cannot be resumed: {difference}"),
                start_over,
            )
            .into());
        }
        let crawl = StoredCrawl::open(self.evidence, sample, &self.folder, sites)
            .with_context(|| format!("cannot read {folder}"))?;
        Ok(Some(crawl))
    }

    /// Notes that all was read, so that the run can be resumed from here on.
    pub(super) fn note_read(&self, crawl: &StoredCrawl) -> anyhow::Result<()> {
        let sites = crawl.sites().to_vec();
        let read = Read { version: VERSION, settings: self.settings.clone(), sites };
        write(&self.read_path(), &read)
    }

    /// Learns every part that is not learned yet, several at a time. Each is kept as soon as it is done.
    pub(super) fn train(
        &self,
        trainer: &Trainer,
        crawl: &StoredCrawl,
        progress: &dyn Progress,
    ) -> anyhow::Result<Training> {
        progress.start(crawl.sites().len(), crawl.rows());
        let parts = (0..PARTS).into_par_iter().filter(|part| self.part.is_none_or(|of| of.has(*part)));
        let learned = parts.map(|part| self.train_part(trainer, crawl, part, progress));
        Ok(Training::of_parts(self.method.name(), learned.collect::<anyhow::Result<_>>()?))
    }

    fn train_part(
        &self,
        trainer: &Trainer,
        crawl: &StoredCrawl,
        part: usize,
        progress: &dyn Progress,
    ) -> anyhow::Result<Training> {
        let path = self.learned_path(part);
        if self.resume && path.exists() {
            let training = load(&path).with_context(|| format!("cannot use {}", path.display()))?;
            training.sites.iter().for_each(|report| progress.site_done(report));
            return Ok(training);
        }
        let training = trainer.train_part(crawl, part, progress)?;
        // Only what is on disk can be resumed.
        if self.read_path().exists() && !training.sites.is_empty() {
            let mut rules = Vec::new();
            training.rules.save(&mut rules)?;
            let rules = RawValue::from_string(String::from_utf8(rules)?)?;
            write(&path, &Learned { sites: training.sites.clone(), rules })?;
        }
        Ok(training)
    }

    /// Ends a run that came to nothing: what was read is kept if all was, and else removed.
    pub(super) fn give_up(&self, printer: &mut Printer) {
        if self.read_path().exists() {
            let folder = self.folder.display();
            printer.hint(format_args!(
                "all was read, and is kept in {folder}: go on with the same command and --resume"
            ));
        } else if let Err(error) = self.remove() {
            printer.warning(format_args!("{error:#}"));
        }
    }

    /// Removes the folder, if it is there.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }
}

fn load(path: &Path) -> anyhow::Result<Training> {
    let text = fs::read(path)?;
    let Learned { sites, rules } = serde_json::from_slice::<Learned<&RawValue>>(&text)?;
    Ok(Training { rules: RuleSet::load(rules.get().as_bytes())?, sites })
}

fn write(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut output = OutputFile::create(path, true)?;
    serde_json::to_writer(&mut output, value)
        .map_err(io::Error::from)
        .and_then(|()| output.write_all(b"\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(output.commit()?)
}
