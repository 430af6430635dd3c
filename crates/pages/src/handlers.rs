//! Handles a visitor's request: finds the page, checks access, and sends the cached body with
//! headers for caches and browsers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT_LANGUAGE, AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::{AccessType, Timestamp};

use super::access::AccessDecision;
use super::address::PageAddress;
use super::badge::{BadgeMetric, BadgeQuery};
use super::cache::{
    CachedPage, EncodedBody, Encoding, Locale, Representation, RepresentationKey, RequestedContent,
    Work,
};
use super::i18n::{Strings, choose};
use super::{badge, html, login, robots, subscribe, widget};
use crate::Pages;

/// `Cache-Control` of public pages.
const PUBLIC: &str = "public, max-age=0, stale-while-revalidate=30, stale-if-error=300";
const PRIVATE: &str = "private, no-store";

/// Bodies of messages that belong to no page, by language and text.
type Sentences = HashMap<(&'static str, &'static str), Arc<EncodedBody>>;

/// Responds with a representation of a page.
pub(super) async fn serve_representation(
    pages: Pages,
    address: PageAddress,
    form: Representation,
    headers: HeaderMap,
) -> Response {
    representation_response(&pages, &address, form, &headers).await
}

/// Responds with a badge. The query is validated only after the access check.
pub(super) async fn serve_badge(
    pages: Pages,
    address: PageAddress,
    (subject, query): (BadgeMetric, Option<String>),
    headers: HeaderMap,
) -> Response {
    let locale = locale(&address, &headers);
    let (shown, _) = match find(&pages, &address, locale.words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let refused = |status, sentence: &str| {
        let body = EncodedBody::new("text/plain; charset=utf-8", format!("{sentence}\n"));
        finish(&pages, &shown, build_response(&body, status, access(&shown), &headers))
    };
    let badge_query = match BadgeQuery::parse(subject, query.as_deref()) {
        Err(wrong) => return refused(StatusCode::BAD_REQUEST, &wrong),
        Ok(badge_query) if !badge::has_component(&shown, &badge_query) => {
            return refused(StatusCode::NOT_FOUND, &badge::unknown_component(&badge_query));
        }
        Ok(badge_query) => badge_query,
    };
    let key = RepresentationKey { content: RequestedContent::Badge(badge_query), locale };
    let encoding = Encoding::negotiate(&headers);
    let body = shown.get_or_render(&key, encoding, || async {
        let latency = match subject {
            BadgeMetric::State | BadgeMetric::Uptime => None,
            BadgeMetric::Latency => Some(badge::latency::read(&pages, &shown, &badge_query).await),
        };
        let shown = Arc::clone(&shown);
        let work = move || {
            let svg = badge::badge(&shown, locale.words, &badge_query, latency.as_ref());
            EncodedBody::new("image/svg+xml", svg)
        };
        Ok(Some(Box::new(work) as Work))
    });
    // A badge without latencies says so.
    match body.await.ok().flatten() {
        Some(body) => {
            finish(&pages, &shown, build_response(&body, StatusCode::OK, access(&shown), &headers))
        }
        None => unavailable(locale.words, &headers),
    }
}

async fn representation_response(
    pages: &Pages,
    address: &PageAddress,
    form: Representation,
    headers: &HeaderMap,
) -> Response {
    let locale = locale(address, headers);
    let (shown, _) = match find(pages, address, locale.words, headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let encoding =
        if form.is_picture() { Encoding::Identity } else { Encoding::negotiate(headers) };
    let Some(body) = shown.representation(form, locale, encoding).await else {
        return unavailable(locale.words, headers);
    };
    let access = access(&shown);
    let mut answer = finish(pages, &shown, build_response(&body, StatusCode::OK, access, headers));
    if form == Representation::Widget && access == AccessType::Public {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, widget::policy());
    }
    answer
}

/// Adds the headers that apply to every response of the page.
pub(super) fn finish(pages: &Pages, shown: &CachedPage, mut answer: Response) -> Response {
    add_page_headers(&mut answer, shown, pages.ctx.now());
    answer
}

/// Returns the access type of a page.
pub(super) fn access(shown: &CachedPage) -> AccessType {
    shown.page.settings.effective_access()
}

/// Returns a 503 response.
pub(super) fn unavailable(words: &'static Strings, headers: &HeaderMap) -> Response {
    let mut answer =
        message_response(words.unavailable, StatusCode::SERVICE_UNAVAILABLE, words, headers);
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
    answer
}

/// Adds headers that apply to all representations. They state the age of an outdated page and
/// forbid indexing if the page must not be listed.
pub(super) fn add_page_headers(answer: &mut Response, shown: &CachedPage, now: Timestamp) {
    let headers = answer.headers_mut();
    if shown.served_from_cache {
        headers.insert(AGE, HeaderValue::from(now.since(shown.view.at).as_secs()));
    }
    if !robots::is_listed(&shown.page) {
        headers.insert(robots::HEADER, robots::not_listed());
    }
}

/// A page, and the path prefix of its links.
pub(super) type VisiblePage = (Arc<CachedPage>, String);

/// Returns the page if it exists and the visitor may see it. Otherwise returns the response that
/// explains why not.
pub(super) async fn find(
    pages: &Pages,
    address: &PageAddress,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Result<VisiblePage, Box<Response>> {
    let not_found =
        || Box::new(message_response(words.not_found, StatusCode::NOT_FOUND, words, headers));
    if !address.is_valid() {
        return Err(not_found());
    }
    let shown = match pages.cache.get(pages, address).await {
        Ok(Some(shown)) => shown,
        Ok(None) => return Err(not_found()),
        Err(why) => {
            tracing::error!("the status page at {address:?} could not be read: {why}");
            return Err(Box::new(unavailable(words, headers)));
        }
    };
    let base = address.base();
    let status = match pages.access.decide(&shown.page, headers, pages.ctx.now()) {
        AccessDecision::Granted => return Ok((shown, base)),
        AccessDecision::Password => StatusCode::UNAUTHORIZED,
        AccessDecision::Email => StatusCode::FORBIDDEN,
    };
    if status == StatusCode::FORBIDDEN && !subscribe::is_offered(pages) {
        let text = login::email_unavailable(&shown.page, words, &base);
        let body = EncodedBody::new("text/html; charset=utf-8", text);
        return Err(Box::new(build_response(&body, status, access(&shown), headers)));
    }
    let login_page = shown
        .representation(
            Representation::Login,
            locale(address, headers),
            Encoding::negotiate(headers),
        )
        .await;
    Err(Box::new(match login_page {
        Some(body) => build_response(&body, status, access(&shown), headers),
        None => unavailable(words, headers),
    }))
}

/// Returns the visitor's language and the link style of the address.
pub(super) fn locale(address: &PageAddress, headers: &HeaderMap) -> Locale {
    let is_domain = matches!(address, PageAddress::Domain(_));
    Locale { words: language(headers), is_domain }
}

/// Returns the visitor's language.
pub(super) fn language(headers: &HeaderMap) -> &'static Strings {
    choose(headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()))
}

/// Returns a page with a message that belongs to no status page. Each message is rendered once.
pub(super) fn message_response(
    sentence: &'static str,
    status: StatusCode,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Response {
    static RENDERED: LazyLock<Mutex<Sentences>> = LazyLock::new(Mutex::default);
    let mut kept = RENDERED.lock().unwrap_or_else(PoisonError::into_inner);
    let body = kept.entry((words.lang, sentence)).or_insert_with(|| {
        let about = (status == StatusCode::NOT_FOUND).then_some(words.not_found_about);
        let text = login::message_page(sentence, about, words);
        Arc::new(EncodedBody::new("text/html; charset=utf-8", text))
    });
    let body = Arc::clone(body);
    drop(kept);
    build_response(&body, status, AccessType::Password, headers)
}

/// Returns a body as a response in the best encoding that the visitor accepts.
pub(super) fn build_response(
    body: &EncodedBody,
    status: StatusCode,
    access: AccessType,
    request: &HeaderMap,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let cache = match access {
        AccessType::Public => PUBLIC,
        AccessType::Password | AccessType::EmailDomain => {
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
    if status == StatusCode::OK && body.matches_etag(request) {
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
