//! Shares and latencies as people read them, in the same precision on all screens. `durations` has longer
//! times.

use domain::history::Uptime;
use web::chart;

/// Latency from which seconds are shown, in microseconds.
const SECONDS_FROM_US: u32 = 10_000_000;

/// Returns a share in millionths in percent with three decimals, rounded down.
pub(crate) fn percent(millionths: u32) -> String {
    let thousandths = millionths / 10;
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// Returns an uptime such as `99.951 %`.
pub(crate) fn uptime(uptime: Uptime) -> String {
    format!("{} %", percent(uptime.millionths()))
}

/// Returns a latency in microseconds: `1.2 ms` below ten milliseconds, `299 ms`, and `12.5 s` from ten
/// seconds on.
pub(crate) fn latency(micros: u32) -> String {
    if micros < SECONDS_FROM_US {
        return chart::milliseconds(micros, "{} ms");
    }
    format!("{:.1} s", f64::from(micros) / 1_000_000.0)
}

/// Returns a latency, or a dash if there is none.
pub(crate) fn latency_or_dash(micros: Option<u32>) -> String {
    micros.map_or_else(|| "–".to_owned(), latency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_rounded_down() {
        let texts = [0, 19, 939_000, 999_999, 1_000_000].map(percent);
        assert_eq!(texts, ["0.000", "0.001", "93.900", "99.999", "100.000"]);
        assert_eq!(uptime(Uptime { known_ms: 3, error_ms: 1 }), "66.666 %");
    }

    #[test]
    fn latency_has_the_precision_that_matters() {
        let texts = [1_234, 299_900, 9_999_999, 12_460_000].map(latency);
        assert_eq!(texts, ["1.2 ms", "299 ms", "9999 ms", "12.5 s"]);
    }
}
