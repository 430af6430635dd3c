//! Runs a service with monitors of one kind for a while. Reports its own metrics, and the CPU time
//! and memory from the kernel.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::api::{self, Api, Metrics};
use super::process::{RunningService, Target, aloft};
use super::sizes::Sizes;

/// Protocol of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// HTTP.
    Plain,
    /// HTTP with responses after a second.
    Slow,
    /// HTTPS with a full handshake each time.
    Tls,
    /// A TCP connection.
    Tcp,
    /// One DNS question.
    Dns,
}

/// Monitors that a service checks every 30 s.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) wire: Wire,
    pub(super) monitors: usize,
    /// Number of regions of each monitor.
    pub(super) regions: usize,
}

/// Measurements in the window.
pub(super) struct Measurement {
    pub(super) checks_per_second: f64,
    pub(super) cpu_us: f64,
    /// Memory before the monitors exist, and at the end.
    pub(super) rss_before: f64,
    pub(super) rss_bytes: f64,
    /// Mean number of concurrent checks over all seconds.
    pub(super) in_flight: f64,
    pub(super) late_p50_ms: f64,
    pub(super) late_p99_ms: f64,
    /// Mean time of a commit including the sync to disk.
    pub(super) commit_ms: f64,
}

/// Number of concurrent callers that create monitors, so that checks of existing ones do not slow
/// down their creation.
const CREATORS: usize = 64;
/// Time limit for creating monitors. An overloaded service must still accept changes.
const CREATED_WITHIN: Duration = Duration::from_mins(5);
/// Mean number of checks of each monitor in each region after which all have at least two.
const FIRST_ROUNDS: f64 = 2.0;
/// Time limit for these checks.
const FIRST_ROUNDS_WITHIN: Duration = Duration::from_mins(3);
/// Maximum delay after which changed votes are stored, once for each monitor.
const VOTES_WAIT: Duration = Duration::from_secs(65);
/// Rate limits that callers of the bench do not reach.
pub(super) const NO_LIMIT: [&str; 4] =
    ["--calls-per-second", "1000000", "--calls-burst", "1000000"];

/// Runs a service under a load: a warm-up, then the window.
pub(super) fn observe(target: &Target, load: Load, sizes: &Sizes) -> Result<Measurement> {
    observe_on(&[], target, load, sizes)
}

/// Like [`observe`], for a service with these flags, which may name a database.
pub(super) fn observe_on(
    database: &[&str],
    target: &Target,
    load: Load,
    sizes: &Sizes,
) -> Result<Measurement> {
    let folder = tempfile::tempdir()?;
    let creator = RunningService::start(folder.path(), database)?;
    let key = key_of_running(folder.path())?;
    creator.stop()?;
    let service = start_on(database, folder.path(), target)?;
    let rss_before = service.usage()?.rss_bytes as f64;
    create(&service, &key, target, load)?;
    thread::sleep(sizes.warm_up);
    past_first_rounds(&service, load)?;
    let (begun, used) = (Instant::now(), service.usage()?);
    let before = api::metrics(service.address)?;
    let mut in_flight = Vec::new();
    while begun.elapsed() < sizes.window {
        thread::sleep(Duration::from_secs(1));
        in_flight.push(api::metrics(service.address)?.sum("aloft_checks_in_flight"));
    }
    let after = api::metrics(service.address)?;
    let (took, used_after) = (begun.elapsed(), service.usage()?);
    service.stop()?;
    let failed = failures(&after) - failures(&before);
    ensure!(failed == 0.0, "{failed} checks failed, so the figures are meaningless");
    let checks = results(&after) - results(&before);
    let commits = |what: &str| {
        let name = format!("aloft_commit_seconds_{what}");
        after.sum(&name) - before.sum(&name)
    };
    let late = |share| {
        after.quantile(&before, "aloft_check_start_delay_seconds", share).unwrap_or(f64::NAN)
            * 1_000.0
    };
    Ok(Measurement {
        checks_per_second: checks / took.as_secs_f64(),
        cpu_us: used_after.cpu.saturating_sub(used.cpu).as_secs_f64() * 1e6 / checks,
        rss_before,
        rss_bytes: used_after.rss_bytes as f64,
        in_flight: in_flight.iter().sum::<f64>() / in_flight.len() as f64,
        late_p50_ms: late(0.50),
        late_p99_ms: late(0.99),
        commit_ms: commits("sum") / commits("count") * 1_000.0,
    })
}

/// Waits until each monitor was checked twice in each region and its votes are stored. The judge's
/// state changes while regions join a monitor.
fn past_first_rounds(service: &RunningService, load: Load) -> Result<()> {
    let (begun, checks) = (Instant::now(), (load.monitors * load.regions) as f64);
    while results(&api::metrics(service.address)?) < FIRST_ROUNDS * checks
        && begun.elapsed() < FIRST_ROUNDS_WITHIN
    {
        thread::sleep(Duration::from_secs(1));
    }
    thread::sleep(VOTES_WAIT);
    Ok(())
}

