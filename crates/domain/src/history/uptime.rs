//! The share of time that a monitor was up (design §5 "Uptime"): used by page, feed, badge, report
//! and API alike.

use std::fmt;
use std::time::Duration;

use rules::{MonitorStatus, Timestamp};

/// A half-open time range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    /// Exclusive end.
    pub to: Timestamp,
}

/// A status and its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusFrom {
    pub at: Timestamp,
    pub status: MonitorStatus,
}

/// Known and failed time of a range, as exact as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uptime {
    /// Milliseconds with a known status; never 0.
    pub known_ms: u64,
    /// Milliseconds of those with the status `error`.
    pub error_ms: u64,
}

/// Returns the uptime in `range`: one minus the time in `error` divided by the known time, without
/// the time in `excluded` (maintenance). Returns `None` if nothing is known: no data does not mean
/// 100 %.
///
/// `before` is the status before the first of `changes`, which are ordered by time. `excluded` may
/// overlap and be in any order.
pub fn uptime(
    before: MonitorStatus,
    changes: &[StatusFrom],
    excluded: &[Span],
    range: Span,
) -> Option<Uptime> {
    let left_out = joined(excluded, range);
    let (mut known_ms, mut error_ms) = (0, 0);
    let mut stands = StatusFrom { at: range.from, status: before };
    let end = StatusFrom { at: range.to, status: MonitorStatus::Unknown };
    for change in changes.iter().copied().chain([end]) {
        let at = change.at.clamp(range.from, range.to.max(range.from));
        let counted = counted_ms(Span { from: stands.at, to: at }, &left_out);
        match stands.status {
            MonitorStatus::Unknown => {}
            MonitorStatus::Active | MonitorStatus::Degraded => known_ms += counted,
            MonitorStatus::Error => {
                known_ms += counted;
                error_ms += counted;
            }
        }
        stands = StatusFrom { at: at.max(stands.at), status: change.status };
    }
    (known_ms > 0).then_some(Uptime { known_ms, error_ms })
}

impl Span {
    /// Returns the length of the range; zero if it ends before it begins.
    pub fn length(self) -> Duration {
        self.to.since(self.from)
    }
}

impl Uptime {
    /// Returns the uptime in parts per million, rounded down: 1,000,000 only without any error.
    pub fn millionths(self) -> u32 {
        let up = u128::from(self.known_ms - self.error_ms);
        (up * 1_000_000 / u128::from(self.known_ms)) as u32
    }
}

impl fmt::Display for Uptime {
    /// Formats the uptime in percent with two decimals, rounded down.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.millionths() / 100;
        write!(f, "{}.{:02} %", hundredths / 100, hundredths % 100)
    }
}

/// Returns the spans within `range` in order of time, merged if they touch.
pub(crate) fn joined(spans: &[Span], range: Span) -> Vec<Span> {
    let mut within: Vec<Span> = spans
        .iter()
        .map(|span| Span { from: span.from.max(range.from), to: span.to.min(range.to) })
        .filter(|span| span.from < span.to)
        .collect();
    within.sort_unstable_by_key(|span| span.from);
    let mut joined: Vec<Span> = Vec::with_capacity(within.len());
    for span in within {
        match joined.last_mut() {
            Some(last) if span.from <= last.to => last.to = last.to.max(span.to),
            Some(_) | None => joined.push(span),
        }
    }
    joined
}

/// Returns the milliseconds of `span` outside of `excluded`.
fn counted_ms(span: Span, excluded: &[Span]) -> u64 {
    let length = |from: Timestamp, to: Timestamp| to.since(from).as_millis() as u64;
    let first = excluded.partition_point(|out| out.to <= span.from);
    let out: u64 = excluded[first..]
        .iter()
        .take_while(|out| out.from < span.to)
        .map(|out| length(out.from.max(span.from), out.to.min(span.to)))
        .sum();
    length(span.from, span.to).saturating_sub(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATUSES: [MonitorStatus; 4] = [
        MonitorStatus::Active,
        MonitorStatus::Degraded,
        MonitorStatus::Error,
        MonitorStatus::Unknown,
    ];

    const fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn span(from: i64, to: i64) -> Span {
        Span { from: at(from), to: at(to) }
    }

    fn status() -> impl Strategy<Value = MonitorStatus> {
        (0..4_usize).prop_map(|which| STATUSES[which])
    }

    /// Reference implementation of design §5, one millisecond at a time.
    fn counted(
        before: MonitorStatus,
        changes: &[StatusFrom],
        out: &[Span],
        range: Span,
    ) -> (u64, u64) {
        let (mut known, mut error) = (0, 0);
        for millis in range.from.as_millis()..range.to.as_millis() {
            let now = at(millis);
            if out.iter().any(|out| out.from <= now && now < out.to) {
                continue;
            }
            let last = changes.iter().rev().find(|change| change.at <= now);
            let status = last.map_or(before, |change| change.status);
            known += u64::from(status != MonitorStatus::Unknown);
            error += u64::from(status == MonitorStatus::Error);
        }
        (known, error)
    }

    proptest! {
        // design: §5 "Uptime"
        #[test]
        fn uptime_counts_each_moment_once(
            before in status(),
            mut changes in proptest::collection::vec((-20_i64..120, status()), 0..8),
            out in proptest::collection::vec((-20_i64..120, 0_i64..40), 0..5),
            (from, length) in (0_i64..100, -5_i64..100),
        ) {
            changes.sort_by_key(|(millis, _)| *millis);
            let changes: Vec<StatusFrom> =
                changes.into_iter().map(|(millis, status)| StatusFrom { at: at(millis), status }).collect();
            let out: Vec<Span> = out.into_iter().map(|(from, length)| span(from, from + length)).collect();
            let range = span(from, from + length);
            let (known_ms, error_ms) = counted(before, &changes, &out, range);
            let expected = (known_ms > 0).then_some(Uptime { known_ms, error_ms });
            prop_assert_eq!(uptime(before, &changes, &out, range), expected);
        }

        #[test]
        fn uptime_is_full_only_without_errors(known_ms in 1_u64..1 << 40, error_ms in 0_u64..1 << 40) {
            let uptime = Uptime { known_ms, error_ms: error_ms.min(known_ms) };
            prop_assert_eq!(uptime.millionths() == 1_000_000, uptime.error_ms == 0);
        }
    }

    #[test]
    fn uptime_is_rounded_down() {
        // design: §5 "rounded down"
        for (known_ms, error_ms, millionths, shown) in [
            (3, 1, 666_666, "66.66 %"),
            (1_000_000_000, 1, 999_999, "99.99 %"),
            (7, 0, 1_000_000, "100.00 %"),
            (7, 7, 0, "0.00 %"),
            (10_000, 5, 999_500, "99.95 %"),
        ] {
            let uptime = Uptime { known_ms, error_ms };
            assert_eq!((uptime.millionths(), uptime.to_string().as_str()), (millionths, shown));
        }
    }

    #[test]
    fn unknown_status_has_no_uptime() {
        // design: §5 "no data is not 100 %"
        assert_eq!(uptime(MonitorStatus::Unknown, &[], &[], span(0, 100)), None);
        assert_eq!(uptime(MonitorStatus::Active, &[], &[span(0, 100)], span(0, 100)), None);
        assert_eq!(uptime(MonitorStatus::Error, &[], &[], span(5, 5)), None);
    }
}
