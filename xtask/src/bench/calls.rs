//! The scenarios of calls: JSON over kept connections, from a load generator that shares the cores.

use std::process::Command;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::Api;
use super::observe::{self, NO_LIMIT};
use super::process::{Service, Target};
use super::scenario::Sizes;
use super::{Figure, Scenario};

/// All scenarios, in the order in which they run.
pub(super) const RPC: &[Scenario] = &[("list", list), ("create", create)];

/// Connections that call at a time.
const CONNECTIONS: usize = 8;
/// Monitors of one page, and in the workspace.
const LISTED: usize = 50;

/// `ListMonitors` of 50 monitors that do not run.
fn list(_: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = Service::start(folder.path(), &NO_LIMIT)?;
    let mut api = Api::new(service.address, &key)?;
    for _ in 0..LISTED {
        api.call("CreateHttpMonitor", &a_monitor())?;
    }
    load("ListMonitors of 50", &service, &key, ("ListMonitors", &json!({ "limit": LISTED })), sizes)
}

/// `CreateHttpMonitor`, each stored before it is answered.
fn create(_: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let key = observe::key(folder.path())?;
    let service = Service::start(folder.path(), &NO_LIMIT)?;
    load("CreateHttpMonitor", &service, &key, ("CreateHttpMonitor", &a_monitor()), sizes)
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
    service: &Service,
    key: &str,
    (method, body): (&str, &Value),
    sizes: &Sizes,
) -> Result<Vec<Figure>> {
    let used = service.usage()?.cpu;
    let output = Command::new("target/release/bench-load")
        .args([&service.address.to_string(), key, method, &body.to_string()])
        .args([CONNECTIONS.to_string(), sizes.window.as_secs().to_string()])
        .output()?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the load generator failed: {why}");
    let cpu = service.usage()?.cpu.saturating_sub(used).as_secs_f64() * 1e6;
    let seen: Value = serde_json::from_slice(&output.stdout)?;
    let number = |key: &str| seen[key].as_f64().unwrap_or(f64::NAN);
    let figure = |what: &str, value, unit| {
        let name = format!("{name}, {CONNECTIONS} connections: {what}");
        Figure { name, monitors: None, value, unit }
    };
    Ok(vec![
        figure("calls", number("calls") / number("seconds"), "/s"),
        figure("CPU per call", cpu / number("calls"), "µs"),
        figure("p50", number("p50_us") / 1_000.0, "ms"),
        figure("p99", number("p99_us") / 1_000.0, "ms"),
    ])
}
