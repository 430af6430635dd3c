//! The byte stream of one connection, plain or TLS, with the time of the first received byte.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// A connection to a target.
pub(crate) struct TimedStream {
    stream: Stream,
    first_byte: FirstByte,
}

/// The underlying stream.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Time of the first received byte, readable while another owner uses the connection.
#[derive(Clone)]
pub(crate) struct FirstByte {
    opened: Instant,
    /// Nanoseconds after `opened`, plus one; 0 means none received.
    after: Arc<AtomicU64>,
}

impl TimedStream {
    /// Wraps a connection that was just opened.
    pub(crate) fn new(stream: Stream) -> Self {
        let first_byte = FirstByte { opened: Instant::now(), after: Arc::default() };
        Self { stream, first_byte }
    }

    /// Returns a handle to the time of the first byte.
    pub(crate) fn first_byte(&self) -> FirstByte {
        self.first_byte.clone()
    }
}

impl FirstByte {
    /// Returns the time of the first byte, if received.
    pub(crate) fn at(&self) -> Option<Instant> {
        let after = self.after.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.opened + Duration::from_nanos(after))
    }

    fn mark_received(&self) {
        if self.after.load(Ordering::Relaxed) == 0 {
            let nanos = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX - 1);
            self.after.store(nanos + 1, Ordering::Relaxed);
        }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_read(cx, buffer),
        })?;
        if buffer.filled().len() > before {
            self.first_byte.mark_received();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(cx, bytes),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write_vectored(cx, slices),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(tcp) => tcp.is_write_vectored(),
            Stream::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            // The socket is closed right afterwards, which has the same effect.
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_shutdown(cx),
        }
    }
}
