//! Subscriptions by email. No response reveals whether an address is known, and subscribing
//! requires access to the page. Pages for holders of a token are in `manage`. Emails go through the
//! outbox: `store` enqueues them, and the server's delivery workers send them.

mod form;
mod i18n;
pub(super) mod manage;
mod view;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use domain::page::may_subscribe;
use http::{HeaderMap, StatusCode};
use rules::status_page::{Language, SubscriberDraft};
use store::{SignupOutcome, SignupSource};
use web::http_body::EncodedBody;
use web::peer::{Peer, rate_limit_address};

use self::form::SubmittedForm;
use self::view::Form;
use super::address::PageAddress;
use super::cache_rule::CacheRule;
use super::i18n::Strings;
use super::responses::{UNKNOWN_PEER, build_response, find, language, message_response};
use super::snapshot::PageSnapshot;
use crate::Pages;

/// Shows the ways to subscribe to a page: its feeds, and the form if email is available.
pub(super) async fn show(
    State(pages): State<Pages>,
    address: PageAddress,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let (cached, base) = match find(&pages, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let snapshot = &cached.snapshot;
    let form = pages.can_email_links().then(|| Form::for_signup(&snapshot.view, &base, words));
    let text = view::signup_page(&snapshot.page, words, &base, (form, None));
    private_response(text, StatusCode::OK, &headers)
}

/// Requests a subscription for an email address.
pub(super) async fn request(
    State(pages): State<Pages>,
    address: PageAddress,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let words = language(&headers);
    let (cached, base) = match find(&pages, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    if !pages.can_email_links() {
        return message_response(words.not_found, StatusCode::NOT_FOUND, words, &headers);
    }
    let peer = peer.map_or(UNKNOWN_PEER, |Extension(peer)| peer.0);
    let network = rate_limit_address(pages.proxies.address(peer, &headers));
    if !pages.subscribe_limits.networks.try_acquire(&network) {
        return message_response(words.too_often, StatusCode::TOO_MANY_REQUESTS, words, &headers);
    }
    let (snapshot, page) = (&cached.snapshot, &cached.snapshot.page);
    let sent = SubmittedForm::parse(&body, &snapshot.view);
    let draft = SubscriberDraft {
        page_id: Some(page.id.to_string()),
        email: Some(sent.email),
        webhook_url: None,
        language: Some(language_of(words).to_string()),
        component_ids: sent.components,
        topics: sent.topics,
    };
    let own = i18n::for_language(language_of(words));
    let Ok(settings) = draft.parse() else {
        return form_with_error(snapshot, (words, &base), own.wrong_email, &headers);
    };
    // Visitors who reach this point are members and may know which domains are eligible.
    if !may_subscribe(&page.settings, &settings.destination) {
        return form_with_error(snapshot, (words, &base), own.no_member, &headers);
    }
    // A mailbox over its limit gets the same response, so that nothing is revealed.
    if pages.subscribe_limits.can_email(page.id, settings.destination.expose()) {
        let signup_source = SignupSource { page: page.clone(), network };
        let store = pages.source.store.subscribers();
        match store
            .sign_up(pages.source.ctx.new_id(), settings, signup_source, pages.source.ctx.now())
            .await
        {
            Ok(SignupOutcome::New | SignupOutcome::Again | SignupOutcome::Known) => {}
            Ok(SignupOutcome::Full) => tracing::warn!(
                page.id = %page.id, "signup refused: page {} is at its limit of subscribers", page.id
            ),
            Ok(SignupOutcome::TooMany) => tracing::warn!(
                page.id = %page.id,
                "a network requested emails of the page {} for many addresses and confirmed none", page.id
            ),
            Ok(SignupOutcome::NotAllowed) => {
                return form_with_error(snapshot, (words, &base), own.no_member, &headers);
            }
            Err(error) => return storage_error(&error, words, &headers),
        }
    }
    let text = view::result_page(page, words, &base, view::ResultPage::Sent);
    private_response(text, StatusCode::OK, &headers)
}

/// Returns the form again, with an error.
fn form_with_error(
    snapshot: &PageSnapshot,
    (words, base): (&'static Strings, &str),
    wrong: &'static str,
    headers: &HeaderMap,
) -> Response {
    let form = Form::for_signup(&snapshot.view, base, words);
    let text = view::signup_page(&snapshot.page, words, base, (Some(form), Some(wrong)));
    private_response(text, StatusCode::BAD_REQUEST, headers)
}

fn storage_error(
    error: &store::StoreError,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Response {
    tracing::error!(%error, "failed to store the settings of a subscriber: {error}");
    message_response(words.unavailable, StatusCode::SERVICE_UNAVAILABLE, words, headers)
}

/// Returns a page for this visitor only, which must not be cached.
fn private_response(text: String, status: StatusCode, headers: &HeaderMap) -> Response {
    let encoded = EncodedBody::new("text/html; charset=utf-8", text);
    build_response(&encoded, status, CacheRule::NoStore, headers)
}

/// Returns the visitor's language.
fn language_of(words: &Strings) -> Language {
    Language::parse(words.lang).unwrap_or(Language::En)
}
