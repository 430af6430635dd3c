//! Formats the parts of a message's text: titles, reasons, facts, times and the link.

use std::fmt::Write as _;

use rules::Timestamp;

use super::super::event::{CloseReason, Event, EventKind, RegionOutcome};
use super::super::truncate::one_line;
use super::Fact;
pub(in super::super) use crate::duration::format_duration;

/// Maximum length of a link, in characters: the limit of vendors that document one (Discord: 2,048,
/// Slack: 3,000), and that of a URL in the specification.
const LINK_CHARS_MAX: usize = 2_048;

/// Formats the title: what happened, then the name, because a long name is cut.
pub(super) fn title(event: &Event) -> String {
    let name = one_line(&event.monitor.name);
    let lasted = format_duration(event.duration());
    match (event.kind, event.closed) {
        (EventKind::Error, _) if event.reminder > 0 => format!("Still down after {lasted}: {name}"),
        (EventKind::Error, _) => format!("Down: {name}"),
        (EventKind::Degraded, _) if event.reminder > 0 => {
            format!("Still degraded after {lasted}: {name}")
        }
        (EventKind::Degraded, _) => format!("Degraded: {name}"),
        (EventKind::StillDegraded, _) => format!("No longer down, still degraded: {name}"),
        (EventKind::Recovered, None | Some(CloseReason::Recovered)) => {
            format!("Recovered after {lasted}: {name}")
        }
        (EventKind::Recovered, Some(CloseReason::Degraded)) => {
            format!("No longer down after {lasted}, still degraded: {name}")
        }
        (EventKind::Recovered, Some(CloseReason::Paused)) => {
            format!("Paused during an incident ({lasted}): {name}")
        }
        (EventKind::Recovered, Some(CloseReason::Deleted)) => {
            format!("Deleted during an incident ({lasted}): {name}")
        }
        (EventKind::Recovered, Some(CloseReason::Resolved)) => {
            format!("Resolved manually after {lasted}: {name}")
        }
        (EventKind::Test, _) => format!("Test: {name}"),
    }
}

pub(super) fn reason(event: &Event) -> Option<String> {
    let ended = match (event.kind, event.closed) {
        (EventKind::Recovered, Some(CloseReason::Paused)) => Some("The monitor was paused."),
        (EventKind::Recovered, Some(CloseReason::Deleted)) => Some("The monitor was deleted."),
        (EventKind::Recovered, Some(CloseReason::Resolved)) => {
            Some("The incident was resolved manually.")
        }
        (
            EventKind::Error
            | EventKind::Degraded
            | EventKind::StillDegraded
            | EventKind::Recovered
            | EventKind::Test,
            None | Some(_),
        ) => None,
    };
    let text = ended.map_or_else(|| one_line(&event.cause.why), str::to_owned);
    Some(text).filter(|text| !text.is_empty())
}

pub(super) fn facts(event: &Event) -> Vec<Fact> {
    let fact = |label, value| Fact { label, value };
    let began = fact("Since", format_time(event.began_at));
    let lasted = format_duration(event.duration());
    let mut facts = match event.kind {
        EventKind::Recovered => {
            vec![fact("Started", began.value), fact("Duration", lasted)]
        }
        EventKind::Error | EventKind::Degraded if event.reminder > 0 => {
            vec![began, fact("Duration", lasted), fact("Reminder", event.reminder.to_string())]
        }
        EventKind::StillDegraded => vec![began, fact("Duration", lasted)],
        EventKind::Error | EventKind::Degraded => vec![began],
        EventKind::Test => Vec::new(),
    };
    let places: Vec<_> = event.cause.distinct_places().collect();
    let failing = places.iter().filter(|place| place.failing).count();
    let is_one = places.iter().all(|place| place.place.is_some()) && places.len() == 1;
    if !places.is_empty() && !is_one {
        facts.push(fact("Regions", format!("{failing} of {} failing", places.len())));
    }
    facts
}

pub(super) fn region(seen: &RegionOutcome) -> String {
    let word = match (seen.failing, &seen.reason) {
        (true, _) => "failing",
        (false, Some(_)) => "degraded",
        (false, None) => "ok",
    };
    let mut line = match &seen.place {
        Some(place) => format!("{}: {word}", one_line(place)),
        None => format!("{} ({}): {word}", seen.region.location().city, seen.region),
    };
    if let Some(status) = seen.status {
        let _ = write!(line, ", status {status}");
    }
    if let Some(latency) = seen.latency_ms {
        let _ = write!(line, ", {latency} ms");
    }
    match seen.reason.as_deref().map(one_line) {
        Some(reason) if !reason.is_empty() => line + ": " + &reason,
        Some(_) | None => line,
    }
}

