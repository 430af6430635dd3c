//! Preview of the next windows of a schedule, before it is saved.

use domain::history::Span;
use domain::maintenance::{planning_horizon, upcoming_windows};
use rules::maintenance::{Recurrence, Schedule};
use rules::{Interval, TimeZone, Timestamp};

use crate::form::Values;
use crate::time::parse_input;

/// Number of windows in the preview.
const WINDOWS: usize = 6;

/// The next windows, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Preview {
    /// Start or duration is missing or invalid.
    Incomplete,
    /// The rule of the recurrence is invalid, for this reason.
    Invalid(String),
    /// All windows are over.
    Over,
    Windows {
        next: Vec<Span>,
        has_more: bool,
    },
}

/// Returns the preview of the schedule in a form.
pub(super) fn preview(values: &Values, now: Timestamp) -> Preview {
    let text = |name: &str| values.first(name).unwrap_or_default().trim();
    let starts_at = parse_input(text("starts_at"));
    let (Some(starts_at), Ok(duration)) = (starts_at, Interval::parse(text("duration"))) else {
        return Preview::Incomplete;
    };
    let zone = Some(text("time_zone")).filter(|zone| !zone.is_empty()).unwrap_or("UTC");
    let time_zone = match TimeZone::parse(zone) {
        Ok(zone) => zone,
        Err(why) => return Preview::Invalid(format!("The time zone {why}.")),
    };
    let rule = Some(text("recurrence")).filter(|rule| !rule.is_empty());
    let recurrence = match rule.map(Recurrence::parse).transpose() {
        Ok(recurrence) => recurrence,
        Err(why) => return Preview::Invalid(format!("The rule {why}.")),
    };
    of_schedule(&Schedule { starts_at, duration, time_zone, recurrence }, now)
}

/// Returns the preview of a valid schedule.
pub(super) fn of_schedule(schedule: &Schedule, now: Timestamp) -> Preview {
    let mut windows = upcoming_windows(schedule, planning_horizon(now)).windows;
    let has_more = windows.len() > WINDOWS;
    windows.truncate(WINDOWS);
    if windows.is_empty() { Preview::Over } else { Preview::Windows { next: windows, has_more } }
}

#[cfg(test)]
mod tests {
    use rules::tables::MAINTENANCE;

    use super::*;

    fn form(recurrence: &str, duration: &str) -> Values {
        let fields = [
            ("starts_at", "2026-11-22T02:00"),
            ("duration", duration),
            ("time_zone", "Europe/Berlin"),
            ("recurrence", recurrence),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Values::posted(fields.to_vec(), &MAINTENANCE)
    }

    /// 2026-11-21.
    const NOW: Timestamp = Timestamp::from_millis(1_795_219_200_000);

    #[test]
    fn weekly_rule_previews_the_next_windows() {
        let Preview::Windows { next, has_more } = preview(&form("FREQ=WEEKLY", "2h"), NOW) else {
            panic!("windows");
        };
        assert_eq!((next.len(), has_more), (WINDOWS, true));
        assert_eq!(next[0].from.to_string(), "2026-11-22T02:00:00.000Z");
        assert_eq!(next[1].from.to_string(), "2026-11-29T02:00:00.000Z");
    }

    #[test]
    fn invalid_schedule_explains_itself() {
        assert_eq!(preview(&form("", ""), NOW), Preview::Incomplete);
        assert_eq!(preview(&Values::default(), NOW), Preview::Incomplete);
        assert!(matches!(preview(&form("FREQ=SOMETIMES", "2h"), NOW), Preview::Invalid(_)));
        let late = NOW + std::time::Duration::from_hours(24 * 30);
        assert_eq!(preview(&form("", "2h"), late), Preview::Over);
    }
}
