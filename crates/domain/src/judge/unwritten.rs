//! When a history is stored. What a person would miss is stored at once; how regions vote stands in their
//! results as well, and a process that starts reads those of the last minutes again. So it is stored once
//! a minute instead of with each of 28 regions, which report one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use rules::{ById, MonitorId, Timestamp};

use super::Changed;

/// A process that starts reads results again whose slots are so much before the last stored one, and
/// [`super::History::recall`]s them. For as long a vote may hold whose instants are not written: from a slot to
/// the end of a check that is not [`is_late`], and for the window of a monitor that is not rare.
pub const RECALLED: Duration = Duration::from_mins(5);

/// Votes wait for the first commit that is so much later.
const WAITS: Duration = Duration::from_mins(1);
/// A result is late whose slot is so much before the last one.
const LATE: Duration = Duration::from_mins(1);
/// From this period on the last two results of a region may be older than those that are recalled.
const RARE: Duration = Duration::from_mins(5);

// With each slot that is stored, votes of slots so much before it are.
const _: () = assert!(WAITS.as_secs() + LATE.as_secs() < RECALLED.as_secs());

/// Whether a region's votes hold for longer than its results are recalled: then their instants count too.
pub(super) fn outlives_results(period: Duration) -> bool {
    period >= RARE
}

/// Whether a result of this slot is not recalled for long.
pub(super) fn is_late(slot: Timestamp, now: Timestamp) -> bool {
    now.since(slot) > LATE
}

/// The monitors of whose history only votes changed since it was stored.
#[derive(Debug, Default)]
pub struct Unwritten {
    since: ById<MonitorId, Timestamp>,
    /// In their order; of those that were stored meanwhile too.
    order: VecDeque<(Timestamp, MonitorId)>,
    /// The last slot of which a result is stored or about to be.
    last_slot: Option<Timestamp>,
}

impl Unwritten {
    /// A result of this slot is stored, or will be with the next commit. What is recalled depends on the last
    /// one, also where the clock was set back since.
    pub fn hear(&mut self, slot: Timestamp) {
        self.last_slot = self.last_slot.max(Some(slot));
    }

    /// So much of a monitor's history changed. Says whether it is to be stored with the next commit.
    pub fn follow(&mut self, monitor: MonitorId, changed: Changed, now: Timestamp) -> bool {
        let can_wait = match changed {
            Changed::Nothing => true,
            Changed::Votes(slot) => self.note(monitor, slot, now),
            Changed::Memory | Changed::Status => false,
        };
        if !can_wait {
            self.forget(monitor);
        }
        !can_wait
    }

    /// Votes of a monitor changed by a result of this slot. Says whether its history can wait.
    fn note(&mut self, monitor: MonitorId, slot: Timestamp, now: Timestamp) -> bool {
        if is_late(slot, self.last_slot.unwrap_or(now).max(now)) {
            return false;
        }
        self.since.entry(monitor).or_insert_with(|| {
            self.order.push_back((now, monitor));
            now
        });
        true
    }

    /// The history of a monitor is stored with the next commit, or gone.
    pub fn forget(&mut self, monitor: MonitorId) {
        self.since.remove(&monitor);
    }

    /// A monitor whose votes have waited long enough, or since an instant that a clock set back made one of
    /// the future. To be asked before each commit, until there is none, and at no other time: without a commit
    /// what is recalled stays the same.
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
        let mut note = |monitor, at| unwritten.note(monitor, at, at);
        assert!(note(FIRST, START));
        assert!(note(OTHER, START + 20 * SECOND));
        assert!(note(FIRST, START + 59 * SECOND));
        assert_eq!(due(&mut unwritten, START + 59 * SECOND), NONE);
        assert_eq!(due(&mut unwritten, START + 60 * SECOND), [FIRST]);
        assert!(unwritten.note(FIRST, START + 70 * SECOND, START + 70 * SECOND));
        assert_eq!(due(&mut unwritten, START + 90 * SECOND), [OTHER]);
        assert_eq!(due(&mut unwritten, START + 130 * SECOND), [FIRST]);
        assert_eq!(due(&mut unwritten, START + 999 * SECOND), NONE);
    }

    #[test]
    fn what_was_stored_meanwhile_is_not_due_until_it_changes_again() {
        let mut unwritten = Unwritten::default();
        assert!(unwritten.note(FIRST, START, START));
        unwritten.forget(FIRST);
        assert!(unwritten.note(FIRST, START + 30 * SECOND, START + 30 * SECOND));
        assert_eq!(due(&mut unwritten, START + 60 * SECOND), NONE);
        assert_eq!(due(&mut unwritten, START + 90 * SECOND), [FIRST]);
    }

    #[test]
    fn votes_of_results_that_are_not_recalled_for_long_do_not_wait() {
        let mut unwritten = Unwritten::default();
        assert!(unwritten.note(FIRST, START, START + 60 * SECOND));
        assert!(!unwritten.note(OTHER, START, START + 61 * SECOND));
        unwritten.hear(START + 3_600 * SECOND);
        let set_back = START + 70 * SECOND;
        assert!(!unwritten.note(OTHER, set_back, set_back), "others have later slots");
        assert_eq!(due(&mut unwritten, START + 120 * SECOND), [FIRST]);
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nothing_waiting() {
        let mut unwritten = Unwritten::default();
        assert!(unwritten.note(FIRST, START, START));
        assert_eq!(due(&mut unwritten, START - SECOND), [FIRST]);
    }
}
