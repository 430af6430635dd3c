//! Recurrence of a maintenance: parses and limits the value of an RRULE of RFC 5545 (§3.3.10).
//! `domain` computes the occurrences.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use jiff::civil::{Date, DateTime, Time, Weekday};

use crate::{FormatError, Timestamp};

/// Maximum `INTERVAL` (ours).
const INTERVAL_MAX: u32 = 1_000;
/// Maximum `COUNT` (ours): hourly for more than a year.
const COUNT_MAX: u32 = 10_000;
/// Maximum number of times that hours, minutes and seconds define in one day, hour or minute
/// (ours).
const TIMES_MAX: usize = 96;

/// A recurrence rule, displayed as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    written: String,
    /// `FREQ`.
    pub frequency: Frequency,
    /// `INTERVAL`: every n-th period; 1 by default.
    pub interval: u32,
    /// `COUNT` or `UNTIL`; `None` for an endless rule.
    pub end: Option<RecurrenceEnd>,
    /// `WKST`: first day of the week.
    pub week_start: Weekday,
    /// `BYMONTH`, 1 to 12.
    pub months: Vec<i16>,
    /// `BYWEEKNO`; negative values count from the end.
    pub weeks: Vec<i16>,
    /// `BYYEARDAY`; negative values count from the end.
    pub year_days: Vec<i16>,
    /// `BYMONTHDAY`; negative values count from the end.
    pub month_days: Vec<i16>,
    /// `BYDAY`: weekdays, each with its ordinal in the month or year; 0 means every one.
    pub days: Vec<(i16, Weekday)>,
    /// `BYHOUR`.
    pub hours: Vec<i16>,
    /// `BYMINUTE`.
    pub minutes: Vec<i16>,
    /// `BYSECOND`.
    pub seconds: Vec<i16>,
    /// `BYSETPOS`: positions within a period; negative values count from the end.
    pub positions: Vec<i16>,
}

/// Period of a recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frequency {
    /// `MINUTELY`.
    Minutely,
    /// `HOURLY`.
    Hourly,
    /// `DAILY`.
    Daily,
    /// `WEEKLY`.
    Weekly,
    /// `MONTHLY`.
    Monthly,
    /// `YEARLY`.
    Yearly,
}

/// End of a recurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrenceEnd {
    /// Number of occurrences.
    Count(u32),
    /// Last possible instant, inclusive.
    At(Timestamp),
    /// Last possible local time in the maintenance's time zone, inclusive.
    Local(DateTime),
}

/// The parts of a rule that are not parsed yet, by name.
struct Parts(BTreeMap<String, String>);

impl Recurrence {
    /// Parses the value of an RRULE, such as `FREQ=WEEKLY;BYDAY=SU`.
    pub fn parse(written: &str) -> Result<Self, FormatError> {
        let mut parts = Parts::parse(written)?;
        let frequency = Frequency::parse(&parts.take("FREQ").unwrap_or_default())?;
        let rule = Self {
            written: written.to_owned(),
            frequency,
            interval: parts.amount("INTERVAL", INTERVAL_MAX)?.unwrap_or(1),
            end: parts.end()?,
            week_start: parts.week_start()?,
            months: parts.numbers("BYMONTH", 1..=12)?,
            weeks: parts.numbers("BYWEEKNO", -53..=53)?,
            year_days: parts.numbers("BYYEARDAY", -366..=366)?,
            month_days: parts.numbers("BYMONTHDAY", -31..=31)?,
            days: parts.days(frequency)?,
            hours: parts.numbers("BYHOUR", 0..=23)?,
            minutes: parts.numbers("BYMINUTE", 0..=59)?,
            seconds: parts.numbers("BYSECOND", 0..=59)?,
            positions: parts.numbers("BYSETPOS", -366..=366)?,
        };
        parts.finish()?;
        rule.check()?;
        Ok(rule)
    }

