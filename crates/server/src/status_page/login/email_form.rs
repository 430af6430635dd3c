//! Login by email (spec §2.5 `email-domain`). The response does not depend on whether the address
//! is at one of the page's domains. If it is, a link is sent. The link leads to a button, because
//! programs that scan mail follow links but press nothing.

use axum::Form;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::status_page::StatusPage;
use rules::tables::SUBSCRIBER;
use rules::{AccessType, ProviderType};
use serde::Deserialize;

use super::super::access::LinkRequest;
use super::super::address::{PageAddress, PathSegment};
use super::super::cache::CachedPage;
use super::super::handlers::{language, message_response};
use super::super::i18n::Strings;
use super::{
    Arrival, LoginInput, find_page, login_page, login_response, magic_link_email,
    redirect_with_cookie,
};
use crate::app::App;

/// Body of the form for an email address.
#[derive(Deserialize)]
pub(in super::super) struct EmailForm {
    email: String,
}

/// Renders the form for an email address, with the error of the last attempt.
pub(in super::super) fn email_form(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    wrong: Option<&str>,
) -> String {
    login_page(page, words, base, (words.email_prompt, LoginInput::Email, wrong))
}

/// Sends a link if the address is at one of the page's domains.
pub(in super::super) async fn request_link(
    State(app): State<App>,
    address: PageAddress,
    arrival: Arrival,
    Form(form): Form<EmailForm>,
) -> Response {
    let headers = &arrival.headers;
    let words = language(headers);
    let shown = match find_page(&app, &address, words, headers).await {
        Ok(shown) => shown,
        Err(refusal) => return *refusal,
    };
    if !is_for_members(&shown) {
        return not_found(words, headers);
    }
    let (base, home) = (address.base(), address.home());
    let again = |wrong, status| {
        login_response(email_form(&shown.page, words, &base, Some(wrong)), status, headers)
    };
    let url = address.url(app.page_cache.origin());
    let is_mute =
        app.notifier.missing_setting(ProviderType::Email).is_some() || url.starts_with('/');
    if is_mute {
        tracing::warn!(
            page.id = %shown.page.id,
            "a member of a status page wants a link, and none can be sent: `smtp_url`, `mail_from` \
             and `public_url` have to be set"
        );
        return again(words.no_email, StatusCode::SERVICE_UNAVAILABLE);
    }
    let mailbox = form.email.trim();
    if !SUBSCRIBER.shape_of("email").takes(mailbox) {
        return again(words.no_address, StatusCode::BAD_REQUEST);
    }
    match app.page_access.request_link(&shown.page, mailbox, &arrival.visitor(&app, &home)) {
        LinkRequest::Created(token) => {
            let link = format!("{url}/enter/{token}");
            let mail =
                magic_link_email::compose(&shown.page, words, &link, (mailbox, app.ctx.random()));
            // Send in the background, so that the response time does not reveal whether a link is
            // sent.
            let (notifier, page, workspace) =
                (app.notifier.clone(), shown.page.id, shown.page.workspace);
            tokio::spawn(async move {
                if let Err(why) = notifier.post(workspace, mail).await {
                    tracing::warn!(page.id = %page, "failed to send a sign-in link: {why}");
                }
            });
        }
        LinkRequest::NotEligible => {}
        LinkRequest::TooManyRequests => {
            return again(words.too_often, StatusCode::TOO_MANY_REQUESTS);
        }
    }
    let sentence = (words.link_sent, LoginInput::Nothing, None);
    login_response(login_page(&shown.page, words, &base, sentence), StatusCode::ACCEPTED, headers)
}

/// Responds with the button that uses a link.
pub(in super::super) async fn link_page(
    State(app): State<App>,
    address: PageAddress,
    PathSegment(token): PathSegment,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let shown = match find_page(&app, &address, words, &headers).await {
        Ok(shown) => shown,
        Err(refusal) => return *refusal,
    };
    let base = address.base();
    if !is_for_members(&shown) {
        return not_found(words, &headers);
    }
    if !app.page_access.is_valid_link(&shown.page, &token) {
        return link_expired(&shown, words, &base, &headers);
    }
    let sentence = (words.link_is_good, LoginInput::Button(&token), None);
    login_response(login_page(&shown.page, words, &base, sentence), StatusCode::OK, &headers)
}

/// Logs the visitor in and redirects to the page.
pub(in super::super) async fn enter(
    State(app): State<App>,
    address: PageAddress,
    PathSegment(token): PathSegment,
    arrival: Arrival,
) -> Response {
    let headers = &arrival.headers;
    let words = language(headers);
    let shown = match find_page(&app, &address, words, headers).await {
        Ok(shown) => shown,
        Err(refusal) => return *refusal,
    };
    let home = address.home();
    if !is_for_members(&shown) {
        return not_found(words, headers);
    }
    match app.page_access.use_link(&shown.page, &token, &arrival.visitor(&app, &home)) {
        Some(cookie) => redirect_with_cookie(&home, cookie),
        None => link_expired(&shown, words, &address.base(), headers),
    }
}

fn is_for_members(shown: &CachedPage) -> bool {
    shown.page.settings.effective_access() == AccessType::EmailDomain
}

fn link_expired(
    shown: &CachedPage,
    words: &'static Strings,
    base: &str,
    headers: &HeaderMap,
) -> Response {
    let text = email_form(&shown.page, words, base, Some(words.link_expired));
    login_response(text, StatusCode::FORBIDDEN, headers)
}

/// Returns 404 for pages without login by email.
fn not_found(words: &'static Strings, headers: &HeaderMap) -> Response {
    message_response(words.not_found, StatusCode::NOT_FOUND, words, headers)
}
