//! One HTTP connection, driven by the task that awaits the response: a check spawns no task, and
//! dropping the connection closes it.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use ::http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use ::http::{HeaderMap, HeaderValue, Response, Uri, Version};
use bytes::Bytes;
use domain::check::http::Request;
use domain::check::{Failure, FailureKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use url::Position;

use super::header_limit::HeaderLimit;
use crate::limits::HEAD_BYTES;
use crate::stream::TimedStream;

/// The background work of a connection, driven while its response is awaited.
pub(crate) enum HttpConnection {
    /// HTTP/1.0 or 1.1. Boxed, because it is large and moved often.
    Http1(Option<Box<http1::Connection<TokioIo<TimedStream>, Full<Bytes>>>>),
    Http2(Box<Http2>),
}

/// An HTTP/2 connection, which consists of several tasks.
pub(crate) struct Http2 {
    connection: Option<http2::Connection<TokioIo<TimedStream>, Full<Bytes>, Tasks>>,
    given: Tasks,
    running: FuturesUnordered<Task>,
    /// Keeps the connection open; it would close without a sender.
    sender: Option<http2::SendRequest<Full<Bytes>>>,
}

/// The sending side of a connection.
pub(crate) enum Sender {
    /// HTTP/1.0 or 1.1.
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// An executor that collects the tasks that hyper would spawn.
#[derive(Clone, Default)]
pub(crate) struct Tasks(Arc<Mutex<Vec<Task>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(task));
    }
}

impl HttpConnection {
    /// Starts the protocol `version` on `wire`.
    pub(crate) async fn open(
        wire: TimedStream,
        version: Version,
        limit: HeaderLimit,
    ) -> hyper::Result<(Self, Sender)> {
        let io = TokioIo::new(wire);
        if version == Version::HTTP_2 {
            let given = Tasks::default();
            let (sender, connection) = http2::Builder::new(given.clone())
                .max_header_list_size(HEAD_BYTES as u32)
                .handshake(io)
                .await?;
            let http2 = Http2 {
                connection: Some(connection),
                given,
                running: FuturesUnordered::new(),
                sender: Some(sender.clone()),
            };
            return Ok((Self::Http2(Box::new(http2)), Sender::Http2(sender)));
        }
        let mut builder = http1::Builder::new();
        builder.max_buf_size(HEAD_BYTES);
        if limit == HeaderLimit::Large {
            builder.max_headers(limit.lines());
        }
        let (sender, connection) = builder.handshake(io).await?;
        Ok((Self::Http1(Some(Box::new(connection))), Sender::Http1(sender)))
    }

    /// Sends `request` and waits for the response head. Calls `each` whenever new data may have
    /// arrived.
    pub(crate) async fn send(
        &mut self,
        sender: &mut Sender,
        request: ::http::Request<Full<Bytes>>,
        each: impl FnMut(),
    ) -> hyper::Result<Response<Incoming>> {
        match sender {
            Sender::Http1(sender) => self.drive(sender.send_request(request), each).await,
            Sender::Http2(sender) => self.drive(sender.send_request(request), each).await,
        }
    }

    /// Waits until a reused connection can accept another request.
    pub(crate) async fn ready(&mut self, sender: &mut Sender) -> hyper::Result<()> {
        match sender {
            Sender::Http1(sender) => self.drive(sender.ready(), || {}).await,
            Sender::Http2(sender) => self.drive(sender.ready(), || {}).await,
        }
    }

    /// Returns whether the connection is open, as far as known.
    pub(crate) const fn is_open(&self) -> bool {
        match self {
            Self::Http1(connection) => connection.is_some(),
            Self::Http2(http2) => http2.connection.is_some(),
        }
    }

    /// Awaits `future` while driving the connection.
    pub(crate) async fn drive<F: Future>(
        &mut self,
        future: F,
        mut each: impl FnMut(),
    ) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            self.work(cx);
            each();
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Errors are reported through the response future, so only the end of the connection matters
    /// here.
    fn work(&mut self, cx: &mut Context<'_>) {
        match self {
            Self::Http1(connection) => {
                if connection.as_mut().is_some_and(|open| Pin::new(open).poll(cx).is_ready()) {
                    *connection = None;
                }
            }
            Self::Http2(http2) => http2.work(cx),
        }
    }
}

