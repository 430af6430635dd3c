//! Invalid input: the server responds in the caller's protocol, stores nothing and does not panic.

use std::io::Write as _;

use http::Method;
use rules::Scope;
use rules::limits::MESSAGE_BYTES_MAX;
use serde_json::json;
use testkit::server::{Caller, MONITORS, TestServer};

use crate::protocols::{a_monitor, framed};

async fn create(
    caller: &Caller,
    content_type: &str,
    body: impl Into<bytes::Bytes>,
) -> testkit::server::Reply {
    let path = format!("/rpc/{MONITORS}/CreateTcpMonitor");
    caller.send(Method::POST, &path, content_type, body).await
}

async fn stored(server: &TestServer) -> i64 {
    let list = server.caller(Scope::Read).rpc("ListMonitors", json!({})).await;
    list.json()["totalSize"].as_i64().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[tokio::test]
async fn unknown_fields_are_refused_by_name() {
    // issue 3: bad input
    let server = TestServer::start().await;
    let mut monitor = a_monitor("tcp");
    monitor["interval"] = json!("30s");
    let request = json!({ "monitor": monitor });
    let refused = server.caller(Scope::Write).rpc("CreateTcpMonitor", request).await;
    insta::assert_snapshot!(refused, @r#"400 {"code":"invalid_argument","message":"`monitor.interval` is not a field of monitor.v1.TcpMonitor; did you mean `periodicity`?"}"#);
    assert_eq!(stored(&server).await, 0);
}

#[tokio::test]
async fn bodies_over_4_mib_are_refused() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let large = vec![b' '; MESSAGE_BYTES_MAX + 1];
    for content_type in ["application/json", "application/proto"] {
        let refused = create(&caller, content_type, large.clone()).await;
        assert_eq!(refused.error().unwrap().code.as_str(), "resource_exhausted", "{content_type}");
        // Clients would retry a 429 without Retry-After forever.
        let outcome = (refused.status.as_u16(), refused.reason());
        assert_eq!(outcome, (413, Some("PAYLOAD_TOO_LARGE".to_owned())), "{content_type}");
    }
    let path = format!("/{MONITORS}/CreateTcpMonitor");
    let grpc = caller.send_h2(&path, "application/grpc", framed(&large)).await;
    assert_eq!(grpc.grpc_status(), Some(8));
    let details = grpc.headers.get("grpc-status-details-bin");
    assert!(details.is_some(), "{:?} {:?}", grpc.headers, grpc.trailers);
    let packed = gzip(&large);
    let request = http::Request::post(format!("/rpc/{MONITORS}/CreateTcpMonitor"))
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(bytes::Bytes::from(packed).into())
        .unwrap();
    let refused = caller.request(request).await;
    let outcome = (refused.status.as_u16(), refused.reason());
    assert_eq!(
        outcome,
        (413, Some("PAYLOAD_TOO_LARGE".to_owned())),
        "also where it is large when unpacked"
    );
    let web = create(&caller, "application/grpc-web+proto", framed(&large)).await;
    assert_eq!(web.grpc_status(), Some(8));
    assert_eq!(stored(&server).await, 0);
}

#[tokio::test]
async fn malformed_messages_are_refused_in_every_protocol() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for garbage in
        [&b"\xff"[..], b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05abc", b"{\"monitor\":", b"\0\0\0"]
    {
        for content_type in ["application/json", "application/proto"] {
            let refused = create(&caller, content_type, garbage).await;
            assert_eq!(refused.status, 400, "{garbage:?} as {content_type}: {refused}");
            assert!(refused.reason().is_some(), "{garbage:?} as {content_type}: {refused}");
        }
        let path = format!("/{MONITORS}/CreateTcpMonitor");
        let grpc = caller.send_h2(&path, "application/grpc", framed(garbage)).await;
        assert_eq!(grpc.grpc_status(), Some(3), "{garbage:?}");
        let torn = caller.send_h2(&path, "application/grpc", garbage).await;
        assert!(torn.grpc_status().is_some_and(|status| status != 0), "{garbage:?}: {torn}");
    }
    assert_eq!(stored(&server).await, 0);
}

#[tokio::test]
async fn wrong_content_types_are_415() {
    let server = TestServer::start().await;
    for content_type in
        ["text/plain", "application/xml", "application/json; charset=latin1", "*/*", "x"]
    {
        let refused = create(&server.caller(Scope::Write), content_type, "{}").await;
        assert!([415, 400].contains(&refused.status.as_u16()), "{content_type}: {refused}");
        assert!(refused.reason().is_some(), "{content_type}: {refused}");
    }
    let refused = create(&server.caller(Scope::Write), "text/plain", "{}").await;
    insta::assert_snapshot!(refused, @r#"415 {"code":"invalid_argument","message":"unsupported content type; send application/json, application/proto, application/grpc or application/grpc-web"}"#);
    assert_eq!(refused.reason().as_deref(), Some("UNSUPPORTED_MEDIA_TYPE"));
    assert!(refused.headers.contains_key("accept-post"));
}

// issue 16, point 16
#[tokio::test]
async fn headers_are_read_as_the_protocols_say() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for (name, value, body, expected) in [
        ("content-type", "Application/JSON; Charset=utf-8", b"{}".to_vec(), (200, None)),
        ("content-encoding", "GZIP", gzip(b"{}"), (200, None)),
        ("content-encoding", "rot13", b"{}".to_vec(), (415, Some("UNSUPPORTED_MEDIA_TYPE"))),
        ("connect-timeout-ms", "5000", b"{}".to_vec(), (200, None)),
        ("connect-timeout-ms", "soon", b"{}".to_vec(), (400, Some("INVALID_ARGUMENT"))),
        ("connect-timeout-ms", "99999999999", b"{}".to_vec(), (400, Some("INVALID_ARGUMENT"))),
    ] {
        let mut request = http::Request::post(format!("/rpc/{MONITORS}/ListMonitors"))
            .header("host", "localhost")
            .header("content-type", "application/json");
        request.headers_mut().unwrap().insert(name, value.parse().unwrap());
        let reply = caller.request(request.body(bytes::Bytes::from(body).into()).unwrap()).await;
        let outcome = (reply.status.as_u16(), reply.reason());
        assert_eq!(
            outcome,
            (expected.0, expected.1.map(str::to_owned)),
            "{name}: {value}: {reply}"
        );
        if expected.0 == 415 {
            assert_eq!(reply.headers["accept-encoding"], "gzip, zstd");
        }
    }
    let refused = create(&caller, "application/json", "{}").await.json();
    let details = refused["details"].as_array().unwrap();
    assert_eq!(details[0]["debug"]["domain"], "aloft", "people can read them: {refused}");
    assert!(details.iter().any(|it| it["debug"]["requestId"].is_string()), "{refused}");
}

#[tokio::test]
async fn invalid_protocol_header_does_not_panic() {
    let server = TestServer::start().await;
    for (name, value) in [
        ("connect-timeout-ms", "soon"),
        ("connect-timeout-ms", "-1"),
        ("connect-protocol-version", "9"),
        ("content-encoding", "rot13"),
        ("idempotency-key", ""),
        ("x-request-id", "\u{7f}"),
    ] {
        let value = http::HeaderValue::from_bytes(value.as_bytes())
            .unwrap_or_else(|_| http::HeaderValue::from_static("x"));
        let request = http::Request::post(format!("/rpc/{MONITORS}/CreateTcpMonitor"))
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header(name, value)
            .body(bytes::Bytes::from("{}").into())
            .unwrap();
        let reply = server.caller(Scope::Write).request(request).await;
        // An unknown encoding is an unsupported media type. Every other case is a bad request.
        assert!([400, 415].contains(&reply.status.as_u16()), "{name}: {reply}");
        assert!(reply.error().is_some() && reply.reason().is_some(), "{name}: {reply}");
    }
    assert_eq!(server.nobody().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn get_call_of_a_writing_method_is_405() {
    let server = TestServer::start().await;
    let path = format!("/rpc/{MONITORS}/DeleteMonitor?connect=v1&encoding=json&message=%7B%7D");
    let refused = server.caller(Scope::Write).get(&path).await;
    assert_eq!(
        (refused.status.as_u16(), refused.reason().as_deref()),
        (405, Some("METHOD_NOT_ALLOWED"))
    );
    let put = format!("/rpc/{MONITORS}/GetMonitor");
    let put = server.caller(Scope::Write).send(Method::PUT, &put, "application/json", "{}").await;
    assert_eq!(put.headers["allow"], "GET, POST");
    insta::assert_snapshot!(put, @r#"405 {"code":"invalid_argument","message":"PUT does not call this method; use GET, POST"}"#);
    let broken = format!("/rpc/{MONITORS}/GetMonitor?connect=v1&encoding=json&message=%7B");
    assert_eq!(server.caller(Scope::Write).get(&broken).await.status, 400);
    let bare = format!("/rpc/{MONITORS}/GetMonitor");
    let refused = server.caller(Scope::Write).get(&bare).await;
    assert_eq!(
        (refused.status.as_u16(), refused.reason().as_deref()),
        (400, Some("MALFORMED_MESSAGE"))
    );
    let id = refused.headers["x-request-id"].to_str().unwrap().to_owned();
    let details = refused.error().unwrap().details;
    assert!(
        details.iter().any(|it| it.type_url.ends_with("RequestInfo")),
        "{details:?} names {id}"
    );
}

#[tokio::test]
async fn nothing_that_is_sent_makes_the_server_panic() {
    // issue 3: no input makes the server panic; a caught panic is 500 and code 13
    let server = TestServer::start().await;
    let (chance, _clock) = web::context::Context::manual(testkit::server::START);
    let pick = |count: usize| (chance.random() % count as u64) as usize;
    let bodies = [
        json!({ "monitor": a_monitor("http"), "updateMask": "name,retry" }).to_string(),
        json!({ "monitor": { "regions": ["fly-ams"], "headers": [{ "key": "a", "value": "b" }] } })
            .to_string(),
        json!({ "id": "mon_0123456789abc", "limit": 5, "pageToken": "bW9u" }).to_string(),
        "\u{a}\u{11}mon_0123456789abc\u{10}\u{1}\u{1a}\u{2}ab".to_owned(),
    ];
    let kinds = [
        "application/json",
        "application/proto",
        "application/connect+json",
        "application/grpc-web+proto",
        "application/grpc+json",
        "text/plain",
    ];
    let caller = server.caller(Scope::Write);
    for _ in 0..600 {
        let method = &contract::rpc::methods()[pick(contract::rpc::methods().len())];
        let mut body = bodies[pick(bodies.len())].clone().into_bytes();
        for _ in 0..pick(4) {
            let at = pick(body.len());
            match pick(3) {
                0 => body[at] = pick(256) as u8,
                1 => drop(body.drain(at..)),
                _ => body.insert(at, pick(256) as u8),
            }
            if body.is_empty() {
                body.push(b'{');
            }
        }
        let kind = kinds[pick(kinds.len())];
        let body = if kind.contains("grpc") || kind.contains("connect") {
            framed(&body)
        } else {
            body.into()
        };
        let path = format!("/rpc{}", method.path);
        let reply = caller.send(Method::POST, &path, kind, body.clone()).await;
        let at = format!("{path} {kind} {body:?}: {reply}");
        assert_ne!(reply.status, 500, "{at}");
        assert_ne!(reply.grpc_status(), Some(13), "{at}");
    }
    assert_eq!(server.nobody().get("/readyz").await.status, 200);
}
