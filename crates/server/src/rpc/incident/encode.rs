//! Encodes an incident with its actors, notified recipients and evidence of regions. Secrets were
//! removed before the evidence was stored.

use contract::SecretVisibility;
use contract::incident::wire::{
    Incident as WireIncident, Notified as WireNotified, Person as WirePerson, RegionEvidence,
    TimelineEntry as WireEntry,
};
use contract::monitor::encode_instant;
use rules::KeyId;
use rules::incident::IncidentState;
use store::{EvidenceEntry, Incident, Notified, Person, TimelineEntry, TimelineEvent};

use super::super::monitor::history::attempt;
use super::super::monitor::status::RegionNames;

/// Encodes an incident as an item of a list.
pub(super) fn encode_incident(incident: &Incident) -> WireIncident {
    let state = if incident.closed.is_some() { IncidentState::Closed } else { IncidentState::Open };
    let acknowledged = incident.acknowledged.as_ref();
    WireIncident {
        id: incident.id.to_string(),
        monitor_id: incident.monitor.to_string(),
        monitor_name: incident.monitor_name.clone(),
        state: state.to_string(),
        opened_at: encode_instant(incident.opened_at),
        acknowledged_at: acknowledged.map(|it| encode_instant(it.at)).unwrap_or_default(),
        acknowledged_by: acknowledged.map(|it| encode_person(&it.by)).into(),
        closed_at: incident.closed.map(|end| encode_instant(end.at)).unwrap_or_default(),
        close_reason: incident.closed.map(|end| end.reason.as_str().to_owned()).unwrap_or_default(),
    }
}

/// Encodes an event of the timeline.
pub(super) fn encode_entry(entry: &TimelineEntry, names: RegionNames<'_>) -> WireEntry {
    let shown = WireEntry {
        at: encode_instant(entry.at),
        kind: entry.what.as_str().to_owned(),
        by: entry.by.as_ref().map(encode_person).into(),
        ..WireEntry::default()
    };
    match &entry.what {
        TimelineEvent::Opened | TimelineEvent::Acknowledged | TimelineEvent::Resolved => shown,
        TimelineEvent::Commented(text) => WireEntry { text: text.clone(), ..shown },
        TimelineEvent::RegionFailed(region) => {
            WireEntry { region: names.name(*region), place: names.place(*region), ..shown }
        }
        TimelineEvent::Closed(how) => WireEntry { close_reason: how.as_str().to_owned(), ..shown },
        TimelineEvent::Notified(notified) => {
            WireEntry { notified: encode_notified(notified).into(), ..shown }
        }
    }
}

/// Encodes the evidence of a region.
pub(super) fn evidence(
    entry: &EvidenceEntry,
    names: RegionNames<'_>,
    secrets: SecretVisibility,
) -> RegionEvidence {
    RegionEvidence {
        region: names.name(entry.identity.region),
        slot: encode_instant(entry.identity.slot),
        trigger: entry.identity.trigger.as_str().to_owned(),
        attempts: entry.evidence.attempts.iter().map(|it| attempt(it, secrets)).collect(),
        place: names.place(entry.identity.region),
    }
}

/// Encodes an actor: a key or a user with its name, or a description of another actor.
fn encode_person(person: &Person) -> WirePerson {
    let is_key = KeyId::parse(&person.actor).is_ok();
    let unnamed = || if is_key { String::new() } else { person.actor.clone() };
    let name = person.name.clone().unwrap_or_else(unnamed);
    let key_id = if is_key { person.actor.clone() } else { String::new() };
    WirePerson { key_id, name }
}

fn encode_notified(notified: &Notified) -> WireNotified {
    WireNotified {
        delivery_id: notified.delivery.to_string(),
        notification_id: notified.channel.to_string(),
        provider_type: notified.kind.to_string(),
        event: notified.event.clone(),
        state: notified.state.clone(),
    }
}
