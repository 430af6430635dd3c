//! Decides which events are sent to a channel (design §5 "Transitions").

use std::time::Duration;

use rules::notification::{AlertEvent, NotificationPreferences};
use rules::{ProviderType, Timestamp};

use crate::notify::{Cause, Event, EventKind, is_stateful};

/// Number of periods that a monitor must be degraded before an alert.
const DEGRADED_PERIODS: u32 = 2;

/// Whether the channel was notified of the beginning of what the event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorDelivery {
    /// It was notified, or a message is on its way.
    Sent,
    /// It was not notified.
    NotSent,
}

/// Whether an event is sent to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterDecision {
    Send,
    Suppress(SuppressReason),
}

/// Reason an event is not sent to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressReason {
    /// The channel's preferences exclude it.
    NotSubscribed,
    /// The channel was not notified of the beginning.
    OpeningNotSent,
    /// It was notified of this degradation before.
    AlreadyNotified,
}

/// Decides whether `event` is sent to a channel with these preferences.
pub fn filter(
    preferences: &NotificationPreferences,
    event: &Event,
    opening: PriorDelivery,
) -> FilterDecision {
    let when = |wish: bool| {
        if wish {
            FilterDecision::Send
        } else {
            FilterDecision::Suppress(SuppressReason::NotSubscribed)
        }
    };
    let wished = |event| when(preferences.includes(event));
    match (event.kind, opening) {
        (EventKind::Test, _) => FilterDecision::Send,
        (EventKind::Recovered, PriorDelivery::NotSent) => {
            FilterDecision::Suppress(SuppressReason::OpeningNotSent)
        }
        (EventKind::Recovered, PriorDelivery::Sent) => wished(AlertEvent::Recovered),
        (EventKind::Error | EventKind::Degraded, PriorDelivery::NotSent) if event.reminder > 0 => {
            FilterDecision::Suppress(SuppressReason::OpeningNotSent)
        }
        (EventKind::Error | EventKind::Degraded, _) if event.reminder > 0 => {
            when(preferences.remind_every.is_some())
        }
        (EventKind::Error, _) => wished(AlertEvent::Error),
        (EventKind::Degraded, PriorDelivery::Sent) => {
            FilterDecision::Suppress(SuppressReason::AlreadyNotified)
        }
        (EventKind::Degraded, PriorDelivery::NotSent) | (EventKind::StillDegraded, _) => {
            wished(AlertEvent::Degraded)
        }
    }
}

/// Returns when to notify of a monitor that is degraded since `since`, if it still is then.
pub fn degraded_due(since: Timestamp, period: Duration) -> Timestamp {
    since + period * DEGRADED_PERIODS
}

/// Returns the event that closes a degradation outside an incident when `error` follows, for a
/// channel that keeps alerts. There, the error is a separate, more urgent alert, and nothing else
/// would close the earlier one. Other channels only get the error.
pub fn superseded(kind: ProviderType, error: &Event, degraded_since: Timestamp) -> Option<Event> {
    is_stateful(kind).then(|| Event {
        kind: EventKind::Recovered,
        incident: None,
        began_at: degraded_since,
        closed: None,
        cause: Cause::default(),
        ..error.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::an_event;

    const SEND: FilterDecision = FilterDecision::Send;
    const NOT_SUBSCRIBED: FilterDecision = FilterDecision::Suppress(SuppressReason::NotSubscribed);
    const OPENING_NOT_SENT: FilterDecision =
        FilterDecision::Suppress(SuppressReason::OpeningNotSent);

    // design: §5 "Channels hear by default of error, recovery, and `degraded` that lasts two periods"
    #[test]
    fn default_preferences_exclude_reminders_and_unopened_recoveries() {
        let preferences = NotificationPreferences::default();
        for (kind, reminder, opening, expected) in [
            (EventKind::Error, 0, PriorDelivery::NotSent, SEND),
            (EventKind::Degraded, 0, PriorDelivery::NotSent, SEND),
            (
                EventKind::Degraded,
                0,
                PriorDelivery::Sent,
                FilterDecision::Suppress(SuppressReason::AlreadyNotified),
            ),
            (EventKind::Recovered, 0, PriorDelivery::Sent, SEND),
            (EventKind::Recovered, 0, PriorDelivery::NotSent, OPENING_NOT_SENT),
            (EventKind::Error, 1, PriorDelivery::Sent, NOT_SUBSCRIBED),
            (EventKind::Error, 1, PriorDelivery::NotSent, OPENING_NOT_SENT),
            (EventKind::Test, 0, PriorDelivery::NotSent, SEND),
        ] {
            let event = Event { reminder, ..an_event(kind) };
            assert_eq!(filter(&preferences, &event, opening), expected, "{kind:?} {opening:?}");
        }
    }

    #[test]
    fn channel_gets_preferred_events_and_tests() {
        let preferences = NotificationPreferences {
            events: vec![AlertEvent::Degraded],
            ..NotificationPreferences::default()
        };
        for (kind, opening, expected) in [
            (EventKind::Error, PriorDelivery::NotSent, NOT_SUBSCRIBED),
            (EventKind::Degraded, PriorDelivery::NotSent, SEND),
            (EventKind::Recovered, PriorDelivery::Sent, NOT_SUBSCRIBED),
            (EventKind::Test, PriorDelivery::NotSent, SEND),
        ] {
            assert_eq!(filter(&preferences, &an_event(kind), opening), expected, "{kind:?}");
        }
    }

    #[test]
    fn degraded_alert_is_due_after_two_periods() {
        let since = Timestamp::from_millis(5);
        assert_eq!(degraded_due(since, Duration::from_secs(30)), Timestamp::from_millis(60_005));
    }

    #[test]
    fn error_closes_the_earlier_degradation_alert() {
        use crate::notify::thread;
        let (degraded, error) = (an_event(EventKind::Degraded), an_event(EventKind::Error));
        let closing = superseded(ProviderType::Pagerduty, &error, degraded.began_at).unwrap();
        assert_eq!(closing.kind, EventKind::Recovered);
        assert_eq!(thread(&closing), thread(&degraded));
        assert_eq!(superseded(ProviderType::Slack, &error, degraded.began_at), None);
    }
}
