//! Numbers and states of monitors as people read them.

use rules::Timestamp;

use crate::{durations, numbers};

/// A state as a word with an icon and a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Badge {
    /// Class of the style sheet.
    pub(crate) class: &'static str,
    /// Name of the symbol in `icons.html`.
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
}

const fn badge(class: &'static str, icon: &'static str, word: &'static str) -> Badge {
    Badge { class, icon, word }
}

/// Returns the badge of a status of the contract.
pub(super) fn status_badge(status: &str) -> Badge {
    match status {
        "active" => badge("up", "up", "Up"),
        "degraded" => badge("degraded", "degraded", "Degraded"),
        "error" => badge("down", "down", "Down"),
        _ => badge("unknown", "unknown", "Unknown"),
    }
}

/// Returns the badge of a monitor that does not run.
pub(super) const fn paused_badge() -> Badge {
    badge("unknown", "paused", "Paused")
}

/// Returns the badge of an outcome of a check.
pub(super) fn outcome_badge(outcome: &str) -> Badge {
    match outcome {
        "success" => badge("up", "up", "Success"),
        "degraded" => badge("degraded", "degraded", "Degraded"),
        "failure" => badge("down", "down", "Failure"),
        "skipped" => badge("unknown", "unknown", "Skipped"),
        _ => badge("unknown", "unknown", "Missed"),
    }
}

/// Returns a latency in microseconds as text.
pub(super) fn latency(micros: i32) -> String {
    numbers::latency(u32::try_from(micros).unwrap_or_default())
}

/// Returns a latency as text, or a dash if there is none.
pub(super) fn latency_or_dash(micros: Option<i32>) -> String {
    micros.map_or_else(|| "–".to_owned(), latency)
}

/// Returns a share in millionths as a percentage, rounded down.
pub(super) fn percent(millionths: i32) -> String {
    format!("{} %", numbers::percent(u32::try_from(millionths).unwrap_or_default()))
}

/// Returns a number with a comma between groups of three digits.
pub(super) fn grouped(number: i32) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the time between two instants as text.
pub(super) fn between(from: Timestamp, to: Timestamp) -> String {
    durations::text(to.since(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!(latency(1_234), "1.2 ms");
        assert_eq!(latency(45_000_000), "45.0 s");
        assert_eq!(percent(999_999), "99.999 %");
        assert_eq!([999, 1_000, 1_234_567].map(grouped), ["999", "1,000", "1,234,567"]);
    }
}
