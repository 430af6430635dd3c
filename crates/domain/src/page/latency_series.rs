//! The latency series of a component over several days: percentiles and phases by hour or day, for
//! components whose monitor is public.

use rules::Timestamp;

use crate::history::{PHASES, PhaseSum, Rollup, Span};

/// The displayed percentiles.
pub const PERCENTILES: [u8; 5] = [50, 75, 90, 95, 99];

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Time range of a latency series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// The last day, by hour.
    Day,
    /// The last seven days, by three hours.
    Week,
    /// The last 30 days, by day.
    Month,
    /// The last 90 days, by day.
    Quarter,
}

/// Latency during one step of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyPoint {
    pub begins: Timestamp,
    /// Number of successful checks.
    pub successes: u32,
    /// The [`PERCENTILES`] in microseconds; `None` without a successful check.
    pub percentiles_us: Option<[u32; 5]>,
    /// Average duration of each phase in microseconds; `None` if no sampled check succeeded.
    pub phases_us: Option<[u32; PHASES]>,
}

impl Range {
    /// All variants, shortest first.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Quarter];

    /// Returns the name used in URLs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "1d",
            Self::Week => "7d",
            Self::Month => "30d",
            Self::Quarter => "90d",
        }
    }

    /// Parses the name of a range.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|range| range.as_str() == word)
    }

    /// Returns the number of days.
    pub const fn days(self) -> u32 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
        }
    }

    /// Returns whether to read rollups of days instead of hours.
    pub const fn is_by_day(self) -> bool {
        match self {
            Self::Day | Self::Week => false,
            Self::Month | Self::Quarter => true,
        }
    }

    const fn step_ms(self) -> i64 {
        match self {
            Self::Day => HOUR_MS,
            Self::Week => 3 * HOUR_MS,
            Self::Month | Self::Quarter => DAY_MS,
        }
    }

    /// Returns the number of samples per step that read single checks: every ten minutes for a day,
    /// fewer for longer ranges, so that every range needs a similar number of reads.
    const fn samples_per_step(self) -> i64 {
        match self {
            Self::Day | Self::Month => 6,
            Self::Week => 3,
            Self::Quarter => 2,
        }
    }

    /// Returns the begin of each step until `now`, oldest first, including the current step.
    pub fn steps(self, now: Timestamp) -> Vec<Timestamp> {
        let step = self.step_ms();
        let last = now.as_millis().div_euclid(step) * step;
        let count = i64::from(self.days()) * DAY_MS / step;
        (0..count).rev().map(|back| Timestamp::from_millis(last - back * step)).collect()
    }

    /// Returns the span from the first step to `now`.
    pub fn span(self, now: Timestamp) -> Span {
        let first = self.steps(now).first().copied().unwrap_or(now);
        Span { from: first, to: now }
    }

    /// Returns the instants until `now`, oldest first, at which to sample single checks for their
    /// phases.
    pub fn sample_times(self, now: Timestamp) -> Vec<Timestamp> {
        let part = self.step_ms() / self.samples_per_step();
        let moments = self.steps(now).into_iter().flat_map(move |step| {
            (0..self.samples_per_step()).map(move |part_of| step.as_millis() + part_of * part)
        });
        moments.map(Timestamp::from_millis).filter(|at| *at <= now).collect()
    }
}

/// Computes the series over `range` until `now`, with a point for each step. `rollups` and `phases`
/// are rollups with their begin.
pub fn latency_series(
    range: Range,
    now: Timestamp,
    rollups: &[(Timestamp, Rollup)],
    phases: &[(Timestamp, PhaseSum)],
) -> Vec<LatencyPoint> {
    let step = range.step_ms();
    let point = |begins: Timestamp| {
        let ends = begins.as_millis() + step;
        let is_within = |at: Timestamp| begins <= at && at.as_millis() < ends;
        let (mut sum, mut spent) = (Rollup::default(), PhaseSum::default());
        for (_, part) in rollups.iter().filter(|(at, _)| is_within(*at)) {
            sum.merge(part);
        }
        for (_, part) in phases.iter().filter(|(at, _)| is_within(*at)) {
            spent.merge(part);
        }
        let percentile = |percent| sum.latency.percentile(percent).unwrap_or(0);
        LatencyPoint {
            begins,
            successes: sum.success.saturating_add(sum.degraded),
            percentiles_us: (sum.latency.count() > 0).then(|| PERCENTILES.map(percentile)),
            phases_us: spent.means_us(),
        }
    };
    range.steps(now).into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Outcome, Phases};

    /// 14:35 of a day.
    const NOW: Timestamp = Timestamp::from_millis(20_000 * DAY_MS + 14 * HOUR_MS + 35 * 60_000);

    #[test]
    fn every_range_needs_few_hundred_rows() {
        for (range, steps, moments) in [
            (Range::Day, 24, 142),
            (Range::Week, 56, 168),
            (Range::Month, 30, 178),
            (Range::Quarter, 90, 180),
        ] {
            assert_eq!(Range::parse(range.as_str()), Some(range));
            let (of_time, looked_at) = (range.steps(NOW), range.sample_times(NOW));
            assert_eq!((of_time.len(), looked_at.len()), (steps, moments), "{range:?}");
            assert!(of_time.last().is_some_and(|last| *last <= NOW), "{range:?}");
            assert!(looked_at.iter().all(|at| range.span(NOW).from <= *at && *at <= NOW));
        }
        assert_eq!(Range::parse("2d"), None);
    }

    #[test]
    fn step_merges_its_parts_and_may_be_empty() {
        let hour = |hour: i64, latency_us| {
            let at = Timestamp::from_millis(20_000 * DAY_MS + hour * HOUR_MS);
            let mut sum = Rollup::default();
            sum.add(Outcome::Success, Some(latency_us), at);
            sum.add(Outcome::Failure, Some(9_000_000), at);
            (at, sum)
        };
        let mut spent = PhaseSum::default();
        spent.add(&Phases { dns_us: Some(300), ..Phases::default() });
        let rollups = [hour(12, 100_000), hour(14, 300_000)];
        let points = latency_series(Range::Week, NOW, &rollups, &[(rollups[1].0, spent)]);
        let last = points.last().unwrap();
        assert_eq!((last.begins, last.successes), (rollups[0].0, 2));
        let [median, .., most] = last.percentiles_us.unwrap();
        assert!(median.abs_diff(100_000) <= 1_000 && most.abs_diff(300_000) <= 3_000);
        assert_eq!(last.phases_us, Some([300, 0, 0, 0, 0]));
        assert!(
            points[..55].iter().all(|it| it.percentiles_us.is_none() && it.phases_us.is_none())
        );
    }
}
