/*!
A live crawl for many crawlers: URLs and what fetches showed in, verdicts out, and one thread that learns.

Answers wait for each other, and not for learning: a lesson is taken, learned without the crawl, and finished. Whatever was answered is with the system
before it is sent. The rules of now are written into the state, from where they are served like those of any other file.
*/

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::{Buf as _, Bytes};
use dedust::RuleSet;
use dedust::errors::with_causes;
use dedust_crawl::{CrawlRow, ReadCrawlError, ReadReport, RowError, read_all};
use dedust_io::Input;
use dedust_live::errors::{AdmitError, LiveError};
use dedust_live::{LiveCrawl, LiveOptions, Status, Verdict};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::error::ServeError;
use crate::event::Log;

/// URLs that come back, in one answer.
const RETURNED: usize = 1000;
/// Rows that are taken in before they are saved.
const ROWS_AT_ONCE: u64 = 1000;

/// A live crawl, shared.
#[derive(Clone)]
pub(crate) struct Live(Arc<Shared>);

struct Shared {
    crawl: Mutex<LiveCrawl>,
    /// Told when there may be something to learn.
    wake: Condvar,
    is_stopped: AtomicBool,
    /// Where rules are written.
    rules: PathBuf,
    log: Log,
}

/// The thread that learns.
pub(crate) struct LiveThread(JoinHandle<()>);

/// What became of observations.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Observed {
    /// Rows that were taken in.
    observed: u64,
    /// Rows that could not be used.
    refused: u64,
    /// What was wrong with the first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<String>,
}