    /// Checks the rules between parts, as in the table of RFC 5545 §3.3.10.
    fn check(&self) -> Result<(), FormatError> {
        let frequency = self.frequency;
        let is_yearly = frequency == Frequency::Yearly;
        if !self.weeks.is_empty() && !is_yearly {
            return Err("must have BYWEEKNO with FREQ=YEARLY only".into());
        }
        let is_part_of_year =
            matches!(frequency, Frequency::Daily | Frequency::Weekly | Frequency::Monthly);
        if !self.year_days.is_empty() && is_part_of_year {
            return Err("must not have BYYEARDAY with FREQ=DAILY, WEEKLY or MONTHLY".into());
        }
        if !self.month_days.is_empty() && frequency == Frequency::Weekly {
            return Err("must not have BYMONTHDAY with FREQ=WEEKLY".into());
        }
        if !self.weeks.is_empty() && self.days.iter().any(|(which, _)| *which != 0) {
            return Err("must not have numbers in BYDAY with BYWEEKNO".into());
        }
        if !self.positions.is_empty() && !self.has_another_part() {
            return Err("must have BYSETPOS with another BY part only".into());
        }
        // A position beyond every period would be searched for in vain.
        let most = self.period_max();
        let is_past = |position: &i16| usize::from(position.unsigned_abs()) > most;
        if !self.positions.is_empty() && self.positions.iter().all(is_past) {
            let allowed = format!("must have BYSETPOS up to {most}: a period has no more of these");
            return Err(allowed.into());
        }
        if self.times(3) > TIMES_MAX {
            let allowed = format!(
                "must have at most {TIMES_MAX} times of BYHOUR, BYMINUTE and BYSECOND together"
            );
            return Err(allowed.into());
        }
        Ok(())
    }

    /// Returns the number of times defined by the `finest` of seconds, minutes and hours.
    fn times(&self, finest: usize) -> usize {
        let times = [&self.seconds, &self.minutes, &self.hours];
        times.iter().take(finest).map(|times| times.len().max(1)).product()
    }

    /// Returns the maximum number of occurrences in a period.
    fn period_max(&self) -> usize {
        match self.frequency {
            Frequency::Minutely => self.times(1),
            Frequency::Hourly => self.times(2),
            Frequency::Daily => self.times(3),
            Frequency::Weekly => 7 * self.times(3),
            Frequency::Monthly => 31 * self.times(3),
            Frequency::Yearly => 366 * self.times(3),
        }
    }

    fn has_another_part(&self) -> bool {
        let lists = [&self.months, &self.weeks, &self.year_days, &self.month_days];
        let times = [&self.hours, &self.minutes, &self.seconds];
        !self.days.is_empty() || lists.iter().chain(&times).any(|numbers| !numbers.is_empty())
    }
}

impl Frequency {
    fn parse(text: &str) -> Result<Self, FormatError> {
        match text {
            "YEARLY" => Ok(Self::Yearly),
            "MONTHLY" => Ok(Self::Monthly),
            "WEEKLY" => Ok(Self::Weekly),
            "DAILY" => Ok(Self::Daily),
            "HOURLY" => Ok(Self::Hourly),
            "MINUTELY" => Ok(Self::Minutely),
            _ => {
                Err("must have FREQ as one of YEARLY, MONTHLY, WEEKLY, DAILY, HOURLY, MINUTELY"
                    .into())
            }
        }
    }
}

