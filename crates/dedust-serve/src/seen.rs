/*!
The seen-set, for many clients: keys in, whether they are new out, in the hands of one thread.

Keys of all clients that wait are put into the set as one batch, and are answered when the set has them on disk, or on its server. So no two
clients hear that a key is new, what was acknowledged survives the end of the process, and a wait for the disk is shared by all who wait.

A folder that cannot be written has failed for good. A server may come back: it is connected to again when somebody asks, and until then
requests fail.
*/

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use dedust::errors::with_causes;
use dedust_seen::server::ServerError;
use dedust_seen::{Durability, KeyHasher, SeenError, SeenKey, SeenLocation, SeenOptions, SeenSet, SeenStats};
use tokio::sync::{mpsc, oneshot};

use crate::error::ServeError;
use crate::event::Log;
use crate::metrics::Metrics;
use crate::options::ServeOptions;

/// Requests that wait for the thread; more wait in their connections.
const WAITING: usize = 1024;
/// Keys that are put into the set at once, unless one request has more.
const KEYS_AT_ONCE: usize = 1 << 16;

/// Asks the thread that has the set.
#[derive(Clone)]
pub(crate) struct Seen {
    /// A set that was made anew on a server has another secret.
    hasher: Arc<ArcSwap<KeyHasher>>,
    questions: mpsc::Sender<Question>,
}

/// What the thread is asked for.
enum Question {
    /// Whether keys of a client are new.
    Insert(Asked),
    /// Keys are made with other rules from now on.
    Rules(u128),
    /// Nobody will ask any more.
    Close,
}

/// Keys of a client.
struct Asked {
    keys: Vec<SeenKey>,
    /// The rules that they were made with: on a server, keys of each rules are apart.
    rules: u128,
    answer: oneshot::Sender<Vec<bool>>,
}

/// The thread that has the set.
pub(crate) struct SeenThread(JoinHandle<Result<(), SeenError>>);

/// The set has failed, and has to be opened again.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the seen-set cannot be used; the log says why")]
pub(crate) struct SeenFailed;

impl Seen {
    /// Opens the set of the options, if they name one.
    pub(crate) fn open(
        options: &ServeOptions,
        rules: u128,
        metrics: &Arc<Metrics>,
    ) -> Result<Option<(Self, SeenThread)>, ServeError> {
        let Some(location) = &options.seen else { return Ok(None) };
        let durability = if options.sync { Durability::Power } else { Durability::Process };
        let opening = SeenSet::options().durability(durability).patience(options.seen_patience);
        let log = &options.log;
        let now = opening.clone().rules(rules);
        let set = match location.open(&now.clone().first_patience(Duration::ZERO)) {
            Err(error) if error.may_pass() => {
                let message = format!("{}: it is waited for", with_causes(&error));
                log.warning("seen_awaited", message, "check the server of the set, and its address");
                location.open(&now)
            }
            opened => opened,
        }?;
        let stats = set.stats();
        log.note("seen_opened", format!("{location} has {} keys", stats.keys));
        if stats.rules_changed {
            warn_of_rules(location, stats.keys, log);
        }
        if stats.cut_bytes > 0 {
            let message =
                format!("{} bytes at the end of logs in {location} were no whole records", stats.cut_bytes);
            log.warning(
                "seen_cut",
                message,
                "nothing: pages that were acknowledged last may be new once more",
            );
        }
        metrics.seen_keys.set(stats.keys);
        // Whoever asks while the server is gone is not to wait.
        let opening = opening.first_patience(Duration::ZERO);
        let hasher = Arc::new(ArcSwap::from_pointee(set.hasher()));
        let (questions, asked) = mpsc::channel(WAITING);
        let mut answerer = Answerer {
            location: location.clone(),
            opening,
            rules,
            set: Some(set),
            told: SeenStats::default(),
            has_told: false,
            hasher: Arc::clone(&hasher),
            metrics: Arc::clone(metrics),
            log: log.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("seen".into())
            .spawn(move || answerer.answer_all(asked))
            .map_err(|source| ServeError::System { act: "start a thread", source })?;
        Ok(Some((Self { hasher, questions }, SeenThread(thread))))
    }

    /// Makes the keys of the set.
    pub(crate) fn hasher(&self) -> KeyHasher {
        **self.hasher.load()
    }

    /// Says of each key whether it is new. It is on disk then, or on the server. `rules` are those that the keys were made with.
    pub(crate) async fn insert(&self, keys: Vec<SeenKey>, rules: u128) -> Result<Vec<bool>, SeenFailed> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, answered) = oneshot::channel();
        let asked = Asked { keys, rules, answer };
        self.questions.send(Question::Insert(asked)).await.map_err(|_| SeenFailed)?;
        answered.await.map_err(|_| SeenFailed)
    }

    /// Ends the thread, when all that was asked is answered.
    pub(crate) fn close(&self) {
        let _ = self.questions.blocking_send(Question::Close);
    }

    /// Notes the rules that keys are made with from now on.
    pub(crate) fn note_rules(&self, fingerprint: u128) {
        // A set that has failed has said so.
        let _ = self.questions.blocking_send(Question::Rules(fingerprint));
    }
}

impl SeenThread {
    /// Waits until the thread has ended.
    pub(crate) fn close(self) -> Result<(), SeenError> {
        self.0.join().unwrap_or(Ok(()))
    }
}

fn warn_of_rules(location: &SeenLocation, keys: u64, log: &Log) {
    let message = match location {
        SeenLocation::Folder(_) if keys == 0 => return,
        SeenLocation::Folder(_) => {
            "the rules have changed since the set was filled: pages whose key is another one now are new once more".into()
        }
        SeenLocation::Server(_) => format!(
            "{location} was last used with other rules. Keys of each rules are apart: pages that were met with the others alone \
             are new once more"
        ),
    };
    log.warning("seen_rules_changed", message, "to avoid that, stop the server and use dedust dedup --rekey");
}

