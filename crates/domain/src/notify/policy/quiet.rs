//! Quiet hours: a part of every day in which a channel is told nothing, or only that something is
//! down. What waits is told when they end. Which zone a channel is in is known to those who ask.

use std::time::Duration;

use rules::Timestamp;
use serde::{Deserialize, Serialize};

use crate::notify::EventKind;

const DAY: i64 = 24 * 60 * MINUTE;
/// In milliseconds, as a timestamp counts.
const MINUTE: i64 = 60_000;

/// A part of every day, by the clock of a zone; over midnight where it ends before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// Minute of the day in which they begin, 0 to 1439.
    pub from: u16,
    /// Minute of the day in which they end, 0 to 1439; the same as `from` is never.
    pub until: u16,
    /// What waits.
    pub held: Held,
}

/// What waits for the end of quiet hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Everything but tests.
    All,
    /// Everything but tests, and that something is down or no longer.
    AllButErrors,
}

/// Until when an event of this kind waits; `None` where it is told now. `utc_offset` is the zone's at
/// `now`, in seconds east of UTC: where clocks change in the night, an event may wait an hour more
/// or less.
pub fn held_until(
    hours: &QuietHours,
    kind: EventKind,
    now: Timestamp,
    utc_offset: i32,
) -> Option<Timestamp> {
    let waits = match (kind, hours.held) {
        (EventKind::Test, _) | (EventKind::Error | EventKind::Recovered, Held::AllButErrors) => {
            false
        }
        (EventKind::Error | EventKind::Recovered, Held::All) | (EventKind::Degraded, _) => true,
    };
    let (from, until) = (i64::from(hours.from) * MINUTE, i64::from(hours.until) * MINUTE);
    let local = now.as_millis().saturating_add(i64::from(utc_offset) * 1_000).rem_euclid(DAY);
    let since_from = (local - from).rem_euclid(DAY);
    let long = (until - from).rem_euclid(DAY);
    let left = u64::try_from(long - since_from).unwrap_or(0);
    (waits && left > 0).then(|| now + Duration::from_millis(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NIGHT: QuietHours = QuietHours { from: 22 * 60, until: 7 * 60, held: Held::All };

    /// An instant on the first day, at this hour and minute of UTC.
    fn at(hour: i64, minute: i64) -> Timestamp {
        Timestamp::from_millis((hour * 60 + minute) * MINUTE)
    }

    #[test]
    fn what_comes_at_night_waits_for_the_morning() {
        for (now, expected) in [
            (at(21, 59), None),
            (at(22, 0), Some(at(31, 0))),
            (at(6, 59), Some(at(7, 0))),
            (at(7, 0), None),
            (at(12, 0), None),
        ] {
            assert_eq!(held_until(&NIGHT, EventKind::Error, now, 0), expected, "{now}");
        }
    }

    #[test]
    fn hours_are_those_of_the_zone() {
        let hour = 3_600;
        assert_eq!(held_until(&NIGHT, EventKind::Error, at(21, 0), 2 * hour), Some(at(29, 0)));
        assert_eq!(held_until(&NIGHT, EventKind::Error, at(23, 0), -5 * hour), None);
    }

    #[test]
    fn errors_and_their_end_may_come_through_and_tests_always_do() {
        let but_errors = QuietHours { held: Held::AllButErrors, ..NIGHT };
        for (hours, kind, waits) in [
            (NIGHT, EventKind::Error, true),
            (NIGHT, EventKind::Recovered, true),
            (NIGHT, EventKind::Test, false),
            (but_errors, EventKind::Error, false),
            (but_errors, EventKind::Recovered, false),
            (but_errors, EventKind::Degraded, true),
        ] {
            assert_eq!(held_until(&hours, kind, at(23, 0), 0).is_some(), waits, "{kind:?}");
        }
    }

    #[test]
    fn hours_that_begin_when_they_end_are_never() {
        let never = QuietHours { until: NIGHT.from, ..NIGHT };
        assert_eq!(held_until(&never, EventKind::Error, at(22, 0), 0), None);
    }
}
