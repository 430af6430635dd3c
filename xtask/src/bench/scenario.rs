//! What is measured: a service at rest, one on schedule, and one that gets more than it can do.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Figure;
use super::api::{self, Api};
use super::process::{Service, Target, aloft};

/// How large the scenarios are.
pub(super) struct Sizes {
    monitors: usize,
    warm_up: Duration,
    window: Duration,
}

/// How the target is spoken to.
#[derive(Clone, Copy)]
pub(super) enum Wire {
    Plain,
    Tls,
}

impl Sizes {
    /// As the project's targets are stated.
    pub(super) const FULL: Self = Self {
        monitors: 10_000,
        warm_up: Duration::from_secs(35),
        window: Duration::from_secs(40),
    };
    /// A look in between, in a minute.
    pub(super) const QUICK: Self =
        Self { monitors: 1_000, warm_up: Duration::from_secs(5), window: Duration::from_secs(10) };
}

const STARTS: usize = 11;
const CONNECTIONS: usize = 16;
const REST: Duration = Duration::from_secs(3);
const MEBIBYTE: f64 = 1_048_576.0;

/// Start to first answer on a used folder (median of 11), and memory at rest.
pub(super) fn idle() -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let service = Service::start(folder.path(), &[])?;
        starts.push(service.first_answer.as_secs_f64() * 1_000.0);
        service.stop()?;
    }
    starts.sort_by(f64::total_cmp);
    let service = Service::start(folder.path(), &[])?;
    std::thread::sleep(REST);
    let rss = service.usage()?.rss_bytes as f64 / MEBIBYTE;
    service.stop()?;
    Ok(vec![
        Figure {
            name: "start to first answer, median",
            monitors: None,
            value: starts[STARTS / 2],
            unit: "ms",
        },
        Figure { name: "memory at rest", monitors: Some(0), value: rss, unit: "MiB" },
    ])
}

/// Monitors at 30 s in one region: memory, lateness, CPU per check.
pub(super) fn scheduled(target: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let url = format!("http://127.0.0.1:{}/", target.plain_port);
    let seen = observe(&[], &url, &["fly-ams"], sizes)?;
    let monitors = Some(sizes.monitors);
    Ok(vec![
        Figure {
            name: "30 s, one region: checks",
            monitors,
            value: seen.checks_per_second,
            unit: "/s",
        },
        Figure {
            name: "30 s, one region: CPU per check",
            monitors,
            value: seen.cpu_us,
            unit: "µs",
        },
        Figure { name: "30 s, one region: memory", monitors, value: seen.rss, unit: "MiB" },
        Figure {
            name: "30 s, one region: lateness p50",
            monitors,
            value: seen.late_p50_ms,
            unit: "ms",
        },
        Figure {
            name: "30 s, one region: lateness p99",
            monitors,
            value: seen.late_p99_ms,
            unit: "ms",
        },
    ])
}

/// Monitors at 30 s in all 28 regions: more checks than two cores can do, so that what is done is
/// what can be done.
pub(super) fn saturated(target: &Target, wire: Wire, sizes: &Sizes) -> Result<Vec<Figure>> {
    let certificate = target.certificate.display().to_string();
    let (url, more): (String, Vec<&str>) = match wire {
        Wire::Plain => (format!("http://127.0.0.1:{}/", target.plain_port), Vec::new()),
        Wire::Tls => (
            format!("https://localhost:{}/", target.tls_port),
            vec!["--extra-ca-file", &certificate],
        ),
    };
    let regions = all_regions();
    let seen = observe(&more, &url, &regions, sizes)?;
    let (rate, cpu, memory) = match wire {
        Wire::Plain => ("saturated: checks", "saturated: CPU per check", "saturated: memory"),
        Wire::Tls => {
            ("saturated, TLS: checks", "saturated, TLS: CPU per check", "saturated, TLS: memory")
        }
    };
    let monitors = Some(sizes.monitors);
    Ok(vec![
        Figure { name: rate, monitors, value: seen.checks_per_second, unit: "/s" },
        Figure { name: cpu, monitors, value: seen.cpu_us, unit: "µs" },
        Figure { name: memory, monitors, value: seen.rss, unit: "MiB" },
    ])
}

