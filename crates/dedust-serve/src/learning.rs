/*!
Learning again from the crawls that the server was started with: one run at a time, with progress, that can be cancelled.

Learns as `dedust learn --keep` does, on all cores but one: with the options that the rule file was learned with, or the defaults if it does
not say. What people decided stays. The rules are written in place of the file, and served. Reads no crawl that was not named at the start: a request cannot name files.
*/

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_crawl::{Pipeline, Watch};
use dedust_learn::errors::InvalidOption;
use dedust_learn::{LearnOptions, Progress, SiteReport, Trainer};
use serde::Serialize;

use crate::error::RulesError;
use crate::event::Log;
use crate::live_rules::LiveRules;
use crate::options::LearnerOf;

/// How far learning has come.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum LearnState {
    /// It was not started yet.
    #[default]
    Idle,
    /// Crawls are being read.
    Reading {
        /// Rows so far.
        rows: u64,
    },
    /// Rules are being learned.
    Learning {
        /// Sites that are done, and all of them.
        sites_done: u64,
        sites: u64,
        /// URLs of these.
        urls_done: u64,
        urls: u64,
    },
    /// The rules are served.
    Done {
        /// Rules of all sites, and decisions that were kept.
        rules: u64,
        sites: u64,
        kept: u64,
        seconds: f64,
        /// What was asked for: as the rules before were learned.
        options: Box<LearnOptions>,
    },
    /// It was cancelled. The rules are those before.
    Cancelled,
    /// The rules are those before.
    Failed {
        /// Why.
        error: String,
    },
}

/// What was asked for cannot be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotStarted {
    /// The server was started without a crawl.
    NoCrawl,
    /// It is running.
    IsRunning,
}

/// One run at a time.
pub(crate) struct Learning {
    crawl: Vec<PathBuf>,
    learner: LearnerOf,
    run: Mutex<Option<Arc<Run>>>,
    log: Log,
}

/// A run.
#[derive(Default)]
struct Run {
    outcome: Mutex<Option<LearnState>>,
    is_cancelled: AtomicBool,
    rows: AtomicU64,
    sites: AtomicU64,
    sites_done: AtomicU64,
    urls: AtomicU64,
    urls_done: AtomicU64,
}

