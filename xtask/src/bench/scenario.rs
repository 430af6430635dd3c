//! Scenarios of the engine: an idle service, one on schedule, one that is overloaded with each kind
//! of check, one with a slow target, and the growth on disk.

use std::time::Duration;

use anyhow::Result;

use super::observe::{self, Load, Measurement, Wire};
use super::process::{Postgres, RunningService, Target};
use super::sizes::Sizes;
use super::{Figure, Scenario, baseline};

/// All scenarios in order.
pub(super) const ENGINE: &[Scenario] = &[
    ("idle", |_, _| idle()),
    ("floor", baseline::baseline),
    ("hundred", hundred),
    ("scheduled", |target, sizes| scheduled(target, sizes.monitors, sizes)),
    ("crowd", |target, sizes| scheduled(target, sizes.crowd, sizes)),
    ("saturated", |target, sizes| saturated(target, Wire::Plain, sizes)),
    ("postgres", saturated_on_both),
    ("tls", |target, sizes| saturated(target, Wire::Tls, sizes)),
    ("tcp", |target, sizes| saturated(target, Wire::Tcp, sizes)),
    ("dns", |target, sizes| saturated(target, Wire::Dns, sizes)),
    ("slow", slow),
    ("disk", disk),
];

/// Number of monitors for 100 checks per second, at 30 s in one region.
const HUNDRED: usize = 3_000;
const STARTS: usize = 11;
const REST: Duration = Duration::from_secs(3);
const MEBIBYTE: f64 = 1_048_576.0;
const KIBIBYTE: f64 = 1_024.0;

/// Measures the time from the start to the first response on a used folder (median of 11), and
/// memory at rest.
fn idle() -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let service = RunningService::start(folder.path(), &[])?;
        starts.push(service.first_answer.as_secs_f64() * 1_000.0);
        service.stop()?;
    }
    starts.sort_by(f64::total_cmp);
    let service = RunningService::start(folder.path(), &[])?;
    std::thread::sleep(REST);
    let rss = service.usage()?.rss_bytes as f64 / MEBIBYTE;
    service.stop()?;
    let start = starts[STARTS / 2];
    Ok(vec![
        Figure {
            name: "start to first answer, median".to_owned(),
            monitors: None,
            value: start,
            unit: "ms",
        },
        Figure { name: "memory at rest".to_owned(), monitors: Some(0), value: rss, unit: "MiB" },
    ])
}

/// Measures the CPU time of a check without overload, at 100 checks per second.
fn hundred(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let load = Load { wire: Wire::Plain, monitors: HUNDRED, regions: 1 };
    let seen = observe::observe(target, load, sizes)?;
    Ok(vec![
        figure("100/s", "checks", load, seen.checks_per_second, "/s"),
        figure("100/s", "CPU per check", load, seen.cpu_us, "µs"),
        figure("100/s", "mean commit", load, seen.commit_ms, "ms"),
    ])
}

/// Measures monitors at 30 s in one region: memory, start delay, CPU per check.
fn scheduled(target: &Target, monitors: usize, sizes: &Sizes) -> Result<Vec<Figure>> {
    let load = Load { wire: Wire::Plain, monitors, regions: 1 };
    let seen = observe::observe(target, load, sizes)?;
    let each = (seen.rss_bytes - seen.rss_before) / load.monitors as f64 / KIBIBYTE;
    let of = "30 s, one region";
    Ok(vec![
        figure(of, "checks", load, seen.checks_per_second, "/s"),
        figure(of, "CPU per check", load, seen.cpu_us, "µs"),
        figure(of, "memory", load, seen.rss_bytes / MEBIBYTE, "MiB"),
        figure(of, "memory per monitor", load, each, "KiB"),
        figure(of, "lateness p50", load, seen.late_p50_ms, "ms"),
        figure(of, "lateness p99", load, seen.late_p99_ms, "ms"),
    ])
}

