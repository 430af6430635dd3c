//! The schedule of all monitors: decides which slot is due in which region, which one is skipped
//! because the previous check still runs, and which ones were missed. Pure state: `now` is a
//! parameter. The server's pipeline waits, runs the checks and records the results.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::time::Duration;

use rules::{ById, MonitorId, Region, Timestamp};

use super::{Budget, Missed, MissedReason, Regions, Slots};

/// Due slots of (monitor, region), earliest first. An entry takes 16 bytes, a monitor about 50.
/// Removal is lazy: an edit or a removal changes the version of its entries, and outdated entries
/// are dropped when they become due.
#[derive(Debug, Default)]
pub struct Schedule {
    heap: BinaryHeap<Reverse<Entry>>,
    monitors: Vec<ScheduledMonitor>,
    free: Vec<u32>,
    by_monitor: ById<MonitorId, u32>,
    /// Number of current entries in the heap; outdated ones are not counted.
    live: usize,
}

/// First run of a monitor that is added to the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstRun {
    /// At once in each of its regions, in an extra slot at `now`: a new, resumed or edited monitor, or
    /// one whose revision has no result when the process starts.
    AtOnce,
    /// In its first regular slot after `now`: a monitor with results that was loaded at the start, or
    /// moved to another probe.
    Regular,
}

/// A revision of a monitor in the schedule. An edit creates a new handle, so that checks of the old
/// revision do not block the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    index: u32,
    entry_version: u32,
}

/// A slot that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSlot {
    pub monitor: MonitorId,
    /// Passed to [`Schedule::finish`] when the check ends.
    pub handle: Handle,
    pub region: Region,
    pub slot: Timestamp,
    /// The slot after it. No attempt starts at or after this time.
    pub next_slot: Timestamp,
    pub action: SlotAction,
    /// Earlier slots that were missed because nobody called [`Schedule::pop_due`] in time.
    pub missed: Option<Missed>,
}

/// A confirmation check to run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationCheck {
    /// Passed to [`Schedule::finish`] when the check ends.
    pub handle: Handle,
    pub region: Region,
    /// The region's next slot. No attempt starts at or after this time.
    pub next_slot: Timestamp,
}

/// Action for a due slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotAction {
    /// Run it. It counts as running from now on.
    Run,
    /// Record it as skipped: the previous check still runs.
    Skip,
}

/// Ordered by due time; the key only makes the order total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    due: Timestamp,
    /// Index into `monitors` in the high 27 bits, region in the low 5.
    key: u32,
    version: u32,
}

#[derive(Debug)]
struct ScheduledMonitor {
    monitor: MonitorId,
    period_ms: u32,
    entry_version: u32,
    regions: Regions,
    running: Regions,
}

const REGION_BITS: u32 = 6;
/// Number of outdated entries that is not worth a clean-up.
const OUTDATED_ENTRIES_MIN: usize = 1_024;

impl Schedule {
    /// Adds a monitor to the schedule and replaces its previous revision. Call [`Self::pop_due`]
    /// for `now` first: a due slot that was not popped is lost with the old revision.
    pub fn insert(
        &mut self,
        monitor: MonitorId,
        period: Duration,
        regions: Regions,
        now: Timestamp,
        first: FirstRun,
    ) -> Handle {
        self.remove(monitor);
        let period_ms = u32::try_from(period.as_millis()).unwrap_or(u32::MAX);
        let index = self.index_for(monitor);
        let scheduled = &mut self.monitors[index as usize];
        *scheduled = ScheduledMonitor {
            monitor,
            period_ms,
            regions,
            running: Regions::default(),
            ..*scheduled
        };
        for region in regions.iter() {
            let due = match first {
                FirstRun::AtOnce => now,
                FirstRun::Regular => scheduled.slots(region).after(now),
            };
            let key = (index << REGION_BITS) | region as u32;
            self.heap.push(Reverse(Entry { due, key, version: scheduled.entry_version }));
        }
        self.live += regions.len() as usize;
        Handle { index, entry_version: scheduled.entry_version }
    }

