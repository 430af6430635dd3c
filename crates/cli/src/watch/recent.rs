//! Recent checks as one line of characters, oldest first: bars of latency, and signs for failures.

use domain::check::Outcome;

use super::fleet::RecentCheck;

/// Bars by latency, compared with the slowest success.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const FAILURE: char = '×';
const SKIPPED: char = '·';

/// Returns the newest checks that fit, oldest first. `checks` are newest first.
pub(super) fn line(checks: &[RecentCheck], width: usize) -> String {
    let shown = &checks[..checks.len().min(width)];
    let is_answered = |it: &&RecentCheck| {
        it.outcome == Outcome::Success.as_str() || it.outcome == Outcome::Degraded.as_str()
    };
    let slowest = shown.iter().filter(is_answered).map(|it| it.latency_us).max().unwrap_or(0);
    let sign = |it: &RecentCheck| {
        if it.outcome == Outcome::Failure.as_str() {
            return FAILURE;
        }
        if it.outcome == Outcome::Skipped.as_str() {
            return SKIPPED;
        }
        bar(it.latency_us, slowest)
    };
    shown.iter().rev().map(sign).collect()
}

fn bar(latency_us: i32, slowest: i32) -> char {
    let share = i64::from(latency_us.max(0)) * BARS.len() as i64 / (i64::from(slowest.max(0)) + 1);
    BARS[usize::try_from(share).unwrap_or(0).min(BARS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_checks_are_at_the_end() {
        let check = |outcome: &str, latency_us| RecentCheck {
            at: None,
            region: String::new(),
            outcome: outcome.to_owned(),
            latency_us,
            code: None,
        };
        let checks = [
            check("failure", 900),
            check("success", 100),
            check("degraded", 800),
            check("skipped", 0),
            check("success", 0),
        ];
        assert_eq!(line(&checks, 9), "▁·█▁×");
        assert_eq!(line(&checks, 2), "█×");
        assert_eq!(line(&[], 5), "");
    }
}
