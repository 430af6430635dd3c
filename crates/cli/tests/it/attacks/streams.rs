//! Many requests on one HTTP/2 connection: endless bodies, and streams that stay open.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::{CHUNK_BYTES, ENDLESS_BYTES, FEW_FILES, GROWTH_KIB, attack, resident_kib};
use crate::process::{Home, get, rpc};

/// Requests per connection, as in the attack.
const STREAMS: usize = 200;
/// Number of connections.
const CONNECTIONS: usize = 4;
/// Number of connections whose responses are not read.
const UNREAD_CONNECTIONS: usize = 80;
/// Number of those that have shown a key: their responses are half as many again as the limit.
const KEYED_UNREAD_CONNECTIONS: usize = 50;
/// Number of their streams: the limit of requests without a key on one connection.
const UNREAD_STREAMS: u32 = 100;
/// Number of their streams if they have shown a key: nearly the limit of a connection.
const KEYED_STREAMS: u32 = 250;
/// Number of connections with a key: more than a server with few open files has.
const KEYED_CONNECTIONS: usize = 100;
/// Maximum number of watches without a key, of all connections and of one.
const WATCHES: usize = 1_024;
const WATCHES_OF_CONNECTION: usize = 100;

/// A body that exceeds every limit, that stalls after one byte, or that ends.
#[derive(Clone)]
pub(super) struct Endless {
    chunk: Bytes,
    left: usize,
    ends: bool,
}

impl Endless {
    fn bytes() -> Self {
        let chunk = Bytes::from(vec![b'x'; CHUNK_BYTES]);
        Self { chunk, left: ENDLESS_BYTES / CHUNK_BYTES, ends: false }
    }

    /// Returns a body of one byte that never ends.
    pub(super) fn slow() -> Self {
        Self { ends: false, ..Self::whole(b"x") }
    }

    /// Returns a body that ends.
    fn whole(bytes: &'static [u8]) -> Self {
        Self { chunk: Bytes::from_static(bytes), left: 1, ends: true }
    }
}

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 && self.ends {
            return Poll::Ready(None);
        }
        if self.left == 0 {
            // Never woken, because the test's client gives up by itself.
            return Poll::Pending;
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.chunk.clone()))))
    }
}

pub(super) async fn connect(address: SocketAddr) -> SendRequest<Endless> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

pub(super) fn request(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: Endless,
) -> Request<Endless> {
    let request = Request::post(format!("http://{address}{path}"));
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(body).unwrap()
}

/// Sends a request and returns its response.
async fn answered(
    mut sender: SendRequest<Endless>,
    request: Request<Endless>,
) -> Response<Incoming> {
    sender.ready().await.unwrap();
    sender.send_request(request).await.unwrap()
}

/// Sends endless bodies on many streams.
async fn send_endlessly(address: SocketAddr, path: &str, headers: &[(&str, &str)]) {
    let mut requests = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let sender = connect(address).await;
        for _ in 0..STREAMS {
            let mut sender = sender.clone();
            let request = request(address, path, headers, Endless::bytes());
            requests.spawn(async move {
                sender.ready().await.ok()?;
                sender.send_request(request).await.ok().map(|response| response.status())
            });
        }
    }
    while let Some(status) = requests.join_next().await {
        // Rejected, or reset in the middle of the body.
        assert!(
            status.unwrap().is_none_or(|it| !it.is_success()),
            "the server must not read the whole body"
        );
    }
}

// issue 16, point 2: one connection with 200 streams of forms used 500 MiB for ever, and one with a
// read key 1 GiB
#[test]
fn endless_bodies_on_many_streams_use_little_memory() {
    attack(|| {
        let (home, _) = Home::with_key();
        let key = home.new_key(&["--scope", "read"]);
        let key = ("x-service-key", key["key"].as_str().unwrap());
        let server = home.serve();
        assert_eq!(get(server.address, "/status/none").unwrap().status, 404);
        let (before, address) = (resident_kib(&server), server.address);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let form = ("content-type", "application/x-www-form-urlencoded");
            send_endlessly(address, "/status/none/unlock", &[form]).await;
            let json = ("content-type", "application/json");
            let list = "/rpc/monitor.v1.MonitorService/ListMonitors";
            send_endlessly(address, list, &[json, key]).await;
        });
        let grown = resident_kib(&server).saturating_sub(before);
        assert!(grown <= GROWTH_KIB, "grew by {grown} KiB");
        assert_eq!(get(address, "/readyz").unwrap().status, 200);
    });
}

