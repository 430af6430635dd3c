//! A file with one piece of data for each monitor and region, which is overwritten in place. The data is in
//! extents whose sizes are powers of two; one that grows out of its extent moves, and leaves the extent to others,
//! so monitors × regions bound the file. `latest` defines the data.
//!
//! The file is never synced. Each extent begins with a head that says what is in it. If the machine loses power,
//! heads may be missing: the file is cut there. Data that is torn fails to decrypt.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use domain::check::{ResultKey, Trigger};
use rules::{MonitorId, Region, Timestamp};

use crate::codes;

/// First bytes of a head.
const MAGIC: u32 = 0x31_53_4C_41;
const HEAD_BYTES: usize = 40;
/// The smallest extent, and the largest: details of the worst check stay below 1 MiB.
const SMALLEST: u32 = 1024;
const LARGEST: u32 = 2 * 1024 * 1024;

/// A file of extents.
pub(super) struct Extents {
    file: File,
    /// Bytes of the file that extents take.
    end: u64,
    known: HashMap<(MonitorId, Region), Extent>,
    /// Offsets of extents that are free, by their size.
    free: HashMap<u32, Vec<u64>>,
}

/// Where a piece of data is.
struct Extent {
    offset: u64,
    size: u32,
    /// Bytes of the data.
    length: u32,
    stored: Stored,
}

/// The check that a piece of data is of, without monitor and region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) slot: Timestamp,
    pub(super) trigger: Trigger,
    pub(super) revision: u32,
    /// The slot of the latest one that the database has too; not stored, taken to be this one after a start.
    pub(super) saved: Timestamp,
}

/// The first bytes of an extent.
struct Head {
    size: u32,
    /// 0 in an extent that is free.
    length: u32,
    monitor: u64,
    region: u8,
    trigger: u8,
    revision: u32,
    slot: i64,
}

impl Stored {
    pub(super) const fn identity(&self, monitor: MonitorId, region: Region) -> ResultKey {
        let Self { slot, trigger, revision, saved: _ } = *self;
        ResultKey { monitor, revision, region, slot, trigger }
    }
}

