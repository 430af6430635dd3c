//! A file with one piece of data for each monitor and region. The data is in extents whose sizes
//! are powers of two. New data goes to a free extent, and then the extent of the data before
//! becomes free, so monitors × regions bound the file. `latest_successes` defines the data.
//!
//! Each extent begins with a head that says what is in it. The head is written last, so a process
//! that is killed, or a disk that is full, leaves the data before. The file is never synced. If the
//! machine loses power, heads may be missing: the file is cut there. Data that is torn fails to
//! decrypt.

mod head;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use domain::check::{ResultKey, Trigger};
use rules::{MonitorId, Region, Timestamp};

use crate::codes;
use head::{Fit, HEAD_BYTES, Head};

/// Number of pieces of data that one call of [`Extents::retain`] erases, and of extents that it
/// cuts off the file.
const ERASED_AT_ONCE: usize = 256;
/// Number of bytes after which [`Extents::retain`] erases no further piece.
const ERASED_BYTES_AT_ONCE: u64 = 4 * 1024 * 1024;
/// Bytes of one write of zeros.
const ZEROS: [u8; 16 * 1024] = [0; 16 * 1024];

/// Monitor and region that a piece of data is of.
type ExtentKey = (MonitorId, Region);

/// A file of extents.
pub(super) struct Extents<F = File> {
    file: F,
    /// Bytes of the file that extents take.
    end: u64,
    known: BTreeMap<ExtentKey, Extent>,
    /// Offsets of extents that are free, by their size.
    free: BTreeMap<u32, BTreeSet<u64>>,
    /// Extents that become free as soon as they are overwritten with zeros.
    stale: Vec<StaleExtent>,
    /// Number of the next write.
    next_write: u64,
}

/// File operations that the extents need. Tests let them fail.
pub(super) trait FileAccess {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    fn set_length(&self, length: u64) -> io::Result<()>;
}

/// Where a piece of data is.
struct Extent {
    offset: u64,
    size: u32,
    /// Bytes of the data.
    length: u32,
    stored: Stored,
    /// Number of the write.
    write: u64,
}

/// An extent whose data nobody needs.
struct StaleExtent {
    offset: u64,
    size: u32,
    /// Bytes of the data.
    length: u32,
}

/// The check that a piece of data is of, without monitor and region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) slot: Timestamp,
    pub(super) trigger: Trigger,
    pub(super) revision: u32,
    /// The slot of the latest one that the database has too; not stored, taken to be this one after
    /// a start.
    pub(super) saved: Timestamp,
}

/// Outcome of [`Extents::retain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Erased {
    /// Number of erased pieces.
    pub(super) count: u64,
    /// Whether the call reached its limit.
    pub(super) is_there_more: bool,
}

impl Stored {
    pub(super) const fn identity(&self, monitor: MonitorId, region: Region) -> ResultKey {
        let Self { slot, trigger, revision, saved: _ } = *self;
        ResultKey { monitor, revision, region, slot, trigger }
    }
}

impl FileAccess for File {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
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
        let extents = Self::of_file(file, length)?;
        if extents.end < length {
            let lost = length - extents.end;
            tracing::warn!("dropped the unreadable last {lost} bytes of `{}`", path.display());
        }
        Ok(extents)
    }
}

