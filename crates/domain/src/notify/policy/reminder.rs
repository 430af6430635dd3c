//! Reminders of lasting problems: off unless a channel enables them.

use rules::{Interval, Timestamp};

/// Returns when the reminder after `sent` earlier ones is due, and its number. Counts from `began`,
/// so that a late reminder does not delay the next. Skips reminders missed while the server was
/// down.
pub fn next_reminder_time(
    began: Timestamp,
    every: Interval,
    sent: u32,
    now: Timestamp,
) -> (Timestamp, u32) {
    let every = every.duration();
    let passed = now.since(began).as_millis() / every.as_millis();
    let passed = u32::try_from(passed).unwrap_or(u32::MAX);
    // Send the one that is due now, but not the earlier ones.
    let number = sent.saturating_add(1).max(passed);
    (began + every.saturating_mul(number), number)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reminders_count_from_the_start() {
        let began = Timestamp::from_millis(1_000);
        let hour = Interval::parse("1h").unwrap();
        let minutes = |minutes| began + Duration::from_mins(minutes);
        for (sent, now, expected) in [
            (0, minutes(0), (minutes(60), 1)),
            (0, minutes(60), (minutes(60), 1)),
            (1, minutes(61), (minutes(120), 2)),
            (1, minutes(250), (minutes(240), 4)),
        ] {
            assert_eq!(next_reminder_time(began, hour, sent, now), expected);
        }
    }
}
