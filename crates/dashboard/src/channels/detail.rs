//! A channel: what it sends, test alerts, and the log of its deliveries.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::notification::wire::{ListDeliveriesRequest, TestNotificationRequest};
use http::HeaderMap;
use rules::Role;
use serde::Deserialize;

use super::deliveries::{DeliveryRow, monitor_names};
use super::outcome::TestOutcome;
use super::summary::{self, ChannelSummary};
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Deliveries on a page of the log.
const DELIVERIES: i32 = 20;
/// States of deliveries, each with its label as a filter. The first stands for all.
const STATES: [(&str, &str); 5] = [
    ("", "All"),
    ("accepted", "Accepted"),
    ("dead", "Failed"),
    ("waiting", "Waiting"),
    ("cancelled", "Cancelled"),
];

/// Part of the log.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LogPart {
    state: String,
    after: Option<String>,
    /// Set after a test alert, whose result is then shown.
    tested: Option<String>,
}

#[derive(Template)]
#[template(path = "channel.html")]
struct ChannelPage {
    frame: Frame,
    channel: ChannelSummary,
    warnings: Vec<String>,
    outcome: Option<TestOutcome>,
    deliveries: Vec<DeliveryRow>,
    total: i32,
    next: String,
    states: &'static [(&'static str, &'static str)],
    state: String,
    can_edit: bool,
}

/// Shows a channel.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(part): Asked<LogPart>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?;
    let asked = ListDeliveriesRequest {
        notification_id: Some(id),
        state: Some(part.state.clone()).filter(|it| !it.is_empty()),
        limit: Some(DELIVERIES),
        page_token: part.after,
        ..ListDeliveriesRequest::default()
    };
    let found = state.send(member.caller(), asked).await?;
    let names = monitor_names(&state, &member, &found.deliveries).await?;
    let deliveries: Vec<_> =
        found.deliveries.iter().map(|it| DeliveryRow::new(it, &names)).collect();
    let newest = deliveries.first().filter(|_| part.tested.is_some());
    let page = ChannelPage {
        frame: Frame::of_member(&member, Section::Channels, &channel.summary.name, &request),
        outcome: newest.and_then(outcome),
        channel: channel.summary,
        warnings: channel.warnings,
        deliveries,
        total: found.total_size,
        next: found.next_page_token,
        states: &STATES,
        state: part.state,
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

/// Sends a test alert through a saved channel.
pub(crate) async fn test(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    Ok(tested(&state, &member, &id, "").await)
}

/// Sends a test alert and leads to the channel, which shows the result.
pub(super) async fn tested(state: &Dashboard, member: &Member, id: &str, notice: &str) -> Response {
    let outcome = send_test(state, member, id).await;
    let text = format!("{notice}{}", outcome.in_short());
    redirect_with_notice(&member.path(&format!("/channels/{id}?tested=1")), &text)
}

/// Sends a test alert through a saved channel, and returns the result.
pub(crate) async fn send_test(state: &Dashboard, member: &Member, id: &str) -> TestOutcome {
    let asked = TestNotificationRequest { id: Some(id.to_owned()), ..Default::default() };
    match state.send(member.caller(), asked).await {
        Ok(response) => TestOutcome::from(response),
        Err(error) => TestOutcome::unsent(&error),
    }
}

/// Returns the result of a test from its delivery.
fn outcome(row: &DeliveryRow) -> Option<TestOutcome> {
    let attempt = row.attempts.last()?;
    Some(TestOutcome {
        accepted: row.state == "accepted",
        status: attempt.status,
        response: attempt.response.clone(),
        millis: attempt.millis,
        help: String::new(),
    })
}