/// Runs a service twice on one folder. Returns the growth of the folder in the second run, divided
/// by its number of results.
pub(super) fn bytes_per_result(target: &Target, load: Load, sizes: &Sizes) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let key = key(folder.path())?;
    let service = start(folder.path(), target)?;
    create(&service, &key, target, load)?;
    thread::sleep(sizes.warm_up);
    service.stop()?;
    let before = size(folder.path())?;
    let service = start(folder.path(), target)?;
    thread::sleep(sizes.window);
    // Results stored between this call and the end are few, and only make the figure worse.
    let stored = results(&api::metrics(service.address)?);
    service.stop()?;
    ensure!(stored > 0.0, "no result was stored");
    Ok((size(folder.path())? as f64 - before as f64) / stored)
}

/// Creates the database of a folder, a workspace and a write key.
pub(super) fn key(data: &Path) -> Result<String> {
    // Only a server creates a database.
    let creator = RunningService::start(data, &[])?;
    let key = key_of_running(data)?;
    creator.stop()?;
    Ok(key)
}

/// Creates a workspace and a write key while the service of a folder runs. The commands find the
/// database by asking it.
pub(super) fn key_of_running(data: &Path) -> Result<String> {
    let run = |words: &[&str]| -> Result<String> {
        let output = aloft().args(words).arg("--data").arg(data).output()?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "aloft {words:?}: {why}");
        Ok(String::from_utf8(output.stdout)?)
    };
    run(&["workspaces", "create", "--slug", "bench", "--name", "Bench"])?;
    let words = ["--workspace", "bench", "--name", "bench", "--scope", "write", "--json"];
    let made = run(&[&["keys", "create"][..], &words].concat())?;
    let made: Value = serde_json::from_str(&made)?;
    Ok(made["key"].as_str().context("no key was printed")?.to_owned())
}

/// Returns the 28 regions from the table that the service uses.
pub(super) fn all_regions() -> &'static [&'static str] {
    rules::Region::PUBLIC_WORDS
}

/// Starts a service that trusts the target's certificate and uses its name server.
pub(super) fn start(data: &Path, target: &Target) -> Result<RunningService> {
    start_on(&[], data, target)
}

/// Like [`start`], with more flags.
fn start_on(more: &[&str], data: &Path, target: &Target) -> Result<RunningService> {
    let certificate = target.certificate.display().to_string();
    let nameserver = format!("127.0.0.1:{}", target.dns_port);
    let used = ["--extra-ca-file", certificate.as_str(), "--nameservers", nameserver.as_str()];
    RunningService::start(data, &[&NO_LIMIT[..], &used, more].concat())
}

/// Creates the monitors of a load with several concurrent callers.
pub(super) fn create(
    service: &RunningService,
    key: &str,
    target: &Target,
    load: Load,
) -> Result<()> {
    let share = |creator: usize| (creator..load.monitors).step_by(CREATORS);
    let begun = Instant::now();
    let one = |creator| -> Result<()> {
        let mut api = Api::new(service.address, key)?;
        for index in share(creator) {
            let is_late = begun.elapsed() > CREATED_WITHIN;
            ensure!(!is_late, "created only {index} monitors within {CREATED_WITHIN:?}");
            let (method, monitor) = monitor(target, load, index);
            api.call(method, &json!({ "monitor": monitor }))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let creators: Vec<_> =
            (0..CREATORS).map(|creator| scope.spawn(move || one(creator))).collect();
        creators.into_iter().try_for_each(|creator| creator.join().expect("creators do not panic"))
    })?;
    println!(
        "   {} monitors in {} regions, created in {:.1?}",
        load.monitors,
        load.regions,
        begun.elapsed()
    );
    Ok(())
}

fn monitor(target: &Target, load: Load, index: usize) -> (&'static str, Value) {
    let mut monitor = json!({
        "name": format!("bench {index}"), "periodicity": "30s",
        "regions": all_regions()[..load.regions], "active": true,
    });
    let (method, field, value) = match load.wire {
        Wire::Plain => {
            ("CreateHttpMonitor", "url", format!("http://127.0.0.1:{}/", target.plain_port))
        }
        Wire::Slow => {
            ("CreateHttpMonitor", "url", format!("http://127.0.0.1:{}/", target.slow_port))
        }
        Wire::Tls => {
            ("CreateHttpMonitor", "url", format!("https://127.0.0.1:{}/", target.tls_port))
        }
        Wire::Tcp => ("CreateTcpMonitor", "uri", format!("127.0.0.1:{}", target.plain_port)),
        Wire::Dns => ("CreateDnsMonitor", "uri", "bench.example.com".to_owned()),
    };
    monitor[field] = value.into();
    if load.wire == Wire::Dns {
        monitor["recordAssertions"] =
            json!([{ "record": "A", "comparator": "eq", "target": "127.0.0.1" }]);
    }
    (method, monitor)
}

fn results(metrics: &Metrics) -> f64 {
    metrics.sum("aloft_results_committed_total")
}

fn failures(metrics: &Metrics) -> f64 {
    metrics.sum_where("aloft_checks_total", "outcome=\"failure\"")
}

/// Returns the total size of the files in a folder, without its subfolders.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let about = entry?.metadata()?;
        bytes += if about.is_file() { about.len() } else { 0 };
    }
    Ok(bytes)
}
