//! Formats of times: a time of day, a time zone, an interval. Instants are `Timestamp`.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FormatError;
use crate::Timestamp;

/// Maximum length of such a text, in characters (our choice).
pub(crate) const CLOCK_CHARS_MAX: u32 = 64;
/// Minutes of an hour.
const HOUR: u32 = 60;

/// A time of day in whole minutes: `22:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(u16);

/// A time zone of the IANA database, such as `Europe/Berlin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(jiff::tz::TimeZone);

/// A duration in whole minutes or hours, as written: `60m` and `1h` stay distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    amount: u32,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unit {
    Minutes,
    Hours,
}

impl TimeOfDay {
    /// Parses `HH:MM`, from `00:00` to `23:59`.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let refusal = || FormatError::from("must be a time of the day from 00:00 to 23:59");
        let (hours, minutes) = text.split_once(':').ok_or_else(refusal)?;
        let two_digits = |text: &str, below: u16| {
            let is_short = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| is_short && *number < below)
        };
        let hours = two_digits(hours, 24).ok_or_else(refusal)?;
        let minutes = two_digits(minutes, 60).ok_or_else(refusal)?;
        Ok(Self(hours * 60 + minutes))
    }

    /// Returns the minutes since midnight, 0 to 1439.
    pub const fn minutes(self) -> u16 {
        self.0
    }
}

impl TimeZone {
    /// Parses a name in the spelling of the database.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let zone = jiff::tz::TimeZone::get(text).ok();
        // The database ignores case; accept only the canonical name.
        zone.filter(|zone| zone.iana_name() == Some(text) && !zone.is_unknown())
            .map(Self)
            .ok_or_else(|| "must be a name of the IANA time zones, such as Europe/Berlin".into())
    }

    /// Returns the zone's offset from UTC at this instant, in seconds.
    pub fn utc_offset(&self, at: Timestamp) -> i32 {
        // An instant outside the calendar has no offset.
        jiff::Timestamp::from_millisecond(at.as_millis())
            .map_or(0, |at| self.0.to_offset(at).seconds())
    }

    /// Returns the zone for calendar computations.
    pub const fn as_jiff(&self) -> &jiff::tz::TimeZone {
        &self.0
    }
}

impl Interval {
    /// Parses a number of minutes or hours, such as `30m` or `1h`.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let read = || {
            let (amount, unit) = match text.split_at_checked(text.len().checked_sub(1)?)? {
                (amount, "m") => (amount, Unit::Minutes),
                (amount, "h") => (amount, Unit::Hours),
                _ => return None,
            };
            let is_plain = amount.bytes().all(|byte| byte.is_ascii_digit());
            let amount = amount.parse().ok().filter(|_| is_plain && !amount.starts_with('0'))?;
            Some(Self { amount, unit })
        };
        read().ok_or_else(|| "must be whole minutes or hours, such as 30m or 1h".into())
    }

    /// Returns its duration.
    pub fn duration(self) -> Duration {
        Duration::from_mins(self.minutes().into())
    }

    const fn minutes(self) -> u32 {
        match self.unit {
            Unit::Minutes => self.amount,
            Unit::Hours => self.amount.saturating_mul(HOUR),
        }
    }
}

/// Checks that `text` is an interval of `min` to `max` minutes.
pub(crate) fn within(min: u32, max: u32, text: &str) -> Result<(), FormatError> {
    let minutes = Interval::parse(text)?.minutes();
    if (min..=max).contains(&minutes) {
        return Ok(());
    }
    Err(format!("must be from {} to {}", of_minutes(min), of_minutes(max)).into())
}

/// Converts minutes to an interval in the largest possible unit.
fn of_minutes(minutes: u32) -> Interval {
    if minutes.is_multiple_of(HOUR) {
        Interval { amount: minutes / HOUR, unit: Unit::Hours }
    } else {
        Interval { amount: minutes, unit: Unit::Minutes }
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.iana_name().expect("a zone is always created by its name"))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Minutes => write!(f, "{}m", self.amount),
            Unit::Hours => write!(f, "{}h", self.amount),
        }
    }
}

/// Implements serialization as text.
macro_rules! as_text {
    ($($kind:ident),+) => {$(
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(TimeOfDay, TimeZone, Interval);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_has_two_two_digit_numbers() {
        for (text, minutes) in [("00:00", 0), ("07:30", 450), ("23:59", 1_439)] {
            let time = TimeOfDay::parse(text).unwrap();
            assert_eq!((time.minutes(), time.to_string()), (minutes, text.to_owned()));
        }
        for text in ["", "7:30", "07:3", "24:00", "12:60", "+7:30", "07:30:00", "07", "٠٧:٣٠"] {
            assert!(TimeOfDay::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zone_requires_its_canonical_name() {
        for text in ["Europe/Berlin", "UTC", "Asia/Kathmandu", "America/Argentina/Ushuaia"] {
            assert_eq!(TimeZone::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "europe/berlin", "CEST", "+02:00", "Etc/Unknown", "Mars/Olympus"] {
            assert!(TimeZone::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn zone_offset_follows_daylight_saving() {
        let berlin = TimeZone::parse("Europe/Berlin").unwrap();
        let (january, july) = (1_768_000_000_000, 1_783_000_000_000);
        assert_eq!(berlin.utc_offset(Timestamp::from_millis(january)), 3_600);
        assert_eq!(berlin.utc_offset(Timestamp::from_millis(july)), 7_200);
    }

    #[test]
    fn interval_keeps_its_spelling() {
        for (text, minutes) in [("5m", 5), ("60m", 60), ("1h", 60), ("24h", 1_440)] {
            let interval = Interval::parse(text).unwrap();
            assert_eq!(interval.duration(), Duration::from_mins(minutes));
            assert_eq!(interval.to_string(), text);
        }
        for text in ["", "m", "1", "01h", "0m", "1.5h", "-1h", "1 h", "1d", "1µ", "9999999999h"] {
            assert!(Interval::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_are_shown_in_their_largest_unit() {
        let refusal = within(5, 1_440, "4m").unwrap_err();
        assert_eq!(refusal.to_string(), "must be from 5m to 24h");
        assert!(within(5, 1_440, "25h").is_err());
        assert_eq!((within(5, 1_440, "5m"), within(5, 1_440, "24h")), (Ok(()), Ok(())));
    }
}