impl Parts {
    /// Splits a rule into parts, ignoring case (RFC 5545 §2). Rejects repeated parts.
    fn parse(written: &str) -> Result<Self, FormatError> {
        let mut parts = BTreeMap::new();
        if written.contains("RRULE:") {
            return Err("must be the value alone, without `RRULE:`".into());
        }
        for part in written.to_ascii_uppercase().split(';') {
            let Some((name, value)) = part.split_once('=') else {
                return Err(
                    "must be the value of an RRULE (RFC 5545), such as FREQ=WEEKLY;BYDAY=SU".into(),
                );
            };
            if parts.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(format!("must have {name} once").into());
            }
        }
        Ok(Self(parts))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Parses a positive number.
    fn amount(&mut self, name: &str, max: u32) -> Result<Option<u32>, FormatError> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let amount = digits(&given).filter(|amount| (1..=max).contains(amount));
        amount.map(Some).ok_or_else(|| format!("must have {name} from 1 to {max}").into())
    }

    /// Parses a list of numbers, sorted and without duplicates. 0 is invalid in lists that allow
    /// negative numbers.
    fn numbers(&mut self, name: &str, range: RangeInclusive<i16>) -> Result<Vec<i16>, FormatError> {
        let Some(given) = self.take(name) else { return Ok(Vec::new()) };
        let (min, max) = (*range.start(), *range.end());
        let read = |text: &str| {
            signed(text).filter(|number| range.contains(number) && (min >= 0 || *number != 0))
        };
        let numbers: Option<Vec<i16>> = given.split(',').map(read).collect();
        let Some(mut numbers) = numbers else {
            let but_0 = if min < 0 { ", but 0" } else { "" };
            return Err(format!("must have numbers from {min} to {max}{but_0} in {name}").into());
        };
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    fn days(&mut self, frequency: Frequency) -> Result<Vec<(i16, Weekday)>, FormatError> {
        let Some(given) = self.take("BYDAY") else { return Ok(Vec::new()) };
        let most = match frequency {
            Frequency::Yearly => 53,
            Frequency::Monthly => 5,
            Frequency::Minutely | Frequency::Hourly | Frequency::Daily | Frequency::Weekly => 0,
        };
        let read = |text: &str| {
            let (which, day) = text.split_at_checked(text.len().checked_sub(2)?)?;
            let which = if which.is_empty() { 0 } else { signed(which).filter(|at| *at != 0)? };
            Some((which, weekday(day)?)).filter(|_| which.abs() <= most)
        };
        let days: Option<Vec<_>> = given.split(',').map(read).collect();
        days.ok_or_else(|| {
            let numbered = match most {
                0 => String::new(),
                most => format!(", each with a number from -{most} to {most} where wanted"),
            };
            format!("must have days as MO, TU, WE, TH, FR, SA, SU in BYDAY{numbered}").into()
        })
    }

    fn week_start(&mut self) -> Result<Weekday, FormatError> {
        let Some(given) = self.take("WKST") else { return Ok(Weekday::Monday) };
        weekday(&given).ok_or_else(|| "must have WKST as one of MO, TU, WE, TH, FR, SA, SU".into())
    }

    fn end(&mut self) -> Result<Option<RecurrenceEnd>, FormatError> {
        let count = self.amount("COUNT", COUNT_MAX)?;
        let Some(until) = self.take("UNTIL") else {
            return Ok(count.map(RecurrenceEnd::Count));
        };
        if count.is_some() {
            return Err("must not have both COUNT and UNTIL".into());
        }
        let end = self::until(&until);
        let allowed = "must have UNTIL as a date (20261231) or as a time of UTC (20261231T235959Z) \
                       or of the zone (20261231T235959)";
        end.map(Some).ok_or_else(|| allowed.into())
    }

    fn finish(self) -> Result<(), FormatError> {
        match self.0.into_keys().next() {
            None => Ok(()),
            Some(name) => {
                let known = "FREQ, INTERVAL, COUNT, UNTIL, WKST, BYMONTH, BYWEEKNO, BYYEARDAY, \
                             BYMONTHDAY, BYDAY, BYHOUR, BYMINUTE, BYSECOND, BYSETPOS";
                let name: String = name.chars().take(16).collect();
                Err(format!("must not have a part `{}`; there are {known}", name.escape_debug())
                    .into())
            }
        }
    }
}

fn until(text: &str) -> Option<RecurrenceEnd> {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    let date = {
        let number = digits(date).filter(|_| date.len() == 8)?;
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
        Date::new(year as i16, month as i8, day as i8).ok()?
    };
    let Some(time) = time else {
        return Some(RecurrenceEnd::Local(date.to_datetime(Time::MAX)));
    };
    let (time, is_utc) = time.strip_suffix('Z').map_or((time, false), |time| (time, true));
    let number = digits(time).filter(|_| time.len() == 6)?;
    let (hour, minute, second) = (number / 10_000, number / 100 % 100, number % 100);
    let at = date.to_datetime(Time::new(hour as i8, minute as i8, second as i8, 0).ok()?);
    if !is_utc {
        return Some(RecurrenceEnd::Local(at));
    }
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(RecurrenceEnd::At(Timestamp::from_millis(at.as_millisecond())))
}

fn weekday(text: &str) -> Option<Weekday> {
    match text {
        "MO" => Some(Weekday::Monday),
        "TU" => Some(Weekday::Tuesday),
        "WE" => Some(Weekday::Wednesday),
        "TH" => Some(Weekday::Thursday),
        "FR" => Some(Weekday::Friday),
        "SA" => Some(Weekday::Saturday),
        "SU" => Some(Weekday::Sunday),
        _ => None,
    }
}

/// Parses a number of digits only.
fn digits(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parses a number of at most three digits with an optional sign.
fn signed(text: &str) -> Option<i16> {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = digits(number).filter(|_| number.len() <= 3)? as i16;
    Some(if text.starts_with('-') { -number } else { number })
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}
