//! Memory budgets of request bodies: one of all callers without a key, and one of all callers with
//! a key, of which each workspace may use a share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::WorkspaceId;

/// Memory budget of all callers without a key.
const WITHOUT_KEY_BYTES: usize = 32 * 1024 * 1024;
/// Share of the budget with a key that one workspace may use: one in this many.
const WORKSPACE_SHARE: usize = 4;
/// Memory that each part of a body needs besides its bytes.
const PART_BYTES: usize = 64;

/// Memory that request bodies may use.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    with_key_max: usize,
    used: Arc<Mutex<MemoryUse>>,
}

#[derive(Debug, Default)]
struct MemoryUse {
    without_key: usize,
    with_key: usize,
    of_workspace: HashMap<WorkspaceId, usize>,
}

/// Memory of one body, given back on drop.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: Budget,
    /// Workspace of the caller. `None` until it has shown a valid key.
    workspace: Option<WorkspaceId>,
    bytes: usize,
}

impl Budget {
    /// Creates budgets, with this many bytes for all callers with a key.
    pub(crate) fn new(with_key_max: usize) -> Self {
        Self { with_key_max, used: Arc::default() }
    }

    /// Begins a body that uses no memory yet.
    pub(super) fn reserve(&self) -> Reservation {
        Reservation { budget: self.clone(), workspace: None, bytes: 0 }
    }

    fn used(&self) -> MutexGuard<'_, MemoryUse> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Counts the body for a workspace, because its caller has shown a valid key.
    pub(super) fn belongs_to(&mut self, workspace: WorkspaceId) {
        self.release();
        self.workspace = Some(workspace);
    }

    /// Returns whether the caller has shown a valid key.
    pub(super) const fn has_key(&self) -> bool {
        self.workspace.is_some()
    }

    /// Takes memory for a part of the body. Returns whether the budget had it.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let bytes = bytes + PART_BYTES;
        let mut used = self.budget.used();
        let is_within = match self.workspace {
            None => used.without_key + bytes <= WITHOUT_KEY_BYTES,
            Some(workspace) => {
                let own = used.of_workspace.get(&workspace).copied().unwrap_or(0);
                own + bytes <= self.budget.with_key_max / WORKSPACE_SHARE
                    && used.with_key + bytes <= self.budget.with_key_max
            }
        };
        if is_within {
            match self.workspace {
                None => used.without_key += bytes,
                Some(workspace) => {
                    used.with_key += bytes;
                    *used.of_workspace.entry(workspace).or_default() += bytes;
                }
            }
            self.bytes += bytes;
        }
        is_within
    }

    /// Gives the memory back.
    pub(super) fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes == 0 {
            return;
        }
        let mut used = self.budget.used();
        let Some(workspace) = self.workspace else {
            used.without_key -= bytes;
            return;
        };
        used.with_key -= bytes;
        let own = used.of_workspace.get(&workspace).copied().unwrap_or(0);
        if own > bytes {
            used.of_workspace.insert(workspace, own - bytes);
        } else {
            used.of_workspace.remove(&workspace);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn reservation(budget: &Budget, workspace: Option<u64>) -> Reservation {
        let mut reservation = budget.reserve();
        if let Some(workspace) = workspace {
            reservation.belongs_to(WorkspaceId::from_bits(workspace));
        }
        reservation
    }

    #[test]
    fn workspace_uses_a_quarter_of_the_memory() {
        let budget = Budget::new(64 * MIB);
        let parts = |reservation: &mut Reservation| {
            (0..100).filter(|_| reservation.take(MIB - PART_BYTES)).count()
        };
        let mut bodies: Vec<Reservation> =
            (0..5).map(|it| reservation(&budget, Some(it))).collect();
        let taken: Vec<usize> = bodies.iter_mut().map(parts).collect();
        assert_eq!(taken, [16, 16, 16, 16, 0]);
        assert_eq!(parts(&mut reservation(&budget, Some(0))), 0);
        assert_eq!(parts(&mut reservation(&budget, None)), 32);
        drop(bodies);
        let used = budget.used();
        assert_eq!((used.without_key, used.with_key, used.of_workspace.len()), (0, 0, 0));
    }

    #[test]
    fn many_tiny_parts_count_their_overhead() {
        let mut reservation = reservation(&Budget::new(4 * MIB), Some(1));
        let taken = (0..4 * MIB).take_while(|_| reservation.take(1)).count();
        assert_eq!(taken, MIB / (PART_BYTES + 1));
    }

    #[test]
    fn verified_key_moves_a_body_to_its_workspace() {
        let budget = Budget::new(64 * MIB);
        let mut reservation = reservation(&budget, None);
        assert!(reservation.take(MIB));
        reservation.belongs_to(WorkspaceId::from_bits(1));
        assert_eq!(budget.used().without_key, 0);
        assert!(reservation.take(MIB));
        assert!(budget.used().with_key > MIB);
        reservation.release();
        assert_eq!(budget.used().with_key, 0);
    }
}
