//! The head of an extent: its size, and the check whose data follows.

use super::{Extent, ExtentKey};
use crate::codes;

/// First bytes of a head.
const MAGIC: u32 = 0x31_53_4C_41;
pub(super) const HEAD_BYTES: usize = 40;
/// The smallest extent, and the largest: details of the worst check stay below 1 MiB.
pub(super) const SMALLEST: u32 = 1024;
pub(super) const LARGEST: u32 = 2 * 1024 * 1024;

/// The first bytes of an extent. An extent does not cross a page of memory with them, so a process
/// that is killed writes all of them or none.
pub(super) struct Head {
    pub(super) size: u32,
    /// 0 in an extent that is free.
    pub(super) length: u32,
    pub(super) monitor: u64,
    pub(super) region: u8,
    pub(super) trigger: u8,
    pub(super) revision: u32,
    pub(super) slot: i64,
    /// Number of the write, of which 48 bits are stored. The higher number counts if two extents
    /// belong to one monitor and region.
    pub(super) write: u64,
}

/// Size of the extent for some data, and the data's length.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    pub(super) size: u32,
    pub(super) length: u32,
}

impl Fit {
    /// Returns the size for so many bytes of data; `None` if they are too many.
    pub(super) fn for_length(length: usize) -> Option<Self> {
        let size = (HEAD_BYTES + length).next_power_of_two();
        let (size, length) = (u32::try_from(size).ok()?, u32::try_from(length).ok()?);
        (size <= LARGEST).then_some(Self { size: size.max(SMALLEST), length })
    }
}

impl Head {
    pub(super) const fn free(size: u32) -> Self {
        let (length, write) = (0, 0);
        Self { size, length, monitor: 0, region: 0, trigger: 0, revision: 0, slot: 0, write }
    }

    pub(super) const fn new(of: ExtentKey, extent: &Extent) -> Self {
        let (monitor, region) = of;
        let Extent { offset: _, size, length, stored, write } = *extent;
        Self {
            size,
            length,
            monitor: monitor.bits(),
            region: codes::region_code(region) as u8,
            trigger: codes::trigger_code(stored.trigger) as u8,
            revision: stored.revision,
            slot: stored.slot.as_millis(),
            write,
        }
    }

    pub(super) fn bytes(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.revision.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.monitor.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.slot.to_le_bytes());
        bytes[32] = self.region;
        bytes[33] = self.trigger;
        bytes[34..40].copy_from_slice(&self.write.to_le_bytes()[..6]);
        bytes
    }

    /// Reads a head, if these bytes are one.
    pub(super) fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
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
            // The last 6 of these 8 bytes.
            write: eight(32) >> 16,
        };
        let is_size = head.size.is_power_of_two() && (SMALLEST..=LARGEST).contains(&head.size);
        let fits = u64::from(head.length) + HEAD_BYTES as u64 <= u64::from(head.size);
        (four(0) == MAGIC && is_size && fits).then_some(head)
    }
}
