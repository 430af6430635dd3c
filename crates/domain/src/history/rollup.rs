//! Rollups of the checks of one region: counts per outcome, and latencies.

use rules::Timestamp;

use super::{Sketch, Unreadable, varint};
use crate::check::Outcome;

/// The rollup of some checks. Merging is commutative and associative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollup {
    pub success: u32,
    pub degraded: u32,
    pub failure: u32,
    /// Slots skipped because the previous check still ran.
    pub skipped: u32,
    /// Latencies of successful and degraded checks. Failures say nothing about speed: a refused
    /// connection is fast, a timeout takes as long as its limit.
    pub latency: Sketch,
    /// Sum of those latencies, in microseconds.
    pub latency_us: u64,
    /// Completion of the last check, if any.
    pub last_at: Option<Timestamp>,
}

impl Rollup {
    /// Adds a check, and its latency unless it sent nothing.
    pub fn add(&mut self, outcome: Outcome, latency_us: Option<u32>, finished_at: Timestamp) {
        let count = match outcome {
            Outcome::Success => &mut self.success,
            Outcome::Degraded => &mut self.degraded,
            Outcome::Failure => &mut self.failure,
            Outcome::Skipped => {
                self.skipped = self.skipped.saturating_add(1);
                return;
            }
        };
        *count = count.saturating_add(1);
        self.last_at = self.last_at.max(Some(finished_at));
        if let Some(latency_us) = latency_us
            && matches!(outcome, Outcome::Success | Outcome::Degraded)
        {
            self.latency.add(latency_us);
            self.latency_us = self.latency_us.saturating_add(u64::from(latency_us));
        }
    }

    /// Adds all checks of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.success = self.success.saturating_add(other.success);
        self.degraded = self.degraded.saturating_add(other.degraded);
        self.failure = self.failure.saturating_add(other.failure);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.latency.merge(&other.latency);
        self.latency_us = self.latency_us.saturating_add(other.latency_us);
        self.last_at = self.last_at.max(other.last_at);
    }

    /// Returns the number of checks that ran.
    pub fn checks(&self) -> u32 {
        self.success.saturating_add(self.degraded).saturating_add(self.failure)
    }

    /// Appends the encoded rollup.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        for count in [self.success, self.degraded, self.failure, self.skipped] {
            varint::push(bytes, u64::from(count));
        }
        varint::push(bytes, self.latency_us);
        // No check ended before 1970, so zero can encode `None`.
        let last_at = self.last_at.map_or(0, |at| at.as_millis().saturating_add(1));
        varint::push(bytes, u64::try_from(last_at).unwrap_or(0));
        self.latency.encode(bytes);
    }

    /// Decodes a rollup and advances `bytes` past it.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, Unreadable> {
        Ok(Self {
            success: varint::pull_narrow(bytes)?,
            degraded: varint::pull_narrow(bytes)?,
            failure: varint::pull_narrow(bytes)?,
            skipped: varint::pull_narrow(bytes)?,
            latency_us: varint::pull(bytes)?,
            last_at: match varint::pull_narrow::<i64>(bytes)? {
                0 => None,
                at => Some(Timestamp::from_millis(at - 1)),
            },
            latency: Sketch::decode(bytes)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Check = (Outcome, u32, i64);

    fn rollup_of(checks: &[Check]) -> Rollup {
        let mut sum = Rollup::default();
        for (outcome, latency_us, at) in checks {
            sum.add(*outcome, Some(*latency_us), Timestamp::from_millis(*at));
        }
        sum
    }

    fn checks() -> impl Strategy<Value = Vec<Check>> {
        let outcome = prop_oneof![
            Just(Outcome::Success),
            Just(Outcome::Degraded),
            Just(Outcome::Failure),
            Just(Outcome::Skipped),
        ];
        proptest::collection::vec((outcome, 0_u32..10_000_000, 0_i64..1 << 41), 0..50)
    }

    proptest! {
        #[test]
        fn merged_rollups_equal_one_rollup(a in checks(), b in checks()) {
            let all = rollup_of(&[a.clone(), b.clone()].concat());
            let (mut left, mut right) = (rollup_of(&a), rollup_of(&b));
            let first = left.clone();
            left.merge(&right);
            right.merge(&first);
            prop_assert_eq!(&left, &all);
            prop_assert_eq!(right, all);
        }

        #[test]
        fn rollup_round_trips(all in checks()) {
            let sum = rollup_of(&all);
            let mut bytes = Vec::new();
            sum.encode(&mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(Rollup::decode(&mut rest), Ok(sum));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes: Vec<u8>) {
            let _ = Rollup::decode(&mut &bytes[..]);
        }
    }

    #[test]
    fn failures_and_skips_count_no_latency() {
        let sum = rollup_of(&[
            (Outcome::Success, 1_000, 1),
            (Outcome::Degraded, 3_000, 2),
            (Outcome::Failure, 45_000_000, 3),
            (Outcome::Skipped, 0, 4),
        ]);
        assert_eq!((sum.checks(), sum.skipped, sum.latency_us), (3, 1, 4_000));
        assert_eq!(sum.latency.count(), 2);
        assert_eq!(sum.last_at, Some(Timestamp::from_millis(3)));
    }
}
