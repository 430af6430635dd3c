//! Durations as people read them, in messages and reasons.

use std::time::Duration;

/// Formats a duration for humans, in its two largest units: `2 h 5 min`.
pub(crate) fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let units = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")];
    let Some(first) = units.iter().position(|(count, _)| *count > 0) else {
        return format!("{} ms", duration.as_millis());
    };
    let shown = units[first..].iter().take(2).filter(|(count, _)| *count > 0);
    let shown: Vec<String> = shown.map(|(count, unit)| format!("{count} {unit}")).collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_show_their_two_largest_units() {
        for (seconds, expected) in [
            (12, "12 s"),
            (60, "1 min"),
            (303, "5 min 3 s"),
            (7_500, "2 h 5 min"),
            (7_203, "2 h"),
            (273_600, "3 d 4 h"),
        ] {
            assert_eq!(format_duration(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(format_duration(Duration::from_millis(340)), "340 ms");
    }
}
