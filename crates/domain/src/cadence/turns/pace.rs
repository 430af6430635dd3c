//! Workspaces whose checks run long. One such check is enough to learn that a target hangs, and only
//! many short ones in a row show that none does any more.

use std::collections::HashMap;
use std::time::Duration;

use rules::WorkspaceId;

/// Time from which a check is slow: a small part of the shortest period.
const SLOW_AFTER: Duration = Duration::from_secs(5);
/// Number of short checks in a row after which a workspace is not slow any more.
const SHORT_CHECKS: u32 = 64;

/// The slow workspaces, each with the number of short checks that it still needs.
#[derive(Debug, Default)]
pub(super) struct Paces(HashMap<WorkspaceId, u32>);

impl Paces {
    pub(super) fn is_slow(&self, workspace: WorkspaceId) -> bool {
        self.0.contains_key(&workspace)
    }

    /// Records the length of an ended check.
    pub(super) fn record(&mut self, workspace: WorkspaceId, ran: Duration) {
        if ran >= SLOW_AFTER {
            self.0.insert(workspace, SHORT_CHECKS);
        } else if let Some(left) = self.0.get_mut(&workspace) {
            *left -= 1;
            if *left == 0 {
                self.0.remove(&workspace);
            }
        }
    }

    pub(super) fn forget(&mut self, workspace: WorkspaceId) {
        self.0.remove(&workspace);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_short_checks_end_slowness() {
        let (mut paces, hangs) = (Paces::default(), WorkspaceId::from_bits(1));
        let short = Duration::from_millis(4_999);
        paces.record(hangs, short);
        assert!(!paces.is_slow(hangs));
        paces.record(hangs, SLOW_AFTER);
        for _ in 1..SHORT_CHECKS {
            paces.record(hangs, short);
            assert!(paces.is_slow(hangs));
        }
        paces.record(hangs, short);
        assert!(!paces.is_slow(hangs));
    }
}
