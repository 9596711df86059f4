/*!
Two threads that write runs while keys are asked for: one makes them of full tables, one merges them.

They are two so that a merge, which may take long, holds up no table. Only when the disk is slower than the
keys come do tables queue up, and whoever fills the next one waits.
*/

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::error::SeenError;
use crate::file_names::Span;
use crate::folder::Folder;
use crate::merge;
use crate::run::{self, Run};
use crate::view::{Frozen, View};

/// Full tables that may wait while another is written.
const WAITING_TABLES: usize = 1;

/// What the threads and the owner of a set have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) folder: Folder,
    merges: AtomicU64,
    view: Mutex<Arc<View>>,
    view_changed: Condvar,
    failure: Mutex<Option<SeenError>>,
    stop: AtomicBool,
}

/// The threads. They end when this is dropped, after full tables are written; a merge is given up.
#[derive(Debug)]
pub(crate) struct Background {
    shared: Arc<Shared>,
    tables: Option<SyncSender<Arc<Frozen>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Shared {
    /// What there is to search now.
    pub(crate) fn view(&self) -> Arc<View> {
        Arc::clone(&lock(&self.view))
    }

    /// Changes what is searched from now on.
    pub(crate) fn change_view(&self, change: impl FnOnce(&mut View)) {
        let mut view = lock(&self.view);
        let mut changed = View::clone(&view);
        change(&mut changed);
        *view = Arc::new(changed);
        drop(view);
        self.view_changed.notify_all();
    }

    /// Merges so far.
    pub(crate) fn merges(&self) -> u64 {
        self.merges.load(Ordering::Relaxed)
    }

    /// What went wrong in a thread, once.
    pub(crate) fn take_failure(&self) -> Option<SeenError> {
        lock(&self.failure).take()
    }

    fn fail(&self, error: SeenError) {
        lock(&self.failure).get_or_insert(error);
    }

    fn write_run(&self, table: &Arc<Frozen>) -> Result<(), SeenError> {
        let mut keys: Vec<u128> = table.keys.iter().copied().collect();
        keys.sort_unstable();
        let span = Span { first: table.generation, last: table.generation };
        let run = Arc::new(run::write(&self.folder, span, &keys)?);
        self.change_view(|view| {
            view.frozen.retain(|other| other.generation != table.generation);
            view.runs.push(run);
        });
        Folder::remove(&self.folder.log(table.generation))
    }

    /// Merges runs as long as there are some to merge, and waits for more; ends when told to stop.
    fn merge_runs(&self) -> Result<(), SeenError> {
        let mut view = lock(&self.view);
        while !self.stop.load(Ordering::Relaxed) {
            let sizes: Vec<(Span, u64)> = view.runs.iter().map(|run| (run.span, run.len())).collect();
            let Some(range) = merge::choose(&sizes) else {
                view = self.view_changed.wait(view).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let runs = view.runs[range].to_vec();
            drop(view);
            if let Some(merged) = merge::merge(&self.folder, &runs, &self.stop)? {
                self.replace(&runs, merged)?;
            }
            view = lock(&self.view);
        }
        Ok(())
    }

    fn replace(&self, runs: &[Arc<Run>], merged: Run) -> Result<(), SeenError> {
        let (span, merged) = (merged.span, Arc::new(merged));
        self.change_view(|view| {
            view.runs.retain(|run| run.span.last < span.first || span.last < run.span.first);
            let place = view.runs.partition_point(|run| run.span < span);
            view.runs.insert(place, merged);
        });
        self.merges.fetch_add(1, Ordering::Relaxed);
        runs.iter().try_for_each(|run| Folder::remove(run.path()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a lock guards is replaced as a whole, so that it is in order whatever happened.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    /// Starts the threads.
    pub(crate) fn start(folder: Folder, runs: Vec<Arc<Run>>) -> Result<Self, SeenError> {
        let shared = Arc::new(Shared {
            folder,
            merges: AtomicU64::new(0),
            view: Mutex::new(Arc::new(View { frozen: Vec::new(), runs })),
            view_changed: Condvar::new(),
            failure: Mutex::new(None),
            stop: AtomicBool::new(false),
        });
        let (sender, receiver) = sync_channel(WAITING_TABLES);
        let mut background = Self { shared, tables: Some(sender), threads: Vec::new() };
        background.spawn("write runs", move |shared| write_runs(shared, &receiver))?;
        background.spawn("merge runs", |shared| {
            if let Err(error) = shared.merge_runs() {
                shared.fail(error);
            }
        })?;
        Ok(background)
    }

    fn spawn(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&Shared) + Send + 'static,
    ) -> Result<(), SeenError> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(name.into()).spawn(move || work(&shared));
        let thread = thread.map_err(|source| SeenError::Io {
            action: "start a thread for",
            path: self.shared.folder.path().to_owned(),
            source,
        })?;
        self.threads.push(thread);
        Ok(())
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Hands over a full table, which can be searched from now on, and which becomes a run.
    pub(crate) fn write(&self, table: Frozen) {
        let table = Arc::new(table);
        self.shared.change_view(|view| view.frozen.push(Arc::clone(&table)));
        if let Some(tables) = &self.tables {
            // The receiver is there until it fails, which is reported in another way.
            let _ = tables.send(table);
        }
    }
}

fn write_runs(shared: &Shared, tables: &Receiver<Arc<Frozen>>) {
    for table in tables {
        if let Err(error) = shared.write_run(&table) {
            shared.fail(error);
            return;
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.tables.take());
        // Under the lock, so that the thread cannot miss it between looking and waiting.
        let view = lock(&self.shared.view);
        self.shared.stop.store(true, Ordering::Relaxed);
        drop(view);
        self.shared.view_changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in a thread has been printed; there is no more to say.
            let _ = thread.join();
        }
    }
}
