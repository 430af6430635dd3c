//! Periods of reports. They begin at midnight in UTC, so that rollups of days cover them exactly.

use std::time::Duration;

use domain::history::Span;
use domain::page::Month;
use rules::Timestamp;

use crate::time;

const DAY: Duration = Duration::from_hours(24);

/// Period of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Period {
    /// The last days, today included.
    Days(u32),
    /// The month, quarter or year that is not over.
    This(Unit),
    /// The one before.
    Last(Unit),
    Month(Month),
}

/// Period of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Month,
    Quarter,
    Year,
}

/// A period at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResolvedPeriod {
    /// The part of the period that is over.
    pub(super) span: Span,
    /// Time until the period ends, in milliseconds.
    pub(super) ahead_ms: u64,
    /// Number of whole months with which the period begins and that are over.
    months: u8,
}

impl Period {
    /// The periods to choose from, besides months.
    pub(super) const CHOICES: [Self; 9] = [
        Self::This(Unit::Month),
        Self::Last(Unit::Month),
        Self::Days(7),
        Self::Days(30),
        Self::Days(90),
        Self::This(Unit::Quarter),
        Self::Last(Unit::Quarter),
        Self::This(Unit::Year),
        Self::Last(Unit::Year),
    ];
    /// The period of a query without one.
    pub(super) const DEFAULT: Self = Self::This(Unit::Month);

    /// Parses the name of a period. An unknown one is this month.
    pub(super) fn parse(text: &str) -> Self {
        let known = Self::CHOICES.into_iter().find(|period| period.name() == text);
        known.or_else(|| Month::parse(text).map(Self::Month)).unwrap_or(Self::DEFAULT)
    }

    /// Returns the name in URLs.
    pub(super) fn name(self) -> String {
        match self {
            Self::This(unit) => format!("this-{}", unit.name()),
            Self::Last(unit) => format!("last-{}", unit.name()),
            Self::Days(days) => format!("{days}d"),
            Self::Month(month) => month.to_string(),
        }
    }

    /// Returns the name for people.
    pub(super) fn label(self) -> String {
        match self {
            Self::This(unit) => format!("This {}", unit.name()),
            Self::Last(unit) => format!("Last {}", unit.name()),
            Self::Days(days) => format!("Last {days} days"),
            Self::Month(month) => month_label(month),
        }
    }

    /// Returns the period at `now`. A month that has not begun is this month.
    pub(super) fn at(self, now: Timestamp) -> ResolvedPeriod {
        let current = Month::containing(now);
        match self {
            Self::This(unit) => of_months(unit.first(current), unit.months(), now),
            Self::Last(unit) => {
                let last = unit.first(current).previous();
                of_months(unit.first(last), unit.months(), now)
            }
            Self::Month(month) => of_months(month.min(current), 1, now),
            Self::Days(days) => {
                let today = now.as_millis().div_euclid(DAY.as_millis() as i64);
                let midnight = Timestamp::from_millis(today * DAY.as_millis() as i64);
                let from = midnight - DAY * days.saturating_sub(1);
                ResolvedPeriod { span: Span { from, to: now }, ahead_ms: 0, months: 0 }
            }
        }
    }
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    const fn months(self) -> u8 {
        match self {
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Year => 12,
        }
    }

    /// Returns the first month of the period that contains this one.
    const fn first(self, month: Month) -> Month {
        match self {
            Self::Month => month,
            Self::Quarter => month.first_of_quarter(),
            Self::Year => month.first_of_year(),
        }
    }
}

impl ResolvedPeriod {
    /// Returns the whole months with which the period begins and that are over. Their figures may be
    /// frozen.
    pub(super) fn past_months(self) -> impl Iterator<Item = Month> {
        let first = Month::containing(self.span.from);
        std::iter::successors(Some(first), |month| Some(month.next())).take(self.months.into())
    }
}

/// Returns the name of a month for people, such as `November 2026`.
pub(super) fn month_label(month: Month) -> String {
    time::format(month.span().from, "%B %Y")
}

fn of_months(first: Month, count: u8, now: Timestamp) -> ResolvedPeriod {
    let (mut end, mut months) = (first, 0);
    for _ in 0..count {
        end = end.next();
        months += u8::from(end.span().from <= now);
    }
    let (from, end) = (first.span().from, end.span().from);
    let span = Span { from, to: end.min(now) };
    ResolvedPeriod { span, ahead_ms: end.since(span.to).as_millis() as u64, months }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noon of 2026-11-21.
    const NOW: Timestamp = Timestamp::from_millis(1_795_219_200_000 + 12 * 3_600_000);

    #[test]
    fn unknown_name_is_this_month() {
        for period in Period::CHOICES {
            assert_eq!(Period::parse(&period.name()), period);
        }
        let october = Month::parse("2026-10").unwrap();
        assert_eq!(Period::parse("2026-10"), Period::Month(october));
        assert_eq!(Period::parse("yesterday"), Period::This(Unit::Month));
    }

    #[test]
    fn this_month_has_time_ahead() {
        let period = Period::This(Unit::Month).at(NOW);
        assert_eq!(period.span.from.to_string(), "2026-11-01T00:00:00.000Z");
        assert_eq!((period.span.to, period.past_months().count()), (NOW, 0));
        let whole = Month::parse("2026-11").unwrap().span().length().as_millis() as u64;
        assert_eq!(period.span.length().as_millis() as u64 + period.ahead_ms, whole);
    }

    #[test]
    fn past_month_is_complete() {
        let october = Month::parse("2026-10").unwrap();
        let expected = ResolvedPeriod { span: october.span(), ahead_ms: 0, months: 1 };
        assert_eq!(Period::Last(Unit::Month).at(NOW), expected);
        assert_eq!(Period::Month(october).at(NOW), expected);
        assert_eq!(expected.past_months().collect::<Vec<_>>(), [october]);
        let future = Month::parse("2030-01").unwrap();
        assert_eq!(Period::Month(future).at(NOW), Period::This(Unit::Month).at(NOW));
    }

    #[test]
    fn quarter_and_year_begin_with_past_months() {
        let months = |period: Period| {
            let resolved = period.at(NOW);
            let months: Vec<_> = resolved.past_months().map(|it| it.to_string()).collect();
            (months.join(" "), resolved.ahead_ms > 0)
        };
        assert_eq!(months(Period::This(Unit::Quarter)), ("2026-10".to_owned(), true));
        let third = ("2026-07 2026-08 2026-09".to_owned(), false);
        assert_eq!(months(Period::Last(Unit::Quarter)), third);
        let (this, last) = (Period::This(Unit::Year), Period::Last(Unit::Year));
        assert_eq!(this.at(NOW).past_months().count(), 10);
        assert_eq!(last.at(NOW).past_months().count(), 12);
        assert_eq!(last.at(NOW).span.from.to_string(), "2025-01-01T00:00:00.000Z");
    }

    #[test]
    fn last_30_days_begin_at_midnight() {
        let period = Period::Days(30).at(NOW);
        assert_eq!(period.span.from.to_string(), "2026-10-23T00:00:00.000Z");
        assert_eq!((period.span.to, period.ahead_ms), (NOW, 0));
    }
}