impl Extents {
    /// Opens the file, or creates it, readable by its owner only.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        let length = file.metadata()?.len();
        let mut extents = Self { file, end: 0, known: HashMap::new(), free: HashMap::new() };
        while let Some(head) = extents.head_at(extents.end, length)? {
            extents.add_extent(&head)?;
            extents.end += u64::from(head.size);
        }
        if extents.end < length {
            extents.file.set_len(extents.end)?;
        }
        Ok(extents)
    }

    /// Returns what is stored of a monitor in a region.
    pub(super) fn get(&self, monitor: MonitorId, region: Region) -> Option<&Stored> {
        self.known.get(&(monitor, region)).map(|extent| &extent.stored)
    }

    /// Returns all checks of a monitor that data is stored of.
    pub(super) fn by_monitor(&self, monitor: MonitorId) -> Vec<ResultKey> {
        let each = Region::ALL.iter().filter_map(|region| {
            self.get(monitor, *region).map(|stored| stored.identity(monitor, *region))
        });
        each.collect()
    }

    /// Reads the data of a monitor in a region.
    pub(super) fn read(&self, monitor: MonitorId, region: Region) -> io::Result<Option<Vec<u8>>> {
        let Some(extent) = self.known.get(&(monitor, region)) else { return Ok(None) };
        let mut data = vec![0; extent.length as usize];
        self.file.read_exact_at(&mut data, extent.offset + HEAD_BYTES as u64)?;
        Ok(Some(data))
    }

    /// Writes data in the place of the data before.
    pub(super) fn write(
        &mut self,
        of: (MonitorId, Region),
        stored: Stored,
        data: &[u8],
    ) -> io::Result<()> {
        let Some((size, length)) = size_for(data.len()) else {
            let why = format!("{} bytes are more than an extent may have", data.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        };
        let offset = match self.known.get(&of) {
            Some(extent) if extent.size == size => extent.offset,
            Some(_) | None => {
                self.erase(of)?;
                self.allocate(size)?
            }
        };
        let head = Head {
            size,
            length,
            monitor: of.0.bits(),
            region: codes::region_code(of.1) as u8,
            trigger: codes::trigger_code(stored.trigger) as u8,
            revision: stored.revision,
            slot: stored.slot.as_millis(),
        };
        let mut bytes = Vec::with_capacity(HEAD_BYTES + data.len());
        bytes.extend_from_slice(&head.bytes());
        bytes.extend_from_slice(data);
        // Known before it is written: if that fails, the extent is not lost, and what it has fails to decrypt.
        self.known.insert(of, Extent { offset, size, length, stored });
        self.file.write_all_at(&bytes, offset)
    }

    /// Erases what `is_wanted` returns false for; returns the number of pieces.
    pub(super) fn retain(
        &mut self,
        is_wanted: impl Fn(MonitorId, Timestamp) -> bool,
    ) -> io::Result<u64> {
        let of = |(of, extent): (&(MonitorId, Region), &Extent)| {
            (!is_wanted(of.0, extent.stored.slot)).then_some(*of)
        };
        let unwanted: Vec<_> = self.known.iter().filter_map(of).collect();
        for of in &unwanted {
            self.erase(*of)?;
        }
        Ok(unwanted.len() as u64)
    }

    /// Overwrites a piece of data with zeros, and frees its extent.
    fn erase(&mut self, key: (MonitorId, Region)) -> io::Result<()> {
        let Some(extent) = self.known.remove(&key) else { return Ok(()) };
        self.free.entry(extent.size).or_default().push(extent.offset);
        let mut bytes = vec![0; HEAD_BYTES + extent.length as usize];
        bytes[..HEAD_BYTES].copy_from_slice(&Head::free(extent.size).bytes());
        self.file.write_all_at(&bytes, extent.offset)
    }

    /// Returns the offset of a free extent.
    fn allocate(&mut self, size: u32) -> io::Result<u64> {
        if let Some(offset) = self.free.get_mut(&size).and_then(Vec::pop) {
            return Ok(offset);
        }
        let offset = self.end;
        self.file.set_len(offset + u64::from(size))?;
        self.end += u64::from(size);
        Ok(offset)
    }

    /// Reads the head of the extent at an offset; `None` at the end of what can be used.
    fn head_at(&self, offset: u64, file_length: u64) -> io::Result<Option<Head>> {
        if offset + HEAD_BYTES as u64 > file_length {
            return Ok(None);
        }
        let mut bytes = [0; HEAD_BYTES];
        self.file.read_exact_at(&mut bytes, offset)?;
        let fits = |head: &Head| offset + u64::from(head.size) <= file_length;
        Ok(Head::read(&bytes).filter(fits))
    }

    /// Remembers the extent at the end of what is known.
    fn add_extent(&mut self, head: &Head) -> io::Result<()> {
        let offset = self.end;
        let region = codes::region(i64::from(head.region));
        let trigger = codes::trigger(i64::from(head.trigger));
        let (1.., Ok(region), Ok(trigger)) = (head.length, region, trigger) else {
            self.free.entry(head.size).or_default().push(offset);
            return Ok(());
        };
        let of = (MonitorId::from_bits(head.monitor), region);
        let slot = Timestamp::from_millis(head.slot);
        let stored = Stored { slot, trigger, revision: head.revision, saved: slot };
        // A process that ended while data moved may have left it twice: the later one counts.
        if self.known.get(&of).is_some_and(|known| known.stored.slot > slot) {
            self.free.entry(head.size).or_default().push(offset);
            return Ok(());
        }
        self.erase(of)?;
        self.known.insert(of, Extent { offset, size: head.size, length: head.length, stored });
        Ok(())
    }
}

/// Returns the size of the extent for so many bytes of data, and their number.
fn size_for(length: usize) -> Option<(u32, u32)> {
    let size = (HEAD_BYTES + length).next_power_of_two();
    let (size, length) = (u32::try_from(size).ok()?, u32::try_from(length).ok()?);
    (size <= LARGEST).then_some((size.max(SMALLEST), length))
}

