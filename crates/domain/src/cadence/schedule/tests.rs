//! The schedule under random sequences of time steps, finished checks and edits, and its memory
//! use.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PERIOD: Duration = Duration::from_secs(30);

/// An event in the life of a schedule with one monitor.
#[derive(Clone, Debug)]
enum Happening {
    /// This many milliseconds pass, and all due slots are popped.
    Pass(u64),
    /// The check in the region of this rank ends.
    End(u32),
    /// The monitor is edited to run in this many regions.
    Edit(usize),
    /// The same, but the slots due in these milliseconds are not popped before the edit.
    EditLate(u64, usize),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let happening = prop_oneof![
        5 => (0_u64..40_000).prop_map(Happening::Pass),
        1 => (0_u64..300_000).prop_map(Happening::Pass),
        4 => (0_u32..5).prop_map(Happening::End),
        1 => (1_usize..5).prop_map(Happening::Edit),
        1 => (0_u64..100_000, 1_usize..5).prop_map(|(late, regions)| Happening::EditLate(late, regions)),
    ];
    prop::collection::vec(happening, 1..60)
}

/// Outcome of a slot of a revision in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotOutcome {
    Run,
    Skipped,
    Missed,
}

/// A schedule of one monitor, with the outcomes of all its slots so far.
struct Book {
    schedule: Schedule,
    monitor: MonitorId,
    regions: Regions,
    handle: Handle,
    now: Timestamp,
    revision: u32,
    running: BTreeSet<Region>,
    outcomes: BTreeMap<(u32, Region, Timestamp), SlotOutcome>,
    expected: BTreeSet<(u32, Region, Timestamp)>,
}

impl Book {
    fn open(monitor: u64, regions: usize) -> Self {
        let monitor = MonitorId::from_bits(monitor);
        let mut schedule = Schedule::default();
        let regions = first_regions(regions);
        let handle = schedule.insert(monitor, PERIOD, regions, START, FirstRun::AtOnce);
        let expected = regions.iter().map(|region| (0, region, START)).collect();
        let (running, outcomes) = (BTreeSet::new(), BTreeMap::new());
        Self {
            schedule,
            monitor,
            regions,
            handle,
            now: START,
            revision: 0,
            running,
            outcomes,
            expected,
        }
    }

    fn happen(&mut self, happening: &Happening) {
        match happening {
            Happening::Pass(millis) => self.pass(Duration::from_millis(*millis)),
            Happening::End(rank) => {
                let region = Region::ALL[*rank as usize];
                self.schedule.finish(self.handle, region);
                self.running.remove(&region);
            }
            Happening::Edit(regions) => {
                self.pass(Duration::ZERO);
                self.edit(*regions);
            }
            Happening::EditLate(millis, regions) => {
                self.expect(Duration::from_millis(*millis));
                for missed in self.schedule.overdue(self.monitor, self.now) {
                    let slots = Slots::new(self.monitor, PERIOD, self.regions, missed.region);
                    self.miss(slots, missed);
                }
                self.edit(*regions);
            }
        }
    }

    fn edit(&mut self, regions: usize) {
        self.regions = first_regions(regions);
        self.revision += 1;
        let put = (self.monitor, PERIOD, self.regions, self.now, FirstRun::AtOnce);
        self.handle = self.schedule.insert(put.0, put.1, put.2, put.3, put.4);
        self.running.clear();
        let now = self.regions.iter().map(|region| (self.revision, region, self.now));
        self.expected.extend(now);
        self.pass(Duration::ZERO);
    }

    /// Advances the time and records the slots that become due.
    fn expect(&mut self, time: Duration) {
        let later = self.now + time;
        for region in self.regions.iter() {
            let slots = Slots::new(self.monitor, PERIOD, self.regions, region);
            let mut slot = slots.after(self.now);
            while slot <= later {
                self.expected.insert((self.revision, region, slot));
                slot = slots.after(slot);
            }
        }
        self.now = later;
    }

    fn pass(&mut self, time: Duration) {
        self.expect(time);
        while let Some(due) = self.schedule.pop_due(self.now) {
            self.record(due);
        }
        assert!(self.schedule.next_due().is_none_or(|next| next > self.now));
        assert_eq!(self.schedule.overdue(self.monitor, self.now), []);
    }

