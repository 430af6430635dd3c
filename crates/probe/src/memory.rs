//! A memory budget shared by the bodies of all checks. If it is used up, less of a body is kept. So
//! targets with large responses cannot take the memory of the process, however many monitors have
//! them. A workspace may use a share of it, so that its targets leave memory for the checks of others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rules::WorkspaceId;

use crate::limits::BODY_MEMORY_SHARE;

/// The budget. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    bytes: usize,
    used: Arc<Mutex<MemoryUse>>,
}

#[derive(Debug, Default)]
struct MemoryUse {
    bytes: usize,
    of_workspace: HashMap<WorkspaceId, usize>,
}

/// A reserved part of the budget, released on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Memory,
    workspace: WorkspaceId,
    bytes: usize,
}

/// Bytes with their reservation.
struct BodyBuffer {
    bytes: Vec<u8>,
    _reservation: Reservation,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, used: Arc::default() }
    }

    /// Creates an empty reservation of a workspace.
    pub(crate) fn reserve(&self, workspace: WorkspaceId) -> Reservation {
        Reservation { memory: self.clone(), workspace, bytes: 0 }
    }

    fn used(&self) -> MutexGuard<'_, MemoryUse> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryUse {
    fn release(&mut self, workspace: WorkspaceId, bytes: usize) {
        self.bytes -= bytes;
        if let Some(own) = self.of_workspace.get_mut(&workspace) {
            *own -= bytes;
            if *own == 0 {
                self.of_workspace.remove(&workspace);
            }
        }
    }
}

impl Reservation {
    /// Reserves more bytes; returns false if the workspace or the budget has not enough left.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let mut used = self.memory.used();
        let own = used.of_workspace.get(&self.workspace).copied().unwrap_or(0);
        let has_share = own + bytes <= self.memory.bytes / BODY_MEMORY_SHARE;
        if !has_share || used.bytes + bytes > self.memory.bytes {
            return false;
        }
        if bytes > 0 {
            used.bytes += bytes;
            used.of_workspace.insert(self.workspace, own + bytes);
        }
        drop(used);
        self.bytes += bytes;
        true
    }

    /// Releases all but this many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let more = self.bytes.saturating_sub(bytes);
        if more > 0 {
            self.memory.used().release(self.workspace, more);
            self.bytes -= more;
        }
    }

    /// Returns the bytes, which keep the reservation until their last clone is dropped.
    pub(crate) fn into_bytes(self, bytes: Vec<u8>) -> Bytes {
        if bytes.is_empty() {
            return Bytes::new();
        }
        Bytes::from_owner(BodyBuffer { bytes, _reservation: self })
    }

    #[cfg(test)]
    pub(crate) fn unlimited() -> Self {
        Memory::new(1 << 30).reserve(WorkspaceId::from_bits(1))
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

impl AsRef<[u8]> for BodyBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: WorkspaceId = WorkspaceId::from_bits(1);

    #[test]
    fn last_clone_releases_the_reservation() {
        let memory = Memory::new(400);
        let (mut first, mut second) = (memory.reserve(FIRST), memory.reserve(FIRST));
        assert!(first.grow(60) && second.grow(30));
        assert!(!second.grow(11), "ten of the workspace's 100 are left");
        first.shrink(50);
        assert!(second.grow(11));
        let bytes = first.into_bytes(vec![0; 50]);
        let clone = bytes.slice(1..2);
        drop((bytes, second));
        let mut third = memory.reserve(FIRST);
        assert!(!third.grow(51) && third.grow(50));
        drop(clone);
        assert!(third.grow(50));
    }

    // issue 16, point 4: "One workspace starves the others"
    #[test]
    fn workspace_leaves_memory_for_others() {
        let memory = Memory::new(400);
        let reserved: Vec<_> = (1..=5)
            .map(|number| {
                let mut reservation = memory.reserve(WorkspaceId::from_bits(number));
                (reservation.grow(100), reservation.grow(1), reservation)
            })
            .collect();
        let grown: Vec<_> = reserved.iter().map(|(share, more, _)| (*share, *more)).collect();
        assert_eq!(
            grown,
            [(true, false), (true, false), (true, false), (true, false), (false, false)]
        );
        drop(reserved);
        assert!(memory.used().of_workspace.is_empty() && memory.used().bytes == 0);
    }
}
