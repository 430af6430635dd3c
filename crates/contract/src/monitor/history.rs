//! Encodes history as 32-bit numbers, and converts instants both ways.

use buffa_types::google::protobuf::Timestamp as WireTimestamp;
use rules::Timestamp;

use super::{encode_instant, wire};

/// Content of a summary. Latencies are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryNumbers {
    /// Number of checks that succeeded in time.
    pub success: u32,
    /// Number of checks that succeeded but were slow.
    pub degraded: u32,
    /// Number of checks that failed.
    pub failure: u32,
    /// Number of skipped slots.
    pub skipped: u32,
    /// Number of slots that were not run.
    pub missed: u32,
    /// Percentiles 50, 75, 90, 95 and 99.
    pub percentiles_us: [Option<u32>; 5],
    /// Mean latency.
    pub mean_us: Option<u32>,
    /// End of the last check.
    pub last_at: Option<Timestamp>,
}

impl From<SummaryNumbers> for wire::Summary {
    fn from(numbers: SummaryNumbers) -> Self {
        let SummaryNumbers { success, degraded, failure, skipped, missed, .. } = numbers;
        let [p50, p75, p90, p95, p99] = numbers.percentiles_us.map(|part| part.map(micros));
        Self {
            checks: micros(success.saturating_add(degraded).saturating_add(failure)),
            success: micros(success),
            degraded: micros(degraded),
            failure: micros(failure),
            skipped: micros(skipped),
            p50_us: p50,
            p75_us: p75,
            p90_us: p90,
            p95_us: p95,
            p99_us: p99,
            mean_us: numbers.mean_us.map(micros),
            last_checked_at: numbers.last_at.map(encode_instant).unwrap_or_default(),
            missed: micros(missed),
        }
    }
}

/// Encodes a count or a duration. Values that do not fit become the maximum.
pub fn micros(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Decodes an instant to the millisecond. Returns `None` if it is out of range.
pub fn decode_instant(given: &WireTimestamp) -> Option<Timestamp> {
    let millis = given.seconds.checked_mul(1_000)?.checked_add(i64::from(given.nanos / 1_000_000));
    millis.map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_reads_back_from_the_wire() {
        for millis in [-1, 0, 1_800_000_000_123] {
            let at = Timestamp::from_millis(millis);
            let shown = encode_instant(at);
            assert_eq!(decode_instant(shown.as_option().unwrap()), Some(at));
        }
        let far = WireTimestamp { seconds: i64::MAX, ..WireTimestamp::default() };
        assert_eq!(decode_instant(&far), None);
    }

    #[test]
    fn empty_summary_has_no_latencies() {
        let summary = wire::Summary::from(SummaryNumbers::default());
        assert_eq!((summary.checks, summary.p50_us, summary.mean_us), (0, None, None));
        assert!(summary.last_checked_at.as_option().is_none());
    }
}
