//! `aloft monitors trigger` and `status`: a check now, and the latest results, by region.

use std::process::ExitCode;

use anyhow::Result;
use contract::monitor::decode_instant;
use contract::monitor::wire::{
    CheckResult, GetMonitorStatusResponse, RegionStatus, Timestamp, TriggerMonitorResponse,
};
use domain::check::Outcome;
use serde_json::json;

use super::find::find;
use crate::output::{self, one_line};
use crate::output_args::{NO_IDS, OutputArgs};
use crate::session::Session;

/// Exit code if the worst result is degraded, as of `aloft check`.
const DEGRADED: u8 = 3;

pub(super) async fn trigger(given: &str, output_args: &OutputArgs) -> Result<ExitCode> {
    let session = Session::open(&output_args.service)?;
    let id = find(&session, given).await?.named.id;
    let method = "/monitor.v1.MonitorService/TriggerMonitor";
    let answer = session.call("checking the monitor", method, &json!({ "id": id })).await?;
    let response: TriggerMonitorResponse = serde_json::from_value(answer.clone())?;
    if !output_args.prints_data(&answer, NO_IDS)? {
        let head = ["REGION", "OUTCOME", "LATENCY", "CODE", "PLACE", "WHY"].map(str::to_owned);
        let rows = std::iter::once(head).chain(response.results.iter().map(result_row));
        output::print_text(&output::table(&rows.collect::<Vec<_>>()));
    }
    let has = |outcome: Outcome| response.results.iter().any(|it| it.outcome == outcome.as_str());
    Ok(if has(Outcome::Failure) {
        ExitCode::FAILURE
    } else if has(Outcome::Degraded) {
        ExitCode::from(DEGRADED)
    } else {
        ExitCode::SUCCESS
    })
}

pub(super) async fn status(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let method = "/monitor.v1.MonitorService/GetMonitorStatus";
    let request = json!({ "id": found.named.id });
    let answer = session.call("reading the status", method, &request).await?;
    let response: GetMonitorStatusResponse = serde_json::from_value(answer.clone())?;
    if output_args.prints_data(&answer, [&response.id])? {
        return Ok(());
    }
    let paused = if found.json["active"] == json!(true) { "" } else { ", paused" };
    let since = response.since.as_option().map(|at| format!(" since {}", moment(at)));
    let (name, since) = (one_line(&found.named.name), since.unwrap_or_default());
    output::print_text(&format!("{} ({name}): {}{since}{paused}", response.id, response.status));
    if !response.incident_id.is_empty() {
        output::print_text(&format!("open incident {}", response.incident_id));
    }
    if let Some(until) = response.maintenance_until.as_option() {
        output::print_text(&format!("maintenance until {}", moment(until)));
    }
    if response.regions.is_empty() {
        return Ok(());
    }
    let head = ["REGION", "STATUS", "CHECKED", "LATENCY", "PLACE"].map(str::to_owned);
    let rows = std::iter::once(head).chain(response.regions.iter().map(region_row));
    output::print_text(&format!("\n{}", output::table(&rows.collect::<Vec<_>>())));
    Ok(())
}

fn result_row(it: &CheckResult) -> [String; 6] {
    let code = it.status_code.map(|code| code.to_string()).unwrap_or_default();
    let latency = format!("{} ms", it.latency_ms);
    let place = place(&it.place, &it.served_by);
    [it.region.clone(), it.outcome.clone(), latency, code, place, it.reasons.join("; ")]
}

fn region_row(it: &RegionStatus) -> [String; 5] {
    let checked = it.checked_at.as_option().map_or_else(|| "never".to_owned(), moment);
    let latency = it.latency_ms.map(|latency| format!("{latency} ms")).unwrap_or_default();
    let place = place(&it.place, &it.served_by);
    [it.region.clone(), it.status.clone(), checked, latency, place]
}

/// Returns the place of a check: shared with other regions, or a probe of its own.
fn place(shared: &str, probe: &str) -> String {
    if shared.is_empty() { probe } else { shared }.to_owned()
}

fn moment(at: &Timestamp) -> String {
    decode_instant(at).map(output::moment).unwrap_or_default()
}
