//! History of a monitor: summaries and logs of `monitor.v1.MonitorService`. This file validates
//! requests; `cursor` encodes positions in a list, `log` encodes evidence, `missed` lists slots
//! that were not run.

mod cursor;
mod log;
mod missed;

pub(in crate::rpc) use log::attempt;
pub(super) use missed::list_missed;

use std::time::Duration;

use contract::SecretVisibility;
use contract::monitor::wire::{
    GetMonitorSummaryRequest, GetMonitorSummaryResponse, GetResponseLogRequest,
    GetResponseLogResponse, ListResponseLogsRequest, ListResponseLogsResponse, RegionSummary,
    Summary,
};
use contract::monitor::{SummaryNumbers, encode_instant, micros};
use contract::rpc::{self, Error};
use domain::check::{CheckResult, Outcome, Trigger};
use domain::history::{Rollup, Span, uptime};
use rules::{Region, Timestamp, Violation, Violations, limits};
use store::{LogFilter, StoreError};

use super::status::RegionNames;
use super::{find, monitor_id};
use crate::auth::Caller;
use crate::rpc::request::{parse_time, secrets};
use crate::rpc::{Services, rpc_error};

/// Allowed windows with their number of days.
const WINDOWS: &[(&str, u64)] = &[("1d", 1), ("7d", 7), ("14d", 14), ("30d", 30), ("90d", 90)];
const HOUR_MILLIS: i64 = 3_600_000;

/// Implements `GetMonitorSummary`.
pub(super) async fn summary(
    services: &Services,
    caller: Caller,
    request: GetMonitorSummaryRequest,
) -> Result<GetMonitorSummaryResponse, Error> {
    let mut wrong = Vec::new();
    let requested = request.window.as_deref().filter(|window| !window.is_empty());
    let window =
        WINDOWS.iter().find(|(name, _)| requested.is_none_or(|requested| requested == *name));
    if window.is_none() {
        let known: Vec<&str> = WINDOWS.iter().map(|(name, _)| *name).collect();
        let allowed = format!("must be one of {}", known.join(", "));
        wrong.push(Violation::new("window", requested.unwrap_or_default(), allowed));
    }
    let wanted = regions(&request.regions, &mut wrong);
    let (Some((name, days)), true) = (window, wrong.is_empty()) else {
        return Err(rpc::invalid(&Violations(wrong)));
    };
    let stored = find(services, caller, &request.id).await?;
    let (monitor, kind) = (stored.monitor.id, stored.monitor.settings.check.kind());
    let now = services.ctx.now();
    let from = hour_of(now - Duration::from_hours(24 * days));
    let history = services.store.history();
    let mut sums = history.rollups(caller.workspace, monitor, from).await.map_err(rpc_error)?;
    sums.retain(|region, _| wanted.is_empty() || wanted.contains(region));
    let (before, changes) =
        history.status_history(caller.workspace, monitor, from).await.map_err(rpc_error)?;
    let range = Span { from, to: now };
    let left_out =
        services.store.maintenances().excluded_spans(caller.workspace, monitor, range).await;
    let up = uptime(before, &changes, &left_out.map_err(rpc_error)?, range);
    let missed = services.store.missed().counts(caller.workspace, monitor, from).await;
    let mut missed = missed.map_err(rpc_error)?;
    missed.retain(|region, _| wanted.is_empty() || wanted.contains(region));
    for region in missed.keys() {
        sums.entry(*region).or_default();
    }
    let mut total = Rollup::default();
    for sum in sums.values() {
        total.merge(sum);
    }
    let mut regions: Vec<RegionSummary> = sums
        .iter()
        .filter(|_| kind.is_probed())
        .map(|(region, sum)| RegionSummary {
            region: region.to_string(),
            summary: encode_summary(sum, missed.get(region).copied().unwrap_or_default()).into(),
        })
        .collect();
    regions.sort_unstable_by(|a, b| a.region.cmp(&b.region));
    Ok(GetMonitorSummaryResponse {
        id: monitor.to_string(),
        window: (*name).to_owned(),
        from: encode_instant(from),
        to: encode_instant(now),
        total: encode_summary(&total, missed.values().sum()).into(),
        regions,
        uptime_millionths: up.map(|up| micros(up.millionths())),
    })
}

