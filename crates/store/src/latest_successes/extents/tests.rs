//! The file of extents, even if its process is killed or its disk is full.

use std::cell::{Cell, RefCell};
use std::fs;
use std::rc::Rc;

use proptest::prelude::*;

use super::head::{LARGEST, SMALLEST};
use super::*;

const AMS: Region = Region::FlyAms;

fn key_of(monitor: u64) -> (MonitorId, Region) {
    (MonitorId::from_bits(monitor), AMS)
}

fn at(slot: i64) -> Stored {
    let slot = Timestamp::from_millis(slot);
    Stored { slot, trigger: Trigger::Scheduled, revision: 1, saved: slot }
}

fn data(extents: &Extents, monitor: u64) -> Option<Vec<u8>> {
    extents.read(key_of(monitor).0, AMS).unwrap()
}

#[test]
fn written_data_reads_back_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("successes");
    let mut extents = Extents::open(&path).unwrap();
    for (monitor, slot, length) in [(1, 1, 100), (2, 1, 5_000), (1, 2, 120), (3, 1, 1)] {
        extents.write(key_of(monitor), at(slot), &vec![monitor as u8; length]).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(data(&extents, 1), Some(vec![1; 120]));
        assert_eq!(data(&extents, 2), Some(vec![2; 5_000]));
        assert_eq!(data(&extents, 3), Some(vec![3; 1]));
        assert_eq!(data(&extents, 4), None);
        assert_eq!(extents.get(key_of(1).0, AMS), Some(&at(2)));
        extents = Extents::open(&path).unwrap();
    }
}

#[test]
fn file_does_not_grow_with_rewrites() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("successes");
    let mut extents = Extents::open(&path).unwrap();
    for slot in 0..500 {
        for monitor in 0..4 {
            // Sizes go up and down, so that data moves.
            let length = 100 * (1 + (slot + monitor) % 40);
            extents.write(key_of(monitor as u64), at(slot), &vec![7; length as usize]).unwrap();
        }
    }
    let length = fs::metadata(&path).unwrap().len();
    assert!(length <= (4 + 1) * (1024 + 2048 + 4096), "{length} bytes");
}

#[test]
fn erased_data_leaves_no_trace_and_its_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("successes");
    let mut extents = Extents::open(&path).unwrap();
    // The data before is longer, and in the same extent or in another one.
    for length in [100, 2, 20, 1] {
        extents.write(key_of(1), at(1), &b"first ".repeat(length)).unwrap();
    }
    extents.write(key_of(2), at(5), b"of the second monitor").unwrap();
    let length = fs::metadata(&path).unwrap().len();
    let all = extents.monitors_after(None, 10);
    let erased = extents.retain(&all, |_, slot| slot.as_millis() > 4).unwrap();
    assert_eq!(erased, Erased { count: 1, is_there_more: false });
    assert_eq!((data(&extents, 1), data(&extents, 2).is_some()), (None, true));
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(5).any(|window| window == b"first"));
    extents.write(key_of(3), at(6), b"of the third monitor").unwrap();
    assert!(fs::metadata(&path).unwrap().len() <= length);
}

#[test]
fn damaged_file_is_cut_at_the_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("successes");
    let mut extents = Extents::open(&path).unwrap();
    for monitor in 1..=3 {
        extents.write(key_of(monitor), at(1), b"data").unwrap();
    }
    drop(extents);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; HEAD_BYTES], u64::from(SMALLEST)).unwrap();
    let mut extents = Extents::open(&path).unwrap();
    assert_eq!((data(&extents, 1).is_some(), data(&extents, 2)), (true, None));
    extents.write(key_of(2), at(2), b"again").unwrap();
    assert_eq!(data(&Extents::open(&path).unwrap(), 2), Some(b"again".to_vec()));
    for length in 0..3 * HEAD_BYTES {
        fs::write(&path, vec![0x41; length]).unwrap();
        assert!(data(&Extents::open(&path).unwrap(), 1).is_none());
    }
}

