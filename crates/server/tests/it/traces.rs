//! Traces of checks and requests, at a receiver of OTLP.

use http::Request;
use http_body_util::Full;
use rules::Scope;
use serde_json::{Value, json};
use server::config::TraceSettings;
use testkit::server::TestServer;
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::until;

const CALLER_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN: &str = "b7ad6b7169203331";

async fn server_with(receiver: &HttpTarget, sample_percent: u8) -> TestServer {
    let traces = TraceSettings {
        endpoint: receiver.url("/otlp"),
        headers: vec![("authorization".parse().unwrap(), "Basic abc".parse().unwrap())],
        sample_percent,
    };
    TestServer::start_with(|settings| settings.traces = Some(traces)).await
}

/// Returns the spans of all requests to the receiver.
fn spans(receiver: &HttpTarget) -> Vec<Value> {
    let mut all = Vec::new();
    for request in receiver.received() {
        assert_eq!(request.target, "/otlp/v1/traces");
        assert_eq!(request.header("authorization"), Some("Basic abc"));
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let resource = &body["resourceSpans"][0];
        let service = &resource["resource"]["attributes"][0];
        assert_eq!(service, &json!({ "key": "service.name", "value": { "stringValue": "aloft" } }));
        all.extend(resource["scopeSpans"][0]["spans"].as_array().unwrap().iter().cloned());
    }
    all
}

fn attribute(span: &Value, key: &str) -> Option<Value> {
    let all = span["attributes"].as_array()?;
    let found = all.iter().find(|attribute| attribute["key"] == key)?;
    Some(found["value"].clone())
}

/// Runs a check that fails and one that succeeds, and returns the monitors' IDs.
async fn run_checks(server: &TestServer, target: &HttpTarget) -> [String; 2] {
    let caller = server.caller(Scope::Write);
    let check = async |name: &str, path: &str| {
        let monitor = json!({
            "name": name, "url": target.url(path), "periodicity": "1h", "active": true, "retry": 0,
            "regions": ["fly-ams"],
        });
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        let id = created["monitor"]["id"].as_str().unwrap().to_owned();
        assert_eq!(caller.rpc("TriggerMonitor", json!({ "id": id })).await.status, 200);
        id
    };
    [check("broken", "/broken").await, check("fine", "/fine").await]
}

// issue 20, point 7: "OpenTelemetry export of checks and server traces"
#[tokio::test]
async fn checks_and_requests_reach_the_receiver() {
    let (receiver, target) = (HttpTarget::start().await, HttpTarget::start().await);
    receiver.on("/otlp/v1/traces", ScriptedResponse::ok("{}"));
    target.on("/fine", ScriptedResponse::ok("")).on("/broken", ScriptedResponse::status(500));
    let server = server_with(&receiver, 100).await;
    let [broken, fine] = run_checks(&server, &target).await;
    let request = Request::get("/reset/secret")
        .header("host", "a")
        .header("traceparent", format!("00-{CALLER_TRACE}-{CALLER_SPAN}-01"));
    server.stranger().request(request.body(Full::default()).unwrap()).await;
    server.stop().await;

    let spans = spans(&receiver);
    let of_monitor = |id: &str| {
        let value = json!({ "stringValue": id });
        let is_own = |span: &&Value| attribute(span, "aloft.monitor.id") == Some(value.clone());
        spans.iter().find(is_own).unwrap()
    };
    let failed = of_monitor(&broken);
    assert_eq!(failed["status"]["code"], 2);
    let why = failed["status"]["message"].as_str().unwrap();
    assert!(why.contains("500"), "{why}");
    assert_eq!(attribute(failed, "http.response.status_code"), Some(json!({ "intValue": "500" })));
    assert!(of_monitor(&fine).get("status").is_none());
    let phases = spans.iter().filter(|span| span["parentSpanId"] == failed["spanId"]);
    let mut names: Vec<_> = phases.map(|span| span["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["connect", "first byte", "transfer"]);
    let call = spans.iter().find(|span| {
        span["name"] == "POST /monitor.v1.MonitorService/TriggerMonitor" && span["kind"] == 2
    });
    assert_eq!(
        attribute(call.unwrap(), "http.response.status_code"),
        Some(json!({ "intValue": "200" }))
    );
    let reset = spans.iter().find(|span| span["traceId"] == CALLER_TRACE).unwrap();
    assert_eq!(
        (&reset["name"], &reset["parentSpanId"]),
        (&json!("GET /reset"), &json!(CALLER_SPAN))
    );
    assert!(!json!(spans).to_string().contains("secret"));
}

#[tokio::test]
async fn failures_are_sent_without_the_sample() {
    let (receiver, target) = (HttpTarget::start().await, HttpTarget::start().await);
    receiver.on("/otlp/v1/traces", ScriptedResponse::ok("{}"));
    target.on("/fine", ScriptedResponse::ok("")).on("/broken", ScriptedResponse::status(500));
    let server = server_with(&receiver, 0).await;
    let [broken, _] = run_checks(&server, &target).await;
    server.stop().await;
    let spans = spans(&receiver);
    let of_checks: Vec<_> =
        spans.iter().filter_map(|span| attribute(span, "aloft.monitor.id")).collect();
    let broken = json!({ "stringValue": broken });
    assert!(!of_checks.is_empty() && of_checks.iter().all(|id| *id == broken), "{of_checks:?}");
    assert!(spans.iter().all(|span| span["kind"] != 2), "{spans:?}");
}

#[tokio::test]
async fn busy_receiver_gets_the_spans_again() {
    let receiver = HttpTarget::start().await;
    let busy = ScriptedResponse::status(503);
    receiver.on_each("/otlp/v1/traces", vec![busy, ScriptedResponse::ok("{}")]);
    let server = server_with(&receiver, 100).await;
    server.stranger().get("/v1/whoami").await;
    let figures = async || server.nobody().get("/metrics").await.to_string();
    until(async || (!figures().await.contains("aloft_spans_exported_total 0\n")).then_some(()))
        .await;
    assert!(figures().await.contains("aloft_spans_dropped_total 0\n"));
    let received = receiver.received();
    assert_eq!(received[0].body, received[1].body);
    server.stop().await;
}

#[tokio::test]
async fn refused_spans_are_dropped_and_counted() {
    let receiver = HttpTarget::start().await;
    receiver.on("/otlp/v1/traces", ScriptedResponse::status(400));
    let server = server_with(&receiver, 100).await;
    assert_eq!(server.stranger().get("/v1/whoami").await.status, 200);
    let figures = async || server.nobody().get("/metrics").await.to_string();
    until(async || (!figures().await.contains("aloft_spans_dropped_total 0\n")).then_some(()))
        .await;
    assert!(figures().await.contains("aloft_spans_exported_total 0\n"));
    server.stop().await;
}

#[tokio::test]
async fn hanging_receiver_does_not_keep_the_server() {
    let receiver = HttpTarget::start().await;
    receiver.on("/otlp/v1/traces", ScriptedResponse::silent());
    let server = server_with(&receiver, 100).await;
    assert_eq!(server.stranger().get("/v1/whoami").await.status, 200);
    server.stop().await;
    assert_eq!(receiver.received().len(), 1);
}
