//! Events with any content: every script, markup of every vendor, control characters, texts of up
//! to 10,000 characters, and times outside the calendar.

use proptest::prelude::*;
use proptest::sample::select;
use rules::{IncidentId, MonitorId, MonitorKind, Region, Timestamp};

use crate::notify::{Cause, CloseReason, Event, EventKind, MonitorSnapshot, RegionOutcome};

/// Maximum length of a text, in characters.
const CHARS_MAX: usize = 10_000;
/// Fragments with a meaning in some markup.
const PIECES: [&str; 36] = [
    "a",
    " ",
    "API",
    "&",
    "<",
    ">",
    "\"",
    "'",
    "\\",
    "*",
    "_",
    "~",
    "`",
    "```",
    "|",
    "@everyone",
    "<!channel>",
    "<@U1>",
    "<users/all>",
    "</html>",
    "<b>",
    "&amp;",
    "]](x)",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{2028}",
    "👩‍👩‍👧",
    "🇩🇪",
    "e\u{301}",
    "漢字",
    "שלום",
    "𝕏",
    "%0d%0a",
    "https://example.com/?a=b&c=d",
];

pub(super) fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(select(&PIECES[..]), 0..40).prop_map(|p| p.concat());
    let long = (select(&PIECES[..]), any::<String>()).prop_map(|(piece, tail)| {
        let times = CHARS_MAX / piece.chars().count();
        let text = piece.repeat(times) + &tail;
        text.chars().take(CHARS_MAX).collect::<String>()
    });
    prop_oneof![3 => any::<String>(), 3 => pieces, 1 => long]
}

/// URLs of up to 2,048 characters, and texts that are not URLs.
pub(super) fn any_link() -> impl Strategy<Value = String> {
    let path = any_text().prop_map(|text| format!("https://status.example.com/i?q={text}"));
    let long = Just(format!("https://status.example.com/{}", "&".repeat(2_000)));
    prop_oneof![2 => path, 1 => long, 1 => any_text()]
}

pub(super) fn any_event() -> impl Strategy<Value = Event> {
    let texts = (any_text(), any_text(), any_text(), any_text(), prop::option::of(any_text()));
    let what = (
        select(&[EventKind::Error, EventKind::Degraded, EventKind::Recovered, EventKind::Test][..]),
        prop::option::of(select(
            &[
                CloseReason::Recovered,
                CloseReason::Degraded,
                CloseReason::Paused,
                CloseReason::Deleted,
                CloseReason::Resolved,
            ][..],
        )),
        any::<u32>(),
        any::<bool>(),
    );
    let times = (any::<i64>(), any::<i64>());
    let regions = prop::collection::vec(any_region(), 0..44);
    (texts, what, times, regions).prop_map(|(texts, what, times, regions)| {
        let (workspace, name, target, why, method) = texts;
        let (kind, closed, reminder, has_incident) = what;
        Event {
            kind,
            at: Timestamp::from_millis(times.0),
            workspace,
            monitor: MonitorSnapshot {
                id: MonitorId::from_bits(3),
                name,
                kind: MonitorKind::Http,
                target,
                method,
            },
            incident: has_incident.then_some(IncidentId::from_bits(5)),
            began_at: Timestamp::from_millis(times.1),
            closed,
            cause: Cause { why, regions },
            reminder,
        }
    })
}

fn any_region() -> impl Strategy<Value = RegionOutcome> {
    let reason = prop::option::of(any_text());
    (select(Region::ALL), any::<bool>(), reason, any::<Option<u16>>(), any::<Option<u32>>())
        .prop_map(|(region, failing, reason, status, latency_ms)| RegionOutcome {
            region,
            place: None,
            failing,
            reason,
            status,
            latency_ms,
        })
}