#[test]
fn data_larger_than_any_extent_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut extents = Extents::open(&folder.path().join("successes")).unwrap();
    let refused = extents.write(key_of(1), at(1), &vec![0; LARGEST as usize]);
    assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn erasing_is_limited_per_call_and_truncates_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("successes");
    let mut extents = Extents::open(&path).unwrap();
    let count = ERASED_AT_ONCE as u64 + 10;
    for monitor in 0..count {
        extents.write(key_of(monitor), at(1), b"data").unwrap();
    }
    let all = extents.monitors_after(None, usize::MAX);
    assert_eq!(all.len() as u64, count);
    let wanted = |monitor: MonitorId, _| monitor.bits() == 3;
    // A monitor that is not among them, because it is new, loses nothing.
    extents.write(key_of(count), at(1), b"new").unwrap();
    let first = extents.retain(&all, wanted).unwrap();
    assert_eq!(first, Erased { count: ERASED_AT_ONCE as u64, is_there_more: true });
    let rest = extents.retain(&all, wanted).unwrap();
    assert_eq!(
        (rest.count, extents.monitors_after(None, 9)),
        (9, vec![key_of(3).0, key_of(count).0])
    );
    extents.erase(key_of(count)).unwrap();
    while extents.retain(&all, wanted).unwrap().is_there_more {}
    assert_eq!(fs::metadata(&path).unwrap().len(), 4 * u64::from(SMALLEST));
    assert_eq!(data(&Extents::open(&path).unwrap(), 3), Some(b"data".to_vec()));
}

#[test]
fn monitors_come_in_order_from_a_place() {
    let mut extents = Extents::of_file(Tape::default(), 0).unwrap();
    for monitor in [7, 2, u64::MAX, 5] {
        extents.write(key_of(monitor), at(1), b"data").unwrap();
    }
    let after = |after: Option<u64>, limit| {
        let monitors = extents.monitors_after(after.map(MonitorId::from_bits), limit);
        monitors.iter().map(|monitor| monitor.bits()).collect::<Vec<_>>()
    };
    assert_eq!(after(None, 3), [2, 5, 7]);
    assert_eq!(after(Some(5), 3), [7, u64::MAX]);
    assert_eq!(after(Some(u64::MAX), 3), [0; 0]);
}

/// A change of a file.
#[derive(Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Length(u64),
}

/// A file in memory that remembers its changes. Some of them fail half way.
#[derive(Clone, Default)]
struct Tape {
    content: Rc<RefCell<Vec<u8>>>,
    changes: Rc<RefCell<Vec<Change>>>,
    /// The changes with these numbers fail.
    fails: Rc<Cell<std::ops::Range<usize>>>,
}

impl Tape {
    fn apply(&self, change: &Change) {
        let mut content = self.content.borrow_mut();
        match change {
            Change::Length(length) => content.resize(*length as usize, 0),
            Change::Write(offset, bytes) => {
                let begin = *offset as usize;
                let length = content.len().max(begin + bytes.len());
                content.resize(length, 0);
                content[begin..begin + bytes.len()].copy_from_slice(bytes);
            }
        }
    }

    fn change(&self, change: Change) -> io::Result<()> {
        let fails = self.fails.take();
        let is_bad = fails.contains(&self.changes.borrow().len());
        self.fails.set(fails);
        let done = if is_bad { half(&change) } else { Some(change) };
        // A change without effect counts too.
        let done = done.unwrap_or(Change::Write(0, Vec::new()));
        self.apply(&done);
        self.changes.borrow_mut().push(done);
        if is_bad { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn reopened(&self) -> Extents<Self> {
        let content = Rc::new(RefCell::new(self.content.borrow().clone()));
        let length = content.borrow().len() as u64;
        Extents::of_file(Self { content, ..Self::default() }, length).unwrap()
    }
}

impl FileAccess for Tape {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.content.borrow();
        let found = content.get(offset as usize..offset as usize + bytes.len());
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.change(Change::Write(offset, bytes.to_vec()))
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.change(Change::Length(length))
    }
}

/// Returns the part of a change after which a process can be killed: heads are written whole.
fn half(change: &Change) -> Option<Change> {
    match change {
        Change::Write(offset, bytes) if bytes.len() > HEAD_BYTES => {
            Some(Change::Write(*offset, bytes[..bytes.len() / 2].to_vec()))
        }
        Change::Write(..) | Change::Length(_) => None,
    }
}

/// A step of a test: data of this length for a monitor, or its removal.
type Step = (u64, Option<usize>);

const MONITORS: u64 = 4;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let length = prop_oneof![4 => (1_usize..4_000).prop_map(Some), 1 => Just(None)];
    prop::collection::vec((0..MONITORS, length), 1..25)
}