/// Why a run ended without rules.
#[derive(Debug, thiserror::Error)]
enum LearnError {
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Expand(#[from] dedust_io::ReadError),
    #[error(transparent)]
    Learn(#[from] dedust_crawl::LearnError),
    #[error(
        "the options that the rule file was learned with cannot be used; correct `options` in the file, or remove them"
    )]
    Options(#[from] InvalidOption),
    #[error(
        "method is {0}, as the rule file has it in `options`, and this server has no such method; learn by `dedust learn --keep`, or with another method"
    )]
    Method(Box<str>),
    #[error("cannot start threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Learning {
    pub(crate) fn new(crawl: Vec<PathBuf>, learner: LearnerOf, log: Log) -> Self {
        Self { crawl, learner, run: Mutex::default(), log }
    }

    /// How far it has come.
    pub(crate) fn state(&self) -> LearnState {
        lock(&self.run).as_ref().map_or(LearnState::Idle, |run| run.state())
    }

    /// Starts a run on a thread of its own.
    pub(crate) fn start(&self, rules: Arc<LiveRules>) -> Result<(), NotStarted> {
        if self.crawl.is_empty() {
            return Err(NotStarted::NoCrawl);
        }
        let mut current = lock(&self.run);
        if current.as_ref().is_some_and(|run| lock(&run.outcome).is_none()) {
            return Err(NotStarted::IsRunning);
        }
        let run = Arc::new(Run::default());
        *current = Some(Arc::clone(&run));
        let (crawl, learner_of, log) = (self.crawl.clone(), self.learner, self.log.clone());
        let started = std::thread::Builder::new().name("learn".into()).spawn({
            let run = Arc::clone(&run);
            move || {
                log.note("learning_started", "learning from the crawls of the server".into());
                let outcome = run.learn(&crawl, learner_of, &rules, &log);
                log.note("learning_ended", format!("{outcome:?}"));
                *lock(&run.outcome) = Some(outcome);
            }
        });
        if let Err(error) = started {
            *lock(&run.outcome) = Some(LearnState::Failed { error: error.to_string() });
        }
        Ok(())
    }

    /// Ends the run at its next site or row.
    pub(crate) fn cancel(&self) {
        if let Some(run) = &*lock(&self.run) {
            run.is_cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl Run {
    fn state(&self) -> LearnState {
        if let Some(outcome) = &*lock(&self.outcome) {
            return outcome.clone();
        }
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        match load(&self.sites) {
            0 => LearnState::Reading { rows: load(&self.rows) },
            sites => LearnState::Learning {
                sites_done: load(&self.sites_done),
                sites,
                urls_done: load(&self.urls_done),
                urls: load(&self.urls),
            },
        }
    }

    fn learn(&self, crawl: &[PathBuf], learner_of: LearnerOf, rules: &LiveRules, log: &Log) -> LearnState {
        let started = Instant::now();
        let learned = self.train(crawl, learner_of, rules, log);
        if self.is_cancelled() {
            return LearnState::Cancelled;
        }
        let written = learned.and_then(|(mut learned, options)| {
            rules.change(|rules| {
                let kept = learned.keep(rules);
                *rules = learned;
                let seconds = started.elapsed().as_secs_f64();
                let kept = kept.off + kept.pinned + kept.verdicts;
                Ok::<_, LearnError>(LearnState::Done {
                    rules: rules.rule_count() as u64,
                    sites: rules.sites().len() as u64,
                    kept,
                    seconds,
                    options: options.into(),
                })
            })
        });
        written.unwrap_or_else(|error| LearnState::Failed { error: with_causes(&error) })
    }

    fn train(
        &self,
        crawl: &[PathBuf],
        learner_of: LearnerOf,
        rules: &LiveRules,
        log: &Log,
    ) -> Result<(RuleSet, LearnOptions), LearnError> {
        // Before the work, which may be long.
        rules.check_writable()?;
        let loaded = rules.current();
        let asked = loaded.rules.as_ref().map_or(Ok(None), LearnOptions::of_rules)?;
        let options = asked.unwrap_or_default();
        let learner =
            learner_of(&options.method).ok_or_else(|| LearnError::Method(options.method.clone()))?;
        let trainer = Trainer::builder().learner(learner).options(options.clone()).build()?;
        let repeated = options.repeated(&());
        let shown =
            repeated.iter().map(|change| format!("{} {}", change.name, change.is)).collect::<Vec<_>>();
        if !shown.is_empty() {
            log.note("learning_options", format!("with the options of the rule file: {}", shown.join(", ")));
        }
        let pipeline = Pipeline::new(trainer).temporary_in(rules.folder());
        let inputs = dedust_io::expand(crawl)?;
        let opened = inputs.iter().map(|path| dedust_crawl::open(path, None, &[]));
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores.saturating_sub(1).max(1)).build()?;
        let (_, learned) = pool.install(|| pipeline.learn(opened, &mut RunWatch(self), self));
        Ok((learned?.rules, options))
    }
}

struct RunWatch<'r>(&'r Run);

impl Watch for RunWatch<'_> {
    fn row(&mut self) -> ControlFlow<()> {
        self.0.rows.fetch_add(1, Ordering::Relaxed);
        if self.0.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Progress for Run {
    fn start(&self, sites: usize, urls: u64) {
        self.urls.store(urls, Ordering::Relaxed);
        self.sites.store(sites as u64, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn site_done(&self, report: &SiteReport) {
        self.sites_done.fetch_add(1, Ordering::Relaxed);
        self.urls_done.fetch_add(report.observations, Ordering::Relaxed);
    }
}

/// What is locked here is exchanged as a whole, so that a thread that panicked left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
