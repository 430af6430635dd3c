//! The JSON body of webhooks. Within a version, fields may be added but never removed or redefined.
//! A test compares it with `docs/reference/webhook.schema.json`.

use rules::MonitorKind;
use serde::Serialize;
use serde_json::Value;

use super::super::event::{Ended, Event, EventKind, Notice, RegionSeen};
use super::super::fit::{Unit, fit, one_line, plain};
use super::super::message::Envelope;
use super::super::story::written_time;

/// Version of the body.
pub(super) const VERSION: u32 = 1;
/// Maximum length of third-party text (our choice): fits the longest URL of the specification.
const TEXT_MAX: usize = 2_048;
/// Maximum length of a region's reason (our choice): Standard Webhooks recommends less than 20 KB,
/// and there are up to 28 regions.
const REASON_MAX: usize = 300;

#[derive(Serialize)]
struct Body {
    version: u32,
    /// Kind of the event, or of a digest.
    r#type: &'static str,
    /// Time of the event.
    timestamp: Option<String>,
    data: Data,
}

#[derive(Serialize)]
struct Data {
    channel: String,
    link: Option<String>,
    /// Oldest first; one event or a digest.
    events: Vec<Told>,
}

#[derive(Serialize)]
struct Told {
    event: &'static str,
    at: Option<String>,
    workspace: String,
    monitor: Monitor,
    incident: Option<String>,
    began_at: Option<String>,
    lasted_ms: u64,
    closed: Option<Ended>,
    reminder: u32,
    why: Option<String>,
    regions: Vec<Seen>,
}

#[derive(Serialize)]
struct Monitor {
    id: String,
    name: String,
    kind: MonitorKind,
    target: String,
    method: Option<String>,
}

#[derive(Serialize)]
struct Seen {
    region: &'static str,
    place: Option<String>,
    failing: bool,
    reason: Option<String>,
    status: Option<u16>,
    latency_ms: Option<u32>,
}

pub(super) fn body(notice: Notice<'_>, envelope: &Envelope<'_>) -> Value {
    let (kind, events) = match notice {
        Notice::One(event) => (type_of(event.kind), std::slice::from_ref(event)),
        Notice::Storm(events) => ("monitor.storm", events),
    };
    let body = Body {
        version: VERSION,
        r#type: kind,
        timestamp: written_time(events.last().map_or(envelope.now, |event| event.at)),
        data: Data {
            channel: envelope.channel.to_string(),
            link: envelope.link.clone(),
            events: events.iter().map(told).collect(),
        },
    };
    serde_json::to_value(body).expect("texts and numbers always serialize")
}

/// Returns the type by which receivers filter: full names joined by full stops.
const fn type_of(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Error => "monitor.error",
        EventKind::Degraded => "monitor.degraded",
        EventKind::StillDegraded => "monitor.still_degraded",
        EventKind::Recovered => "monitor.recovered",
        EventKind::Test => "channel.test",
    }
}

fn told(event: &Event) -> Told {
    let monitor = &event.monitor;
    Told {
        event: event.kind.as_str(),
        at: written_time(event.at),
        workspace: text(&event.workspace, TEXT_MAX),
        monitor: Monitor {
            id: monitor.id.to_string(),
            name: text(&monitor.name, TEXT_MAX),
            kind: monitor.kind,
            target: text(&monitor.target, TEXT_MAX),
            method: monitor.method.as_deref().map(|method| text(method, TEXT_MAX)),
        },
        incident: event.incident.map(|incident| incident.to_string()),
        began_at: written_time(event.began_at),
        lasted_ms: u64::try_from(event.lasted().as_millis()).unwrap_or(u64::MAX),
        closed: event.closed.filter(|_| event.kind != EventKind::Test),
        reminder: event.reminder,
        why: Some(text(&event.grounds.why, TEXT_MAX)).filter(|why| !why.is_empty()),
        regions: event.grounds.regions.iter().map(region).collect(),
    }
}

fn region(seen: &RegionSeen) -> Seen {
    Seen {
        region: seen.region.as_str(),
        place: seen.place.as_deref().map(|place| text(place, TEXT_MAX)),
        failing: seen.failing,
        reason: seen.reason.as_deref().map(|reason| text(reason, REASON_MAX)),
        status: seen.status,
        latency_ms: seen.latency_ms,
    }
}

fn text(text: &str, max: usize) -> String {
    fit(&one_line(text), plain, Unit::Utf16, max)
}
