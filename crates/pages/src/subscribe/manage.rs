//! Pages for holders of a subscriber's token: they confirm the address, choose topics or
//! unsubscribe. A token is valid only at the page of its subscriber. Unsubscribing requires nothing
//! but the token (RFC 8058). Choosing topics shows content of the page and therefore requires
//! access to it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::status_page::{SubscriberState, SuppressionReason};
use store::{StoreError, SubscriberWithPage};

use super::super::address::{PageAddress, TokenSegment};
use super::super::i18n::Strings;
use super::super::responses::{find, language, message_response};
use super::super::snapshot::PageSnapshot;
use super::super::token::Purpose;
use super::view::{Form, ResultPage};
use super::{form, i18n, language_of, private_response, storage_error, view};
use crate::Pages;

/// Holder of a token.
enum TokenHolder {
    Current(Box<IdentifiedSubscriber>),
    /// A subscriber whose subscription has ended.
    Former,
}

/// A subscriber identified by a token.
struct IdentifiedSubscriber {
    subscription: SubscriberWithPage,
    location: TokenLocation,
}

/// Where the token was presented.
enum TokenLocation {
    /// At the page, with access to it.
    WithAccess(Arc<PageSnapshot>),
    /// At the page, without a check of access.
    WithoutAccess,
    /// At a former address of the page that no page has now.
    FormerAddress,
}

