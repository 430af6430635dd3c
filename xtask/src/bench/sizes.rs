//! Sizes of the scenarios: those of the project's targets, or those of a short run.

use std::time::Duration;

/// Sizes of the scenarios.
pub(super) struct Sizes {
    /// Number of monitors on schedule.
    pub(super) monitors: usize,
    /// Number of monitors that one process must support.
    pub(super) crowd: usize,
    /// Number of monitors that overload the service in 28 regions.
    pub(super) saturating: usize,
    /// Number of regions for the slow target. The checks in flight equal those that start in 1 s.
    pub(super) slow_regions: usize,
    pub(super) warm_up: Duration,
    pub(super) window: Duration,
    /// Hours of history to create, with 3.6 million results each.
    pub(super) history_hours: u32,
}

impl Sizes {
    /// Sizes of the project's targets.
    pub(super) const FULL: Self = Self {
        monitors: 10_000,
        crowd: 100_000,
        saturating: 18_000,
        slow_regions: 12,
        warm_up: Duration::from_secs(35),
        window: Duration::from_secs(40),
        history_hours: 14,
    };
    /// Sizes of a short run. The number of the crowd is unchanged.
    pub(super) const QUICK: Self = Self {
        monitors: 3_000,
        crowd: 20_000,
        saturating: 18_000,
        slow_regions: 12,
        warm_up: Duration::from_secs(5),
        window: Duration::from_secs(10),
        history_hours: 1,
    };
}
