/*!
The rules that are served: loaded from a file, exchanged as a whole when it changes, and changed by people.

A request takes the rules once and keeps them, so that one answer is never made of two rule sets. A changed file that cannot be
used is reported once, and the rules before it are kept. What is written goes beside the file and is renamed.
*/

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use arc_swap::ArcSwap;
use dedust::errors::with_causes;
use dedust::{Normalizer, RuleSet};
use dedust_io::{Compression, FileStamp, OutputFile, WriteError};

use crate::error::RulesError;
use crate::event::Log;
use crate::metrics::Metrics;
use crate::options::ServeOptions;
use crate::seen::Seen;

/// Rules that do not change any more.
pub(crate) struct LoadedRules {
    /// With evidence; `None` if the file holds compiled rules.
    pub(crate) rules: Option<RuleSet>,
    /// Ready to be applied.
    pub(crate) normalizer: Normalizer,
}

/// The rules of now.
pub(crate) struct LiveRules {
    path: PathBuf,
    trust_mirrors: bool,
    current: ArcSwap<LoadedRules>,
    /// The file that was looked at last. Locked by whoever reads or writes the file.
    file: Mutex<Option<FileStamp>>,
    /// Told about other rules.
    seen: OnceLock<Seen>,
    metrics: Arc<Metrics>,
    log: Log,
}

impl LiveRules {
    /// Loads the rules of the options.
    pub(crate) fn open(options: &ServeOptions, metrics: &Arc<Metrics>) -> Result<Self, RulesError> {
        let stamp = FileStamp::of(&options.rules);
        let loaded = load(&options.rules, options.trust_mirrors)?;
        let rules = Self {
            path: options.rules.clone(),
            trust_mirrors: options.trust_mirrors,
            current: ArcSwap::from_pointee(loaded),
            file: Mutex::new(stamp),
            seen: OnceLock::new(),
            metrics: Arc::clone(metrics),
            log: options.log.clone(),
        };
        rules.tell(&rules.current());
        Ok(rules)
    }

    /// From now on, a seen-set is notified of other rules.
    pub(crate) fn tell_seen(&self, seen: Seen) {
        let _ = self.seen.set(seen);
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// The rules of now, to be kept for a whole answer.
    pub(crate) fn current(&self) -> Arc<LoadedRules> {
        self.current.load_full()
    }

    /// Loads the file if it is another than at the last look, unless somebody reads or writes it right now. Takes as long as reading it.
    pub(crate) fn reload_if_changed(&self) {
        let mut file = match self.file.try_lock() {
            Ok(file) => file,
            Err(TryLockError::Poisoned(file)) => file.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let stamp = FileStamp::of(&self.path);
        if *file != stamp {
            *file = stamp;
            self.reload();
        }
    }

    /// Loads the file, whatever it was at the last look.
    pub(crate) fn reload_now(&self) {
        let mut file = self.lock();
        *file = FileStamp::of(&self.path);
        self.reload();
    }

    fn reload(&self) {
        match load(&self.path, self.trust_mirrors) {
            Ok(loaded) => self.exchange(loaded),
            Err(error) => {
                self.metrics.rules_refused.inc();
                self.metrics.rules_stale.set(1);
                let message = format!("{}; the rules before are served", with_causes(&error));
                let remedy = "correct the file: dedust rules lint RULES says all that is wrong with it";
                self.log.warning("rules_refused", message, remedy);
            }
        }
    }

    /// Changes the rules of the file, as it is now, writes them in its place and serves them. Nothing is written after an error.
    pub(crate) fn change<T, E: From<RulesError>>(
        &self,
        change: impl FnOnce(&mut RuleSet) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut file = self.lock();
        self.check_writable()?;
        let mut rules = load(&self.path, self.trust_mirrors)?.rules.ok_or_else(|| self.compiled())?;
        let result = change(&mut rules)?;
        self.write(rules, &mut file)?;
        Ok(result)
    }

    /// Refuses a file that rules cannot be written to.
    pub(crate) fn check_writable(&self) -> Result<(), RulesError> {
        if dedust::holds_compiled(&self.path) {
            return Err(self.compiled());
        }
        match dedust_io::open_text(&self.path)?.origin().compression() {
            Compression::None => Ok(()),
            _ => Err(RulesError::Compressed { path: self.path.clone() }),
        }
    }

    fn write(&self, rules: RuleSet, file: &mut Option<FileStamp>) -> Result<(), RulesError> {
        let mut output = OutputFile::create(&self.path, true)?;
        rules.save(&mut output).map_err(|source| WriteError::Write { path: self.path.clone(), source })?;
        output.commit()?;
        *file = FileStamp::of(&self.path);
        self.exchange(loaded(rules, self.trust_mirrors));
        Ok(())
    }

    fn exchange(&self, loaded: LoadedRules) {
        let fingerprint = loaded.normalizer.fingerprint();
        let loaded = Arc::new(loaded);
        let before = self.current.swap(Arc::clone(&loaded));
        self.tell(&loaded);
        if let Some(seen) = self.seen.get().filter(|_| before.normalizer.fingerprint() != fingerprint) {
            seen.note_rules(fingerprint);
        }
    }

    fn tell(&self, loaded: &LoadedRules) {
        let LoadedRules { normalizer, .. } = loaded;
        let (sites, rules) = (normalizer.site_count(), normalizer.rule_count());
        self.metrics.rules_loads.inc();
        self.metrics.rules_stale.set(0);
        self.metrics.rules_sites.set(sites);
        self.metrics.rules_rules.set(rules);
        let name = self.path.display();
        self.log.note("rules_loaded", format!("{name}: {rules} rules of {sites} sites"));
        if normalizer.left_out_count() > 0 {
            let message = format!("{} sites of {name} were left out", normalizer.left_out_count());
            let remedy =
                "dedust normalize with the same file says which, and why; their URLs stay as they are";
            self.log.warning("sites_left_out", message, remedy);
        }
        if normalizer.mirror_count() > 0 && !self.trust_mirrors {
            let message = format!("{} mirrors in {name} are not applied", normalizer.mirror_count());
            let remedy = "if you learned these rules yourself, or trust whoever did, add --trust-mirrors";
            self.log.warning("mirrors_ignored", message, remedy);
        }
    }

    fn compiled(&self) -> RulesError {
        RulesError::Compiled { path: self.path.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<FileStamp>> {
        // The stamp is right or old, and an old one makes for one look more.
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn load(path: &Path, trust_mirrors: bool) -> Result<LoadedRules, RulesError> {
    if dedust::holds_compiled(path) {
        let opened = Normalizer::open(path);
        let normalizer = opened.map_err(|source| RulesError::Open { path: path.into(), source })?;
        return Ok(LoadedRules { rules: None, normalizer: trusted(normalizer, trust_mirrors) });
    }
    let rules = RuleSet::load(dedust_io::open_text(path)?);
    Ok(loaded(rules.map_err(|source| RulesError::Load { path: path.into(), source })?, trust_mirrors))
}

fn loaded(rules: RuleSet, trust_mirrors: bool) -> LoadedRules {
    LoadedRules { normalizer: trusted(Normalizer::compile(&rules), trust_mirrors), rules: Some(rules) }
}

fn trusted(normalizer: Normalizer, trust_mirrors: bool) -> Normalizer {
    if trust_mirrors { normalizer } else { normalizer.without_mirrors() }
}
