//! Deliveries of a channel: rows of the log, one delivery with its attempts, and replay of dead
//! letters.

use std::collections::HashMap;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::decode_instant;
use contract::notification::wire::{
    Delivery, DeliveryAttempt, GetDeliveryRequest, ReplayDeliveryRequest, Timestamp as WireInstant,
};
use http::HeaderMap;
use rules::{MonitorId, Role, Timestamp};

use super::summary::{self, ChannelSummary};
use crate::error::ScreenError;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// A delivery as the log lists it.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRow {
    pub(crate) id: String,
    pub(crate) event: String,
    /// ID and name of the monitor. The name is the ID if nothing is left of the monitor.
    pub(crate) monitor: Option<(String, String)>,
    pub(crate) incident: Option<String>,
    pub(crate) state: String,
    /// Why it is held, or when it is attempted again.
    pub(crate) note: Option<String>,
    pub(crate) at: Timestamp,
    pub(crate) attempts: Vec<AttemptRow>,
    /// Number of all attempts, of which only the newest are listed.
    pub(crate) attempt_count: i32,
}

/// An attempt of a delivery.
#[derive(Clone, Debug)]
pub(crate) struct AttemptRow {
    pub(crate) number: i32,
    pub(crate) at: Timestamp,
    pub(crate) millis: i32,
    pub(crate) status: Option<i32>,
    pub(crate) response: String,
}

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage {
    frame: Frame,
    channel: ChannelSummary,
    row: DeliveryRow,
    key: String,
    can_edit: bool,
}

impl DeliveryRow {
    /// Reads a delivery. `names` are the names of monitors by their IDs.
    pub(super) fn new(delivery: &Delivery, names: &HashMap<String, String>) -> Self {
        let monitor = delivery
            .monitor_id
            .as_ref()
            .map(|id| (id.clone(), names.get(id).unwrap_or(id).clone()));
        let attempts: Vec<AttemptRow> = delivery.attempts.iter().map(AttemptRow::new).collect();
        Self {
            id: delivery.id.clone(),
            event: event(&delivery.event, delivery.reminder),
            monitor,
            incident: delivery.incident_id.clone(),
            state: delivery.state.clone(),
            note: delivery.hold_reason.as_deref().map(hold),
            at: instant(delivery.created_at.as_option()),
            attempt_count: attempts.last().map_or(0, |it| it.number),
            attempts,
        }
    }

    pub(crate) fn badge(&self) -> &'static str {
        badge(&self.state)
    }

    pub(crate) fn icon(&self) -> &'static str {
        icon(&self.state)
    }

    pub(crate) fn word(&self) -> &'static str {
        word(&self.state)
    }

    /// Returns whether the delivery can be repeated.
    pub(crate) fn is_dead(&self) -> bool {
        self.state == "dead"
    }

    /// Returns the receiver's last answer.
    pub(crate) fn answer(&self) -> Option<String> {
        self.attempts.last().map(AttemptRow::answer)
    }
}

impl AttemptRow {
    fn new(attempt: &DeliveryAttempt) -> Self {
        Self {
            number: attempt.number,
            at: instant(attempt.at.as_option()),
            millis: attempt.duration_ms,
            status: attempt.status,
            response: attempt.response.clone(),
        }
    }

    /// Returns the text of the answer, or its status.
    pub(crate) fn answer(&self) -> String {
        match (self.status, self.response.as_str()) {
            (Some(status), "") => status.to_string(),
            // The text names the status if it matters.
            (_, text) => text.to_owned(),
        }
    }
}

/// Shows a delivery.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, channel, id)): Path<(String, String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &channel).await?.summary;
    let found = state.send(member.caller(), GetDeliveryRequest { id }).await?;
    let delivery = found.delivery.into_option().ok_or(ScreenError::NotFound)?;
    if delivery.notification_id != channel.id {
        return Err(ScreenError::NotFound);
    }
    let names = monitor_names(&state, &member, std::slice::from_ref(&delivery)).await?;
    let row = DeliveryRow::new(&delivery, &names);
    let page = DeliveryPage {
        frame: Frame::of_member(&member, Section::Channels, row.event.clone(), &request),
        channel,
        key: delivery.key,
        row,
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

/// Repeats a dead letter.
pub(crate) async fn replay(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, channel, id)): Path<(String, String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), ReplayDeliveryRequest { id: id.clone() }).await?;
    let path = member.path(&format!("/channels/{channel}/deliveries/{id}"));
    Ok(redirect_with_notice(&path, "The alert is sent again."))
}

/// Returns the names of the monitors of deliveries, by their IDs.
pub(super) async fn monitor_names(
    state: &Dashboard,
    member: &Member,
    deliveries: &[Delivery],
) -> Result<HashMap<String, String>, ScreenError> {
    let ids = deliveries.iter().filter_map(|it| MonitorId::parse(it.monitor_id.as_ref()?).ok());
    let mut ids: Vec<MonitorId> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let names = state.store.monitors().names(member.workspace(), &ids).await?;
    Ok(names.into_iter().map(|(id, name)| (id.to_string(), name)).collect())
}

/// Returns an instant of a message, which always has one.
pub(super) fn instant(given: Option<&WireInstant>) -> Timestamp {
    given.and_then(decode_instant).unwrap_or(Timestamp::from_millis(0))
}

/// Returns the class of the badge of a state.
pub(super) fn badge(state: &str) -> &'static str {
    match state {
        "accepted" => "up",
        "dead" => "down",
        "waiting" => "maintenance",
        _ => "",
    }
}

/// Returns the name of the symbol of a state, for people who do not see colours.
pub(super) fn icon(state: &str) -> &'static str {
    match state {
        "accepted" => "up",
        "dead" => "down",
        "waiting" => "unknown",
        _ => "paused",
    }
}

/// Returns a state in a word.
pub(super) fn word(state: &str) -> &'static str {
    match state {
        "accepted" => "Accepted",
        "dead" => "Failed",
        "waiting" => "Waiting",
        _ => "Cancelled",
    }
}

fn event(event: &str, reminder: i32) -> String {
    let word = match event {
        "error" => "Outage",
        "degraded" => "Degraded",
        "still_degraded" => "Still degraded",
        "recovered" => "Recovered",
        "test" => "Test alert",
        other => other,
    };
    if reminder == 0 { word.to_owned() } else { format!("{word}, reminder {reminder}") }
}

fn hold(reason: &str) -> String {
    let why = match reason {
        "min_duration" => "sent only if it lasts",
        "maintenance" => "held during maintenance",
        "quiet_hours" => "held during quiet hours",
        "digest" => "part of a digest",
        other => other,
    };
    why.to_owned()
}
