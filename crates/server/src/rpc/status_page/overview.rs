//! Data of a status page for API clients: its current state, and the days of a component.
//! `domain::page` decides what is visible. Every key of the workspace may read it.

use std::collections::HashMap;

use contract::monitor::{encode_instant, micros};
use contract::rpc::{self, Error, RequestContext};
use contract::status_page::wire::{
    ComponentDay, ComponentOverview, GetComponentSummaryRequest, GetComponentSummaryResponse,
    GetStatusPageOverviewRequest, GetStatusPageOverviewResponse, IncidentOverview,
    MaintenanceOverview, ReportOverview, StatusPageOverview,
};
use domain::history::Uptime;
use domain::page::{
    ComponentView, DAYS, Day, Facts, IncidentView, MaintenanceView, PageView, ReportView, project,
    uptime_of,
};
use rules::{ComponentId, GroupId, Timestamp, Violation};

use super::page::NOUN as PAGE;
use crate::rpc::request::{caller, id};
use crate::rpc::{Services, rpc_error};

/// Noun of a component in error messages.
const COMPONENT: &str = "component";
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;

/// Implements `GetStatusPageOverview`.
pub(super) async fn page(
    services: &Services,
    context: &RequestContext,
    request: GetStatusPageOverviewRequest,
) -> Result<GetStatusPageOverviewResponse, Error> {
    let workspace = caller(context).workspace;
    let page =
        services.store.pages().get(workspace, id(PAGE, &request.id)?).await.map_err(rpc_error)?;
    let facts = services.pages.facts(page, services.ctx.now()).await;
    let facts = facts.map_err(rpc_error)?;
    let seen = overview(&facts, &project(&facts));
    Ok(GetStatusPageOverviewResponse { overview: seen.into() })
}

/// Implements `GetComponentSummary`.
pub(super) async fn component(
    services: &Services,
    context: &RequestContext,
    request: GetComponentSummaryRequest,
) -> Result<GetComponentSummaryResponse, Error> {
    let wanted = request.days.map_or(Some(DAYS), |days| usize::try_from(days).ok());
    let Some(wanted) = wanted.filter(|days| (1..=DAYS).contains(days)) else {
        let given = request.days.unwrap_or_default();
        let wrong = Violation::new("days", given, format!("must be 1 to {DAYS}"));
        return Err(rpc::invalid(&wrong.into()));
    };
    let workspace = caller(context).workspace;
    let id: ComponentId = id(COMPONENT, &request.id)?;
    let component = services.store.components().get(workspace, id).await.map_err(rpc_error)?;
    let page = services.store.pages().get(workspace, component.settings.page_id).await;
    let facts =
        services.store.public_pages().facts(page.map_err(rpc_error)?, services.ctx.now()).await;
    let view = project(&facts.map_err(rpc_error)?);
    // The component is missing if it was deleted in between.
    let shown = view.components().find(|it| it.id == id);
    let shown = shown.ok_or_else(|| rpc::not_found(COMPONENT, &request.id))?;
    let days = shown.days.as_deref().unwrap_or_default();
    let days = &days[days.len().saturating_sub(wanted)..];
    Ok(GetComponentSummaryResponse {
        id: request.id,
        at: encode_instant(view.at),
        days: days.iter().map(|it| day(it, view.at)).collect(),
        uptime_millionths: millionths(uptime_of(days)),
    })
}

/// Encodes the whole page.
fn overview(facts: &Facts, view: &PageView) -> StatusPageOverview {
    let components = facts.components.iter().map(|it| &it.component);
    let groups: HashMap<ComponentId, GroupId> =
        components.filter_map(|it| Some((it.id, it.settings.group_id?))).collect();
    let component = |it: &ComponentView| {
        let group = groups.get(&it.id).map(ToString::to_string);
        component_overview(it, group.unwrap_or_default())
    };
    StatusPageOverview {
        page_id: facts.page.id.to_string(),
        at: encode_instant(view.at),
        state: view.overall_status.state.to_string(),
        checked_at: view.overall_status.data_age.checked_at.map(encode_instant).unwrap_or_default(),
        components: view.components().map(component).collect(),
        open_incidents: view.open_incidents.iter().map(incident_overview).collect(),
        planned_maintenance: view.planned.iter().map(maintenance_overview).collect(),
        open_reports: view.open_reports().map(|it| report_overview(it)).collect(),
    }
}

fn incident_overview(it: &IncidentView) -> IncidentOverview {
    IncidentOverview {
        id: it.id.to_string(),
        component_ids: it.components.iter().map(|component| component.id.to_string()).collect(),
        opened_at: encode_instant(it.opened_at),
        acknowledged_at: it.acknowledged_at.map(encode_instant).unwrap_or_default(),
    }
}

fn maintenance_overview(it: &MaintenanceView) -> MaintenanceOverview {
    MaintenanceOverview {
        id: it.id.to_string(),
        title: it.title.clone(),
        description: it.description.clone(),
        from: encode_instant(it.window.from),
        until: encode_instant(it.window.to),
        is_active: it.is_active,
        component_ids: it.components.iter().map(|component| component.id.to_string()).collect(),
    }
}

fn report_overview(it: &ReportView) -> ReportOverview {
    ReportOverview {
        id: it.id.to_string(),
        title: it.title.clone(),
        status: it.status.to_string(),
        component_ids: it.components.iter().map(|component| component.id.to_string()).collect(),
        started_at: encode_instant(it.started_at),
        last_update_at: encode_instant(it.last_update_at),
    }
}

fn component_overview(it: &ComponentView, group_id: String) -> ComponentOverview {
    let days = it.days.as_deref().unwrap_or_default();
    let over = |last: usize| millionths(uptime_of(&days[days.len().saturating_sub(last)..]));
    ComponentOverview {
        id: it.id.to_string(),
        name: it.name.clone(),
        description: it.description.clone(),
        group_id,
        state: it.state.to_string(),
        since: it.since.map(encode_instant).unwrap_or_default(),
        is_stale: it.is_stale,
        uptime_1d_millionths: over(1),
        uptime_7d_millionths: over(7),
        uptime_30d_millionths: over(30),
        uptime_90d_millionths: over(DAYS),
    }
}

/// Encodes a day as of `at`. The remaining seconds of the day are unknown, so that the sum is
/// complete.
fn day(it: &Day, at: Timestamp) -> ComponentDay {
    let whole = (at.since(it.begins).as_millis() as u64).min(DAY_MILLIS) / 1_000;
    let known = [it.up_ms, it.degraded_ms, it.down_ms, it.maintenance_ms].map(|ms| ms / 1_000);
    let rest = whole.saturating_sub(known.iter().sum());
    let seconds = |seconds: u64| i32::try_from(seconds).unwrap_or(i32::MAX);
    let [up, degraded, down, maintenance] = known.map(seconds);
    ComponentDay {
        date: it.begins.to_string().chars().take(10).collect(),
        up_seconds: up,
        degraded_seconds: degraded,
        down_seconds: down,
        maintenance_seconds: maintenance,
        unknown_seconds: seconds(rest),
        uptime_millionths: millionths(it.uptime),
    }
}

fn millionths(uptime: Option<Uptime>) -> Option<i32> {
    uptime.map(|uptime| micros(uptime.millionths()))
}
