//! Bars of days: how long a component was in each state on a day of UTC.

use rules::{MonitorStatus, Timestamp};

use super::DAYS;
use crate::history::{Span, StatusFrom, Uptime, uptime};

pub(super) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// One day of a component. The parts and what is not known are together the day, or of today what
/// has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Its first instant.
    pub begins: Timestamp,
    /// Milliseconds in which it worked, outside of maintenance.
    pub up_ms: u64,
    /// Milliseconds in which it was slow or partly failing, outside of maintenance.
    pub degraded_ms: u64,
    /// Milliseconds in which it was down, outside of maintenance.
    pub down_ms: u64,
    /// Milliseconds of maintenance.
    pub maintenance_ms: u64,
    /// The share of the time known in which it was up; `None` where nothing is known.
    pub uptime: Option<Uptime>,
}

/// The first instant of the day of UTC that `at` is in.
pub(super) fn day_of(at: Timestamp) -> Timestamp {
    Timestamp::from_millis(at.as_millis().div_euclid(DAY_MS) * DAY_MS)
}

/// The last [`DAYS`] until `now`, oldest first. `before` is the status until the first of `changes`,
/// which are in the order of time; `windows` of maintenance may overlap and be in any order.
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
        // Most days are of one piece.
        days.push(if within.is_empty() && !windows.iter().any(is_out) {
            whole_day(stands, range)
        } else {
            day((stands, within), windows, range)
        });
    }
    days
}

/// The uptime over all of these days together; `None` where nothing is known of any.
pub fn uptime_of(days: &[Day]) -> Option<Uptime> {
    let known = days.iter().filter_map(|day| day.uptime);
    known.reduce(|all, day| Uptime {
        known_ms: all.known_ms + day.known_ms,
        error_ms: all.error_ms + day.error_ms,
    })
}

/// A day of one status, without maintenance: what [`day`] would count, where there is nothing to count.
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

/// One day, of the status it began with and the changes in it.
fn day((before, changes): (MonitorStatus, &[StatusFrom]), windows: &[Span], range: Span) -> Day {
    // Time in one status is what would be lost if only that were down.
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
    fn a_day_of_one_piece_is_what_counting_its_parts_comes_to() {
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
