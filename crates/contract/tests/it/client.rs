//! The client against the service over a real connection, with types and by method name.

use std::time::Duration;

use contract::monitor::wire::{
    CreateHttpMonitorRequest, CreateTcpMonitorRequest, HttpMonitor, ListMonitorsRequest,
};
use contract::rpc::{Call, Client, Code, field_violations, is_unsent, reason};
use rules::Secret;
use serde_json::json;

use crate::service::app;

/// Starts a service on its own port and returns a client. The service ends with the test's runtime.
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
    let answer = client().await.create(request, "k1").await.unwrap();
    let monitor = answer.monitor;
    assert_eq!(monitor.id.as_deref(), Some("mon_ada_k1"));
    assert_eq!(monitor.name.as_deref(), Some("API"));
}

#[tokio::test]
async fn an_error_arrives_with_code_reason_and_violations() {
    let request = CreateTcpMonitorRequest::default();
    let error = client().await.send(request).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(reason(&error).as_deref(), Some("INVALID_ARGUMENT"));
    let violations = field_violations(&error);
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].field, "monitor.timeout");
}

#[tokio::test]
async fn a_call_by_name_is_the_same_call() {
    let client = client().await;
    let call = |method, request| Call {
        method,
        request,
        time: Duration::from_secs(9),
        idempotency_key: Some("k1"),
        response_bytes_max: 10_000,
    };
    let (monitor, nothing) = (json!({ "monitor": { "name": "API" } }), json!({}));
    let create = call("/monitor.v1.MonitorService/CreateHttpMonitor", &monitor);
    let answer = client.call(&create).await.unwrap();
    assert_eq!(answer["monitor"]["id"], "mon_ada_k1");
    let short = Call { response_bytes_max: 5, ..create };
    assert_eq!(client.call(&short).await.unwrap_err().code, Code::ResourceExhausted);
    let refused = call("/monitor.v1.MonitorService/CreateTcpMonitor", &nothing);
    let error = client.call(&refused).await.unwrap_err();
    assert_eq!(field_violations(&error)[0].field, "monitor.timeout");
    let unknown = call("/monitor.v1.MonitorService/Nonsense", &nothing);
    assert_eq!(client.call(&unknown).await.unwrap_err().code, Code::Unimplemented);
}

#[tokio::test]
async fn unreachable_server_is_unavailable_and_unsent() {
    // The socket reserves the port, so that nobody listens on it.
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = held.local_addr().unwrap();
    let client = Client::new(&format!("http://{address}/rpc"), &Secret::new("ada".to_owned()));
    let list = client.unwrap().send(ListMonitorsRequest::default()).await;
    let error = list.unwrap_err();
    assert_eq!((error.code, is_unsent(&error)), (Code::Unavailable, true));
}