/// Implements `ListResponseLogs`.
pub(super) async fn list(
    services: &Services,
    caller: Caller,
    request: ListResponseLogsRequest,
) -> Result<ListResponseLogsResponse, Error> {
    let mut wrong = Vec::new();
    let limit = limit(request.limit, &mut wrong);
    let filter = LogFilter {
        outcomes: parse_names(
            &request.outcomes,
            &Outcome::ALL,
            Outcome::as_str,
            "outcomes",
            &mut wrong,
        ),
        regions: regions(&request.regions, &mut wrong),
        triggers: parse_names(
            &request.triggers,
            &Trigger::ALL,
            Trigger::as_str,
            "triggers",
            &mut wrong,
        ),
        from: parse_time(request.from.as_option(), "from", &mut wrong),
        to: parse_time(request.to.as_option(), "to", &mut wrong),
        with_details: request.with_details.unwrap_or_default(),
    };
    let token = request.page_token.as_deref().filter(|token| !token.is_empty());
    let after = token.and_then(cursor::decode_token);
    if token.is_some() && after.is_none() {
        let allowed = "must be the next_page_token of an earlier response";
        wrong.push(Violation::without_value("page_token", allowed));
    }
    if !wrong.is_empty() {
        return Err(rpc::invalid(&Violations(wrong)));
    }
    let stored = find(services, caller, &request.id).await?;
    let (monitor, kind) = (stored.monitor.id, stored.monitor.settings.check.kind());
    let names = RegionNames::new(services.probes(caller), kind);
    let logs = services.store.logs();
    let page =
        logs.list(caller.workspace, monitor, &filter, after, limit).await.map_err(rpc_error)?;
    Ok(ListResponseLogsResponse {
        logs: page
            .logs
            .iter()
            .map(|it| log::encode_log(it, names, page.details.contains(&it.identity)))
            .collect(),
        next_page_token: page.next.as_ref().map(cursor::encode_token).unwrap_or_default(),
    })
}

/// Implements `GetResponseLog`.
pub(super) async fn get(
    services: &Services,
    caller: Caller,
    request: GetResponseLogRequest,
) -> Result<GetResponseLogResponse, Error> {
    if request.monitor_id.is_empty() {
        return Err(rpc::invalid(&Violation::without_value("monitor_id", "must be given").into()));
    }
    if request.id.is_empty() {
        return Err(rpc::invalid(&Violation::without_value("id", "must be given").into()));
    }
    let monitor = monitor_id(&request.monitor_id)?;
    let missing = || rpc::not_found("response log", &request.id);
    let place = cursor::decode_id(&request.id).ok_or_else(missing)?;
    let stored = find(services, caller, &request.monitor_id).await?;
    let names = RegionNames::new(services.probes(caller), stored.monitor.settings.check.kind());
    let found = services.store.logs().get(caller.workspace, monitor, place).await;
    if matches!(found, Err(StoreError::NotFound { .. })) {
        return Err(missing());
    }
    Ok(encode_with_details(&found.map_err(rpc_error)?, names, secrets(caller)))
}

/// Encodes a result with its details.
pub(super) fn encode_with_details(
    result: &CheckResult,
    names: RegionNames<'_>,
    secrets: SecretVisibility,
) -> GetResponseLogResponse {
    let attempts = result.evidence.iter().flat_map(|evidence| &evidence.attempts);
    GetResponseLogResponse {
        log: log::encode_log(result, names, result.evidence.is_some()).into(),
        attempts: attempts.map(|it| log::attempt(it, secrets)).collect(),
    }
}

fn limit(given: Option<i32>, wrong: &mut Vec<Violation>) -> u32 {
    let (min, max) = (limits::LIST_LIMIT_MIN, limits::LIST_LIMIT_MAX);
    let Some(given) = given else { return limits::LIST_LIMIT_DEFAULT };
    match u32::try_from(given) {
        Ok(limit) if (min..=max).contains(&limit) => limit,
        Ok(_) | Err(_) => {
            wrong.push(Violation::new("limit", given, format!("must be {min} to {max}")));
            limits::LIST_LIMIT_DEFAULT
        }
    }
}

fn regions(given: &[String], wrong: &mut Vec<Violation>) -> Vec<Region> {
    parse_names(given, Region::ALL, Region::as_str, "regions", wrong)
}

/// Parses the values of a list in a request.
fn parse_names<T: Copy>(
    given: &[String],
    all: &[T],
    word_of: impl Fn(T) -> &'static str,
    field: &str,
    wrong: &mut Vec<Violation>,
) -> Vec<T> {
    let mut values = Vec::new();
    for (place, given) in given.iter().enumerate() {
        let value = all.iter().find(|value| word_of(**value) == given);
        if value.is_none() {
            let words: Vec<&str> = all.iter().map(|value| word_of(*value)).collect();
            let allowed = format!("must be one of {}", words.join(", "));
            wrong.push(Violation::new(format!("{field}[{place}]"), given, allowed));
        }
        values.extend(value);
    }
    values
}

fn hour_of(at: Timestamp) -> Timestamp {
    let millis = at.as_millis();
    Timestamp::from_millis(millis - millis.rem_euclid(HOUR_MILLIS))
}

fn encode_summary(sum: &Rollup, missed: u64) -> Summary {
    let latencies = sum.latency.count();
    let mean_us = sum.latency_us.checked_div(latencies);
    SummaryNumbers {
        success: sum.success,
        degraded: sum.degraded,
        failure: sum.failure,
        skipped: sum.skipped,
        missed: u32::try_from(missed).unwrap_or(u32::MAX),
        percentiles_us: [50, 75, 90, 95, 99].map(|percent| sum.latency.percentile(percent)),
        mean_us: mean_us.map(|mean| u32::try_from(mean).unwrap_or(u32::MAX)),
        last_at: sum.last_at,
    }
    .into()
}