// issue 16, point 1: streams without a key occupied slots without a time limit
#[test]
fn streams_without_a_key_are_closed() {
    attack(|| {
        let (home, _) = Home::with_key();
        let revoked = home.new_key(&["--scope", "read"]);
        assert_eq!(home.run(&["keys", "revoke", revoked["id"].as_str().unwrap()]).code, Some(0));
        let revoked = revoked["key"].as_str().unwrap();
        let server = home.serve();
        let address = server.address;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for (path, content_type, key) in [
                ("/grpc.health.v1.Health/Watch", "application/grpc", ""),
                ("/grpc.health.v1.Health/Watch", "application/grpc", revoked),
                ("/status/none/unlock", "application/x-www-form-urlencoded", ""),
            ] {
                let sender = connect(address).await;
                let mut streams = JoinSet::new();
                for _ in 0..STREAMS {
                    let headers = [("content-type", content_type), ("x-service-key", key)];
                    let request = request(address, path, &headers, Endless::slow());
                    streams.spawn(answered(sender.clone(), request));
                }
                let refused: Response<Incoming> = streams.join_next().await.unwrap().unwrap();
                let status = refused.headers().get("grpc-status");
                let is_refused = refused.status() == StatusCode::SERVICE_UNAVAILABLE
                    || status.is_some_and(|status| status == "14");
                assert!(is_refused, "{path}: {refused:?}");
                assert_eq!(get(address, "/readyz").unwrap().status, 200);
            }
        });
    });
}

/// Requests whose responses are not read.
#[derive(Clone, Copy)]
struct UnreadRequests<'a> {
    path: &'a str,
    /// Key of every request.
    key: Option<&'a str>,
    /// Key that each connection shows once before.
    shown_key: Option<&'a str>,
    connections: usize,
    streams: u32,
}

impl UnreadRequests<'_> {
    /// Sends all requests on many connections, whose window of 0 lets no body pass. Returns after the
    /// head of each response, or after the server closed its connection.
    async fn send(self, address: SocketAddr) -> Vec<TcpStream> {
        let mut connections = Vec::new();
        for _ in 0..self.connections {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2).
            let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
            push_frame(&mut sent, 4, 0, 0, b"\0\x04\0\0\0\0");
            push_frame(&mut sent, 4, 1, 0, b"");
            if let Some(key) = self.shown_key {
                push_frame(&mut sent, 1, 5, 1, &get_head("/v1/whoami", Some(key)));
                stream.write_all(&std::mem::take(&mut sent)).await.unwrap();
                read_heads(&mut stream, 1).await.unwrap();
            }
            let head = get_head(self.path, self.key);
            for number in 1..=self.streams {
                push_frame(&mut sent, 1, 5, 2 * number + 1, &head);
            }
            // The server may have closed the connection already.
            let _ = stream.write_all(&sent).await;
            connections.push(stream);
        }
        for stream in &mut connections {
            // An error means that the server closed the connection.
            let _ = read_heads(stream, self.streams).await;
        }
        connections
    }
}

/// Encodes the head of a GET request (RFC 7541 §6): `:method: GET` and `:scheme: http` of the static
/// table, then the other fields without an entry in the dynamic table.
fn get_head(path: &str, key: Option<&str>) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat();
    let key = key.map(|key| [&b"\0"[..], &text("x-service-key"), &text(key)].concat());
    [b"\x82\x86\x04", &text(path)[..], b"\x01\x01a", &key.unwrap_or_default()].concat()
}

async fn read_heads(stream: &mut TcpStream, wanted: u32) -> std::io::Result<()> {
    let mut heads = 0;
    while heads < wanted {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await?;
        let [_, high, low, kind, ..] = frame;
        stream.read_exact(&mut vec![0; usize::from(high) * 256 + usize::from(low)]).await?;
        heads += u32::from(kind == 1);
    }
    Ok(())
}

pub(super) fn push_frame(sent: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    sent.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    sent.extend_from_slice(&[kind, flags]);
    sent.extend_from_slice(&stream.to_be_bytes());
    sent.extend_from_slice(payload);
}

