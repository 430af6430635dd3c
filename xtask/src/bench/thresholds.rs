//! Thresholds for the figures on two cores, which the target and the service share. Releases must
//! meet them. A figure without a threshold explains another one.

use serde_json::{Value, json};

use super::Figure;

/// Required value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Threshold {
    AtLeast(f64),
    AtMost(f64),
}

/// Name of a figure, its number of monitors if it matters, and its threshold.
type Row = (&'static str, Option<usize>, Threshold);

const THRESHOLDS: &[Row] = &[
    ("start to first answer, median", None, Threshold::AtMost(50.0)),
    ("memory at rest", None, Threshold::AtMost(20.0)),
    ("100/s: CPU per check", None, Threshold::AtMost(130.0)),
    ("30 s, one region: memory", Some(10_000), Threshold::AtMost(60.0)),
    ("30 s, one region: lateness p99", Some(10_000), Threshold::AtMost(5.0)),
    ("30 s, one region: memory", Some(100_000), Threshold::AtMost(400.0)),
    ("30 s, one region: lateness p99", Some(100_000), Threshold::AtMost(100.0)),
    ("saturated: checks", None, Threshold::AtLeast(10_000.0)),
    ("saturated: CPU per check", None, Threshold::AtMost(75.0)),
    ("saturated: mean commit", None, Threshold::AtMost(100.0)),
    ("saturated, PostgreSQL: share of the embedded rate", None, Threshold::AtLeast(0.7)),
    ("saturated, TLS: checks", None, Threshold::AtLeast(3_500.0)),
    ("history: bytes on disk for each", None, Threshold::AtMost(50.0)),
    ("history: newest 25 logs, middle", None, Threshold::AtMost(10.0)),
    ("history: newest 25 logs, worst", None, Threshold::AtMost(10.0)),
    ("history: summary of 90 days, middle", None, Threshold::AtMost(10.0)),
    ("history: summary of 90 days, worst", None, Threshold::AtMost(10.0)),
    ("failing check to message: p50", Some(1_000), Threshold::AtMost(5.0)),
    ("failing check to message: p99", Some(1_000), Threshold::AtMost(25.0)),
    ("10,000 messages, one receiver of 100 hangs: the others done", None, Threshold::AtMost(30.0)),
    ("dashboard: home", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: home after a change", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: fleet", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: fleet after a change", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: filter by status", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: filter by text", Some(10_000), Threshold::AtMost(100.0)),
    ("dashboard: a monitor's page", Some(10_000), Threshold::AtMost(150.0)),
    ("dashboard: CPU of 50 open pages, a change every 10 s", Some(10_000), Threshold::AtMost(5.0)),
    ("dashboard: change to open pages: worst", Some(10_000), Threshold::AtMost(1.0)),
    ("dashboard: first paint of home", Some(10_000), Threshold::AtMost(500.0)),
    ("dashboard: first paint of fleet", Some(10_000), Threshold::AtMost(500.0)),
    ("probe: memory at rest", None, Threshold::AtMost(15.0)),
    ("probe: highest memory", Some(30_000), Threshold::AtMost(40.0)),
    ("page: cached visits", Some(8), Threshold::AtLeast(45_000.0)),
    ("page: cached visits", Some(30), Threshold::AtLeast(45_000.0)),
    ("page: brotli bytes", Some(30), Threshold::AtMost(30.0)),
    ("page: gzip bytes", Some(30), Threshold::AtMost(30.0)),
    ("page: brotli bytes", Some(100), Threshold::AtMost(60.0)),
    ("page: gzip bytes", Some(100), Threshold::AtMost(60.0)),
    ("page: rebuild, as HTML", Some(1_000), Threshold::AtMost(20.0)),
    ("first paint: a page", None, Threshold::AtMost(100.0)),
    ("verdict to open browser: worst", None, Threshold::AtMost(1.0)),
    ("ListMonitors of 50, SQLite: calls", None, Threshold::AtLeast(8_000.0)),
    ("ListMonitors of 50, PostgreSQL: calls", None, Threshold::AtLeast(4_000.0)),
];

/// Returns the threshold of a figure, if it has one.
pub(super) fn for_figure(figure: &Figure) -> Option<Threshold> {
    let is_of =
        |row: &&Row| row.0 == figure.name && row.1.is_none_or(|it| figure.monitors == Some(it));
    THRESHOLDS.iter().find(is_of).map(|row| row.2)
}

impl Threshold {
    pub(super) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bar) => value >= bar,
            Self::AtMost(bar) => value <= bar,
        }
    }

    pub(super) fn to_json(self) -> Value {
        match self {
            Self::AtLeast(bar) => json!({ "at_least": bar }),
            Self::AtMost(bar) => json!({ "at_most": bar }),
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = match self {
            Self::AtLeast(bar) => format!("≥ {bar}"),
            Self::AtMost(bar) => format!("≤ {bar}"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, monitors: Option<usize>) -> Figure {
        Figure { name: name.to_owned(), monitors, value: 0.0, unit: "" }
    }

    #[test]
    fn threshold_applies_only_to_its_monitor_count() {
        let memory = |monitors| for_figure(&figure("30 s, one region: memory", monitors));
        assert_eq!(memory(Some(10_000)), Some(Threshold::AtMost(60.0)));
        assert_eq!(memory(Some(100_000)), Some(Threshold::AtMost(400.0)));
        assert_eq!(memory(Some(3_000)), None);
        assert_eq!(for_figure(&figure("memory at rest", Some(0))), Some(Threshold::AtMost(20.0)));
        assert_eq!(for_figure(&figure("saturated, TCP: checks", Some(1))), None);
    }

    #[test]
    fn equal_value_meets_the_threshold() {
        assert!(Threshold::AtLeast(10.0).is_met(10.0) && !Threshold::AtLeast(10.0).is_met(9.9));
        assert!(Threshold::AtMost(10.0).is_met(10.0) && !Threshold::AtMost(10.0).is_met(10.1));
    }
}
