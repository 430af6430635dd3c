//! Sends the gRPC status once. The RPC library writes the status of an error into the headers and
//! the trailers; with an empty body the headers are enough ("Trailers-Only",
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).

use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::HeaderName;
use http_body_util::BodyExt as _;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// Moves the trailers of an error into its headers. Only errors have a status in the headers, and
/// their body is in memory.
pub(super) fn move_trailers_to_headers(response: Response) -> Response {
    if !response.headers().contains_key(&GRPC_STATUS) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Some(Ok(whole)) = body.collect().now_or_never() else {
        return Response::from_parts(parts, Body::empty());
    };
    let trailers = whole.trailers().cloned().unwrap_or_default();
    parts.headers.extend(trailers);
    Response::from_parts(parts, Body::from(whole.to_bytes()))
}

#[cfg(test)]
mod tests {
    use contract::rpc;
    use http::header::CONTENT_TYPE;
    use http::{HeaderMap, HeaderValue};

    use super::*;

    // issue 16 point 16: "send `grpc-status` once"
    #[tokio::test]
    async fn error_status_moves_into_the_headers() {
        let grpc = HeaderValue::from_static("application/grpc");
        let request = HeaderMap::from_iter([(CONTENT_TYPE, grpc)]);
        let answer = rpc::internal().into_http_response(&request).map(Body::new);
        let (parts, body) = move_trailers_to_headers(answer).into_parts();
        assert_eq!(parts.headers.get_all(&GRPC_STATUS).iter().count(), 1);
        assert!(parts.headers.contains_key("grpc-status-details-bin"), "{:?}", parts.headers);
        let rest = body.collect().await.unwrap();
        assert!(rest.trailers().is_none());
        assert!(rest.to_bytes().is_empty());
    }

    #[tokio::test]
    async fn other_responses_are_unchanged() {
        let answer = move_trailers_to_headers(Response::new(Body::from("fine")));
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "fine");
    }
}
