//! Figures of a monitor's page and rows of its log, from stored results.

use std::sync::Arc;

use domain::cadence::{Missed, MissedReason};
use domain::check::{CheckResult, Outcome};
use rules::{MonitorId, Region};
use store::Batch;
use testkit::person::Person;
use testkit::server::TestServer;

use super::monitor_pages::{HOUR, REGIONS, before_start, create, result};
use super::settings::between;

/// Ranges of the page, each with the day in it that the ranges before do not have.
const RANGES: [(&str, u64); 5] = [("1d", 0), ("7d", 3), ("14d", 10), ("30d", 20), ("90d", 60)];

/// Returns the latencies in milliseconds of a region's checks on the days of the first ranges.
fn latencies(region: usize, ranges: usize) -> Vec<u32> {
    let day = |range: u32| (1..=40).map(move |check| check * (range + 1) * (region as u32 + 1));
    let mut all: Vec<u32> = (0..ranges as u32).flat_map(day).collect();
    all.sort_unstable();
    all
}

/// Stores forty checks of each region on each of these days.
async fn with_latencies(server: &TestServer, monitor: MonitorId) {
    let mut results = Vec::new();
    for (range, (_, day)) in RANGES.into_iter().enumerate() {
        for (place, region) in REGIONS.into_iter().enumerate() {
            for check in 1..=40 {
                let minutes = day * 24 * HOUR + 30 + 30 * u64::from(check);
                let latency = check * (range as u32 + 1) * (place as u32 + 1);
                let plain = result(monitor, region, minutes, Outcome::Success);
                results.push(CheckResult { latency_us: latency * 1_000, ..plain });
            }
        }
    }
    let store = &server.running().app().store;
    store.commit(Arc::new(Batch { results, ..Batch::default() })).await.unwrap();
    while store.history().compact().await.unwrap().results > 0 {}
}

// issue 18, point 4: "p50 p75 p90 p95 p99 by region for 1d 7d 14d 30d 90d"
#[tokio::test]
async fn each_range_has_percentiles_by_region() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server, "https://example.com/checkout").await;
    with_latencies(&server, monitor).await;
    let path = format!("/w/acme/monitors/{monitor}");
    for (index, (range, _)) in RANGES.into_iter().enumerate() {
        let text = ada.get(&format!("{path}?range={range}")).await.text();
        let current = format!("?range={range}\" aria-current=\"page\"");
        assert!(text.contains(&current), "{range}: {text}");
        for (place, region) in REGIONS.into_iter().enumerate() {
            let row = between(&text, &format!("{path}/log?region={region}\""), "</tr>");
            let cell = |label: &str| between(row, &format!("data-label=\"{label}\">"), "<");
            let all = latencies(place, index + 1);
            assert_eq!(cell("Checks"), all.len().to_string(), "{range} {region}");
            for percent in [50, 75, 90, 95, 99] {
                let truth = f64::from(all[(all.len() * percent).div_ceil(100) - 1]);
                let shown = cell(&format!("p{percent}")).strip_suffix(" ms").unwrap();
                let shown: f64 = shown.parse().unwrap();
                // Stored percentiles are within 1 %, and shown ones have no fraction.
                let within = truth * 0.01 + 1.0;
                assert!(
                    (shown - truth).abs() <= within,
                    "{range} {region} p{percent}: {shown}, not {truth}"
                );
            }
        }
    }
}

// issue 18, point 4: "a response log with filters …, including missed and skipped slots"
#[tokio::test]
async fn log_says_why_slots_have_no_check() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server, "https://example.com/checkout").await;
    let reasons = [
        (MissedReason::Down, "The server was not running"),
        (MissedReason::Overloaded, "The server was overloaded"),
        (MissedReason::Changed, "The monitor was changed before the check"),
        (MissedReason::Disconnected, "The probe of the region was not connected"),
        (MissedReason::NoIpv6, "The probe of the region has no IPv6"),
        (MissedReason::Fault, "The server had an error"),
        (MissedReason::Unknown, "The reason was not recorded"),
    ];
    assert_eq!(reasons.map(|(reason, _)| reason), *MissedReason::ALL);
    let slot = |index: usize| before_start(10 * (index as u64 + 1));
    let missed = reasons.iter().enumerate();
    let missed = missed
        .map(|(index, (reason, _))| Missed::slot(monitor, Region::FlyAms, slot(index), *reason));
    let skipped = CheckResult {
        status: None,
        ..result(monitor, Region::FlyAms, 10 * (reasons.len() as u64 + 1), Outcome::Skipped)
    };
    let batch = Batch { results: vec![skipped], missed: missed.collect(), ..Batch::default() };
    server.running().app().store.commit(Arc::new(batch)).await.unwrap();
    let log = ada.get(&format!("/w/acme/monitors/{monitor}/log")).await.text();
    let mut expected: Vec<(&str, &str)> = reasons.map(|(_, why)| ("Missed", why)).to_vec();
    expected.push(("Skipped", "The check before was still running"));
    for (index, (outcome, why)) in expected.into_iter().enumerate() {
        let at = slot(index).to_string().replace(".000Z", "Z");
        let row = between(&log, &format!("datetime=\"{at}\""), "</tr>");
        assert!(row.contains(outcome) && row.contains(why), "{at} {why}: {row}");
        assert!(row.contains("fly-ams") && !row.contains("hx-get"), "{at}: {row}");
    }
    let only = ada.get(&format!("/w/acme/monitors/{monitor}/log?outcome=skipped")).await.text();
    assert!(only.contains("still running") && !only.contains("not connected"), "{only}");
}
