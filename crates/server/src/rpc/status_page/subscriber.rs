//! Subscribers of status pages: owners of a page create, read and delete them. Actions of visitors
//! are in `pages::subscribe`.

use contract::IntoDraft as _;
use contract::SecretVisibility;
use contract::rpc::{self, Error, RequestContext};
use contract::status_page::encode_subscriber;
use contract::status_page::wire::{
    AddSubscriberRequest, AddSubscriberResponse, ListSubscribersRequest, ListSubscribersResponse,
    RemoveSubscriberRequest, RemoveSubscriberResponse, Subscriber,
};
use rules::status_page::{Destination, SubscriberKind, SubscriberState};
use rules::{PageId, UnknownVariant, Violation};
use store::{InitialState, NewSubscriber, SubscriberFilter, SubscriberWithPage};

use super::page::NOUN as PAGE;
use super::page_request;
use crate::rpc::list::encode_total;
use crate::rpc::request::{
    caller, change, id, idempotency, invalid, require, secrets, store_error,
};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a subscriber.
const RESOURCE: &str = "subscriber";
/// Noun of this resource in error messages.
const NOUN: &str = "subscriber";

pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListSubscribersRequest,
) -> Result<ListSubscribersResponse, Error> {
    let caller = caller(context);
    let part = page_request(request.limit, request.offset, request.page_token.as_deref()).parse();
    let part = part.map_err(|violations| rpc::invalid(&violations))?;
    let page = request.page_id.filter(|page| !page.is_empty());
    let page: Option<PageId> = page.map(|page| id(PAGE, &page)).transpose()?;
    let kind = word("kind", request.kind, (SubscriberKind::parse, SubscriberKind::WORDS))?;
    let state = word("state", request.state, (SubscriberState::parse, SubscriberState::WORDS))?;
    let filter = SubscriberFilter { page, kind, state };
    let store = services.store.subscribers();
    let found = store.list(caller.workspace, filter, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let show = |row: &_| encode(row, secrets(caller));
    let (subscribers, next_page_token) =
        part.cut(&found, |row| row.subscriber.id, show, rpc::encoded_bytes);
    Ok(ListSubscribersResponse {
        subscribers,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

pub(super) async fn add(
    services: &Services,
    context: &RequestContext,
    request: AddSubscriberRequest,
) -> Result<AddSubscriberResponse, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "AddSubscriber", &request)?;
    let draft = require(RESOURCE, request.subscriber.into_option())?.into_draft();
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    let begins = match &settings.destination {
        Destination::Email(_) if request.confirm.unwrap_or(true) => InitialState::Unconfirmed,
        Destination::Email(_) => InitialState::Confirmed,
        Destination::Webhook(url) => {
            refuse_closed(services, url.expose())?;
            InitialState::Confirmed
        }
    };
    let (id, workspace) = (services.ctx.new_id(), caller.workspace);
    let new = NewSubscriber { id, workspace, settings, initial_state: begins, idempotency };
    let added = services.store.subscribers().add(new, change(services, caller)).await;
    let subscriber = added.map_err(store_error(RESOURCE))?.into_inner();
    let receiving =
        services.store.subscribers().get_with_page(subscriber.id).await.map_err(rpc_error)?;
    let shown = match &receiving {
        Some(receiving) => encode(receiving, secrets(caller)),
        // The subscription ended in between.
        None => encode_subscriber(&subscriber, None, secrets(caller)),
    };
    Ok(AddSubscriberResponse { subscriber: shown.into() })
}

pub(super) async fn remove(
    services: &Services,
    context: &RequestContext,
    request: RemoveSubscriberRequest,
) -> Result<RemoveSubscriberResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    services.store.subscribers().remove(caller.workspace, id, change).await.map_err(rpc_error)?;
    Ok(RemoveSubscriberResponse::default())
}

fn encode(receiving: &SubscriberWithPage, secrets: SecretVisibility) -> Subscriber {
    encode_subscriber(&receiving.subscriber, receiving.suppression_reason, secrets)
}

/// Parser of an enum value.
type Parse<W> = fn(&str) -> Result<W, UnknownVariant>;

/// Parses an enum value of a filter. An empty value matches everything.
fn word<W>(
    field: &str,
    given: Option<String>,
    (parse, words): (Parse<W>, &[&str]),
) -> Result<Option<W>, Error> {
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(None) };
    parse(&given).map(Some).map_err(|_| {
        let allowed = format!("must be one of {}", words.join(", "));
        rpc::invalid(&Violation::new(field, given, allowed).into())
    })
}

/// Rejects a URL with a literal address that this server may not send to (design §6), as for
/// channels.
fn refuse_closed(services: &Services, url: &str) -> Result<(), Error> {
    let Some(address) = rules::notification::literal_address(url) else { return Ok(()) };
    services.egress.permit(address).map_err(|why| {
        let allowed = format!("must be an address that this server may send to: {why}");
        rpc::invalid(&Violation::without_value(format!("{RESOURCE}.webhook_url"), allowed).into())
    })
}
