//! Charts of a monitor: percentiles of its latency, and the duration of each phase.

use domain::page::{LatencyPoint, PERCENTILES, Range, latency_series};
use rules::{MonitorId, MonitorKind, Timestamp, WorkspaceId};
use store::Bucket;
use web::chart::{Chart, milliseconds};

use crate::error::ScreenError;
use crate::state::Dashboard;
use crate::time;

const UNIT: &str = "{} ms";
const LATENCY: Words = Words {
    title: "Latency",
    help: "Percentiles of all successful checks. Times are in UTC.",
    unit: UNIT,
};
const PHASE_WORDS: Words = Words {
    title: "Phases",
    help: "Mean of each phase, from a sample of the checks. Times are in UTC.",
    unit: UNIT,
};
/// Jobs run longer than requests.
const RUNS: Words = Words {
    title: "Duration of runs",
    help: "Percentiles of the successful runs that reported their start. Times are in UTC.",
    unit: "{} s",
};
const PHASES: [&str; 5] = ["DNS", "Connect", "TLS", "First byte", "Transfer"];
const DAY_MS: i64 = 86_400_000;

/// Range of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    Day,
    Week,
    Fortnight,
    Month,
    Quarter,
}

/// Texts of a chart.
struct Words {
    title: &'static str,
    help: &'static str,
    unit: &'static str,
}

/// A chart with its texts and its table.
#[derive(Clone, Debug)]
pub(crate) struct LatencyChart {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) help: &'static str,
    /// SVG and legend, as HTML.
    pub(crate) svg: String,
    pub(crate) legend: String,
    pub(crate) columns: [String; 5],
    /// Time, as HTML, and values of each step, newest first.
    pub(crate) rows: Vec<(String, [String; 5])>,
}

impl Window {
    pub(super) const ALL: [Self; 5] =
        [Self::Day, Self::Week, Self::Fortnight, Self::Month, Self::Quarter];

    /// Returns the name in URLs and in the contract.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "1d",
            Self::Week => "7d",
            Self::Fortnight => "14d",
            Self::Month => "30d",
            Self::Quarter => "90d",
        }
    }

    /// Returns the range in a URL. An unknown one is a day.
    pub(super) fn parse(word: Option<&str>) -> Self {
        let word = word.unwrap_or_default();
        Self::ALL.into_iter().find(|it| it.as_str() == word).unwrap_or(Self::Day)
    }

    /// Returns the range of the series, and the number of its last days that are shown.
    const fn series(self) -> (Range, i64) {
        match self {
            Self::Day => (Range::Day, 1),
            Self::Week => (Range::Week, 7),
            Self::Fortnight => (Range::Month, 14),
            Self::Month => (Range::Month, 30),
            Self::Quarter => (Range::Quarter, 90),
        }
    }
}

/// Latencies of a monitor, by step of time.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    range: Range,
    points: Vec<LatencyPoint>,
}

/// Reads the latencies of a monitor.
pub(super) async fn read(
    state: &Dashboard,
    (workspace, monitor): (WorkspaceId, MonitorId),
    window: Window,
) -> Result<Latencies, ScreenError> {
    let (range, days) = window.series();
    let now = state.ctx.now();
    let from = Timestamp::from_millis(now.as_millis() - days * DAY_MS);
    let mut span = range.span(now);
    span.from = span.from.max(from);
    let moments: Vec<Timestamp> =
        range.sample_times(now).into_iter().filter(|at| *at >= span.from).collect();
    let history = state.store.history();
    let bucket = if range.is_by_day() { Bucket::Day } else { Bucket::Hour };
    let rollups = history.buckets(workspace, monitor, bucket, span).await?;
    let phases = history.phases(workspace, monitor, &moments).await?;
    let mut points = latency_series(range, now, &rollups, &phases);
    points.retain(|point| point.begins >= from);
    Ok(Latencies { range, points })
}

impl Latencies {
    /// Draws the charts of a kind of monitor. Charts without data are omitted.
    pub(super) fn charts(&self, kind: MonitorKind) -> Vec<LatencyChart> {
        match kind {
            MonitorKind::Http | MonitorKind::Tcp | MonitorKind::Dns => {
                draw(self.range, &self.points, &LATENCY)
            }
            MonitorKind::Heartbeat => draw_runs(self.range, &self.points),
        }
    }
}

