//! Identities of what is told: the same in every try, so that a receiver can drop the second of what
//! arrives twice (design §5 "Alerts"), and the same from opening to end, so that a vendor can group
//! and close.

use rules::ChannelId;

use super::event::{Event, EventKind};

/// Identity of `event` on `channel`: incident, channel, event and number of the reminder. It is made
/// of letters, digits, `_` and `-`, so that it may stand in headers, URLs and message ids.
pub fn event_key(channel: ChannelId, event: &Event) -> String {
    let of = match (event.incident, event.kind) {
        (_, EventKind::Test) => format!("{}-{}", event.monitor.id, event.at.as_millis()),
        (Some(incident), _) => incident.to_string(),
        // Without an incident, what began at another time is another matter.
        (None, _) => format!("{}-{}", event.monitor.id, event.began_at.as_millis()),
    };
    let key = format!("{of}-{channel}-{}", event.kind.as_str());
    match (event.reminder, event.kind, event.closed) {
        (0, EventKind::Test, Some(_)) => key + "-over",
        (0, _, _) => key,
        (number, _, _) => format!("{key}-{number}"),
    }
}

/// Identity of several events that are told together, oldest first.
pub fn storm_key(channel: ChannelId, events: &[Event]) -> String {
    let first = events.first().map(|event| event_key(channel, event)).unwrap_or_default();
    format!("storm-{}-{first}", events.len())
}

/// What a vendor groups by and closes: the incident, or the monitor where there is none; a test
/// stands alone.
pub fn thread(event: &Event) -> String {
    match (event.incident, event.kind) {
        (_, EventKind::Test) => format!("test-{}", event.at.as_millis()),
        (Some(incident), _) => incident.to_string(),
        (None, _) => event.monitor.id.to_string(),
    }
}
