//! The server's time as a probe estimates it. Each answer of the server is a sample: the server read its
//! clock between the question and the answer. Between samples the monotonic clock counts, so a jump of
//! the probe's own clock changes nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::Timestamp;
use tokio::time::Instant;

/// Age from which an estimate is replaced by a worse one: clocks drift by about a millisecond in that
/// time.
const OUTDATED_AFTER: Duration = Duration::from_secs(30);

/// One reading of the server's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Before the question was sent.
    pub(super) asked: Instant,
    /// After the answer was received.
    pub(super) answered: Instant,
    pub(super) server: Timestamp,
}

/// The estimate of the server's clock. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerClock(Arc<Mutex<Option<Estimate>>>);

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Time of the server at `at`.
    server: Timestamp,
    at: Instant,
    /// The estimate is at most this wrong.
    error: Duration,
}

impl ServerClock {
    /// Returns the server's time. Without a sample yet, 1970: no job runs before the first one.
    pub(super) fn now(&self) -> Timestamp {
        let estimate = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        estimate.map_or(Timestamp::default(), |it| it.time_at(Instant::now()))
    }

    /// Uses the time at which the server sent something that has just arrived: it is at least that late.
    pub(super) fn at_least(&self, server: Timestamp) {
        let mut estimate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(before) = estimate.as_mut()
            && before.time_at(now) < server
        {
            *before = Estimate { server, at: now, ..*before };
        }
    }

    /// Uses a sample if it is better than the estimate or contradicts it.
    pub(super) fn record(&self, sample: Sample) {
        let mut estimate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *estimate = Some(Estimate::updated(*estimate, Estimate::new(sample)));
    }
}

impl Estimate {
    fn new(sample: Sample) -> Self {
        let error = sample.answered.duration_since(sample.asked) / 2;
        Self { server: sample.server + error, at: sample.answered, error }
    }

    fn time_at(&self, at: Instant) -> Timestamp {
        self.server + at.duration_since(self.at)
    }

    fn updated(before: Option<Self>, new: Self) -> Self {
        let Some(before) = before else { return new };
        let expected = before.time_at(new.at);
        let apart = expected.since(new.server).max(new.server.since(expected));
        let is_jump = apart > before.error + new.error + Duration::from_millis(10);
        let is_outdated = new.at.duration_since(before.at) > OUTDATED_AFTER;
        if new.error <= before.error || is_outdated || is_jump { new } else { before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(start: Instant, asked: u64, answered: u64, server: i64) -> Estimate {
        let at = |millis| start + Duration::from_millis(millis);
        let server = Timestamp::from_millis(server);
        Estimate::new(Sample { asked: at(asked), answered: at(answered), server })
    }

    #[test]
    fn quick_answer_replaces_a_slow_one() {
        let start = Instant::now();
        let slow = estimate(start, 0, 200, 10_000);
        let quick = estimate(start, 200, 204, 10_150);
        let best = Estimate::updated(Some(slow), quick);
        assert_eq!(best.error, Duration::from_millis(2));
        let again = Estimate::updated(Some(best), estimate(start, 300, 500, 10_350));
        assert_eq!(again.error, Duration::from_millis(2), "a slow answer does not replace it");
        let at = start + Duration::from_millis(304);
        assert_eq!(again.time_at(at).as_millis(), 10_252);
    }

    #[test]
    fn jump_of_the_servers_clock_is_followed() {
        let start = Instant::now();
        let before = estimate(start, 0, 2, 10_000);
        let after = estimate(start, 100, 200, 3_610_150);
        let followed = Estimate::updated(Some(before), after);
        let at = start + Duration::from_millis(200);
        assert_eq!(followed.time_at(at).as_millis(), 3_610_200);
    }

    #[test]
    fn outdated_estimate_is_replaced() {
        let start = Instant::now();
        let before = estimate(start, 0, 2, 10_000);
        let later = estimate(start, 60_000, 60_050, 70_020);
        assert_eq!(Estimate::updated(Some(before), later).error, Duration::from_millis(25));
    }
}
