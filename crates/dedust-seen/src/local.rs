/*!
A set of this process alone, in memory or in a folder: keys in, whether they are new out.
*/

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::background::Background;
use crate::error::SeenError;
use crate::folder::Folder;
use crate::key::{KeyHasher, KeySet, SeenKey};
use crate::log::{self, Log, MAX_RECORD_KEYS, Records};
use crate::options::{Durability, FolderOptions};
use crate::rules;
use crate::run::Run;
use crate::stats::SeenStats;
use crate::view::Frozen;

/// Keys that are looked up by one thread at a time.
const PIECE_KEYS: usize = 2048;

impl FolderOptions {
    /// Opens the set in a folder, which is made if it is not there.
    pub(crate) fn open(self, folder: &Path) -> Result<LocalSet, SeenError> {
        let folder = Folder::open(folder)?;
        let contents = folder.contents()?;
        let runs = contents.runs.par_iter().map(|&span| Run::open(&folder, span).map(Arc::new));
        let runs: Vec<Arc<Run>> = runs.collect::<Result<_, _>>()?;
        let run_keys: u64 = runs.iter().map(|run| run.len()).sum();

        let Logs { full, last, cut_bytes } = read_logs(&folder, &contents.logs)?;
        let full_keys: usize = full.iter().map(|table| table.keys.len()).sum();

        let first_generation = contents.runs.last().map_or(1, |span| span.last + 1);
        let (generation, records) = last.unwrap_or_else(|| (first_generation, Records::default()));
        let mut recent = KeySet::with_capacity_and_hasher(self.recent_keys, Default::default());
        recent.extend(&records.keys);
        let log = self.open_log(&folder, generation, records.whole_bytes)?;

        let rules_changed = match self.rules {
            Some(fingerprint) => rules::exchange(&folder, fingerprint)?,
            None => false,
        };
        let keys = run_keys + (full_keys + recent.len()) as u64;
        let hasher = folder.hasher();
        let background = Background::start(folder, runs)?;
        for table in full {
            background.write(table);
        }
        let disk = Disk { background, log, generation, options: self, has_failed: false };
        let figures = SeenStats {
            keys,
            unanswered_keys: records.unanswered,
            cut_bytes,
            rules_changed,
            ..SeenStats::default()
        };
        Ok(LocalSet { hasher, recent, disk: Some(disk), figures, hashes: Vec::new(), known: Vec::new() })
    }

    /// Opens the last log to append to its first `whole_bytes`; starts it if there are none.
    fn open_log(self, folder: &Folder, generation: u64, whole_bytes: u64) -> Result<Log, SeenError> {
        let path = folder.log(generation);
        if whole_bytes > 0 {
            return Log::reopen(path, generation, whole_bytes);
        }
        if path.exists() {
            Folder::remove(&path)?;
        }
        self.create_log(folder, generation)
    }

    /// Starts the log of a generation. It outlives what an answer outlives.
    fn create_log(self, folder: &Folder, generation: u64) -> Result<Log, SeenError> {
        let log = Log::create(folder.log(generation), generation)?;
        if self.durability == Durability::Power {
            folder.sync()?;
        }
        Ok(log)
    }
}

/// What the logs of a set were found to hold.
#[derive(Default)]
struct Logs {
    /// All but the last.
    full: Vec<Frozen>,
    /// The last, with its generation.
    last: Option<(u64, Records)>,
    /// Bytes that are no whole records.
    cut_bytes: u64,
}

fn read_logs(folder: &Folder, generations: &[u64]) -> Result<Logs, SeenError> {
    let mut logs = Logs::default();
    for &generation in generations {
        let records = log::read(&folder.log(generation), generation)?;
        logs.cut_bytes += records.cut_bytes();
        if let Some((generation, records)) = logs.last.replace((generation, records)) {
            let keys = records.keys.into_iter().collect();
            logs.full.push(Frozen { generation, keys, log_bytes: records.whole_bytes });
        }
    }
    Ok(logs)
}

/// A set in memory, and on disk if it has a folder.
pub(crate) struct LocalSet {
    hasher: KeyHasher,
    /// Keys that are in no full table and no run.
    recent: KeySet,
    disk: Option<Disk>,
    /// Those that are counted here.
    figures: SeenStats,
    hashes: Vec<u128>,
    known: Vec<bool>,
}

/// Where keys go that must not be lost.
#[derive(Debug)]
struct Disk {
    background: Background,
    log: Log,
    generation: u64,
    options: FolderOptions,
    has_failed: bool,
}

impl LocalSet {
    /// A set that is gone when it is dropped.
    pub(crate) fn in_memory() -> Result<Self, SeenError> {
        Ok(Self {
            hasher: KeyHasher::random()?,
            recent: KeySet::default(),
            disk: None,
            figures: SeenStats::default(),
            hashes: Vec::new(),
            known: Vec::new(),
        })
    }

    /// Makes the keys of this set.
    pub(crate) fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// Says of each key whether it is new, in `is_new`, which is emptied first.
    pub(crate) fn insert_batch(&mut self, keys: &[SeenKey], is_new: &mut Vec<bool>) -> Result<(), SeenError> {
        is_new.clear();
        for keys in keys.chunks(MAX_RECORD_KEYS) {
            self.make_room()?;
            self.look_up(keys);
            let before = is_new.len();
            let Self { recent, known, hashes, .. } = self;
            hashes.clear();
            for (key, &is_known) in keys.iter().zip(&*known) {
                let is_first = !is_known && recent.insert(key.0);
                if is_first {
                    hashes.push(key.0);
                }
                is_new.push(is_first);
            }
            debug_assert_eq!(is_new.len() - before, keys.len());
            self.figures.lookups += keys.len() as u64;
            self.figures.new_keys += self.hashes.len() as u64;
            self.figures.keys += self.hashes.len() as u64;
            self.keep()?;
        }
        Ok(())
    }

