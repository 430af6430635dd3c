//! Write timeout of connections: closes a connection whose client reads nothing for a while, so
//! that unread responses do not stay in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Connection that fails if a write makes no progress for too long.
#[derive(Debug)]
pub(super) struct WriteTimeout<Io> {
    io: Io,
    within: Duration,
    /// Deadline of the current write; `None` while nothing waits.
    until: Option<Pin<Box<Sleep>>>,
}

impl<Io> WriteTimeout<Io> {
    /// Limits the time of each write to `within`.
    pub(super) const fn new(io: Io, within: Duration) -> Self {
        Self { io, within, until: None }
    }

    /// Applies the deadline to the result of a write.
    fn apply_deadline<T>(
        &mut self,
        task: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.until = None;
            return sent;
        }
        let within = self.within;
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(within)));
        ready!(until.as_mut().poll(task));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for WriteTimeout<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(task, into)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<Io> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.io).poll_write(task, bytes);
        self.apply_deadline(task, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.io).poll_write_vectored(task, parts);
        self.apply_deadline(task, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sent = Pin::new(&mut self.io).poll_flush(task);
        self.apply_deadline(task, sent)
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
    async fn stalled_reader_times_out_but_slow_one_continues() {
        let (mut reader, io) = duplex(4);
        let mut writer = WriteTimeout::new(io, Duration::from_hours(1));
        let writing = tokio::spawn(async move { writer.write_all(&[7; 40]).await });
        let mut all = [0; 40];
        reader.read_exact(&mut all).await.unwrap();
        writing.await.unwrap().unwrap();

        let (_reader, io) = duplex(4);
        let mut writer = WriteTimeout::new(io, Duration::from_millis(1));
        let error = writer.write_all(&[7; 40]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
