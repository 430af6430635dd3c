//! The list: open incidents first, then past ones with filters, which are in the URL.

use crate::extract::Asked;
use crate::people;
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::history::Span;
use http::HeaderMap;
use rules::{MonitorId, Role, Timestamp, WorkspaceId};
use serde::Deserialize;
use store::{Incident, IncidentFilter, Page};

use super::close_reason;
use crate::durations;
use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::pager::Pager;
use crate::session::Member;
use crate::state::Dashboard;
use crate::time::parse_day;

/// Number of past incidents per page.
const ROWS: u32 = 50;
/// Maximum number of open incidents on the page.
const OPEN_MAX: usize = 200;
/// Maximum number of monitors to choose from, if a name is ambiguous.
const CHOICES_MAX: u32 = 20;
const DAY: Duration = Duration::from_hours(24);

/// Filter as a person wrote it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IncidentQuery {
    /// ID of a monitor, or a part of its name.
    monitor: String,
    /// First day.
    from: String,
    /// Last day.
    to: String,
    page: Option<u32>,
}

#[derive(Template)]
#[template(path = "incidents.html")]
struct IncidentsPage {
    frame: Frame,
    open: Vec<IncidentRow>,
    /// Number of open incidents that are not shown.
    more_open: usize,
    past: Vec<IncidentRow>,
    asked: IncidentQuery,
    is_filtered: bool,
    /// Name of the monitor of the filter.
    monitor_name: Option<String>,
    /// Monitors to choose from.
    choices: Vec<(String, String)>,
    no_monitor: bool,
    /// Messages about the days. Empty if they can be read.
    bound_errors: [&'static str; 2],
    pager: Pager,
    can_edit: bool,
}

/// An incident as the list shows it.
struct IncidentRow {
    id: String,
    monitor: String,
    opened_at: Timestamp,
    duration: String,
    acknowledged_by: Option<String>,
    /// Reason of the closing.
    closed: &'static str,
}

/// Monitor of a filter.
enum Found {
    Any,
    One(MonitorId, String),
    Several(Vec<(MonitorId, String)>),
    None,
}

/// Shows the list.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<IncidentQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let workspace = member.workspace();
    let found = find_monitor(&state, workspace, asked.monitor.trim()).await?;
    let monitor = match &found {
        Found::One(id, _) => Some(*id),
        Found::Any | Found::Several(_) | Found::None => None,
    };
    let open = open_incidents(&state, workspace, monitor).await?;
    let pager = Pager::new(asked.page, ROWS);
    let filter = asked.filter(monitor);
    let page = Page { limit: ROWS, offset: pager.offset(), after: None };
    let past = state.store.incidents().list(workspace, filter, page).await?;
    let now = state.ctx.now();
    let row = |incident: &Incident| IncidentRow::new(incident, now);
    let more_open = open.len().saturating_sub(OPEN_MAX);
    let (monitor_name, choices) = match &found {
        Found::One(_, name) => (Some(name.clone()), Vec::new()),
        Found::Several(some) => {
            (None, some.iter().map(|(id, name)| (id.to_string(), name.clone())).collect())
        }
        Found::Any | Found::None => (None, Vec::new()),
    };
    let page = IncidentsPage {
        frame: Frame::of_member(&member, Section::Incidents, "Incidents", &request),
        open: open.iter().take(OPEN_MAX).map(row).collect(),
        more_open,
        past: past.rows.iter().map(row).collect(),
        is_filtered: asked.is_filtered(),
        monitor_name,
        choices,
        no_monitor: matches!(found, Found::None),
        bound_errors: asked.bound_errors(),
        pager: pager.with_total(past.total, &asked.query(&member)),
        asked,
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

impl IncidentQuery {
    fn is_filtered(&self) -> bool {
        [&self.monitor, &self.from, &self.to].iter().any(|it| !it.trim().is_empty())
    }

    /// Returns the filter of past incidents. The last day is included.
    fn filter(&self, monitor: Option<MonitorId>) -> IncidentFilter {
        IncidentFilter {
            monitor,
            is_open: Some(false),
            from: parse_day(&self.from),
            to: parse_day(&self.to).map(|day| day + DAY),
        }
    }

    /// Returns the messages about the first and the last day.
    fn bound_errors(&self) -> [&'static str; 2] {
        [&self.from, &self.to].map(|it| match parse_day(it) {
            None if !it.trim().is_empty() => "Enter a day such as 2026-11-21.",
            None | Some(_) => "",
        })
    }

    /// Returns the URL of this filter without the number of the page.
    fn query(&self, member: &Member) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [("monitor", &self.monitor), ("from", &self.from), ("to", &self.to)] {
            if !value.trim().is_empty() {
                query.append_pair(name, value.trim());
            }
        }
        format!("{}?{}", member.path("/incidents"), query.finish())
    }
}

impl IncidentRow {
    fn new(incident: &Incident, now: Timestamp) -> Self {
        let end = incident.closed.map_or(now, |closed| closed.at);
        let by = incident.acknowledged.as_ref().map(|it| people::stored_name(&it.by));
        Self {
            id: incident.id.to_string(),
            monitor: incident.monitor_name.clone(),
            opened_at: incident.opened_at,
            duration: durations::text(Span { from: incident.opened_at, to: end }.length()),
            acknowledged_by: by,
            closed: incident.closed.map_or("", |it| close_reason(it.reason.as_str())),
        }
    }
}

/// Returns the open incidents, newest first, of a monitor or of all.
async fn open_incidents(
    state: &Dashboard,
    workspace: WorkspaceId,
    monitor: Option<MonitorId>,
) -> Result<Vec<Incident>, ScreenError> {
    let mut open = state.store.incidents().open(workspace).await?;
    open.retain(|incident| monitor.is_none_or(|id| incident.monitor == id));
    open.reverse();
    Ok(open)
}

/// Finds the monitor that a person means by its ID or a part of its name.
async fn find_monitor(
    state: &Dashboard,
    workspace: WorkspaceId,
    text: &str,
) -> Result<Found, ScreenError> {
    if text.is_empty() {
        return Ok(Found::Any);
    }
    let monitors = state.store.monitors();
    if let Ok(id) = MonitorId::parse(text) {
        let named = monitors.names(workspace, &[id]).await?;
        return Ok(named.into_iter().next().map_or(Found::None, |(id, name)| Found::One(id, name)));
    }
    let mut matches = monitors.search(workspace, text, CHOICES_MAX).await?;
    if let Some(exact) = matches.iter().position(|(_, name)| name == text) {
        matches = vec![matches.swap_remove(exact)];
    }
    Ok(match matches.len() {
        0 => Found::None,
        1 => {
            let (id, name) = matches.swap_remove(0);
            Found::One(id, name)
        }
        _ => Found::Several(matches),
    })
}
