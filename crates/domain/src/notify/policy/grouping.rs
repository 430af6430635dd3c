//! Storms: when much breaks at once, people get a few messages and then one that tells the rest
//! (issue "Alerts": the first three of a minute on one channel go at once).

use std::time::Duration;

use rules::{ProviderType, Timestamp};
use serde::{Deserialize, Serialize};

use crate::notify::keeps_alerts;

/// Most events of one message; what is more goes into the next (ours: a webhook tells all of them,
/// at about a kilobyte each).
pub const STORM_EVENTS_MAX: usize = 500;
/// Events of a minute that are told at once.
const AT_ONCE: u32 = 3;
/// The minute.
const WINDOW: Duration = Duration::from_mins(1);

/// The minute that a channel is in, since the first event of it. Kept per channel; a restart may
/// forget it, which tells some events one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When its first event came.
    pub began: Timestamp,
    /// Events that were told at once.
    pub told: u32,
}

/// When an event is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Now, by itself.
    AtOnce,
    /// With all others that wait, then: one of them alone is told as one, several as a storm.
    With(Timestamp),
}

/// Whether an event that comes `now` on a channel of `kind` is told at once, and the window
/// afterwards. Tests are told without asking.
pub fn group(kind: ProviderType, window: Option<Window>, now: Timestamp) -> (Window, Turn) {
    let fresh = Window { began: now, told: 0 };
    let is_running = |window: &Window| window.began <= now && now < window.began + WINDOW;
    let window = window.filter(is_running).unwrap_or(fresh);
    if window.told < AT_ONCE || keeps_alerts(kind) {
        let told = window.told.saturating_add(1);
        return (Window { told, ..window }, Turn::AtOnce);
    }
    (window, Turn::With(window.began + WINDOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    /// Turns of events that come so many seconds after [`NOW`].
    fn turns(kind: ProviderType, seconds: &[u64]) -> Vec<Turn> {
        let mut window = None;
        let turn = |second: &u64| {
            let (next, turn) = group(kind, window, NOW + Duration::from_secs(*second));
            window = Some(next);
            turn
        };
        seconds.iter().map(turn).collect()
    }

    #[test]
    fn the_first_three_of_a_minute_go_at_once_and_the_rest_together_at_its_end() {
        let with = Turn::With(NOW + Duration::from_mins(1));
        assert_eq!(
            turns(ProviderType::Slack, &[0, 1, 2, 3, 59, 60, 61]),
            [Turn::AtOnce, Turn::AtOnce, Turn::AtOnce, with, with, Turn::AtOnce, Turn::AtOnce]
        );
    }

    #[test]
    fn kinds_that_group_by_themselves_get_every_event_at_once() {
        for kind in [ProviderType::Pagerduty, ProviderType::Opsgenie, ProviderType::GrafanaOncall] {
            assert_eq!(turns(kind, &[0; 20]), [Turn::AtOnce; 20], "{kind}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_begins_a_new_minute() {
        let window = Window { began: NOW, told: 3 };
        let (_, turn) = group(ProviderType::Email, Some(window), NOW - Duration::from_secs(5));
        assert_eq!(turn, Turn::AtOnce);
    }
}
