/*!
Long work: on threads of its own, while this thread listens for Control-C and tells how far it has come.

The pool of threads lives as long as the call, so that processes may fork between calls.
*/

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use dedust_crawl::Watch;
use dedust_learn::{Progress, SiteReport};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use rayon::ThreadPoolBuilder;

use crate::errors::DedustError;
use crate::text::type_name;

/// How often signals are looked at and progress is told.
const INTERVAL: Duration = Duration::from_millis(100);
/// Rows between two looks at whether to go on.
const ROWS_AT_ONCE: u64 = 1024;

/// How far work has come, and whether it is to be ended.
#[derive(Default)]
pub(crate) struct Work {
    is_ended: AtomicBool,
    is_learning: AtomicBool,
    rows: AtomicU64,
    urls: AtomicU64,
    all_urls: AtomicU64,
}

impl Work {
    /// Whether whoever asked for it has changed their mind.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// Counts rows that are read.
    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading { work: self, rows: 0 }
    }

    fn tell(&self, progress: &Bound<'_, PyAny>) -> PyResult<()> {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        if self.is_learning.load(Ordering::Relaxed) {
            progress.call1(("learning", load(&self.urls), load(&self.all_urls)))?;
        } else {
            progress.call1(("reading", load(&self.rows), progress.py().None()))?;
        }
        Ok(())
    }
}

/// Rows read so far.
pub(crate) struct Reading<'w> {
    work: &'w Work,
    rows: u64,
}

impl Watch for Reading<'_> {
    fn row(&mut self) -> ControlFlow<()> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_AT_ONCE) {
            self.work.rows.store(self.rows, Ordering::Relaxed);
            if self.work.is_ended() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Progress for Work {
    fn start(&self, _: usize, urls: u64) {
        self.all_urls.store(urls, Ordering::Relaxed);
        self.is_learning.store(true, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_ended()
    }

    fn site_done(&self, report: &SiteReport) {
        self.urls.fetch_add(report.observations, Ordering::Relaxed);
    }
}

/// Runs `work` on so many threads. `progress` is a function that is called with the stage, what is done of it, and what there is
/// to do; or whether to show a bar.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Work) -> PyResult<T> + Send,
) -> PyResult<T> {
    let Some(progress) = progress else { return run_and_tell(py, threads, None, work) };
    let Ok(shows_bar) = progress.cast::<PyBool>() else {
        if !progress.is_callable() {
            let text =
                format!("progress is of type {}, expected a function, True or None", type_name(progress));
            return Err(PyTypeError::new_err(text));
        }
        return run_and_tell(py, threads, Some(progress), work);
    };
    if !shows_bar.is_true() {
        return run_and_tell(py, threads, None, work);
    }
    let bar = py.import("dedust.progress")?.getattr("Bar")?.call0()?;
    let outcome = run_and_tell(py, threads, Some(&bar), work);
    bar.call_method0("close").and(outcome)
}

fn run_and_tell<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Work) -> PyResult<T> + Send,
) -> PyResult<T> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| DedustError::new_err(format!("cannot start {threads} threads: {error}")))?;
    let state = Work::default();
    let progress: Option<Py<PyAny>> = progress.map(|progress| progress.clone().unbind());
    let listen = || {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| state.tell(progress.bind(py)))
        })
    };
    py.detach(|| {
        thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let (pool, state) = (&pool, &state);
            let worker = scope.spawn(move || {
                let outcome = pool.install(|| work(state));
                drop(done);
                outcome
            });
            let mut failure = None;
            while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(INTERVAL) {
                if failure.is_none()
                    && let Err(error) = listen()
                {
                    state.is_ended.store(true, Ordering::Relaxed);
                    failure = Some(error);
                }
            }
            let outcome = match worker.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            match failure {
                Some(error) => Err(error),
                None => listen().and(outcome),
            }
        })
    })
}