/// Measures monitors at 30 s in all 28 regions. They need more checks than two cores can run, so
/// this is the maximum rate.
fn saturated(target: &Target, wire: Wire, sizes: &Sizes) -> Result<Vec<Figure>> {
    // A handshake costs as much as several plain checks.
    let monitors = if wire == Wire::Tls { sizes.saturating / 3 } else { sizes.saturating };
    let load = Load { wire, monitors, regions: observe::all_regions().len() };
    let seen = observe::observe(target, load, sizes)?;
    let of = match wire {
        Wire::Plain => "saturated",
        Wire::Slow => "saturated, slow",
        Wire::Tls => "saturated, TLS",
        Wire::Tcp => "saturated, TCP",
        Wire::Dns => "saturated, DNS",
    };
    Ok(vec![
        figure(of, "checks", load, seen.checks_per_second, "/s"),
        figure(of, "CPU per check", load, seen.cpu_us, "µs"),
        figure(of, "mean commit", load, seen.commit_ms, "ms"),
        figure(of, "memory", load, seen.rss_bytes / MEBIBYTE, "MiB"),
    ])
}

/// Measures the maximum rate on the embedded database, and then on a PostgreSQL server on this
/// machine, which syncs its commits.
fn saturated_on_both(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let regions = observe::all_regions().len();
    let load = Load { wire: Wire::Plain, monitors: sizes.saturating, regions };
    let embedded = observe::observe(target, load, sizes)?;
    let postgres = Postgres::start()?;
    let seen = observe::observe_on(&["--database", &postgres.address], target, load, sizes)?;
    let share = seen.checks_per_second / embedded.checks_per_second;
    let of = "saturated, PostgreSQL";
    Ok(vec![
        figure(of, "checks on the embedded database", load, embedded.checks_per_second, "/s"),
        figure(of, "mean commit there", load, embedded.commit_ms, "ms"),
        figure(of, "checks", load, seen.checks_per_second, "/s"),
        figure(of, "share of the embedded rate", load, share, ""),
        figure(of, "CPU per check, without PostgreSQL's", load, seen.cpu_us, "µs"),
        figure(of, "mean commit", load, seen.commit_ms, "ms"),
    ])
}

/// Measures the same monitors twice, with a target that responds at once and one that takes a
/// second. The difference is the cost of checks in flight.
fn slow(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let load = |wire| Load { wire, monitors: sizes.monitors, regions: sizes.slow_regions };
    let quick = observe::observe(target, load(Wire::Plain), sizes)?;
    let seen = observe::observe(target, load(Wire::Slow), sizes)?;
    let more = |value: fn(&Measurement) -> f64| value(&seen) - value(&quick);
    let each = more(|seen| seen.rss_bytes) / more(|seen| seen.in_flight) / KIBIBYTE;
    let (of, load) = ("target of 1 s", load(Wire::Slow));
    Ok(vec![
        figure(of, "checks", load, seen.checks_per_second, "/s"),
        figure(of, "checks in flight", load, seen.in_flight, ""),
        figure(of, "memory", load, seen.rss_bytes / MEBIBYTE, "MiB"),
        figure(of, "memory per check in flight", load, each, "KiB"),
        figure(of, "CPU per check", load, seen.cpu_us, "µs"),
        figure(of, "lateness p99", load, seen.late_p99_ms, "ms"),
    ])
}

/// Measures the growth of the data folder between two stops of the service, per result. It includes
/// indexes and the judge's state, before compaction.
fn disk(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let load = Load { wire: Wire::Plain, monitors: sizes.monitors, regions: 3 };
    let bytes = observe::bytes_per_result(target, load, sizes)?;
    Ok(vec![figure("on disk", "bytes per stored check", load, bytes, "B")])
}

fn figure(of: &str, what: &str, load: Load, value: f64, unit: &'static str) -> Figure {
    Figure { name: format!("{of}: {what}"), monitors: Some(load.monitors), value, unit }
}