    fn record(&mut self, due: DueSlot) {
        let slots = Slots::new(self.monitor, PERIOD, self.regions, due.region);
        assert_eq!(due.next_slot, slots.after(due.slot));
        assert!(due.next_slot > self.now, "the slot to run is the latest");
        if let Some(missed) = due.missed {
            self.miss(slots, missed);
        }
        let outcome = match due.action {
            SlotAction::Run => SlotOutcome::Run,
            SlotAction::Skip => SlotOutcome::Skipped,
        };
        assert_eq!(outcome == SlotOutcome::Run, self.running.insert(due.region));
        self.decide(due.region, due.slot, outcome);
    }

    fn miss(&mut self, slots: Slots, missed: Missed) {
        let mut slot = missed.first_slot;
        let mut count = 0;
        while slot <= missed.last_slot {
            self.decide(missed.region, slot, SlotOutcome::Missed);
            count += 1;
            slot = slots.after(slot);
        }
        assert_eq!(missed.count, count);
    }

    fn decide(&mut self, region: Region, slot: Timestamp, outcome: SlotOutcome) {
        let before = self.outcomes.insert((self.revision, region, slot), outcome);
        assert_eq!(before, None, "slot {slot} of `{region}` was decided twice");
    }
}

fn first_regions(count: usize) -> Regions {
    Region::ALL.iter().copied().take(count).collect()
}

fn put(schedule: &mut Schedule, bits: u64, regions: usize, now: Timestamp) -> Handle {
    let monitor = MonitorId::from_bits(bits);
    schedule.insert(monitor, PERIOD, first_regions(regions), now, FirstRun::AtOnce)
}

proptest! {
    // design: §5 "A slot whose predecessor still runs is recorded as skipped, a slot nobody ran as
    // missed: never silently lost."
    #[test]
    fn every_slot_has_exactly_one_outcome(
        monitor: u64, regions in 1_usize..5, happenings in happenings(),
    ) {
        let mut book = Book::open(monitor, regions);
        book.pass(Duration::ZERO);
        for happening in &happenings {
            book.happen(happening);
        }
        let decided: BTreeSet<_> = book.outcomes.keys().copied().collect();
        prop_assert_eq!(decided, book.expected);
    }

    #[test]
    fn due_slots_pop_in_time_order(
        monitors in prop::collection::btree_set(any::<u64>(), 1..40), late_ms in 0_u64..60_000,
    ) {
        let mut schedule = Schedule::default();
        for bits in &monitors {
            let monitor = MonitorId::from_bits(*bits);
            schedule.insert(monitor, PERIOD, first_regions(3), START, FirstRun::Regular);
        }
        let now = START + Duration::from_millis(late_ms);
        let mut last = START;
        while let Some(due) = schedule.pop_due(now) {
            let was_due = due.missed.map_or(due.slot, |missed| missed.first_slot);
            prop_assert!(last <= was_due);
            last = was_due;
        }
    }
}

// design: §5 "A new, resumed or edited monitor is checked at once in each of its regions."
#[test]
fn new_monitor_runs_at_once_then_regularly() {
    let mut schedule = Schedule::default();
    let handle = put(&mut schedule, 7, 3, START);
    let at_once: Vec<DueSlot> = std::iter::from_fn(|| schedule.pop_due(START)).collect();
    assert_eq!(at_once.len(), 3);
    assert!(at_once.iter().all(|due| due.slot == START && due.action == SlotAction::Run));
    for due in &at_once {
        schedule.finish(handle, due.region);
    }
    let later: Vec<DueSlot> = std::iter::from_fn(|| schedule.pop_due(START + PERIOD)).collect();
    assert_eq!(later.len(), 3, "each once in the period that follows");
    assert!(later.iter().all(|due| due.action == SlotAction::Run && due.missed.is_none()));
}

// A starting process finds all its monitors: running them at once would create a load peak.
#[test]
fn monitor_loaded_at_startup_waits_for_its_slot() {
    let mut schedule = Schedule::default();
    let monitor = MonitorId::from_bits(7);
    schedule.insert(monitor, PERIOD, first_regions(1), START, FirstRun::Regular);
    let slots = Slots::new(monitor, PERIOD, first_regions(1), Region::ALL[0]);
    assert_eq!(schedule.next_due(), Some(slots.after(START)));
    assert_eq!(schedule.pop_due(START), None);
}

