//! Encodes an incident with its actors, notified recipients and evidence of regions. Secrets were
//! removed before the evidence was stored.

use contract::incident::wire::{
    Incident as ShownIncident, Person as ShownPerson, RegionEvidence, TimelineEntry,
    Told as ShownTold,
};
use contract::monitor::{Secrets, instant};
use rules::KeyId;
use rules::incident::IncidentState;
use store::{Entry, EvidenceEntry, Happened, Incident, Person, Told};

use super::super::answer::place;
use super::super::history::{attempt, trigger};
use crate::pipeline::Probes;

/// Encodes an incident as an item of a list.
pub(super) fn shown(incident: &Incident) -> ShownIncident {
    let state = if incident.closed.is_some() { IncidentState::Closed } else { IncidentState::Open };
    let acknowledged = incident.acknowledged.as_ref();
    ShownIncident {
        id: incident.id.to_string(),
        monitor_id: incident.monitor.to_string(),
        monitor_name: incident.monitor_name.clone(),
        state: state.to_string(),
        opened_at: instant(incident.opened_at),
        acknowledged_at: acknowledged.map(|it| instant(it.at)).unwrap_or_default(),
        acknowledged_by: acknowledged.map(|it| person(&it.by)).into(),
        closed_at: incident.closed.map(|end| instant(end.at)).unwrap_or_default(),
        closed_how: incident.closed.map(|end| end.how.as_str().to_owned()).unwrap_or_default(),
    }
}

/// Encodes an event of the timeline.
pub(super) fn entry(entry: &Entry, probes: &Probes) -> TimelineEntry {
    let shown = TimelineEntry {
        at: instant(entry.at),
        kind: entry.what.as_str().to_owned(),
        by: entry.by.as_ref().map(person).into(),
        ..TimelineEntry::default()
    };
    match &entry.what {
        Happened::Opened | Happened::Acknowledged | Happened::Resolved => shown,
        Happened::Commented(text) => TimelineEntry { text: text.clone(), ..shown },
        Happened::Joined(region) => {
            TimelineEntry { region: region.to_string(), place: place(probes, *region), ..shown }
        }
        Happened::Closed(how) => TimelineEntry { closed_how: how.as_str().to_owned(), ..shown },
        Happened::Told(told) => TimelineEntry { told: told_to(told).into(), ..shown },
    }
}

/// Encodes the evidence of a region.
pub(super) fn evidence(entry: &EvidenceEntry, probes: &Probes, secrets: Secrets) -> RegionEvidence {
    RegionEvidence {
        region: entry.identity.region.to_string(),
        slot: instant(entry.identity.slot),
        trigger: trigger(entry.identity.trigger).to_owned(),
        attempts: entry.evidence.attempts.iter().map(|it| attempt(it, secrets)).collect(),
        place: place(probes, entry.identity.region),
    }
}

/// Encodes an actor: a key with its name, or a description of another actor.
fn person(person: &Person) -> ShownPerson {
    let is_key = KeyId::parse(&person.actor).is_ok();
    let name = if is_key { person.name.clone().unwrap_or_default() } else { person.actor.clone() };
    let key_id = if is_key { person.actor.clone() } else { String::new() };
    ShownPerson { key_id, name }
}

fn told_to(told: &Told) -> ShownTold {
    ShownTold {
        delivery_id: told.delivery.to_string(),
        notification_id: told.channel.to_string(),
        provider_type: told.kind.to_string(),
        event: told.event.clone(),
        state: told.state.clone(),
    }
}
