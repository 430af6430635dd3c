//! Reports in the JSON format of Aloft and in feeds, and their strings for all representations.

use domain::markdown;
use domain::page::{ReportView, ReportedComponent};
use rules::report::ReportStatus;
use serde_json::{Value, json};

use super::i18n::Strings;

/// Returns the name of a status.
pub(super) const fn status(status: ReportStatus, words: &Strings) -> &'static str {
    match status {
        ReportStatus::Investigating => words.investigating,
        ReportStatus::Identified => words.identified,
        ReportStatus::Monitoring => words.monitoring,
        ReportStatus::Resolved => words.resolved,
    }
}

/// Names the affected components, or returns `None` if there are none.
pub(super) fn affected(report: &ReportView, words: &Strings) -> Option<String> {
    let names: Vec<String> = report.components.iter().map(|it| it.name.clone()).collect();
    (!names.is_empty()).then(|| words.affects.replace("{}", &words.names(&names)))
}

/// Returns all updates as plain text for feeds, newest first.
pub(super) fn text(report: &ReportView, words: &Strings) -> String {
    let updates = report.updates.iter().map(|update| {
        let status = status(update.status, words);
        format!("{status} · {}\n{}", words.time(update.at), markdown::plain(&update.text))
    });
    affected(report, words).into_iter().chain(updates).collect::<Vec<_>>().join("\n\n")
}

/// Encodes a report in the JSON format of Aloft.
pub(super) fn to_json(report: &ReportView) -> Value {
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
    let affected_names = components.iter().map(
        |it| json!({ "id": it.id.to_string(), "name": it.name, "impact": it.impact.as_str() }),
    );
    affected_names.collect()
}