    /// Starts the next generation if the table is full.
    ///
    /// Not as soon as it is full, but when more keys are asked for: until then the answers of the last batch may not have
    /// reached whoever asked, and the last log says how many they are.
    fn make_room(&mut self) -> Result<(), SeenError> {
        let Self { recent, disk: Some(disk), .. } = self else { return Ok(()) };
        disk.check()?;
        if recent.len() >= disk.options.recent_keys {
            disk.rotate(recent).inspect_err(|_| disk.has_failed = true)?;
        }
        Ok(())
    }

    /// Finds out which of `keys` are known, in `self.known`.
    fn look_up(&mut self, keys: &[SeenKey]) {
        let Self { recent, disk, hashes, known, .. } = self;
        known.clear();
        known.resize(keys.len(), false);
        // Without a disk, all that there is to look up is looked up when it is inserted.
        let Some(disk) = disk else { return };
        hashes.clear();
        hashes.extend(keys.iter().map(|key| key.0));
        let view = disk.background.shared().view();
        let find = |pending: &mut Vec<u32>, keys: &[u128], known: &mut [bool]| {
            for (key, known) in keys.iter().zip(&mut *known) {
                *known = recent.contains(key);
            }
            view.find(keys, known, pending);
        };
        if keys.len() <= PIECE_KEYS {
            find(&mut Vec::new(), hashes, known);
        } else {
            let pieces = hashes.par_chunks(PIECE_KEYS).zip(known.par_chunks_mut(PIECE_KEYS));
            pieces.for_each_init(Vec::new, |pending, (keys, known)| find(pending, keys, known));
        }
    }

    /// Makes the new keys outlive the process.
    fn keep(&mut self) -> Result<(), SeenError> {
        let Self { disk: Some(disk), hashes, .. } = self else { return Ok(()) };
        if hashes.is_empty() {
            return Ok(());
        }
        disk.append(hashes).inspect_err(|_| disk.has_failed = true)
    }

    /// Notes the rules that keys are made with from now on. Whether those before were others.
    pub(crate) fn note_rules(&mut self, fingerprint: u128) -> Result<bool, SeenError> {
        match &self.disk {
            Some(disk) => rules::exchange(&disk.background.shared().folder, fingerprint),
            None => Ok(false),
        }
    }

    /// Waits until all keys are on the disk itself, and would outlive a loss of power.
    pub(crate) fn sync(&mut self) -> Result<(), SeenError> {
        match &mut self.disk {
            Some(disk) => {
                disk.check()?;
                disk.sync()
            }
            None => Ok(()),
        }
    }

    /// Closes the set, and notes that every answer has reached whoever asked: see [`SeenStats::unanswered_keys`].
    pub(crate) fn close(mut self) -> Result<(), SeenError> {
        match &mut self.disk {
            Some(disk) => {
                disk.check()?;
                disk.log.close()
            }
            None => Ok(()),
        }
    }

    /// What the set holds, and what answering took.
    pub(crate) fn stats(&self) -> SeenStats {
        let mut stats = SeenStats { recent_keys: self.recent.len() as u64, ..self.figures };
        if let Some(disk) = &self.disk {
            let shared = disk.background.shared();
            let view = shared.view();
            stats.recent_keys += view.frozen.iter().map(|table| table.keys.len() as u64).sum::<u64>();
            stats.runs = view.runs.len() as u64;
            stats.disk_bytes = disk.log.bytes()
                + view.frozen.iter().map(|table| table.log_bytes).sum::<u64>()
                + view.runs.iter().map(|run| run.disk_bytes()).sum::<u64>();
            stats.index_bytes = view.runs.iter().map(|run| run.index_bytes()).sum();
            stats.merges = shared.merges();
            stats.folder_syncs = shared.folder.syncs();
        }
        stats
    }
}

impl Disk {
    /// Reports what went wrong since the last time.
    fn check(&mut self) -> Result<(), SeenError> {
        if let Some(error) = self.background.shared().take_failure() {
            self.has_failed = true;
            return Err(error);
        }
        if self.has_failed { Err(SeenError::Failed) } else { Ok(()) }
    }

    fn append(&mut self, keys: &[u128]) -> Result<(), SeenError> {
        self.log.append(keys.iter().copied())?;
        match self.options.durability {
            Durability::Process => Ok(()),
            Durability::Power => self.log.sync(),
        }
    }

    /// Waits for the disk to have the logs. Runs are on it before they are used.
    fn sync(&mut self) -> Result<(), SeenError> {
        let shared = self.background.shared();
        for table in &shared.view().frozen {
            log::sync(&shared.folder.log(table.generation))?;
        }
        shared.folder.sync()?;
        self.log.sync()
    }

    /// Hands over the table, which is left empty, and starts the next generation.
    fn rotate(&mut self, recent: &mut KeySet) -> Result<(), SeenError> {
        let next = self.generation + 1;
        let log = self.options.create_log(&self.background.shared().folder, next)?;
        let log_bytes = std::mem::replace(&mut self.log, log).bytes();
        let empty = KeySet::with_capacity_and_hasher(self.options.recent_keys, Default::default());
        let keys = std::mem::replace(recent, empty);
        self.background.write(Frozen { generation: self.generation, keys, log_bytes });
        self.generation = next;
        Ok(())
    }
}
