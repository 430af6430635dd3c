//! Matches days against a recurrence (RFC 5545 §3.3.10), independent of its frequency.

use jiff::civil::{Date, Weekday};
use rules::maintenance::{Frequency, Recurrence};

/// Returns whether the rule includes this day of a matching period. `start` supplies what the rule
/// omits.
pub(super) fn is_included(rule: &Recurrence, start: Date, day: Date) -> bool {
    among(&rule.months, day.month().into())
        && in_week(rule, day)
        && among_counted(&rule.year_days, day.day_of_year(), day.days_in_year())
        && among_counted(&rule.month_days, day.day().into(), day.days_in_month().into())
        && (rule.days.is_empty() || rule.days.iter().any(|wanted| is_weekday(rule, *wanted, day)))
        && matches_start(rule, start, day)
}

/// Returns the first day of the week of this day.
pub(super) fn week_of(day: Date, week_start: Weekday) -> Option<Date> {
    let into = i64::from(day.weekday().since(week_start));
    day.checked_sub(jiff::Span::new().days(into)).ok()
}

fn among(wanted: &[i16], number: i16) -> bool {
    wanted.is_empty() || wanted.contains(&number)
}

/// Returns whether the number, from 1 to `last`, is wanted. Negative numbers count from the end.
fn among_counted(wanted: &[i16], number: i16, last: i16) -> bool {
    wanted.is_empty() || wanted.contains(&number) || wanted.contains(&(number - last - 1))
}

/// Returns whether the day matches the start in what the rule omits: the day of the year, month or
/// week.
fn matches_start(rule: &Recurrence, start: Date, day: Date) -> bool {
    if !(rule.year_days.is_empty() && rule.month_days.is_empty() && rule.days.is_empty()) {
        return true;
    }
    let is_month = !rule.months.is_empty() || day.month() == start.month();
    match rule.frequency {
        Frequency::Yearly if rule.weeks.is_empty() => is_month && day.day() == start.day(),
        Frequency::Monthly => day.day() == start.day(),
        Frequency::Yearly | Frequency::Weekly => day.weekday() == start.weekday(),
        Frequency::Daily | Frequency::Hourly | Frequency::Minutely => true,
    }
}

/// Returns whether the day matches one wanted weekday: every one, or the n-th of its month or year.
fn is_weekday(rule: &Recurrence, (which, weekday): (i16, Weekday), day: Date) -> bool {
    if day.weekday() != weekday {
        return false;
    }
    let of_month = rule.frequency == Frequency::Monthly || !rule.months.is_empty();
    let (number, last): (i16, i16) = if of_month {
        (day.day().into(), day.days_in_month().into())
    } else {
        (day.day_of_year(), day.days_in_year())
    };
    match which {
        0 => true,
        1.. => (number - 1) / 7 + 1 == which,
        _ => (last - number) / 7 + 1 == -which,
    }
}

/// Returns whether the week of the day is wanted. The first week of a year is the first one with
/// four days in it.
fn in_week(rule: &Recurrence, day: Date) -> bool {
    if rule.weeks.is_empty() {
        return true;
    }
    let number = || {
        let fourth = fourth_of_week(day, rule.week_start)?;
        let last = fourth_of_week(Date::new(fourth.year(), 12, 28).ok()?, rule.week_start)?;
        let week = |fourth: Date| (fourth.day_of_year() - 1) / 7 + 1;
        Some((week(fourth), week(last)))
    };
    number().is_some_and(|(week, last)| among_counted(&rule.weeks, week, last))
}

/// Returns the fourth day of a week, which decides the year that the week belongs to.
fn fourth_of_week(day: Date, week_start: Weekday) -> Option<Date> {
    week_of(day, week_start)?.checked_add(jiff::Span::new().days(3)).ok()
}
