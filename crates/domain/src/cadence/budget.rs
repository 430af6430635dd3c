//! A budget: so many at once, and so many a second from then on. What it is spent on belongs to
//! those who ask.

use rules::{Timestamp, limits};

/// Second opinions that the whole server may ask for: a bucket that fills with time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    per_second: u32,
    burst: u32,
    /// What is there, in thousandths: a thousandth is what a rate of one fills in a millisecond.
    thousandths: u64,
    filled_at: Timestamp,
}

impl Budget {
    /// A full bucket at `now`.
    pub const fn new(per_second: u32, burst: u32, now: Timestamp) -> Self {
        Self { per_second, burst, thousandths: burst as u64 * 1_000, filled_at: now }
    }

    /// The server's budget for second opinions.
    pub const fn of_opinions(now: Timestamp) -> Self {
        Self::new(limits::OPINIONS_PER_SECOND, limits::OPINIONS_BURST, now)
    }

    /// Takes one; says whether there was one. A clock that is set back fills nothing.
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
        fn no_more_is_taken_than_a_burst_and_the_rate_since(
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
    fn an_empty_budget_fills_with_time_and_not_beyond_its_burst() {
        let mut budget = Budget::new(2, 3, START);
        let taken = |budget: &mut Budget, now| (0..10).filter(|_| budget.take(now)).count();
        assert_eq!(taken(&mut budget, START), 3);
        assert_eq!(taken(&mut budget, START + Duration::from_secs(1)), 2);
        assert_eq!(taken(&mut budget, START + Duration::from_hours(1)), 3);
        assert_eq!(taken(&mut budget, START), 0, "the clock was set back");
    }
}
