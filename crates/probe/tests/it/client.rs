//! The client for the server's own requests: sending, blocked addresses, and misbehaving receivers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aloft_probe::{Client, ClientResponse, Egress, Nameservers, Request, Settings};
use bytes::Bytes;
use domain::check::{Failure, FailureKind};
use http::{HeaderName, HeaderValue, Method};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use testkit::target::{
    Authority, DnsTarget, HttpTarget, Identity, Protocol, ScriptedResponse, Validity,
};
use tokio::net::TcpListener;

use crate::checking::portless;

/// Longer than anything here takes that ends by itself.
const PATIENCE: Duration = Duration::from_mins(1);

fn settings() -> Settings {
    Settings {
        egress: Egress::new(true, []),
        nameservers: Nameservers::Given(Vec::new()),
        ..Settings::default()
    }
}

fn post(url: &str, body: &str) -> Request {
    let header = (HeaderName::from_static("x-team"), HeaderValue::from_static("core"));
    Request {
        method: Method::POST,
        url: url.parse().unwrap(),
        headers: vec![header],
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

async fn send(url: &str) -> Result<ClientResponse, Failure> {
    Client::new(settings()).send(&post(url, "hello"), PATIENCE).await
}

async fn answer_of(response: ScriptedResponse) -> Result<ClientResponse, Failure> {
    let target = HttpTarget::start().await;
    target.on("/hook", response);
    send(&target.url("/hook")).await
}

#[tokio::test]
async fn message_is_sent_with_its_headers() {
    let target = HttpTarget::start().await;
    target.on("/hook?a=b", ScriptedResponse::status(202).header("retry-after", "7").body("queued"));
    let mut request = post(&target.url("/hook?a=b"), "hello");
    for (name, value) in [("content-length", "1"), ("host", "evil.test"), ("te", "trailers")] {
        request.headers.push((name.parse().unwrap(), HeaderValue::from_static(value)));
    }
    let latin = HeaderValue::from_bytes(b"caf\xe9").unwrap();
    request.headers.push((HeaderName::from_static("x-place"), latin));
    let answer = Client::new(settings()).send(&request, PATIENCE).await.unwrap();
    assert_eq!((answer.status.as_u16(), &*answer.body), (202, &b"queued"[..]));
    assert_eq!(answer.headers["retry-after"], "7");
    assert!(!answer.truncated);
    let received = target.received().remove(0);
    assert_eq!((&*received.method, &*received.target), ("POST", "/hook?a=b"));
    assert_eq!(received.body, "hello");
    let headers: Vec<String> =
        received.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    insta::assert_snapshot!(
        portless(&headers.join("\n"), target.address().port()).replace(env!("CARGO_PKG_VERSION"), "VERSION"),
        @"
    host: 127.0.0.1:PORT
    x-team: core
    x-place: caf�
    user-agent: Aloft/VERSION
    content-length: 5
    "
    );
}

#[tokio::test]
async fn redirect_is_returned_and_not_followed() {
    // issue 6: "redirects to a private address"
    let elsewhere = HttpTarget::start().await;
    let answer = answer_of(ScriptedResponse::redirect(307, elsewhere.url("/"))).await.unwrap();
    assert_eq!(answer.status.as_u16(), 307);
    assert_eq!(elsewhere.hits(), 0);
}

#[tokio::test]
async fn long_or_endless_body_is_cut() {
    // issue 6: "answers with a gigabyte, never ends"
    let stuck = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf";
    for (response, kept) in [
        (ScriptedResponse::gigabyte(), 16 * 1024),
        (ScriptedResponse::endless(), 16 * 1024),
        (ScriptedResponse::ok(vec![b'x'; 20_000]).chunked(), 16 * 1024),
        (ScriptedResponse::stuck_after(stuck), 4),
        (ScriptedResponse::reset_after(stuck), 4),
    ] {
        let answer = answer_of(response.clone()).await.unwrap();
        assert_eq!(answer.status.as_u16(), 200, "{response:?}");
        assert!(answer.truncated && answer.body.len() <= kept, "{response:?}: {answer:?}");
    }
    let whole = answer_of(ScriptedResponse::ok(vec![b'x'; 16 * 1024])).await.unwrap();
    assert_eq!((whole.body.len(), whole.truncated), (16 * 1024, false));
}

#[tokio::test]
async fn invalid_http_fails_with_its_reason() {
    // issue 6: "speaks no HTTP"
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "x".repeat(200_000));
    let mut details = Vec::new();
    for response in [
        ScriptedResponse::raw("220 mail.example.com ESMTP\r\n"),
        ScriptedResponse::raw("\u{16}\u{3}\u{1}"),
        ScriptedResponse::raw(""),
        ScriptedResponse::reset_after("HTTP/1.1 200"),
        ScriptedResponse::raw(long),
    ] {
        let target = HttpTarget::start().await;
        target.on("/hunter2", response);
        let failure = send(&target.url("/hunter2")).await.unwrap_err();
        details.push(portless(&failure.detail, target.address().port()));
    }
    insta::assert_snapshot!(details.join("\n"), @"
    127.0.0.1:PORT sent an invalid HTTP response: invalid HTTP version parsed
    127.0.0.1:PORT sent an invalid HTTP response: invalid HTTP version parsed
    127.0.0.1:PORT closed the connection before the response was complete
    127.0.0.1:PORT reset the connection before the response was complete
    the headers from 127.0.0.1:PORT exceed 128 KiB or 256 lines
    ");
}

#[tokio::test]
async fn silent_or_stuck_receiver_times_out() {
    let out_of_time = async |response: ScriptedResponse| {
        let target = HttpTarget::start().await;
        target.on("/", response);
        let request = post(&target.url("/"), "hello");
        // Long enough for a busy machine to connect and send.
        let limit = Duration::from_secs(3);
        let failure = Client::new(settings()).send(&request, limit).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Timeout);
        assert_eq!(
            portless(&failure.detail, target.address().port()),
            "timed out after 3000 ms while waiting for the response from 127.0.0.1:PORT"
        );
    };
    let stops = ScriptedResponse::stuck_after("HTTP/1.1 200 OK\r\nx-slow: ");
    tokio::join!(out_of_time(ScriptedResponse::silent()), out_of_time(stops));
}

#[tokio::test]
async fn private_addresses_are_blocked_after_resolution() {
    // design: §6
    let target = HttpTarget::start().await;
    let dns = DnsTarget::start().await;
    dns.address_of("inside.test", "127.0.0.1").address_of("cloud.test", "169.254.169.254");
    let settings = |egress| Settings {
        egress,
        nameservers: Nameservers::Given(vec![dns.address()]),
        ..Settings::default()
    };
    let closed = Client::new(settings(Egress::default()));
    for url in [target.url("/hunter2"), target.url_as("inside.test", "/hunter2")] {
        let failure = closed.send(&post(&url, ""), PATIENCE).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::AddressRefused);
        let detail = failure.detail;
        assert!(detail.contains("--allow-private-networks") && !detail.contains("hunter2"));
    }
    let open = Client::new(settings(Egress::new(true, [])));
    let failure = open.send(&post("http://cloud.test/", ""), PATIENCE).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::AddressRefused);
    assert_eq!(target.hits(), 0);
}

