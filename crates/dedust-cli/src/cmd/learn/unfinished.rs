/*!
What a run keeps on disk until it is done, so that an interrupted one can go on.

The folder `RULES.unfinished` holds the observations that memory had no room for; then `read.json`, which says that all
were read, from what and for which settings; then `learned-NNN.json` for every part of the crawl whose sites are learned. Where reading
ends early, by Ctrl-C or a connection that breaks, `reading.json` says how far it came, and all observations until there are in the
folder. It is there only if memory was short or inputs come from elsewhere: smaller crawls are read again in no time.
*/

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dedust::RuleSet;
use dedust_crawl::ReadPosition;
use dedust_io::OutputFile;
use dedust_learn::support::{StoredSite, SuspendedStore};
use dedust_learn::{CrawlStore, LearnOptions, Progress, SiteReport, StoredCrawl, Trainer, Training};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::LearnArgs;
use super::part::PartOf;
use super::settings::Settings;
use crate::failure::{Refusal, refuse};
use crate::line_source::{is_dash, name_of};
use crate::printer::Printer;

const VERSION: u32 = 4;

/// The folder of a run.
pub(super) struct Unfinished {
    folder: PathBuf,
    settings: Settings,
    /// Of the sites, where not all are learned.
    part: Option<PartOf>,
    resume: bool,
    /// Whether no other run can find the folder.
    is_temporary: bool,
}

/// `read.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Read {
    version: u32,
    settings: Settings,
    sites: Vec<StoredSite>,
}

/// `reading.json`.
#[derive(Debug, Serialize, Deserialize)]
struct PartlyRead {
    version: u32,
    settings: Settings,
    position: ReadPosition,
    /// Objects of stores that were opened, with what changes when they do.
    objects: Vec<(String, String)>,
    store: SuspendedStore,
}

/// What tells whether a file can be used.
trait Header {
    fn version(&self) -> u32;
    fn settings(&self) -> &Settings;
}

