//! maintenance: computes the windows of a planned maintenance for a limited time ahead, and updates
//! them when the schedule changes. The store persists them and knows whether one is active.

mod day;
mod occurrences;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::civil::DateTime;
use rules::maintenance::{RecurrenceEnd, Schedule};
use rules::{TimeZone, Timestamp, limits};

use self::occurrences::Occurrences;
use crate::history::{Span, joined};

/// Maximum number of windows computed at once; later ones are computed by the next call.
pub const WINDOWS_MAX: usize = 1_000;
/// Maximum change of order of occurrences when clocks are set forward.
const OUT_OF_ORDER_MAX: Duration = Duration::from_hours(24);

/// The windows of a maintenance from some time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpcomingWindows {
    /// Windows in order of time; overlapping or adjacent ones are merged.
    pub windows: Vec<Span>,
    /// All windows that begin before this are included; `None` if no more follow.
    pub until: Option<Timestamp>,
}

/// Status of a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceStatus {
    /// A window is upcoming, and none is active.
    Scheduled,
    /// A window is active.
    Active,
    /// No window is active or upcoming.
    Completed,
}

/// Returns the windows that end after `range` begins and begin before it ends. Returns at least the
/// next window, if any, and at most [`WINDOWS_MAX`].
pub fn upcoming_windows(schedule: &Schedule, range: Span) -> UpcomingWindows {
    let from = range.from;
    let window = |at: Timestamp| Span { from: at, to: at + schedule.duration.duration() };
    let Some(rule) = &schedule.recurrence else {
        let once = Some(window(schedule.starts_at)).filter(|window| window.to > from);
        return UpcomingWindows { windows: once.into_iter().collect(), until: None };
    };
    let zone = &schedule.time_zone;
    // Start early enough for any difference between two clocks.
    let back = schedule.duration.duration() + 2 * OUT_OF_ORDER_MAX;
    let Some(start) = local(zone, schedule.starts_at) else { return UpcomingWindows::NONE };
    let mut occurrences = Occurrences::new(rule, start);
    if let Some(first) = local(zone, from - back) {
        occurrences.skip_to(first);
    }
    let (mut windows, mut until) = (Vec::new(), None);
    for occurrence in occurrences {
        let Some(at) = instant(zone, occurrence) else { break };
        if is_past(rule.end, occurrence, at) {
            break;
        }
        let window = window(at);
        if window.to <= from {
            continue;
        }
        let is_far = at >= range.to && !windows.is_empty();
        match until {
            None if is_far || windows.len() == WINDOWS_MAX => until = Some(at),
            Some(until) if at > until + OUT_OF_ORDER_MAX => break,
            Some(until) if at >= until => {}
            None | Some(_) => windows.push(window),
        }
    }
    UpcomingWindows { windows: in_order(&windows), until }
}

/// Returns the range for which windows are stored, starting now.
pub fn planning_horizon(now: Timestamp) -> Span {
    Span { from: now, to: now + limits::MAINTENANCE_HORIZON }
}

/// Returns the windows after a change of the schedule. Past windows stay stored and are not
/// returned. Time before the change counts only for the window that is active since `current`.
pub fn changed(current: Option<Timestamp>, ahead: &[Span], now: Timestamp) -> Vec<Span> {
    let begin = current.unwrap_or(now);
    let clipped = ahead.iter().map(|window| {
        let from = if window.from < now { begin } else { window.from };
        Span { from, to: window.to }
    });
    let passed = Span { from: begin, to: now };
    in_order(&clipped.chain([passed]).collect::<Vec<_>>())
}

/// Returns the windows to store in addition to those that begin before `until`. `last`, the last
/// stored one, is returned again if it became longer.
pub fn windows_to_add(last: Option<Span>, more: &[Span], until: Timestamp) -> Vec<Span> {
    let more = more.iter().filter(|window| window.from >= until).copied();
    in_order(&last.into_iter().chain(more).collect::<Vec<_>>())
}

/// Returns the status of a maintenance.
pub const fn status(is_current: bool, has_next: bool) -> MaintenanceStatus {
    match (is_current, has_next) {
        (true, _) => MaintenanceStatus::Active,
        (false, true) => MaintenanceStatus::Scheduled,
        (false, false) => MaintenanceStatus::Completed,
    }
}

impl UpcomingWindows {
    /// No windows.
    pub const NONE: Self = Self { windows: Vec::new(), until: None };
}

impl MaintenanceStatus {
    /// Returns the name used in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Active => "active",
            Self::Completed => "completed",
        }
    }

    /// All variants in order of time.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Active, Self::Completed];
}

fn in_order(windows: &[Span]) -> Vec<Span> {
    let always =
        Span { from: Timestamp::from_millis(i64::MIN), to: Timestamp::from_millis(i64::MAX) };
    joined(windows, always)
}

/// Returns whether the recurrence ended before this occurrence. [`Occurrences`] enforces a count.
fn is_past(end: Option<RecurrenceEnd>, occurrence: DateTime, at: Timestamp) -> bool {
    match end {
        None | Some(RecurrenceEnd::Count(_)) => false,
        Some(RecurrenceEnd::At(end)) => at > end,
        Some(RecurrenceEnd::Local(end)) => occurrence > end,
    }
}

/// Returns the local time in the zone.
fn local(zone: &TimeZone, at: Timestamp) -> Option<DateTime> {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(zone.as_jiff().to_datetime(at))
}

/// Returns the instant of a local time in the zone: the first one if the time is repeated. A
/// skipped time moves later by the size of the gap (RFC 5545 §3.3.5).
fn instant(zone: &TimeZone, at: DateTime) -> Option<Timestamp> {
    let at = zone.as_jiff().to_ambiguous_timestamp(at).compatible().ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}
