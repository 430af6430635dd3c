//! Times as HTML. The text is in UTC; a script shows the reader's local time and keeps UTC on hover.

use jiff::fmt::strtime;
use rules::Timestamp;

/// Pattern of a time for people.
pub(crate) const TEXT: &str = "%Y-%m-%d %H:%M UTC";
/// Pattern of a time with its seconds.
const TEXT_WITH_SECONDS: &str = "%Y-%m-%d %H:%M:%S UTC";
/// Pattern of a day as people read it.
pub(crate) const NAMED_DAY: &str = "%b %-d, %Y";
/// Pattern of a day.
pub(crate) const DAY: &str = "%Y-%m-%d";
/// Pattern of `datetime-local` in forms.
const INPUT: &str = "%Y-%m-%dT%H:%M";

/// Returns a `<time>` element.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn time(at: &Timestamp) -> String {
    element(*at, TEXT, "")
}

/// Returns a `<time>` element with seconds, for events that follow each other quickly.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn time_with_seconds(at: &Timestamp) -> String {
    element(*at, TEXT_WITH_SECONDS, " data-seconds")
}

/// Returns a `<time>` element of a time in a message of the contract. `None` if it is absent.
pub(crate) fn wire_time(at: Option<&contract::monitor::wire::Timestamp>) -> Option<String> {
    contract::monitor::decode_instant(at?).map(|at| time(&at))
}

/// Returns a time as people read it, in UTC.
pub(crate) fn text(at: Timestamp) -> String {
    format(at, TEXT)
}

/// Returns the value of `datetime-local` for a time, in UTC.
pub(crate) fn input(at: Timestamp) -> String {
    format(at, INPUT)
}

/// Parses the value of `datetime-local`, in UTC. Browsers leave the seconds out if they are zero.
pub(crate) fn parse_input(text: &str) -> Option<Timestamp> {
    let whole = match text.len() {
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        _ => return None,
    };
    let instant: jiff::Timestamp = whole.parse().ok()?;
    Some(Timestamp::from_millis(instant.as_millisecond()))
}

fn element(at: Timestamp, pattern: &str, attribute: &str) -> String {
    let (machine, text) = (format(at, "%Y-%m-%dT%H:%M:%SZ"), format(at, pattern));
    format!("<time datetime=\"{machine}\"{attribute} title=\"{text}\">{text}</time>")
}

/// Formats a time in UTC.
pub(crate) fn format(at: Timestamp, pattern: &str) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    let zoned = instant.to_zoned(jiff::tz::TimeZone::UTC);
    strtime::format(pattern, &zoned).unwrap_or_default()
}

/// Parses a day such as `2026-11-21` and returns its begin in UTC.
pub(crate) fn parse_day(text: &str) -> Option<Timestamp> {
    let day: jiff::civil::Date = text.trim().parse().ok()?;
    let begin = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(begin.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_begins_at_midnight_in_utc() {
        assert_eq!(parse_day("2026-11-21"), Some(Timestamp::from_millis(1_795_219_200_000)));
        for text in ["", "2026-13-01", "yesterday"] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }

    #[test]
    fn input_keeps_its_minute() {
        let at = Timestamp::from_millis(1_795_219_200_000 + 8 * 3_600_000 + 30 * 60_000);
        assert_eq!(input(at), "2026-11-21T08:30");
        for text in ["2026-11-21T08:30", "2026-11-21T08:30:00"] {
            assert_eq!(parse_input(text), Some(at), "{text}");
        }
        for text in ["", "soon", "2026-11-21", "2026-13-21T08:30", "2026-11-21T08:30:00Z"] {
            assert_eq!(parse_input(text), None, "{text}");
        }
    }

    #[test]
    fn time_is_in_utc_for_people_and_programs() {
        insta::assert_snapshot!(
            time(&Timestamp::from_millis(1_795_219_200_000)),
            @r#"<time datetime="2026-11-21T00:00:00Z" title="2026-11-21 00:00 UTC">2026-11-21 00:00 UTC</time>"#
        );
        let seconds = time_with_seconds(&Timestamp::from_millis(1_795_219_200_000 + 7_900));
        assert!(seconds.contains(" data-seconds title=\"2026-11-21 00:00:07 UTC\""), "{seconds}");
    }
}
