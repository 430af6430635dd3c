//! The occurrences of a recurrence (RFC 5545 §3.3.10) in local time: period by period, each a set
//! of days and times. The work is bounded for any rule.

use std::collections::VecDeque;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use rules::maintenance::{Frequency, Recurrence, RecurrenceEnd};

use super::day;

/// Maximum number of periods examined, which ends a rule that matches no day. More than the minutes
/// for which windows are stored.
const PERIODS_MAX: u32 = 650_000;
/// No occurrence is computed after this year.
const LAST_YEAR: i16 = 2_300;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The occurrences from the start on, in order. The start is included only if the rule matches it.
pub(super) struct Occurrences<'r> {
    rule: &'r Recurrence,
    start: DateTime,
    /// The next period; 0 is that of the start. Periods are `INTERVAL` apart.
    next: i64,
    /// Remaining occurrences of the current period.
    set: VecDeque<DateTime>,
    /// Number of remaining occurrences, if the rule has a count.
    left: Option<u32>,
    looked_at: u32,
}

/// A period: several days, or part of one.
struct Period {
    first: Date,
    days: i16,
    /// The hour and minute, for periods of this length or shorter.
    hour: Option<i8>,
    minute: Option<i8>,
}

impl<'r> Occurrences<'r> {
    pub(super) fn new(rule: &'r Recurrence, start: DateTime) -> Self {
        let left = match rule.end {
            Some(RecurrenceEnd::Count(count)) => Some(count),
            Some(RecurrenceEnd::At(_) | RecurrenceEnd::Local(_)) | None => None,
        };
        Self { rule, start, next: 0, set: VecDeque::new(), left, looked_at: 0 }
    }

    /// Skips periods that end before `to`, unless the rule counts its occurrences.
    pub(super) fn skip_to(&mut self, to: DateTime) {
        if self.left.is_some() || to <= self.start {
            return;
        }
        let periods = match self.rule.frequency {
            Frequency::Yearly => i64::from(to.year() - self.start.year()),
            Frequency::Monthly => months(to) - months(self.start),
            Frequency::Weekly | Frequency::Daily | Frequency::Hourly | Frequency::Minutely => {
                let Some(begin) = self.begin() else { return };
                to.duration_since(begin).as_secs() / self.length()
            }
        };
        self.next = periods / i64::from(self.rule.interval);
    }

    /// Returns the begin of the start's period, for frequencies of constant length.
    fn begin(&self) -> Option<DateTime> {
        let (date, time) = (self.start.date(), self.start.time());
        let (date, time) = match self.rule.frequency {
            Frequency::Minutely => (date, Time::constant(time.hour(), time.minute(), 0, 0)),
            Frequency::Hourly => (date, Time::constant(time.hour(), 0, 0, 0)),
            Frequency::Weekly => (day::week_of(date, self.rule.week_start)?, Time::midnight()),
            Frequency::Daily | Frequency::Monthly | Frequency::Yearly => (date, Time::midnight()),
        };
        Some(date.to_datetime(time))
    }

    /// Returns the length of a period in seconds, for frequencies of constant length.
    fn length(&self) -> i64 {
        match self.rule.frequency {
            Frequency::Minutely => MINUTE,
            Frequency::Hourly => HOUR,
            Frequency::Weekly => 7 * DAY,
            Frequency::Daily | Frequency::Monthly | Frequency::Yearly => DAY,
        }
    }

    /// Returns the next period, or `None` at the end of the calendar.
    fn period(&self) -> Option<Period> {
        let step = self.next.checked_mul(i64::from(self.rule.interval))?;
        let (hour, minute) = (None, None);
        let of = |first: Date, days| Period { first, days, hour, minute };
        let period = match self.rule.frequency {
            Frequency::Yearly => {
                let year = i16::try_from(i64::from(self.start.year()) + step).ok()?;
                let first = Date::new(year, 1, 1).ok()?;
                of(first, first.days_in_year())
            }
            Frequency::Monthly => {
                let month = months(self.start) + step;
                let year = i16::try_from(month.div_euclid(12)).ok()?;
                let first = Date::new(year, month.rem_euclid(12) as i8 + 1, 1).ok()?;
                of(first, first.days_in_month().into())
            }
            Frequency::Weekly => of(self.step_start(step)?.date(), 7),
            Frequency::Daily => of(self.step_start(step)?.date(), 1),
            Frequency::Hourly => {
                let at = self.step_start(step)?;
                Period { hour: Some(at.hour()), ..of(at.date(), 1) }
            }
            Frequency::Minutely => {
                let at = self.step_start(step)?;
                let (hour, minute) = (Some(at.hour()), Some(at.minute()));
                Period { first: at.date(), days: 1, hour, minute }
            }
        };
        (period.first.year() <= LAST_YEAR).then_some(period)
    }

