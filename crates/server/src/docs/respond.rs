//! From a request to an answer: what browsers and caches need to know around the bytes.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LOCATION,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::shelf::Leaf;
use super::style::STYLE;
use crate::said::{is_known, policy};

/// What a browser may do without asking again: documents change with the program and at no other time.
const CACHE: &str = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400";

/// What a browser may load for a page: from here only.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| policy(STYLE));

/// What is to be read, to whom asks with these headers.
pub(super) fn answer(leaf: Leaf, status: StatusCode, request: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(CACHE));
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.clone());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if status == StatusCode::OK && is_known(&leaf.etag, request) {
        headers.insert(ETAG, leaf.etag);
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(ETAG, leaf.etag);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(leaf.content_type));
    if let Some(word) = leaf.encoding.word() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(word));
    }
    *response.body_mut() = Body::from(leaf.bytes);
    response
}

/// That a page is at another address.
pub(super) fn moved(address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    let address = HeaderValue::try_from(address).expect("addresses are of plain letters");
    response.headers_mut().insert(LOCATION, address);
    response
}

/// Whether who asks would rather have this type than a page, which is what browsers ask for first.
pub(super) fn prefers(request: &HeaderMap, content_type: &str) -> bool {
    let accepted = request.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = accepted
        .flat_map(|value| value.split(','))
        .map(|item| item.split(';').next().unwrap_or_default().trim());
    types.find(|it| *it == content_type || *it == "text/html").is_some_and(|it| it == content_type)
}

/// Whether who asks is a browser, as far as its wishes tell.
pub(super) fn is_browser(request: &HeaderMap) -> bool {
    prefers(request, "text/html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_a_type_before_pages_is_given_it() {
        let asks = |accept: &'static str| {
            HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))])
        };
        let is_markdown = |accept| prefers(&asks(accept), "text/markdown");
        assert!(is_markdown("text/markdown") && is_markdown("text/markdown;q=1.0, text/html"));
        for never in
            ["text/html,application/xhtml+xml,*/*;q=0.8", "*/*", "text/html, text/markdown"]
        {
            assert!(!is_markdown(never), "{never}");
        }
        assert!(!prefers(&HeaderMap::new(), "text/markdown") && !is_browser(&HeaderMap::new()));
        assert!(is_browser(&asks("text/html,application/xhtml+xml,*/*;q=0.8")));
    }
}
