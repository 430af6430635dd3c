//! Outbox: events are delivered to the right recipients, once and in order, even if the process
//! stops in between.

mod corrupt;
mod deliveries;
mod digests;
mod held;
mod life;
mod order;
mod replay;

use std::time::Duration;

use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use domain::notify::{Cause, Event, EventKind, RegionOutcome, digest_key};
use rules::notification::{
    ChannelSettings, IncomingWebhook, NotificationPreferences, Opsgenie, Provider,
};
use rules::{
    ChannelId, DeliveryId, IncidentId, MonitorId, MonitorStatus, OpsgenieRegion, Region, Secret,
};
use store::{
    AttemptResult, Batch, Created, DeliveryFilter, DeliveryState, DueDeliveries, DueDelivery,
    NewChannel, NextStep, Page,
};

use crate::harness::{Home, at, instant};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

pub(crate) fn channel_id(number: u64) -> ChannelId {
    ChannelId::from_bits(number)
}

/// Creates a channel for these monitors with default preferences.
pub(crate) async fn slack(home: &Home, number: u64, monitors: &[MonitorId]) -> ChannelId {
    slack_with(home, number, monitors, NotificationPreferences::default()).await
}

async fn slack_with(
    home: &Home,
    number: u64,
    monitors: &[MonitorId],
    preferences: NotificationPreferences,
) -> ChannelId {
    let webhook_url = Secret::new("https://hooks.example/secret".to_owned());
    channel(home, number, monitors, (Provider::Slack(IncomingWebhook { webhook_url }), preferences))
        .await
}

/// Creates a channel of a kind that tracks alert states.
async fn opsgenie(home: &Home, number: u64, monitors: &[MonitorId]) -> ChannelId {
    let api_key = Secret::new("key".to_owned());
    let provider = Provider::Opsgenie(Opsgenie { api_key, region: OpsgenieRegion::Us });
    channel(home, number, monitors, (provider, NotificationPreferences::default())).await
}

async fn channel(
    home: &Home,
    number: u64,
    monitors: &[MonitorId],
    (provider, preferences): (Provider, NotificationPreferences),
) -> ChannelId {
    let settings =
        ChannelSettings { name: None, monitor_ids: monitors.to_vec(), provider, preferences };
    let (id, workspace) = (channel_id(number), home.workspace);
    let new = NewChannel { id, workspace, settings, idempotency: None };
    match home.store.channels().create(new, at(0)).await.unwrap() {
        Created::Now(channel) | Created::Before(channel) => channel.id,
    }
}

/// Delivers an alert of each monitor to one channel. Returns the deliveries, oldest first.
pub(crate) async fn delivered(home: &Home, monitors: &[MonitorId]) -> Vec<DeliveryId> {
    let channel = slack(home, 1, monitors).await;
    for (monitor, number) in monitors.iter().zip(1..) {
        turn(home, *monitor, down(number, 10)).await;
        deliver(home, channel, 20).await;
    }
    let page = Page { limit: 100, offset: 0, after: None };
    let listed = home.store.outbox().list(home.workspace, DeliveryFilter::default(), page).await;
    listed.unwrap().rows.iter().rev().map(|row| row.id).collect()
}

fn transition(from: MonitorStatus, to: MonitorStatus, at: i64) -> Transition {
    let (incident, at) = (IncidentChange::None, instant(at));
    Transition { from, to, at, incident, why: StatusReason::NoVotes }
}

fn down(incident: u64, at: i64) -> Transition {
    let incident = IncidentChange::Opened(IncidentId::from_bits(incident));
    Transition { incident, ..transition(MonitorStatus::Active, MonitorStatus::Error, at) }
}

fn up(incident: u64, at: i64) -> Transition {
    let (id, how) = (IncidentId::from_bits(incident), CloseReason::Recovered);
    let incident = IncidentChange::Closed { id, reason: how };
    Transition { incident, ..transition(MonitorStatus::Error, MonitorStatus::Active, at) }
}

fn slow(at: i64) -> Transition {
    transition(MonitorStatus::Active, MonitorStatus::Degraded, at)
}

fn fine(at: i64) -> Transition {
    transition(MonitorStatus::Degraded, MonitorStatus::Active, at)
}

