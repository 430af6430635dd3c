//! Regions of a monitor: the status of each, and its checks and percentiles in the range.

use contract::monitor::wire::{
    GetMonitorStatusResponse, GetMonitorSummaryResponse, RegionStatus, Summary,
};

use super::check_view;
use super::units::{self, Badge};
use crate::region_names;

/// A region.
#[derive(Clone, Debug)]
pub(crate) struct RegionRow {
    pub(crate) id: String,
    pub(crate) city: String,
    /// Place of its checks, if regions differ in it.
    pub(crate) place: String,
    pub(crate) status: Badge,
    /// Time of the latest check, as HTML.
    pub(crate) checked_at: String,
    pub(crate) latency: String,
    /// p50, p75, p90, p95 and p99.
    pub(crate) percentiles: [String; 5],
    pub(crate) checks: String,
    pub(crate) failed: String,
    /// Slots that were skipped or missed.
    pub(crate) not_run: String,
}

/// Returns the place of all regions, if it is one.
pub(super) fn only_place(status: &GetMonitorStatusResponse) -> Option<String> {
    let first = status.regions.first().map(|it| &it.place)?;
    let is_one = !first.is_empty() && status.regions.iter().all(|it| it.place == *first);
    is_one.then(|| first.clone())
}

/// Returns the rows of all regions, by name. Regions that the monitor no longer has keep their past.
pub(super) fn rows(
    status: &GetMonitorStatusResponse,
    summary: &GetMonitorSummaryResponse,
    is_one_place: bool,
) -> Vec<RegionRow> {
    let current = status.regions.iter().map(|it| it.region.as_str());
    let mut all: Vec<&str> =
        current.chain(summary.regions.iter().map(|it| it.region.as_str())).collect();
    all.sort_unstable();
    all.dedup();
    let row = |region: &str| {
        let now = status.regions.iter().find(|it| it.region == region);
        let past = summary.regions.iter().find(|it| it.region == region);
        row(region, now, past.map(|it| &*it.summary), is_one_place)
    };
    all.into_iter().map(row).collect()
}

fn row(
    region: &str,
    now: Option<&RegionStatus>,
    past: Option<&Summary>,
    is_one_place: bool,
) -> RegionRow {
    let removed = Badge { class: "unknown", icon: "paused", word: "Not checked" };
    let percentiles =
        past.map_or([None; 5], |it| [it.p50_us, it.p75_us, it.p90_us, it.p95_us, it.p99_us]);
    let millis = now.and_then(|it| it.latency_ms);
    RegionRow {
        id: region.to_owned(),
        city: region_names::city(region),
        place: now.map(|it| it.place.clone()).filter(|_| !is_one_place).unwrap_or_default(),
        status: now.map_or(removed, |it| units::status_badge(&it.status)),
        checked_at: check_view::html_time(now.and_then(|it| it.checked_at.as_option())),
        latency: units::latency_or_dash(millis.map(|it| it.saturating_mul(1_000))),
        percentiles: percentiles.map(units::latency_or_dash),
        checks: units::grouped(past.map_or(0, |it| it.checks)),
        failed: units::grouped(past.map_or(0, |it| it.failure)),
        not_run: units::grouped(past.map_or(0, |it| it.missed + it.skipped)),
    }
}

#[cfg(test)]
mod tests {
    use contract::monitor::wire::RegionSummary;

    use super::*;

    #[test]
    fn removed_region_keeps_its_past() {
        let region = |region: &str| RegionStatus {
            region: region.to_owned(),
            status: "active".to_owned(),
            place: "this server".to_owned(),
            ..RegionStatus::default()
        };
        let status = GetMonitorStatusResponse {
            regions: vec![region("fly-fra"), region("fly-ams")],
            ..GetMonitorStatusResponse::default()
        };
        let past = Summary {
            checks: 1_200,
            failure: 3,
            missed: 2,
            p99_us: Some(90_000),
            ..Summary::default()
        };
        let past = RegionSummary { region: "fly-iad".to_owned(), summary: past.into() };
        let summary = GetMonitorSummaryResponse {
            regions: vec![past],
            ..GetMonitorSummaryResponse::default()
        };
        assert_eq!(only_place(&status).as_deref(), Some("this server"));
        let rows = rows(&status, &summary, true);
        let names: Vec<_> = rows.iter().map(|it| (&*it.city, it.status.word, &*it.place)).collect();
        assert_eq!(
            names,
            [("Amsterdam", "Up", ""), ("Frankfurt", "Up", ""), ("Ashburn", "Not checked", "")]
        );
        let counts = [&rows[2].checks, &rows[2].failed, &rows[2].not_run];
        assert_eq!(counts, ["1,200", "3", "2"]);
        assert_eq!(rows[2].percentiles[4], "90 ms");
    }
}
