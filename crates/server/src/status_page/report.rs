//! Reports in the forms for programs: our JSON, Statuspage's, and feeds; and the words that all forms
//! have for them.

use domain::markdown;
use domain::page::{ReportView, ReportedComponent, UpdateView};
use rules::report::{Impact, ReportStatus};
use serde_json::{Value, json};

use super::words::Words;

/// The word of a status.
pub(super) const fn status(status: ReportStatus, words: &Words) -> &'static str {
    match status {
        ReportStatus::Investigating => words.investigating,
        ReportStatus::Identified => words.identified,
        ReportStatus::Monitoring => words.monitoring,
        ReportStatus::Resolved => words.resolved,
    }
}

/// Which components a report is about, in words; `None` where it speaks of none.
pub(super) fn affected(report: &ReportView, words: &Words) -> Option<String> {
    let names: Vec<String> = report.components.iter().map(|it| it.name.clone()).collect();
    (!names.is_empty()).then(|| words.affects.replace("{}", &words.names(&names)))
}

/// All updates as plain text, newest first: what a feed tells.
pub(super) fn text(report: &ReportView, words: &Words) -> String {
    let told = report.updates.iter().map(|update| {
        let status = status(update.status, words);
        format!("{status} · {}\n{}", words.time(update.at), markdown::plain(&update.text))
    });
    affected(report, words).into_iter().chain(told).collect::<Vec<_>>().join("\n\n")
}

/// A report in our own JSON.
pub(super) fn ours(report: &ReportView) -> Value {
    json!({
        "id": report.id.to_string(), "title": report.title, "status": report.status.as_str(),
        "components": reported(&report.components),
        "startedAt": report.started_at.to_string(),
        "resolvedAt": report.resolved_at.map(|at| at.to_string()),
        "updatedAt": report.changed_at.to_string(),
        "updates": report.updates.iter().map(|it| json!({
            "id": it.id.to_string(), "status": it.status.as_str(), "at": it.at.to_string(),
            "markdown": it.text, "html": markdown::html(&it.text),
            "text": markdown::plain(&it.text), "components": reported(&it.components),
        })).collect::<Vec<_>>(),
    })
}

fn reported(components: &[ReportedComponent]) -> Vec<Value> {
    let said = components.iter().map(
        |it| json!({ "id": it.id.to_string(), "name": it.name, "impact": it.impact.as_str() }),
    );
    said.collect()
}

/// A report as an incident of Statuspage's JSON; its words are the same four. `components` are those
/// that it is about, as that JSON has them.
pub(super) fn incident(report: &ReportView, page: &str, components: &[Value]) -> Value {
    let id = report.id.to_string();
    let monitoring = report.updates.iter().find(|it| it.status == ReportStatus::Monitoring);
    let impact = match report.worst {
        None => "none",
        Some(Impact::Degraded) => "minor",
        Some(Impact::Down) => "major",
    };
    let updates = report
        .updates
        .iter()
        .enumerate()
        .map(|(place, it)| incident_update(it, &id, report.updates.get(place + 1)));
    json!({
        "id": id, "name": report.title, "status": report.status.as_str(),
        "created_at": report.started_at.to_string(), "updated_at": report.changed_at.to_string(),
        "monitoring_at": monitoring.map(|it| it.at.to_string()),
        "resolved_at": report.resolved_at.map(|at| at.to_string()),
        "impact": impact, "shortlink": null, "started_at": report.started_at.to_string(),
        "page_id": page, "incident_updates": updates.collect::<Vec<_>>(),
        "components": components, "reminder_intervals": null,
    })
}

fn incident_update(it: &UpdateView, incident: &str, before: Option<&UpdateView>) -> Value {
    let was = |component: &ReportedComponent| {
        let before = before.filter(|before| before.status != ReportStatus::Resolved);
        let before = before.iter().flat_map(|it| &it.components);
        before.into_iter().find(|it| it.id == component.id).map(|it| it.impact)
    };
    let affected = it.components.iter().map(|component| {
        let is_over = it.status == ReportStatus::Resolved;
        let now = Some(component.impact).filter(|_| !is_over);
        json!({
            "code": component.id.to_string(), "name": component.name,
            "old_status": word(was(component)), "new_status": word(now),
        })
    });
    json!({
        "id": it.id.to_string(), "status": it.status.as_str(), "body": markdown::plain(&it.text),
        "incident_id": incident, "created_at": it.created_at.to_string(),
        "updated_at": it.updated_at.to_string(), "display_at": it.at.to_string(),
        "affected_components": affected.collect::<Vec<_>>(),
        "deliver_notifications": it.notified, "custom_tweet": null, "tweet_id": null,
    })
}

/// Statuspage's word for how a component is.
const fn word(said: Option<Impact>) -> &'static str {
    match said {
        None => "operational",
        Some(Impact::Degraded) => "degraded_performance",
        Some(Impact::Down) => "major_outage",
    }
}
