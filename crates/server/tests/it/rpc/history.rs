//! History of monitors: summaries, log lists and single logs.

use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{Missed, MissedReason};
use domain::check::{
    AttemptEvidence, CheckResult, Evidence, Outcome, Phases, ProbeName, ResultKey, Trigger,
};
use domain::judge::{IncidentChange, StatusReason, Transition};
use insta::assert_snapshot;
use rules::{MonitorId, MonitorStatus, Region, Scope, Timestamp};
use serde_json::{Value, json};
use store::Batch;
use testkit::server::{START, TestServer};

/// Creates a paused monitor, so that the test controls all of its results.
async fn at_rest(server: &TestServer) -> MonitorId {
    let monitor = json!({ "name": "api", "uri": "example.com:443", "periodicity": "30s" });
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    MonitorId::parse(created["monitor"]["id"].as_str().unwrap()).unwrap()
}

fn before_start(minutes: u64) -> Timestamp {
    START - Duration::from_mins(minutes)
}

/// Returns the result of a check this many minutes before the start, with a latency of 100 ms.
fn result(monitor: MonitorId, region: Region, minutes: u64, outcome: Outcome) -> CheckResult {
    let slot = before_start(minutes);
    let identity = ResultKey { monitor, revision: 1, region, slot, trigger: Trigger::Scheduled };
    let evidence = Evidence {
        attempts: vec![AttemptEvidence {
            started_at: slot,
            latency_us: 100_000,
            failure: None,
            reasons: vec!["nobody answered".to_owned()],
            assertions: Vec::new(),
            hops: Vec::new(),
            body: None,
            body_truncated: false,
            body_cut: false,
            answers: Vec::new(),
        }],
    };
    CheckResult {
        identity,
        finished_at: slot + Duration::from_millis(100),
        outcome,
        latency_us: 100_000,
        phases: Phases { connect_us: Some(90_000), ..Phases::default() },
        status: None,
        attempts: 1,
        probe: ProbeName(Arc::from("this server")),
        evidence: (outcome == Outcome::Failure).then(|| Arc::new(evidence)),
    }
}

/// Creates a monitor with a day of checks, one a minute. The first half hour failed.
async fn with_a_day(server: &TestServer) -> MonitorId {
    let monitor = at_rest(server).await;
    let store = &server.running().app().store;
    let mut results = Vec::new();
    for minutes in 1..=23 * 60 {
        let outcome = if minutes > 22 * 60 + 30 { Outcome::Failure } else { Outcome::Success };
        results.push(result(monitor, Region::FlyAms, minutes, outcome));
    }
    results.push(result(monitor, Region::FlySin, 5, Outcome::Degraded));
    let change = |minutes, from, to| {
        let (at, incident) = (before_start(minutes), IncidentChange::None);
        (monitor, Transition { from, to, at, incident, why: StatusReason::NoVotes })
    };
    let transitions = vec![
        change(20 * 60, MonitorStatus::Unknown, MonitorStatus::Error),
        change(15 * 60, MonitorStatus::Error, MonitorStatus::Active),
    ];
    store.commit(Arc::new(Batch { results, transitions, ..Batch::default() })).await.unwrap();
    while store.history().compact().await.unwrap().results > 0 {}
    monitor
}

#[tokio::test]
async fn a_summary_counts_checks_and_time() {
    let server = TestServer::start().await;
    let monitor = with_a_day(&server).await;
    let caller = server.caller(Scope::Read);
    let summary =
        caller.rpc("GetMonitorSummary", json!({ "id": monitor.to_string() })).await.json();
    assert_eq!(summary["window"], "1d");
    let total = &summary["total"];
    assert_eq!(total["checks"], 23 * 60 + 1);
    assert_eq!((&total["failure"], &total["degraded"]), (&json!(30), &json!(1)));
    // design: §5 "Uptime": down for 5 of the 20 known hours
    assert_eq!(summary["uptimeMillionths"], 750_000);
    for percentile in ["p50Us", "p75Us", "p90Us", "p95Us", "p99Us", "meanUs"] {
        let latency = total[percentile].as_i64().unwrap();
        assert!((99_000..=101_000).contains(&latency), "{percentile} {latency}");
    }
    let regions: Vec<&Value> =
        summary["regions"].as_array().unwrap().iter().map(|it| &it["region"]).collect();
    assert_eq!(regions, ["fly-ams", "fly-sin"]);
    let asked = json!({ "id": monitor.to_string(), "window": "90d", "regions": ["fly-sin"] });
    let summary = caller.rpc("GetMonitorSummary", asked).await.json();
    assert_eq!(summary["total"]["checks"], 1);
    assert_eq!(summary["uptimeMillionths"], 750_000);
}

