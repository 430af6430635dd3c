//! Bars of days: the time of a component in each state on a day in UTC.

use rules::{MonitorStatus, Timestamp};

use super::DAYS;
use crate::history::{Span, StatusFrom, Uptime, uptime};

pub(super) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// One day of a component. The parts and the unknown time add up to the day, or to the elapsed part
/// of today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    pub begins: Timestamp,
    /// Milliseconds with the status `active`, outside of maintenance.
    pub up_ms: u64,
    /// Milliseconds with the status `degraded`, outside of maintenance.
    pub degraded_ms: u64,
    /// Milliseconds with the status `error`, outside of maintenance.
    pub down_ms: u64,
    /// Milliseconds of maintenance.
    pub maintenance_ms: u64,
    /// Uptime of the known time; `None` if nothing is known.
    pub uptime: Option<Uptime>,
}

/// Returns the begin of the day in UTC that contains `at`.
pub(super) fn day_of(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(DAY_MS) * DAY_MS)
}

/// Computes the last [`DAYS`] until `now`, oldest first. `before` is the status before the first of
/// `changes`, which are ordered by time; maintenance `windows` may overlap and be in any order.
pub fn days(
    before: MonitorStatus,
    changes: &[StatusFrom],
    windows: &[Span],
    now: Timestamp,
) -> Vec<Day> {
    let today = day_of(now).as_millis();
    let (mut stands, mut rest) = (before, changes);
    let mut days = Vec::with_capacity(DAYS);
    for back in (0..DAYS as i64).rev() {
        let begins = Timestamp::from_millis(today - back * DAY_MS);
        let ends = Timestamp::from_millis(begins.as_millis() + DAY_MS).min(now);
        let earlier = rest.partition_point(|change| change.at < begins);
        stands = earlier.checked_sub(1).map_or(stands, |last| rest[last].status);
        rest = &rest[earlier..];
        let within = &rest[..rest.partition_point(|change| change.at < ends)];
        let range = Span { from: begins, to: ends };
        let is_out = |out: &Span| out.from < range.to && range.from < out.to;
        // Most days have a single status.
        days.push(if within.is_empty() && !windows.iter().any(is_out) {
            whole_day(stands, range)
        } else {
            day((stands, within), windows, range)
        });
    }
    days
}

/// Returns the uptime over all given days, or `None` if nothing is known.
pub fn uptime_of(days: &[Day]) -> Option<Uptime> {
    let known = days.iter().filter_map(|day| day.uptime);
    known.reduce(|all, day| Uptime {
        known_ms: all.known_ms + day.known_ms,
        error_ms: all.error_ms + day.error_ms,
    })
}

/// Computes a day with one status and no maintenance, with the same result as [`day`].
fn whole_day(status: MonitorStatus, range: Span) -> Day {
    let whole = range.to.since(range.from).as_millis() as u64;
    let in_status = |wanted| if status == wanted { whole } else { 0 };
    let error_ms = in_status(MonitorStatus::Error);
    let is_known = status != MonitorStatus::Unknown && whole > 0;
    Day {
        begins: range.from,
        up_ms: in_status(MonitorStatus::Active),
        degraded_ms: in_status(MonitorStatus::Degraded),
        down_ms: error_ms,
        maintenance_ms: 0,
        uptime: is_known.then_some(Uptime { known_ms: whole, error_ms }),
    }
}

/// Computes one day from the status at its begin and the changes within it.
fn day((before, changes): (MonitorStatus, &[StatusFrom]), windows: &[Span], range: Span) -> Day {
    // The time in one status is the downtime if only that status counted as down.
    let time_in = |wanted: MonitorStatus| {
        let only = |status| {
            if status == wanted { MonitorStatus::Error } else { MonitorStatus::Active }
        };
        let changes: Vec<StatusFrom> =
            changes.iter().map(|it| StatusFrom { status: only(it.status), ..*it }).collect();
        uptime(only(before), &changes, windows, range).map_or(0, |time| time.error_ms)
    };
    let counted = uptime(MonitorStatus::Active, &[], windows, range).map_or(0, |all| all.known_ms);
    let whole = range.to.since(range.from).as_millis() as u64;
    Day {
        begins: range.from,
        up_ms: time_in(MonitorStatus::Active),
        degraded_ms: time_in(MonitorStatus::Degraded),
        down_ms: time_in(MonitorStatus::Error),
        maintenance_ms: whole - counted,
        uptime: uptime(before, changes, windows, range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_with_one_status_equals_general_computation() {
        let at = Timestamp::from_millis;
        for status in [
            MonitorStatus::Active,
            MonitorStatus::Degraded,
            MonitorStatus::Error,
            MonitorStatus::Unknown,
        ] {
            for length in [0, 1, DAY_MS] {
                let range = Span { from: at(DAY_MS), to: at(DAY_MS + length) };
                let windows = [
                    Span { from: at(0), to: range.from },
                    Span { from: range.to, to: at(3 * DAY_MS) },
                ];
                let counted = day((status, &[]), &windows, range);
                assert_eq!(whole_day(status, range), counted, "{status:?} {length}");
            }
        }
    }
}
