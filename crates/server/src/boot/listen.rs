//! Accepts connections and speaks HTTP/1.1 and HTTP/2 on one port, in clear text or in TLS; which of
//! the two is told by the first bytes. Past the most connections that there may be, others wait until one
//! ends: those that say nothing end by themselves. What is answered belongs to the router.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use http::header::STRICT_TRANSPORT_SECURITY;
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt as _};

use super::opening::Opening;
use crate::auth::Peer;
use crate::domains::{ACME_TLS, Entrance};

/// Longest time until a connection says what it speaks, and until the headers of a request have come.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// For how long a browser that was answered in TLS asks in nothing else (RFC 6797): a day, because a
/// domain may move to somebody who has no certificate for it.
const STRICT: HeaderValue = HeaderValue::from_static("max-age=86400");
/// Longest time that calls under way have to end once the server stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// Pause after the system refused a connection, most often for want of file handles.
const REFUSED_PAUSE: Duration = Duration::from_millis(50);
/// Calls that one HTTP/2 connection may have under way.
const STREAMS_MAX: u32 = 256;
/// Time after which a silent HTTP/2 connection is asked whether it lives.
const SILENCE: Duration = Duration::from_mins(1);

/// What is served on a port.
#[derive(Clone)]
pub(super) struct Serving {
    /// What is answered.
    pub(super) router: Router,
    /// How requests come in.
    pub(super) entrance: Entrance,
    /// Holds the handshakes of TLS; `None` in the clear.
    pub(super) acceptor: Option<TlsAcceptor>,
    /// Longest time that a handshake may take.
    pub(super) handshake_within: Duration,
    /// Connections that there may be at a time, those in a handshake among them.
    pub(super) connections_max: usize,
}

/// Serves until `stop`, then lets the calls under way end.
pub(super) async fn serve(listener: TcpListener, serving: Serving, stop: CancellationToken) {
    let room = Arc::new(Semaphore::new(serving.connections_max));
    let server = builder();
    let connections = GracefulShutdown::new();
    loop {
        let accepted = async {
            // Nobody closes the room; a connection that finds none waits where the system keeps it.
            let place = Arc::clone(&room).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                prepare(&stream);
                let service = from(Peer(peer.ip()), &serving);
                let (server, watcher) = (server.clone(), connections.watcher());
                let tls = serving.acceptor.clone().map(|it| (it, serving.handshake_within));
                let talking = talk(stream, tls, server, service, watcher);
                tokio::spawn(async move {
                    if let Err(error) = talking.await {
                        tracing::debug!(%error, "a connection from {} broke: {error}", peer.ip());
                    }
                    drop(place);
                });
            }
            Err(error) => refused(&error).await,
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_WITHIN, connections.shutdown()).await.is_err() {
        tracing::warn!("requests in flight did not finish in time and were cancelled");
    }
}

/// Answers on one connection until it ends, or the server stops.
async fn talk<S>(
    stream: TcpStream,
    tls: Option<(TlsAcceptor, Duration)>,
    server: Builder<TokioExecutor>,
    service: S,
    watcher: Watcher,
) -> Result<(), Box<dyn Error + Send + Sync>>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let service = TowerToHyperService::new(service);
    let Some((acceptor, handshake_within)) = tls else {
        let io = TokioIo::new(Opening::within(stream, HEADERS_WITHIN));
        return watcher.watch(server.serve_connection(io, service).into_owned()).await;
    };
    let handshake = timeout(handshake_within, acceptor.accept(stream)).await;
    let stream = handshake.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    // Who looks for a challenge of ACME has seen it now and says nothing (RFC 8737 §3).
    if stream.get_ref().1.alpn_protocol() == Some(ACME_TLS) {
        return Ok(());
    }
    let io = TokioIo::new(Opening::within(stream, HEADERS_WITHIN));
    watcher.watch(server.serve_connection(io, service).into_owned()).await
}

/// The router, for calls of one peer.
fn from(
    peer: Peer,
    serving: &Serving,
) -> impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> + Clone + use<>
{
    let entrance = serving.entrance;
    let router = serving.router.clone().map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(entrance);
        request
    });
    router.map_response(move |mut response: Response| {
        if entrance == Entrance::Tls {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, STRICT);
        }
        response
    })
}

fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "responses of a connection may be delayed: {error}");
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
        tracing::error!(%error, "failed to accept a connection: {error}");
        tokio::time::sleep(REFUSED_PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::domains::Certificates;

    const ASKED: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";

    /// Nothing, to one at a time.
    fn in_the_clear() -> Serving {
        Serving {
            router: Router::new(),
            entrance: Entrance::Plain,
            acceptor: None,
            handshake_within: Duration::ZERO,
            connections_max: 1,
        }
    }

    #[tokio::test]
    async fn who_does_not_come_to_the_end_of_a_handshake_is_let_go_and_leaves_room() {
        // issue 7: a handshake counts, and is bounded in time
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let config = Arc::<Certificates>::default().tls();
        let acceptor = Some(TlsAcceptor::from(config));
        let serving = Serving { entrance: Entrance::Tls, acceptor, ..in_the_clear() };
        let serving = tokio::spawn(serve(listener, serving, stop.clone()));
        for _ in 0..3 {
            let mut silent = TcpStream::connect(address).await.unwrap();
            let mut nothing = Vec::new();
            // The end, or a reset where the system is quicker than the other end.
            let _ = silent.read_to_end(&mut nothing).await;
            assert!(nothing.is_empty(), "nothing was said to who says nothing");
        }
        stop.cancel();
        serving.await.unwrap();
    }

    async fn asks(stream: &mut TcpStream) {
        stream.write_all(ASKED).await.unwrap();
        let mut answer = Vec::new();
        // An empty body ends with the headers.
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        assert!(answer.starts_with(b"HTTP/1.1 404"));
    }

    #[tokio::test]
    async fn past_the_most_connections_the_next_one_waits_for_its_turn() {
        // issue 3: no cap on connections
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, in_the_clear(), stop.clone()));
        let mut first = TcpStream::connect(address).await.unwrap();
        asks(&mut first).await;
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(ASKED).await.unwrap();
        // While the second waits the first is answered as often as it asks.
        for _ in 0..3 {
            asks(&mut first).await;
        }
        let mut nothing = [0; 1];
        assert!(second.try_read(&mut nothing).is_err(), "there was no room, and it was answered");
        drop(first);
        let mut answer = [0; 12];
        second.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 404");
        drop(second);
        stop.cancel();
        serving.await.unwrap();
    }
}
