/*!
Messages that wait for standard error, so that whoever has one goes on at once.

A pipe that nobody reads takes 64 KiB, and then blocks whoever writes to it. A service has to answer all the same: one thread writes,
and messages beyond [`MAX_WAITING_BYTES`] are dropped and counted. The count is written as soon as standard error takes bytes again.
*/

use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes that wait at most. As many again are being written.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// What waits, and the thread that writes it.
#[derive(Debug, Default)]
pub(super) struct MessageQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: String,
    /// Messages that had no room after those that wait.
    dropped: u64,
    is_writing: bool,
}

impl MessageQueue {
    /// Starts the thread, which lives as long as the process. `tell_dropped` puts a message about so many others into the queue.
    pub(super) fn start(self: Arc<Self>, tell_dropped: impl Fn(u64) + Send + 'static) -> io::Result<()> {
        let writing = move || self.write_all(tell_dropped);
        std::thread::Builder::new().name("messages".into()).spawn(writing).map(drop)
    }

    /// Puts a message at the end, or drops it. A notice of what was dropped is never dropped: its number would be lost.
    pub(super) fn push(&self, message: &str, is_notice: bool) {
        let mut state = self.lock();
        // All that is dropped came after what waits, so that the number has one place.
        let has_room = state.dropped == 0 && state.waiting.len() + message.len() <= MAX_WAITING_BYTES;
        if has_room || is_notice {
            state.waiting.push_str(message);
        } else {
            state.dropped += 1;
        }
        self.changed.notify_all();
    }

    /// Waits until all is written, or for so long.
    pub(super) fn drain(&self, patience: Duration) {
        drop(self.changed.wait_timeout_while(self.lock(), patience, |state| !state.is_drained()));
    }

    fn write_all(&self, tell_dropped: impl Fn(u64)) {
        let mut text = String::new();
        loop {
            let mut state = self.lock();
            state.is_writing = false;
            self.changed.notify_all();
            let state = self.changed.wait_while(state, |state| state.is_drained());
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut text, &mut state.waiting);
            let dropped = std::mem::take(&mut state.dropped);
            state.is_writing = true;
            drop(state);
            if dropped > 0 {
                tell_dropped(dropped);
            }
            // Where standard error is closed, nobody is left to tell.
            let _ = anstream::stderr().lock().write_all(text.as_bytes());
            text.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_drained(&self) -> bool {
        self.waiting.is_empty() && self.dropped == 0 && !self.is_writing
    }
}
