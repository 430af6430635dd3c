//! The page of a monitor: its state, key figures, regions, latency, uptime by day and incidents. Reads
//! rollups and summaries, not single results, so that it does not depend on the length of the past.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::wire::{
    GetMonitorStatusRequest, GetMonitorStatusResponse, GetMonitorSummaryRequest,
    GetMonitorSummaryResponse,
};
use http::HeaderMap;
use rules::{MonitorId, Role};
use serde::Deserialize;
use store::Incident;

use super::days::{self, DayBars};
use super::heartbeat::{self, HeartbeatPanel};
use super::latency::{self, LatencyChart, Window};
use super::region_rows::{self, RegionRow};
use super::stored::{self, StoredMonitor};
use super::units::{self, Badge};
use super::{check_view, fields, stored_incidents};
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// Number of incidents that the page shows.
const INCIDENTS_MAX: u32 = 10;

/// Range of the page.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct DetailQuery {
    range: Option<String>,
}

#[derive(Template)]
#[template(path = "monitor.html")]
struct DetailPage {
    frame: Frame,
    /// Path of the monitor.
    path: String,
    head: DetailHead,
    can_edit: bool,
    /// Ranges, with whether each is shown.
    ranges: Vec<(&'static str, bool)>,
    figures: Vec<Figure>,
    regions: Vec<RegionRow>,
    /// Place of all regions, if it is one.
    only_place: Option<String>,
    charts: Vec<LatencyChart>,
    days: DayBars,
    incidents: Vec<stored_incidents::StoredIncident>,
    /// `None` for a kind that probes check.
    heartbeat: Option<HeartbeatPanel>,
}

/// Header of the page.
struct DetailHead {
    name: String,
    kind: String,
    target: String,
    /// Link to the target. Empty if a browser cannot open it.
    link: String,
    description: String,
    is_active: bool,
    status: Badge,
    /// Time of the last change of the status, as HTML.
    since: String,
    /// Empty for a kind that probes do not check.
    interval: String,
    /// End of the current maintenance, as HTML.
    maintenance_until: Option<String>,
    id: String,
}

/// A key figure.
struct Figure {
    label: &'static str,
    value: String,
    note: String,
    /// Path of a page about it. Empty without one.
    link: String,
}

/// Shows the page.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(asked): Asked<DetailQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor_id: MonitorId = id.parse().map_err(|_| ScreenError::NotFound)?;
    let window = Window::parse(asked.range.as_deref());
    let (caller, workspace) = (member.caller(), member.workspace());
    let (monitor, status, summary, latencies, days, incidents) = tokio::try_join!(
        stored::find(&state, &member, &id),
        async {
            let request = GetMonitorStatusRequest { id: id.clone() };
            Ok(state.send(caller, request).await?)
        },
        async {
            let window = Some(window.as_str().to_owned());
            let request = GetMonitorSummaryRequest { id: id.clone(), window, ..Default::default() };
            Ok(state.send(caller, request).await?)
        },
        latency::read(&state, (workspace, monitor_id), window),
        days::read(&state, (workspace, monitor_id)),
        async {
            let incidents = state.store.incidents();
            Ok(incidents.list_by_monitor(workspace, monitor_id, INCIDENTS_MAX).await?)
        },
    )?;
    let path = member.path(&format!("/monitors/{id}"));
    let only_place = region_rows::only_place(&status);
    let page = DetailPage {
        frame: Frame::of_member(&member, Section::Monitors, monitor.name(), &request),
        head: head(&monitor, &status),
        can_edit: member.membership.role.includes(Role::Editor),
        ranges: Window::ALL.iter().map(|it| (it.as_str(), *it == window)).collect(),
        figures: figures(&member, &summary, &incidents),
        regions: region_rows::rows(&status, &summary, only_place.is_some()),
        only_place,
        charts: latencies.charts(monitor.kind),
        days,
        incidents: stored_incidents::rows(&state, &member, &incidents),
        heartbeat: HeartbeatPanel::new(&monitor),
        path,
    };
    Ok(html::page(&page, &request))
}

fn head(monitor: &StoredMonitor, status: &GetMonitorStatusResponse) -> DetailHead {
    let is_active = monitor.is_active();
    let expected = heartbeat::expected(monitor);
    let is_probed = expected.is_empty();
    let target = if is_probed { monitor.target().to_owned() } else { expected };
    let is_web = target.starts_with("http://") || target.starts_with("https://");
    DetailHead {
        name: monitor.name().to_owned(),
        kind: monitor.kind.as_str().to_uppercase(),
        link: if is_web { target.clone() } else { String::new() },
        target,
        description: monitor.text("description").to_owned(),
        is_active,
        status: if is_active { units::status_badge(&status.status) } else { units::paused_badge() },
        since: check_view::html_time(status.since.as_option()),
        interval: if is_probed {
            fields::in_words(monitor.text("periodicity"))
        } else {
            String::new()
        },
        maintenance_until: check_view::instant(status.maintenance_until.as_option())
            .map(|at| crate::time::time(&at)),
        id: monitor.text("id").to_owned(),
    }
}

fn figures(
    member: &Member,
    summary: &GetMonitorSummaryResponse,
    incidents: &[Incident],
) -> Vec<Figure> {
    let total = &summary.total;
    let plain = |label, value, note| Figure { label, value, note, link: String::new() };
    let uptime = summary.uptime_millionths.map_or_else(|| "–".to_owned(), units::percent);
    let failed = units::grouped(total.failure);
    let missed = match total.missed {
        0 => String::new(),
        missed => format!(", {} missed", units::grouped(missed)),
    };
    let open = incidents.iter().find(|it| it.closed.is_none());
    let incident = match open {
        Some(incident) => Figure {
            label: "Open incident",
            value: "1".to_owned(),
            note: match &incident.acknowledged {
                Some(_) => "Acknowledged".to_owned(),
                None => "Not acknowledged".to_owned(),
            },
            link: member.path(&format!("/incidents/{}", incident.id)),
        },
        None => plain("Open incident", "None".to_owned(), String::new()),
    };
    vec![
        plain("Uptime", uptime, "Share of the known time".to_owned()),
        plain("Median", units::latency_or_dash(total.p50_us), "p50 of successes".to_owned()),
        plain(
            "95th percentile",
            units::latency_or_dash(total.p95_us),
            "p95 of successes".to_owned(),
        ),
        plain("Checks", units::grouped(total.checks), format!("{failed} failed{missed}")),
        incident,
    ]
}
