//! Which days a recurrence means (RFC 5545 §3.3.10): a day is asked by itself, whatever the period.

use jiff::civil::{Date, Weekday};
use rules::maintenance::{Frequency, Recurrence};

/// Whether the rule means this day, in a period that has it. `start` says what the rule leaves out.
pub(super) fn is_meant(rule: &Recurrence, start: Date, day: Date) -> bool {
    among(&rule.months, day.month().into())
        && in_week(rule, day)
        && among_counted(&rule.year_days, day.day_of_year(), day.days_in_year())
        && among_counted(&rule.month_days, day.day().into(), day.days_in_month().into())
        && (rule.days.is_empty() || rule.days.iter().any(|wanted| is_weekday(rule, *wanted, day)))
        && is_like_start(rule, start, day)
}

/// The first day of the week that has this day.
pub(super) fn week_of(day: Date, week_start: Weekday) -> Option<Date> {
    let into = i64::from(day.weekday().since(week_start));
    day.checked_sub(jiff::Span::new().days(into)).ok()
}

fn among(wanted: &[i16], number: i16) -> bool {
    wanted.is_empty() || wanted.contains(&number)
}

/// Whether the number, from 1 to `last`, is wanted: counted from either end.
fn among_counted(wanted: &[i16], number: i16, last: i16) -> bool {
    wanted.is_empty() || wanted.contains(&number) || wanted.contains(&(number - last - 1))
}

/// What the rule leaves out is that of the start: the day of the year, of the month or of the week.
fn is_like_start(rule: &Recurrence, start: Date, day: Date) -> bool {
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

/// Whether the day is one of the wanted days of the week: each, or the one of this number in its
/// month or year.
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

/// Whether the week of the day is wanted. The first week of a year is the first with four days in it.
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

/// The fourth day of a week lies in the year that the week is counted in.
fn fourth_of_week(day: Date, week_start: Weekday) -> Option<Date> {
    week_of(day, week_start)?.checked_add(jiff::Span::new().days(3)).ok()
}
