//! Invariants of slots: each is run, skipped or missed exactly once.

use aloft_domain::cadence::{Missed, Regions, Slots};
use aloft_domain::judge::Policy;
use rules::{MonitorId, Region, Timestamp};

use super::{Place, SlotOutcome, Witness};

impl Witness {
    pub(crate) fn decide(&mut self, place: usize, slot: Place, outcome: SlotOutcome) {
        if self.looks_away {
            return;
        }
        let before = self.monitors[place].slot_outcomes.insert(slot, outcome);
        self.check("a slot is run, skipped or missed once", before.is_none(), || {
            format!("monitor {place} {slot:?} was {before:?} and is {outcome:?}")
        });
    }

    pub(crate) fn miss(
        &mut self,
        place: usize,
        id: MonitorId,
        policy: &Policy,
        regions: Regions,
        missed: Missed,
    ) {
        let slots = Slots::new(id, policy.period, regions, missed.region);
        let (mut slot, mut count) = (missed.first_slot, 0);
        while slot <= missed.last_slot {
            self.decide(place, (policy.revision, missed.region, slot), SlotOutcome::Missed);
            count += 1;
            slot = slots.after(slot);
        }
        self.check("missed slots are counted", count == missed.count, || {
            format!("{missed:?} are {count}")
        });
    }

    /// Drops recent outcomes that the ended process did not store; the next process decides them.
    pub(crate) fn undecide(
        &mut self,
        place: usize,
        revision: u32,
        since: Timestamp,
        stored: impl Fn(Region, Timestamp) -> bool,
    ) {
        self.monitors[place].slot_outcomes.retain(|(of, region, slot), outcome| {
            *outcome == SlotOutcome::Missed
                || *of != revision
                || *slot <= since
                || stored(*region, *slot)
        });
    }

    pub(crate) fn is_decided(
        &self,
        place: usize,
        revision: u32,
        region: Region,
        slot: Timestamp,
    ) -> bool {
        self.monitors[place].slot_outcomes.contains_key(&(revision, region, slot))
    }

    /// Records the expected slots of a revision that ran from `since` to `until`.
    pub(crate) fn expect(
        &mut self,
        place: usize,
        id: MonitorId,
        policy: &Policy,
        regions: Regions,
        since: Timestamp,
        until: Timestamp,
    ) {
        for region in regions.iter() {
            let slots = Slots::new(id, policy.period, regions, region);
            let mut slot = since;
            while slot <= until {
                self.monitors[place].expected.insert((policy.revision, region, slot));
                slot = slots.after(slot);
            }
        }
    }

    /// Checks at the end that all expected slots have an outcome, and no others.
    pub(crate) fn watch_slots(&mut self) {
        for place in 0..self.monitors.len() {
            let seen = &self.monitors[place];
            let lost =
                seen.expected.iter().find(|slot| !seen.slot_outcomes.contains_key(*slot)).copied();
            let invented =
                seen.slot_outcomes.keys().find(|slot| !seen.expected.contains(*slot)).copied();
            self.check("no slot is lost", lost.is_none(), || format!("monitor {place}: {lost:?}"));
            self.check("no slot is invented", invented.is_none(), || {
                format!("monitor {place}: {invented:?}")
            });
        }
    }
}
