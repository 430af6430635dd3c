//! Pauses between attempts of something that fails.

use std::time::Duration;

/// Maximum random change of a pause, in both directions (our choice): enough to spread retries that
/// failed together, little enough to keep the doubling.
const JITTER_PER_MILLE: u64 = 200;

/// Backoff: each pause is twice as long as the one before, up to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Pause after the first failure.
    pub first: Duration,
    /// Longest pause.
    pub max: Duration,
}

/// Pauses of one series of failures.
#[derive(Clone, Copy, Debug)]
pub struct BackoffState {
    backoff: Backoff,
    failures: u32,
}

impl Backoff {
    /// Returns the pause after this many failures in a row. No failure counts as one.
    pub fn pause_after(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1);
        self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.max)
    }

    /// Returns [`Self::pause_after`] with its random change, in whole milliseconds. `chance` is any
    /// random number.
    pub fn jittered_pause_after(self, failures: u32, chance: u64) -> Duration {
        let per_mille = 1_000 - JITTER_PER_MILLE + chance % (2 * JITTER_PER_MILLE + 1);
        let millis = u64::try_from(self.pause_after(failures).as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(millis.saturating_mul(per_mille) / 1_000)
    }

    /// Starts a series of failures.
    pub const fn pauses(self) -> BackoffState {
        BackoffState { backoff: self, failures: 0 }
    }
}

impl BackoffState {
    /// Counts a failure and returns the pause after it.
    pub fn next_pause(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.backoff.pause_after(self.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff =
        Backoff { first: Duration::from_millis(100), max: Duration::from_secs(5) };

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut pauses = BACKOFF.pauses();
        let millis: Vec<_> = (0..8).map(|_| pauses.next_pause().as_millis()).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(BACKOFF.pause_after(0), BACKOFF.first);
        assert_eq!(BACKOFF.pause_after(u32::MAX), BACKOFF.max);
    }
}
