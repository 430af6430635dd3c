//! Calls against a local server that responds badly, and the parts of a call.

use std::future::pending;

use axum::Router;
use axum::response::IntoResponse;
use connectrpc::CompressionProvider as _;
use proto::region::v1::{ListRegionsRequest, ListRegionsResponse, Region};
use rules::Secret;

use super::super::client::CallLimits;
use super::*;

/// Creates a client of a server that gives this response to every request.
async fn client_of<R>(response: R, limits: CallLimits) -> Client
where
    R: IntoResponse + Clone + Send + Sync + 'static,
{
    client_of_router(Router::new().fallback(async move || response.clone()), limits).await
}

async fn client_of_router(router: Router, limits: CallLimits) -> Client {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/rpc", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let client = Client::new(&base, &Secret::new("key".to_owned())).unwrap();
    Client { limits, ..client }
}

async fn failure(client: &Client) -> (Code, String) {
    let error = client.send(ListRegionsRequest::default()).await.unwrap_err();
    (error.code, error.message.unwrap_or_default())
}

/// Creates a response that compresses well.
fn regions() -> ListRegionsResponse {
    let region = Region { id: "x".repeat(2_000), ..Region::default() };
    ListRegionsResponse { regions: vec![region] }
}

#[tokio::test]
async fn absent_response_times_out() {
    let limits = CallLimits { timeout: Duration::from_millis(20), ..CallLimits::default() };
    let router = Router::new().fallback(async || pending::<()>().await);
    let client = client_of_router(router, limits).await;
    let expected = (Code::DeadlineExceeded, "no response within 0.02 s".to_owned());
    assert_eq!(failure(&client).await, expected);
}

#[tokio::test]
async fn response_above_the_limit_is_an_error() {
    let body = regions().encode_to_bytes();
    let compressed = GzipProvider::new().compress(&body).unwrap();
    let limits = CallLimits { response_bytes_max: body.len(), ..CallLimits::default() };
    let less = CallLimits { response_bytes_max: body.len() - 1, ..limits };
    let plain = ([(CONTENT_TYPE, PROTOBUF)], body.clone());
    let gzip = ([(CONTENT_TYPE, PROTOBUF), (CONTENT_ENCODING, "gzip")], compressed);
    let exceeded = format!("response body size exceeds limit {}", body.len() - 1);
    for (case, fitting, large) in [
        ("plain", client_of(plain.clone(), limits).await, client_of(plain, less).await),
        ("gzip", client_of(gzip.clone(), limits).await, client_of(gzip, less).await),
    ] {
        let response = fitting.send(ListRegionsRequest::default()).await.unwrap();
        assert_eq!(response, regions(), "{case}");
        assert_eq!(failure(&large).await, (Code::ResourceExhausted, exceeded.clone()), "{case}");
    }
}

#[tokio::test]
async fn foreign_content_is_an_error() {
    for (headers, expected) in [
        ([(CONTENT_TYPE, "text/html"), (CONTENT_ENCODING, "identity")], Code::Unknown),
        ([(CONTENT_TYPE, JSON), (CONTENT_ENCODING, "identity")], Code::Unknown),
        ([(CONTENT_TYPE, PROTOBUF), (CONTENT_ENCODING, "gzip")], Code::Internal),
        ([(CONTENT_TYPE, PROTOBUF), (CONTENT_ENCODING, "br")], Code::Internal),
        ([(CONTENT_TYPE, PROTOBUF), (CONTENT_ENCODING, "identity")], Code::Internal),
    ] {
        let client = client_of((headers.clone(), "<html>"), CallLimits::default()).await;
        assert_eq!(failure(&client).await.0, expected, "{headers:?}");
    }
}

#[tokio::test]
async fn calls_accept_gzip() {
    let accepted = async |headers: HeaderMap| {
        assert_eq!(headers.get(ACCEPT_ENCODING).unwrap(), "gzip");
        ([(CONTENT_TYPE, PROTOBUF)], Bytes::new())
    };
    let client = client_of_router(Router::new().fallback(accepted), CallLimits::default()).await;
    client.send(ListRegionsRequest::default()).await.unwrap();
}

#[test]
fn methods_are_below_the_base_path() {
    for (base, whole) in [
        ("http://127.0.0.1:8080/rpc", "http://127.0.0.1:8080/rpc/a.v1.B/C"),
        ("https://example.com/aloft/rpc/", "https://example.com/aloft/rpc/a.v1.B/C"),
        ("https://example.com", "https://example.com/a.v1.B/C"),
        ("https://example.com/rpc?to=nowhere", "https://example.com/rpc/a.v1.B/C"),
    ] {
        assert_eq!(address(&base.parse().unwrap(), "/a.v1.B/C"), whole);
    }
}

#[test]
fn foreign_response_is_an_error_by_status() {
    for (status, expected) in [
        (400, Code::Internal),
        (401, Code::Unauthenticated),
        (403, Code::PermissionDenied),
        (404, Code::Unimplemented),
        (408, Code::DeadlineExceeded),
        (429, Code::Unavailable),
        (503, Code::Unavailable),
        (500, Code::Unknown),
    ] {
        let refused = decode_error(StatusCode::from_u16(status).unwrap(), b"<html>");
        assert_eq!(refused.code, expected, "{status}");
    }
    let named = decode_error(StatusCode::NOT_FOUND, br#"{"code":"aborted","message":"m"}"#);
    assert_eq!((named.code, named.message.as_deref()), (Code::Aborted, Some("m")));
}
