//! When a failed check is tried again (design §5, "Attempts"). Waiting belongs to the probe.

use std::time::Duration;

use rules::{Timestamp, limits};

use super::Job;

/// Most that chance adds to a pause or takes from it (ours): enough to part the checks that saw the
/// same failure, too little to blur the doubling.
const JITTER_PER_MILLE: u64 = 200;

/// Whether a failed check is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The next attempt starts after this pause, in whole milliseconds.
    After(Duration),
    /// There is none.
    No(NoRetry),
}

/// Why a failed check is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRetry {
    /// As many attempts as the monitor allows were made.
    AttemptsUsed,
    /// The attempt would start when the next slot is due, or later.
    NextSlotDue,
}

/// What follows the failure of the last of `attempts_made` attempts at `now`. `now` is by the clock
/// that the job's times are by; any bits do for `chance`. Opinion and manual jobs follow the same
/// rule as scheduled ones. A success, slow or not, is never tried again: do not ask.
pub fn next_attempt(job: &Job, attempts_made: u8, now: Timestamp, chance: u64) -> Retry {
    if attempts_made > job.plan.retry {
        return Retry::No(NoRetry::AttemptsUsed);
    }
    let pause = pause_after(attempts_made, chance);
    if now + pause >= job.next_slot {
        return Retry::No(NoRetry::NextSlotDue);
    }
    Retry::After(pause)
}

fn pause_after(attempts_made: u8, chance: u64) -> Duration {
    let doublings = u32::from(attempts_made.saturating_sub(1));
    let plain = limits::FIRST_RETRY_PAUSE.saturating_mul(2_u32.saturating_pow(doublings));
    let per_mille = 1_000 - JITTER_PER_MILLE + chance % (2 * JITTER_PER_MILLE + 1);
    let millis = u64::try_from(plain.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(millis.saturating_mul(per_mille) / 1_000)
}
