//! Tests of the listener.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use axum::Form;
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use tokio::net::TcpListener;
use web::context::Context;
use web::proxies::TrustedProxies;

use super::*;
use crate::domains::Certificates;
use crate::edge::{self, Budget, Edge};
use crate::observe::Traces;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";

/// Creates a plain-text listener that serves nothing, with one connection at a time.
fn in_the_clear() -> Serving {
    Serving {
        router: Router::new(),
        entry_point: EntryPoint::Plain,
        acceptor: None,
        handshake_within: Duration::ZERO,
        limits: ConnectionLimits::new(1, TrustedProxies::default()),
    }
}

#[tokio::test]
async fn unfinished_handshake_times_out_and_frees_its_permit() {
    // issue 7: a handshake counts, and is bounded in time
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let config = Arc::<Certificates>::default().tls();
    let acceptor = Some(TlsAcceptor::from(config));
    let serving = Serving { entry_point: EntryPoint::Tls, acceptor, ..in_the_clear() };
    let serving = tokio::spawn(serve(listener.into(), serving, stop.clone()));
    for _ in 0..3 {
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut nothing = Vec::new();
        // Either the end or a reset, if the operating system is faster than the peer.
        let _ = silent.read_to_end(&mut nothing).await;
        assert!(nothing.is_empty(), "a silent client gets no response");
    }
    stop.cancel();
    serving.await.unwrap();
}

// A silent client delayed the stop of the server by the timeout of the handshake.
#[tokio::test]
async fn stop_ends_an_unfinished_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _silent = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, peer) = listener.accept().await.unwrap();
    let serving = in_the_clear();
    let AdmitResult::Admitted(permit) = serving.limits.admit(peer.ip()) else {
        panic!("the listener has a permit")
    };
    let service = router_for(Peer(peer.ip()), permit.connection(), &serving);
    let stop = CancellationToken::new();
    stop.cancel();
    let handshake = Handshake {
        acceptor: TlsAcceptor::from(Arc::<Certificates>::default().tls()),
        within: Duration::from_hours(1),
        stop,
    };
    let watcher = GracefulShutdown::new().watcher();
    let ended =
        serve_connection(stream, Some(handshake), builder(HEADERS_WITHIN), service, watcher);
    timeout(Duration::from_mins(1), ended).await.unwrap().unwrap();
}

async fn asks(stream: &mut TcpStream) {
    stream.write_all(REQUEST).await.unwrap();
    let mut answer = Vec::new();
    // An empty body ends with the headers.
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 404"));
}

#[tokio::test]
async fn full_listener_closes_the_idle_connection() {
    // issue 3: no cap on connections; issue 16, point 1: idle connections make room
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(listener.into(), in_the_clear(), stop.clone()));
    let mut first = TcpStream::connect(address).await.unwrap();
    for _ in 0..3 {
        asks(&mut first).await;
    }
    let mut second = TcpStream::connect(address).await.unwrap();
    asks(&mut second).await;
    let mut nothing = Vec::new();
    // Either the end or a reset.
    let _ = first.read_to_end(&mut nothing).await;
    assert!(nothing.is_empty());
    asks(&mut second).await;
    drop(second);
    stop.cancel();
    serving.await.unwrap();
}

// issue 16, point 1: a deadline for the head of every request
#[tokio::test]
async fn unfinished_head_ends_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut slow = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    // The whole preface has arrived, so only the deadline of heads is left.
    slow.write_all(b"GET /some/long/path HTTP/1.1\r\nhost: a\r\n").await.unwrap();
    let (stream, peer) = listener.accept().await.unwrap();
    let serving = in_the_clear();
    let AdmitResult::Admitted(permit) = serving.limits.admit(peer.ip()) else {
        panic!("the listener has a permit")
    };
    let service = router_for(Peer(peer.ip()), permit.connection(), &serving);
    let watcher = GracefulShutdown::new().watcher();
    let server = builder(Duration::from_millis(1));
    let ended = serve_connection(stream, None, server, service, watcher).await;
    assert!(ended.is_err(), "the head is late");
    let mut answer = Vec::new();
    // Either the end or a reset.
    let _ = slow.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP/1.1 2"), "{answer:?}");
}

// issue 16, point 1: a deadline for the body of every request
#[tokio::test]
async fn stalled_form_times_out_and_its_connection_closes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (ctx, _clock) = Context::manual(rules::Timestamp::from_millis(0));
    let (budget, body_within) = (Budget::new(0), Duration::ZERO);
    let edge =
        Edge { ctx, budget, body_within, sessions: Arc::default(), traces: Traces::default() };
    let read = async |Form(fields): Form<Vec<(String, String)>>| format!("{fields:?}");
    let router =
        Router::new().route("/form", post(read)).layer(from_fn_with_state(edge, edge::edge));
    let stop = CancellationToken::new();
    let serving = Serving { router, ..in_the_clear() };
    let serving = tokio::spawn(serve(listener.into(), serving, stop.clone()));
    let mut stalled = TcpStream::connect(address).await.unwrap();
    let head = "POST /form HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\
                content-type: application/x-www-form-urlencoded\r\n\r\nx=";
    stalled.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stalled.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("connection: close\r\n"), "{answer}");
    stop.cancel();
    serving.await.unwrap();
}
