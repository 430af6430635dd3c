//! Login by email (spec §2.5 `email-domain`). The response does not depend on whether the address
//! is at one of the page's domains. If it is, a link is sent. The link leads to a button, because
//! programs that scan mail follow links but press nothing.

use axum::Form;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::AccessType;
use rules::status_page::StatusPage;
use rules::tables::SUBSCRIBER;
use serde::Deserialize;

use super::super::access::LinkRequest;
use super::super::address::{PageAddress, TokenSegment};
use super::super::html::login::{email_form, link_button, link_sent};
use super::super::i18n::Strings;
use super::super::responses::{language, look_up, not_found};
use super::{Arrival, login_response, magic_link_email, redirect_with_cookie};
use crate::Pages;

/// Body of the form for an email address.
#[derive(Deserialize)]
pub(in super::super) struct EmailForm {
    email: String,
}

/// Sends a link if the address is at one of the page's domains.
pub(in super::super) async fn request_link(
    State(pages): State<Pages>,
    address: PageAddress,
    arrival: Arrival,
    Form(form): Form<EmailForm>,
) -> Response {
    let headers = &arrival.headers;
    let words = language(headers);
    let cached = match look_up(&pages, &address, words, headers).await {
        Ok(cached) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    if !is_for_members(page) {
        return not_found(words, headers);
    }
    let (base, home) = (address.base(), address.home());
    let again = |wrong, status| {
        login_response(email_form(page, words, &base, Some(wrong)), status, headers)
    };
    if !pages.can_email_links() {
        tracing::warn!(
            page.id = %page.id,
            "a member of a status page wants a link, and none can be sent: `smtp_url`, `mail_from` \
             and `public_url` have to be set"
        );
        return again(words.no_email, StatusCode::SERVICE_UNAVAILABLE);
    }
    let mailbox = form.email.trim();
    if !SUBSCRIBER.shape_of("email").takes(mailbox) {
        return again(words.no_address, StatusCode::BAD_REQUEST);
    }
    match pages.access.request_link(page, mailbox, &arrival.visitor(&pages, &home)) {
        LinkRequest::Created(token) => {
            let url = address.url(pages.public_url());
            let link = format!("{url}/enter/{token}");
            let mail =
                magic_link_email::compose(page, words, &link, (mailbox, pages.source.ctx.random()));
            // Send in the background, so that the response time does not reveal whether a link is
            // sent.
            let id = page.id;
            let sending = pages.source.backend.send_email(page.workspace, mail);
            tokio::spawn(async move {
                if let Err(why) = sending.await {
                    tracing::warn!(page.id = %id, "failed to send a sign-in link: {why}");
                }
            });
        }
        LinkRequest::NotEligible => {}
        LinkRequest::TooManyRequests => {
            return again(words.too_often, StatusCode::TOO_MANY_REQUESTS);
        }
    }
    login_response(link_sent(page, words, &base), StatusCode::ACCEPTED, headers)
}

/// Responds with the button that uses a link.
pub(in super::super) async fn link_page(
    State(pages): State<Pages>,
    address: PageAddress,
    TokenSegment(token): TokenSegment,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let cached = match look_up(&pages, &address, words, &headers).await {
        Ok(cached) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    let base = address.base();
    if !is_for_members(page) {
        return not_found(words, &headers);
    }
    if !pages.access.is_valid_link(page, &token) {
        return link_expired(page, words, &base, &headers);
    }
    login_response(link_button(page, words, &base, &token), StatusCode::OK, &headers)
}

/// Logs the visitor in and redirects to the page.
pub(in super::super) async fn enter(
    State(pages): State<Pages>,
    address: PageAddress,
    TokenSegment(token): TokenSegment,
    arrival: Arrival,
) -> Response {
    let headers = &arrival.headers;
    let words = language(headers);
    let cached = match look_up(&pages, &address, words, headers).await {
        Ok(cached) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    let home = address.home();
    if !is_for_members(page) {
        return not_found(words, headers);
    }
    match pages.access.use_link(page, &token, &arrival.visitor(&pages, &home)) {
        Some(cookie) => redirect_with_cookie(&home, cookie),
        None => link_expired(page, words, &address.base(), headers),
    }
}

/// Returns whether visitors log in by email. Other pages have no such forms.
fn is_for_members(page: &StatusPage) -> bool {
    page.settings.effective_access() == AccessType::EmailDomain
}

fn link_expired(
    page: &StatusPage,
    words: &'static Strings,
    base: &str,
    headers: &HeaderMap,
) -> Response {
    let text = email_form(page, words, base, Some(words.link_expired));
    login_response(text, StatusCode::FORBIDDEN, headers)
}
