//! Responses to bad calls in each protocol, and reflection.

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use insta::assert_snapshot;
use rules::limits::MESSAGE_BYTES_MAX;
use tower::ServiceExt as _;

use crate::service::{answer, app, call, request};

const CREATE: &str = "/rpc/monitor.v1.MonitorService/CreateHttpMonitor";

fn post(path: &str, content_type: &str, body: impl Into<Body>) -> Request<Body> {
    request("POST", path).header("content-type", content_type).body(body.into()).unwrap()
}

#[tokio::test]
async fn call_without_key_is_rejected() {
    let bare = Request::post("/rpc/monitor.v1.MonitorService/ListMonitors")
        .header("content-type", "application/json")
        .body(Body::from("{}"))
        .unwrap();
    assert_snapshot!(answer(bare).await, @r#"401 {"code":"unauthenticated","message":"send a key as x-service-key","details":["google.rpc.ErrorInfo"]}"#);
}

#[tokio::test]
async fn methods_answer_at_the_root_too() {
    let root = post("/monitor.v1.MonitorService/ListMonitors", "application/json", "{}");
    assert!(answer(root).await.starts_with("200 "));
}

#[tokio::test]
async fn an_unknown_method_answers_in_the_protocol() {
    assert_snapshot!(call("Nonsense", "{}").await, @r#"404 {"code":"unimplemented","message":"method not found: monitor.v1.MonitorService/Nonsense"}"#);
}

#[tokio::test]
async fn an_unknown_monitor_is_not_found() {
    assert_snapshot!(call("GetMonitor", r#"{"id":"mon_1"}"#).await, @r#"404 {"code":"not_found","message":"monitor `mon_1` not found in this workspace","details":["google.rpc.ErrorInfo"]}"#);
}

#[tokio::test]
async fn a_wrong_content_type_is_415() {
    assert_snapshot!(answer(post(CREATE, "text/plain", "{}")).await, @"415 ");
}

#[tokio::test]
async fn malformed_protobuf_is_refused_with_a_reason() {
    // issue 3: bad input
    for body in [&b"\xff"[..], b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05abc", b"\x08\x01"] {
        let answer = answer(post(CREATE, "application/proto", body)).await;
        assert!(answer.starts_with(r#"400 {"code":"invalid_argument""#), "{body:?}: {answer}");
        assert!(answer.contains("google.rpc.ErrorInfo"), "{body:?}: {answer}");
    }
}

#[tokio::test]
async fn a_body_over_4_mib_is_refused() {
    // issue 3: bad input
    let body = vec![b' '; MESSAGE_BYTES_MAX + 1];
    assert_snapshot!(answer(post(CREATE, "application/json", body)).await, @r#"429 {"code":"resource_exhausted","message":"request body size exceeds limit 4194304"}"#);
}

#[tokio::test]
async fn get_of_a_write_method_is_405() {
    let get = request("GET", &format!("{CREATE}?connect=v1&encoding=json&message=%7B%7D"));
    assert_snapshot!(answer(get.body(Body::empty()).unwrap()).await, @r#"405 {"code":"unknown","message":"GET requests are only supported for idempotent methods"}"#);
}

#[tokio::test]
async fn grpc_gets_errors_with_details_as_trailers() {
    // A gRPC frame: not compressed, 7 bytes, GetMonitorRequest { id: "mon_1" }.
    let body = b"\x00\x00\x00\x00\x07\x0a\x05mon_1";
    let call = post("/monitor.v1.MonitorService/GetMonitor", "application/grpc", &body[..]);
    let response = app().oneshot(call).await.unwrap();
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    let body = response.into_body().collect().await.unwrap();
    let trailers = body.trailers().unwrap_or(&headers);
    assert_eq!(trailers["grpc-status"], "5");
    assert!(trailers.contains_key("grpc-status-details-bin"));
}

#[tokio::test]
async fn grpc_with_json_is_checked_as_well() {
    let json = br#"{"ident":"mon_1"}"#;
    let mut body = vec![0, 0, 0, 0, json.len() as u8];
    body.extend_from_slice(json);
    let call = post("/monitor.v1.MonitorService/GetMonitor", "application/grpc+json", body);
    let response = app().oneshot(call).await.unwrap();
    let headers = response.headers().clone();
    let body = response.into_body().collect().await.unwrap();
    let trailers = body.trailers().unwrap_or(&headers);
    assert_eq!(trailers["grpc-status"], "3");
    assert!(trailers["grpc-message"].to_str().unwrap().contains("ident"));
}

#[tokio::test]
async fn reflection_names_the_services() {
    // A Connect stream of one message that lists services.
    let json = br#"{"listServices":""}"#;
    let mut body = vec![0, 0, 0, 0, json.len() as u8];
    body.extend_from_slice(json);
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let answer = answer(post(path, "application/connect+json", body)).await;
    assert!(answer.contains("monitor.v1.MonitorService"), "{answer}");
    assert!(answer.contains("grpc.health.v1.Health"), "{answer}");
}
