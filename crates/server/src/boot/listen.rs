//! Accepts connections and speaks HTTP/1.1 and HTTP/2 in clear text on one port; which of the two
//! is told by the first bytes. What is answered belongs to the router.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt as _};

use super::opening::Opening;
use crate::auth::Peer;

/// Longest time until a connection says what it speaks, and until the headers of a request have come.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// Longest time that calls under way have to end once the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// Pause after the system refused a connection, most often for want of file handles.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// Calls that one HTTP/2 connection may have under way.
const STREAMS_MAX: u32 = 256;
/// Time after which a silent HTTP/2 connection is asked whether it lives.
const SILENCE: Duration = Duration::from_mins(1);

/// Serves until `stop`, then lets the calls under way end.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let server = builder();
    let connections = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                prepare(&stream);
                let io = TokioIo::new(Opening::within(stream, HEADERS_WITHIN));
                let service = TowerToHyperService::new(from(Peer(peer.ip()), &router));
                let connection = server.serve_connection(io, service).into_owned();
                let connection = connections.watch(connection);
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection from {} broke: {error}", peer.ip());
                    }
                });
            }
            Err(error) => refused(&error).await,
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_WITHIN, connections.shutdown()).await.is_err() {
        tracing::warn!("calls under way did not end in time and are given up");
    }
}

/// The router, for calls of one peer.
fn from(
    peer: Peer,
    router: &Router,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> + Clone + use<>
{
    router.clone().map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request
    })
}

fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "answers of a connection may be delayed: {error}");
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .max_concurrent_streams(STREAMS_MAX);
    builder
}

async fn refused(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "a connection could not be accepted: {error}");
        tokio::time::sleep(REFUSED_PAUSE).await;
    }
}
