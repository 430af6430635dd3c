//! Uptime of a monitor by day, as bars.

use std::fmt::Write as _;
use std::time::Duration;

use domain::history::Span;
use domain::page::{DAYS, Day, days, uptime_of};
use rules::{MonitorId, Timestamp, WorkspaceId};

use crate::error::ScreenError;
use crate::state::Dashboard;
use crate::{durations, numbers, time};

/// Size of a bar in SVG units.
const STEP: u32 = 8;
const WIDTH: u32 = 6;
const HEIGHT: f64 = 36.0;
/// Minimum height of a part, so that one minute of a day remains visible.
const PART_MIN: f64 = 8.0;

/// Meanings of the colours, with their classes of the style sheet.
pub(crate) const LEGEND: [(&str, &str); 5] = [
    ("fill-up", "Operational"),
    ("fill-degraded", "Degraded"),
    ("fill-down", "Down"),
    ("fill-maintenance", "Maintenance"),
    ("fill-unknown", "No data"),
];

/// Bars of the last days.
#[derive(Clone, Debug)]
pub(crate) struct DayBars {
    /// SVG.
    pub(crate) svg: String,
    pub(crate) count: usize,
    /// First and last day.
    pub(crate) first: String,
    pub(crate) last: String,
    /// Uptime over all days. `None` if nothing is known.
    pub(crate) uptime: Option<String>,
    /// Days on which something happened, newest first.
    pub(crate) events: Vec<DayEvent>,
}

/// A day on which something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayEvent {
    pub(crate) date: String,
    pub(crate) text: String,
}

/// Returns the bars of a monitor.
pub(super) async fn read(
    state: &Dashboard,
    (workspace, monitor): (WorkspaceId, MonitorId),
) -> Result<DayBars, ScreenError> {
    let now = state.ctx.now();
    let from = now - Duration::from_hours(24 * DAYS as u64);
    let (before, changes) = state.store.history().status_history(workspace, monitor, from).await?;
    let range = Span { from, to: now };
    let maintenances = state.store.maintenances();
    let windows = maintenances.excluded_spans(workspace, monitor, range).await?;
    Ok(draw(&days(before, &changes, &windows, now)))
}

fn draw(days: &[Day]) -> DayBars {
    let width = days.len() as u32 * STEP;
    let mut svg = format!(
        "<svg class=\"days\" viewBox=\"0 0 {width} 36\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">"
    );
    for (index, day) in days.iter().enumerate() {
        let x = index as u32 * STEP + 1;
        let title = format!("{}: {}", date(day.begins), describe(day));
        let _ = write!(svg, "<g><title>{title}</title>");
        for (class, top, height) in parts(day) {
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{top:.1}\" width=\"{WIDTH}\" \
                 height=\"{height:.1}\"/>"
            );
        }
        // The whole column shows the title, gaps and short bars included.
        let _ = write!(
            svg,
            "<rect class=\"hover\" x=\"{}\" width=\"{STEP}\" height=\"36\"/></g>",
            x - 1
        );
    }
    let happened = |day: &&Day| day.down_ms + day.degraded_ms + day.maintenance_ms > 0;
    let event = |day: &Day| DayEvent { date: date(day.begins), text: describe(day) };
    DayBars {
        svg: svg + "</svg>",
        count: days.len(),
        first: days.first().map(|day| date(day.begins)).unwrap_or_default(),
        last: days.last().map(|day| date(day.begins)).unwrap_or_default(),
        uptime: uptime_of(days).map(numbers::uptime),
        events: days.iter().rev().filter(happened).map(event).collect(),
    }
}

/// Returns class, top and height of each part of a bar, from the bottom: the worst first.
fn parts(day: &Day) -> Vec<(&'static str, f64, f64)> {
    let bad = [
        ("fill-down", day.down_ms),
        ("fill-degraded", day.degraded_ms),
        ("fill-maintenance", day.maintenance_ms),
    ];
    let whole = day.up_ms + bad.iter().map(|(_, ms)| ms).sum::<u64>();
    if whole == 0 {
        return vec![("fill-unknown", HEIGHT - 6.0, 6.0)];
    }
    let (mut parts, mut bottom) = (Vec::new(), HEIGHT);
    for (class, ms) in bad.into_iter().filter(|(_, ms)| *ms > 0) {
        let height = (HEIGHT * ms as f64 / whole as f64).max(PART_MIN).min(bottom);
        bottom -= height;
        parts.push((class, bottom, height));
    }
    if day.up_ms > 0 && bottom > 0.0 {
        parts.push(("fill-up", 0.0, bottom));
    }
    parts
}

fn describe(day: &Day) -> String {
    let parts = [
        ("down", day.down_ms),
        ("degraded", day.degraded_ms),
        ("in maintenance", day.maintenance_ms),
    ];
    let part = |(word, ms): (&str, u64)| {
        (ms > 0).then(|| format!("{} {word}", durations::text(Duration::from_millis(ms))))
    };
    let mut texts: Vec<String> = parts.into_iter().filter_map(part).collect();
    match day.uptime {
        Some(uptime) => texts.insert(0, format!("{} up", numbers::uptime(uptime))),
        None if texts.is_empty() => texts.push("no data".to_owned()),
        None => {}
    }
    texts.join(", ")
}

fn date(at: Timestamp) -> String {
    time::format(at, time::NAMED_DAY)
}

#[cfg(test)]
mod tests {
    use domain::history::StatusFrom;
    use rules::MonitorStatus;

    use super::*;

    #[test]
    fn short_outage_is_visible_and_described() {
        let now = Timestamp::from_millis(1_795_219_200_000 + 3_600_000);
        let at = |seconds: u64| now - Duration::from_secs(seconds);
        let changes = [
            StatusFrom { at: at(3_000), status: MonitorStatus::Active },
            StatusFrom { at: at(120), status: MonitorStatus::Error },
            StatusFrom { at: at(60), status: MonitorStatus::Active },
        ];
        let bars = draw(&days(MonitorStatus::Unknown, &changes, &[], now));
        assert_eq!(bars.count, DAYS);
        assert_eq!((&*bars.first, &*bars.last), ("Aug 24, 2026", "Nov 21, 2026"));
        let event = DayEvent {
            date: "Nov 21, 2026".to_owned(),
            text: "98.000 % up, 1 min down".to_owned(),
        };
        assert_eq!(bars.events, [event]);
        assert_eq!(bars.svg.matches("fill-unknown").count(), DAYS - 1);
        assert!(bars.svg.contains("class=\"fill-down\" x=\"713\" y=\"28.0\""), "{}", bars.svg);
    }
}
