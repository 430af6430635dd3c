//! Quiet hours: a daily time in which a channel gets no messages, or only errors. Held messages are
//! sent at its end.

use std::time::Duration;

use rules::Timestamp;
use rules::notification::{QuietHours, QuietHoursScope};

use crate::notify::EventKind;

const DAY: i64 = 24 * 60 * MINUTE;
/// A minute in milliseconds, the unit of a timestamp.
const MINUTE: i64 = 60_000;

/// Returns until when an event of this kind is held, or `None` to send it now.
pub fn held_until(hours: &QuietHours, kind: EventKind, now: Timestamp) -> Option<Timestamp> {
    let waits = match (kind, hours.applies_to) {
        (EventKind::Test, _)
        | (EventKind::Error | EventKind::Recovered, QuietHoursScope::AllButErrors) => false,
        (EventKind::Error | EventKind::Recovered, QuietHoursScope::All)
        | (EventKind::Degraded | EventKind::StillDegraded, _) => true,
    };
    let minutes = |time: rules::TimeOfDay| i64::from(time.minutes()) * MINUTE;
    let (from, until) = (minutes(hours.from), minutes(hours.until));
    let offset = |at| i64::from(hours.time_zone.utc_offset(at)) * 1_000;
    let local = now.as_millis().saturating_add(offset(now)).rem_euclid(DAY);
    let since_from = (local - from).rem_euclid(DAY);
    let long = (until - from).rem_euclid(DAY);
    let left = u64::try_from(long - since_from).ok().filter(|left| waits && *left > 0)?;
    let end = now + Duration::from_millis(left);
    // Clocks may change in between; if `until` is repeated or skipped, the later instant applies.
    let corrected = end.as_millis().saturating_sub(offset(end) - offset(now));
    Some(Timestamp::from_millis(corrected))
}

#[cfg(test)]
mod tests {
    use rules::{TimeOfDay, TimeZone};

    use super::*;

    /// 22:00 to 7:00.
    fn night(zone: &str) -> QuietHours {
        QuietHours {
            from: TimeOfDay::parse("22:00").unwrap(),
            until: TimeOfDay::parse("07:00").unwrap(),
            time_zone: TimeZone::parse(zone).unwrap(),
            applies_to: QuietHoursScope::All,
        }
    }

    /// This hour and minute of the first day, in UTC.
    fn at(hour: i64, minute: i64) -> Timestamp {
        Timestamp::from_millis((hour * 60 + minute) * MINUTE)
    }

    #[test]
    fn event_in_quiet_hours_waits_for_their_end() {
        for (now, expected) in [
            (at(21, 59), None),
            (at(22, 0), Some(at(31, 0))),
            (at(6, 59), Some(at(7, 0))),
            (at(7, 0), None),
            (at(12, 0), None),
        ] {
            assert_eq!(held_until(&night("UTC"), EventKind::Error, now), expected, "{now}");
        }
    }

    #[test]
    fn quiet_hours_follow_the_time_zone() {
        let (east, west) = (night("Etc/GMT-2"), night("Etc/GMT+5"));
        assert_eq!(held_until(&east, EventKind::Error, at(21, 0)), Some(at(29, 0)));
        assert_eq!(held_until(&west, EventKind::Error, at(23, 0)), None);
    }

    #[test]
    fn quiet_hours_end_correctly_after_clock_change() {
        // 2026-03-28 22:00 UTC is 23:00 in Berlin; 07:00 of the next morning is 05:00 UTC.
        let (evening, morning) = (1_774_735_200_000, 1_774_760_400_000);
        let held =
            held_until(&night("Europe/Berlin"), EventKind::Error, Timestamp::from_millis(evening));
        assert_eq!(held, Some(Timestamp::from_millis(morning)));
    }

    #[test]
    fn quiet_hours_never_hold_tests() {
        let all = night("UTC");
        let but_errors = QuietHours { applies_to: QuietHoursScope::AllButErrors, ..all.clone() };
        for (hours, kind, waits) in [
            (&all, EventKind::Error, true),
            (&all, EventKind::Recovered, true),
            (&all, EventKind::Test, false),
            (&but_errors, EventKind::Error, false),
            (&but_errors, EventKind::Recovered, false),
            (&but_errors, EventKind::Degraded, true),
        ] {
            assert_eq!(held_until(hours, kind, at(23, 0)).is_some(), waits, "{kind:?}");
        }
    }
}