impl Http2 {
    fn work(&mut self, cx: &mut Context<'_>) {
        if self.connection.as_mut().is_some_and(|open| Pin::new(open).poll(cx).is_ready()) {
            self.connection = None;
            self.sender = None;
        }
        self.running.extend(self.given.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
        while let Poll::Ready(Some(())) = self.running.poll_next_unpin(cx) {}
    }
}

/// Creates the request for a connection of `version`.
pub(super) fn request(
    request: &Request,
    version: Version,
) -> Result<::http::Request<Full<Bytes>>, Failure> {
    let unsendable = |why: &dyn std::fmt::Display| {
        let detail = format!("failed to build the request to `{}`: {why}", request.url);
        Failure::new(FailureKind::ProtocolBroken, detail)
    };
    let url = &request.url;
    let authority = match &request.authority {
        Some(configured) => configured.clone(),
        None => HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort])
            .map_err(|error| unsendable(&error))?,
    };
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let mut headers = HeaderMap::with_capacity(request.headers.len() + 3);
    let uri: Uri = if version == Version::HTTP_2 {
        Uri::builder()
            .scheme(url.scheme())
            .authority(authority.as_bytes())
            .path_and_query(path)
            .build()
            .map_err(|error| unsendable(&error))?
    } else {
        headers.insert(HOST, authority);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        path.parse().map_err(|error: ::http::uri::InvalidUri| unsendable(&error))?
    };
    for (name, value) in &request.headers {
        if !is_connection_specific(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    let mut built = ::http::Request::new(Full::new(request.body.clone()));
    *built.method_mut() = request.method.clone();
    *built.uri_mut() = uri;
    *built.headers_mut() = headers;
    Ok(built)
}

/// Returns whether a header is specific to one connection, so that only the client may set it.
pub(crate) fn is_connection_specific(name: &HeaderName) -> bool {
    [CONNECTION, CONTENT_LENGTH, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE].contains(name)
        || matches!(name.as_str(), "keep-alive" | "proxy-connection")
}

/// Converts an error on an open connection to a failure.
pub(crate) fn broken(error: &hyper::Error, peer: Option<SocketAddr>) -> Failure {
    if error.is_parse_too_large() {
        return too_long(peer, HeaderLimit::Large);
    }
    let peer = named(peer);
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        let detail = format!("{peer} closed the connection before the response was complete");
        return Failure::new(FailureKind::ConnectionFailed, detail);
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return broken_io(io, &peer);
        }
        cause = error.source();
    }
    let detail = format!("{peer} sent an invalid HTTP response: {}", chain(error));
    Failure::new(FailureKind::ProtocolBroken, detail)
}

/// Returns the failure for a response head that exceeds the limit.
pub(super) fn too_long(peer: Option<SocketAddr>, limit: HeaderLimit) -> Failure {
    let (peer, kibibytes, lines) = (named(peer), HEAD_BYTES / 1024, limit.lines());
    let detail = format!("the headers from {peer} exceed {kibibytes} KiB or {lines} lines");
    Failure::new(FailureKind::ProtocolBroken, detail)
}

fn named(peer: Option<SocketAddr>) -> String {
    peer.map_or_else(|| "the target".to_owned(), |peer| peer.to_string())
}

fn broken_io(error: &std::io::Error, peer: &str) -> Failure {
    use std::io::ErrorKind as Io;
    let among = |kinds: &[Io]| kinds.contains(&error.kind());
    if among(&[Io::InvalidData, Io::InvalidInput]) {
        let detail = format!("{peer} sent an invalid HTTP response: {error}");
        return Failure::new(FailureKind::ProtocolBroken, detail);
    }
    let detail = if among(&[Io::ConnectionReset, Io::BrokenPipe, Io::ConnectionAborted]) {
        format!("{peer} reset the connection before the response was complete")
    } else if among(&[Io::UnexpectedEof]) {
        format!("{peer} closed the connection before the response was complete")
    } else {
        format!("the connection to {peer} broke: {error}")
    };
    Failure::new(FailureKind::ConnectionFailed, detail)
}

fn chain(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
