//! The calendar of a month, and the list of all maintenance.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use domain::history::Span;
use domain::maintenance::MaintenanceStatus;
use domain::page::Month;
use http::HeaderMap;
use rules::Role;
use serde::Deserialize;
use store::{MaintenanceFilter, MaintenanceWindow, Page, PlannedMaintenance};

use super::calendar::{CalendarDay, WEEKDAYS, shown_days, weeks};
use super::in_words;
use crate::durations;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::pager::Pager;
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Number of maintenances per page of the list.
const ROWS: u32 = 50;
/// Maximum number of windows in a calendar.
const WINDOWS_MAX: u32 = 1_000;
/// Month and page that a person wants to see.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CalendarQuery {
    month: String,
    page: Option<u32>,
}

#[derive(Template)]
#[template(path = "maintenance.html")]
struct CalendarPage {
    frame: Frame,
    /// Name of the month, such as `November 2026`.
    month: String,
    previous: String,
    next: String,
    weeks: Vec<Vec<CalendarDay>>,
    /// Windows of the month in order of time, for phones.
    agenda: Vec<MaintenanceWindow>,
    rows: Vec<MaintenanceRow>,
    pager: Pager,
    can_edit: bool,
}

/// A maintenance as the list shows it.
struct MaintenanceRow {
    id: String,
    title: String,
    status: MaintenanceStatus,
    /// Current or next window.
    window: Option<Span>,
    repeats: Option<String>,
    duration: String,
    covered: String,
}

/// Shows calendar and list.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<CalendarQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let (workspace, now) = (member.workspace(), state.ctx.now());
    let month = Month::parse(&asked.month).unwrap_or_else(|| Month::containing(now));
    let maintenances = state.store.maintenances();
    let windows = maintenances.windows(workspace, shown_days(month), WINDOWS_MAX).await?;
    let pager = Pager::new(asked.page, ROWS);
    let part = Page { limit: ROWS, offset: pager.offset(), after: None };
    let listed = maintenances.list(workspace, MaintenanceFilter::default(), part, now).await?;
    let inside = month.span();
    let overlaps =
        |it: &&MaintenanceWindow| it.window.from < inside.to && inside.from < it.window.to;
    let path = |month: Month| member.path(&format!("/maintenance?month={month}"));
    let page = CalendarPage {
        frame: Frame::of_member(&member, Section::Maintenance, "Maintenance", &request),
        month: time::format(inside.from, "%B %Y"),
        previous: path(month.previous()),
        next: path(month.next()),
        weeks: weeks(month, &windows, now),
        agenda: windows.iter().filter(overlaps).cloned().collect(),
        rows: listed.rows.iter().map(MaintenanceRow::new).collect(),
        pager: pager.with_total(listed.total, &path(month)),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

impl MaintenanceRow {
    fn new(planned: &PlannedMaintenance) -> Self {
        let settings = &planned.maintenance.settings;
        let schedule = &settings.schedule;
        Self {
            id: planned.maintenance.id.to_string(),
            title: settings.title.clone(),
            status: planned.status(),
            window: planned.current.or(planned.next),
            repeats: schedule.recurrence.as_ref().map(in_words::recurrence),
            duration: durations::text(schedule.duration.duration()),
            covered: covered(settings.monitor_ids.len(), settings.component_ids.len()),
        }
    }

    /// Returns the class of the status.
    const fn mark(&self) -> &'static str {
        match self.status {
            MaintenanceStatus::Active => "maintenance",
            MaintenanceStatus::Scheduled | MaintenanceStatus::Completed => "",
        }
    }

    const fn label(&self) -> &'static str {
        match self.status {
            MaintenanceStatus::Active => "Active now",
            MaintenanceStatus::Scheduled => "Planned",
            MaintenanceStatus::Completed => "Over",
        }
    }
}

/// Returns words for the number of covered monitors and components.
pub(super) fn covered(monitors: usize, components: usize) -> String {
    let count = |count: usize, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    };
    let parts: Vec<String> = [count(monitors, "monitor"), count(components, "component")]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() { "nothing any more".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_things_are_counted() {
        assert_eq!(covered(1, 0), "1 monitor");
        assert_eq!(covered(3, 1), "3 monitors, 1 component");
        assert_eq!(covered(0, 0), "nothing any more");
    }
}
