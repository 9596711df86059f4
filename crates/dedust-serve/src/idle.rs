/*!
A connection that ends when nothing comes or goes for too long.

A client that sends slowly, reads slowly or is gone without a word holds a connection no longer than that. Time runs while the
connection waits in either direction, and starts anew with each byte in either direction: an upload of minutes is no silence.
*/

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// A connection with a limit on silence.
pub(crate) struct IdleLimited {
    stream: TcpStream,
    limit: Duration,
    last_byte: Instant,
    /// Looks at `last_byte` when it ends, so that bytes cost no timer.
    alarm: Pin<Box<Sleep>>,
}

impl IdleLimited {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, last_byte: Instant::now(), alarm: Box::pin(tokio::time::sleep(limit)) }
    }

    /// Notes a result; an error if there is none and time is up.
    fn watch<T>(&mut self, result: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.last_byte = Instant::now();
            return result;
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let end = self.last_byte + self.limit;
            if Instant::now() >= end {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(end);
        }
    }
}

impl AsyncRead for IdleLimited {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.watch(result, context)
    }
}

impl AsyncWrite for IdleLimited {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(result, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(result, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