/// What the thread has.
struct Answerer {
    location: SeenLocation,
    opening: SeenOptions,
    /// The rules that the set holds keys of now.
    rules: u128,
    /// `None` while a server is gone.
    set: Option<SeenSet>,
    /// Figures of this set that the log has told.
    told: SeenStats,
    /// Whether the log says that the server is gone.
    has_told: bool,
    hasher: Arc<ArcSwap<KeyHasher>>,
    metrics: Arc<Metrics>,
    log: Log,
}

impl Answerer {
    /// Answers until it is closed.
    fn answer_all(&mut self, mut asked: mpsc::Receiver<Question>) -> Result<(), SeenError> {
        let (mut keys, mut is_new, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        let mut left: Option<Question> = None;
        while let Some(question) = left.take().or_else(|| asked.blocking_recv()) {
            match question {
                Question::Close => break,
                Question::Rules(rules) => {
                    let noted = self.note_rules(rules);
                    self.survive(noted)?;
                    continue;
                }
                Question::Insert(first) => {
                    let rules = first.rules;
                    let mut next = Some(first);
                    while let Some(Asked { keys: more, answer, .. }) = next {
                        waiting.push((more.len(), answer));
                        keys.extend(more);
                        if keys.len() >= KEYS_AT_ONCE {
                            break;
                        }
                        next = match asked.try_recv() {
                            Ok(Question::Insert(other)) if other.rules == rules => Some(other),
                            other => {
                                left = other.ok();
                                None
                            }
                        };
                    }
                    let mut inserted = self.insert(&keys, rules, &mut is_new);
                    if let Err(error) = &inserted
                        && self.is_on_server()
                    {
                        // A failure is reported by the call after it, and the server may be back.
                        if matches!(error, SeenError::Server { source: ServerError::MadeAnew, .. }) {
                            let remedy = "nothing: all pages are new once more";
                            self.log.warning("seen_made_anew", with_causes(error), remedy);
                        }
                        self.set = None;
                        inserted = self.insert(&keys, rules, &mut is_new);
                    }
                    keys.clear();
                    if !self.survive(inserted)? {
                        // Who waits is told that the set has failed.
                        waiting.clear();
                        continue;
                    }
                }
            }
            let mut answers = &*is_new;
            for (count, answer) in waiting.drain(..) {
                let (own, rest) = answers.split_at(count);
                answers = rest;
                // Whoever is gone has not heard of it; the keys count as seen all the same.
                let _ = answer.send(own.to_vec());
            }
            self.metrics.new_keys.inc_by(is_new.iter().filter(|is_new| **is_new).count() as u64);
        }
        self.set.take().map_or(Ok(()), SeenSet::close)
    }

    /// The set; connects to it again if it was lost.
    fn set(&mut self) -> Result<&mut SeenSet, SeenError> {
        if self.set.is_none() {
            let set = self.location.open(&self.opening.clone().rules(self.rules))?;
            self.hasher.store(Arc::new(set.hasher()));
            self.log
                .note("seen_opened", format!("{} is back, with {} keys", self.location, set.stats().keys));
            (self.told, self.has_told) = (SeenStats::default(), false);
            self.set = Some(set);
        }
        self.set.as_mut().ok_or(SeenError::Failed)
    }

    fn note_rules(&mut self, rules: u128) -> Result<(), SeenError> {
        let set = self.set()?;
        let is_changed = set.note_rules(rules)?;
        let keys = set.stats().keys;
        self.rules = rules;
        if is_changed {
            warn_of_rules(&self.location, keys, &self.log);
        }
        Ok(())
    }

    fn insert(&mut self, keys: &[SeenKey], rules: u128, is_new: &mut Vec<bool>) -> Result<(), SeenError> {
        let before = self.rules;
        let set = self.set()?;
        if rules != before {
            // A request keeps the rules that it started with, also if others are served since.
            set.note_rules(rules)?;
        }
        set.insert_batch(keys, is_new)?;
        let stats = set.stats();
        self.rules = rules;
        self.metrics.seen_keys.set(stats.keys);
        let told = std::mem::replace(&mut self.told, stats);
        if stats.removals > told.removals {
            let message = format!(
                "{} was removed while it was used, or lost by its server, and was made again with the same secret",
                self.location
            );
            self.log.warning(
                "seen_removed",
                message,
                "nothing: pages that were met before may be fetched twice",
            );
        }
        if stats.unconfirmed_keys > told.unconfirmed_keys {
            let lost = stats.unconfirmed_keys - told.unconfirmed_keys;
            let message = format!(
                "answers of {} for {lost} keys were lost with the connection: they were said to be new",
                self.location
            );
            self.log.warning("seen_unconfirmed", message, "nothing: some pages may be fetched twice");
        }
        Ok(())
    }

    fn is_on_server(&self) -> bool {
        matches!(self.location, SeenLocation::Server(_))
    }

    /// Whether something was done. A server that is gone is reported, and connected to again when somebody asks; a folder has failed for good.
    fn survive(&mut self, done: Result<(), SeenError>) -> Result<bool, SeenError> {
        let Err(error) = done else { return Ok(true) };
        self.set = None;
        let is_server = self.is_on_server();
        if !std::mem::replace(&mut self.has_told, true) {
            let remedy = match is_server {
                true => "check the server of the set: it is connected to again with the next request",
                false => "make room on the disk, then start the server again",
            };
            self.log.warning("seen_failed", with_causes(&error), remedy);
        }
        if is_server { Ok(false) } else { Err(error) }
    }
}
