//! A month as weeks of days, each with the windows that touch it. Days are those of UTC.

use std::time::Duration;

use domain::history::Span;
use domain::page::Month;
use rules::Timestamp;
use store::MaintenanceWindow;

use crate::time;

const DAY: Duration = Duration::from_hours(24);
/// Names of the days, from Monday.
pub(super) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Number of days in a week.
const WEEK: usize = 7;
/// Maximum number of windows that a day shows; others are counted.
const PER_DAY_MAX: usize = 4;

/// A day of the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CalendarDay {
    /// Day such as `2026-11-21`.
    pub(super) date: String,
    pub(super) number: String,
    /// Name of its month.
    pub(super) month: String,
    /// Whether it belongs to the month.
    pub(super) is_inside: bool,
    pub(super) is_today: bool,
    pub(super) windows: Vec<CalendarWindow>,
    /// Number of windows that are not shown.
    pub(super) more: usize,
}

/// A window on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CalendarWindow {
    pub(super) maintenance: String,
    pub(super) title: String,
    /// Time of day, such as `02:00–04:00`, `from 22:00`, `until 02:00` or `all day`.
    pub(super) when: String,
}

/// Returns the days that the calendar of a month shows: whole weeks from Monday.
pub(super) fn shown_days(month: Month) -> Span {
    let span = month.span();
    let back = weekday(span.from);
    let last = span.to - DAY;
    let ahead = WEEK - 1 - weekday(last);
    Span { from: span.from - DAY * back as u32, to: last + DAY * (ahead as u32 + 1) }
}

/// Returns the weeks of a month with these windows.
pub(super) fn weeks(
    month: Month,
    windows: &[MaintenanceWindow],
    now: Timestamp,
) -> Vec<Vec<CalendarDay>> {
    let (shown, inside) = (shown_days(month), month.span());
    let mut days = Vec::new();
    let mut begin = shown.from;
    while begin < shown.to {
        let day = Span { from: begin, to: begin + DAY };
        let touching: Vec<CalendarWindow> =
            windows.iter().filter_map(|window| on_day(window, day)).collect();
        days.push(CalendarDay {
            date: time::format(begin, time::DAY),
            number: time::format(begin, "%-d"),
            month: time::format(begin, "%B"),
            is_inside: inside.from <= begin && begin < inside.to,
            is_today: day.from <= now && now < day.to,
            more: touching.len().saturating_sub(PER_DAY_MAX),
            windows: touching.into_iter().take(PER_DAY_MAX).collect(),
        });
        begin = day.to;
    }
    days.chunks(WEEK).map(<[CalendarDay]>::to_vec).collect()
}

fn on_day(shown: &MaintenanceWindow, day: Span) -> Option<CalendarWindow> {
    let Span { from, to } = shown.window;
    if to <= day.from || from >= day.to {
        return None;
    }
    let clock = |at: Timestamp| time::format(at, "%H:%M");
    let when = match (from < day.from, to > day.to) {
        (true, true) => "all day".to_owned(),
        (true, false) => format!("until {}", clock(to)),
        (false, true) => format!("from {}", clock(from)),
        (false, false) => format!("{}–{}", clock(from), clock(to)),
    };
    Some(CalendarWindow {
        maintenance: shown.maintenance.to_string(),
        title: shown.title.clone(),
        when,
    })
}

/// Returns the number of days since Monday.
fn weekday(at: Timestamp) -> usize {
    // 1970-01-01 was a Thursday, three days after Monday.
    let days = at.as_millis().div_euclid(DAY.as_millis() as i64);
    (days + 3).rem_euclid(WEEK as i64) as usize
}

#[cfg(test)]
mod tests {
    use rules::MaintenanceId;

    use super::*;

    fn at(text: &str) -> Timestamp {
        time::parse_day(text).unwrap()
    }

    #[test]
    fn calendar_shows_whole_weeks() {
        // November 2026 begins on a Sunday and ends on a Monday.
        let month = Month::parse("2026-11").unwrap();
        let weeks = weeks(month, &[], at("2026-11-21"));
        assert_eq!(weeks.len(), 6);
        assert_eq!((weeks[0][0].date.as_str(), weeks[0][0].is_inside), ("2026-10-26", false));
        assert_eq!((weeks[0][6].date.as_str(), weeks[0][6].is_inside), ("2026-11-01", true));
        assert_eq!(weeks[5][6].date, "2026-12-06");
        let today: Vec<_> = weeks.iter().flatten().filter(|day| day.is_today).collect();
        assert!(today.len() == 1 && today[0].number == "21");
    }

    #[test]
    fn february_of_four_weeks_needs_four_rows() {
        // February 2027 begins on a Monday.
        let weeks = weeks(Month::parse("2027-02").unwrap(), &[], at("2026-11-21"));
        assert!(weeks.len() == 4 && weeks.iter().flatten().all(|day| day.is_inside));
    }

    #[test]
    fn window_over_midnight_appears_on_every_day() {
        let from = at("2026-11-21") + Duration::from_hours(22);
        let window = MaintenanceWindow {
            maintenance: MaintenanceId::from_bits(1),
            title: "Disks".to_owned(),
            window: Span { from, to: at("2026-11-23") + Duration::from_hours(2) },
        };
        let weeks = weeks(Month::parse("2026-11").unwrap(), &[window], from);
        let shown: Vec<_> = weeks
            .iter()
            .flatten()
            .flat_map(|day| day.windows.iter().map(|it| (day.number.as_str(), it.when.as_str())))
            .collect();
        assert_eq!(shown, [("21", "from 22:00"), ("22", "all day"), ("23", "until 02:00")]);
    }
}
