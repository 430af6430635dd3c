//! JSON responses as callers receive them (design §4).

use insta::assert_snapshot;

use crate::service::{answer, call, request};

#[tokio::test]
async fn empty_list_returns_empty_lists_and_zero_total() {
    // spec: §4.3; design: §4
    assert_snapshot!(call("ListMonitors", "{}").await, @r#"200 {"httpMonitors":[],"tcpMonitors":[],"dnsMonitors":[],"heartbeatMonitors":[],"totalSize":0,"nextPageToken":""}"#);
}

#[tokio::test]
async fn zero_false_and_empty_values_are_returned() {
    let body = r#"{"monitor":{"name":"API","retry":0,"timeout":0,"active":false,"body":"",
        "headers":[{"key":"X-Team","value":""}],"bodyAssertions":[{"target":"","comparator":"empty"}]}}"#;
    assert_snapshot!(call("CreateHttpMonitor", body).await, @r#"200 {"monitor":{"id":"mon_ada_none","name":"API","body":"","timeout":0,"retry":0,"active":false,"tags":[],"regions":[],"headers":[{"key":"X-Team","value":""}],"statusCodeAssertions":[],"bodyAssertions":[{"target":"","comparator":"empty"}],"jsonAssertions":[],"headerAssertions":[],"resolvedRegions":[]},"warnings":[]}"#);
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_its_name() {
    // issue 3: bad input
    let body = r#"{"monitor":{"name":"API","interval":"30s"}}"#;
    assert_snapshot!(call("CreateHttpMonitor", body).await, @r#"400 {"code":"invalid_argument","message":"`monitor.interval` is not a field of monitor.v1.HttpMonitor; did you mean `periodicity`?","details":["google.rpc.ErrorInfo","google.rpc.BadRequest"]}"#);
}

#[tokio::test]
async fn get_with_unknown_field_is_refused() {
    let path = "/rpc/monitor.v1.MonitorService/ListMonitors?connect=v1&encoding=json&message=";
    let get = |message: &str| request("GET", &format!("{path}{message}")).body("".into()).unwrap();
    assert_snapshot!(answer(get("%7B%22limt%22%3A5%7D")).await, @r#"400 {"code":"invalid_argument","message":"`limt` is not a field of monitor.v1.ListMonitorsRequest; did you mean `limit`?","details":["google.rpc.ErrorInfo","google.rpc.BadRequest"]}"#);
    assert_snapshot!(answer(get("%7B%22limit%22%3A5%7D")).await, @r#"200 {"httpMonitors":[],"tcpMonitors":[],"dnsMonitors":[],"heartbeatMonitors":[],"totalSize":0,"nextPageToken":""}"#);
}

#[tokio::test]
async fn fraction_for_an_integer_is_rejected() {
    let body = r#"{"monitor":{"timeout":0.5}}"#;
    assert_snapshot!(call("CreateHttpMonitor", body).await, @r#"400 {"code":"invalid_argument","message":"`monitor.timeout` must be a whole number of 32 bits (given: `0.5`)","details":["google.rpc.ErrorInfo","google.rpc.BadRequest"]}"#);
}

#[tokio::test]
async fn update_mask_accepts_schema_field_names() {
    let body = r#"{"monitor":{"id":"mon_1"},"updateMask":"name,statusCodeAssertions"}"#;
    assert_snapshot!(call("UpdateHttpMonitor", body).await, @r#"200 {"monitor":{"description":"name|status_code_assertions","tags":[],"regions":[],"headers":[],"statusCodeAssertions":[],"bodyAssertions":[],"jsonAssertions":[],"headerAssertions":[],"resolvedRegions":[]},"warnings":[]}"#);
    assert_snapshot!(call("UpdateHttpMonitor", r#"{"updateMask":""}"#).await, @r#"200 {"monitor":{"description":"","tags":[],"regions":[],"headers":[],"statusCodeAssertions":[],"bodyAssertions":[],"jsonAssertions":[],"headerAssertions":[],"resolvedRegions":[]},"warnings":[]}"#);
    assert_snapshot!(call("UpdateHttpMonitor", "{}").await, @r#"200 {"monitor":{"tags":[],"regions":[],"headers":[],"statusCodeAssertions":[],"bodyAssertions":[],"jsonAssertions":[],"headerAssertions":[],"resolvedRegions":[]},"warnings":[]}"#);
}

#[tokio::test]
async fn a_violation_names_path_value_and_limit() {
    assert_snapshot!(call("CreateTcpMonitor", "{}").await, @r#"400 {"code":"invalid_argument","message":"`monitor.timeout` must be 0 to 120000 (given: `120001`)","details":["google.rpc.ErrorInfo","google.rpc.BadRequest"]}"#);
}

#[tokio::test]
async fn malformed_json_is_rejected_with_a_reason() {
    for body in ["", "{", "\u{0}", "{\"monitor\":{\"name\":\"a\"}}}", "[[[["] {
        let answer = call("CreateHttpMonitor", body).await;
        assert!(answer.starts_with(r#"400 {"code":"invalid_argument""#), "{body}: {answer}");
        assert!(answer.contains("google.rpc.ErrorInfo"), "{body}: {answer}");
    }
}

#[tokio::test]
async fn a_field_given_twice_is_refused() {
    let body = r#"{"monitor":{"name":"a","name":"b"}}"#;
    assert_snapshot!(call("CreateHttpMonitor", body).await, @r#"400 {"code":"invalid_argument","message":"failed to decode JSON: duplicate field `name` at line 1 column 29","details":["google.rpc.ErrorInfo"]}"#);
}
