//! Durations as people read them, with the two largest units.

use std::time::Duration;

/// Units in seconds, largest first.
const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];

/// Returns a duration such as `2 h 5 min`, rounded down to seconds.
pub(crate) fn text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let Some(first) = UNITS.iter().position(|(unit, _)| seconds >= *unit) else {
        return if duration.is_zero() { "0 s" } else { "less than 1 s" }.to_owned();
    };
    let mut rest = seconds;
    let mut parts = Vec::with_capacity(2);
    for (unit, name) in UNITS.iter().skip(first).take(2) {
        if rest >= *unit {
            parts.push(format!("{} {name}", rest / unit));
        }
        rest %= unit;
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_has_two_units_at_most() {
        for (seconds, expected) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (200, "3 min 20 s"),
            (7_500, "2 h 5 min"),
            (86_400 + 59, "1 d"),
            (9 * 86_400 + 7_300, "9 d 2 h"),
        ] {
            assert_eq!(text(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(text(Duration::from_millis(5)), "less than 1 s");
    }
}