fn cause(why: &str) -> Cause {
    let region = Region::FlyAms;
    let (reason, status) = (Some(why.to_owned()), Some(503));
    let seen =
        RegionOutcome { region, place: None, failing: true, reason, status, latency_ms: Some(9) };
    Cause { why: why.to_owned(), regions: vec![seen] }
}

/// Commits a transition of a monitor.
async fn turn(home: &Home, monitor: MonitorId, transition: Transition) {
    let transitions = vec![(monitor, transition)];
    let causes = vec![(monitor, cause("the status is 503"))];
    home.commit(Batch { transitions, causes, ..Batch::default() }).await.unwrap();
}

async fn due(home: &Home, channel: ChannelId, at: i64) -> DueDeliveries {
    home.store.outbox().due(channel, instant(at), 100).await.unwrap()
}

/// Returns the due deliveries as `kind monitor`.
async fn due_events(home: &Home, channel: ChannelId, at: i64) -> Vec<String> {
    due(home, channel, at).await.due.iter().map(format_due).collect()
}

/// Returns the alert of a delivery.
fn alert(due: &DueDelivery) -> &Event {
    due.content.alert().unwrap()
}

fn format_due(due: &DueDelivery) -> String {
    format!("{} {}", alert(due).kind.as_str(), alert(due).monitor.id.bits())
}

/// Returns the result of the attempt with this number.
fn attempt_result((id, number): (DeliveryId, u32), at: i64, then: NextStep) -> AttemptResult {
    let (status, response) = match then {
        NextStep::Accepted => (Some(200), "ok"),
        NextStep::Again(_) => (Some(503), "come back later"),
        NextStep::Dead => (Some(404), "no such hook"),
    };
    let took = Duration::from_millis(20);
    AttemptResult {
        id,
        number,
        at: instant(at),
        duration: took,
        status,
        response: response.to_owned(),
        next_step: then,
    }
}

/// Records the result of the next attempt.
async fn record_next_attempt(home: &Home, id: DeliveryId, at: i64, then: NextStep) {
    let delivery = home.store.outbox().get(home.workspace, id).await.unwrap();
    let number = delivery.attempts.last().map_or(1, |attempt| attempt.number + 1);
    home.store
        .outbox()
        .record_attempts(vec![attempt_result((id, number), at, then)])
        .await
        .unwrap();
}

/// Records that a delivery was accepted.
pub(crate) async fn accept(home: &Home, due: &DueDelivery, at: i64) {
    let arrived = attempt_result((due.id, due.total_attempts + 1), at, NextStep::Accepted);
    home.store.outbox().record_attempts(vec![arrived]).await.unwrap();
}

/// Delivers everything that is due, as a delivery worker does. Returns the accepted deliveries,
/// with a digest as one entry.
pub(crate) async fn deliver(home: &Home, channel: ChannelId, at: i64) -> Vec<String> {
    let mut arrived = Vec::new();
    loop {
        let mut queue = due(home, channel, at).await.due;
        let Some(first) = queue.first().cloned() else { return arrived };
        queue.retain(|due| {
            due.digest_key == first.digest_key && due.hold_reason == first.hold_reason
        });
        let goes_alone =
            first.digest_key.is_none() && (first.hold_reason.is_none() || queue.len() == 1);
        if goes_alone {
            queue.truncate(1);
        } else if first.digest_key.is_none() {
            let events: Vec<_> = queue.iter().map(|due| alert(due).clone()).collect();
            let ids: Vec<_> = queue.iter().map(|due| due.id).collect();
            let key = digest_key(channel, &events);
            assert_eq!(home.store.outbox().fix_digest(&ids, key).await.unwrap(), ids);
        }
        let each = queue
            .iter()
            .map(|due| attempt_result((due.id, due.total_attempts + 1), at, NextStep::Accepted))
            .collect();
        home.store.outbox().record_attempts(each).await.unwrap();
        arrived.push(queue.iter().map(format_due).collect::<Vec<_>>().join(" + "));
    }
}

async fn states(home: &Home) -> Vec<(EventKind, DeliveryState)> {
    let page = Page { limit: 100, offset: 0, after: None };
    let listed = home.store.outbox().list(home.workspace, DeliveryFilter::default(), page).await;
    let rows = listed.unwrap().rows;
    rows.iter().rev().map(|delivery| (delivery.about.event.kind, delivery.state)).collect()
}