impl<F: FileAccess> Extents<F> {
    /// Reads the heads of a file of this length.
    fn of_file(file: F, length: u64) -> io::Result<Self> {
        let mut extents = Self {
            file,
            end: 0,
            known: BTreeMap::new(),
            free: BTreeMap::new(),
            stale: Vec::new(),
            next_write: 1,
        };
        while let Some(head) = extents.head_at(extents.end, length)? {
            extents.add_extent(&head)?;
            extents.end += u64::from(head.size);
        }
        if extents.end < length {
            extents.file.set_length(extents.end)?;
        }
        // A full disk must not hide what can be read. The next write tries again.
        extents.wipe_stale().ok();
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

    /// Returns monitors that data is stored of, in the order of their identifiers, after `after`,
    /// at most `limit`.
    pub(super) fn monitors_after(&self, after: Option<MonitorId>, limit: usize) -> Vec<MonitorId> {
        let mut monitors = Vec::new();
        let mut next = after.map_or(Some(0), |after| after.bits().checked_add(1));
        while let Some(from) = next
            && monitors.len() < limit
        {
            let from = (MonitorId::from_bits(from), Region::ALL[0]);
            let Some(((monitor, _), _)) = self.known.range(from..).next() else { break };
            monitors.push(*monitor);
            next = monitor.bits().checked_add(1);
        }
        monitors
    }

    /// Reads the data of a monitor in a region.
    pub(super) fn read(&self, monitor: MonitorId, region: Region) -> io::Result<Option<Vec<u8>>> {
        let Some(extent) = self.known.get(&(monitor, region)) else { return Ok(None) };
        let mut data = vec![0; extent.length as usize];
        self.file.read_at(&mut data, extent.offset + HEAD_BYTES as u64)?;
        Ok(Some(data))
    }

    /// Replaces the data of a monitor in a region. After an error, the data before is still there,
    /// or the new data is.
    pub(super) fn write(&mut self, of: ExtentKey, stored: Stored, data: &[u8]) -> io::Result<()> {
        let Some(Fit { size, length }) = Fit::for_length(data.len()) else {
            let why = format!("{} bytes are more than an extent may have", data.len());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        };
        let free = self.free.get_mut(&size).and_then(BTreeSet::pop_first);
        let (offset, write) = (free.unwrap_or(self.end), self.next_write);
        self.next_write += 1;
        let extent = Extent { offset, size, length, stored, write };
        let written = match free {
            Some(_) => self.put(of, &extent, data),
            None => self.grow(size).and_then(|()| self.put(of, &extent, data)),
        };
        if let Err(why) = written {
            self.give_back(&extent);
            return Err(why);
        }
        self.end = self.end.max(offset + u64::from(size));
        let before = self.known.insert(of, extent);
        self.stale.extend(before.map(StaleExtent::from));
        self.wipe_stale()
    }

    /// Erases the data of a monitor in a region.
    pub(super) fn erase(&mut self, of: ExtentKey) -> io::Result<()> {
        self.stale.extend(self.known.remove(&of).map(StaleExtent::from));
        self.wipe_stale()
    }

    /// Erases data of these monitors that `is_wanted` returns false for, and cuts free extents off
    /// the end of the file. Stops at a limit, because nothing can be written meanwhile.
    pub(super) fn retain(
        &mut self,
        monitors: &[MonitorId],
        is_wanted: impl Fn(MonitorId, Timestamp) -> bool,
    ) -> io::Result<Erased> {
        let each = |monitor: MonitorId| Region::ALL.iter().map(move |region| (monitor, *region));
        let (mut erased, mut bytes) = (Erased::default(), 0);
        for of in monitors.iter().copied().flat_map(each) {
            let extent = self.known.get(&of);
            let Some(extent) = extent.filter(|it| !is_wanted(of.0, it.stored.slot)) else {
                continue;
            };
            if erased.count >= ERASED_AT_ONCE as u64 || bytes >= ERASED_BYTES_AT_ONCE {
                erased.is_there_more = true;
                break;
            }
            bytes += u64::from(extent.size);
            self.erase(of)?;
            erased.count += 1;
        }
        erased.is_there_more |= self.cut_end()?;
        Ok(erased)
    }

    /// Cuts free extents off the end of the file; returns whether the limit was reached.
    fn cut_end(&mut self) -> io::Result<bool> {
        let (mut end, mut cut) = (self.end, Vec::new());
        while cut.len() < ERASED_AT_ONCE
            && let Some((size, offset)) = self.free_before(end)
        {
            end = offset;
            cut.push((size, offset));
        }
        if cut.is_empty() {
            return Ok(false);
        }
        self.file.set_length(end)?;
        self.end = end;
        for (size, offset) in &cut {
            self.free.get_mut(size).map(|offsets| offsets.remove(offset));
        }
        Ok(cut.len() == ERASED_AT_ONCE)
    }

    /// Returns the size and offset of the free extent that ends here.
    fn free_before(&self, end: u64) -> Option<(u32, u64)> {
        self.free.iter().find_map(|(size, offsets)| {
            let offset = end.checked_sub(u64::from(*size))?;
            offsets.contains(&offset).then_some((*size, offset))
        })
    }

    /// Makes room for an extent at the end of the file.
    fn grow(&self, size: u32) -> io::Result<()> {
        // Removes what an earlier call may have left behind the end.
        self.file.set_length(self.end)?;
        self.file.set_length(self.end + u64::from(size))
    }

    /// Writes the data, then the head, because the head makes the data count.
    fn put(&self, of: ExtentKey, extent: &Extent, data: &[u8]) -> io::Result<()> {
        self.file.write_at(data, extent.offset + HEAD_BYTES as u64)?;
        self.file.write_at(&Head::new(of, extent).bytes(), extent.offset)
    }

    /// Undoes a write that failed.
    fn give_back(&mut self, extent: &Extent) {
        // The caller returns the error of the write. The next write repeats a failed step.
        if extent.offset == self.end {
            self.file.set_length(self.end).ok();
        } else {
            self.stale.push(StaleExtent::from(extent));
            self.wipe_stale().ok();
        }
    }

    /// Overwrites stale extents with zeros, and frees them. The head is last: until then, an extent
    /// is wiped again after a restart.
    fn wipe_stale(&mut self) -> io::Result<()> {
        while let Some(StaleExtent { offset, size, length }) = self.stale.last() {
            let (mut at, mut left) = (*offset + HEAD_BYTES as u64, *length as usize);
            while left > 0 {
                let zeros = &ZEROS[..left.min(ZEROS.len())];
                self.file.write_at(zeros, at)?;
                at += zeros.len() as u64;
                left -= zeros.len();
            }
            self.file.write_at(&Head::free(*size).bytes(), *offset)?;
            self.free.entry(*size).or_default().insert(*offset);
            self.stale.pop();
        }
        Ok(())
    }

    /// Reads the head of the extent at an offset; `None` at the end of what can be used.
    fn head_at(&self, offset: u64, file_length: u64) -> io::Result<Option<Head>> {
        if offset + HEAD_BYTES as u64 > file_length {
            return Ok(None);
        }
        let mut bytes = [0; HEAD_BYTES];
        self.file.read_at(&mut bytes, offset)?;
        let fits = |head: &Head| offset + u64::from(head.size) <= file_length;
        Ok(Head::read(&bytes).filter(fits))
    }

    /// Remembers the extent at the end of what is known.
    fn add_extent(&mut self, head: &Head) -> io::Result<()> {
        let (offset, size) = (self.end, head.size);
        let region = codes::region(i64::from(head.region));
        let trigger = codes::trigger(i64::from(head.trigger));
        let (length @ 1.., Ok(region), Ok(trigger)) = (head.length, region, trigger) else {
            return self.learn_free(offset, size);
        };
        let of = (MonitorId::from_bits(head.monitor), region);
        let slot = Timestamp::from_millis(head.slot);
        let stored = Stored { slot, trigger, revision: head.revision, saved: slot };
        let extent = Extent { offset, size, length, stored, write: head.write };
        self.next_write = self.next_write.max(head.write + 1);
        // A process that ended between the write of data and the removal of the data before leaves
        // both.
        let other = match self.known.get(&of) {
            Some(known) if known.write > head.write => Some(extent),
            Some(_) | None => self.known.insert(of, extent),
        };
        self.stale.extend(other.map(StaleExtent::from));
        Ok(())
    }

    /// Remembers an extent without data. If a process ended while it wrote there, the beginning of
    /// the data is left.
    fn learn_free(&mut self, offset: u64, size: u32) -> io::Result<()> {
        let mut bytes = [0; 8];
        self.file.read_at(&mut bytes, offset + HEAD_BYTES as u64)?;
        if bytes == [0; 8] {
            self.free.entry(size).or_default().insert(offset);
        } else {
            self.stale.push(StaleExtent { offset, size, length: size - HEAD_BYTES as u32 });
        }
        Ok(())
    }
}

impl From<Extent> for StaleExtent {
    fn from(extent: Extent) -> Self {
        Self::from(&extent)
    }
}

impl From<&Extent> for StaleExtent {
    fn from(Extent { offset, size, length, .. }: &Extent) -> Self {
        Self { offset: *offset, size: *size, length: *length }
    }
}
