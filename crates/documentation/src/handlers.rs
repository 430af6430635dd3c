//! Builds responses with the headers for browsers and caches.

use std::cmp::Reverse;
use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION,
    REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use web::http_body::{content_security_policy, matches_etag};

use super::assets::STYLE;
use super::cache::EncodedResource;

/// Content type of pages.
const PAGE: &str = "text/html";
/// Caching rules for browsers. Documents change only with the program.
const CACHE: &str = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400";

/// Seconds after which a rejected client may retry. The queue is empty by then, even on a busy machine
/// where work takes three times as long.
const RETRY_AFTER_SECONDS: &str = "2";

/// Content security policy: pages load resources only from this server.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| content_security_policy(STYLE));

/// Builds the response to a request with these headers.
pub(super) fn build_response(
    resource: EncodedResource,
    status: StatusCode,
    request: &HeaderMap,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(CACHE));
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if status == StatusCode::OK && matches_etag(&resource.etag, request) {
        headers.insert(ETAG, resource.etag);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(ETAG, resource.etag);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(resource.content_type));
    if let Some(word) = resource.encoding.as_token() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(word));
    }
    *response.body_mut() = Body::from(resource.bytes);
    response
}

/// Returns a redirect to the current address of a page.
pub(super) fn redirect(address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    let address = HeaderValue::try_from(address).expect("addresses are ASCII");
    response.headers_mut().insert(LOCATION, address);
    response
}

/// Returns 503, because the queue is full.
pub(super) fn overloaded() -> Response {
    let mut response = Response::new(Body::from("the documentation is overloaded; try again\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns whether the client prefers this type to HTML: with more weight, or with the same weight and
/// named first (RFC 9110 §12.5.1). Wildcards do not count.
pub(super) fn prefers(request: &HeaderMap, content_type: &str) -> bool {
    match (preference(request, content_type), preference(request, PAGE)) {
        (Some(own), Some(page)) => own >= page,
        (own, _) => own.is_some(),
    }
}

/// Returns the preference for a type: its weight in thousandths, then its position. Returns `None` if
/// the type is not named or has weight zero.
fn preference(request: &HeaderMap, content_type: &str) -> Option<(u32, Reverse<usize>)> {
    let accepted = request.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut items = accepted.flat_map(|value| value.split(',')).enumerate();
    items.find_map(|(at, item)| {
        let mut parts = item.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|it| it.eq_ignore_ascii_case(content_type));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f32>);
        let thousandths = weight.map_or(1_000.0, |it| it.unwrap_or_default() * 1_000.0) as u32;
        (is_named && thousandths > 0).then_some((thousandths, Reverse(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overloaded_response_has_retry_after_and_no_store() {
        let response = overloaded();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], RETRY_AFTER_SECONDS);
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
    }

    #[test]
    fn type_preferred_to_html_is_chosen() {
        let asks = |accept: &'static str| {
            HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))])
        };
        let is_markdown = |accept| prefers(&asks(accept), "text/markdown");
        for always in [
            "text/markdown",
            "text/markdown;q=1.0, text/html",
            "text/html; q=0.5, text/markdown; charset=utf-8; q=0.6",
            "text/html;q=0, text/markdown;q=0.001",
            "Text/Markdown",
        ] {
            assert!(is_markdown(always), "{always}");
        }
        for never in [
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "*/*",
            "text/html, text/markdown",
            "text/markdown;q=0, text/html",
            "text/markdown;q=0",
            "text/markdown;q=0.5, text/html",
            "text/markdown;q=lots, text/html",
        ] {
            assert!(!is_markdown(never), "{never}");
        }
        assert!(!prefers(&HeaderMap::new(), "text/markdown"));
    }
}
