//! Decides when a failed check is retried (design §5, "Attempts"). The probe waits.

use std::time::Duration;

use rules::{Timestamp, limits};

use super::Job;
use crate::backoff::Backoff;

/// Pauses between attempts. The next slot bounds them.
const BACKOFF: Backoff = Backoff { first: limits::FIRST_RETRY_PAUSE, max: Duration::MAX };

/// Decision about a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The next attempt starts after this pause, in whole milliseconds.
    After(Duration),
    No(NoRetry),
}

/// Reason why a failed check is not retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRetry {
    /// The monitor allows no more attempts.
    AttemptsUsed,
    /// The attempt would start at or after the next slot.
    NextSlotDue,
}

/// Decides whether to retry after the last of `attempts_made` attempts failed at `now`. `now` uses
/// the clock of the job's times; `chance` is any random number. The rule is the same for all
/// triggers. Call it for failures only: a success, degraded or not, is never retried.
pub fn next_attempt(job: &Job, attempts_made: u8, now: Timestamp, chance: u64) -> Retry {
    if attempts_made > job.plan.retry {
        return Retry::No(NoRetry::AttemptsUsed);
    }
    let pause = BACKOFF.jittered_pause_after(attempts_made.into(), chance);
    if now + pause >= job.next_slot {
        return Retry::No(NoRetry::NextSlotDue);
    }
    Retry::After(pause)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rules::monitor::TcpCheck;
    use rules::{MonitorId, Periodicity, Region, tables};

    use super::*;
    use crate::check::tcp::TcpPlan;
    use crate::check::{CheckPlan, PlannedCheck, Trigger};

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn job(retry: u8, next_slot: Timestamp, trigger: Trigger) -> Job {
        let check = TcpPlan::new(&TcpCheck::new("example.com:80")).unwrap();
        let plan = CheckPlan {
            monitor: MonitorId::from_bits(1),
            workspace: rules::WorkspaceId::from_bits(1),
            revision: 1,
            check: PlannedCheck::Tcp(check),
            timeout: Duration::from_secs(1),
            retry,
            degraded_above: None,
            secrets: None,
            message: None,
        };
        Job {
            plan: Arc::new(plan),
            region: Region::FlyAms,
            slot: NOW,
            trigger,
            next_slot,
            keep_evidence: false,
        }
    }

    // design: §5 "Attempts follow a failure after 0.5 s, doubling, with jitter"
    #[test]
    fn pauses_double_from_half_a_second_with_jitter() {
        let job = job(10, NOW + Duration::from_hours(1), Trigger::Scheduled);
        for (made, least, most) in
            [(1, 400, 600), (2, 800, 1_200), (3, 1_600, 2_400), (10, 204_800, 307_200)]
        {
            let after = |chance| next_attempt(&job, made, NOW, chance);
            assert_eq!(after(0), Retry::After(Duration::from_millis(least)));
            assert_eq!(after(400), Retry::After(Duration::from_millis(most)));
        }
    }

    #[test]
    fn attempts_are_one_plus_allowed_retries() {
        for trigger in [Trigger::Scheduled, Trigger::Confirmation, Trigger::Manual] {
            for retry in [0, 1, 3, 10] {
                let job = job(retry, NOW + Duration::from_hours(1), trigger);
                let attempts = (1..=u8::MAX)
                    .find(|made| matches!(next_attempt(&job, *made, NOW, 0), Retry::No(_)));
                assert_eq!(attempts, Some(retry + 1));
                let last = next_attempt(&job, retry + 1, NOW, 0);
                assert_eq!(last, Retry::No(NoRetry::AttemptsUsed));
            }
        }
    }

    // design: §5 "none starts after the next slot is due"
    #[test]
    fn no_attempt_starts_at_the_next_slot() {
        for (until_next, expected) in [
            (401, Retry::After(Duration::from_millis(400))),
            (400, Retry::No(NoRetry::NextSlotDue)),
            (0, Retry::No(NoRetry::NextSlotDue)),
        ] {
            let next_slot = NOW + Duration::from_millis(until_next);
            let job = job(3, next_slot, Trigger::Scheduled);
            assert_eq!(next_attempt(&job, 1, NOW, 0), expected);
        }
    }

    // issue 8, point 1: the caller waits as long as such a call may take
    #[test]
    fn manual_check_ends_before_the_caller_times_out() {
        let longest = Duration::from_millis(u64::from(tables::TIMEOUT_MS_MAX));
        let given = job(10, NOW, Trigger::Scheduled).plan;
        for timeout_s in 1..=longest.as_secs() {
            let timeout = Duration::from_secs(timeout_s);
            let job = Job::manual(given.clone(), Region::FlyAms, NOW);
            let mut now = NOW + timeout;
            let mut attempts = 1;
            while let Retry::After(pause) = next_attempt(&job, attempts, now, 0) {
                now = now + pause + timeout;
                attempts += 1;
            }
            let (took, way) = (now.since(NOW), Duration::from_secs(5));
            let answered = took + way;
            assert!(answered <= limits::TRIGGER_ANSWERED_WITHIN, "{timeout:?} took {took:?}");
            let several = timeout < limits::TRIGGER_ATTEMPTED_WITHIN;
            assert_eq!(attempts > 1, several, "{attempts} attempts of {timeout:?}");
        }
        for period in Periodicity::ALL {
            assert!(limits::TRIGGER_ATTEMPTED_WITHIN < period.period(), "{period}");
        }
    }

    proptest! {
        #[test]
        fn retry_always_starts_before_the_next_slot(
            made: u8, retry: u8, now: i64, next_slot: i64, chance: u64,
        ) {
            let (now, next_slot) = (Timestamp::from_millis(now), Timestamp::from_millis(next_slot));
            let job = job(retry, next_slot, Trigger::Scheduled);
            if let Retry::After(pause) = next_attempt(&job, made, now, chance) {
                prop_assert!(now + pause < next_slot);
                prop_assert!(made <= retry);
            }
        }
    }
}
