//! The JSON that Statuspage answers under `/api/v2`, which hundreds of programs read: the same keys,
//! words and shapes. Source: the public API reference at <https://metastatuspage.com/api>.

use domain::judge::ClosedAs;
use domain::page::{ComponentView, IncidentView, MaintenanceView, ReportView, Section, State};
use rules::Timestamp;
use serde_json::{Value, json};

use super::report;
use super::shelf::Shown;

/// Incidents and maintenances that a list has at most, as theirs.
const LIST_MAX: usize = 50;

pub(super) fn summary(shown: &Shown, base: &str) -> String {
    let reports = shown.view.open_reports().map(|it| reported(shown, it, base));
    let incidents = shown.view.open.iter().map(|it| incident(shown, it, base));
    let open: Vec<_> = reports.chain(incidents).collect();
    let planned = shown.view.planned.iter().map(|it| maintenance(shown, it, base));
    let planned: Vec<_> = planned.take(LIST_MAX).collect();
    whole(
        shown,
        base,
        json!({
            "status": state(shown), "components": all_components(shown), "incidents": open,
            "scheduled_maintenances": planned,
        }),
    )
}

pub(super) fn status(shown: &Shown, base: &str) -> String {
    whole(shown, base, json!({ "status": state(shown) }))
}

pub(super) fn components(shown: &Shown, base: &str) -> String {
    whole(shown, base, json!({ "components": all_components(shown) }))
}

pub(super) fn incidents(shown: &Shown, base: &str) -> String {
    let past = shown.view.history.iter().flat_map(|day| &day.incidents);
    let past = past.filter(|it| it.closed.is_some());
    let incidents = shown.view.open.iter().chain(past).map(|it| incident(shown, it, base));
    let reports = shown.view.reports.iter().map(|it| reported(shown, it, base));
    let mut all: Vec<_> = reports.chain(incidents).collect();
    // The newest first, as theirs are; equal forms of time sort as texts.
    all.sort_by(|one, other| other["created_at"].as_str().cmp(&one["created_at"].as_str()));
    all.truncate(LIST_MAX);
    whole(shown, base, json!({ "incidents": all }))
}

pub(super) fn maintenances(shown: &Shown, base: &str) -> String {
    let past = shown.view.history.iter().flat_map(|day| &day.maintenances);
    let all = shown.view.planned.iter().chain(past);
    let all = all.take(LIST_MAX).map(|it| maintenance(shown, it, base));
    whole(shown, base, json!({ "scheduled_maintenances": all.collect::<Vec<_>>() }))
}

/// An answer with the page in it, as all have.
fn whole(shown: &Shown, base: &str, mut answer: Value) -> String {
    answer["page"] = json!({
        "id": shown.page.id.to_string(), "name": shown.page.settings.title, "url": base,
        "time_zone": "Etc/UTC", "updated_at": time(shown.view.at),
    });
    answer.to_string()
}

/// `none`, `minor`, `major`, `critical` or `maintenance`, with a sentence in English.
fn state(shown: &Shown) -> Value {
    let has = |state| shown.view.components().any(|component| component.state == state);
    let all_down = shown.view.components().all(|component| component.state == State::Down);
    let (indicator, description) = match shown.view.verdict.state {
        State::Down if all_down => ("critical", "Major System Outage"),
        State::Down => ("major", "Partial System Outage"),
        State::Degraded => ("minor", "Minor Service Outage"),
        State::Maintenance => ("maintenance", "Service Under Maintenance"),
        State::Up | State::Unknown if has(State::Maintenance) => {
            ("maintenance", "Service Under Maintenance")
        }
        State::Up | State::Unknown => ("none", "All Systems Operational"),
    };
    json!({ "indicator": indicator, "description": description })
}

/// Groups are components too, before what is in them.
fn all_components(shown: &Shown) -> Vec<Value> {
    let mut all = Vec::new();
    for section in &shown.view.sections {
        match section {
            Section::Single(it) => all.push(component(shown, it, None, all.len())),
            Section::Group(group) => {
                let id = group.id.to_string();
                let within: Vec<_> = group.components.iter().map(|it| it.id.to_string()).collect();
                all.push(json!({
                    "id": id, "name": group.name, "status": word(group.state),
                    "created_at": time(shown.page.created_at), "updated_at": time(shown.view.at),
                    "position": all.len() + 1, "description": null, "showcase": false,
                    "start_date": null, "group_id": null, "page_id": shown.page.id.to_string(),
                    "group": true, "only_show_if_degraded": false, "components": within,
                }));
                for it in &group.components {
                    all.push(component(shown, it, Some(&id), all.len()));
                }
            }
        }
    }
    all
}

