//! Digests: if many events occur at once, a channel gets a few messages and then one digest of the
//! rest (issue "Alerts": the first three of a minute on one channel are sent at once).

use std::time::Duration;

use rules::{ProviderType, Timestamp};
use serde::{Deserialize, Serialize};

use crate::notify::is_stateful;

/// Maximum number of events in a message; the next one contains the rest (our choice: a webhook
/// lists all of them, at about a kilobyte each).
pub const DIGEST_EVENTS_MAX: usize = 500;
/// Number of events per minute that are sent at once.
const SINGLE_EVENTS_MAX: u32 = 3;
/// Length of the group window.
const WINDOW_LENGTH: Duration = Duration::from_mins(1);

/// The group window of a channel, which begins with its first event. A restart may lose it, which
/// only sends some events separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupWindow {
    /// Time of its first event.
    pub began: Timestamp,
    /// Number of events sent at once.
    pub sent: u32,
}

/// When to send an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendTime {
    /// At once, as a single message.
    Now,
    /// At this time, together with all waiting events: a single message for one, a digest for
    /// several.
    Grouped(Timestamp),
}

/// Decides when to send an event that occurs `now` on a channel of `kind`, and returns the updated
/// window. Do not call it for tests, which are always sent.
pub fn group(
    kind: ProviderType,
    window: Option<GroupWindow>,
    now: Timestamp,
) -> (GroupWindow, SendTime) {
    let fresh = GroupWindow { began: now, sent: 0 };
    let is_running =
        |window: &GroupWindow| window.began <= now && now < window.began + WINDOW_LENGTH;
    let window = window.filter(is_running).unwrap_or(fresh);
    if window.sent < SINGLE_EVENTS_MAX || is_stateful(kind) {
        let sent = window.sent.saturating_add(1);
        return (GroupWindow { sent, ..window }, SendTime::Now);
    }
    (window, SendTime::Grouped(window.began + WINDOW_LENGTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    /// Returns the decisions for events these seconds after [`NOW`].
    fn turns(kind: ProviderType, seconds: &[u64]) -> Vec<SendTime> {
        let mut window = None;
        let turn = |second: &u64| {
            let (next, turn) = group(kind, window, NOW + Duration::from_secs(*second));
            window = Some(next);
            turn
        };
        seconds.iter().map(turn).collect()
    }

    #[test]
    fn events_after_three_a_minute_are_grouped() {
        let with = SendTime::Grouped(NOW + Duration::from_mins(1));
        assert_eq!(
            turns(ProviderType::Slack, &[0, 1, 2, 3, 59, 60, 61]),
            [SendTime::Now, SendTime::Now, SendTime::Now, with, with, SendTime::Now, SendTime::Now]
        );
    }

    #[test]
    fn grouping_vendors_get_every_event_at_once() {
        for kind in [ProviderType::Pagerduty, ProviderType::Opsgenie, ProviderType::GrafanaOncall] {
            assert_eq!(turns(kind, &[0; 20]), [SendTime::Now; 20], "{kind}");
        }
    }

    #[test]
    fn clock_set_back_begins_a_new_window() {
        let window = GroupWindow { began: NOW, sent: 3 };
        let (_, turn) = group(ProviderType::Email, Some(window), NOW - Duration::from_secs(5));
        assert_eq!(turn, SendTime::Now);
    }
}
