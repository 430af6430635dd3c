//! Scenarios of the dashboard: a workspace with many monitors, each with results of 30 days. Figures:
//! the time of each screen on the server, of a screen after a change, of a change until open pages show
//! it, uptime reports, the CPU of 50 open pages, and the first paint in a browser. `fleet` is that workspace.

mod fleet;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use self::fleet::Fleet;
use super::pages::paint;
use super::process::Target;
use super::sizes::Sizes;
use super::{Figure, Scenario};

/// All scenarios in order.
pub(super) const DASHBOARD: &[Scenario] = &[
    ("screens", screens),
    ("monitor", monitor),
    ("reports", reports),
    ("open", open),
    ("look", look),
];

/// Number of requests for a figure, of which the median counts.
const ROUNDS: usize = 21;
/// Number of requests for a figure of a report.
const REPORT_ROUNDS: usize = 3;
/// Number of open pages.
const OPEN: usize = 50;
/// Interval of changes while pages are open.
const CHANGE_INTERVAL: Duration = Duration::from_secs(10);
/// Timeout for an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures home, the fleet, filters and the search.
fn screens(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let fleet = Fleet::open(target, sizes)?;
    let figure = |what: &str, value| figure(what, sizes, value, "ms");
    let first = fleet.time("")?;
    let mut figures = vec![figure("home after a start", first)];
    for (what, path) in [
        ("home", ""),
        ("fleet", "/monitors"),
        ("fleet, last page by name", "/monitors?sort=-name&page=9999"),
        ("filter by status", "/monitors?status=down"),
        ("filter by text", "/monitors?q=service+99"),
        ("search in the palette", "/search?q=service&part=1"),
    ] {
        figures.push(figure(what, fleet.median(path)?));
    }
    for (what, path) in [("home after a change", ""), ("fleet after a change", "/monitors")] {
        let mut times = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            fleet.change(round)?;
            times.push(fleet.time(path)?);
        }
        figures.push(figure(what, middle(&mut times)));
    }
    fleet.stop()?;
    Ok(figures)
}

/// Measures the page of the monitor with the most results.
fn monitor(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let fleet = Fleet::open(target, sizes)?;
    let time = fleet.median(&format!("/monitors/{}", fleet.monitor))?;
    fleet.stop()?;
    Ok(vec![figure("a monitor's page", sizes, time, "ms")])
}

/// Measures uptime reports of the last 30 days: a page of rows, and all rows with their latencies.
fn reports(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let fleet = Fleet::open(target, sizes)?;
    let mut figures = Vec::new();
    for (what, path) in [
        ("uptime report", "/uptime?period=30d"),
        ("uptime report by tag", "/uptime?period=30d&by=tag"),
        ("uptime report as CSV", "/uptime.csv?period=30d"),
    ] {
        let times = (0..REPORT_ROUNDS).map(|_| fleet.time(path));
        let mut times = times.collect::<Result<Vec<f64>>>()?;
        figures.push(figure(what, sizes, middle(&mut times), "ms"));
    }
    fleet.stop()?;
    Ok(figures)
}

/// Measures open pages, which load home again after each change: the CPU of the service besides that
/// without pages, and the time until the last one has loaded home again.
fn open(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let fleet = Fleet::open(target, sizes)?;
    fleet.time("")?;
    std::thread::sleep(sizes.warm_up);
    let alone = cpu_share(&fleet, sizes, &mut |_| Ok(()))?;
    let pages: Vec<_> = (0..OPEN).map(|_| fleet.open_page()).collect::<Result<_>>()?;
    let idle = cpu_share(&fleet, sizes, &mut |_| Ok(()))?;
    let mut delays = Vec::new();
    let busy = cpu_share(&fleet, sizes, &mut |round| {
        let changed = Instant::now();
        fleet.change(round)?;
        for page in &pages {
            let at = page.after(changed, PATIENCE);
            ensure!(at.is_some(), "an open page did not learn of a change");
            delays.extend(at.map(|at| at.duration_since(changed).as_secs_f64()));
        }
        Ok(())
    })?;
    fleet.stop()?;
    let figure = |what: &str, value, unit| figure(what, sizes, value, unit);
    let worst = delays.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        figure("CPU without open pages", alone, "%"),
        figure("CPU of 50 open pages, nothing changes", idle - alone, "%"),
        figure("CPU of 50 open pages, a change every 10 s", busy - alone, "%"),
        figure("change to open pages: worst", worst, "s"),
    ])
}

/// Measures the first paint of home and of the fleet in a browser, each beside that of an empty page.
fn look(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let fleet = Fleet::open(target, sizes)?;
    let mut figures = Vec::new();
    for (what, path) in [("home", ""), ("fleet", "/monitors")] {
        let painted = paint::first_paint(&fleet.url(path), Some(&fleet.cookie))?;
        figures.push(figure(&format!("first paint of {what}"), sizes, painted.page, "ms"));
        figures.push(figure(&format!("first paint beside {what}"), sizes, painted.empty, "ms"));
    }
    fleet.stop()?;
    Ok(figures)
}

/// Returns the CPU time of the service as a share of one core in percent, over a window in which
/// `change` is called at intervals.
fn cpu_share(
    fleet: &Fleet,
    sizes: &Sizes,
    change: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<f64> {
    let (begun, before) = (Instant::now(), fleet.cpu()?);
    for round in 0.. {
        change(round)?;
        let next = CHANGE_INTERVAL * (round as u32 + 1);
        std::thread::sleep(next.min(sizes.window).saturating_sub(begun.elapsed()));
        if begun.elapsed() >= sizes.window {
            break;
        }
    }
    let spent = fleet.cpu()?.saturating_sub(before);
    Ok(spent.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0)
}

fn figure(what: &str, sizes: &Sizes, value: f64, unit: &'static str) -> Figure {
    Figure { name: format!("dashboard: {what}"), monitors: Some(sizes.monitors), value, unit }
}

fn middle(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
