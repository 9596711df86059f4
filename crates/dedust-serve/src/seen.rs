/*!
The seen-set, for many clients: keys in, whether they are new out, in the hands of one thread.

Keys of all clients that wait are put into the set as one batch, and are answered when the set has them on disk. So no two clients hear
that a key is new, what was acknowledged survives the end of the process, and a wait for the disk is shared by all who wait.
*/

use std::sync::Arc;
use std::thread::JoinHandle;

use dedust_seen::{Durability, KeyHasher, SeenError, SeenKey, SeenSet};
use tokio::sync::{mpsc, oneshot};

use crate::error::{ServeError, in_one_line};
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
    hasher: KeyHasher,
    questions: mpsc::Sender<Question>,
}

/// Keys of a client.
enum Question {
    Insert {
        keys: Vec<SeenKey>,
        answer: oneshot::Sender<Vec<bool>>,
    },
    /// Keys are made with other rules from now on.
    Rules(u128),
    /// Nobody will ask any more.
    Close,
}

/// The thread that has the set.
pub(crate) struct SeenThread(JoinHandle<Result<(), SeenError>>);

/// The set has failed, and has to be opened again.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the seen-set cannot be written; the log says why")]
pub(crate) struct SeenFailed;

impl Seen {
    /// Opens the set of the options, if they name one.
    pub(crate) fn open(
        options: &ServeOptions,
        rules: u128,
        metrics: &Arc<Metrics>,
    ) -> Result<Option<(Self, SeenThread)>, ServeError> {
        let Some(folder) = &options.seen else { return Ok(None) };
        let durability = if options.sync { Durability::Power } else { Durability::Process };
        let set = SeenSet::options().durability(durability).rules(rules).open(folder)?;
        let stats = set.stats();
        let (log, name) = (&options.log, folder.display());
        log.note("seen_opened", format!("{name} has {} keys", stats.keys));
        if stats.rules_changed && stats.keys > 0 {
            warn_of_rules(log);
        }
        if !set.hasher().is_keyed() {
            let message =
                format!("{name} is a set of format 1: strangers can make URLs that are taken for others");
            log.warning("seen_unkeyed", message, "start with a new folder");
        }
        if stats.cut_bytes > 0 {
            let message =
                format!("{} bytes at the end of logs in {name} were no whole records", stats.cut_bytes);
            log.warning(
                "seen_cut",
                message,
                "nothing: pages that were acknowledged last may be new once more",
            );
        }
        metrics.seen_keys.set(stats.keys);
        let hasher = set.hasher();
        let (questions, asked) = mpsc::channel(WAITING);
        let (metrics, log) = (Arc::clone(metrics), log.clone());
        let thread = std::thread::Builder::new()
            .name("seen".into())
            .spawn(move || answer_all(set, asked, &metrics, &log))
            .map_err(|source| ServeError::System { act: "start a thread", source })?;
        Ok(Some((Self { hasher, questions }, SeenThread(thread))))
    }

    /// Makes the keys of the set.
    pub(crate) fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// Says of each key whether it is new. It is on disk then.
    pub(crate) async fn insert(&self, keys: Vec<SeenKey>) -> Result<Vec<bool>, SeenFailed> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (answer, answered) = oneshot::channel();
        self.questions.send(Question::Insert { keys, answer }).await.map_err(|_| SeenFailed)?;
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

fn warn_of_rules(log: &Log) {
    log.warning(
        "seen_rules_changed",
        "the rules have changed since the set was filled: pages whose key is another one now are new once more".into(),
        "to avoid that, stop the server and use dedust dedup --rekey",
    );
}

/// Answers until it is closed.
fn answer_all(
    mut set: SeenSet,
    mut asked: mpsc::Receiver<Question>,
    metrics: &Metrics,
    log: &Log,
) -> Result<(), SeenError> {
    let (mut keys, mut is_new, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_open = true;
    while is_open && let Some(question) = asked.blocking_recv() {
        let mut next = Some(question);
        while let Some(question) = next {
            match question {
                Question::Insert { keys: more, answer } => {
                    waiting.push((more.len(), answer));
                    keys.extend(more);
                }
                Question::Rules(fingerprint) => {
                    if set.note_rules(fingerprint)? && set.stats().keys > 0 {
                        warn_of_rules(log);
                    }
                }
                Question::Close => is_open = false,
            }
            next = if keys.len() < KEYS_AT_ONCE { asked.try_recv().ok() } else { None };
        }
        if let Err(error) = set.insert_batch(&keys, &mut is_new) {
            let remedy = "make room on the disk, then start the server again";
            log.warning("seen_failed", in_one_line(&error), remedy);
            return Err(error);
        }
        let mut answers = &*is_new;
        for (count, answer) in waiting.drain(..) {
            let (own, rest) = answers.split_at(count);
            answers = rest;
            // Whoever is gone has not heard of it; the keys count as seen all the same.
            let _ = answer.send(own.to_vec());
        }
        metrics.new_keys.inc_by(is_new.iter().filter(|is_new| **is_new).count() as u64);
        metrics.seen_keys.set(set.stats().keys);
        keys.clear();
    }
    set.close()
}
