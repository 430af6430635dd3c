//! Where visitors subscribe by email, say that an address is theirs, choose what they hear of, and end
//! it. Nothing here tells whether an address is known. Whoever asks for an address passes the gate of
//! the page; who comes back with a ticket has shown who they are by it, and needs no cookie (RFC 8058).
//! Letters and their order belong to the outbox.

mod form;
mod view;
mod words;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::status_page::{Language, SubscriberDraft, SubscriberState};
use rules::{AccessType, PageId, ProviderType, limits};
use sha2::{Digest as _, Sha256};
use store::{Asked, Receiving, Wanted};

use self::form::Sent;
use self::view::{Form, page_of};
use super::address::{Named, PageAddress};
use super::respond::{answer, find, language, say};
use super::shelf::Said;
use super::ticket::{Purpose, Tickets};
use super::words::Words;
use crate::app::App;
use crate::auth::{Peer, Tries, network};
use crate::context::Context;

/// Time in which the tries of one network and of one mailbox are counted.
const COUNTED_IN: Duration = Duration::from_hours(1);

/// What subscribing takes.
#[derive(Debug)]
pub(crate) struct Desk {
    tickets: Tickets,
    networks: Tries<IpAddr>,
    mailboxes: Tries<[u8; 32]>,
}

/// Who came back with a ticket.
enum Holder {
    /// A subscriber.
    Is(Box<Receiving>),
    /// One that ended.
    Was,
}

impl Desk {
    /// A desk whose tickets are those that letters carry.
    pub(crate) fn new(ctx: &Context, tickets: Tickets) -> Self {
        let times = |count| NonZeroU32::new(count).expect("the limits are not nothing");
        Self {
            tickets,
            networks: Tries::new(ctx, times(limits::SUBSCRIBE_PER_NETWORK_AND_HOUR), COUNTED_IN),
            mailboxes: Tries::new(ctx, times(limits::SUBSCRIBE_PER_MAILBOX_AND_HOUR), COUNTED_IN),
        }
    }

    /// Whether a letter may be written to this address for this page; the address is not kept.
    fn may_write(&self, page: PageId, address: &str) -> bool {
        let mailbox = Sha256::new()
            .chain_update(page.bits().to_be_bytes())
            .chain_update(address.to_lowercase());
        self.mailboxes.may(&mailbox.finalize().into())
    }

    /// Forgets whom nothing is held against any more.
    pub(crate) fn tidy(&self) {
        self.networks.tidy();
        self.mailboxes.tidy();
    }
}

/// Whether emails can be asked for: there is a mail server, and links that lead here.
pub(super) fn is_offered(app: &App) -> bool {
    app.notifier.lacking(ProviderType::Email).is_none() && app.notifier.has_address()
}

