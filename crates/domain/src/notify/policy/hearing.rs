//! Decides which events are sent to a channel (design §5 "Transitions").

use std::time::Duration;

use rules::notification::{WishedEvent, Wishes};
use rules::{ProviderType, Timestamp};

use crate::notify::{Event, EventKind, Grounds, keeps_alerts};

/// Number of periods that a monitor must be degraded before an alert.
const DEGRADED_PERIODS: u32 = 2;

/// Whether the channel was notified of the beginning of what the event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It was notified, or a message is on its way.
    Heard,
    /// It was not notified.
    NotHeard,
}

/// Whether an event is sent to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    Yes,
    Not(Deaf),
}

/// Reason an event is not sent to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deaf {
    /// The channel's preferences exclude it.
    NotWished,
    /// The channel was not notified of the beginning.
    OpeningNotHeard,
    /// It was notified of this degradation before.
    Known,
}

/// Decides whether `event` is sent to a channel with these preferences.
pub fn hears(wishes: &Wishes, event: &Event, opening: Opening) -> Hears {
    let when = |wish: bool| if wish { Hears::Yes } else { Hears::Not(Deaf::NotWished) };
    let wished = |event| when(wishes.want(event));
    match (event.kind, opening) {
        (EventKind::Test, _) => Hears::Yes,
        (EventKind::Recovered, Opening::NotHeard) => Hears::Not(Deaf::OpeningNotHeard),
        (EventKind::Recovered, Opening::Heard) => wished(WishedEvent::Recovered),
        (EventKind::Error | EventKind::Degraded, Opening::NotHeard) if event.reminder > 0 => {
            Hears::Not(Deaf::OpeningNotHeard)
        }
        (EventKind::Error | EventKind::Degraded, _) if event.reminder > 0 => {
            when(wishes.remind_every.is_some())
        }
        (EventKind::Error, _) => wished(WishedEvent::Error),
        (EventKind::Degraded, Opening::Heard) => Hears::Not(Deaf::Known),
        (EventKind::Degraded, Opening::NotHeard) | (EventKind::StillDegraded, _) => {
            wished(WishedEvent::Degraded)
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
    keeps_alerts(kind).then(|| Event {
        kind: EventKind::Recovered,
        incident: None,
        began_at: degraded_since,
        closed: None,
        grounds: Grounds::default(),
        ..error.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::an_event;

    const YES: Hears = Hears::Yes;
    const NOT_WISHED: Hears = Hears::Not(Deaf::NotWished);
    const NOT_HEARD: Hears = Hears::Not(Deaf::OpeningNotHeard);

    // design: §5 "Channels hear by default of error, recovery, and `degraded` that lasts two periods"
    #[test]
    fn default_preferences_exclude_reminders_and_unopened_recoveries() {
        let wishes = Wishes::default();
        for (kind, reminder, opening, expected) in [
            (EventKind::Error, 0, Opening::NotHeard, YES),
            (EventKind::Degraded, 0, Opening::NotHeard, YES),
            (EventKind::Degraded, 0, Opening::Heard, Hears::Not(Deaf::Known)),
            (EventKind::Recovered, 0, Opening::Heard, YES),
            (EventKind::Recovered, 0, Opening::NotHeard, NOT_HEARD),
            (EventKind::Error, 1, Opening::Heard, NOT_WISHED),
            (EventKind::Error, 1, Opening::NotHeard, NOT_HEARD),
            (EventKind::Test, 0, Opening::NotHeard, YES),
        ] {
            let event = Event { reminder, ..an_event(kind) };
            assert_eq!(hears(&wishes, &event, opening), expected, "{kind:?} {opening:?}");
        }
    }

    #[test]
    fn channel_gets_preferred_events_and_tests() {
        let wishes = Wishes { events: vec![WishedEvent::Degraded], ..Wishes::default() };
        for (kind, opening, expected) in [
            (EventKind::Error, Opening::NotHeard, NOT_WISHED),
            (EventKind::Degraded, Opening::NotHeard, YES),
            (EventKind::Recovered, Opening::Heard, NOT_WISHED),
            (EventKind::Test, Opening::NotHeard, YES),
        ] {
            assert_eq!(hears(&wishes, &an_event(kind), opening), expected, "{kind:?}");
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
