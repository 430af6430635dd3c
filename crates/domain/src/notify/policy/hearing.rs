//! Which events a channel hears (design §5 "Transitions").

use std::time::Duration;

use rules::notification::{WishedEvent, Wishes};
use rules::{ProviderType, Timestamp};

use crate::notify::{Event, EventKind, Grounds, keeps_alerts};

/// Periods that a monitor is degraded before it is told.
const DEGRADED_PERIODS: u32 = 2;

/// Whether the channel heard before of what the event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It did; a message that is on its way counts.
    Heard,
    /// It did not.
    NotHeard,
}

/// Whether a channel hears of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// It does.
    Yes,
    /// It does not.
    Not(Deaf),
}

/// Why a channel does not hear of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deaf {
    /// It does not want to.
    NotWished,
    /// It never heard that this began.
    OpeningNotHeard,
    /// It was notified of this degradation before.
    Known,
}

/// Whether a channel with these wishes hears of `event`.
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

/// When a monitor with this period that is degraded since `since` is told to be so, if it still is.
pub fn degraded_due(since: Timestamp, period: Duration) -> Timestamp {
    since + period * DEGRADED_PERIODS
}

/// The event that closes what `degraded_since` opened outside an incident, where a channel that
/// heard of it and keeps alerts now hears of `error`: there the error is an alert of its own, more
/// urgent than the one before, which nothing else would close. Everybody else only hears the error.
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
    fn by_default_all_is_heard_but_recoveries_of_what_was_not_and_reminders() {
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
    fn a_channel_hears_what_it_wishes_and_tests() {
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
    fn degraded_is_told_after_two_periods() {
        let since = Timestamp::from_millis(5);
        assert_eq!(degraded_due(since, Duration::from_secs(30)), Timestamp::from_millis(60_005));
    }

    #[test]
    fn an_error_closes_the_alert_of_the_degradation_before_it() {
        use crate::notify::thread;
        let (degraded, error) = (an_event(EventKind::Degraded), an_event(EventKind::Error));
        let closing = superseded(ProviderType::Pagerduty, &error, degraded.began_at).unwrap();
        assert_eq!(closing.kind, EventKind::Recovered);
        assert_eq!(thread(&closing), thread(&degraded));
        assert_eq!(superseded(ProviderType::Slack, &error, degraded.began_at), None);
    }
}
