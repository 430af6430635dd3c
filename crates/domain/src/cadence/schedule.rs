//! The timetable of many monitors: which slot of which region is due, which one is skipped because
//! the one before still runs, and which ones nobody ran. Pure state: `now` comes in as a value;
//! waiting, running and recording belong to the server's pipeline.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::time::Duration;

use rules::{ById, MonitorId, Region, Timestamp};

use super::{Budget, Missed, Regions, Slots};

/// Due slots of (monitor, region), the earliest first: 16 bytes for each of these, and about 50 for
/// a monitor. Removal is lazy, by generation: what an edit or a removal left behind is thrown away
/// when its time comes.
#[derive(Debug, Default)]
pub struct Schedule {
    heap: BinaryHeap<Reverse<Entry>>,
    places: Vec<Place>,
    free: Vec<u32>,
    by_monitor: ById<MonitorId, u32>,
    /// How many entries of the heap are not left behind.
    live: usize,
}

/// When a monitor that is put on the timetable runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// At once in each of its regions, in a slot of its own that is `now`: a new, resumed or
    /// edited monitor.
    AtOnce,
    /// In its first slot later than `now`: a monitor that the process found when it started.
    Regular,
}

/// A revision of a monitor on the timetable. After an edit it is a new one, so that what the old
/// revision left running holds up nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    index: u32,
    generation: u32,
}

/// A slot whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Which monitor.
    pub monitor: MonitorId,
    /// What [`Schedule::finished`] wants back.
    pub handle: Handle,
    /// Which region.
    pub region: Region,
    /// The slot.
    pub slot: Timestamp,
    /// The slot after it: no further attempt starts from then on.
    pub next_slot: Timestamp,
    /// What to do with the slot.
    pub call: Call,
    /// Slots before it that nobody ran, because nobody asked in time.
    pub missed: Option<Missed>,
}

/// A second opinion to run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What [`Schedule::finished`] wants back.
    pub handle: Handle,
    /// Which region.
    pub region: Region,
    /// When the region's next slot is due: no further attempt starts from then on.
    pub next_slot: Timestamp,
}

/// What to do with a due slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Run it; from here on it counts as running.
    Run,
    /// Record it as skipped: the one before still runs.
    Skip,
}

/// Ordered by its time, and by its place only to have an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    due: Timestamp,
    /// Index of the place in the high 27 bits, region in the low 5.
    key: u32,
    generation: u32,
}

#[derive(Debug)]
struct Place {
    monitor: MonitorId,
    period_ms: u32,
    generation: u32,
    regions: Regions,
    running: Regions,
}

const REGION_BITS: u32 = 5;
/// Left-behind entries that are not worth a clean-up.
const LITTLE: usize = 1_024;

impl Schedule {
    /// Puts a monitor on the timetable, in place of what was there of it. Take what is due at
    /// `now` first: a slot that was due and not taken is forgotten with the old revision.
    pub fn put(
        &mut self,
        monitor: MonitorId,
        period: Duration,
        regions: Regions,
        now: Timestamp,
        first: First,
    ) -> Handle {
        self.remove(monitor);
        let period_ms = u32::try_from(period.as_millis()).unwrap_or(u32::MAX);
        let index = self.place(monitor);
        let place = &mut self.places[index as usize];
        *place = Place { monitor, period_ms, regions, running: Regions::default(), ..*place };
        for region in regions.iter() {
            let due = match first {
                First::AtOnce => now,
                First::Regular => place.slots(region).after(now),
            };
            let key = (index << REGION_BITS) | region as u32;
            self.heap.push(Reverse(Entry { due, key, generation: place.generation }));
        }
        self.live += regions.len() as usize;
        Handle { index, generation: place.generation }
    }

    /// Takes a monitor off the timetable: paused, deleted, or another process's now. Says whether
    /// it was there. What runs of it may still finish.
    pub fn remove(&mut self, monitor: MonitorId) -> bool {
        let Some(index) = self.by_monitor.remove(&monitor) else {
            return false;
        };
        let place = &mut self.places[index as usize];
        self.live -= place.regions.len() as usize;
        place.generation = place.generation.wrapping_add(1);
        place.regions = Regions::default();
        self.free.push(index);
        if self.heap.len() > 2 * self.live + LITTLE {
            let places = &self.places;
            self.heap.retain(|Reverse(entry)| entry.is_live(places));
        }
        true
    }

    /// When [`Self::pop_due`] will have something to say; `None` while nothing is on the timetable.
    pub fn next_due(&mut self) -> Option<Timestamp> {
        while let Some(top) = self.heap.peek_mut() {
            if top.0.is_live(&self.places) {
                return Some(top.0.due);
            }
            PeekMut::pop(top);
        }
        None
    }