    /// Returns the begin of the period `step` periods after that of the start, for frequencies of
    /// constant length.
    fn step_start(&self, step: i64) -> Option<DateTime> {
        let after = SignedDuration::from_secs(step.checked_mul(self.length())?);
        self.begin()?.checked_add(after).ok()
    }

    /// Advances to the next period and collects its occurrences.
    fn advance(&mut self) -> Option<()> {
        let period = self.period()?;
        self.next += 1;
        let (rule, start) = (self.rule, self.start.date());
        if !is_named(&rule.hours, period.hour) || !is_named(&rule.minutes, period.minute) {
            return Some(());
        }
        let of_period = jiff::Span::new().days(1);
        let days = period.first.series(of_period).take(period.days as usize);
        let days: Vec<Date> = days.filter(|at| day::is_included(rule, start, *at)).collect();
        if days.is_empty() && period.hour.is_some() {
            self.skip_to_next_day(period.first)?;
            return Some(());
        }
        let times = self.times(&period);
        let all: Vec<DateTime> =
            days.iter().flat_map(|day| times.iter().map(|time| day.to_datetime(*time))).collect();
        self.set = at_positions(&rule.positions, all);
        Some(())
    }

    /// Skips the rest of a day that the rule excludes, for frequencies shorter than a day.
    fn skip_to_next_day(&mut self, day: Date) -> Option<()> {
        let tomorrow = day.tomorrow().ok()?.to_datetime(Time::midnight());
        let seconds = tomorrow.duration_since(self.begin()?).as_secs();
        let step = self.length() * i64::from(self.rule.interval);
        // Rounded up: the first period that begins then or later.
        self.next = self.next.max((seconds + step - 1) / step);
        Some(())
    }

    /// Returns the times within each day of a period. The start supplies what the rule omits.
    fn times(&self, period: &Period) -> Vec<Time> {
        let start = self.start.time();
        let hours = values_or_start(&self.rule.hours, period.hour, start.hour());
        let minutes = values_or_start(&self.rule.minutes, period.minute, start.minute());
        let seconds = values_or_start(&self.rule.seconds, None, start.second());
        let mut times = Vec::with_capacity(hours.len() * minutes.len() * seconds.len());
        for hour in &hours {
            for minute in &minutes {
                let of_minute = |second: &i8| {
                    Time::new(*hour, *minute, *second, start.subsec_nanosecond())
                        .expect("the rule was validated")
                };
                times.extend(seconds.iter().map(of_minute));
            }
        }
        times
    }
}

impl Iterator for Occurrences<'_> {
    type Item = DateTime;

    fn next(&mut self) -> Option<DateTime> {
        loop {
            if self.left == Some(0) {
                return None;
            }
            while let Some(at) = self.set.pop_front() {
                if at >= self.start {
                    self.left = self.left.map(|left| left - 1);
                    return Some(at);
                }
            }
            if self.looked_at == PERIODS_MAX {
                return None;
            }
            self.looked_at += 1;
            self.advance()?;
        }
    }
}

/// Returns whether the rule includes the period's value, if the period has one.
fn is_named(named: &[i16], of_period: Option<i8>) -> bool {
    of_period.is_none_or(|one| named.is_empty() || named.contains(&one.into()))
}

/// Returns the value of the period, else those of the rule, else that of the start.
fn values_or_start(named: &[i16], of_period: Option<i8>, of_start: i8) -> Vec<i8> {
    match of_period {
        Some(one) => vec![one],
        None if named.is_empty() => vec![of_start],
        None => named.iter().map(|number| *number as i8).collect(),
    }
}

/// Returns the occurrences at the rule's positions, counted from either end.
fn at_positions(positions: &[i16], all: Vec<DateTime>) -> VecDeque<DateTime> {
    if positions.is_empty() {
        return all.into();
    }
    let index = |position: &i16| {
        let position = isize::from(*position);
        let index = if position > 0 { position - 1 } else { all.len() as isize + position };
        usize::try_from(index).ok()
    };
    let mut chosen: Vec<DateTime> =
        positions.iter().filter_map(|at| all.get(index(at)?).copied()).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into()
}

/// Returns the months since year 0.
fn months(at: DateTime) -> i64 {
    i64::from(at.year()) * 12 + i64::from(at.month()) - 1
}
