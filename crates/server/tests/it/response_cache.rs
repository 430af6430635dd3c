//! Cached responses: never stale, and never sent to another caller.

use contract::rpc::{Method, method};
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, TestServer};
use testkit::target::TcpTarget;

use crate::pipeline::until;
use crate::protocols::{RpcProtocol, a_monitor};

const READS: [&str; 2] =
    ["/monitor.v1.MonitorService/GetMonitor", "/monitor.v1.MonitorService/ListMonitors"];

/// Calls a read method for the monitor `id`.
async fn read(protocol: RpcProtocol, caller: &Caller, method: &'static Method, id: &str) -> Reply {
    let id = (method.name == "GetMonitor").then_some(id);
    let reply = protocol.call(caller, method, id).await;
    assert_eq!(protocol.code(&reply), 0, "{protocol:?} {}: {reply}", method.name);
    reply
}

async fn create(caller: &Caller, name: &str) -> String {
    let mut monitor = a_monitor("http");
    monitor["name"] = json!(name);
    monitor["headers"] = json!([{ "key": "X-Team", "value": "hunter2" }]);
    let reply = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    reply["monitor"]["id"].as_str().unwrap().to_owned()
}

/// Returns the number of cache hits since the server started.
async fn from_memory(server: &TestServer) -> u64 {
    count(server, "aloft_calls_cached_total ").await
}

async fn count(server: &TestServer, series: &str) -> u64 {
    let page = server.nobody().get("/metrics").await;
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    let value = page.lines().find_map(|line| line.strip_prefix(series));
    value.map_or(0, |value| value.trim().parse().unwrap())
}

/// Returns whether the body contains `text`. Every protocol encodes names and header values
/// verbatim.
fn has(reply: &Reply, text: &str) -> bool {
    reply.body.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn change_is_visible_to_the_next_read() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let id = create(&caller, "name 0").await;
    let mut edits = 0;
    for path in READS {
        let method = method(path).unwrap();
        for protocol in RpcProtocol::ALL {
            // The first read fills the cache, and the second one hits it.
            let before = from_memory(&server).await;
            let first = read(protocol, &caller, method, &id).await;
            let again = read(protocol, &caller, method, &id).await;
            assert_eq!(first.body, again.body, "{protocol:?} {path}");
            assert_eq!(first.trailers, again.trailers, "{protocol:?} {path}");
            assert!(from_memory(&server).await > before, "{protocol:?} {path} was read twice");
            edits += 1;
            let request = json!({ "monitor": { "id": id, "name": format!("name {edits}") }, "updateMask": "name" });
            assert_eq!(caller.rpc("UpdateHttpMonitor", request).await.status, 200);
            let after = read(protocol, &caller, method, &id).await;
            assert!(has(&after, &format!("name {edits}")), "{protocol:?} {path}: {after}");
        }
    }
    let list = method(READS[1]).unwrap();
    let other = create(&caller, "another").await;
    assert!(has(&read(RpcProtocol::ConnectJson, &caller, list, &id).await, "another"));
    caller.rpc("DeleteMonitor", json!({ "id": other })).await;
    assert!(!has(&read(RpcProtocol::ConnectJson, &caller, list, &id).await, "another"));
    let gone = caller.rpc("GetMonitor", json!({ "id": other })).await;
    assert_eq!(gone.status, 404, "errors are not kept, and neither is what was deleted");
}

#[tokio::test]
async fn read_key_never_gets_cached_write_key_responses() {
    // design: §4, responses to read keys omit secrets
    let server = TestServer::start().await;
    let (write, other) = (server.caller(Scope::Write), server.stranger());
    let id = create(&write, "ours").await;
    for path in READS {
        let method = method(path).unwrap();
        for protocol in RpcProtocol::ALL {
            for _ in 0..2 {
                assert!(
                    has(&read(protocol, &write, method, &id).await, "hunter2"),
                    "{protocol:?} {path}"
                );
                let reader = server.caller(Scope::Read);
                let shown = read(protocol, &reader, method, &id).await;
                assert!(has(&shown, "ours") && !has(&shown, "hunter2"), "{protocol:?} {path}");
            }
        }
        let theirs = other.rpc(&method.name, json!({ "id": id })).await;
        assert!(!has(&theirs, "ours"), "another workspace reads {theirs}");
    }
}

