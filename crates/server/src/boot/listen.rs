//! Accepts connections and serves HTTP/1.1 and HTTP/2 on one port, in plain text or TLS. The first
//! bytes decide between the two versions. At the connection limit, `connection` chooses one to
//! close. The router handles the requests.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::header::STRICT_TRANSPORT_SECURITY;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use rules::limits::RESPONSE_READ_WITHIN;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt as _};
use web::peer::{EntryPoint, Peer};

use super::preface_timeout::PrefaceTimeout;
use super::source::ConnectionSource;
use super::stalled::{StreamExecutor, WatchedBody};
use super::write_timeout::WriteTimeout;
use crate::connection::{AdmitResult, Connection, ConnectionLimits, ConnectionPermit};
use crate::domains::ACME_TLS;

/// Timeout for the first bytes of a connection, and for the headers of a request.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// Value of `Strict-Transport-Security` (RFC 6797). One day, because a domain may move to an owner
/// without a certificate for it.
const STRICT: HeaderValue = HeaderValue::from_static("max-age=86400");
/// Time that connections have to end when the server stops.
pub(super) const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// Pause after a failed accept, usually for lack of file descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of concurrent calls on one HTTP/2 connection.
const STREAMS_MAX: u32 = 256;
/// Flow-control window of an HTTP/2 stream and of a connection. Bytes within it are buffered in
/// memory.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 512 * 1024;
/// Bytes of an HTTP/2 response that are queued for its connection: a few parts of it.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Silence after which an HTTP/2 connection is pinged.
const SILENCE: Duration = Duration::from_mins(1);

type WatchedResponse = http::Response<WatchedBody>;

/// Settings of a listener.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) router: Router,
    pub(super) entry_point: EntryPoint,
    /// Acceptor of TLS handshakes; `None` for plain text.
    pub(super) acceptor: Option<TlsAcceptor>,
    /// Timeout of a handshake.
    pub(super) handshake_within: Duration,
    /// Connection limits, which count connections during the handshake too.
    pub(super) limits: Arc<ConnectionLimits>,
}

/// TLS handshake of a connection.
struct Handshake {
    acceptor: TlsAcceptor,
    within: Duration,
    /// Ends the handshake, because no request can be in progress.
    stop: CancellationToken,
}

/// Serves until `stop` is cancelled, then waits for calls in progress.
pub(super) async fn serve(mut source: ConnectionSource, serving: Serving, stop: CancellationToken) {
    let server = builder(HEADERS_WITHIN);
    let connections = GracefulShutdown::new();
    let abort = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&mut source, &serving.limits) => accepted,
        };
        match accepted {
            Ok((stream, peer, permit)) => {
                prepare(&stream);
                let connection = permit.connection().clone();
                let service = router_for(Peer(peer.ip()), &connection, &serving);
                let (server, watcher) = (server.clone(), connections.watcher());
                let handshake = serving.acceptor.clone().map(|acceptor| Handshake {
                    acceptor,
                    within: serving.handshake_within,
                    stop: stop.clone(),
                });
                let talking = serve_connection(stream, handshake, server, service, watcher);
                let abort = abort.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        ended = talking => if let Err(error) = ended {
                            tracing::debug!(%error, "a connection from {} broke: {error}", peer.ip());
                        },
                        () = connection.closed() => {}
                        () = abort.cancelled() => {}
                    }
                    drop(permit);
                });
            }
            Err(error) => handle_accept_error(&error).await,
        }
    }
    drop(source);
    if timeout(DRAIN_WITHIN, connections.shutdown()).await.is_err() {
        tracing::warn!("connections did not end within {DRAIN_WITHIN:?} and are closed");
        abort.cancel();
    }
}

/// Accepts the next connection within the limits. Closes rejected ones.
pub(super) async fn accept(
    source: &mut ConnectionSource,
    limits: &Arc<ConnectionLimits>,
) -> io::Result<(TcpStream, SocketAddr, ConnectionPermit)> {
    loop {
        let (stream, peer) = source.accept().await?;
        loop {
            match limits.admit(peer.ip()) {
                AdmitResult::Admitted(permit) => return Ok((stream, peer, permit)),
                AdmitResult::Refused => break,
                AdmitResult::Full => limits.wait_until_freed().await,
            }
        }
    }
}

/// Serves one connection until it ends or the server stops.
async fn serve_connection<S>(
    stream: TcpStream,
    handshake: Option<Handshake>,
    server: Builder<StreamExecutor>,
    service: S,
    watcher: Watcher,
) -> Result<(), Box<dyn Error + Send + Sync>>
where
    S: Service<Request<Incoming>, Response = WatchedResponse, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let service = TowerToHyperService::new(service);
    let Some(Handshake { acceptor, within, stop }) = handshake else {
        let io = TokioIo::new(PrefaceTimeout::new(with_write_timeout(stream), HEADERS_WITHIN));
        return watcher.watch(server.serve_connection(io, service).into_owned()).await;
    };
    let stream = tokio::select! {
        stream = timeout(within, acceptor.accept(with_write_timeout(stream))) => stream,
        () = stop.cancelled() => return Ok(()),
    };
    let stream = stream.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    // An ACME validator has read the challenge certificate by now and sends nothing (RFC 8737 §3).
    if stream.get_ref().1.alpn_protocol() == Some(ACME_TLS) {
        return Ok(());
    }
    let io = TokioIo::new(PrefaceTimeout::new(stream, HEADERS_WITHIN));
    watcher.watch(server.serve_connection(io, service).into_owned()).await
}

fn with_write_timeout(stream: TcpStream) -> WriteTimeout<TcpStream> {
    WriteTimeout::new(stream, RESPONSE_READ_WITHIN)
}

/// Returns the router for requests of one peer.
fn router_for(
    peer: Peer,
    connection: &Connection,
    serving: &Serving,
) -> impl Service<Request<Incoming>, Response = WatchedResponse, Error = Infallible, Future: Send>
+ Clone
+ use<> {
    let (entry_point, connection) = (serving.entry_point, connection.clone());
    let router = serving.router.clone().map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(entry_point);
        request.extensions_mut().insert(connection.clone());
        request
    });
    router.map_response(move |mut response: Response| {
        if entry_point == EntryPoint::Tls {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, STRICT);
        }
        response.map(WatchedBody::new)
    })
}

fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "responses of a connection may be delayed: {error}");
    }
}

/// Creates the builder of connections. Each head of HTTP/1 must arrive within this time.
fn builder(headers_within: Duration) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(StreamExecutor::within(RESPONSE_READ_WITHIN));
    builder.http1().timer(TokioTimer::new()).header_read_timeout(headers_within);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_concurrent_streams(STREAMS_MAX);
    builder
}

pub(super) async fn handle_accept_error(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "failed to accept a connection: {error}");
        tokio::time::sleep(REFUSED_PAUSE).await;
    }
}

#[cfg(test)]
mod tests;