/// Responds with the question that a token leads to. Mail programs follow links, so that nothing
/// happens until the visitor presses the button.
pub(in super::super) async fn show_form(
    pages: Pages,
    address: PageAddress,
    (purpose, token): (Purpose, TokenSegment),
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let holder = match identify(&pages, &address, (purpose, &token.0), &headers).await {
        Ok(TokenHolder::Current(holder)) => holder,
        Ok(TokenHolder::Former) => return subscription_ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    let base = address.base();
    let action = format!("{base}/{purpose}/{}", token.0);
    let form = match &holder.location {
        TokenLocation::WithAccess(snapshot) if purpose == Purpose::Manage => {
            Form::for_manage(&snapshot.view, &holder.subscription.subscriber, action, words)
        }
        TokenLocation::WithAccess(_)
        | TokenLocation::WithoutAccess
        | TokenLocation::FormerAddress => Form::button(purpose, action, words),
    };
    let text = view::token_page(&holder.subscription.page, words, &base, (purpose, form));
    private_response(text, StatusCode::OK, &headers)
}

/// Performs the action of a token.
pub(in super::super) async fn submit_form(
    pages: Pages,
    address: PageAddress,
    (purpose, token): (Purpose, TokenSegment),
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let words = language(&headers);
    let holder = match identify(&pages, &address, (purpose, &token.0), &headers).await {
        Ok(TokenHolder::Current(holder)) => holder,
        Ok(TokenHolder::Former) => return subscription_ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    match perform(&pages, &holder, purpose, &body).await {
        // This address no longer leads to the page, so there is nothing to link to.
        Ok(Some(ResultPage::Ended)) if matches!(holder.location, TokenLocation::FormerAddress) => {
            subscription_ended(purpose, words, &headers)
        }
        Ok(Some(result)) => {
            let text = view::result_page(&holder.subscription.page, words, &address.base(), result);
            private_response(text, StatusCode::OK, &headers)
        }
        Ok(None) => subscription_ended(purpose, words, &headers),
        Err(StoreError::Refused(_)) => {
            let full = i18n::for_language(language_of(words)).full;
            message_response(full, StatusCode::CONFLICT, words, &headers)
        }
        Err(error) => storage_error(&error, words, &headers),
    }
}

/// Performs the action. Returns `None` if the token no longer has any effect.
async fn perform(
    pages: &Pages,
    holder: &IdentifiedSubscriber,
    purpose: Purpose,
    body: &[u8],
) -> Result<Option<ResultPage>, StoreError> {
    let (store, now) = (pages.source.store.subscribers(), pages.source.ctx.now());
    let subscriber = &holder.subscription.subscriber;
    let accessible = match &holder.location {
        TokenLocation::WithAccess(snapshot) => Some(snapshot),
        TokenLocation::WithoutAccess | TokenLocation::FormerAddress => None,
    };
    match (purpose, accessible) {
        (Purpose::Unsubscribe, _) => {
            store.end(subscriber.id, now).await?;
            Ok(Some(ResultPage::Ended))
        }
        (Purpose::Confirm, _) => {
            let accessible = accessible.map(|snapshot| snapshot.page.clone());
            let confirmed = store.confirm(subscriber.id, accessible, now).await?;
            Ok(confirmed.map(|_| ResultPage::Confirmed))
        }
        (Purpose::Manage, Some(snapshot)) if subscriber.state() == SubscriberState::Active => {
            let choice = form::parse_choice(body, &snapshot.view);
            let chosen = store.choose(subscriber.id, choice, snapshot.page.clone(), now).await?;
            Ok(chosen.map(|_| ResultPage::Saved))
        }
        // A subscriber who has not confirmed yet has nothing to choose.
        (Purpose::Manage, _) => Ok(None),
    }
}

/// Identifies the holder of a token and checks access if the purpose needs it. An invalid token
/// gets the response that every visitor of the page gets.
async fn identify(
    pages: &Pages,
    address: &PageAddress,
    (purpose, token): (Purpose, &str),
    headers: &HeaderMap,
) -> Result<TokenHolder, Box<Response>> {
    let words = language(headers);
    let Some(id) = pages.subscriber_tokens.read(purpose, token) else {
        return Err(refusal_or_not_found(pages, address, words, headers).await);
    };
    let subscription = match pages.source.store.subscribers().get_with_page(id).await {
        Ok(Some(subscription)) => subscription,
        Ok(None) => return Ok(TokenHolder::Former),
        Err(error) => return Err(Box::new(storage_error(&error, words, headers))),
    };
    let settings = &subscription.page.settings;
    if !address.is_address_of(&settings.slug, settings.custom_domain_name().as_ref()) {
        if purpose != Purpose::Unsubscribe || has_page(pages, address).await {
            return Err(refusal_or_not_found(pages, address, words, headers).await);
        }
        return Ok(TokenHolder::Current(Box::new(IdentifiedSubscriber {
            subscription,
            location: TokenLocation::FormerAddress,
        })));
    }
    let at = match (purpose, subscription.suppression_reason) {
        (Purpose::Unsubscribe, _) | (Purpose::Confirm, None | Some(SuppressionReason::Pending)) => {
            TokenLocation::WithoutAccess
        }
        (Purpose::Manage, _)
        | (
            Purpose::Confirm,
            Some(
                SuppressionReason::Hidden | SuppressionReason::Domain | SuppressionReason::Password,
            ),
        ) => {
            let (cached, _) = find(pages, address, words, headers).await?;
            TokenLocation::WithAccess(Arc::clone(&cached.snapshot))
        }
    };
    if purpose == Purpose::Confirm
        && subscription.suppression_reason == Some(SuppressionReason::Domain)
    {
        return Err(Box::new(subscription_ended(purpose, words, headers)));
    }
    Ok(TokenHolder::Current(Box::new(IdentifiedSubscriber { subscription, location: at })))
}

/// Returns whether a page is published at this address. The former address of one page may belong
/// to another now.
async fn has_page(pages: &Pages, address: &PageAddress) -> bool {
    address.is_valid() && !matches!(pages.cache.get(&pages.source, address).await, Ok(None))
}

/// Returns the response that every visitor gets at this address, or 404.
async fn refusal_or_not_found(
    pages: &Pages,
    address: &PageAddress,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Box<Response> {
    match find(pages, address, words, headers).await {
        Ok(_) => Box::new(message_response(words.not_found, StatusCode::NOT_FOUND, words, headers)),
        Err(refusal) => refusal,
    }
}

/// Returns the page for a subscription that no longer exists.
fn subscription_ended(purpose: Purpose, words: &'static Strings, headers: &HeaderMap) -> Response {
    let own = i18n::for_language(language_of(words));
    let (sentence, status) = match purpose {
        Purpose::Unsubscribe => (own.ended, StatusCode::OK),
        Purpose::Confirm | Purpose::Manage => (own.no_longer, StatusCode::NOT_FOUND),
    };
    message_response(sentence, status, words, headers)
}
