//! Preface timeout of connections: closes a connection that does not show its protocol in time. The
//! protocol's own limits apply afterwards.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Bytes that determine the protocol: the preface of HTTP/2. No HTTP/1.1 request with a `Host` is
/// shorter.
const PREFACE_BYTES: usize = 24;

/// Connection that fails if its first bytes do not arrive in time.
#[derive(Debug)]
pub(super) struct PrefaceTimeout<Io> {
    io: Io,
    /// Number of bytes received, and the deadline of the rest; `None` once they arrived.
    waiting: Option<(usize, Pin<Box<Sleep>>)>,
}

impl<Io> PrefaceTimeout<Io> {
    /// Starts the timeout of the first bytes.
    pub(super) fn new(io: Io, time: Duration) -> Self {
        Self { io, waiting: Some((0, Box::pin(sleep(time)))) }
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for PrefaceTimeout<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.io).poll_read(task, into);
        let Some((received, end)) = &mut self.waiting else { return read };
        if read.is_pending() {
            return end.as_mut().poll(task).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        *received += into.filled().len() - before;
        if *received >= PREFACE_BYTES {
            self.waiting = None;
        }
        read
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for PrefaceTimeout<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(task, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(task)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn incomplete_preface_times_out() {
        for start in ["", "G", "PRI * HT"] {
            let (mut client, server) = duplex(64);
            client.write_all(start.as_bytes()).await.unwrap();
            let mut opening = PrefaceTimeout::new(server, Duration::ZERO);
            let end = opening.read_to_end(&mut Vec::new()).await;
            assert_eq!(end.unwrap_err().kind(), io::ErrorKind::TimedOut, "{start}");
        }
    }

    #[tokio::test]
    async fn silence_after_the_preface_is_allowed() {
        let (mut client, server) = duplex(64);
        let mut opening = PrefaceTimeout::new(server, Duration::from_mins(1));
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        opening.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
        assert!(opening.waiting.is_none());
    }
}
