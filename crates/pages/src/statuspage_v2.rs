//! The JSON API of Statuspage under `/api/v2`, which many programs read: the same keys, values and
//! structure. Components are in `component`, events in `event`. Sources: the reference that
//! Statuspage generates for each page (such as <https://confluence.status.atlassian.com/api>) and
//! published responses. The schema used in tests names them.

mod component;
mod event;

use domain::page::{MaintenanceView, PageView, State};
use rules::Timestamp;
use serde_json::{Value, json};

use self::component::Components;
use self::event::Events;
use super::feed;
use super::snapshot::PageSnapshot;

/// Maximum number of incidents or maintenances in a list, as in Statuspage.
const LIST_MAX: usize = 50;

pub(super) fn summary(snapshot: &PageSnapshot, base: &str) -> String {
    let components = Components::from_page(snapshot);
    let events = Events { snapshot, base, components: &components };
    let open = open(snapshot, &events);
    let planned = snapshot.view.planned.iter().take(LIST_MAX).map(|it| events.maintenance(it));
    let planned: Vec<_> = planned.collect();
    finish(
        snapshot,
        base,
        json!({
            "status": state(&snapshot.view), "components": components.all(), "incidents": open,
            "scheduled_maintenances": planned,
        }),
    )
}

pub(super) fn status(snapshot: &PageSnapshot, base: &str) -> String {
    finish(snapshot, base, json!({ "status": state(&snapshot.view) }))
}

pub(super) fn components(snapshot: &PageSnapshot, base: &str) -> String {
    finish(snapshot, base, json!({ "components": Components::from_page(snapshot).all() }))
}

pub(super) fn incidents(snapshot: &PageSnapshot, base: &str) -> String {
    let components = Components::from_page(snapshot);
    let events = Events { snapshot, base, components: &components };
    let incidents = snapshot.incidents().map(|it| events.incident(it));
    let reports = snapshot.view.reports.iter().map(|it| events.report(it));
    let mut all: Vec<_> = reports.chain(incidents).collect();
    // Newest first, as in Statuspage. The times have a fixed format and therefore sort as strings.
    all.sort_by(|one, other| other["created_at"].as_str().cmp(&one["created_at"].as_str()));
    all.truncate(LIST_MAX);
    finish(snapshot, base, json!({ "incidents": all }))
}

pub(super) fn maintenances(snapshot: &PageSnapshot, base: &str) -> String {
    let components = Components::from_page(snapshot);
    let events = Events { snapshot, base, components: &components };
    let all = snapshot.maintenance_windows().take(LIST_MAX).map(|it| events.maintenance(it));
    finish(snapshot, base, json!({ "scheduled_maintenances": all.collect::<Vec<_>>() }))
}

/// Renders the incidents that are not resolved.
pub(super) fn unresolved(snapshot: &PageSnapshot, base: &str) -> String {
    let components = Components::from_page(snapshot);
    let events = Events { snapshot, base, components: &components };
    finish(snapshot, base, json!({ "incidents": open(snapshot, &events) }))
}

fn open(snapshot: &PageSnapshot, events: &Events<'_>) -> Vec<Value> {
    let reports = snapshot.view.open_reports().map(|it| events.report(it));
    reports.chain(snapshot.view.open_incidents.iter().map(|it| events.incident(it))).collect()
}

/// Renders the maintenance that is active.
pub(super) fn maintenances_active(snapshot: &PageSnapshot, base: &str) -> String {
    planned(snapshot, base, |it| it.is_active)
}

/// Renders the maintenance that has not started.
pub(super) fn maintenances_upcoming(snapshot: &PageSnapshot, base: &str) -> String {
    planned(snapshot, base, |it| !it.is_active)
}

fn planned(snapshot: &PageSnapshot, base: &str, matches: fn(&MaintenanceView) -> bool) -> String {
    let components = Components::from_page(snapshot);
    let events = Events { snapshot, base, components: &components };
    let all = snapshot.view.planned.iter().filter(|it| matches(it));
    let all = all.take(LIST_MAX).map(|it| events.maintenance(it));
    finish(snapshot, base, json!({ "scheduled_maintenances": all.collect::<Vec<_>>() }))
}

/// Adds the page to a response, as all have it.
fn finish(snapshot: &PageSnapshot, base: &str, mut response: Value) -> String {
    response["page"] = json!({
        "id": snapshot.page.id.to_string(), "name": snapshot.page.settings.title, "url": base,
        "time_zone": "Etc/UTC", "updated_at": time(updated_at(snapshot)),
    });
    response.to_string()
}

/// Returns the time of the last change of the content, not of the snapshot.
fn updated_at(snapshot: &PageSnapshot) -> Timestamp {
    let components = snapshot.view.components().map(component::updated_at);
    components.fold(feed::last_change(snapshot), Timestamp::max)
}

/// Returns the indicator (`none`, `minor`, `major`, `critical` or `maintenance`) with Statuspage's
/// description. Source:
/// <https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/>
fn state(view: &PageView) -> Value {
    let all = |state| view.components().all(|component| component.state == state);
    let (indicator, description) = match view.overall_status.state {
        State::Down if all(State::Down) => ("critical", "Major System Outage"),
        State::Down => ("major", "Partial System Outage"),
        State::Degraded if all(State::Degraded) => ("minor", "Degraded System Service"),
        State::Degraded => ("minor", "Partially Degraded Service"),
        State::Maintenance => ("maintenance", "Service Under Maintenance"),
        // Statuspage has no value for an unknown state.
        State::Up | State::Unknown => ("none", "All Systems Operational"),
    };
    json!({ "indicator": indicator, "description": description })
}

/// Returns Statuspage's name of a state.
const fn status_name(state: State) -> &'static str {
    match state {
        // Statuspage has no value for an unknown state.
        State::Up | State::Unknown => "operational",
        State::Degraded => "degraded_performance",
        State::Down => "major_outage",
        State::Maintenance => "under_maintenance",
    }
}

fn time(at: Timestamp) -> String {
    at.to_string()
}
