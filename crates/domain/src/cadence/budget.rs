//! A token bucket: allows a burst, then a constant rate per second. The caller decides what a token
//! pays for.

use rules::{Timestamp, limits};

/// A token bucket that limits checks of the whole server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    per_second: u32,
    burst: u32,
    /// Available tokens, in thousandths. A rate of one per second adds one thousandth per
    /// millisecond.
    thousandths: u64,
    filled_at: Timestamp,
}

impl Budget {
    /// Creates a full bucket at `now`.
    pub const fn new(per_second: u32, burst: u32, now: Timestamp) -> Self {
        Self { per_second, burst, thousandths: burst as u64 * 1_000, filled_at: now }
    }

    /// Creates the server's budget for confirmation checks.
    pub const fn for_confirmations(now: Timestamp) -> Self {
        Self::new(limits::CONFIRMATIONS_PER_SECOND, limits::CONFIRMATIONS_BURST, now)
    }

    /// Takes one token; returns whether one was available. Adds nothing if the clock was set back.
    pub fn take(&mut self, now: Timestamp) -> bool {
        let passed = u64::try_from(now.since(self.filled_at).as_millis()).unwrap_or(u64::MAX);
        let filled = passed.saturating_mul(u64::from(self.per_second));
        self.thousandths =
            self.thousandths.saturating_add(filled).min(u64::from(self.burst) * 1_000);
        self.filled_at = now;
        match self.thousandths.checked_sub(1_000) {
            Some(left) => {
                self.thousandths = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    proptest! {
        #[test]
        fn taken_tokens_never_exceed_burst_plus_rate(
            per_second in 1_u32..50, burst in 1_u32..20,
            pauses_ms in prop::collection::vec(0_u64..500, 1..200),
        ) {
            let mut budget = Budget::new(per_second, burst, START);
            let (mut now, mut taken) = (START, 0_u64);
            for pause_ms in pauses_ms {
                now = now + Duration::from_millis(pause_ms);
                taken += u64::from(budget.take(now));
                let passed = now.since(START).as_millis() as u64;
                prop_assert!(taken <= u64::from(burst) + passed * u64::from(per_second) / 1_000);
            }
        }
    }

    #[test]
    fn empty_budget_refills_up_to_its_burst() {
        let mut budget = Budget::new(2, 3, START);
        let taken = |budget: &mut Budget, now| (0..10).filter(|_| budget.take(now)).count();
        assert_eq!(taken(&mut budget, START), 3);
        assert_eq!(taken(&mut budget, START + Duration::from_secs(1)), 2);
        assert_eq!(taken(&mut budget, START + Duration::from_hours(1)), 3);
        assert_eq!(taken(&mut budget, START), 0, "a clock set back adds nothing");
    }
}
