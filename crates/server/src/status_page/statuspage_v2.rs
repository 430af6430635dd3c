//! The JSON that Statuspage answers under `/api/v2`, which hundreds of programs read: the same keys,
//! words and shapes. Components stand in `component`, what is told of them in `event`. Source: the
//! reference that Statuspage writes for each page (such as <https://confluence.status.atlassian.com/api>)
//! and answers of pages as others published them; the schema that tests hold this against names them.

mod component;
mod event;

use domain::page::{MaintenanceView, PageView, State};
use rules::Timestamp;
use serde_json::{Value, json};

use self::component::Components;
use self::event::Events;
use super::feed;
use super::shelf::Shown;

/// Incidents and maintenances that a list has at most, as theirs.
const LIST_MAX: usize = 50;

pub(super) fn summary(shown: &Shown, base: &str) -> String {
    let components = Components::of(shown);
    let events = Events { shown, base, components: &components };
    let open = open(shown, &events);
    let planned = shown.view.planned.iter().take(LIST_MAX).map(|it| events.maintenance(it));
    let planned: Vec<_> = planned.collect();
    whole(
        shown,
        base,
        json!({
            "status": state(&shown.view), "components": components.all(), "incidents": open,
            "scheduled_maintenances": planned,
        }),
    )
}

pub(super) fn status(shown: &Shown, base: &str) -> String {
    whole(shown, base, json!({ "status": state(&shown.view) }))
}

pub(super) fn components(shown: &Shown, base: &str) -> String {
    whole(shown, base, json!({ "components": Components::of(shown).all() }))
}

pub(super) fn incidents(shown: &Shown, base: &str) -> String {
    let components = Components::of(shown);
    let events = Events { shown, base, components: &components };
    let past = shown.view.history.iter().flat_map(|day| &day.incidents);
    let past = past.filter(|it| it.closed.is_some());
    let incidents = shown.view.open.iter().chain(past).map(|it| events.incident(it));
    let reports = shown.view.reports.iter().map(|it| events.report(it));
    let mut all: Vec<_> = reports.chain(incidents).collect();
    // The newest first, as theirs are; equal forms of time sort as texts.
    all.sort_by(|one, other| other["created_at"].as_str().cmp(&one["created_at"].as_str()));
    all.truncate(LIST_MAX);
    whole(shown, base, json!({ "incidents": all }))
}

pub(super) fn maintenances(shown: &Shown, base: &str) -> String {
    let components = Components::of(shown);
    let events = Events { shown, base, components: &components };
    let past = shown.view.history.iter().flat_map(|day| &day.maintenances);
    let all = shown.view.planned.iter().chain(past);
    let all = all.take(LIST_MAX).map(|it| events.maintenance(it));
    whole(shown, base, json!({ "scheduled_maintenances": all.collect::<Vec<_>>() }))
}

/// Incidents that are not resolved.
pub(super) fn unresolved(shown: &Shown, base: &str) -> String {
    let components = Components::of(shown);
    let events = Events { shown, base, components: &components };
    whole(shown, base, json!({ "incidents": open(shown, &events) }))
}

fn open(shown: &Shown, events: &Events<'_>) -> Vec<Value> {
    let reports = shown.view.open_reports().map(|it| events.report(it));
    reports.chain(shown.view.open.iter().map(|it| events.incident(it))).collect()
}

/// Maintenance that has started and not ended.
pub(super) fn maintenances_active(shown: &Shown, base: &str) -> String {
    planned(shown, base, |it| it.is_on)
}

/// Maintenance that has not started.
pub(super) fn maintenances_upcoming(shown: &Shown, base: &str) -> String {
    planned(shown, base, |it| !it.is_on)
}

fn planned(shown: &Shown, base: &str, is_wanted: fn(&MaintenanceView) -> bool) -> String {
    let components = Components::of(shown);
    let events = Events { shown, base, components: &components };
    let all = shown.view.planned.iter().filter(|it| is_wanted(it));
    let all = all.take(LIST_MAX).map(|it| events.maintenance(it));
    whole(shown, base, json!({ "scheduled_maintenances": all.collect::<Vec<_>>() }))
}

/// An answer with the page in it, as all have.
fn whole(shown: &Shown, base: &str, mut answer: Value) -> String {
    answer["page"] = json!({
        "id": shown.page.id.to_string(), "name": shown.page.settings.title, "url": base,
        "time_zone": "Etc/UTC", "updated_at": time(updated(shown)),
    });
    answer.to_string()
}

/// When anything that is told here was last changed: not when it was looked at.
fn updated(shown: &Shown) -> Timestamp {
    let components = shown.view.components().map(component::updated);
    components.fold(feed::changed(shown), Timestamp::max)
}

/// `none`, `minor`, `major`, `critical` or `maintenance`, with one of their sentences. Source:
/// <https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/>
fn state(view: &PageView) -> Value {
    let all = |state| view.components().all(|component| component.state == state);
    let (indicator, description) = match view.verdict.state {
        State::Down if all(State::Down) => ("critical", "Major System Outage"),
        State::Down => ("major", "Partial System Outage"),
        State::Degraded if all(State::Degraded) => ("minor", "Degraded System Service"),
        State::Degraded => ("minor", "Partially Degraded Service"),
        State::Maintenance => ("maintenance", "Service Under Maintenance"),
        // They have no word for what is not known.
        State::Up | State::Unknown => ("none", "All Systems Operational"),
    };
    json!({ "indicator": indicator, "description": description })
}

/// Their word for how a component is.
const fn word(state: State) -> &'static str {
    match state {
        // They have no word for what is not known.
        State::Up | State::Unknown => "operational",
        State::Degraded => "degraded_performance",
        State::Down => "major_outage",
        State::Maintenance => "under_maintenance",
    }
}

fn time(at: Timestamp) -> String {
    at.to_string()
}