fn component(shown: &Shown, it: &ComponentView, group: Option<&str>, place: usize) -> Value {
    json!({
        "id": it.id.to_string(), "name": it.name, "status": word(it.state),
        "created_at": time(shown.page.created_at),
        "updated_at": time(it.since.unwrap_or(shown.page.created_at)),
        "position": place + 1, "description": it.description, "showcase": true,
        "start_date": null, "group_id": group, "page_id": shown.page.id.to_string(),
        "group": false, "only_show_if_degraded": false,
    })
}

const fn word(state: State) -> &'static str {
    match state {
        // They have no word for what is not known.
        State::Up | State::Unknown => "operational",
        State::Degraded => "degraded_performance",
        State::Down => "major_outage",
        State::Maintenance => "under_maintenance",
    }
}

fn incident(shown: &Shown, it: &IncidentView, base: &str) -> Value {
    let (opened, id) = (time(it.opened_at), it.id.to_string());
    let (status, resolved) = match it.closed {
        None if it.acknowledged_at.is_some() => ("identified", None),
        None => ("investigating", None),
        Some((at, _)) => ("resolved", Some(time(at))),
    };
    let updated = resolved.clone().unwrap_or_else(|| opened.clone());
    let update = |status: &str, body: &str, at: &str| {
        json!({
            "id": format!("{id}-{status}"), "status": status, "body": body, "incident_id": id,
            "created_at": at, "updated_at": at, "display_at": at, "affected_components": [],
            "deliver_notifications": false, "custom_tweet": null, "tweet_id": null,
        })
    };
    let mut updates = Vec::new();
    if let Some((at, how)) = it.closed {
        updates.push(update("resolved", ended(how), &time(at)));
    }
    if let Some(at) = it.acknowledged_at {
        updates.push(update("identified", "Somebody is working on it.", &time(at)));
    }
    updates.push(update("investigating", "Checks fail.", &opened));
    json!({
        "id": id, "name": format!("{} is down", it.components.join(", ")), "status": status,
        "created_at": opened, "updated_at": updated, "monitoring_at": null,
        "resolved_at": resolved, "impact": "major",
        "shortlink": format!("{base}/incident/{id}"), "started_at": opened,
        "page_id": shown.page.id.to_string(), "incident_updates": updates,
        "components": named(shown, &it.components), "reminder_intervals": null,
    })
}

/// A report as an incident, with the components that it is about.
fn reported(shown: &Shown, it: &ReportView, base: &str) -> Value {
    let names: Vec<String> = it.components.iter().map(|it| it.name.clone()).collect();
    let mut incident = report::incident(it, &shown.page.id.to_string(), &named(shown, &names));
    incident["shortlink"] = json!(format!("{base}/report/{}", it.id));
    incident
}

const fn ended(how: ClosedAs) -> &'static str {
    match how {
        ClosedAs::Recovered => "It works again.",
        ClosedAs::Degraded => "It works again in part.",
        ClosedAs::Paused | ClosedAs::Deleted => "It is not checked any more.",
        ClosedAs::Resolved => "It was resolved.",
    }
}

fn maintenance(shown: &Shown, it: &MaintenanceView, base: &str) -> Value {
    let (created, updated) = (time(it.created_at), time(it.updated_at));
    let (from, to) = (time(it.window.from), time(it.window.to));
    let status = match (it.is_on, it.window.to <= shown.view.at) {
        (true, _) => "in_progress",
        (false, true) => "completed",
        (false, false) => "scheduled",
    };
    let id = format!("{}-{}", it.id, it.window.from.as_millis());
    json!({
        "id": id, "name": it.title, "status": status, "created_at": created, "updated_at": updated,
        "monitoring_at": null, "resolved_at": (status == "completed").then(|| to.clone()),
        "impact": "maintenance", "shortlink": base, "started_at": from,
        "page_id": shown.page.id.to_string(), "scheduled_for": from, "scheduled_until": to,
        "incident_updates": [{
            "id": format!("{id}-scheduled"), "status": status, "incident_id": id,
            "body": it.description.clone().unwrap_or_else(|| it.title.clone()),
            "created_at": created, "updated_at": updated, "display_at": created,
            "affected_components": [], "deliver_notifications": false, "custom_tweet": null,
            "tweet_id": null,
        }],
        "components": named(shown, &it.components), "reminder_intervals": null,
    })
}

/// Components by their names, as incidents carry them.
fn named(shown: &Shown, names: &[String]) -> Vec<Value> {
    let are = shown.view.components().filter(|it| names.contains(&it.name));
    are.enumerate().map(|(place, it)| component(shown, it, None, place)).collect()
}

fn time(at: Timestamp) -> String {
    at.to_string()
}