/// The ways to hear of a page: its feeds, and the form where emails can be asked for.
pub(super) async fn show(
    State(app): State<App>,
    address: PageAddress,
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let (shown, base) = match find(&app, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let form = is_offered(&app).then(|| Form::asking(&shown.view, &base, words));
    let text = view::asks(&shown.page, words, &base, (form, None));
    shown_to(text, StatusCode::OK, &headers)
}

/// An address that somebody wants to be told.
pub(super) async fn ask(
    State(app): State<App>,
    address: PageAddress,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let words = language(&headers);
    let (shown, base) = match find(&app, &address, words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    if !is_offered(&app) {
        return say(words.not_found, StatusCode::NOT_FOUND, words, &headers);
    }
    if !app.subscribing.networks.may(&network(app.auth.address(peer.0, &headers))) {
        return say(words.too_often, StatusCode::TOO_MANY_REQUESTS, words, &headers);
    }
    let page = &shown.page;
    let sent = Sent::read(&body, &shown.view);
    let draft = SubscriberDraft {
        page_id: Some(page.id.to_string()),
        email: Some(sent.email),
        webhook_url: None,
        language: Some(spoken(words).to_string()),
        component_ids: sent.components,
        topics: sent.topics,
    };
    let Ok(settings) = draft.parse() else {
        let form = Form::asking(&shown.view, &base, words);
        let wrong = words::of(spoken(words)).wrong_email;
        let text = view::asks(page, words, &base, (Some(form), Some(wrong)));
        return shown_to(text, StatusCode::BAD_REQUEST, &headers);
    };
    // Who wrote to a mailbox often enough is told what everybody is told.
    if app.subscribing.may_write(page.id, settings.destination.expose()) {
        let new = (app.ctx.new_id(), page.workspace);
        let title = page.settings.title.clone();
        let asked = app.store.subscribers().ask(new, settings, title, app.ctx.now()).await;
        match asked {
            Ok(Asked::New | Asked::Again | Asked::Known) => {}
            Ok(Asked::Full) => tracing::warn!(
                page.id = %page.id, "the page {} has as many subscribers as it may have", page.id
            ),
            Err(error) => return failed(&error, words, &headers),
        }
    }
    let text = view::told(page, words, &base, view::Said::Sent);
    shown_to(text, StatusCode::OK, &headers)
}

/// The question that a ticket leads to. Mail programs follow links, so that nothing happens before
/// somebody presses the button.
pub(super) async fn question(
    app: App,
    address: PageAddress,
    (purpose, ticket): (Purpose, Named),
    headers: HeaderMap,
) -> Response {
    let words = language(&headers);
    let receiving = match holder(&app, &address, (purpose, &ticket.0), &headers).await {
        Ok(Holder::Is(receiving)) => receiving,
        Ok(Holder::Was) => return ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    let (page, base) = match page_of(&app, &receiving).await {
        Ok(found) => found,
        Err(error) => return failed(&error, words, &headers),
    };
    let action = format!("{}/{purpose}/{}", address.base(), ticket.0);
    let form = match purpose {
        Purpose::Confirm | Purpose::Unsubscribe => Form::button(purpose, action, words),
        Purpose::Manage => match Form::choosing(&app, &receiving, action, words).await {
            Ok(form) => form,
            Err(error) => return failed(&error, words, &headers),
        },
    };
    shown_to(view::asks_holder(&page, words, &base, (purpose, form)), StatusCode::OK, &headers)
}

/// What a ticket is good for, done.
pub(super) async fn act(
    app: App,
    address: PageAddress,
    (purpose, ticket): (Purpose, Named),
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let words = language(&headers);
    let receiving = match holder(&app, &address, (purpose, &ticket.0), &headers).await {
        Ok(Holder::Is(receiving)) => receiving,
        Ok(Holder::Was) => return ended(purpose, words, &headers),
        Err(refusal) => return *refusal,
    };
    let (store, now) = (app.store.subscribers(), app.ctx.now());
    let id = receiving.subscriber.id;
    let done = match purpose {
        Purpose::Unsubscribe => store.end(id, now).await.map(|()| Some(view::Said::Ended)),
        Purpose::Confirm => {
            store.confirm(id, now).await.map(|found| found.map(|_| view::Said::Confirmed))
        }
        Purpose::Manage => match wanted(&app, &receiving, &body).await {
            Ok(Some(wanted)) => {
                store.choose(id, wanted, now).await.map(|found| found.map(|_| view::Said::Saved))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        },
    };
    match (done, page_of(&app, &receiving).await) {
        (Ok(Some(said)), Ok((page, base))) => {
            shown_to(view::told(&page, words, &base, said), StatusCode::OK, &headers)
        }
        (Ok(None), Ok(_)) => ended(purpose, words, &headers),
        (Err(error), _) | (_, Err(error)) => failed(&error, words, &headers),
    }
}

/// Who came back. What is no ticket of ours is told what the page tells everybody.
async fn holder(
    app: &App,
    address: &PageAddress,
    (purpose, ticket): (Purpose, &str),
    headers: &HeaderMap,
) -> Result<Holder, Box<Response>> {
    let words = language(headers);
    let Some(id) = app.subscribing.tickets.read(purpose, ticket) else {
        find(app, address, words, headers).await?;
        return Err(Box::new(say(words.not_found, StatusCode::NOT_FOUND, words, headers)));
    };
    match app.store.subscribers().receiving(id).await {
        Ok(Some(receiving)) => Ok(Holder::Is(Box::new(receiving))),
        Ok(None) => Ok(Holder::Was),
        Err(error) => Err(Box::new(failed(&error, words, headers))),
    }
}

/// What a subscriber chose; `None` where it may not choose yet.
async fn wanted(
    app: &App,
    receiving: &Receiving,
    body: &[u8],
) -> Result<Option<Wanted>, store::StoreError> {
    if receiving.subscriber.state() == SubscriberState::Pending {
        return Ok(None);
    }
    let components = view::components(app, receiving).await?;
    Ok(Some(form::chosen(body, &components)))
}

/// What is told of a subscription that there is not any more.
fn ended(purpose: Purpose, words: &'static Words, headers: &HeaderMap) -> Response {
    let own = words::of(spoken(words));
    let (sentence, status) = match purpose {
        Purpose::Unsubscribe => (own.ended, StatusCode::OK),
        Purpose::Confirm | Purpose::Manage => (own.no_longer, StatusCode::NOT_FOUND),
    };
    say(sentence, status, words, headers)
}

fn failed(error: &store::StoreError, words: &'static Words, headers: &HeaderMap) -> Response {
    tracing::error!(%error, "what a subscriber wants could not be stored: {error}");
    say(words.unavailable, StatusCode::SERVICE_UNAVAILABLE, words, headers)
}

/// A page for this visitor alone: it is kept nowhere.
fn shown_to(text: String, status: StatusCode, headers: &HeaderMap) -> Response {
    let said = Said::of("text/html; charset=utf-8", text);
    answer(&said, status, AccessType::Password, headers)
}

/// The language that a visitor is spoken to in.
fn spoken(words: &Words) -> Language {
    Language::parse(words.lang).unwrap_or(Language::En)
}
