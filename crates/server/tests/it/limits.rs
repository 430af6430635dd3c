//! Every monitor limit of §8.1 over RPC, at its bound and one past it. Past the bound, the server
//! reports the path of the field and stores nothing.

use rules::{Region, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

use crate::protocols::a_monitor;

const KINDS: [(&str, &str); 3] =
    [("http", "CreateHttpMonitor"), ("tcp", "CreateTcpMonitor"), ("dns", "CreateDnsMonitor")];

/// A limit with a value at its bound and one past it.
struct Limit {
    kind: &'static str,
    field: &'static str,
    /// Path of the violation, relative to `monitor`.
    path: &'static str,
    holds: Value,
    breaks: Value,
}

fn limit(kind: &'static str, field: &'static str, holds: Value, breaks: Value) -> Limit {
    Limit { kind, field, path: snake(field), holds, breaks }
}

fn snake(field: &'static str) -> &'static str {
    match field {
        "degradedAt" => "degraded_at",
        "statusCodeAssertions" => "status_code_assertions",
        "bodyAssertions" => "body_assertions",
        "jsonAssertions" => "json_assertions",
        "headerAssertions" => "header_assertions",
        "recordAssertions" => "record_assertions",
        other => other,
    }
}

fn times(count: usize, block: &Value) -> Value {
    Value::Array(vec![block.clone(); count])
}

fn chars(count: usize) -> String {
    // Each character has three bytes: the limits count characters, not bytes.
    "☂".repeat(count)
}

fn tags(count: usize) -> Value {
    (0..count).map(|number| number.to_string()).collect()
}

/// Returns the rows of §8.1 that apply to all three kinds.
fn shared(kind: &'static str) -> Vec<Limit> {
    vec![
        limit(kind, "name", json!(chars(256)), json!(chars(257))),
        limit(kind, "name", json!("x"), json!("")),
        limit(kind, "description", json!(chars(1_024)), json!(chars(1_025))),
        limit(kind, "timeout", json!(0), json!(-1)),
        limit(kind, "timeout", json!(120_000), json!(120_001)),
        limit(kind, "degradedAt", json!(0), json!(-1)),
        limit(kind, "retry", json!(0), json!(-1)),
        limit(kind, "retry", json!(10), json!(11)),
        limit(kind, "periodicity", json!("30s"), json!("31s")),
        limit(kind, "periodicity", json!("1h"), json!("2h")),
        limit(kind, "tags", json!([chars(1), chars(64)]), json!([chars(65)])),
        limit(kind, "tags", tags(20), tags(21)),
        limit(kind, "tags", json!(["Prod", "Prod"]), json!(["Prod", "prod"])),
        limit(kind, "regions", json!(Region::PUBLIC_WORDS), json!(["fly-xxx"])),
    ]
}

/// Returns the rows of §8.1 that apply to one kind.
fn own() -> Vec<Limit> {
    let url = |count: usize| json!(format!("https://example.com/{}", "a".repeat(count - 20)));
    let uri = |count: usize| {
        let host = format!("{}.example:443", vec!["a".repeat(63); 4].join("."));
        json!(format!("{host}{}", "x".repeat(count.saturating_sub(host.len()))))
    };
    let header = json!({ "key": "X-Team", "value": "core" });
    let status = |target: i32| json!([{ "target": target, "comparator": "eq" }]);
    let body = json!({ "target": "ok", "comparator": "contains" });
    let header_assertion = json!({ "key": "X-A", "target": "ok", "comparator": "eq" });
    let json_assertion = json!({ "path": "$.status", "target": "ok", "comparator": "eq" });
    let record = json!({ "record": "A", "target": "192.0.2.1", "comparator": "eq" });
    let name = |count: usize| {
        let labels = format!("{}.", "a".repeat(63)).repeat(3);
        json!(format!("{labels}{}", "b".repeat(count - labels.len())))
    };
    vec![
        limit("http", "url", url(2_048), url(2_049)),
        limit("http", "headers", times(20, &header), times(21, &header)),
        limit(
            "http",
            "statusCodeAssertions",
            times(10, &status(200)[0]),
            times(11, &status(200)[0]),
        ),
        Limit {
            path: "status_code_assertions[0].target",
            ..limit("http", "statusCodeAssertions", status(100), status(99))
        },
        Limit {
            path: "status_code_assertions[0].target",
            ..limit("http", "statusCodeAssertions", status(599), status(600))
        },
        limit("http", "bodyAssertions", times(10, &body), times(11, &body)),
        limit("http", "jsonAssertions", times(10, &json_assertion), times(11, &json_assertion)),
        limit(
            "http",
            "headerAssertions",
            times(10, &header_assertion),
            times(11, &header_assertion),
        ),
        limit("http", "method", json!("OPTIONS"), json!("TRACE")),
        limit("tcp", "uri", json!("db.example.com:65535"), json!("db.example.com:65536")),
        limit("tcp", "uri", json!("[2001:db8::1]:1"), uri(2_049)),
        limit("dns", "uri", name(253), name(254)),
        limit("dns", "uri", json!("example.com"), json!("a".repeat(2_049))),
        limit("dns", "recordAssertions", times(10, &record), times(11, &record)),
    ]
}

async fn create(caller: &Caller, limit: &Limit, value: &Value) -> testkit::server::Reply {
    let mut monitor = a_monitor(limit.kind);
    monitor[limit.field] = value.clone();
    let method = KINDS.iter().find(|(kind, _)| *kind == limit.kind).unwrap().1;
    caller.rpc(method, json!({ "monitor": monitor })).await
}

#[tokio::test]
async fn each_limit_accepts_its_bound_and_refuses_more() {
    // spec: §8.1
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut stored = 0;
    let limits = KINDS.iter().flat_map(|(kind, _)| shared(kind)).chain(own());
    for limit in limits {
        let at = format!("{} {}", limit.kind, limit.field);
        let taken = create(&caller, &limit, &limit.holds).await;
        assert_eq!(taken.status, 200, "{at}: {taken}");
        stored += 1;
        let refused = create(&caller, &limit, &limit.breaks).await;
        assert_eq!(refused.status, 400, "{at}: {refused}");
        assert_eq!(refused.reason().as_deref(), Some("INVALID_ARGUMENT"), "{at}");
        let violations = contract::rpc::field_violations(&refused.error().unwrap());
        let path = format!("monitor.{}", limit.path);
        assert!(violations.iter().any(|it| it.field == path), "{at}: {violations:?}");
        let list = caller.rpc("ListMonitors", json!({})).await.json();
        assert_eq!(list["totalSize"], stored, "{at}: something was stored");
    }
}

#[tokio::test]
async fn uri_over_2048_characters_is_refused() {
    // issue 3: bad input
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for (kind, field, value) in [
        ("tcp", "uri", format!("{}:443", "a".repeat(2_045))),
        ("dns", "uri", "a".repeat(2_049)),
        ("http", "url", format!("https://example.com/{}", "a".repeat(2_029))),
    ] {
        let limit = limit(kind, field, json!(""), json!(value));
        let refused = create(&caller, &limit, &limit.breaks).await;
        assert!(refused.to_string().contains("2048"), "{kind}: {refused}");
    }
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    // design: §4, errors: field path, given value, allowed values
    let server = TestServer::start().await;
    let request = json!({ "monitor": {
        "url": "ftp://example.com", "periodicity": "7s", "retry": 11,
        "statusCodeAssertions": [{ "target": 99 }], "headers": [{ "key": "Connection", "value": "x" }],
    } });
    let refused = server.caller(Scope::Write).rpc("CreateHttpMonitor", request).await;
    let violations = contract::rpc::field_violations(&refused.error().unwrap());
    let shown: Vec<String> =
        violations.iter().map(|it| format!("{}: {}", it.field, it.description)).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    monitor.name: must be given
    monitor.periodicity: must be one of 30s, 1m, 5m, 10m, 30m, 1h (given: `7s`)
    monitor.retry: must be a whole number from 0 to 10 (given: `11`)
    monitor.url: must be an absolute URL that begins with http:// or https:// (given: `ftp://example.com`)
    monitor.headers[0].key: must not be a header of the connection's own: connection, content-length, http2-settings, keep-alive, proxy-authenticate, proxy-authorization, proxy-connection, te, trailer, trailers, transfer-encoding, upgrade (given: `Connection`)
    monitor.status_code_assertions[0].target: must be a whole number from 100 to 599 (given: `99`)
    monitor.status_code_assertions[0].comparator: must be given
    ");
}