/// Returns the link as browsers normalize it, so that no character in it ends a vendor's markup.
pub(super) fn link(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let link = url.as_str().replace('|', "%7C").replace('\'', "%27");
    let fits = link.chars().count() <= LINK_CHARS_MAX;
    (fits && matches!(url.scheme(), "http" | "https")).then_some(link)
}

/// Formats an instant for humans: `2026-11-21 16:48:55 UTC`.
pub(in super::super) fn format_time(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {} UTC", time.split('.').next().unwrap_or(time)),
        None => text,
    }
}

/// Formats an instant as RFC 3339, or returns `None` if it is outside the calendar.
pub(in super::super) fn format_rfc3339(at: Timestamp) -> Option<String> {
    let text = at.to_string();
    let is_written = text.len() == "1970-01-01T00:00:00.000Z".len() && text.ends_with('Z');
    is_written.then_some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::notify::tests::an_event;

    #[test]
    fn titles_show_the_event_before_the_name() {
        let error = EventKind::Error;
        let recovered = EventKind::Recovered;
        for (kind, closed, reminder, expected) in [
            (error, None, 0, "Down: API"),
            (error, None, 1, "Still down after 12 min: API"),
            (EventKind::Degraded, None, 0, "Degraded: API"),
            (EventKind::Degraded, None, 3, "Still degraded after 12 min: API"),
            (EventKind::StillDegraded, None, 0, "No longer down, still degraded: API"),
            (recovered, None, 0, "Recovered after 12 min: API"),
            (recovered, Some(CloseReason::Recovered), 0, "Recovered after 12 min: API"),
            (
                recovered,
                Some(CloseReason::Degraded),
                0,
                "No longer down after 12 min, still degraded: API",
            ),
            (recovered, Some(CloseReason::Paused), 0, "Paused during an incident (12 min): API"),
            (recovered, Some(CloseReason::Deleted), 0, "Deleted during an incident (12 min): API"),
            (recovered, Some(CloseReason::Resolved), 0, "Resolved manually after 12 min: API"),
        ] {
            let mut event = Event { closed, reminder, ..an_event(kind) };
            event.began_at = event.at - Duration::from_mins(12);
            event.monitor.name = "API".to_owned();
            assert_eq!(title(&event), expected);
        }
    }

    // design: §5 "Regions served by the same probe count as one place and are shown as one place"
    #[test]
    fn regions_of_one_probe_show_as_one_place() {
        let mut event = an_event(EventKind::Error);
        let counted = |event: &Event| facts(event).into_iter().find(|fact| fact.label == "Regions");
        assert_eq!(counted(&event).unwrap().value, "2 of 3 failing");
        for seen in event.cause.regions.iter_mut().take(2) {
            seen.place = Some("this server".to_owned());
        }
        let lines: Vec<_> = event.cause.distinct_places().map(region).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("this server: failing, status 503"), "{lines:?}");
        assert_eq!(counted(&event).unwrap().value, "1 of 2 failing");
        event.cause.regions.truncate(2);
        assert!(counted(&event).is_none(), "a count of one place is omitted");
    }

    #[test]
    fn manually_closed_incident_shows_its_reason() {
        for (closed, expected) in [
            (CloseReason::Paused, "The monitor was paused."),
            (CloseReason::Deleted, "The monitor was deleted."),
            (CloseReason::Resolved, "The incident was resolved manually."),
        ] {
            let event = Event { closed: Some(closed), ..an_event(EventKind::Recovered) };
            assert_eq!(reason(&event).as_deref(), Some(expected));
        }
    }

    #[test]
    fn times_show_utc_without_fractions() {
        assert_eq!(format_time(Timestamp::from_millis(1_500)), "1970-01-01 00:00:01 UTC");
    }

    #[test]
    fn only_valid_http_links_are_shown() {
        for (text, expected) in [
            ("https://status.example.com/i/1", Some("https://status.example.com/i/1")),
            ("https://a.example/x|y>'\"", Some("https://a.example/x%7Cy%3E%27%22")),
            ("javascript:alert(1)", None),
            ("not a link", None),
        ] {
            assert_eq!(link(text).as_deref(), expected, "{text}");
        }
        assert_eq!(link(&format!("https://a.example/{}", "a".repeat(2_048))), None);
    }
}
