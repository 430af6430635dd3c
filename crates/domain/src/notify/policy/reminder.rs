//! Reminders of what lasts: off unless a channel wants them.

use rules::{Interval, Timestamp};

/// When the reminder after `told` others is due, of what began at `began`, and its number. Counted
/// from the beginning, so that none moves because another came late; those that a pause of the
/// server left out are skipped.
pub fn next_reminder(
    began: Timestamp,
    every: Interval,
    told: u32,
    now: Timestamp,
) -> (Timestamp, u32) {
    let every = every.duration();
    let passed = now.since(began).as_millis() / every.as_millis();
    let passed = u32::try_from(passed).unwrap_or(u32::MAX);
    // The one that is due now is told, the ones before it are not.
    let number = told.saturating_add(1).max(passed);
    (began + every.saturating_mul(number), number)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reminders_are_counted_from_the_beginning() {
        let began = Timestamp::from_millis(1_000);
        let hour = Interval::parse("1h").unwrap();
        let minutes = |minutes| began + Duration::from_mins(minutes);
        for (told, now, expected) in [
            (0, minutes(0), (minutes(60), 1)),
            (0, minutes(60), (minutes(60), 1)),
            (1, minutes(61), (minutes(120), 2)),
            (1, minutes(250), (minutes(240), 4)),
        ] {
            assert_eq!(next_reminder(began, hour, told, now), expected);
        }
    }
}