impl Header for Read {
    fn version(&self) -> u32 {
        self.version
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Header for PartlyRead {
    fn version(&self) -> u32 {
        self.version
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

const START_OVER: &str = "start over with --force instead of --resume";

/// `learned-NNN.json`.
#[derive(Debug, Serialize, Deserialize)]
struct Learned<R> {
    sites: Vec<SiteReport>,
    rules: R,
}

impl Unfinished {
    /// The folder of the run that `args` ask for. What another run left there must be meant to be used or overwritten.
    pub(super) fn prepare(args: &LearnArgs, options: &LearnOptions) -> anyhow::Result<Self> {
        let is_temporary = is_dash(&args.output);
        let folder = if is_temporary {
            std::env::temp_dir().join(format!("dedust-{}.unfinished", std::process::id()))
        } else {
            let mut name = args.output.clone().into_os_string();
            name.push(".unfinished");
            name.into()
        };
        let settings = Settings::of(args, options);
        let unfinished = Self { folder, settings, part: args.part, resume: args.resume, is_temporary };
        let has_left = unfinished.read_path().exists() || unfinished.has_position();
        if !args.resume && !args.force && has_left {
            return refuse(
                format!("an earlier run was interrupted and left {}", unfinished.folder.display()),
                "go on with it by --resume, or start over with --force",
            );
        }
        if !unfinished.resume || !has_left {
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

    fn position_path(&self) -> PathBuf {
        self.folder.join("reading.json")
    }

    /// Whether a run ended while it was reading, and what it had read can be used.
    pub(super) fn has_position(&self) -> bool {
        self.position_path().exists()
    }

    fn learned_path(&self, part: usize) -> PathBuf {
        self.folder.join(format!("learned-{part:03}.json"))
    }

    /// What the interrupted run had read, if it had come that far.
    pub(super) fn resume(&self, options: &LearnOptions) -> anyhow::Result<Option<StoredCrawl>> {
        let path = self.read_path();
        if !self.resume || !path.exists() {
            return Ok(None);
        }
        let Read { sites, .. } = self.load(&path)?;
        let crawl = StoredCrawl::open(options.evidence, options.sample_size(), &self.folder, sites)
            .with_context(|| format!("cannot read {}", self.folder.display()))?;
        Ok(Some(crawl))
    }

    /// How far the interrupted run had read these files, and what it knew then.
    pub(super) fn resume_reading(
        &self,
        files: &[PathBuf],
    ) -> anyhow::Result<Option<(ReadPosition, SuspendedStore)>> {
        if !self.resume || !self.has_position() {
            return Ok(None);
        }
        let PartlyRead { position, objects, store, .. } = self.load::<PartlyRead>(&self.position_path())?;
        for (name, before) in &objects {
            let opened = files.iter().take(position.inputs + 1).find(|file| name_of(file) == *name);
            let version = opened.map_or(Ok(None), dedust_io::version_of)?;
            if version.as_ref() != Some(before) {
                let problem = format!("{name} has changed since it was read (it was {before})");
                return refuse(problem, START_OVER);
            }
        }
        Ok(Some((position, store)))
    }

    /// Reads a file of the folder that was left by a run with the same settings.
    fn load<T: DeserializeOwned + Header>(&self, path: &Path) -> anyhow::Result<T> {
        let folder = self.folder.display();
        let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let loaded = serde_json::from_slice(&text).ok().filter(|loaded: &T| loaded.version() == VERSION);
        let loaded = loaded.ok_or_else(|| {
            Refusal::new(format!("{folder} was not left by this version of dedust"), START_OVER)
        })?;
        if let Some(difference) = loaded.settings().difference(&self.settings) {
            let problem = format!("the run that left {folder} cannot be resumed: {difference}");
            return refuse(problem, START_OVER);
        }
        Ok(loaded)
    }

    /// Whether anything was read, takes long to read again, and can be: standard input is gone.
    pub(super) fn is_worth_keeping(position: &ReadPosition, store: &CrawlStore, files: &[PathBuf]) -> bool {
        let is_object = |file: &PathBuf| file.to_string_lossy().contains("://");
        let has_read = position.inputs > 0 || position.rows > 0;
        has_read
            && (store.has_spilled() || files.iter().any(is_object))
            && files.iter().all(|file| !is_dash(file))
    }

    /// Notes how far inputs were read, with all that was known then, so that the run can go on from there.
    pub(super) fn note_position(
        &self,
        position: ReadPosition,
        mut objects: Vec<(String, String)>,
        store: CrawlStore,
    ) -> anyhow::Result<()> {
        if self.is_temporary {
            return Ok(());
        }
        if self.resume && self.has_position() {
            let PartlyRead { objects: earlier, .. } = self.load(&self.position_path())?;
            objects.extend(earlier);
            objects.sort();
            objects.dedup();
        }
        let store = store
            .suspend()
            .with_context(|| format!("cannot put what was read into the folder {}", self.folder.display()))?;
        let settings = self.settings.clone();
        write(&self.position_path(), &PartlyRead { version: VERSION, settings, position, objects, store })
    }

    /// Notes that all was read, so that the run can be resumed from here on.
    pub(super) fn note_read(&self, crawl: &StoredCrawl) -> anyhow::Result<()> {
        let sites = crawl.sites().to_vec();
        let read = Read { version: VERSION, settings: self.settings.clone(), sites };
        write(&self.read_path(), &read)?;
        // From now on of no use.
        let _ = fs::remove_file(self.position_path());
        Ok(())
    }

    /// Learns every part that is not learned yet, several at a time. Each is kept as soon as it is done.
    pub(super) fn train(
        &self,
        trainer: &Trainer,
        crawl: &StoredCrawl,
        progress: &dyn Progress,
    ) -> anyhow::Result<Training> {
        trainer.train_parts(crawl, progress, |part| match self.part {
            Some(of) if !of.has(part) => Ok(Training::default()),
            _ => self.train_part(trainer, crawl, part, progress),
        })
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

    /// Ends a run that came to nothing: says what is kept of it, or removes it.
    pub(super) fn give_up(&self, printer: &mut Printer) {
        if self.read_path().exists() {
            let folder = self.folder.display();
            printer.hint(format_args!(
                "all was read, and is kept in {folder}: go on with the same command and --resume"
            ));
        } else if self.has_position() {
            let folder = self.folder.display();
            printer.hint(format_args!(
                "what was read until then is kept in {folder}: go on with the same command and --resume"
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
    Ok(Training { rules: RuleSet::load(rules.get().as_bytes())?, sites, ..Training::default() })
}

fn write(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut output = OutputFile::create(path, true)?;
    serde_json::to_writer(&mut output, value)
        .map_err(io::Error::from)
        .and_then(|()| output.write_all(b"\n"))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(output.commit()?)
}
