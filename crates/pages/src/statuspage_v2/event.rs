//! Incidents, reports and maintenance in Statuspage's JSON format. Each is a list of updates,
//! newest first, with the affected components.

use std::iter::once;

use domain::judge::CloseReason;
use domain::markdown;
use domain::page::{IncidentView, MaintenanceView, ReportView, State, UpdateView};
use rules::report::{Impact, ReportStatus};
use rules::{ComponentId, Timestamp};
use serde_json::{Value, json};

use super::super::snapshot::PageSnapshot;
use super::component::Components;
use super::time;

/// Encoder of the events of a page.
pub(super) struct Events<'a> {
    pub(super) snapshot: &'a PageSnapshot,
    /// Base of links to the page.
    pub(super) base: &'a str,
    pub(super) components: &'a Components,
}

/// Update of an incident or a maintenance.
struct EventUpdate {
    status: &'static str,
    body: String,
    at: Timestamp,
    /// State of its components before and after the update.
    from: State,
    to: State,
}

/// Timestamps of an event.
struct Times {
    created: Timestamp,
    updated: Timestamp,
    started: Timestamp,
    monitoring: Option<Timestamp>,
    resolved: Option<Timestamp>,
}

impl Events<'_> {
    /// Encodes an incident detected by checks.
    pub(super) fn incident(&self, it: &IncidentView) -> Value {
        let update = |status, body: &str, at, from, to| EventUpdate {
            status,
            body: body.to_owned(),
            at,
            from,
            to,
        };
        let mut updates =
            vec![update("investigating", "Checks fail.", it.opened_at, State::Up, State::Down)];
        if let Some(at) = it.acknowledged_at {
            let body = "We are looking into it.";
            updates.push(update("identified", body, at, State::Down, State::Down));
        }
        if let Some((at, how)) = it.closed {
            updates.push(update(
                "resolved",
                closing_text(how),
                at,
                State::Down,
                State::after_close(how),
            ));
        }
        let last = updates.last().map_or(it.opened_at, |update| update.at);
        let times = Times {
            created: it.opened_at,
            updated: last,
            started: it.opened_at,
            monitoring: None,
            resolved: it.closed.map(|(at, _)| at),
        };
        let id = it.id.to_string();
        let link = format!("{}/incident/{id}", self.base);
        let name = format!("{} is down", it.names().join(", "));
        let about: Vec<ComponentId> = it.components.iter().map(|it| it.id).collect();
        let mut event = self.event((&id, &name, &link), "major", &times, &about);
        self.add_updates(&mut event, &id, updates, &about);
        event
    }

    /// Encodes a report.
    pub(super) fn report(&self, it: &ReportView) -> Value {
        let id = it.id.to_string();
        let impact = match it.worst {
            None => "none",
            Some(Impact::Degraded) => "minor",
            Some(Impact::Down) => "major",
        };
        let monitoring = it.updates.iter().find(|it| it.status == ReportStatus::Monitoring);
        let written = it.updates.iter().map(|update| update.created_at).min();
        let times = Times {
            created: written.unwrap_or(it.started_at),
            updated: it.changed_at,
            started: it.started_at,
            monitoring: monitoring.map(|update| update.at),
            resolved: it.resolved_at,
        };
        let link = format!("{}/report/{id}", self.base);
        let about: Vec<ComponentId> = it.components.iter().map(|it| it.id).collect();
        let mut event = self.event((&id, &it.title, &link), impact, &times, &about);
        event["status"] = json!(it.status.as_str());
        // Updates are listed newest first, so that the next item is the previous update.
        let before = it.updates.iter().skip(1).map(Some).chain(once(None));
        let updates = it.updates.iter().zip(before);
        let updates = updates.map(|(update, before)| self.update(&id, update, before));
        event["incident_updates"] = updates.collect();
        event
    }

    fn update(&self, incident: &str, it: &UpdateView, before: Option<&UpdateView>) -> Value {
        let changes = it.components.iter().map(|component| {
            let before = before.filter(|before| before.status != ReportStatus::Resolved);
            let before = before.iter().flat_map(|it| &it.components);
            let old = before.into_iter().find(|it| it.id == component.id).map(|it| it.impact);
            let is_over = it.status == ReportStatus::Resolved;
            let new = Some(component.impact).filter(|_| !is_over);
            let state = |component_impact: Option<Impact>| {
                component_impact.map_or(State::Up, State::from_impact)
            };
            (component.id, state(old), state(new))
        });
        json!({
            "id": it.id.to_string(), "status": it.status.as_str(), "body": markdown::plain(&it.text),
            "incident_id": incident, "created_at": time(it.created_at),
            "updated_at": time(it.updated_at), "display_at": time(it.at),
            "affected_components": self.components.affected(changes),
            "deliver_notifications": it.notified, "custom_tweet": null, "tweet_id": null,
        })
    }

    /// Encodes a maintenance window.
    pub(super) fn maintenance(&self, it: &MaintenanceView) -> Value {
        let now = self.snapshot.view.at;
        let update = |status, body: &str, at: Timestamp, from, to| EventUpdate {
            status,
            body: body.to_owned(),
            // Maintenance may be planned after its window has begun. It was not announced before
            // its creation.
            at: at.max(it.created_at),
            from,
            to,
        };
        let about = it.description.as_deref().unwrap_or(&it.title);
        let mut updates = vec![update("scheduled", about, it.created_at, State::Up, State::Up)];
        if it.window.from <= now {
            let body = "The maintenance has started.";
            updates.push(update(
                "in_progress",
                body,
                it.window.from,
                State::Up,
                State::Maintenance,
            ));
        }
        if it.window.to <= now {
            let body = "The maintenance is complete.";
            updates.push(update("completed", body, it.window.to, State::Maintenance, State::Up));
        }
        let last = updates.last().map_or(it.created_at, |update| update.at);
        let times = Times {
            created: it.created_at,
            updated: last.max(it.updated_at.min(now)),
            // For maintenance, this is the creation time. The window has fields of its own.
            started: it.created_at,
            monitoring: None,
            resolved: (it.window.to <= now).then_some(it.window.to),
        };
        // Each window of a recurring maintenance has its own ID.
        let id = format!("{}-{}", it.id, it.window.from.as_millis());
        let about: Vec<ComponentId> = it.components.iter().map(|it| it.id).collect();
        let mut event = self.event((&id, &it.title, self.base), "maintenance", &times, &about);
        event["scheduled_for"] = json!(time(it.window.from));
        event["scheduled_until"] = json!(time(it.window.to));
        self.add_updates(&mut event, &id, updates, &about);
        event
    }

    /// Encodes the fields that all events share, without the updates.
    fn event(
        &self,
        (id, name, link): (&str, &str, &str),
        impact: &str,
        times: &Times,
        about: &[ComponentId],
    ) -> Value {
        json!({
            "id": id, "name": name, "created_at": time(times.created),
            "updated_at": time(times.updated), "monitoring_at": times.monitoring.map(time),
            "resolved_at": times.resolved.map(time), "impact": impact, "shortlink": link,
            "started_at": time(times.started), "page_id": self.snapshot.page.id.to_string(),
            "components": self.components.select(about.iter().copied()), "reminder_intervals": null,
        })
    }

    /// Adds the updates to an event, newest first, and sets its status to that of the latest.
    fn add_updates(
        &self,
        event: &mut Value,
        id: &str,
        updates: Vec<EventUpdate>,
        about: &[ComponentId],
    ) {
        event["status"] = json!(updates.last().map(|update| update.status));
        let encoded = updates.into_iter().rev().map(|update| {
            let at = time(update.at);
            let changes = about.iter().map(|component| (*component, update.from, update.to));
            json!({
                "id": format!("{id}-{}", update.status), "status": update.status,
                "body": update.body, "incident_id": id, "created_at": at, "updated_at": at,
                "display_at": at,
                "affected_components": self.components.affected(changes),
                "deliver_notifications": false, "custom_tweet": null, "tweet_id": null,
            })
        });
        event["incident_updates"] = encoded.collect();
    }
}

const fn closing_text(how: CloseReason) -> &'static str {
    match how {
        CloseReason::Recovered => "It works again.",
        CloseReason::Degraded => "It works again in part.",
        CloseReason::Paused | CloseReason::Deleted => "It is not checked any more.",
        CloseReason::Resolved => "It was resolved.",
    }
}
