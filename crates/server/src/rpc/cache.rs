//! Cache of responses to frequent reads (docs/decisions/0011). A response is reused until the
//! workspace changes. The layer is behind the gate, so that authentication and limits apply to each
//! call. `key` computes the cache key; `entries` stores the responses.

mod entries;
mod key;

use std::fmt;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use contract::rpc;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, Full};
use store::Store;
use tokio::time::Instant;
use web::context::Context;

pub(crate) use self::entries::{ResponseEntries, response_entries};
use self::key::CacheKey;
use super::body::CallStage;
use crate::auth::Caller;
use crate::edge::Protocol;
use crate::observe::Metrics;

/// Methods whose responses are cached. They depend only on the message, the caller's workspace and
/// scope, and resources with their status. Methods that return results or depend on the time are
/// excluded.
const METHODS: [&str; 2] =
    ["/monitor.v1.MonitorService/GetMonitor", "/monitor.v1.MonitorService/ListMonitors"];

/// Maximum size of a cached response, in bytes: a full page of large monitors.
const RESPONSE_BYTES_MAX: u64 = 1_048_576;

/// Layer that caches responses.
#[derive(Clone, Debug)]
pub(crate) struct ResponseCache {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) metrics: Metrics,
    pub(crate) entries: Arc<ResponseEntries>,
}

/// Response without the headers of a single call. It may contain secrets, so `Debug` hides its
/// content.
#[derive(Clone)]
pub(crate) struct CachedResponse {
    headers: HeaderMap,
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl ResponseCache {
    /// Answers a request from the cache, or passes it on and caches the response.
    pub(crate) async fn serve_cached(
        State(cache): State<Self>,
        request: Request,
        next: Next,
    ) -> Response {
        let began = Instant::now();
        let path = request.uri().path();
        let path = path.strip_prefix("/rpc").unwrap_or(path);
        let Some(method) = METHODS.iter().find(|method| **method == path) else {
            return next.run(request).await;
        };
        let extensions = request.extensions();
        let caller = extensions.get::<Caller>().copied();
        let (Some(caller), Some(stage)) = (caller, extensions.get::<CallStage>().cloned()) else {
            return next.run(request).await;
        };
        let cache_key = CacheKey::from_request(caller, method, &request);
        // Get the generation before reading: a later change makes the cached response stale.
        let generation = cache.store.generation(caller.workspace);
        let (Some(cache_key), Some(generation)) = (cache_key, generation) else {
            return next.run(request).await;
        };
        let now = cache.ctx.now();
        if let Some(answer) = cache.entries.get(&cache_key, &generation, now) {
            stage.mark_succeeded();
            cache.count(method, began);
            return answer.into_response();
        }
        let response = next.run(request).await;
        if !stage.has_succeeded() || response.status() != StatusCode::OK {
            return response;
        }
        let answer = match CachedResponse::from_response(response).await {
            Ok(answer) => answer,
            Err(response) => return response,
        };
        cache.entries.put(cache_key, answer.clone(), generation, now);
        answer.into_response()
    }

    /// Counts a cached response as the interceptor counts the others.
    fn count(&self, method: &str, began: Instant) {
        let name = rpc::method(method).map_or("other", |method| &method.name);
        self.metrics.call_seconds.observe(began.elapsed().as_secs_f64());
        self.metrics.count_call(name, "ok");
        self.metrics.calls_cached.inc();
    }
}

impl CachedResponse {
    /// Reads a whole response. Returns it unchanged if it is too large to be cached.
    async fn from_response(response: Response) -> Result<Self, Response> {
        // Services answer with bodies of known length, unlike streams.
        if response.body().size_hint().lower() > RESPONSE_BYTES_MAX {
            return Err(response);
        }
        let (parts, body) = response.into_parts();
        let Ok(whole) = body.collect().await else {
            // The format of an error follows from the content type, which is that of the request.
            return Err(Protocol::Rpc.answer(rpc::internal(), &parts.headers));
        };
        let trailers = whole.trailers().cloned();
        Ok(Self { headers: parts.headers, body: whole.to_bytes(), trailers })
    }

    fn into_response(self) -> Response {
        let whole = Full::new(self.body);
        let body = match self.trailers {
            None => Body::new(whole),
            Some(trailers) => {
                Body::new(whole.with_trailers(std::future::ready(Some(Ok(trailers)))))
            }
        };
        let mut response = Response::new(body);
        *response.headers_mut() = self.headers;
        response
    }
}

impl fmt::Debug for CachedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a response of {} bytes", self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_methods_without_side_effects_are_cached() {
        for path in METHODS {
            assert!(rpc::method(path).is_some_and(|it| it.reads_only && !it.streams), "{path}");
        }
    }

    #[tokio::test]
    async fn cached_response_keeps_headers_body_and_trailers() {
        let headers = HeaderMap::from_iter([(http::header::CONTENT_TYPE, "a/b".parse().unwrap())]);
        let trailers =
            HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]);
        for trailers in [None, Some(trailers)] {
            let body = Bytes::from_static(b"whole");
            let answer =
                CachedResponse { headers: headers.clone(), body, trailers: trailers.clone() };
            let again = CachedResponse::from_response(answer.into_response()).await.unwrap();
            assert_eq!((again.headers, again.trailers), (headers.clone(), trailers));
            assert_eq!(again.body, "whole");
        }
    }

    #[test]
    fn debug_output_hides_the_response() {
        let body = Bytes::from_static(b"hunter2");
        let answer =
            CachedResponse { headers: HeaderMap::new(), body: body.clone(), trailers: None };
        let shown = format!("{answer:?} {:?}", super::super::body::BufferedBody(body));
        assert_eq!(shown, "a response of 7 bytes a message of 7 bytes");
    }
}
