//! The JSON body of webhooks. Within a version, fields may be added but never removed or redefined.
//! A test compares it with `docs/reference/webhook.schema.json`.

use rules::MonitorKind;
use serde::Serialize;
use serde_json::Value;

use super::super::alert_text::format_rfc3339;
use super::super::event::{CloseReason, Event, EventBatch, EventKind, RegionOutcome};
use super::super::message::Envelope;
use super::super::truncate::{Unit, one_line, plain, truncate};

/// Version of the body.
pub(super) const VERSION: u32 = 1;
/// Maximum length of third-party text (our choice): fits the longest URL of the specification.
const TEXT_MAX: usize = 2_048;
/// Maximum length of a region's reason (our choice): Standard Webhooks recommends less than 20 KB,
/// and there are up to 44 regions.
const REASON_MAX: usize = 300;

#[derive(Serialize)]
struct WebhookBody {
    version: u32,
    /// Kind of the event, or of a digest.
    r#type: &'static str,
    /// Time of the event.
    timestamp: Option<String>,
    data: WebhookData,
}

#[derive(Serialize)]
struct WebhookData {
    channel: String,
    link: Option<String>,
    /// Oldest first; one event or a digest.
    events: Vec<EventEntry>,
}

#[derive(Serialize)]
struct EventEntry {
    event: &'static str,
    at: Option<String>,
    workspace: String,
    monitor: Monitor,
    incident: Option<String>,
    began_at: Option<String>,
    duration_ms: u64,
    close_reason: Option<CloseReason>,
    reminder: u32,
    summary: Option<String>,
    regions: Vec<RegionEntry>,
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
struct RegionEntry {
    region: &'static str,
    place: Option<String>,
    failing: bool,
    reason: Option<String>,
    status: Option<u16>,
    latency_ms: Option<u32>,
}

pub(super) fn body(batch: EventBatch<'_>, envelope: &Envelope<'_>) -> Value {
    let (kind, events) = match batch {
        EventBatch::One(event) => (type_of(event.kind), std::slice::from_ref(event)),
        EventBatch::Digest(events) => ("monitor.digest", events),
    };
    let body = WebhookBody {
        version: VERSION,
        r#type: kind,
        timestamp: format_rfc3339(events.last().map_or(envelope.now, |event| event.at)),
        data: WebhookData {
            channel: envelope.channel.to_string(),
            link: envelope.link.clone(),
            events: events.iter().map(event_entry).collect(),
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

fn event_entry(event: &Event) -> EventEntry {
    let monitor = &event.monitor;
    EventEntry {
        event: event.kind.as_str(),
        at: format_rfc3339(event.at),
        workspace: text(&event.workspace, TEXT_MAX),
        monitor: Monitor {
            id: monitor.id.to_string(),
            name: text(&monitor.name, TEXT_MAX),
            kind: monitor.kind,
            target: text(&monitor.target, TEXT_MAX),
            method: monitor.method.as_deref().map(|method| text(method, TEXT_MAX)),
        },
        incident: event.incident.map(|incident| incident.to_string()),
        began_at: format_rfc3339(event.began_at),
        duration_ms: u64::try_from(event.duration().as_millis()).unwrap_or(u64::MAX),
        close_reason: event.closed.filter(|_| event.kind != EventKind::Test),
        reminder: event.reminder,
        summary: Some(text(&event.cause.why, TEXT_MAX)).filter(|summary| !summary.is_empty()),
        regions: event.cause.regions.iter().map(region).collect(),
    }
}

fn region(seen: &RegionOutcome) -> RegionEntry {
    RegionEntry {
        region: seen.region.as_str(),
        place: seen.place.as_deref().map(|place| text(place, TEXT_MAX)),
        failing: seen.failing,
        reason: seen.reason.as_deref().map(|reason| text(reason, REASON_MAX)),
        status: seen.status,
        latency_ms: seen.latency_ms,
    }
}

fn text(text: &str, max: usize) -> String {
    truncate(&one_line(text), plain, Unit::Utf16, max)
}