#[test]
fn stall_runs_once_and_reports_missed_slots() {
    let mut schedule = Schedule::default();
    let handle = put(&mut schedule, 7, 1, START);
    let first = schedule.pop_due(START).unwrap();
    schedule.finish(handle, first.region);
    let due = schedule.pop_due(first.next_slot + 10 * PERIOD).unwrap();
    assert_eq!(due.action, SlotAction::Run);
    assert_eq!(due.slot, first.next_slot + 10 * PERIOD);
    let missed = due.missed.unwrap();
    assert_eq!((missed.first_slot, missed.count), (first.next_slot, 10));
    assert_eq!(missed.last_slot, first.next_slot + 9 * PERIOD);
    assert_eq!(schedule.pop_due(due.slot), None, "no burst");
}

#[test]
fn old_revision_neither_blocks_nor_ends_checks() {
    let mut schedule = Schedule::default();
    let old = put(&mut schedule, 7, 1, START);
    let running = schedule.pop_due(START).unwrap();
    let later = START + Duration::from_millis(1);
    let new = put(&mut schedule, 7, 1, later);
    assert_eq!(schedule.pop_due(later).map(|due| due.action), Some(SlotAction::Run));
    schedule.finish(old, running.region);
    assert!(!schedule.start(new, running.region), "the new revision's check still runs");
    assert!(!schedule.start(old, running.region), "the old revision starts no check");
    schedule.finish(new, running.region);
    assert!(schedule.start(new, running.region));
}

// design: §5 "Second opinion … none where a check is in flight"
#[test]
fn confirmation_skips_busy_and_unmonitored_regions() {
    let mut schedule = Schedule::default();
    let handle = put(&mut schedule, 7, 1, START);
    assert!(schedule.start(handle, Region::ALL[0]));
    assert!(!schedule.start(handle, Region::ALL[0]));
    assert!(!schedule.start(handle, Region::ALL[1]));
    assert_eq!(schedule.pop_due(START).map(|due| due.action), Some(SlotAction::Skip));
}

#[test]
fn removed_monitor_is_never_due_and_frees_index() {
    let mut schedule = Schedule::default();
    let old = put(&mut schedule, 7, 3, START);
    assert!(schedule.remove(MonitorId::from_bits(7)));
    assert!(!schedule.remove(MonitorId::from_bits(7)));
    assert_eq!((schedule.next_due(), schedule.len()), (None, 0));
    let new = put(&mut schedule, 8, 1, START);
    assert_eq!((old.index, schedule.handle(MonitorId::from_bits(8))), (new.index, Some(new)));
    assert_eq!(schedule.pop_due(START).map(|due| due.monitor), Some(MonitorId::from_bits(8)));
    assert_eq!(schedule.pop_due(START), None);
}

#[test]
fn outdated_entries_stay_bounded_after_edits() {
    let mut schedule = Schedule::default();
    for edit in 0..10_000 {
        put(&mut schedule, edit % 10, 28, START);
    }
    assert_eq!(schedule.len(), 280);
    assert!(schedule.heap.len() <= 2 * 280 + OUTDATED_ENTRIES_MIN + 28, "{}", schedule.heap.len());
    assert_eq!(size_of::<Reverse<Entry>>(), 16);
    assert_eq!(size_of::<ScheduledMonitor>(), 32);
}

#[test]
fn clock_set_back_does_not_stop_checks() {
    let mut schedule = Schedule::default();
    let handle = put(&mut schedule, 7, 3, START);
    while let Some(due) = schedule.pop_due(START) {
        schedule.finish(handle, due.region);
    }
    let hour = Duration::from_hours(1);
    let back = START - hour;
    schedule.set_back(back);
    let due: Vec<DueSlot> = std::iter::from_fn(|| schedule.pop_due(back + PERIOD)).collect();
    assert_eq!(due.len(), 3, "each region once in the period that follows");
    assert!(due.iter().all(|due| due.action == SlotAction::Run && due.missed.is_none()));
}

#[test]
fn set_back_to_a_later_time_changes_nothing() {
    let mut schedule = Schedule::default();
    put(&mut schedule, 7, 3, START);
    put(&mut schedule, 8, 2, START);
    schedule.remove(MonitorId::from_bits(8));
    let later = START + Duration::from_millis(1);
    schedule.set_back(later);
    let due: Vec<Timestamp> =
        std::iter::from_fn(|| schedule.pop_due(later)).map(|due| due.slot).collect();
    assert_eq!(due, [START; 3], "due slots stay due, removed ones stay removed");
}
