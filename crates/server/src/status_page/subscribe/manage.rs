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

use super::super::address::{PageAddress, PathSegment};
use super::super::cache::CachedPage;
use super::super::handlers::{find, language, say};
use super::super::i18n::Strings;
use super::super::token::Purpose;
use super::view::{Form, ResultPage};
use super::{failed, form, i18n, shown_to, spoken, view};
use crate::app::App;

/// Holder of a token.
enum TokenHolder {
    Is(Box<Came>),
    /// A subscriber whose subscription has ended.
    Was,
}

/// A subscriber identified by a token.
struct Came {
    receiving: SubscriberWithPage,
    at: At,
}

/// Where the token was presented.
enum At {
    /// At the page, with access to it.
    Inside(Arc<CachedPage>),
    /// At the page, without a check of access.
    Door,
    /// At a former address of the page that no page has now.
    Elsewhere,
}

/// Responds with the question that a token leads to. Mail programs follow links, so that nothing
/// happens until the visitor presses the button.
pub(in super::super) async fn question(
    app: App,
    address: PageAddress,
    (purpose, ticket): (Purpose, PathSegment),
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let came = match came(&app, &address, (purpose, &ticket.0), &headers).await {
        Ok(TokenHolder::Is(came)) => came,
        Ok(TokenHolder::Was) => return ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    let base = address.base();
    let action = format!("{base}/{purpose}/{}", ticket.0);
    let form = match &came.at {
        At::Inside(shown) if purpose == Purpose::Manage => {
            Form::choosing(&shown.view, &came.receiving.subscriber, action, words)
        }
        At::Inside(_) | At::Door | At::Elsewhere => Form::button(purpose, action, words),
    };
    let text = view::asks_holder(&came.receiving.page, words, &base, (purpose, form));
    shown_to(text, StatusCode::OK, &headers)
}

/// Performs the action of a token.
pub(in super::super) async fn act(
    app: App,
    address: PageAddress,
    (purpose, ticket): (Purpose, PathSegment),
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let words = language(&headers);
    let came = match came(&app, &address, (purpose, &ticket.0), &headers).await {
        Ok(TokenHolder::Is(came)) => came,
        Ok(TokenHolder::Was) => return ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    match done(&app, &came, purpose, &body).await {
        // This address no longer leads to the page, so there is nothing to link to.
        Ok(Some(ResultPage::Ended)) if matches!(came.at, At::Elsewhere) => {
            ended(purpose, words, &headers)
        }
        Ok(Some(said)) => {
            let text = view::told(&came.receiving.page, words, &address.base(), said);
            shown_to(text, StatusCode::OK, &headers)
        }
        Ok(None) => ended(purpose, words, &headers),
        Err(StoreError::Refused(_)) => {
            let full = i18n::of(spoken(words)).full;
            say(full, StatusCode::CONFLICT, words, &headers)
        }
        Err(error) => failed(&error, words, &headers),
    }
}

/// Performs the action. Returns `None` if the token no longer has any effect.
async fn done(
    app: &App,
    came: &Came,
    purpose: Purpose,
    body: &[u8],
) -> Result<Option<ResultPage>, StoreError> {
    let (store, now) = (app.store.subscribers(), app.ctx.now());
    let subscriber = &came.receiving.subscriber;
    let inside = match &came.at {
        At::Inside(shown) => Some(shown),
        At::Door | At::Elsewhere => None,
    };
    match (purpose, inside) {
        (Purpose::Unsubscribe, _) => {
            store.end(subscriber.id, now).await?;
            Ok(Some(ResultPage::Ended))
        }
        (Purpose::Confirm, _) => {
            let inside = inside.map(|shown| shown.page.clone());
            let confirmed = store.confirm(subscriber.id, inside, now).await?;
            Ok(confirmed.map(|_| ResultPage::Confirmed))
        }
        (Purpose::Manage, Some(shown)) if subscriber.state() == SubscriberState::Active => {
            let wanted = form::chosen(body, &shown.view);
            let chosen = store.choose(subscriber.id, wanted, shown.page.clone(), now).await?;
            Ok(chosen.map(|_| ResultPage::Saved))
        }
        // A subscriber who has not confirmed yet has nothing to choose.
        (Purpose::Manage, _) => Ok(None),
    }
}

/// Identifies the holder of a token and checks access if the purpose needs it. An invalid token
/// gets the response that every visitor of the page gets.
async fn came(
    app: &App,
    address: &PageAddress,
    (purpose, ticket): (Purpose, &str),
    headers: &HeaderMap,
) -> Result<TokenHolder, Box<Response>> {
    let words = language(headers);
    let Some(id) = app.subscribing.tickets.read(purpose, ticket) else {
        return Err(nothing(app, address, words, headers).await);
    };
    let receiving = match app.store.subscribers().receiving(id).await {
        Ok(Some(receiving)) => receiving,
        Ok(None) => return Ok(TokenHolder::Was),
        Err(error) => return Err(Box::new(failed(&error, words, headers))),
    };
    if !address.is_of(&receiving.page) {
        if purpose != Purpose::Unsubscribe || is_a_page(app, address).await {
            return Err(nothing(app, address, words, headers).await);
        }
        return Ok(TokenHolder::Is(Box::new(Came { receiving, at: At::Elsewhere })));
    }
    let at = match (purpose, receiving.not_told) {
        (Purpose::Unsubscribe, _) | (Purpose::Confirm, None | Some(SuppressionReason::Pending)) => {
            At::Door
        }
        (Purpose::Manage, _)
        | (
            Purpose::Confirm,
            Some(
                SuppressionReason::Hidden | SuppressionReason::Domain | SuppressionReason::Password,
            ),
        ) => At::Inside(find(app, address, words, headers).await?.0),
    };
    if purpose == Purpose::Confirm && receiving.not_told == Some(SuppressionReason::Domain) {
        return Err(Box::new(ended(purpose, words, headers)));
    }
    Ok(TokenHolder::Is(Box::new(Came { receiving, at })))
}

/// Returns whether a page is published at this address. The former address of one page may belong
/// to another now.
async fn is_a_page(app: &App, address: &PageAddress) -> bool {
    address.is_possible() && !matches!(app.page_shelf.shown(app, address).await, Ok(None))
}

/// Returns the response that every visitor gets at this address, or 404.
async fn nothing(
    app: &App,
    address: &PageAddress,
    words: &'static Strings,
    headers: &HeaderMap,
) -> Box<Response> {
    match find(app, address, words, headers).await {
        Ok(_) => Box::new(say(words.not_found, StatusCode::NOT_FOUND, words, headers)),
        Err(refusal) => refusal,
    }
}

/// Returns the page for a subscription that no longer exists.
fn ended(purpose: Purpose, words: &'static Strings, headers: &HeaderMap) -> Response {
    let own = i18n::of(spoken(words));
    let (sentence, status) = match purpose {
        Purpose::Unsubscribe => (own.ended, StatusCode::OK),
        Purpose::Confirm | Purpose::Manage => (own.no_longer, StatusCode::NOT_FOUND),
    };
    say(sentence, status, words, headers)
}