/// Takes a step, the number of which is in its data.
fn take(extents: &mut Extents<Tape>, number: usize, (monitor, length): Step) -> io::Result<()> {
    let Some(length) = length else {
        return extents.retain(&[key_of(monitor).0], |_, _| false).map(|_| ());
    };
    // The clock of some steps is set back.
    let slot = (number as i64 * 7) % 5;
    extents.write(key_of(monitor), at(slot), &vec![number as u8 + 1; length])
}

fn content(extents: &Extents<Tape>) -> Vec<Option<Vec<u8>>> {
    (0..MONITORS).map(|monitor| extents.read(key_of(monitor).0, AMS).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn killed_process_leaves_data_before_or_after(steps in steps()) {
        let tape = Tape::default();
        let mut extents = Extents::of_file(tape.clone(), 0).unwrap();
        // The content before and after each change.
        let mut expected = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let (before, begin) = (content(&extents), tape.changes.borrow().len());
            take(&mut extents, number, *step).unwrap();
            let after = content(&extents);
            for _ in begin..tape.changes.borrow().len() {
                expected.push((before.clone(), after.clone(), *step));
            }
        }
        let replayed = Tape::default();
        for (change, (before, after, (monitor, length))) in tape.changes.borrow().iter().zip(expected) {
            for part in half(change).iter().chain([change]) {
                replayed.apply(part);
                let mut found = content(&replayed.reopened());
                let own = monitor as usize;
                // Data that is half erased fails to decrypt.
                if length.is_none() && found[own].as_ref().is_some_and(|data| data[0] == 0) {
                    found[own] = None;
                }
                prop_assert!(found == before || found == after);
            }
        }
    }

    #[test]
    fn full_disk_loses_no_other_data(steps in steps(), first in 0_usize..60, count in 1_usize..6) {
        let tape = Tape::default();
        tape.fails.set(first..first + count);
        let mut extents = Extents::of_file(tape.clone(), 0).unwrap();
        for (number, step) in steps.iter().enumerate() {
            let before = content(&extents);
            let done = take(&mut extents, number, *step);
            let after = content(&extents);
            let own = step.0 as usize;
            for monitor in (0..MONITORS as usize).filter(|monitor| *monitor != own) {
                prop_assert_eq!(&after[monitor], &before[monitor]);
            }
            let written = step.1.map(|length| vec![number as u8 + 1; length]);
            prop_assert!(after[own] == written || done.is_err() && after[own] == before[own]);
        }
        // Writes that work again finish what was left undone.
        tape.fails.set(0..0);
        extents.write(key_of(0), at(1), b"last").unwrap();
        prop_assert_eq!(content(&tape.reopened()), content(&extents));
        prop_assert!(extents.stale.is_empty());
        let (used, free) = (extents.known.values().map(|it| u64::from(it.size)).sum::<u64>(), &extents.free);
        let free: u64 = free.iter().map(|(size, offsets)| u64::from(*size) * offsets.len() as u64).sum();
        prop_assert_eq!((used + free, tape.content.borrow().len() as u64), (extents.end, extents.end));
        let traces = tape.content.borrow().iter().filter(|byte| **byte != 0).count();
        let bytes: usize = content(&extents).iter().flatten().map(Vec::len).sum();
        let heads = extents.known.len() + extents.free.values().map(BTreeSet::len).sum::<usize>();
        prop_assert!(traces <= bytes + heads * HEAD_BYTES, "{traces} of {bytes} bytes");
    }
}