    /// Removes a monitor that was paused, deleted or handed to another process; returns whether it
    /// was scheduled. Its running checks may still finish.
    pub fn remove(&mut self, monitor: MonitorId) -> bool {
        let Some(index) = self.by_monitor.remove(&monitor) else {
            return false;
        };
        let scheduled = &mut self.monitors[index as usize];
        self.live -= scheduled.regions.len() as usize;
        scheduled.entry_version = scheduled.entry_version.wrapping_add(1);
        scheduled.regions = Regions::default();
        self.free.push(index);
        if self.heap.len() > 2 * self.live + OUTDATED_ENTRIES_MIN {
            let monitors = &self.monitors;
            self.heap.retain(|Reverse(entry)| entry.is_live(monitors));
        }
        true
    }

    /// Returns the time of the next due slot, or `None` if the schedule is empty.
    pub fn next_due(&mut self) -> Option<Timestamp> {
        while let Some(top) = self.heap.peek_mut() {
            if top.0.is_live(&self.monitors) {
                return Some(top.0.due);
            }
            PeekMut::pop(top);
        }
        None
    }

    /// Returns the earliest slot due at `now` that was not returned before, or `None` if there are
    /// no more. If several slots of a monitor and region have passed, returns the latest one to run
    /// and reports the earlier ones as missed.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<DueSlot> {
        while let Some(mut top) = self.heap.peek_mut() {
            let entry = top.0;
            if !entry.is_live(&self.monitors) {
                PeekMut::pop(top);
                continue;
            }
            if entry.due > now {
                return None;
            }
            let scheduled = &mut self.monitors[entry.index()];
            let due = scheduled.decide(entry, now);
            top.0.due = due.next_slot;
            return Some(due);
        }
        None
    }

    /// Returns the slots of a monitor that are due at `now` and not yet popped, by region. They are
    /// missed if the monitor is replaced or removed before they are popped. Scans the whole
    /// schedule unless nothing is due.
    pub fn overdue(&mut self, monitor: MonitorId, now: Timestamp) -> Vec<Missed> {
        let is_late = self.next_due().is_some_and(|due| due <= now);
        let Some(index) = self.by_monitor.get(&monitor).filter(|_| is_late) else {
            return Vec::new();
        };
        let scheduled = &self.monitors[*index as usize];
        let entries = self.heap.iter().map(|Reverse(entry)| *entry);
        let own = entries.filter(|entry| {
            entry.key >> REGION_BITS == *index && entry.due <= now && entry.is_live(&self.monitors)
        });
        let missed = |entry: Entry| {
            let slots = scheduled.slots(entry.region());
            Missed {
                monitor,
                region: entry.region(),
                first_slot: entry.due,
                last_slot: slots.at_or_before(now).max(entry.due),
                count: 1 + slots.count_between(entry.due, now),
                reason: MissedReason::Changed,
            }
        };
        own.map(missed).collect()
    }

    /// Moves due times earlier after the clock was set back to `now`. Without this, nothing would
    /// run until the clock has caught up. Repeated slots keep their identity, so their results are
    /// not stored twice.
    pub fn set_back(&mut self, now: Timestamp) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.retain(|Reverse(entry)| entry.is_live(&self.monitors));
        for Reverse(entry) in &mut entries {
            let slots = self.monitors[entry.index()].slots(entry.region());
            entry.due = entry.due.min(slots.after(now));
        }
        self.heap = entries.into();
    }

    /// Marks an extra check, such as a confirmation check, as running. Returns false if a check is
    /// already in flight, or if the monitor was edited or removed.
    pub fn start(&mut self, handle: Handle, region: Region) -> bool {
        self.current(handle).is_some_and(|scheduled| {
            scheduled.regions.contains(region) && scheduled.running.insert(region)
        })
    }

    /// Returns the confirmation checks to run in `regions` and marks them as running. Skips regions
    /// with a check in flight and stops when the budget is used up.
    pub fn confirm(
        &mut self,
        monitor: MonitorId,
        regions: &[Region],
        budget: &mut Budget,
        now: Timestamp,
    ) -> Vec<ConfirmationCheck> {
        let Some(handle) = self.handle(monitor) else { return Vec::new() };
        let mut asked = Vec::with_capacity(regions.len());
        for region in regions.iter().copied() {
            if !self.start(handle, region) {
                continue;
            }
            if !budget.take(now) {
                self.finish(handle, region);
                break;
            }
            let next_slot = self.monitors[handle.index as usize].slots(region).after(now);
            asked.push(ConfirmationCheck { handle, region, next_slot });
        }
        asked
    }

    /// Marks a check as ended, whatever its result, even if no probe took it. A handle of an old
    /// revision has no effect.
    pub fn finish(&mut self, handle: Handle, region: Region) {
        if let Some(scheduled) = self.current(handle) {
            scheduled.running.remove(region);
        }
    }

    /// Returns the current handle of a scheduled monitor.
    pub fn handle(&self, monitor: MonitorId) -> Option<Handle> {
        let index = *self.by_monitor.get(&monitor)?;
        Some(Handle { index, entry_version: self.monitors[index as usize].entry_version })
    }

    /// Returns the number of scheduled (monitor, region) pairs.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Returns whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn current(&mut self, handle: Handle) -> Option<&mut ScheduledMonitor> {
        self.monitors
            .get_mut(handle.index as usize)
            .filter(|scheduled| scheduled.entry_version == handle.entry_version)
    }

    fn index_for(&mut self, monitor: MonitorId) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            let (regions, running) = (Regions::default(), Regions::default());
            self.monitors.push(ScheduledMonitor {
                monitor,
                period_ms: 0,
                entry_version: 0,
                regions,
                running,
            });
            self.monitors.len() as u32 - 1
        });
        assert!(
            index < 1 << (u32::BITS - REGION_BITS),
            "a process holds at most 67 million monitors"
        );
        self.by_monitor.insert(monitor, index);
        index
    }
}

