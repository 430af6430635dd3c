//! When a history is stored. What a person would miss is stored at once; how regions vote stands in their
//! results as well, and a process that starts reads those of the last minutes again. So it is stored once
//! a minute instead of with each of 28 regions, which report one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use rules::{ById, MonitorId, Timestamp};

/// A process that starts reads results again whose slots are so much before the last stored one, and
/// [`super::History::recall`]s them.
pub const RECALLED: Duration = Duration::from_secs(150);

/// Votes are stored so much later, at most.
const WAITS: Duration = Duration::from_mins(1);
/// Of a result whose slot is so much past when it is heard nothing waits.
const LATE: Duration = Duration::from_mins(1);

// Whatever is stored by then, the results that are not in it are recalled.
const _: () = assert!(WAITS.as_secs() + LATE.as_secs() + 30 <= RECALLED.as_secs());

/// From this period on the last two results of a region may be older than those that are recalled.
const RARE: Duration = Duration::from_mins(5);

/// Whether a region's votes hold for longer than its results are recalled: then their instants count too.
pub(super) fn outlives_results(period: Duration) -> bool {
    period >= RARE
}

/// Whether a result of this slot, heard `now`, is recalled as long as votes wait.
pub(super) fn can_wait(slot: Timestamp, now: Timestamp) -> bool {
    now.since(slot) <= LATE
}

/// The monitors of whose history only votes changed since it was stored.
#[derive(Debug, Default)]
pub struct Unwritten {
    since: ById<MonitorId, Timestamp>,
    /// In their order; of those that were stored meanwhile too.
    order: VecDeque<(Timestamp, MonitorId)>,
}

impl Unwritten {
    /// Votes of a monitor changed.
    pub fn note(&mut self, monitor: MonitorId, now: Timestamp) {
        self.since.entry(monitor).or_insert_with(|| {
            self.order.push_back((now, monitor));
            now
        });
    }

    /// The history of a monitor is stored with the next commit, or gone.
    pub fn forget(&mut self, monitor: MonitorId) {
        self.since.remove(&monitor);
    }

    /// A monitor whose votes have waited long enough, or since an instant that a clock set back made one of
    /// the future; to be asked before each commit, until there is none.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<MonitorId> {
        while let Some((since, monitor)) = self.order.front().copied() {
            if self.since.get(&monitor) == Some(&since) {
                if since <= now && now.since(since) < WAITS {
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

    fn due(unwritten: &mut Unwritten, now: Timestamp) -> Vec<MonitorId> {
        std::iter::from_fn(|| unwritten.pop_due(now)).collect()
    }

    #[test]
    fn votes_wait_for_a_minute_from_the_first_that_changed() {
        let mut unwritten = Unwritten::default();
        unwritten.note(FIRST, START);
        unwritten.note(OTHER, START + 20 * SECOND);
        unwritten.note(FIRST, START + 59 * SECOND);
        assert_eq!(due(&mut unwritten, START + 59 * SECOND), NONE);
        assert_eq!(due(&mut unwritten, START + 60 * SECOND), [FIRST]);
        unwritten.note(FIRST, START + 70 * SECOND);
        assert_eq!(due(&mut unwritten, START + 90 * SECOND), [OTHER]);
        assert_eq!(due(&mut unwritten, START + 130 * SECOND), [FIRST]);
        assert_eq!(due(&mut unwritten, START + 999 * SECOND), NONE);
    }

    #[test]
    fn what_was_stored_meanwhile_is_not_due_until_it_changes_again() {
        let mut unwritten = Unwritten::default();
        unwritten.note(FIRST, START);
        unwritten.forget(FIRST);
        unwritten.note(FIRST, START + 30 * SECOND);
        assert_eq!(due(&mut unwritten, START + 60 * SECOND), NONE);
        assert_eq!(due(&mut unwritten, START + 90 * SECOND), [FIRST]);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nothing_waiting() {
        let mut unwritten = Unwritten::default();
        unwritten.note(FIRST, START);
        assert_eq!(due(&mut unwritten, START - SECOND), [FIRST]);
    }
}