// issue 16: 8,000 unread responses used 150 MiB, and more with a wrong key or of `/readyz`
#[test]
fn unread_responses_use_little_memory() {
    attack(|| {
        let home = Home::with_database();
        let (_elsewhere, wrong) = Home::with_key();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        for (path, key) in [("/metrics", None), ("/readyz", None), ("/v1/whoami", Some(&*wrong))] {
            let server = home.serve();
            let address = server.address;
            assert_eq!(get(address, "/docs").unwrap().status, 200);
            let before = resident_kib(&server);
            runtime.block_on(async {
                let requests = UnreadRequests {
                    path,
                    key,
                    shown_key: None,
                    connections: UNREAD_CONNECTIONS,
                    streams: UNREAD_STREAMS,
                };
                let _connections = requests.send(address).await;
                assert_eq!(get(address, "/docs").unwrap().status, 200, "{path}");
            });
            let grown = resident_kib(&server).saturating_sub(before);
            assert!(grown <= GROWTH_KIB, "{path} grew by {grown} KiB");
            assert_eq!(get(address, "/readyz").unwrap().status, 200);
            assert!(server.stop().success());
        }
    });
}

// issue 16: 25,000 unread responses on connections with a read key used 370 MiB
#[test]
fn unread_responses_with_a_key_use_bounded_memory() {
    attack(|| {
        let (home, key) = Home::with_key();
        let server = home.serve();
        let address = server.address;
        assert_eq!(get(address, "/docs").unwrap().status, 200);
        let before = resident_kib(&server);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for path in ["/metrics", "/v1/whoami"] {
                let key = Some(&*key);
                let requests = UnreadRequests {
                    path,
                    key,
                    shown_key: key,
                    connections: KEYED_UNREAD_CONNECTIONS,
                    streams: KEYED_STREAMS,
                };
                let _connections = requests.send(address).await;
                assert_eq!(get(address, "/readyz").unwrap().status, 200, "{path}");
            }
        });
        let grown = resident_kib(&server).saturating_sub(before);
        assert!(grown <= 2 * GROWTH_KIB, "grew by {grown} KiB");
    });
}

// issue 16, point 1: 64 idle connections with one read key locked everybody out, `/readyz` too
#[test]
fn connections_with_a_key_lock_nobody_out() {
    attack(|| {
        let (home, write) = Home::with_key();
        let read = home.new_key(&["--scope", "read"]);
        let read = read["key"].as_str().unwrap();
        let server = home.serve_with_files(FEW_FILES);
        let address = server.address;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut kept = Vec::new();
            for number in 0..KEYED_CONNECTIONS {
                let mut sender = connect(address).await;
                let headers = [("x-service-key", read), ("content-type", "application/json")];
                let path = "/rpc/monitor.v1.MonitorService/ListMonitors";
                let request = request(address, path, &headers, Endless::whole(b"{}"));
                assert_eq!(sender.send_request(request).await.unwrap().status(), 200, "{number}");
                kept.push(sender);
                if number % 20 == 19 {
                    assert_eq!(get(address, "/readyz").unwrap().status, 200, "{number}");
                    let listed = rpc(address, &write, "ListMonitors", &serde_json::json!({}));
                    assert_eq!(listed.unwrap().status, 200, "{number}");
                }
            }
        });
        assert!(server.stop().success());
    });
}

/// Opens a watch of the server's health and reads its first message.
async fn watch(sender: &SendRequest<Endless>, address: SocketAddr) -> Response<Incoming> {
    let mut sender = sender.clone();
    sender.ready().await.unwrap();
    let path = "/grpc.health.v1.Health/Watch";
    let message = Endless::whole(b"\0\0\0\0\0");
    let headers = [("content-type", "application/grpc")];
    let request = request(address, path, &headers, message);
    let mut response = sender.send_request(request).await.unwrap();
    assert!(response.frame().await.unwrap().unwrap().is_data());
    response
}

// 90 connections with 100 watches each took all status pages offline
#[test]
fn newer_anonymous_watches_end_the_oldest() {
    attack(|| {
        let home = Home::with_database();
        let server = home.serve();
        let address = server.address;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut watches, mut senders) = (Vec::new(), Vec::new());
            for number in 0..=WATCHES {
                if number % WATCHES_OF_CONNECTION == 0 {
                    senders.push(connect(address).await);
                }
                watches.push(watch(senders.last().unwrap(), address).await);
            }
            let oldest = watches.swap_remove(0).collect().await.unwrap();
            assert_eq!(oldest.trailers().unwrap()["grpc-status"], "14");
            assert_eq!(get(address, "/status/none").unwrap().status, 404);
            assert_eq!(get(address, "/docs").unwrap().status, 200);
        });
    });
}