async fn send_by_tls(
    identity: Identity,
    protocol: Protocol,
) -> (HttpTarget, Result<ClientResponse, Failure>) {
    let authority = Authority::new("Test CA");
    let identity = match protocol {
        Protocol::Http1 => identity,
        Protocol::Http2 => authority.issue(&["127.0.0.1"], Validity::Valid),
    };
    let target = HttpTarget::start_tls(identity, protocol).await;
    target.on("/", ScriptedResponse::ok("ok"));
    let roots = aloft_probe::read_roots(authority.pem().as_bytes()).unwrap();
    let client = Client::new(Settings { extra_roots: roots, ..settings() });
    let url = target.url("/");
    client.send(&post(&url, "1"), PATIENCE).await.ok();
    let answer = client.send(&post(&url, "2"), PATIENCE).await;
    (target, answer)
}

#[tokio::test]
async fn http_2_is_used_if_offered() {
    let unused = Identity::self_signed(&["unused.test"]);
    let (target, answer) = send_by_tls(unused, Protocol::Http2).await;
    assert_eq!(answer.unwrap().status.as_u16(), 200);
    let received: Vec<_> =
        target.received().into_iter().map(|it| (it.version, it.target, it.body)).collect();
    let line = |body: &str| ("HTTP/2.0".to_owned(), target.url("/"), body.to_owned());
    assert_eq!(received, [line("1"), line("2")]);
}

#[tokio::test]
async fn certificate_for_another_name_is_rejected() {
    let wrong = Identity::self_signed(&["mail.test"]);
    let (target, answer) = send_by_tls(wrong, Protocol::Http1).await;
    assert_eq!(answer.unwrap_err().kind, FailureKind::CertificateInvalid);
    assert_eq!(target.hits(), 0);
}

/// Returns a receiver that accepts `requests` requests per connection, and counts connections.
async fn a_lasting_receiver(requests: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let left = Arc::new(AtomicUsize::new(requests));
            let service = service_fn(move |_: http::Request<Incoming>| {
                let is_last = left.fetch_sub(1, Ordering::Relaxed) == 1;
                let connection = if is_last { "close" } else { "keep-alive" };
                let answer = http::Response::builder().header("connection", connection);
                let answer = answer.body(Full::new(Bytes::from_static(b"ok"))).unwrap();
                std::future::ready(Ok::<_, Infallible>(answer))
            });
            let serving = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(tcp), service);
            tokio::spawn(serving);
        }
    });
    (address, connections)
}

#[tokio::test]
async fn connection_is_reused_until_closed() {
    let (address, connections) = a_lasting_receiver(3).await;
    let client = Client::new(settings());
    for _ in 0..6 {
        let answer = client.send(&post(&format!("http://{address}/"), "x"), PATIENCE).await;
        assert_eq!(answer.unwrap().body, "ok");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn closed_idle_connection_loses_no_message() {
    // The target closes the connection after each response without announcing it.
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("ok"));
    let client = Client::new(settings());
    for _ in 0..5 {
        let answer = client.send(&post(&target.url("/"), "x"), PATIENCE).await;
        assert_eq!(answer.unwrap().status.as_u16(), 200);
    }
    assert_eq!(target.hits(), 5);
}

#[test]
fn debug_of_request_shows_no_secret() {
    let request = post("https://hooks.example.com/hunter2", "hunter2");
    let shown = format!("{request:?}");
    assert!(shown.contains("hooks.example.com") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn other_schemes_are_rejected() {
    let failure = send("ftp://127.0.0.1/").await.unwrap_err();
    assert_eq!(failure.detail, "failed to build the request: `ftp` is neither http nor https");
}
