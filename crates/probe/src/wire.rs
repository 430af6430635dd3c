//! The bytes of one connection, plain or inside TLS, with the instant of the first one that came.

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
pub(crate) struct Wire {
    stream: Stream,
    first_byte: FirstByte,
}

/// What carries the bytes.
pub(crate) enum Stream {
    /// TCP.
    Plain(TcpStream),
    /// TLS on TCP.
    Tls(Box<TlsStream<TcpStream>>),
}

/// When the first byte came, readable while the connection is in other hands.
#[derive(Clone)]
pub(crate) struct FirstByte {
    opened: Instant,
    /// Nanoseconds after `opened`, plus one; 0 until then.
    after: Arc<AtomicU64>,
}

impl Wire {
    /// A connection that was just opened.
    pub(crate) fn new(stream: Stream) -> Self {
        let first_byte = FirstByte { opened: Instant::now(), after: Arc::default() };
        Self { stream, first_byte }
    }

    /// When the first byte comes.
    pub(crate) fn first_byte(&self) -> FirstByte {
        self.first_byte.clone()
    }
}

impl FirstByte {
    /// When it came, if it did.
    pub(crate) fn at(&self) -> Option<Instant> {
        let after = self.after.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.opened + Duration::from_nanos(after))
    }

    fn came(&self) {
        if self.after.load(Ordering::Relaxed) == 0 {
            let nanos = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX - 1);
            self.after.store(nanos + 1, Ordering::Relaxed);
        }
    }
}

impl AsyncRead for Wire {
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
            self.first_byte.came();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
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
            // Closing follows at once and says the same.
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_shutdown(cx),
        }
    }
}
