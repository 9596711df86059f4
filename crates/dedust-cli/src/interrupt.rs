/*!
Ctrl-C, for commands that have something to put in order before they end.

Such a command calls [`listen`]. From then on the first SIGINT or SIGTERM is only noted, and the command ends at its next
[`check`], with exit code 130, or where it waits for [`Stdin`]; the second one ends the process at once. All other commands end
at the first.
*/

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Somebody asked the command to end.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

static IS_ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Notes the first signal from now on, in place of ending.
pub(crate) fn listen() {
    let _ = IS_ASKED.get_or_init(|| {
        let is_asked = Arc::new(AtomicBool::new(false));
        #[cfg(unix)]
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // In this order: the first signal finds the flag not yet set. Without a handler a signal ends the process, as ever.
            let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_asked));
            let _ = signal_hook::flag::register(signal, Arc::clone(&is_asked));
        }
        is_asked
    });
}

/// Whether the command is to end.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.get().is_some_and(|is_asked| is_asked.load(Ordering::Relaxed))
}

/// An error if the command is to end.
pub(crate) fn check() -> Result<(), Interrupted> {
    if is_asked() { Err(Interrupted) } else { Ok(()) }
}

/// Standard input. Whoever waits for it is woken by a signal, with an error.
pub(crate) struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            check().map_err(io::Error::other)?;
            if is_readable()? {
                return read(buffer);
            }
        }
    }
}

/// Reads what is there. Not by way of `std`, which would hold back what nobody then waits for.
#[cfg(unix)]
fn read(buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(io::stdin(), buffer)?)
}

#[cfg(not(unix))]
fn read(buffer: &mut [u8]) -> io::Result<usize> {
    io::stdin().lock().read(buffer)
}

/// Waits until something can be read, or a signal comes.
#[cfg(unix)]
fn is_readable() -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // A signal that comes after the check and before the wait wakes nobody.
    const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
    let stdin = io::stdin();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&PATIENCE)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn is_readable() -> io::Result<bool> {
    Ok(true)
}
