//! A probe in another place, as a process of its own: its memory at rest and under load, beside that of the
//! server. The server sends it each check and checks nothing itself.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::observe::{self, Load, Wire};
use super::process::{RunningProbe, RunningService, Target, aloft};
use super::sizes::Sizes;
use super::{Figure, Scenario, api};

/// All scenarios.
pub(super) const PROBE: &[Scenario] = &[("memory", memory)];

/// Number of monitors for 1,000 checks per second, at 30 s in one region.
const MONITORS: usize = 30_000;
/// Time after which a probe is at rest.
const REST: Duration = Duration::from_secs(10);
/// Time limit for its connection.
const CONNECTED_WITHIN: Duration = Duration::from_secs(30);
const MEBIBYTE: f64 = 1_048_576.0;

/// Measures the memory of a probe at rest, and its highest memory at 1,000 checks per second.
fn memory(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let key = observe::key(folder.path())?;
    let service = observe::start(folder.path(), target)?;
    let token = token(folder.path())?;
    let probe = RunningProbe::start(&service, &token, data.path())?;
    wait_until_connected(&service)?;
    thread::sleep(REST);
    let idle = probe.usage()?;
    let load = Load { wire: Wire::Plain, monitors: MONITORS, regions: 1 };
    observe::create(&service, &key, target, load)?;
    thread::sleep(sizes.warm_up);
    let (begun, used) = (Instant::now(), probe.usage()?);
    let before = api::metrics(service.address)?;
    let mut highest = 0;
    while begun.elapsed() < sizes.window {
        thread::sleep(Duration::from_millis(500));
        highest = highest.max(probe.usage()?.rss_bytes);
    }
    let (after, took) = (api::metrics(service.address)?, begun.elapsed());
    let used_after = probe.usage()?;
    probe.stop()?;
    service.stop()?;
    let grown = |name: &str| after.sum(name) - before.sum(name);
    let checks = grown("aloft_results_committed_total");
    let missed = grown("aloft_missed_slots_total");
    let cpu = used_after.cpu.saturating_sub(used.cpu).as_secs_f64() * 1e6 / checks;
    let figure = |what: &str, monitors, value, unit| {
        let name = format!("probe: {what}");
        Figure { name, monitors: Some(monitors), value, unit }
    };
    Ok(vec![
        figure("memory at rest", 0, idle.rss_bytes as f64 / MEBIBYTE, "MiB"),
        figure("checks", MONITORS, checks / took.as_secs_f64(), "/s"),
        figure("missed slots", MONITORS, missed, ""),
        figure("CPU per check", MONITORS, cpu, "µs"),
        figure("highest memory", MONITORS, highest as f64 / MEBIBYTE, "MiB"),
    ])
}

/// Creates a probe for the first region, and returns its token.
fn token(data: &Path) -> Result<String> {
    let region = observe::all_regions()[0];
    let words = ["probes", "create", "--region", region, "--json", "--data"];
    let output = aloft().args(words).arg(data).output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the probe was not created: {why}");
    let created: Value = serde_json::from_slice(&output.stdout)?;
    Ok(created["token"].as_str().context("no token was printed")?.to_owned())
}

fn wait_until_connected(service: &RunningService) -> Result<()> {
    let begun = Instant::now();
    while api::metrics(service.address)?.sum("aloft_probe_connected") < 1.0 {
        ensure!(begun.elapsed() < CONNECTED_WITHIN, "the probe did not connect");
        thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}
