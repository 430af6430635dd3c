//! Keys of alerts. A key is the same in every attempt, so that a receiver can drop duplicates
//! (design §5 "Alerts"). A thread is the same from opening to end, so that a vendor can group and
//! close alerts.

use rules::ChannelId;

use super::event::{Event, EventKind};

/// Returns the key of `event` on `channel`: incident, channel, event and number of the reminder. It
/// consists of letters, digits, `_` and `-`, so it is safe in headers, URLs and message IDs.
pub fn delivery_key(channel: ChannelId, event: &Event) -> String {
    format!("{}-{channel}-{}", alert_id(event), kind_suffix(event))
}

/// Returns the key of `event` among all events, independent of the channel.
pub fn event_key(event: &Event) -> String {
    format!("{}-{}", alert_id(event), kind_suffix(event))
}

fn alert_id(event: &Event) -> String {
    match (event.incident, event.kind) {
        (_, EventKind::Test) => format!("{}-{}", event.monitor.id, event.at.as_millis()),
        (Some(incident), _) => incident.to_string(),
        // Without an incident, degradations that began at different times are different alerts.
        (None, _) => format!("{}-{}", event.monitor.id, event.began_at.as_millis()),
    }
}

fn kind_suffix(event: &Event) -> String {
    let key = event.kind.as_str().to_owned();
    match (event.reminder, event.kind, event.closed) {
        (0, EventKind::Test, Some(_)) => key + "-over",
        (0, _, _) => key,
        (number, _, _) => format!("{key}-{number}"),
    }
}

/// Returns the key of a digest of events, oldest first.
pub fn digest_key(channel: ChannelId, events: &[Event]) -> String {
    let first = events.first().map(|event| delivery_key(channel, event)).unwrap_or_default();
    digest_of(&first, events.len())
}

/// Returns the key of a digest of `count` deliveries, the oldest of which has the key `first`.
pub fn digest_of(first: &str, count: usize) -> String {
    format!("digest-{count}-{first}")
}

/// Returns the key by which a vendor groups and closes alerts: the incident, else the monitor. A
/// test has its own.
pub fn thread(event: &Event) -> String {
    match (event.incident, event.kind) {
        (_, EventKind::Test) => format!("test-{}", event.at.as_millis()),
        (Some(incident), _) => incident.to_string(),
        (None, _) => event.monitor.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use rules::Timestamp;

    use super::*;
    use crate::notify::CloseReason;
    use crate::notify::tests::{CHANNEL, an_event};

    // design: §5 "with an idempotency key (incident, channel, event)"
    #[test]
    fn key_contains_incident_channel_event_and_reminder() {
        let error = an_event(EventKind::Error);
        let reminder = Event { reminder: 2, ..error.clone() };
        let test = an_event(EventKind::Test);
        let over = Event { closed: Some(CloseReason::Resolved), ..test.clone() };
        for (event, expected) in [
            (error, "inc_0000000000005-chn_0000000000007-error"),
            (reminder, "inc_0000000000005-chn_0000000000007-error-2"),
            (an_event(EventKind::Recovered), "inc_0000000000005-chn_0000000000007-recovered"),
            (
                an_event(EventKind::Degraded),
                "mon_0000000000003-1795279675250-chn_0000000000007-degraded",
            ),
            (test, "mon_0000000000003-1795279735250-chn_0000000000007-test"),
            (over, "mon_0000000000003-1795279735250-chn_0000000000007-test-over"),
        ] {
            assert_eq!(delivery_key(CHANNEL, &event), expected);
        }
    }

    #[test]
    fn recovery_shares_thread_with_its_opening() {
        let error = an_event(EventKind::Error);
        assert_eq!(thread(&error), thread(&an_event(EventKind::Recovered)));
        let degraded = an_event(EventKind::Degraded);
        let recovered = Event { incident: None, ..an_event(EventKind::Recovered) };
        assert_eq!(thread(&degraded), thread(&recovered));
        assert_ne!(thread(&error), thread(&degraded));
    }

    #[test]
    fn tests_never_share_a_thread() {
        let test = an_event(EventKind::Test);
        let later = Event { at: Timestamp::from_millis(1), ..test.clone() };
        assert_ne!(thread(&test), thread(&later));
        assert_ne!(thread(&test), thread(&an_event(EventKind::Degraded)));
    }

    #[test]
    fn larger_digest_has_another_key() {
        let events = [an_event(EventKind::Error), an_event(EventKind::Degraded)];
        let key = digest_key(CHANNEL, &events);
        assert_eq!(key, "digest-2-inc_0000000000005-chn_0000000000007-error");
        assert_ne!(key, digest_key(CHANNEL, &events[..1]));
    }
}