#[tokio::test]
async fn unchecked_monitor_has_no_uptime() {
    // design: §5 "no data is not 100 %"
    let server = TestServer::start().await;
    let monitor = at_rest(&server).await;
    let asked = json!({ "id": monitor.to_string() });
    let summary = server.caller(Scope::Read).rpc("GetMonitorSummary", asked).await.json();
    assert_eq!(summary["total"]["checks"], 0);
    assert_eq!(summary["regions"], json!([]));
    assert!(summary.get("uptimeMillionths").is_none(), "{summary}");
}

#[tokio::test]
async fn logs_are_listed_in_pages_and_read_individually() {
    let server = TestServer::start().await;
    let monitor = with_a_day(&server).await.to_string();
    let caller = server.caller(Scope::Read);
    let mut asked = json!({ "id": monitor, "limit": 20, "outcomes": ["failure", "degraded"] });
    let mut listed = Vec::new();
    loop {
        let page = caller.rpc("ListResponseLogs", asked.clone()).await.json();
        listed.extend(page["logs"].as_array().unwrap().clone());
        if page["nextPageToken"] == "" {
            break;
        }
        asked["pageToken"] = page["nextPageToken"].clone();
    }
    let outcomes: Vec<&str> = listed.iter().map(|log| log["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes[0], "degraded");
    assert_eq!(outcomes[1..], ["failure"; 30]);
    assert_eq!(listed[1]["servedBy"], "this server");

    let asked = json!({ "monitorId": monitor, "id": listed[1]["id"] });
    let whole = caller.rpc("GetResponseLog", asked).await.json();
    assert_eq!(whole["log"], listed[1]);
    assert_eq!(whole["attempts"][0]["reasons"], json!(["nobody answered"]));
}

#[tokio::test]
async fn invalid_log_queries_are_refused_by_name() {
    let server = TestServer::start().await;
    let monitor = at_rest(&server).await.to_string();
    let caller = server.caller(Scope::Read);
    let asked = json!({ "id": monitor, "window": "2d", "regions": ["mars"] });
    let refused = caller.rpc("GetMonitorSummary", asked).await;
    assert_eq!(refused.status, 400);
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert_snapshot!(message[..60], @"`window` must be one of 1d, 7d, 14d, 30d, 90d (given: `2d`);");
    let asked = json!({
        "id": monitor, "limit": 101, "outcomes": ["lost"], "triggers": ["x"], "pageToken": "x",
    });
    let refused = caller.rpc("ListResponseLogs", asked).await.json();
    assert_snapshot!(refused["message"].as_str().unwrap(), @"`limit` must be 1 to 100 (given: `101`); `outcomes[0]` must be one of success, degraded, failure, skipped (given: `lost`); `triggers[0]` must be one of scheduled, confirmation, manual (given: `x`); `page_token` must be the next_page_token of an earlier response");
    for id in ["log_x", "log_MS9mbHktYW1zL3NjaGVkdWxlZC8x"] {
        let asked = json!({ "monitorId": monitor, "id": id });
        let missing = caller.rpc("GetResponseLog", asked).await;
        assert_eq!(missing.status, 404, "{missing}");
    }
}

// issue 16: "Keep details of the latest success per region"
#[tokio::test]
async fn latest_success_is_listed_with_its_details() {
    let server = TestServer::start().await;
    let monitor = at_rest(&server).await;
    let store = &server.running().app().store;
    for minutes in [3, 2, 1] {
        let failed = result(monitor, Region::FlyAms, minutes, Outcome::Failure);
        let checked = CheckResult { outcome: Outcome::Success, ..failed };
        store.commit(Arc::new(Batch { results: vec![checked], ..Batch::default() })).await.unwrap();
    }
    let caller = server.caller(Scope::Read);
    let asked = json!({ "id": monitor.to_string(), "limit": 1 });
    let latest = caller.rpc("ListResponseLogs", asked.clone()).await.json()["logs"][0].clone();
    assert_eq!((&latest["hasDetails"], &latest["place"]), (&json!(true), &json!("this server")));
    let whole = json!({ "monitorId": monitor.to_string(), "id": latest["id"] });
    let whole = caller.rpc("GetResponseLog", whole).await.json();
    assert_eq!(whole["log"], latest);
    assert_eq!(whole["attempts"].as_array().map(Vec::len), Some(1), "{whole}");
    let asked = json!({ "id": monitor.to_string(), "withDetails": true, "outcomes": ["success"] });
    let detailed = caller.rpc("ListResponseLogs", asked).await.json();
    assert_eq!(detailed["logs"][0], latest);
    let asked = json!({ "id": monitor.to_string(), "withDetails": true, "outcomes": ["failure"] });
    let none = caller.rpc("ListResponseLogs", asked).await.json();
    assert_eq!((&none["logs"], &none["nextPageToken"]), (&json!([]), &json!("")));
}

// issue 16: "Make missed slots listable and countable"
#[tokio::test]
async fn missed_slots_are_listed_and_counted() {
    let server = TestServer::start().await;
    let monitor = at_rest(&server).await;
    let missed = |region, minutes: u64, count: u32, reason| Missed {
        last_slot: before_start(minutes - u64::from(count) + 1),
        count,
        ..Missed::slot(monitor, region, before_start(minutes), reason)
    };
    let batch = Batch {
        missed: vec![
            missed(Region::FlyAms, 90, 10, MissedReason::Down),
            missed(Region::FlySin, 30, 1, MissedReason::Overloaded),
            missed(Region::FlySin, 3 * 24 * 60, 5, MissedReason::Changed),
        ],
        ..Batch::default()
    };
    server.running().app().store.commit(Arc::new(batch)).await.unwrap();
    let caller = server.caller(Scope::Read);
    let (mut asked, mut lines) = (json!({ "id": monitor.to_string(), "limit": 2 }), Vec::new());
    loop {
        let page = caller.rpc("ListMissedSlots", asked.clone()).await.json();
        for it in page["missed"].as_array().unwrap_or_else(|| panic!("{page}")) {
            lines
                .push(format!("{} {} {} {}", it["region"], it["slots"], it["reason"], it["place"]));
        }
        if page["nextPageToken"] == "" {
            break;
        }
        asked["pageToken"] = page["nextPageToken"].clone();
    }
    assert_eq!(
        lines,
        [
            r#""fly-sin" 1 "overloaded" "this server""#,
            r#""fly-ams" 10 "down" "this server""#,
            r#""fly-sin" 5 "changed" "this server""#,
        ]
    );
    let down = json!({ "id": monitor.to_string(), "reasons": ["down"], "regions": ["fly-ams"] });
    let down = caller.rpc("ListMissedSlots", down).await.json();
    assert_eq!(down["missed"].as_array().map(Vec::len), Some(1), "{down}");
    for (window, total, regions) in [
        ("1d", 11, [("fly-ams", 10), ("fly-sin", 1)]),
        ("7d", 16, [("fly-ams", 10), ("fly-sin", 6)]),
    ] {
        let asked = json!({ "id": monitor.to_string(), "window": window });
        let summary = caller.rpc("GetMonitorSummary", asked).await.json();
        assert_eq!(summary["total"]["missed"], total, "{summary}");
        for (place, (region, missed)) in regions.into_iter().enumerate() {
            let of = &summary["regions"][place];
            assert_eq!((&of["region"], &of["summary"]["missed"]), (&json!(region), &json!(missed)));
        }
    }
    let asked = json!({ "id": monitor.to_string(), "reasons": ["tired"], "pageToken": "x" });
    let refused = caller.rpc("ListMissedSlots", asked).await.json();
    assert_snapshot!(refused["message"].as_str().unwrap(), @"`reasons[0]` must be one of down, overloaded, changed, disconnected, no_ipv6, fault, unknown (given: `tired`); `page_token` must be the next_page_token of an earlier response");
}
