//! Login to pages with restricted access. This module checks passwords, which never appear in a
//! URL. Login by email is in `email_form`.

pub(super) mod email_form;
mod magic_link_email;

use std::convert::Infallible;

use axum::Form;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::response::Response;
use http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use rules::{AccessType, Secret};
use serde::{Deserialize, Deserializer};
use web::http_body::EncodedBody;
use web::peer::{EntryPoint, Peer};

use super::access::{UnlockResult, Visitor};
use super::address::PageAddress;
use super::cache_rule::CacheRule;
use super::html::login::password_form;
use super::responses::{UNKNOWN_PEER, build_response, language, look_up, not_found};
use crate::Pages;

/// Header in which a proxy reports the protocol of the client.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// How a visitor reached the login page.
pub(super) struct Arrival {
    peer: Option<Peer>,
    entry_point: Option<EntryPoint>,
    headers: HeaderMap,
}

/// Body of the password form.
#[derive(Deserialize)]
pub(super) struct PasswordForm {
    #[serde(deserialize_with = "secret")]
    password: Secret<String>,
}

fn secret<'de, D: Deserializer<'de>>(text: D) -> Result<Secret<String>, D::Error> {
    String::deserialize(text).map(Secret::new)
}

/// Checks the password and redirects to the page.
pub(super) async fn unlock(
    State(pages): State<Pages>,
    address: PageAddress,
    arrival: Arrival,
    Form(given): Form<PasswordForm>,
) -> Response {
    let headers = &arrival.headers;
    let words = language(headers);
    let cached = match look_up(&pages, &address, words, headers).await {
        Ok(cached) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    // Other pages have no such form.
    if page.settings.effective_access() != AccessType::Password {
        return not_found(words, headers);
    }
    let home = address.home();
    let visitor = arrival.visitor(&pages, &home);
    let again = |wrong, status| {
        login_response(password_form(page, words, &address.base(), Some(wrong)), status, headers)
    };
    match pages.access.unlock(page, given.password.expose(), &visitor) {
        UnlockResult::Granted(cookie) => redirect_with_cookie(&home, cookie),
        UnlockResult::WrongPassword => again(words.password_wrong, StatusCode::UNAUTHORIZED),
        UnlockResult::TooManyAttempts(wait) => {
            let mut response = again(words.too_often, StatusCode::TOO_MANY_REQUESTS);
            let seconds = wait.as_millis().div_ceil(1_000) as u64;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            response
        }
    }
}

impl Arrival {
    /// Returns the visitor of the page with this path. The cookie is marked as secure if the
    /// connection is encrypted, by this server or by a trusted proxy.
    fn visitor<'v>(&self, pages: &Pages, home: &'v str) -> Visitor<'v> {
        let peer = self.peer.map_or(UNKNOWN_PEER, |peer| peer.0);
        let forwarded = self.headers.get(FORWARDED_PROTO).and_then(|it| it.to_str().ok());
        let is_proxied = pages.proxies.contains(peer) && forwarded == Some("https");
        Visitor {
            address: pages.proxies.address(peer, &self.headers),
            home,
            is_secure: is_proxied || self.entry_point == Some(EntryPoint::Tls),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Arrival {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let (peer, entry_point) = (parts.extensions.get(), parts.extensions.get());
        let headers = parts.headers.clone();
        Ok(Self { peer: peer.copied(), entry_point: entry_point.copied(), headers })
    }
}

fn login_response(text: String, status: StatusCode, headers: &HeaderMap) -> Response {
    let body = EncodedBody::new("text/html; charset=utf-8", text);
    build_response(&body, status, CacheRule::NoStore, headers)
}

fn redirect_with_cookie(home: &str, cookie: HeaderValue) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    let location = HeaderValue::try_from(home).expect("a slug of a page is a header");
    headers.insert(LOCATION, location);
    headers.insert(SET_COOKIE, cookie);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