struct Seen {
    checks_per_second: f64,
    cpu_us: f64,
    rss: f64,
    late_p50_ms: f64,
    late_p99_ms: f64,
}

fn observe(more: &[&str], url: &str, regions: &[&str], sizes: &Sizes) -> Result<Seen> {
    let folder = tempfile::tempdir()?;
    let key = key(folder.path())?;
    let mut flags = vec!["--calls-per-second", "1000000", "--calls-burst", "1000000"];
    flags.extend(more);
    let service = Service::start(folder.path(), &flags)?;
    create(&service, &key, url, regions, sizes.monitors)?;
    std::thread::sleep(sizes.warm_up);
    let (begun, used) = (Instant::now(), service.usage()?);
    let before = api::metrics(service.address)?;
    std::thread::sleep(sizes.window);
    let after = api::metrics(service.address)?;
    let (took, used_after) = (begun.elapsed(), service.usage()?);
    service.stop()?;
    let failed = sum_failures(&after) - sum_failures(&before);
    ensure!(failed == 0.0, "{failed} checks failed: the figures would say nothing");
    let checks =
        after.sum("aloft_results_committed_total") - before.sum("aloft_results_committed_total");
    let late = |share| {
        after.quantile(&before, "aloft_lateness_seconds", share).unwrap_or(f64::NAN) * 1_000.0
    };
    Ok(Seen {
        checks_per_second: checks / took.as_secs_f64(),
        cpu_us: used_after.cpu.saturating_sub(used.cpu).as_secs_f64() * 1e6 / checks,
        rss: used_after.rss_bytes as f64 / MEBIBYTE,
        late_p50_ms: late(0.50),
        late_p99_ms: late(0.99),
    })
}

fn sum_failures(metrics: &api::Metrics) -> f64 {
    metrics.sum_where("aloft_checks_total", "outcome=\"failure\"")
}

fn key(data: &Path) -> Result<String> {
    let run = |words: &[&str]| -> Result<String> {
        let output = aloft().args(words).arg("--data").arg(data).output()?;
        ensure!(
            output.status.success(),
            "aloft {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?)
    };
    run(&["workspaces", "create", "--slug", "bench", "--name", "Bench"])?;
    let made = run(&[
        "keys",
        "create",
        "--workspace",
        "bench",
        "--name",
        "bench",
        "--scope",
        "write",
        "--json",
    ])?;
    let made: Value = serde_json::from_str(&made)?;
    Ok(made["key"].as_str().context("no key was printed")?.to_owned())
}

/// Creates the monitors from several connections: a commit is shared by those who wait for it.
fn create(service: &Service, key: &str, url: &str, regions: &[&str], count: usize) -> Result<()> {
    std::thread::scope(|scope| {
        let creating: Vec<_> = (0..CONNECTIONS)
            .map(|first| {
                scope.spawn(move || -> Result<()> {
                    let mut api = Api::new(service.address, key)?;
                    for index in (first..count).step_by(CONNECTIONS) {
                        let monitor = json!({
                            "name": format!("bench {index}"), "url": url, "periodicity": "30s",
                            "regions": regions, "active": true,
                        });
                        api.call("CreateHttpMonitor", &json!({ "monitor": monitor }))?;
                    }
                    Ok(())
                })
            })
            .collect();
        creating.into_iter().try_for_each(|thread| thread.join().expect("creating does not panic"))
    })
}

/// The 28 regions, read from the table that the service itself uses.
fn all_regions() -> Vec<&'static str> {
    rules::Region::WORDS.to_vec()
}
