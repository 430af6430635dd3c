//! A service with monitors of one kind, watched for a while: what it did, by its own metrics, and
//! what it took, by the kernel.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::api::{self, Api, Metrics};
use super::process::{Service, Target, aloft};
use super::scenario::Sizes;

/// How the target is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// HTTP.
    Plain,
    /// HTTP that is answered after a second.
    Slow,
    /// HTTPS, a full handshake each time.
    Tls,
    /// A TCP connection.
    Tcp,
    /// One DNS question.
    Dns,
}

/// Monitors that a service has to check every 30 s.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) wire: Wire,
    pub(super) monitors: usize,
    /// Regions of each monitor.
    pub(super) regions: usize,
}

/// What was seen in the window.
pub(super) struct Seen {
    pub(super) checks_per_second: f64,
    pub(super) cpu_us: f64,
    /// Memory before there were monitors, and in the end.
    pub(super) rss_before: f64,
    pub(super) rss_bytes: f64,
    /// Checks that ran at a time, the mean of all seconds.
    pub(super) in_flight: f64,
    pub(super) late_p50_ms: f64,
    pub(super) late_p99_ms: f64,
    /// From what is stored together to the answer that it is on disk, the mean.
    pub(super) commit_ms: f64,
}

/// Callers that create monitors at a time: what is checked already must not keep them waiting for each
/// other.
const CREATORS: usize = 64;
/// How long they may take: who has more to check than it can must still hear of changes.
const CREATED_WITHIN: Duration = Duration::from_mins(5);
/// Checks of each monitor in each region, on average, after which all had two.
const FIRST_ROUNDS: f64 = 2.0;
/// How long that may take.
const FIRST_ROUNDS_WITHIN: Duration = Duration::from_mins(3);
/// Votes that changed are stored so much later at most, once for each monitor.
const VOTES_WAIT: Duration = Duration::from_secs(65);
/// Limits that callers of the bench do not reach.
pub(super) const NO_LIMIT: [&str; 4] =
    ["--calls-per-second", "1000000", "--calls-burst", "1000000"];

/// Runs a service under a load: warm-up, then the window.
pub(super) fn observe(target: &Target, load: Load, sizes: &Sizes) -> Result<Seen> {
    let folder = tempfile::tempdir()?;
    let key = key(folder.path())?;
    let service = start(folder.path(), target)?;
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
    ensure!(failed == 0.0, "{failed} checks failed: the figures would say nothing");
    let checks = results(&after) - results(&before);
    let commits = |what: &str| {
        let name = format!("aloft_commit_seconds_{what}");
        after.sum(&name) - before.sum(&name)
    };
    let late = |share| {
        after.quantile(&before, "aloft_lateness_seconds", share).unwrap_or(f64::NAN) * 1_000.0
    };
    Ok(Seen {
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

/// Waits until each monitor was checked twice in each region, and how they voted is stored: while regions join
/// a monitor, what is remembered of it changes.
fn past_first_rounds(service: &Service, load: Load) -> Result<()> {
    let (begun, checks) = (Instant::now(), (load.monitors * load.regions) as f64);
    while results(&api::metrics(service.address)?) < FIRST_ROUNDS * checks
        && begun.elapsed() < FIRST_ROUNDS_WITHIN
    {
        thread::sleep(Duration::from_secs(1));
    }
    thread::sleep(VOTES_WAIT);
    Ok(())
}

/// Runs a service twice on one folder, and divides what the folder grew in the second run by the
/// results of that run.
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
    // What is stored between this look and the end is too little to matter, and counts against us.
    let stored = results(&api::metrics(service.address)?);
    service.stop()?;
    ensure!(stored > 0.0, "no result was stored");
    Ok((size(folder.path())? as f64 - before as f64) / stored)
}

/// A workspace and a key that may write.
pub(super) fn key(data: &Path) -> Result<String> {
    let run = |words: &[&str]| -> Result<String> {
        let output = aloft().args(words).arg("--data").arg(data).output()?;
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "aloft {words:?}: {why}");
        Ok(String::from_utf8(output.stdout)?)
    };
    // Only a server creates a database.
    Service::start(data, &[])?.stop()?;
    run(&["workspaces", "create", "--slug", "bench", "--name", "Bench"])?;
    let words = ["--workspace", "bench", "--name", "bench", "--scope", "write", "--json"];
    let made = run(&[&["keys", "create"][..], &words].concat())?;
    let made: Value = serde_json::from_str(&made)?;
    Ok(made["key"].as_str().context("no key was printed")?.to_owned())
}

/// The 28 regions, read from the table that the service itself uses.
pub(super) fn all_regions() -> &'static [&'static str] {
    rules::Region::WORDS
}

/// A service that knows the target's certificate and name server.
pub(super) fn start(data: &Path, target: &Target) -> Result<Service> {
    let certificate = target.certificate.display().to_string();
    let nameserver = format!("127.0.0.1:{}", target.dns_port);
    let more = ["--extra-ca-file", certificate.as_str(), "--nameservers", nameserver.as_str()];
    Service::start(data, &[&NO_LIMIT[..], &more].concat())
}

/// Creates the monitors of a load, several at a time.
pub(super) fn create(service: &Service, key: &str, target: &Target, load: Load) -> Result<()> {
    let share = |creator: usize| (creator..load.monitors).step_by(CREATORS);
    let begun = Instant::now();
    let one = |creator| -> Result<()> {
        let mut api = Api::new(service.address, key)?;
        for index in share(creator) {
            let is_late = begun.elapsed() > CREATED_WITHIN;
            ensure!(!is_late, "{index} monitors took {CREATED_WITHIN:?}, and more are to be made");
            let (method, monitor) = monitor(target, load, index);
            api.call(method, &json!({ "monitor": monitor }))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let creators: Vec<_> =
            (0..CREATORS).map(|creator| scope.spawn(move || one(creator))).collect();
        creators.into_iter().try_for_each(|creator| creator.join().expect("no creator panics"))
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

/// Bytes of all files in a folder without folders.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let about = entry?.metadata()?;
        bytes += if about.is_file() { about.len() } else { 0 };
    }
    Ok(bytes)
}