impl Head {
    const fn free(size: u32) -> Self {
        Self { size, length: 0, monitor: 0, region: 0, trigger: 0, revision: 0, slot: 0 }
    }

    fn bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.revision.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.monitor.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.slot.to_le_bytes());
        bytes[32] = self.region;
        bytes[33] = self.trigger;
        bytes
    }

    /// Reads a head, if these bytes are one.
    fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let four = |at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().expect("it fits"));
        let eight = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("it fits"));
        let head = Self {
            size: four(4),
            length: four(8),
            revision: four(12),
            monitor: eight(16),
            slot: eight(24).cast_signed(),
            region: bytes[32],
            trigger: bytes[33],
        };
        let is_size = head.size.is_power_of_two() && (SMALLEST..=LARGEST).contains(&head.size);
        let fits = u64::from(head.length) + HEAD_BYTES as u64 <= u64::from(head.size);
        (four(0) == MAGIC && is_size && fits).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const AMS: Region = Region::FlyAms;

    fn extent_key(monitor: u64) -> (MonitorId, Region) {
        (MonitorId::from_bits(monitor), AMS)
    }

    fn stored_check(slot: i64) -> Stored {
        let slot = Timestamp::from_millis(slot);
        Stored { slot, trigger: Trigger::Scheduled, revision: 1, saved: slot }
    }

    fn data(extents: &Extents, monitor: u64) -> Option<Vec<u8>> {
        extents.read(extent_key(monitor).0, AMS).unwrap()
    }

    #[test]
    fn written_data_reads_back_after_reopening() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("successes");
        let mut extents = Extents::open(&path).unwrap();
        for (monitor, slot, length) in [(1, 1, 100), (2, 1, 5_000), (1, 2, 120), (3, 1, 1)] {
            extents
                .write(extent_key(monitor), stored_check(slot), &vec![monitor as u8; length])
                .unwrap();
        }
        for _ in 0..2 {
            assert_eq!(data(&extents, 1), Some(vec![1; 120]));
            assert_eq!(data(&extents, 2), Some(vec![2; 5_000]));
            assert_eq!(data(&extents, 3), Some(vec![3; 1]));
            assert_eq!(data(&extents, 4), None);
            assert_eq!(extents.get(extent_key(1).0, AMS), Some(&stored_check(2)));
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
                extents
                    .write(
                        extent_key(monitor as u64),
                        stored_check(slot),
                        &vec![7; length as usize],
                    )
                    .unwrap();
            }
        }
        let length = fs::metadata(&path).unwrap().len();
        assert!(length <= 4 * (1024 + 2048 + 4096), "{length} bytes");
    }

    #[test]
    fn erased_data_leaves_no_trace_and_its_room() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("successes");
        let mut extents = Extents::open(&path).unwrap();
        extents.write(extent_key(1), stored_check(1), b"of the first monitor").unwrap();
        extents.write(extent_key(2), stored_check(5), b"of the second monitor").unwrap();
        assert_eq!(extents.retain(|_, slot| slot.as_millis() > 4).unwrap(), 1);
        assert_eq!((data(&extents, 1), data(&extents, 2).is_some()), (None, true));
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|window| window == b"first"));
        extents.write(extent_key(3), stored_check(6), b"of the third monitor").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), bytes.len() as u64);
    }

    #[test]
    fn damaged_file_is_cut_at_the_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("successes");
        let mut extents = Extents::open(&path).unwrap();
        for monitor in 1..=3 {
            extents.write(extent_key(monitor), stored_check(1), b"data").unwrap();
        }
        drop(extents);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&[0; HEAD_BYTES], u64::from(SMALLEST)).unwrap();
        let mut extents = Extents::open(&path).unwrap();
        assert_eq!((data(&extents, 1).is_some(), data(&extents, 2)), (true, None));
        extents.write(extent_key(2), stored_check(2), b"again").unwrap();
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
        let refused = extents.write(extent_key(1), stored_check(1), &vec![0; LARGEST as usize]);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
