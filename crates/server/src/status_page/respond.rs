//! From a visitor's request to an answer: the page is found, the gate is asked, and what the shelf has
//! goes out with what caches and browsers need to know.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::AccessType;

use super::gate::Entry;
use super::shelf::{Form, Said};
use super::words::{Words, choose};
use super::{BELOW, door, html};
use crate::app::App;

/// What browsers of a public page may do without asking again.
const PUBLIC: &str = "public, max-age=0, stale-while-revalidate=30, stale-if-error=86400";
const PRIVATE: &str = "private, no-store";
/// Longest slug that is looked up, in bytes: none that is stored is longer.
const SLUG_BYTES_MAX: usize = 1_024;

/// One of the forms of a page.
pub(super) async fn form(app: App, slug: String, form: Form, headers: HeaderMap) -> Response {
    let words = language(&headers);
    let found = find(&app, &slug, words, &headers).await;
    match found {
        Ok((shown, base)) => {
            let said = shown.say(form, words, &base);
            answer(&said, StatusCode::OK, shown.page.settings.effective_access(), &headers)
        }
        Err(refusal) => *refusal,
    }
}

/// A page of details.
pub(super) async fn part(
    app: App,
    slug: String,
    wanted: html::Wanted,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let (shown, base) = match find(&app, &slug, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    match html::details(&shown, words, &base, &wanted) {
        Some(text) => {
            let said = Said::of("text/html; charset=utf-8", text);
            answer(&said, StatusCode::OK, shown.page.settings.effective_access(), &headers)
        }
        None => say(words.not_found, StatusCode::NOT_FOUND, words, &headers),
    }
}

/// What is shown of a page, with its address.
type Found = (std::sync::Arc<super::shelf::Shown>, String);

/// The page, where there is one and the visitor may see it; else what the visitor is told.
pub(super) async fn find(
    app: &App,
    slug: &str,
    words: &'static Words,
    headers: &HeaderMap,
) -> Result<Found, Box<Response>> {
    let not_found = || Box::new(say(words.not_found, StatusCode::NOT_FOUND, words, headers));
    // PostgreSQL takes no text with a NUL in it, and no slug has any such letter.
    if slug.len() > SLUG_BYTES_MAX || slug.chars().any(char::is_control) {
        return Err(not_found());
    }
    let shown = match app.page_shelf.shown(app, slug).await {
        Ok(Some(shown)) => shown,
        Ok(None) => return Err(not_found()),
        Err(why) => {
            tracing::error!(page = slug, "a status page could not be read: {why}");
            let mut answer =
                say(words.unavailable, StatusCode::SERVICE_UNAVAILABLE, words, headers);
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
            return Err(Box::new(answer));
        }
    };
    let base = format!("{BELOW}{slug}");
    match app.visitors.entry(&shown.page, headers, app.ctx.now()) {
        Entry::Granted => Ok((shown, base)),
        Entry::Password => {
            let text = door::password(&shown.page, words, &base, None);
            let said = Said::of("text/html; charset=utf-8", text);
            Err(Box::new(answer(&said, StatusCode::UNAUTHORIZED, AccessType::Password, headers)))
        }
        Entry::Members => {
            let text = door::members(&shown.page, words, &base);
            let said = Said::of("text/html; charset=utf-8", text);
            Err(Box::new(answer(&said, StatusCode::FORBIDDEN, AccessType::EmailDomain, headers)))
        }
    }
}

/// The language of a visitor.
pub(super) fn language(headers: &HeaderMap) -> &'static Words {
    choose(headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()))
}

/// A page with one sentence and no owner.
fn say(sentence: &str, status: StatusCode, words: &'static Words, headers: &HeaderMap) -> Response {
    let said = Said::of("text/html; charset=utf-8", door::sentence(sentence, words));
    answer(&said, status, AccessType::Password, headers)
}

/// What was said, as a response.
pub(super) fn answer(
    said: &Said,
    status: StatusCode,
    access: AccessType,
    request: &HeaderMap,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let cache = if access == AccessType::Public { PUBLIC } else { PRIVATE };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding, accept-language, cookie"));
    headers.insert(CONTENT_SECURITY_POLICY, html::policy());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let etag = HeaderValue::try_from(&said.etag).expect("digits in quotes are a header");
    headers.insert(ETAG, etag);
    if status == StatusCode::OK && has(request, &IF_NONE_MATCH, &said.etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(said.content_type));
    let body = if has(request, &ACCEPT_ENCODING, "gzip") {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        said.gzip.clone()
    } else {
        said.plain.clone()
    };
    *response.body_mut() = Body::from(body);
    response
}

/// Whether a list in a header has this.
fn has(request: &HeaderMap, name: &http::HeaderName, wanted: &str) -> bool {
    let values = request.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| {
        let item = item.trim();
        let (item, weight) = item.split_once(';').unwrap_or((item, ""));
        let item = item.strip_prefix("W/").unwrap_or(item);
        item == wanted && weight.trim() != "q=0"
    })
}
