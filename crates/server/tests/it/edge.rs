//! Request IDs and CORS headers of every response, and rate limits.

use std::num::NonZeroU32;
use std::time::Duration;

use http::Request;
use rules::Scope;
use serde_json::json;
use testkit::server::{MONITORS, TestServer};

const PATHS: [&str; 6] = [
    "/",
    "/healthz",
    "/v1/whoami",
    "/v1/nonsense",
    "/rpc/monitor.v1.MonitorService/GetMonitor",
    "/rpc/x",
];

#[tokio::test]
async fn every_response_has_generated_or_given_request_id() {
    // design: §4, errors
    let server = TestServer::start().await;
    for path in PATHS {
        let reply = server.nobody().get(path).await;
        let id = reply.headers["x-request-id"].to_str().unwrap();
        assert!(id.starts_with("req_"), "{path}: {id}");
        let request = Request::get(path)
            .header("host", "localhost")
            .header("x-request-id", "mine-1")
            .body(bytes::Bytes::new().into())
            .unwrap();
        assert_eq!(server.nobody().request(request).await.headers["x-request-id"], "mine-1");
    }
}

#[tokio::test]
async fn problem_body_contains_the_request_id() {
    let server = TestServer::start().await;
    let reply = server.nobody().get("/v1/whoami").await;
    assert_eq!(reply.json()["requestId"], reply.headers["x-request-id"].to_str().unwrap());
}

#[tokio::test]
async fn preflight_allows_any_origin_without_a_key() {
    // design: §4: CORS without credentials
    let server = TestServer::start().await;
    for path in ["/v1/whoami", "/rpc/monitor.v1.MonitorService/ListMonitors"] {
        let preflight = Request::options(path)
            .header("host", "localhost")
            .header("origin", "https://dashboard.example")
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "x-service-key,content-type")
            .body(bytes::Bytes::new().into())
            .unwrap();
        let reply = server.nobody().request(preflight).await;
        assert_eq!(reply.status, 204, "{path}");
        assert_eq!(reply.headers["access-control-allow-origin"], "*");
        assert_eq!(reply.headers["access-control-allow-headers"], "x-service-key,content-type");
        assert!(!reply.headers.contains_key("access-control-allow-credentials"));
    }
    let refused = server.nobody().get("/v1/whoami").await;
    assert_eq!(refused.headers["access-control-allow-origin"], "*", "errors are read too");
}

#[tokio::test]
async fn authenticated_responses_are_not_cacheable() {
    // An intermediate cache does not know that `x-service-key` distinguishes callers.
    let server = TestServer::start().await;
    let list = format!("/rpc/{MONITORS}/ListMonitors?connect=v1&encoding=json&message=%7B%7D");
    for path in ["/v1/whoami", &list] {
        let reply = server.caller(Scope::Read).get(path).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.headers["cache-control"]),
            (200, &"no-store".parse().unwrap()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn key_over_its_burst_gets_retry_after() {
    // design: §6
    let number = |it| NonZeroU32::new(it).unwrap();
    let server = TestServer::start_with(|settings| {
        settings.calls_per_second = number(2);
        settings.calls_burst = number(3);
    })
    .await;
    let caller = server.caller(Scope::Read);
    for remaining in ["2", "1", "0"] {
        let reply = caller.rpc("ListMonitors", json!({})).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.headers["ratelimit-remaining"], remaining);
        assert_eq!(reply.headers["ratelimit-limit"], "3");
    }
    let refused = caller.rpc("ListMonitors", json!({})).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.reason().as_deref(), Some("RATE_LIMITED"));
    assert_eq!(refused.headers["retry-after"], "1");
    let problem = caller.get("/v1/whoami").await;
    assert_eq!(
        (problem.status.as_u16(), &problem.headers["retry-after"]),
        (429, &"1".parse().unwrap())
    );
    assert_eq!(server.stranger().rpc("ListMonitors", json!({})).await.status, 200);
    server.advance(Duration::from_millis(500));
    assert_eq!(caller.rpc("ListMonitors", json!({})).await.status, 200);
}