impl Entry {
    fn index(self) -> usize {
        (self.key >> REGION_BITS) as usize
    }

    fn region(self) -> Region {
        Region::ALL[(self.key & ((1 << REGION_BITS) - 1)) as usize]
    }

    fn is_live(self, monitors: &[ScheduledMonitor]) -> bool {
        monitors[self.index()].entry_version == self.version
    }
}

impl ScheduledMonitor {
    fn slots(&self, region: Region) -> Slots {
        let period = Duration::from_millis(u64::from(self.period_ms));
        Slots::new(self.monitor, period, self.regions, region)
    }

    /// Decides what to do with a due entry and computes its next slot.
    fn decide(&mut self, entry: Entry, now: Timestamp) -> DueSlot {
        let (monitor, region) = (self.monitor, entry.region());
        let slots = self.slots(region);
        // An extra slot (`FirstRun::AtOnce`) may be later than the last regular one.
        let slot = slots.at_or_before(now).max(entry.due);
        let missed = (slot > entry.due).then(|| Missed {
            monitor,
            region,
            first_slot: entry.due,
            last_slot: entry.due.max(slots.at_or_before(slot - Duration::from_millis(1))),
            // Counts the slots between the first and the one to run; the first counts instead of
            // the latter.
            count: slots.count_between(entry.due, slot),
            reason: MissedReason::Overloaded,
        });
        let action = if self.running.insert(region) { SlotAction::Run } else { SlotAction::Skip };
        let handle = Handle { index: entry.index() as u32, entry_version: self.entry_version };
        DueSlot { monitor, handle, region, slot, next_slot: slots.after(slot), action, missed }
    }
}

#[cfg(test)]
mod tests;
