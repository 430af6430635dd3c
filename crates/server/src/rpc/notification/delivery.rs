//! Deliveries to channels and to subscribers of status pages, and replay of dead letters. Secrets
//! were removed from the receiver's responses before they were stored.

use std::str::FromStr;

use contract::monitor::encode_instant;
use contract::notification::wire::{
    Delivery as WireDelivery, DeliveryAttempt as WireAttempt, GetDeliveryRequest,
    GetDeliveryResponse, ListDeliveriesRequest, ListDeliveriesResponse, ReplayDeliveryRequest,
    ReplayDeliveryResponse,
};
use contract::rpc::{self, Error, RequestContext};
use domain::notify::{HoldReason, delivery_key};
use rules::{InvalidId, Violation, Violations};
use store::{
    AlertToChannel, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryState, StoreError,
    SubscriberDelivery, SubscriberDeliveryFilter,
};

use super::test::millis;
use crate::rpc::list::{PageRequest, encode_total};
use crate::rpc::request::{caller, change, id};
use crate::rpc::{Services, rpc_error};

/// Noun of this resource in error messages.
const NOUN: &str = "delivery";

/// Implements `ListDeliveries`.
pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListDeliveriesRequest,
) -> Result<ListDeliveriesResponse, Error> {
    let caller = caller(context);
    let (limit, offset) = (request.limit, request.offset);
    let page = PageRequest { limit, offset, page_token: request.page_token.as_deref() }.parse();
    if let Some(filter) = subscriber_filter(&request).map_err(|wrong| rpc::invalid(&wrong))? {
        let page = page.map_err(|wrong| rpc::invalid(&wrong))?;
        let found = services
            .store
            .outbox()
            .subscriber_deliveries(caller.workspace, filter, page.with_one_more())
            .await;
        let found = found.map_err(rpc_error)?;
        let (deliveries, next_page_token) = page.cut(
            &found,
            |subscriber_delivery| subscriber_delivery.id,
            |subscriber_delivery| encode_subscriber_delivery(subscriber_delivery.clone()),
            rpc::encoded_bytes,
        );
        return Ok(ListDeliveriesResponse {
            deliveries,
            total_size: encode_total(found.total),
            next_page_token,
        });
    }
    let (page, filter) = match (page, filter(&request)) {
        (Ok(page), Ok(filter)) => (page, filter),
        (page, filter) => {
            let wrong = page.err().into_iter().chain(filter.err()).flat_map(|wrong| wrong.0);
            return Err(rpc::invalid(&Violations(wrong.collect())));
        }
    };
    let found = services.store.outbox().list(caller.workspace, filter, page.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let (deliveries, next_page_token) = page.cut(
        &found,
        |delivery| delivery.id,
        |delivery| encode(delivery.clone()),
        rpc::encoded_bytes,
    );
    Ok(ListDeliveriesResponse {
        deliveries,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

/// Implements `GetDelivery`.
pub(super) async fn get(
    services: &Services,
    context: &RequestContext,
    request: GetDeliveryRequest,
) -> Result<GetDeliveryResponse, Error> {
    let (workspace, id) = (caller(context).workspace, id(NOUN, &request.id)?);
    let shown = match services.store.outbox().get(workspace, id).await {
        Err(StoreError::NotFound { .. }) => services
            .store
            .outbox()
            .subscriber_delivery(workspace, id)
            .await
            .map(encode_subscriber_delivery),
        found => found.map(encode),
    };
    Ok(GetDeliveryResponse { delivery: shown.map_err(rpc_error)?.into() })
}

/// Implements `ReplayDelivery`.
pub(super) async fn replay(
    services: &Services,
    context: &RequestContext,
    request: ReplayDeliveryRequest,
) -> Result<ReplayDeliveryResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    let outbox = services.store.outbox();
    let replayed = match outbox.replay(caller.workspace, id, change).await {
        Err(StoreError::NotFound { .. }) => outbox
            .replay_subscriber_delivery(caller.workspace, id, change)
            .await
            .map(encode_subscriber_delivery),
        replayed => replayed.map(encode),
    };
    let delivery = replayed.map_err(|error| {
        // The request is valid, but the state of the delivery does not allow a replay.
        if let StoreError::Refused(violation) = error {
            rpc::failed_precondition(violation.to_string())
        } else {
            rpc_error(error)
        }
    })?;
    Ok(ReplayDeliveryResponse { delivery: delivery.into() })
}

/// Parses the filter of deliveries to channels. Returns all violations.
fn filter(request: &ListDeliveriesRequest) -> Result<DeliveryFilter, Violations> {
    let channel = parse_id(request.notification_id.as_deref(), "notification_id", "channel");
    let monitor = parse_id(request.monitor_id.as_deref(), "monitor_id", "monitor");
    match (channel, monitor, state(request.state.as_deref())) {
        (Ok(channel), Ok(monitor), Ok(state)) => Ok(DeliveryFilter { channel, monitor, state }),
        (channel, monitor, state) => {
            let wrong = channel.err().into_iter().chain(monitor.err()).chain(state.err());
            Err(Violations(wrong.collect()))
        }
    }
}

/// Parses the filter of deliveries to subscribers. Returns all violations, or `None` for deliveries
/// to channels.
fn subscriber_filter(
    request: &ListDeliveriesRequest,
) -> Result<Option<SubscriberDeliveryFilter>, Violations> {
    const OTHERS: &str = "must not be given together with a subscriber or a status page";
    let is_given = |field: &Option<String>| field.as_ref().is_some_and(|given| !given.is_empty());
    if !is_given(&request.subscriber_id) && !is_given(&request.page_id) {
        return Ok(None);
    }
    let of_channels =
        [("notification_id", &request.notification_id), ("monitor_id", &request.monitor_id)];
    let mut wrong: Vec<_> = of_channels
        .into_iter()
        .filter(|(_, given)| is_given(given))
        .map(|(field, _)| Violation::without_value(field, OTHERS))
        .collect();
    let subscriber = parse_id(request.subscriber_id.as_deref(), "subscriber_id", "subscriber");
    let page = parse_id(request.page_id.as_deref(), "page_id", "status page");
    match (subscriber, page, state(request.state.as_deref())) {
        (Ok(subscriber), Ok(page), Ok(state)) if wrong.is_empty() => {
            Ok(Some(SubscriberDeliveryFilter { subscriber, page, state }))
        }
        (subscriber, page, state) => {
            wrong.extend(subscriber.err().into_iter().chain(page.err()).chain(state.err()));
            Err(Violations(wrong))
        }
    }
}

/// Parses the ID of a resource in a filter.
fn parse_id<Id: FromStr<Err = InvalidId>>(
    given: Option<&str>,
    field: &'static str,
    noun: &str,
) -> Result<Option<Id>, Violation> {
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(None) };
    given.parse().map(Some).map_err(|unreadable: InvalidId| {
        let allowed = format!("must be a {noun}'s identifier, {}…", unreadable.prefix);
        Violation::new(field, given, allowed)
    })
}

fn state(given: Option<&str>) -> Result<Option<DeliveryState>, Violation> {
    let Some(given) = given.filter(|given| !given.is_empty()) else { return Ok(None) };
    DeliveryState::parse(given).map(Some).map_err(|_| {
        let words: Vec<_> = DeliveryState::ALL.iter().map(|state| state.as_str()).collect();
        Violation::new("state", given, format!("must be one of {}", words.join(", ")))
    })
}

fn encode(delivery: Delivery) -> WireDelivery {
    let (progress, about) = encode_progress(delivery);
    let AlertToChannel { channel, monitor, event } = about;
    WireDelivery {
        notification_id: channel.to_string(),
        monitor_id: monitor.map(|id| id.to_string()),
        incident_id: event.incident.map(|id| id.to_string()),
        event: event.kind.as_str().to_owned(),
        reminder: i32::try_from(event.reminder).unwrap_or(i32::MAX),
        key: delivery_key(channel, &event),
        ..progress
    }
}

fn encode_subscriber_delivery(delivery: SubscriberDelivery) -> WireDelivery {
    let (progress, about) = encode_progress(delivery);
    WireDelivery {
        event: about.event_kind,
        key: about.key,
        subscriber_id: Some(about.subscriber.to_string()),
        page_id: Some(about.page.to_string()),
        ..progress
    }
}

/// Encodes what deliveries to all kinds of recipients have. Returns their subject beside it.
fn encode_progress<A>(delivery: Delivery<A>) -> (WireDelivery, A) {
    let waits = delivery.state == DeliveryState::Waiting;
    let hold_reason = delivery.hold_reason.filter(|_| waits);
    let progress = WireDelivery {
        id: delivery.id.to_string(),
        provider_type: delivery.kind.to_string(),
        state: delivery.state.as_str().to_owned(),
        hold_reason: hold_reason.map(|reason| hold_reason_name(reason).to_owned()),
        created_at: encode_instant(delivery.created_at),
        next_attempt_at: if waits { encode_instant(delivery.due_at) } else { <_>::default() },
        completed_at: delivery.completed_at.map(encode_instant).unwrap_or_default(),
        attempts: delivery.attempts.into_iter().map(encode_attempt).collect(),
        ..WireDelivery::default()
    };
    (progress, delivery.about)
}

fn encode_attempt(attempt: DeliveryAttempt) -> WireAttempt {
    WireAttempt {
        number: i32::try_from(attempt.number).unwrap_or(i32::MAX),
        at: encode_instant(attempt.at),
        duration_ms: millis(attempt.duration),
        status: attempt.status.map(i32::from),
        response: attempt.response,
    }
}

/// Returns the name of the reason that a delivery is on hold.
const fn hold_reason_name(holds: HoldReason) -> &'static str {
    match holds {
        HoldReason::MinDuration => "min_duration",
        HoldReason::Maintenance => "maintenance",
        HoldReason::QuietHours => "quiet_hours",
        HoldReason::Digest => "digest",
    }
}
