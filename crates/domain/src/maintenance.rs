//! maintenance: when the windows of a planned maintenance are, as far ahead as they are written down,
//! and what becomes of them when it is changed. Keeping them, and asking whether one is on, belongs to
//! the store.

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

/// Most windows that are worked out at once; what comes after them is for the next time.
pub const WINDOWS_MAX: usize = 1_000;
/// Occurrences may change their order by this much where clocks are set forward.
const OUT_OF_ORDER_MAX: Duration = Duration::from_hours(24);

/// The windows of a maintenance from some time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Its windows in the order of time; those that overlap or touch are one.
    pub windows: Vec<Span>,
    /// All that begin before this are there; `None` where none begins later.
    pub until: Option<Timestamp>,
}

/// How far a maintenance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// A window is to come, and none is on.
    Scheduled,
    /// A window is on.
    Active,
    /// None is on, and none is to come.
    Over,
}

/// The windows that end after `range` begins and begin before it ends: at least the next one, where
/// there is one, and at most [`WINDOWS_MAX`].
pub fn ahead(schedule: &Schedule, range: Span) -> Ahead {
    let from = range.from;
    let window = |at: Timestamp| Span { from: at, to: at + schedule.duration.duration() };
    let Some(rule) = &schedule.recurrence else {
        let once = Some(window(schedule.starts_at)).filter(|window| window.to > from);
        return Ahead { windows: once.into_iter().collect(), until: None };
    };
    let zone = &schedule.time_zone;
    // Before the first window that matters by more than any two clocks differ.
    let back = schedule.duration.duration() + 2 * OUT_OF_ORDER_MAX;
    let Some(start) = local(zone, schedule.starts_at) else { return Ahead::NONE };
    let mut occurrences = Occurrences::of(rule, start);
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
    Ahead { windows: in_order(&windows), until }
}

/// The time for which windows are written down: from now on, as far ahead as that is done.
pub fn written(now: Timestamp) -> Span {
    Span { from: now, to: now + limits::MAINTENANCE_AHEAD }
}

/// The windows of a maintenance whose schedule was changed: what has passed stays and is not among
/// them. Nothing counts from before the change but the window that was on since `current`.
pub fn changed(current: Option<Timestamp>, ahead: &[Span], now: Timestamp) -> Vec<Span> {
    let begin = current.unwrap_or(now);
    let clipped = ahead.iter().map(|window| {
        let from = if window.from < now { begin } else { window.from };
        Span { from, to: window.to }
    });
    let passed = Span { from: begin, to: now };
    in_order(&clipped.chain([passed]).collect::<Vec<_>>())
}

/// The windows to write in addition to those that begin before `until`, of which `last` is the last:
/// it comes again, longer, where it goes on.
pub fn extended(last: Option<Span>, more: &[Span], until: Timestamp) -> Vec<Span> {
    let more = more.iter().filter(|window| window.from >= until).copied();
    in_order(&last.into_iter().chain(more).collect::<Vec<_>>())
}

/// How far a maintenance has come, of which a window is `current` or some is to come.
pub const fn course(is_current: bool, has_next: bool) -> Course {
    match (is_current, has_next) {
        (true, _) => Course::Active,
        (false, true) => Course::Scheduled,
        (false, false) => Course::Over,
    }
}

impl Ahead {
    /// No windows, and none to come.
    pub const NONE: Self = Self { windows: Vec::new(), until: None };
}

impl Course {
    /// The word of the interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Active => "active",
            Self::Over => "over",
        }
    }

    /// All of them, in the order of time.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Active, Self::Over];
}

fn in_order(windows: &[Span]) -> Vec<Span> {
    let always =
        Span { from: Timestamp::from_millis(i64::MIN), to: Timestamp::from_millis(i64::MAX) };
    joined(windows, always)
}

/// Whether the recurrence has ended before this. How many there were is known to the occurrences.
fn is_past(end: Option<RecurrenceEnd>, occurrence: DateTime, at: Timestamp) -> bool {
    match end {
        None | Some(RecurrenceEnd::Count(_)) => false,
        Some(RecurrenceEnd::At(end)) => at > end,
        Some(RecurrenceEnd::Local(end)) => occurrence > end,
    }
}

/// What the clock of the zone shows.
fn local(zone: &TimeZone, at: Timestamp) -> Option<DateTime> {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(zone.as_jiff().to_datetime(at))
}

/// When the clock of the zone shows this: the first time, where it does so twice; later by as much
/// as the clock is set forward, where it never does (RFC 5545 §3.3.5).
fn instant(zone: &TimeZone, at: DateTime) -> Option<Timestamp> {
    let at = zone.as_jiff().to_ambiguous_timestamp(at).compatible().ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}
