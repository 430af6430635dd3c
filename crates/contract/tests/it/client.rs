//! The typed client against the service over a real connection.

use contract::monitor::wire::{
    CreateHttpMonitorRequest, CreateTcpMonitorRequest, HttpMonitor, ListMonitorsRequest,
};
use contract::rpc::{Client, Code, creating, field_violations, reason};
use rules::Secret;

use crate::service::app;

/// A client of a service on a port of its own, which ends with the test's runtime.
async fn client() -> Client {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app()).await });
    Client::new(&format!("http://{address}/rpc"), &Secret::new("ada".to_owned())).unwrap()
}

#[tokio::test]
async fn a_create_carries_key_and_idempotency_key() {
    let monitor = HttpMonitor { name: Some("API".to_owned()), ..HttpMonitor::default() };
    let request = CreateHttpMonitorRequest { monitor: monitor.into() };
    let monitors = client().await.monitors;
    let answer = monitors.create_http_monitor_with_options(request, creating("k1")).await.unwrap();
    let monitor = answer.into_owned().monitor;
    assert_eq!(monitor.id.as_deref(), Some("mon_ada_k1"));
    assert_eq!(monitor.name.as_deref(), Some("API"));
}

#[tokio::test]
async fn an_error_arrives_with_code_reason_and_violations() {
    let monitors = client().await.monitors;
    let error = monitors.create_tcp_monitor(CreateTcpMonitorRequest::default()).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(reason(&error).as_deref(), Some("INVALID_ARGUMENT"));
    let violations = field_violations(&error);
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].field, "monitor.timeout");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = Client::new(&format!("http://{address}/rpc"), &Secret::new("ada".to_owned()));
    let list = client.unwrap().monitors.list_monitors(ListMonitorsRequest::default()).await;
    assert_eq!(list.unwrap_err().code, Code::Unavailable);
}
