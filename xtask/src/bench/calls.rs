//! Scenarios of calls: JSON over persistent connections, from a load generator that shares the
//! cores, on each engine. Reads come in two kinds: always the same request, as dashboards and
//! providers send it, and a different request each time, which no cache can serve.

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::Api;
use super::observe::{self, NO_LIMIT};
use super::process::{Postgres, RunningService};
use super::sizes::Sizes;
use super::{Figure, Scenario};

/// All scenarios in order.
pub(super) const RPC: &[Scenario] = &[
    ("list", |_, sizes| list(Engine::Sqlite, SAME, sizes)),
    ("others", |_, sizes| list(Engine::Sqlite, OTHERS, sizes)),
    ("create", |_, sizes| create(Engine::Sqlite, sizes)),
    ("list-postgres", |_, sizes| list(Engine::Postgres, SAME, sizes)),
    ("others-postgres", |_, sizes| list(Engine::Postgres, OTHERS, sizes)),
    ("create-postgres", |_, sizes| create(Engine::Postgres, sizes)),
];

/// Number of concurrent connections.
const CONNECTIONS: usize = 8;
/// Number of monitors in the workspace, and on one page of the list.
const LISTED: usize = 50;
/// Number of alternating requests: one, and more than the cache can hold.
const SAME: usize = 1;
const OTHERS: usize = 2_000;

#[derive(Clone, Copy)]
enum Engine {
    Sqlite,
    Postgres,
}

/// A service on an engine, with a key.
struct BenchTarget {
    engine: &'static str,
    service: RunningService,
    key: String,
    /// Dropped after the service, therefore last.
    _postgres: Option<Postgres>,
    _folder: tempfile::TempDir,
}

impl BenchTarget {
    fn new(engine: Engine) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (engine, postgres) = match engine {
            Engine::Sqlite => ("SQLite", None),
            Engine::Postgres => ("PostgreSQL", Some(Postgres::start()?)),
        };
        let address = postgres.as_ref().map(|it| it.address.as_str());
        let database: Vec<&str> = address.map_or(Vec::new(), |address| vec!["--database", address]);
        let service = RunningService::start(folder.path(), &[&NO_LIMIT[..], &database].concat())?;
        let key = observe::key_of_running(folder.path())?;
        Ok(Self { engine, service, key, _postgres: postgres, _folder: folder })
    }
}

/// Measures `ListMonitors` of 50 paused monitors, with the given number of request forms.
fn list(engine: Engine, forms: usize, sizes: &Sizes) -> Result<Vec<Figure>> {
    let place = BenchTarget::new(engine)?;
    let mut api = Api::new(place.service.address, &place.key)?;
    for _ in 0..LISTED {
        api.call("CreateHttpMonitor", &a_monitor())?;
    }
    let sort = if forms == SAME { "" } else { ", each another" };
    let name = format!("ListMonitors of 50, {}{sort}", place.engine);
    load(&name, &place, ("ListMonitors", &json!({ "limit": LISTED })), forms, sizes)
}

/// Measures `CreateHttpMonitor`, which stores each monitor before it responds.
fn create(engine: Engine, sizes: &Sizes) -> Result<Vec<Figure>> {
    let place = BenchTarget::new(engine)?;
    let name = format!("CreateHttpMonitor, {}", place.engine);
    load(&name, &place, ("CreateHttpMonitor", &a_monitor()), SAME, sizes)
}

fn a_monitor() -> Value {
    let monitor = json!({
        "name": "bench", "url": "https://example.com/health", "periodicity": "30s",
        "regions": observe::all_regions()[..3], "active": false,
    });
    json!({ "monitor": monitor })
}

fn load(
    name: &str,
    place: &BenchTarget,
    (method, body): (&str, &Value),
    forms: usize,
    sizes: &Sizes,
) -> Result<Vec<Figure>> {
    let service = &place.service;
    let used = service.usage()?.cpu;
    let output = Command::new("target/dist/bench-load")
        .args([&service.address.to_string(), &place.key, method, &body.to_string()])
        .args([CONNECTIONS, sizes.window.as_secs() as usize, forms].map(|it| it.to_string()))
        .output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the load generator failed: {why}");
    let cpu = service.usage()?.cpu.saturating_sub(used).as_secs_f64() * 1e6;
    let seen: Value = serde_json::from_slice(&output.stdout)?;
    let number = |key: &str| seen[key].as_f64().unwrap_or(f64::NAN);
    let figure = |what: &str, value, unit| {
        let name = format!("{name}: {what}");
        Figure { name, monitors: None, value, unit }
    };
    Ok(vec![
        figure("calls", number("calls") / number("seconds"), "/s"),
        figure("CPU per call", cpu / number("calls"), "µs"),
        figure("p50", number("p50_us") / 1_000.0, "ms"),
        figure("p99", number("p99_us") / 1_000.0, "ms"),
    ])
}
