//! Page of a component: its state, its uptime, its incidents and its days as a table. If its
//! monitor is public, the page also has charts of percentiles and phases, each with a table.

use askama::Template;
use domain::page::{ComponentView, Day, LatencyPoint, PERCENTILES, Range, State, uptime_of};
use web::chart::{Chart, milliseconds};

use super::super::i18n::{DetailStrings, Strings, clock, iso_date};
use super::super::snapshot::PageSnapshot;
use super::event::incident;
use super::time::time_html;
use super::{PageLayout, render};

#[derive(Template)]
#[template(path = "component_page.html")]
struct ComponentPage<'a> {
    frame: PageLayout<'a>,
    name: &'a str,
    state: State,
    word: &'static str,
    about: Option<&'a str>,
    /// Start of the state as HTML.
    since: Option<String>,
    /// Numbers of days, each with the uptime.
    uptimes: Vec<(String, String)>,
    latency: Option<LatencyCharts>,
    events: Vec<String>,
    columns: Vec<&'static str>,
    /// URL and cells of each day.
    rows: Vec<(String, Vec<String>)>,
}

struct LatencyCharts {
    /// Label and path of each range. The current one has no path.
    ranges: Vec<(String, Option<String>)>,
    charts: Vec<DrawnChart>,
}

/// A chart with its texts and its table.
struct DrawnChart {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    svg: String,
    legend: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Renders the page of a component. `latency` is `Some` if its monitor is public.
pub(crate) fn component_page(
    snapshot: &PageSnapshot,
    words: &'static Strings,
    base: &str,
    it: &ComponentView,
    latency_series: Option<(Range, &[LatencyPoint])>,
) -> String {
    let mut frame = PageLayout::for_page(&snapshot.page, words, base);
    frame.heading = format!("{} · {}", it.name, snapshot.page.settings.title);
    let about = snapshot.view.history.iter().flat_map(|day| &day.incidents);
    let about = about.filter(|incident| incident.is_about(it.id));
    render(&ComponentPage {
        frame,
        name: &it.name,
        state: it.state,
        word: words.state(it.state),
        about: it.description.as_deref(),
        since: it.since.map(|at| words.since.replace("{}", &time_html(at, words))),
        uptimes: it.days.as_ref().map(|days| uptimes(days, words)).unwrap_or_default(),
        latency: latency_series.map(|(range, points)| LatencyCharts {
            ranges: ranges(range, words, &format!("{base}/component/{}", it.id)),
            charts: charts(range, points, words),
        }),
        events: about.map(|it| incident(it, words, base)).collect(),
        columns: vec![words.day, words.up, words.down, words.degraded, words.maintenance],
        rows: it.days.iter().flatten().rev().map(|day| row(day, words, base)).collect(),
    })
}

/// Returns the uptime over each range of days.
fn uptimes(days: &[Day], words: &Strings) -> Vec<(String, String)> {
    let over = |range: Range| {
        let last = &days[days.len().saturating_sub(range.days() as usize)..];
        let uptime = uptime_of(last).map_or_else(|| words.no_data.to_owned(), |it| it.to_string());
        (DetailStrings::pluralize(words.detail.days, range.days()), uptime)
    };
    Range::ALL.into_iter().map(over).collect()
}

/// Returns the URL and the table row of a day.
fn row(day: &Day, words: &Strings, base: &str) -> (String, Vec<String>) {
    let uptime = day.uptime.map_or_else(|| words.no_data.to_owned(), |it| it.to_string());
    let long = |millis| if millis == 0 { "–".to_owned() } else { words.format_duration(millis) };
    let [down, degraded, planned] = [day.down_ms, day.degraded_ms, day.maintenance_ms];
    let link = format!("{base}/day/{}", iso_date(day.begins));
    (link, vec![words.date(day.begins), uptime, long(down), long(degraded), long(planned)])
}

fn ranges(current: Range, words: &Strings, path: &str) -> Vec<(String, Option<String>)> {
    let choice = |range: Range| {
        let link = (range != current).then(|| format!("{path}/{}#latency", range.as_str()));
        (DetailStrings::pluralize(words.detail.days, range.days()), link)
    };
    Range::ALL.into_iter().map(choice).collect()
}

/// Returns the charts of a latency series. Empty charts are omitted.
fn charts(range: Range, points: &[LatencyPoint], words: &Strings) -> Vec<DrawnChart> {
    let detail = words.detail;
    let time = |at| if range.is_by_day() { words.date(at) } else { words.time(at) };
    let label = |at| if range == Range::Day { clock(at) } else { iso_date(at) };
    let times: Vec<String> = points.iter().map(|point| time(point.begins)).collect();
    let labels: Vec<String> = points.iter().map(|point| label(point.begins)).collect();
    let percentiles = PERCENTILES.map(|percent| format!("p{percent}"));
    let latencies: Vec<_> = points.iter().map(|point| point.percentiles_us).collect();
    let phases: Vec<_> = points.iter().map(|point| point.phases_us).collect();
    let table = |values: &[Option<[u32; 5]>]| {
        let of_step = |(place, values): (usize, &Option<[u32; 5]>)| {
            let numbers = values.as_ref()?.iter().map(|it| milliseconds(*it, detail.milliseconds));
            let numbers: Vec<String> = numbers.collect();
            Some((place, numbers))
        };
        values.iter().enumerate().rev().filter_map(of_step).collect::<Vec<_>>()
    };
    let chart = |id, title, about, names, values| Chart {
        id,
        title,
        about,
        names,
        times: &times,
        labels: &labels,
        values,
        unit: detail.milliseconds,
    };
    let mut charts = Vec::new();
    if latencies.iter().any(Option::is_some) {
        let names = percentiles.each_ref().map(String::as_str);
        let drawn = chart("l", detail.latency, detail.about_percentiles, names, &latencies);
        let with_count = |(place, numbers): (usize, Vec<String>)| {
            let count = points[place].successes.to_string();
            [vec![times[place].clone(), count], numbers].concat()
        };
        charts.push(DrawnChart {
            id: "l",
            title: detail.latency,
            about: detail.about_percentiles,
            svg: drawn.lines(),
            legend: drawn.legend_of_lines(),
            columns: columns(&[detail.time, detail.successes], &names),
            rows: table(&latencies).into_iter().map(with_count).collect(),
        });
    }
    if phases.iter().any(Option::is_some) {
        let drawn = chart("p", detail.phases, detail.about_phases, detail.phase, &phases);
        let with_time =
            |(place, numbers): (usize, Vec<String>)| [vec![times[place].clone()], numbers].concat();
        charts.push(DrawnChart {
            id: "p",
            title: detail.phases,
            about: detail.about_phases,
            svg: drawn.stacks(),
            legend: drawn.legend_of_stacks(),
            columns: columns(&[detail.time], &detail.phase),
            rows: table(&phases).into_iter().map(with_time).collect(),
        });
    }
    charts
}

fn columns(first: &[&str], others: &[&str]) -> Vec<String> {
    first.iter().chain(others).map(|name| (*name).to_owned()).collect()
}
