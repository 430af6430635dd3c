//! Decides when a failed message is retried, and when it becomes a dead letter (design §5
//! "Alerts").

use std::time::Duration;

use rules::Timestamp;
use rules::limits::DELIVERY_RETRIED_FOR;

use crate::backoff::Backoff;

/// Maximum wait that a receiver can request (our choice), so that no response delays an alert for a
/// day.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// Pauses between attempts, before their random change (our choice).
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_mins(30) };

/// Decision about a failed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAttempt {
    /// It is retried then.
    At(Timestamp),
    /// Its time is over: it becomes a dead letter.
    Dead,
}

/// Decides what happens after the last of `tries` attempts failed at `now`; the first was at
/// `first`. The receiver may have `asked` for a wait; `chance` is any random number. The last
/// attempt takes place exactly when the time is over.
pub fn next_attempt(
    first: Timestamp,
    now: Timestamp,
    tries: u32,
    asked: Option<Duration>,
    chance: u64,
) -> NextAttempt {
    let last = first + DELIVERY_RETRIED_FOR;
    if now >= last {
        return NextAttempt::Dead;
    }
    let asked = asked.unwrap_or_default().min(RETRY_AFTER_MAX);
    let at = now + BACKOFF.jittered_pause_after(tries, chance).max(asked);
    NextAttempt::At(at.min(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FIRST: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn wait(tries: u32, asked: Option<Duration>, chance: u64) -> Duration {
        match next_attempt(FIRST, FIRST, tries, asked, chance) {
            NextAttempt::At(at) => at.since(FIRST),
            NextAttempt::Dead => panic!("retries go on after the first hour"),
        }
    }

    #[test]
    fn pauses_double_up_to_half_an_hour() {
        for (tries, seconds) in [(1, 1), (2, 2), (3, 4), (8, 128), (12, 1_800), (u32::MAX, 1_800)] {
            let plain = Duration::from_secs(seconds);
            assert_eq!(wait(tries, None, 0), plain * 8 / 10, "{tries}");
            assert_eq!(wait(tries, None, 200), plain, "{tries}");
            assert_eq!(wait(tries, None, 400), plain * 12 / 10, "{tries}");
        }
    }

    // design: §5 "Delivery … honours Retry-After"
    #[test]
    fn requested_wait_is_respected_up_to_an_hour() {
        for (asked, expected) in [(0, 1), (90, 90), (3_600, 3_600), (86_400, 3_600)] {
            let asked = Some(Duration::from_secs(asked));
            assert_eq!(wait(1, asked, 200), Duration::from_secs(expected));
        }
    }

    // design: §5 "retried with back-off for 24 hours"
    #[test]
    fn message_is_dead_after_a_day() {
        let last = FIRST + DELIVERY_RETRIED_FOR;
        let before = last - Duration::from_secs(1);
        assert_eq!(next_attempt(FIRST, before, 60, None, 0), NextAttempt::At(last));
        assert_eq!(next_attempt(FIRST, last, 61, None, 0), NextAttempt::Dead);
    }

    proptest! {
        #[test]
        fn message_is_retried_for_exactly_a_day(chances in prop::collection::vec(any::<u64>(), 200)) {
            let (mut now, mut tries) = (FIRST, 1);
            for chance in chances {
                match next_attempt(FIRST, now, tries, None, chance) {
                    NextAttempt::At(at) => {
                        prop_assert!(at > now && at <= FIRST + DELIVERY_RETRIED_FOR);
                        (now, tries) = (at, tries + 1);
                    }
                    NextAttempt::Dead => break,
                }
            }
            prop_assert_eq!(now, FIRST + DELIVERY_RETRIED_FOR);
            prop_assert!((50..100).contains(&tries), "{}", tries);
        }
    }
}
