//! A page in the JSON format of Aloft: the content of the home page without its texts.

use domain::history::Uptime;
use domain::page::{
    ComponentView, Day, IncidentView, MaintenanceView, NamedComponent, Section, StatusSummary,
};
use serde_json::{Value, json};

use super::i18n::iso_date;
use super::report;
use super::snapshot::PageSnapshot;

/// Version of the format. Fields may be added, but not removed or redefined.
const VERSION: u32 = 1;

/// Renders the page.
pub(super) fn status(snapshot: &PageSnapshot, base: &str) -> String {
    let (page, view) = (&snapshot.page, &snapshot.view);
    let data_age = &view.overall_status.data_age;
    json!({
        "version": VERSION,
        "page": {
            "id": page.id.to_string(), "title": page.settings.title,
            "description": page.settings.description, "url": base,
        },
        "status": view.overall_status.state.as_str(),
        "about": names(&view.overall_status.summary),
        "at": view.at.to_string(),
        "checkedAt": data_age.checked_at.map(|at| at.to_string()),
        "stale": data_age.stale,
        "isOutdated": snapshot.is_outdated,
        "sections": view.sections.iter().map(section).collect::<Vec<_>>(),
        "reports": view.reports.iter().map(|it| report::to_json(it)).collect::<Vec<_>>(),
        "openIncidents": view.open_incidents.iter().map(incident).collect::<Vec<_>>(),
        "plannedMaintenance": view.planned.iter().map(maintenance).collect::<Vec<_>>(),
        "history": view.history.iter().map(|day| json!({
            "date": iso_date(day.begins),
            "incidents": day.incidents.iter().map(incident).collect::<Vec<_>>(),
            "maintenance": day.maintenances.iter().map(maintenance).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
    .to_string()
}

/// Returns the names in the summary.
fn names(summary: &StatusSummary) -> &[String] {
    match summary {
        StatusSummary::Empty
        | StatusSummary::AllUp
        | StatusSummary::AllDown
        | StatusSummary::AllUnknown => &[],
        StatusSummary::SomeDown(names)
        | StatusSummary::SomeDegraded(names)
        | StatusSummary::Maintenance(names)
        | StatusSummary::SomeUnknown(names) => names,
    }
}

fn section(section: &Section) -> Value {
    match section {
        Section::Single(it) => json!({ "component": component(it) }),
        Section::Group(group) => json!({
            "group": {
                "id": group.id.to_string(), "name": group.name, "status": group.state.as_str(),
                "components": group.components.iter().map(component).collect::<Vec<_>>(),
            },
        }),
    }
}

fn component(it: &ComponentView) -> Value {
    json!({
        "id": it.id.to_string(), "name": it.name, "description": it.description,
        "status": it.state.as_str(), "since": it.since.map(|at| at.to_string()),
        "isStale": it.is_stale, "uptimeMillionths": it.uptime.map(Uptime::millionths),
        "days": it.days.as_ref().map(|days| days.iter().map(day).collect::<Vec<_>>()),
    })
}

fn day(day: &Day) -> Value {
    json!({
        "date": iso_date(day.begins), "upMs": day.up_ms, "degradedMs": day.degraded_ms,
        "downMs": day.down_ms, "maintenanceMs": day.maintenance_ms,
        "uptimeMillionths": day.uptime.map(Uptime::millionths),
    })
}

fn incident(it: &IncidentView) -> Value {
    json!({
        "id": it.id.to_string(), "components": it.names(), "componentIds": ids(&it.components),
        "openedAt": it.opened_at.to_string(),
        "closedAt": it.closed.map(|(at, _)| at.to_string()),
        "closeReason": it.closed.map(|(_, how)| how.as_str()),
        "acknowledgedAt": it.acknowledged_at.map(|at| at.to_string()),
    })
}

fn maintenance(it: &MaintenanceView) -> Value {
    json!({
        "id": it.id.to_string(), "title": it.title, "description": it.description,
        "from": it.window.from.to_string(), "until": it.window.to.to_string(),
        "isActive": it.is_active, "components": it.names(), "componentIds": ids(&it.components),
    })
}

/// Returns IDs, because several components may have the same name.
fn ids(components: &[NamedComponent]) -> Vec<String> {
    components.iter().map(|it| it.id.to_string()).collect()
}
