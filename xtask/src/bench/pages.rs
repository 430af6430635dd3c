//! Scenarios of status pages: pages of several sizes with a history of 90 days, in which each
//! component has different outages. The load generator shares the cores. Figures: cached responses
//! under load, size of a page, and time to rebuild one. Two more figures are the times until an
//! open browser gets a changed verdict and paints a page.

mod browser;
pub(super) mod paint;
mod site;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use self::browser::Browser;
use self::site::{Site, get};
use super::alerts::FlippingPage;
use super::process::Target;
use super::sizes::Sizes;
use super::{Figure, Scenario, api};
use crate::shell;

/// All scenarios in order.
pub(super) const PAGES: &[Scenario] =
    &[("visits", visits), ("verdict", verdict), ("paint", paint::paint)];

/// Numbers of components of the pages.
const COUNTS: [usize; 4] = [8, 30, 100, 1_000];
/// Number of concurrent connections.
const CONNECTIONS: usize = 32;
/// Number of rebuilds of a page.
const ROUNDS: usize = 9;
/// Number of changes of the verdict.
const CHANGES: usize = 60;
/// Timeout.
const PATIENCE: Duration = Duration::from_mins(1);
/// Time after which a page is no longer served without a query of the store.
const CACHE_EXPIRY: Duration = Duration::from_secs(11);
/// Name of the load generator.
const VISITORS: &str = "bench-visits";
const KILOBYTE: f64 = 1_000.0;

/// Measures pages under load: bytes, visits per second, and the time to rebuild them.
fn visits(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let visitors = built(VISITORS)?;
    let site = Site::open(target, &COUNTS)?;
    let mut figures = Vec::new();
    for count in COUNTS {
        let figure = |what: &str, value, unit| Figure {
            name: format!("page: {what}"),
            monitors: Some(count),
            value,
            unit,
        };
        let path = site::path(count);
        for (encoding, word) in [("brotli", "br"), ("gzip", "gzip"), ("plain", "identity")] {
            let bytes = get(site.service.address, &path, word)?.len() as f64;
            figures.push(figure(&format!("{encoding} bytes"), bytes / KILOBYTE, "KB"));
        }
        let [build, render, whole] = measure_rebuild(&site, count)?;
        figures.push(figure("rebuild, as HTML", build + render, "ms"));
        figures.push(figure("rebuild, content only", build, "ms"));
        figures.push(figure("rebuild, with reads and response", whole, "ms"));
        let used = site.service.usage()?.cpu;
        let seen = load(&visitors, &site, &path, sizes)?;
        let cpu = site.service.usage()?.cpu.saturating_sub(used).as_secs_f64() * 1e6;
        let number = |key: &str| seen[key].as_f64().unwrap_or(f64::NAN);
        figures.push(figure("cached visits", number("visits") / number("seconds"), "/s"));
        figures.push(figure("CPU per visit", cpu / number("visits"), "µs"));
        figures.push(figure("p99 of visits", number("p99_us") / 1_000.0, "ms"));
    }
    site.service.stop()?;
    Ok(figures)
}

fn load(visitors: &Path, site: &Site, path: &str, sizes: &Sizes) -> Result<Value> {
    let output = Command::new(visitors)
        .args([&site.service.address.to_string(), path, "br"])
        .args([CONNECTIONS, sizes.window.as_secs() as usize].map(|it| it.to_string()))
        .output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the load generator failed: {why}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Builds the load generator if it is missing. `--built` only applies to the measured program.
fn built(name: &str) -> Result<PathBuf> {
    let program = Path::new("target/dist").join(name);
    if !program.exists() {
        let wanted = ["build", "--profile", "dist", "--package", "aloft-testkit", "--bin", name];
        shell::run(&shell::cargo(), &wanted)?;
    }
    Ok(program)
}

/// Returns the median of three times in milliseconds: deciding the content of a page, rendering it
/// as HTML, and the whole response including reads.
fn measure_rebuild(site: &Site, count: usize) -> Result<[f64; 3]> {
    let address = site.service.address;
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        site.touch(count, round)?;
        let before = api::metrics(address)?;
        let begun = Instant::now();
        get(address, &site::path(count), "identity")?;
        let whole = begun.elapsed().as_secs_f64();
        let after = api::metrics(address)?;
        let spent = |what: &str| {
            let name = format!("aloft_page_{what}_seconds_sum");
            after.sum(&name) - before.sum(&name)
        };
        rounds.push([spent("build"), spent("render"), whole].map(|seconds| seconds * 1e3));
    }
    let middle = |place: usize| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[place]).collect();
        values.sort_by(f64::total_cmp);
        values[ROUNDS / 2]
    };
    Ok([middle(0), middle(1), middle(2)])
}

/// Measures the time from the check that changes the verdict to the event at open browsers, and
/// checks the page that one loads then.
fn verdict(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    const COUNT: usize = 30;
    let mut site = Site::open(target, &[COUNT])?;
    let page = FlippingPage::start()?;
    let monitor = site.add(COUNT, "breaks", &page.url())?;
    std::thread::sleep(sizes.warm_up.min(CACHE_EXPIRY));
    let path = site::path(COUNT);
    let mut browsers = Vec::new();
    for _ in 0..CONNECTIONS {
        browsers.push(Browser::open(site.service.address, &format!("{path}/events"))?);
    }
    let mut took = Vec::with_capacity(CHANGES);
    for change in 0..CHANGES {
        let breaks = change % 2 == 0;
        if breaks {
            page.break_down();
        } else {
            page.recover();
        }
        site.api.call("TriggerMonitor", &json!({ "id": monitor }))?;
        let checked = page.last_visit().context("the check did not arrive")?;
        let mut last = checked;
        for browser in &browsers {
            last = last.max(browser.after(checked, PATIENCE).context("a browser got no event")?);
        }
        took.push(last.saturating_duration_since(checked).as_secs_f64());
        let shown = get(site.service.address, &path, "identity")?;
        let is_down = String::from_utf8_lossy(&shown).contains("breaks is down");
        ensure!(is_down == breaks, "the page does not show the change of the event");
    }
    site.service.stop()?;
    took.sort_by(f64::total_cmp);
    let figure = |what: &str, place: usize| Figure {
        name: format!("verdict to open browser: {what}"),
        monitors: Some(COUNT),
        value: took[place],
        unit: "s",
    };
    Ok(vec![figure("p50", CHANGES / 2), figure("worst", CHANGES - 1)])
}
