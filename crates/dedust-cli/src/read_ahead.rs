/*!
Reads an input on a thread of its own, so that it is there when it is needed.

Hands out all that was read so far: a few bytes where someone types them, much where bytes come faster than they are
used. Says by [`io::ErrorKind::TimedOut`] that none came for a while, if asked to.
*/

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

const CHUNK_BYTES: usize = 256 << 10;
/// Chunks that wait to be used, at most.
const CHUNKS: usize = 16;

/// A [`Read`] that another thread feeds.
pub(crate) struct ReadAhead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
    /// What comes after the chunk.
    next: Option<io::Result<Vec<u8>>>,
    patience: Option<Duration>,
}

impl ReadAhead {
    /// Starts to read `source`; gives it back if no thread can be had.
    pub(crate) fn start(source: Box<dyn Read + Send>) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS);
        thread::Builder::new().name("read-ahead".into()).spawn(move || feed(source, &sender))?;
        Ok(Self { chunks, chunk: Vec::new(), taken: 0, next: None, patience: None })
    }

    /// From now on, a read that has waited so long for its first byte fails with [`io::ErrorKind::TimedOut`]. The next one goes on.
    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Waits for a chunk; `None` at the end.
    fn wait(&self) -> io::Result<Option<io::Result<Vec<u8>>>> {
        let Some(patience) = self.patience else { return Ok(self.chunks.recv().ok()) };
        match self.chunks.recv_timeout(patience) {
            Ok(next) => Ok(Some(next)),
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            // The thread ended, and with it the input.
            Err(RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}

/// Reads until the input ends or fails, or no one waits for it any more.
fn feed(mut source: Box<dyn Read + Send>, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        match source.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                if chunks.send(Ok(chunk)).is_err() {
                    return;
                }
            }
            Err(error) => {
                // Told if someone listens.
                let _ = chunks.send(Err(error));
                return;
            }
        }
    }
}

impl Read for ReadAhead {
    /// Waits for the first bytes only.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.taken == self.chunk.len() {
                let next = match self.next.take() {
                    Some(next) => next,
                    None if filled == 0 => match self.wait()? {
                        Some(next) => next,
                        None => break,
                    },
                    None => match self.chunks.try_recv() {
                        Ok(next) => next,
                        Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                    },
                };
                match next {
                    Ok(chunk) => (self.chunk, self.taken) = (chunk, 0),
                    Err(error) if filled == 0 => return Err(error),
                    Err(error) => {
                        self.next = Some(Err(error));
                        break;
                    }
                }
            }
            let count = (self.chunk.len() - self.taken).min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&self.chunk[self.taken..self.taken + count]);
            filled += count;
            self.taken += count;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_in_order() {
        let text: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
        let mut read = Vec::new();
        ReadAhead::start(Box::new(io::Cursor::new(text.clone()))).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == text);
    }

    #[test]
    fn what_was_read_before_a_failure_is_handed_out_first() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let mut source = ReadAhead::start(Box::new(b"abc".chain(Fails))).unwrap();
        let mut read = Vec::new();
        assert_eq!(source.read_to_end(&mut read).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read, b"abc");
    }
}