#[tokio::test]
async fn wrong_keys_are_limited_by_address_unlike_valid() {
    // design: §6
    let server = TestServer::start_with(|settings| {
        settings.failed_calls_per_minute = NonZeroU32::new(5).unwrap();
    })
    .await;
    let known = server.caller(Scope::Read);
    assert_eq!(known.get("/v1/whoami").await.status, 200);
    for _ in 0..5 {
        assert_eq!(server.with_key("guess").get("/v1/whoami").await.status, 401);
    }
    let refused = server.with_key("guess").get("/v1/whoami").await;
    assert_eq!((refused.status.as_u16(), refused.reason().as_deref()), (429, Some("RATE_LIMITED")));
    assert!(refused.headers.contains_key("retry-after"));
    // Valid keys pass even if the server must look them up again or has not seen them since its
    // start.
    server.advance(Duration::from_secs(1));
    assert_eq!(known.get("/v1/whoami").await.status, 200);
    assert_eq!(server.stranger().get("/v1/whoami").await.status, 200);
    let unknown = server::auth::key::compose(rules::KeyId::from_bits(42), &[7; 32]);
    assert_eq!(server.with_key(unknown.expose()).get("/v1/whoami").await.status, 429);
    // A request without a key is not a guess.
    for _ in 0..9 {
        let missing = server.nobody().get("/v1/whoami").await;
        assert_eq!(missing.status, 401);
        assert_eq!(missing.headers["www-authenticate"], "Bearer realm=\"aloft\"");
    }
    server.advance(Duration::from_mins(1));
    assert_eq!(server.with_key("guess").get("/v1/whoami").await.status, 401);
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_callers_address_counts() {
    // design: §6: only configured proxies may forward addresses
    let server = TestServer::start_with(|settings| {
        settings.failed_calls_per_minute = NonZeroU32::MIN;
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;
    let guess = async |from: &str| {
        let request = Request::get("/v1/whoami")
            .header("host", "localhost")
            .header("x-forwarded-for", from)
            .body(bytes::Bytes::new().into())
            .unwrap();
        server.with_key("guess").request(request).await.status.as_u16()
    };
    assert_eq!(guess("192.0.2.1").await, 401);
    assert_eq!(guess("192.0.2.1").await, 429);
    assert_eq!(guess("192.0.2.2").await, 401);
}

#[tokio::test]
async fn unknown_paths_answer_in_the_callers_protocol() {
    // issue 3: bad input
    let server = TestServer::start().await;
    let nobody = server.nobody();
    let read = server.caller(Scope::Read);
    assert_eq!(nobody.get("/favicon.ico").await.reason().as_deref(), Some("UNKNOWN_METHOD"));
    let path = format!("/rpc/{MONITORS}/Nonsense");
    for (path, caller, code) in [
        (path.as_str(), &read, 12),
        (path.as_str(), &nobody, 16),
        ("/rpc/no.such.v1.Service/Get", &read, 12),
        ("/rpc/nonsense", &nobody, 12),
    ] {
        let reply = caller.send_h2(path, "application/grpc", crate::protocols::framed(b"")).await;
        assert_eq!((reply.status.as_u16(), reply.grpc_status()), (200, Some(code)), "{path}");
        let json = caller.send(http::Method::POST, path, "application/json", "{}").await;
        let code = json.error().unwrap_or_else(|| panic!("{path}: {json}")).code.grpc_code();
        assert_eq!(code, if json.status == 401 { 16 } else { 12 }, "{path}: {json}");
        assert!(json.status == 401 || json.status == 404, "{path}: {json}");
        assert!(json.reason().is_some(), "{path}: {json}");
    }
}

// issue 16, point 17: "Accept `Authorization: Bearer`"
#[tokio::test]
async fn a_bearer_token_is_a_key() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let key = caller.key().unwrap().to_owned();
    for (header, status) in [
        (format!("Bearer {key}"), 200),
        (format!("bearer  {key}"), 200),
        ("Bearer".to_owned(), 401),
        ("Bearer ".to_owned(), 401),
        (format!("Basic {key}"), 401),
    ] {
        let request = Request::get("/v1/whoami")
            .header("host", "localhost")
            .header("authorization", &header)
            .body(bytes::Bytes::new().into())
            .unwrap();
        assert_eq!(server.nobody().request(request).await.status, status, "{header}");
    }
}
