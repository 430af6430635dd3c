//! Where visitors subscribe by email. Nothing here tells whether an address is known, and whoever asks for
//! one passes the gate of the page. Who comes back with a ticket is `holder`'s; letters and their order
//! belong to the outbox.

mod form;
pub(super) mod holder;
mod view;
mod words;

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use domain::page::may_subscribe;
use http::{HeaderMap, StatusCode};
use rules::status_page::{Language, SubscriberDraft};
use rules::{AccessType, PageId, ProviderType, limits};
use sha2::{Digest as _, Sha256};
use store::{Asked, Visit};

use self::form::Sent;
use self::view::Form;
use super::address::PageAddress;
use super::respond::{answer, find, language, say};
use super::shelf::{Said, Shown};
use super::ticket::Tickets;
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
    let network = network(app.auth.address(peer.0, &headers));
    if !app.subscribing.networks.may(&network) {
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
    let own = words::of(spoken(words));
    let Ok(settings) = draft.parse() else {
        return again(&shown, (words, &base), own.wrong_email, &headers);
    };
    // Visitors who got here are members, and may know who else may be told.
    if !may_subscribe(&page.settings, &settings.destination) {
        return again(&shown, (words, &base), own.no_member, &headers);
    }
    // Who wrote to a mailbox often enough is told what everybody is told.
    if app.subscribing.may_write(page.id, settings.destination.expose()) {
        let visit = Visit { page: page.clone(), network };
        let store = app.store.subscribers();
        match store.ask(app.ctx.new_id(), settings, visit, app.ctx.now()).await {
            Ok(Asked::New | Asked::Again | Asked::Known) => {}
            Ok(Asked::Full) => tracing::warn!(
                page.id = %page.id, "the page {} has as many subscribers as it may have", page.id
            ),
            Ok(Asked::TooMany) => tracing::warn!(
                page.id = %page.id,
                "somebody asked for emails of {} to many addresses, and nobody confirmed one", page.id
            ),
            Ok(Asked::Outside) => return again(&shown, (words, &base), own.no_member, &headers),
            Err(error) => return failed(&error, words, &headers),
        }
    }
    let text = view::told(page, words, &base, view::Said::Sent);
    shown_to(text, StatusCode::OK, &headers)
}

/// The form once more, with what was wrong.
fn again(
    shown: &Shown,
    (words, base): (&'static Words, &str),
    wrong: &'static str,
    headers: &HeaderMap,
) -> Response {
    let form = Form::asking(&shown.view, base, words);
    let text = view::asks(&shown.page, words, base, (Some(form), Some(wrong)));
    shown_to(text, StatusCode::BAD_REQUEST, headers)
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
