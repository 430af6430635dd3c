//! One maintenance: its windows and what it covers. Ends and deletes it.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::maintenance::wire::{DeleteMaintenanceRequest, EndMaintenanceRequest};
use domain::history::Span;
use domain::maintenance::MaintenanceStatus;
use http::HeaderMap;
use rules::{MaintenanceId, Role, Timestamp};

use super::in_words;
use super::list::covered;
use super::preview::{Preview, of_schedule};
use crate::durations;
use crate::error::ScreenError;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Maximum number of covered things that the page names.
const NAMED_MAX: usize = 100;

#[derive(Template)]
#[template(path = "maintenance_show.html")]
struct MaintenancePage {
    frame: Frame,
    id: String,
    status: MaintenanceStatus,
    current: Option<Span>,
    starts_at: Timestamp,
    duration: String,
    time_zone: String,
    repeats: Option<String>,
    description: Option<String>,
    preview: Preview,
    covered: String,
    monitors: Vec<(String, String)>,
    components: Vec<(String, String)>,
    can_edit: bool,
}

/// Shows the maintenance.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let parsed = MaintenanceId::parse(&id).map_err(|_| ScreenError::NotFound)?;
    let (workspace, now) = (member.workspace(), state.ctx.now());
    let planned = state.store.maintenances().get(workspace, parsed, now).await?;
    let settings = &planned.maintenance.settings;
    let first = &settings.monitor_ids[..settings.monitor_ids.len().min(NAMED_MAX)];
    let monitors = state.store.monitors().names(workspace, first).await?;
    let all = state.store.components().names(workspace).await?;
    let components = all.into_iter().filter(|it| settings.component_ids.contains(&it.id));
    let schedule = &settings.schedule;
    let page = MaintenancePage {
        frame: Frame::of_member(&member, Section::Maintenance, &settings.title, &request),
        id,
        status: planned.status(),
        current: planned.current,
        starts_at: schedule.starts_at,
        duration: durations::text(schedule.duration.duration()),
        time_zone: schedule.time_zone.to_string(),
        repeats: schedule.recurrence.as_ref().map(in_words::recurrence),
        description: settings.description.clone().filter(|text| !text.is_empty()),
        preview: of_schedule(schedule, now),
        covered: covered(settings.monitor_ids.len(), settings.component_ids.len()),
        monitors: monitors.into_iter().map(|(id, name)| (id.to_string(), name)).collect(),
        components: components.take(NAMED_MAX).map(|it| (it.name, it.page_title)).collect(),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

/// Ends the current window.
pub(super) async fn end(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), EndMaintenanceRequest { id: id.clone() }).await?;
    let path = member.path(&format!("/maintenance/{id}"));
    Ok(redirect_with_notice(&path, "The window has ended. Alerts that it held are sent."))
}

/// Deletes the maintenance.
pub(super) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), DeleteMaintenanceRequest { id }).await?;
    Ok(redirect_with_notice(&member.path("/maintenance"), "The maintenance was deleted."))
}
