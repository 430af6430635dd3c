//! The byte stream of one connection, plain or TLS, with the time of the first received byte and the alert
//! that ended TLS.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::AlertDescription;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// A connection to a target.
pub(crate) struct TimedStream {
    stream: Stream,
    received: Received,
}

/// The underlying stream.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// First byte and alert of a connection, readable while another owner uses it.
#[derive(Clone)]
pub(crate) struct Received {
    opened: Instant,
    marks: Arc<Marks>,
}

#[derive(Default)]
struct Marks {
    /// Nanoseconds from the start to the first byte, plus one; 0 means none received.
    first_byte: AtomicU64,
    /// Code of the alert that the server ended TLS with, plus one; 0 means none received.
    alert: AtomicU16,
}

impl TimedStream {
    /// Wraps a connection that was just opened.
    pub(crate) fn new(stream: Stream) -> Self {
        let received = Received { opened: Instant::now(), marks: Arc::default() };
        Self { stream, received }
    }

    /// Returns a handle to what was received.
    pub(crate) fn received(&self) -> Received {
        self.received.clone()
    }
}

impl Received {
    /// Returns the time of the first byte, if received.
    pub(crate) fn first_byte(&self) -> Option<Instant> {
        let after = self.marks.first_byte.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.opened + Duration::from_nanos(after))
    }

    /// Returns the alert that the server ended TLS with. HTTP libraries report it as text, if at all.
    pub(crate) fn alert(&self) -> Option<AlertDescription> {
        let code = self.marks.alert.load(Ordering::Relaxed).checked_sub(1)?;
        u8::try_from(code).ok().map(AlertDescription::from)
    }

    fn mark_first_byte(&self) {
        if self.marks.first_byte.load(Ordering::Relaxed) == 0 {
            let nanos = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX - 1);
            self.marks.first_byte.store(nanos + 1, Ordering::Relaxed);
        }
    }

    fn mark_alert(&self, error: &io::Error) {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::AlertReceived(alert)) = tls {
            self.marks.alert.store(u16::from(u8::from(*alert)) + 1, Ordering::Relaxed);
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
        let read = ready!(match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(cx, buffer),
            Stream::Tls(tls) => Pin::new(&mut **tls).poll_read(cx, buffer),
        });
        read.inspect_err(|error| self.received.mark_alert(error))?;
        if buffer.filled().len() > before {
            self.received.mark_first_byte();
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
