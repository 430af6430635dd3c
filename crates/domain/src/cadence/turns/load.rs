//! Load of a workspace, which decides the order of the waiting workspaces.

use std::cmp::Ordering;

/// Running checks of a workspace, ordered by their number per weight. At the same number, a
/// workspace whose checks end soon is first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) running: usize,
    pub(super) weight: u32,
    pub(super) is_slow: bool,
}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, others) =
            (self.running * other.weight as usize, other.running * self.weight as usize);
        own.cmp(&others).then(self.is_slow.cmp(&other.is_slow))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Load {}
