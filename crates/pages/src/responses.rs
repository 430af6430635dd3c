//! Steps that all handlers of a page share: find the page and check access, and build responses
//! with headers for caches and browsers.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT_LANGUAGE, AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::AccessType;
use rules::status_page::StatusPage;
use web::http_body::{EncodedBody, Encoding};

use super::access::AccessDecision;
use super::address::PageAddress;
use super::cache::CachedPage;
use super::cache_rule::CacheRule;
use super::html::login::{email_unavailable, message_page};
use super::i18n::{Strings, choose};
use super::representation::{LinkStyle, Representation, Variant};
use super::snapshot::PageSnapshot;
use super::{html, robots};
use crate::Pages;

/// `Cache-Control` of public pages.
const PUBLIC: &str = "public, max-age=0, stale-while-revalidate=30, stale-if-error=300";
const PRIVATE: &str = "private, no-store";

/// Address of a client without a known peer, as in tests that call the router directly.
pub(super) const UNKNOWN_PEER: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// A page, and the path prefix of its links.
pub(super) type VisiblePage = (Arc<CachedPage>, String);

/// Bodies of messages that belong to no page, by language and text.
type RenderedMessages = HashMap<(&'static str, &'static str), Arc<EncodedBody>>;

/// Returns the page if it exists and the visitor may see it. Otherwise returns the response that
/// explains why not.
pub(super) async fn find(
    pages: &Pages,
    address: &PageAddress,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Result<VisiblePage, Box<Response>> {
    let cached = look_up(pages, address, words, headers).await?;
    let (base, snapshot) = (address.base(), &cached.snapshot);
    let status = match pages.access.decide(&snapshot.page, headers, pages.source.ctx.now()) {
        AccessDecision::Granted => return Ok((cached, base)),
        AccessDecision::Password => StatusCode::UNAUTHORIZED,
        AccessDecision::Email => StatusCode::FORBIDDEN,
    };
    if status == StatusCode::FORBIDDEN && !pages.can_email_links() {
        let text = email_unavailable(&snapshot.page, words, &base);
        let body = EncodedBody::new("text/html; charset=utf-8", text);
        return Err(Box::new(build_response(&body, status, CacheRule::NoStore, headers)));
    }
    let login_page = cached
        .representation(
            Representation::Login,
            variant(address, headers),
            Encoding::negotiate(headers),
        )
        .await;
    Err(Box::new(match login_page {
        Some(body) => build_response(&body, status, CacheRule::NoStore, headers),
        None => unavailable(words, headers),
    }))
}

/// Returns the page at an address without checking access, or the response that explains why
/// there is none.
pub(super) async fn look_up(
    pages: &Pages,
    address: &PageAddress,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Result<Arc<CachedPage>, Box<Response>> {
    let found =
        if address.is_valid() { pages.cache.get(&pages.source, address).await } else { Ok(None) };
    match found {
        Ok(Some(cached)) => Ok(cached),
        Ok(None) => Err(Box::new(not_found(words, headers))),
        Err(why) => {
            tracing::warn!("the status page at {address:?} could not be read: {why}");
            Err(Box::new(unavailable(words, headers)))
        }
    }
}

/// Returns the visitor's language and the link style of the address.
pub(super) fn variant(address: &PageAddress, headers: &HeaderMap) -> Variant {
    let link_style = match address {
        PageAddress::Slug(_) => LinkStyle::Slug,
        PageAddress::Domain(_) => LinkStyle::Domain,
    };
    Variant { words: language(headers), link_style }
}

/// Returns the visitor's language.
pub(super) fn language(headers: &HeaderMap) -> &'static Strings {
    choose(headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()))
}

/// Returns the rule for the content of a page.
pub(super) fn cache_rule(page: &StatusPage) -> CacheRule {
    match page.settings.effective_access() {
        AccessType::Public => CacheRule::Public,
        AccessType::Password | AccessType::EmailDomain => CacheRule::NoStore,
    }
}

/// Returns a 404 response.
pub(super) fn not_found(words: &'static Strings, headers: &HeaderMap) -> Response {
    message_response(words.not_found, StatusCode::NOT_FOUND, words, headers)
}

/// Returns a 503 response.
pub(super) fn unavailable(words: &'static Strings, headers: &HeaderMap) -> Response {
    let mut response =
        message_response(words.unavailable, StatusCode::SERVICE_UNAVAILABLE, words, headers);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
    response
}

/// Returns a page with a message that belongs to no status page. Each message is rendered once.
pub(super) fn message_response(
    sentence: &'static str,
    status: StatusCode,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Response {
    static RENDERED: LazyLock<Mutex<RenderedMessages>> = LazyLock::new(Mutex::default);
    let mut rendered = RENDERED.lock().unwrap_or_else(PoisonError::into_inner);
    let body = rendered.entry((words.lang, sentence)).or_insert_with(|| {
        let about = (status == StatusCode::NOT_FOUND).then_some(words.not_found_about);
        let text = message_page(sentence, about, words);
        Arc::new(EncodedBody::new("text/html; charset=utf-8", text))
    });
    let body = Arc::clone(body);
    drop(rendered);
    build_response(&body, status, CacheRule::NoStore, headers)
}

/// Adds the headers that apply to every response of the page. They state the age of an outdated
/// page and forbid indexing if the page must not be listed.
pub(super) fn finish(pages: &Pages, snapshot: &PageSnapshot, mut response: Response) -> Response {
    let headers = response.headers_mut();
    if snapshot.is_outdated {
        let age = pages.source.ctx.now().since(snapshot.view.at);
        headers.insert(AGE, HeaderValue::from(age.as_secs()));
    }
    if !robots::is_listed(&snapshot.page) {
        headers.insert(robots::HEADER, robots::not_listed());
    }
    response
}

/// Returns a body as a response in the best encoding that the visitor accepts.
pub(super) fn build_response(
    body: &EncodedBody,
    status: StatusCode,
    rule: CacheRule,
    request: &HeaderMap,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let cache = match rule {
        CacheRule::Public => PUBLIC,
        CacheRule::NoStore => {
            headers.insert(robots::HEADER, robots::not_listed());
            PRIVATE
        }
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding, accept-language, cookie"));
    headers.insert(CONTENT_SECURITY_POLICY, html::policy());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(ETAG, body.etag.clone());
    if let Some(at) = body.changed_at {
        let at = HeaderValue::try_from(httpdate::fmt_http_date(at));
        headers.insert(LAST_MODIFIED, at.expect("a date is a header"));
    }
    if status == StatusCode::OK && body.is_unmodified(request) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(body.content_type));
    let encoding = body.encoding(request);
    if let Some(word) = encoding.as_token() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(word));
    }
    *response.body_mut() = Body::from(body.bytes(encoding));
    response
}