/// Why observations were not taken in, or not all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ObserveError {
    #[error(transparent)]
    Read(#[from] ReadCrawlError),
    #[error(transparent)]
    Live(#[from] LiveError),
}

/// The file in a state that has its rules.
pub(crate) fn rules_in(state: &Path) -> PathBuf {
    state.join("rules.json")
}

impl Live {
    /// Opens the state, writes a file of rules if there is none, and starts the thread.
    pub(crate) fn open(
        state: &Path,
        options: LiveOptions,
        log: &Log,
    ) -> Result<(Self, LiveThread), ServeError> {
        let crawl = LiveCrawl::open(state, options)?;
        let rules = rules_in(state);
        if !rules.exists() {
            write(&rules, &RuleSet::default())
                .map_err(|source| ServeError::System { act: "write rules into the state", source })?;
        }
        let live = Self(Arc::new(Shared {
            crawl: Mutex::new(crawl),
            wake: Condvar::new(),
            is_stopped: AtomicBool::new(false),
            rules,
            log: log.clone(),
        }));
        let learner = live.clone();
        let thread = std::thread::Builder::new().name("live".into()).spawn(move || learner.learn_on());
        let thread = thread.map_err(|source| ServeError::System { act: "start a thread", source })?;
        Ok((live, LiveThread(thread)))
    }

    fn lock(&self) -> MutexGuard<'_, LiveCrawl> {
        self.0.crawl.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers some URLs: the verdict and the key of each, or why it is none.
    pub(crate) fn admit<'u>(
        &self,
        urls: impl Iterator<Item = &'u [u8]>,
        mut answer: impl FnMut(Result<(Verdict, &[u8]), String>),
    ) -> Result<(), LiveError> {
        let mut crawl = self.lock();
        for url in urls {
            match crawl.admit(url) {
                Ok(admission) => answer(Ok((admission.verdict, admission.key))),
                Err(AdmitError::State(error)) => return Err(error),
                Err(error) => answer(Err(error.to_string())),
            }
        }
        crawl.save()
    }

    /// Takes in observations of any format that crawls are read in.
    pub(crate) fn observe(&self, body: impl Read + Send + 'static) -> Result<Observed, ObserveError> {
        let reader = Input::from_read("the body", body).and_then(Input::observations);
        let (mut rows, mut failure) = (0, None);
        let (report, read) = read_all([reader], &mut (), |row: &CrawlRow| {
            let mut crawl = self.lock();
            rows += 1;
            let mut outcome = crawl.observe(row);
            if outcome.is_ok() && rows % ROWS_AT_ONCE == 0 {
                outcome = crawl.save().map_err(AdmitError::State);
            }
            match outcome {
                Ok(()) => Ok(()),
                Err(AdmitError::Url(error)) => Err(RowError::Url(error)),
                Err(AdmitError::State(error)) => {
                    failure = Some(error);
                    Err(RowError::Stop)
                }
                Err(_) => Err(RowError::Stop),
            }
        });
        self.lock().save()?;
        self.0.wake.notify_all();
        if let Some(error) = failure {
            return Err(error.into());
        }
        let ReadReport { rows, messages, .. } = report;
        match read {
            Err(ReadCrawlError::NoUrls { .. }) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Observed { observed: rows.good, refused: rows.bad, messages })
    }

    /// URLs that come back.
    pub(crate) fn returned(&self) -> Result<Vec<String>, LiveError> {
        let mut crawl = self.lock();
        let urls = crawl.returned(RETURNED)?;
        crawl.save()?;
        Ok(urls)
    }

    pub(crate) fn status(&self) -> Status {
        self.lock().status()
    }

    /// Has the thread end when it has learned what it learns.
    pub(crate) fn stop(&self) {
        let crawl = self.lock();
        self.0.is_stopped.store(true, Ordering::Relaxed);
        drop(crawl);
        self.0.wake.notify_all();
    }

    /// Learns whenever there is something to learn.
    fn learn_on(&self) {
        let mut crawl = self.lock();
        while !self.0.is_stopped.load(Ordering::Relaxed) {
            match crawl.lesson() {
                Ok(Some(lesson)) => {
                    let site = lesson.site().to_owned();
                    drop(crawl);
                    let learned = lesson.learn();
                    crawl = self.lock();
                    let finished = match learned {
                        Ok(learned) => crawl.finish(learned),
                        Err(error) => {
                            crawl.give_up(&site);
                            Err(error)
                        }
                    };
                    if let Err(error) = finished {
                        self.warn(&site, &error);
                    }
                }
                Ok(None) => {
                    let changed = crawl.take_changed_rules();
                    if changed.sites().len() > 0 {
                        drop(crawl);
                        self.write_rules(changed);
                        crawl = self.lock();
                        continue;
                    }
                    crawl = self.0.wake.wait(crawl).unwrap_or_else(PoisonError::into_inner);
                }
                Err(error) => {
                    self.warn("the state", &error);
                    crawl = self.0.wake.wait(crawl).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        let changed = crawl.take_changed_rules();
        drop(crawl);
        if changed.sites().len() > 0 {
            self.write_rules(changed);
        }
    }

    fn warn(&self, what: &str, error: &LiveError) {
        let message = format!("{what} cannot be learned from: {}", with_causes(error));
        self.0.log.warning("live_failed", message, "make room on the disk, then start the server again");
    }

    /// Writes rules of some sites in place of those that the file has.
    fn write_rules(&self, changed: RuleSet) {
        let path = &self.0.rules;
        let before = File::open(path).ok().and_then(|file| RuleSet::load(io::BufReader::new(file)).ok());
        let mut rules = changed.without_sites();
        let before = before.unwrap_or_default();
        rules.append(before.clone());
        rules.append(changed);
        rules.keep(&before);
        if let Err(error) = write(path, &rules) {
            let message = format!("cannot write {}: {error}", path.display());
            self.0.log.warning("live_rules_failed", message, "make room on the disk");
        }
    }
}

impl LiveThread {
    pub(crate) fn close(self) {
        // A panic was reported.
        let _ = self.0.join();
    }
}

/// Writes rules beside a file, and renames them.
fn write(path: &Path, rules: &RuleSet) -> io::Result<()> {
    let unfinished = path.with_extension("json.new");
    let mut file = io::BufWriter::new(File::create(&unfinished)?);
    rules.save(&mut file).map_err(io::Error::other)?;
    file.flush()?;
    std::fs::rename(unfinished, path)
}

/// A body that is read where waiting is allowed, as its chunks come in.
pub(crate) struct BodyReader {
    pub(crate) chunks: mpsc::Receiver<io::Result<Bytes>>,
    pub(crate) chunk: Bytes,
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.chunks.blocking_recv() {
                Some(chunk) => self.chunk = chunk?,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.chunk.len());
        self.chunk.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}