    /// The earliest slot that is due at `now` and was not said yet; `None` once all were. Where
    /// slots of the same monitor and region passed since it was due, the latest of them is the
    /// one to run, and those before it are missed.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<Due> {
        while let Some(mut top) = self.heap.peek_mut() {
            let entry = top.0;
            if !entry.is_live(&self.places) {
                PeekMut::pop(top);
                continue;
            }
            if entry.due > now {
                return None;
            }
            let place = &mut self.places[entry.index()];
            let due = place.call(entry, now);
            top.0.due = due.next_slot;
            return Some(due);
        }
        None
    }

    /// The slots of a monitor that are due at `now` and were not said yet, by region: missed, if it is
    /// put anew or removed before they are. There are none while [`Self::pop_due`] has nothing to say;
    /// else all of the timetable is looked through.
    pub fn overdue(&mut self, monitor: MonitorId, now: Timestamp) -> Vec<Missed> {
        let is_late = self.next_due().is_some_and(|due| due <= now);
        let Some(index) = self.by_monitor.get(&monitor).filter(|_| is_late) else {
            return Vec::new();
        };
        let place = &self.places[*index as usize];
        let entries = self.heap.iter().map(|Reverse(entry)| *entry);
        let own = entries.filter(|entry| {
            entry.key >> REGION_BITS == *index && entry.due <= now && entry.is_live(&self.places)
        });
        let missed = |entry: Entry| {
            let slots = place.slots(entry.region());
            Missed {
                monitor,
                region: entry.region(),
                first_slot: entry.due,
                last_slot: slots.at_or_before(now).max(entry.due),
                count: 1 + slots.count_between(entry.due, now),
            }
        };
        own.map(missed).collect()
    }

    /// The clock was set back to `now`: what is due later than it would be by that clock is due
    /// then. Without this nothing would run until the clock has caught up. Slots that come again
    /// have the identities they had, so what they come to is not stored twice.
    pub fn set_back(&mut self, now: Timestamp) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.retain(|Reverse(entry)| entry.is_live(&self.places));
        for Reverse(entry) in &mut entries {
            let slots = self.places[entry.index()].slots(entry.region());
            entry.due = entry.due.min(slots.after(now));
        }
        self.heap = entries.into();
    }

    /// Counts a check beside the slots, a second opinion, as running; says whether it may run:
    /// not where a check is in flight, nor once the monitor was edited or removed.
    pub fn start(&mut self, handle: Handle, region: Region) -> bool {
        self.current(handle)
            .is_some_and(|place| place.regions.contains(region) && place.running.insert(region))
    }

    /// The second opinions to run of those asked for: none where a check is in flight, and as many
    /// as the budget has. From here on they count as running.
    pub fn ask(
        &mut self,
        monitor: MonitorId,
        regions: &[Region],
        budget: &mut Budget,
        now: Timestamp,
    ) -> Vec<Asked> {
        let Some(handle) = self.handle(monitor) else { return Vec::new() };
        let mut asked = Vec::with_capacity(regions.len());
        for region in regions.iter().copied() {
            if !self.start(handle, region) {
                continue;
            }
            if !budget.take(now) {
                self.finished(handle, region);
                break;
            }
            let next_slot = self.places[handle.index as usize].slots(region).after(now);
            asked.push(Asked { handle, region, next_slot });
        }
        asked
    }

    /// A check has ended, whatever it came to, or could not be handed to a probe. What an edit
    /// left running changes nothing.
    pub fn finished(&mut self, handle: Handle, region: Region) {
        if let Some(place) = self.current(handle) {
            place.running.remove(region);
        }
    }

    /// The handle of a monitor on the timetable.
    pub fn handle(&self, monitor: MonitorId) -> Option<Handle> {
        let index = *self.by_monitor.get(&monitor)?;
        Some(Handle { index, generation: self.places[index as usize].generation })
    }

    /// How many (monitor, region) are on the timetable.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether nothing is on the timetable.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    fn current(&mut self, handle: Handle) -> Option<&mut Place> {
        self.places
            .get_mut(handle.index as usize)
            .filter(|place| place.generation == handle.generation)
    }

    fn place(&mut self, monitor: MonitorId) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            let (regions, running) = (Regions::default(), Regions::default());
            self.places.push(Place { monitor, period_ms: 0, generation: 0, regions, running });
            self.places.len() as u32 - 1
        });
        assert!(
            index < 1 << (u32::BITS - REGION_BITS),
            "a process holds at most 134 million monitors"
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

    fn is_live(self, places: &[Place]) -> bool {
        places[self.index()].generation == self.generation
    }
}

impl Place {
    fn slots(&self, region: Region) -> Slots {
        let period = Duration::from_millis(u64::from(self.period_ms));
        Slots::of(self.monitor, period, self.regions, region)
    }

    /// What to say of an entry whose time has come.
    fn call(&mut self, entry: Entry, now: Timestamp) -> Due {
        let (monitor, region) = (self.monitor, entry.region());
        let slots = self.slots(region);
        // A slot of its own (`First::AtOnce`) may be later than the last regular one.
        let slot = slots.at_or_before(now).max(entry.due);
        let missed = (slot > entry.due).then(|| Missed {
            monitor,
            region,
            first_slot: entry.due,
            last_slot: entry.due.max(slots.at_or_before(slot - Duration::from_millis(1))),
            // Between the first and the slot to run, the first in the place of the latter.
            count: slots.count_between(entry.due, slot),
        });
        let call = if self.running.insert(region) { Call::Run } else { Call::Skip };
        let handle = Handle { index: entry.index() as u32, generation: self.generation };
        Due { monitor, handle, region, slot, next_slot: slots.after(slot), call, missed }
    }
}

#[cfg(test)]
mod tests;