#[tokio::test]
async fn each_response_form_is_cached_separately() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for number in 0..4 {
        create(&caller, &format!("name {number}")).await;
    }
    let ask = async |accepts: Option<&'static str>, body: &'static str| {
        let mut request = http::Request::post(format!("/rpc{}", READS[1]))
            .header("host", "localhost")
            .header("content-type", "application/json");
        if let Some(accepts) = accepts {
            request = request.header("accept-encoding", accepts);
        }
        caller.request(request.body(bytes::Bytes::from(body).into()).unwrap()).await
    };
    for _ in 0..2 {
        let plain = ask(None, "{}").await;
        assert!(has(&plain, "name 3") && !plain.headers.contains_key("content-encoding"));
        let small = ask(Some("gzip"), "{}").await;
        assert_eq!(small.headers["content-encoding"], "gzip");
        let one = ask(None, r#"{"limit":1}"#).await.json();
        assert_eq!(one["httpMonitors"].as_array().unwrap().len(), 1);
        assert_eq!(ask(None, r#"{"limit":0}"#).await.status, 400);
    }
    assert_eq!(from_memory(&server).await, 3, "each but the refused one");
}

#[tokio::test]
async fn cached_response_counts_as_a_normal_call() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    let series = "aloft_calls_total{method=\"ListMonitors\",code=\"ok\"} ";
    let mut ids = Vec::new();
    let mut remaining = Vec::new();
    for calls in 1..=3_u64 {
        let reply = caller.rpc("ListMonitors", json!({})).await;
        assert_eq!(count(&server, series).await, calls);
        assert_eq!(count(&server, "aloft_call_seconds_count ").await, calls);
        assert_eq!(reply.headers["cache-control"], "no-store");
        ids.push(reply.headers["x-request-id"].clone());
        let left: Value = reply.headers["ratelimit-remaining"].to_str().unwrap().parse().unwrap();
        remaining.push(left.as_u64().unwrap());
    }
    assert_eq!(from_memory(&server).await, 2);
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    assert_eq!(remaining, [remaining[0], remaining[0] - 1, remaining[0] - 2]);
    let key = format!("/v1/api-key/{}", server.key_id(Scope::Read));
    let revoked = caller.send(http::Method::DELETE, &key, "application/json", "").await;
    assert_eq!(revoked.status, 204);
    assert_eq!(caller.rpc("ListMonitors", json!({})).await.status, 401);
}

#[tokio::test]
async fn status_change_invalidates_cached_responses() {
    let (target, gone) = (TcpTarget::accepting().await, TcpTarget::refusing());
    let address = target.address().to_string();
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let monitor = json!({ "name": "local", "uri": address, "periodicity": "30s", "retry": 0, "active": true });
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = created["monitor"]["id"].as_str().unwrap();
    // The clock does not move, so entries never expire. Only the change invalidates them.
    for (method, status) in [("GetMonitor", "active"), ("ListMonitors", "error")] {
        let request = if method == "GetMonitor" { json!({ "id": id }) } else { json!({}) };
        let text = format!(r#""status":"{status}""#);
        until(async || has(&caller.rpc(method, request.clone()).await, &text).then_some(())).await;
        if status == "active" {
            caller.rpc("ListMonitors", json!({})).await;
            let gone = gone.address().to_string();
            let edit = json!({ "monitor": { "id": id, "uri": gone }, "updateMask": "uri" });
            assert_eq!(caller.rpc("UpdateTcpMonitor", edit).await.status, 200);
        }
    }
}

#[tokio::test]
async fn concurrent_readers_see_every_completed_change() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let id = create(&caller, "0").await;
    let name = async || {
        let shown = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
        shown["monitor"]["http"]["name"].as_str().unwrap().parse::<u64>().unwrap()
    };
    let written = std::sync::atomic::AtomicU64::new(0);
    let writes = async {
        for number in 1..=60_u64 {
            let monitor = json!({ "id": id, "name": number.to_string() });
            let request = json!({ "monitor": monitor, "updateMask": "name" });
            assert_eq!(caller.rpc("UpdateHttpMonitor", request).await.status, 200);
            written.store(number, std::sync::atomic::Ordering::SeqCst);
        }
    };
    let reads = async || {
        let mut seen = 0;
        while seen < 60 {
            let before = written.load(std::sync::atomic::Ordering::SeqCst);
            let now = name().await;
            assert!(now >= before, "{now} was read after {before} was answered");
            assert!(now >= seen, "{now} was read after {seen} was");
            seen = now;
        }
    };
    tokio::join!(writes, reads(), reads(), reads(), reads());
}
