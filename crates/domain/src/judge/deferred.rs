//! Decides when to store a monitor's state. Important changes are stored at once. Votes are also
//! part of the results, and a starting process recalls the results of the last minutes. So votes
//! are stored once a minute instead of with each result of 28 regions.

use std::collections::VecDeque;
use std::time::Duration;

use rules::{ById, MonitorId, Timestamp};

/// A starting process recalls results whose slots are at most this much older than the last stored
/// slot, see `JudgeState::recall`. This must cover a vote with deferred instants: the time
/// from a slot to the end of a check that is not [`is_late`], plus the window of a monitor that is
/// not rare.
pub const RECALL_PERIOD: Duration = Duration::from_mins(5);

/// Minimum time that changed votes wait for a commit.
const COMMIT_DELAY: Duration = Duration::from_mins(1);
/// A result is late if its slot is this much older than the last one.
const LATE: Duration = Duration::from_mins(1);
/// From this period on, a region's last two results may be older than the recalled ones.
const RARE: Duration = Duration::from_mins(5);

// Whenever a slot is stored, the votes of slots this much older are stored as well.
const _: () = assert!(COMMIT_DELAY.as_secs() + LATE.as_secs() < RECALL_PERIOD.as_secs());

/// Returns whether votes may outlive the recalled results, so that their instants must be stored.
pub(super) fn outlives_results(period: Duration) -> bool {
    period >= RARE
}

/// Returns whether a result of this slot will soon be too old to be recalled.
pub(super) fn is_late(slot: Timestamp, now: Timestamp) -> bool {
    now.since(slot) > LATE
}

/// Extent of a change of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changed {
    /// At most instants: the state need not be stored.
    Nothing,
    /// Votes or their instants. The result of this slot contains them, too: see
    /// [`DeferredWrites`].
    Votes(Timestamp),
    /// Data that later verdicts depend on: the state is stored at once.
    Memory,
    /// Status or incident; see [`super::Effects::transition`].
    Status,
}

/// Monitors of which only votes changed since their state was stored.
#[derive(Debug, Default)]
pub struct DeferredWrites {
    since: ById<MonitorId, Timestamp>,
    /// In order of time; may contain monitors that were stored meanwhile.
    order: VecDeque<(Timestamp, MonitorId)>,
    /// The last slot with a result that is stored or about to be.
    last_slot: Option<Timestamp>,
}

impl DeferredWrites {
    /// Records the slot of a result that is stored, or will be with the next commit. The recalled
    /// range depends on the latest slot, even if the clock was set back since.
    pub fn record_slot(&mut self, slot: Timestamp) {
        self.last_slot = self.last_slot.max(Some(slot));
    }

    /// Records a change of a monitor's state. Returns whether to store it with the next commit.
    pub fn record_change(&mut self, monitor: MonitorId, changed: Changed, now: Timestamp) -> bool {
        let can_wait = match changed {
            Changed::Nothing => true,
            Changed::Votes(slot) => self.defer(monitor, slot, now),
            Changed::Memory | Changed::Status => false,
        };
        if !can_wait {
            self.remove(monitor);
        }
        !can_wait
    }

    /// Records changed votes from a result of this slot. Returns whether storing can wait.
    fn defer(&mut self, monitor: MonitorId, slot: Timestamp, now: Timestamp) -> bool {
        if is_late(slot, self.last_slot.unwrap_or(now).max(now)) {
            return false;
        }
        self.since.entry(monitor).or_insert_with(|| {
            self.order.push_back((now, monitor));
            now
        });
        true
    }

    /// Removes a monitor whose state is stored with the next commit, or that is gone.
    pub fn remove(&mut self, monitor: MonitorId) {
        self.since.remove(&monitor);
    }

    /// Returns a monitor whose votes have waited long enough, or whose start of waiting is in the
    /// future because the clock was set back. Call it before each commit until it returns `None`,
    /// and at no other time: without a commit, the recalled range does not move.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<MonitorId> {
        while let Some((since, monitor)) = self.order.front().copied() {
            if self.since.get(&monitor) == Some(&since) {
                if since <= now && now.since(since) < COMMIT_DELAY {
                    return None;
                }
                self.since.remove(&monitor);
                self.order.pop_front();
                return Some(monitor);
            }
            self.order.pop_front();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const SECOND: Duration = Duration::from_secs(1);
    const FIRST: MonitorId = MonitorId::from_bits(1);
    const OTHER: MonitorId = MonitorId::from_bits(2);
    const NONE: [MonitorId; 0] = [];

    fn due(deferred: &mut DeferredWrites, now: Timestamp) -> Vec<MonitorId> {
        std::iter::from_fn(|| deferred.pop_due(now)).collect()
    }

    #[test]
    fn changed_votes_wait_for_a_minute() {
        let mut deferred = DeferredWrites::default();
        let mut note = |monitor, at| deferred.defer(monitor, at, at);
        assert!(note(FIRST, START));
        assert!(note(OTHER, START + 20 * SECOND));
        assert!(note(FIRST, START + 59 * SECOND));
        assert_eq!(due(&mut deferred, START + 59 * SECOND), NONE);
        assert_eq!(due(&mut deferred, START + 60 * SECOND), [FIRST]);
        assert!(deferred.defer(FIRST, START + 70 * SECOND, START + 70 * SECOND));
        assert_eq!(due(&mut deferred, START + 90 * SECOND), [OTHER]);
        assert_eq!(due(&mut deferred, START + 130 * SECOND), [FIRST]);
        assert_eq!(due(&mut deferred, START + 999 * SECOND), NONE);
    }

    #[test]
    fn stored_monitor_is_not_due_until_changed() {
        let mut deferred = DeferredWrites::default();
        assert!(deferred.defer(FIRST, START, START));
        deferred.remove(FIRST);
        assert!(deferred.defer(FIRST, START + 30 * SECOND, START + 30 * SECOND));
        assert_eq!(due(&mut deferred, START + 60 * SECOND), NONE);
        assert_eq!(due(&mut deferred, START + 90 * SECOND), [FIRST]);
    }

    #[test]
    fn votes_of_late_results_do_not_wait() {
        let mut deferred = DeferredWrites::default();
        assert!(deferred.defer(FIRST, START, START + 60 * SECOND));
        assert!(!deferred.defer(OTHER, START, START + 61 * SECOND));
        deferred.record_slot(START + 3_600 * SECOND);
        let set_back = START + 70 * SECOND;
        assert!(!deferred.defer(OTHER, set_back, set_back), "others have later slots");
        assert_eq!(due(&mut deferred, START + 120 * SECOND), [FIRST]);
    }

    #[test]
    fn clock_set_back_ends_the_wait() {
        let mut deferred = DeferredWrites::default();
        assert!(deferred.defer(FIRST, START, START));
        assert_eq!(due(&mut deferred, START - SECOND), [FIRST]);
    }
}