/// Draws the durations of the runs of a job.
fn draw_runs(range: Range, points: &[LatencyPoint]) -> Vec<LatencyChart> {
    // The drawing takes thousandths of its unit.
    let runs = points.iter().map(|point| LatencyPoint {
        percentiles_us: point.percentiles_us.map(|it| it.map(|micros| micros / 1_000)),
        phases_us: None,
        ..*point
    });
    draw(range, &runs.collect::<Vec<_>>(), &RUNS)
}

fn draw(range: Range, points: &[LatencyPoint], words: &Words) -> Vec<LatencyChart> {
    let format = |pattern| points.iter().map(|it| time::format(it.begins, pattern)).collect();
    let (long, short) = match range {
        Range::Day => (time::TEXT, "%H:%M"),
        Range::Week => (time::TEXT, "%b %-d"),
        Range::Month | Range::Quarter => (time::NAMED_DAY, "%b %-d"),
    };
    let (times, labels): (Vec<String>, Vec<String>) = (format(long), format(short));
    let begins: Vec<String> = match range {
        Range::Day | Range::Week => points.iter().map(|it| time::time(&it.begins)).collect(),
        Range::Month | Range::Quarter => times.clone(),
    };
    let latencies: Vec<_> = points.iter().map(|it| it.percentiles_us).collect();
    let phases: Vec<_> = points.iter().map(|it| it.phases_us).collect();
    let percentiles = PERCENTILES.map(|percent| format!("p{percent}"));
    let chart = |id, words: &Words, names, values| Chart {
        id,
        title: words.title,
        about: words.help,
        names,
        times: &times,
        labels: &labels,
        values,
        unit: words.unit,
    };
    let mut charts = Vec::new();
    if latencies.iter().any(Option::is_some) {
        let names = percentiles.each_ref().map(String::as_str);
        let drawn = chart("latency", words, names, &latencies);
        charts.push(LatencyChart {
            id: "latency",
            title: words.title,
            help: words.help,
            svg: drawn.lines(),
            legend: drawn.legend_of_lines(),
            columns: percentiles.clone(),
            rows: rows(&begins, &latencies, words.unit),
        });
    }
    if phases.iter().any(Option::is_some) {
        let drawn = chart("phases", &PHASE_WORDS, PHASES, &phases);
        charts.push(LatencyChart {
            id: "phases",
            title: PHASE_WORDS.title,
            help: PHASE_WORDS.help,
            svg: drawn.stacks(),
            legend: drawn.legend_of_stacks(),
            columns: PHASES.map(str::to_owned),
            rows: rows(&begins, &phases, UNIT),
        });
    }
    charts
}

fn rows(times: &[String], values: &[Option<[u32; 5]>], unit: &str) -> Vec<(String, [String; 5])> {
    let steps = times.iter().zip(values).rev();
    let row = |(time, values): (&String, &Option<[u32; 5]>)| {
        Some((time.clone(), values.as_ref()?.map(|it| milliseconds(it, unit))))
    };
    steps.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_without_data_are_omitted() {
        let point = |percentiles_us, phases_us| LatencyPoint {
            begins: Timestamp::from_millis(1_795_219_200_000),
            successes: 1,
            percentiles_us,
            phases_us,
        };
        let numbers = Some([10_000, 20_000, 30_000, 40_000, 50_000]);
        let drawn = |points: &[LatencyPoint]| {
            draw(Range::Day, points, &LATENCY).iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert!(drawn(&[point(None, None)]).is_empty());
        assert_eq!(drawn(&[point(numbers, None), point(None, numbers)]), ["latency", "phases"]);
        let charts = draw(Range::Month, &[point(numbers, None), point(None, None)], &LATENCY);
        assert_eq!(charts[0].rows.len(), 1);
        assert_eq!((&*charts[0].rows[0].0, &*charts[0].rows[0].1[4]), ("Nov 21, 2026", "50 ms"));
    }

    #[test]
    fn runs_are_drawn_in_seconds_without_phases() {
        let point = LatencyPoint {
            begins: Timestamp::from_millis(1_795_219_200_000),
            successes: 1,
            percentiles_us: Some([90_000_000; 5]),
            phases_us: Some([0; 5]),
        };
        let latencies = Latencies { range: Range::Day, points: vec![point] };
        let charts = latencies.charts(MonitorKind::Heartbeat);
        let [runs] = &*charts else { panic!("{charts:?}") };
        assert_eq!((runs.title, &*runs.rows[0].1[0]), ("Duration of runs", "90 s"));
        assert!(runs.svg.contains("100 s") && !runs.svg.contains("Latency"), "{}", runs.svg);
    }
}
