//! A month in UTC, the unit of a page's history.

use std::fmt;
use std::ops::RangeInclusive;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rules::Timestamp;

use crate::history::Span;

/// Valid years: no check was made earlier, and four digits can write them.
const YEARS: RangeInclusive<i16> = 1970..=9998;

/// A month in UTC, ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// Parses a month such as `2026-11`.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let is_number = |text: &str, digits| {
            text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit())
        };
        if !is_number(year, 4) || !is_number(month, 2) {
            return None;
        }
        let (year, month) = (year.parse().ok()?, month.parse().ok()?);
        (YEARS.contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// Returns the month that contains an instant.
    pub fn containing(at: Timestamp) -> Self {
        let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
        let date = instant.to_zoned(TimeZone::UTC).date();
        let year = date.year().clamp(*YEARS.start(), *YEARS.end());
        Self { year, month: date.month() }
    }

    /// Returns the span of the month.
    pub fn span(self) -> Span {
        Span { from: self.begins(), to: self.next().begins() }
    }

    /// Returns the previous month.
    #[must_use]
    pub const fn previous(self) -> Self {
        match self.month {
            1 => Self { year: self.year - 1, month: 12 },
            month => Self { year: self.year, month: month - 1 },
        }
    }

    /// Returns the next month.
    #[must_use]
    pub const fn next(self) -> Self {
        match self.month {
            12 => Self { year: self.year + 1, month: 1 },
            month => Self { year: self.year, month: month + 1 },
        }
    }

    /// Returns the first month of the quarter.
    #[must_use]
    pub const fn first_of_quarter(self) -> Self {
        Self { year: self.year, month: (self.month - 1) / 3 * 3 + 1 }
    }

    /// Returns the first month of the year.
    #[must_use]
    pub const fn first_of_year(self) -> Self {
        Self { year: self.year, month: 1 }
    }

    fn begins(self) -> Timestamp {
        let first = Date::new(self.year, self.month, 1).and_then(|it| it.to_zoned(TimeZone::UTC));
        let first = first.expect("a month of these years has a first day");
        Timestamp::from_millis(first.timestamp().as_millisecond())
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn month_round_trips_and_rejects_other_texts() {
        for text in ["1970-01", "2026-11", "9998-12"] {
            assert_eq!(Month::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "2026", "2026-13", "2026-00", "2026-1", "1969-12", "9999-01", "+026-01"] {
            assert_eq!(Month::parse(text), None, "{text}");
        }
        assert_eq!(Month::parse("2026-11-21"), None);
    }

    #[test]
    fn consecutive_months_have_no_gap() {
        let december = Month::parse("2027-12").unwrap();
        assert_eq!(december.next().to_string(), "2028-01");
        assert_eq!(december.next().previous(), december);
        let february = Month::parse("2028-02").unwrap().span();
        assert_eq!(february.from.to_string(), "2028-02-01T00:00:00.000Z");
        assert_eq!(february.to.to_string(), "2028-03-01T00:00:00.000Z");
    }

    #[test]
    fn quarters_begin_every_third_month() {
        let month = |text: &str| Month::parse(text).unwrap();
        for (text, quarter) in [
            ("2026-01", "2026-01"),
            ("2026-03", "2026-01"),
            ("2026-04", "2026-04"),
            ("2026-12", "2026-10"),
        ] {
            assert_eq!(month(text).first_of_quarter(), month(quarter));
            assert_eq!(month(text).first_of_year(), month("2026-01"));
        }
    }

    proptest! {
        #[test]
        fn month_contains_its_instants(millis in 0_i64..4_102_444_800_000) {
            let at = Timestamp::from_millis(millis);
            let span = Month::containing(at).span();
            prop_assert!(span.from <= at && at < span.to);
            prop_assert_eq!(Month::parse(&Month::containing(at).to_string()), Some(Month::containing(at)));
        }
    }
}
