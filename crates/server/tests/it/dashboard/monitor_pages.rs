//! The pages of a monitor: its overview, its response log and its actions, without scripts and in a
//! real browser.

use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{Missed, MissedReason};
use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::{IncidentId, MonitorId, MonitorStatus, Region, Role, Scope, Timestamp};
use serde_json::json;
use store::Batch;
use testkit::browser::{Browser, View};
use testkit::person::Person;
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::process::Command;

use super::settings::join;
use crate::heartbeats;
use crate::screen::take_picture;

pub(super) const REGIONS: [Region; 3] = [Region::FlyAms, Region::FlyIad, Region::FlySin];
pub(super) const HOUR: u64 = 60;

/// Creates a paused monitor of this URL without retries, so that the test controls its results.
pub(super) async fn create(server: &TestServer, url: &str) -> MonitorId {
    let monitor = json!({
        "name": "Checkout API", "url": url, "periodicity": "10m", "retry": 0,
        "description": "Takes orders of the shop.",
        "headers": [{ "key": "Authorization", "value": "Bearer s3cret" }],
    });
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    MonitorId::parse(created["monitor"]["id"].as_str().unwrap()).unwrap()
}

pub(super) fn before_start(minutes: u64) -> Timestamp {
    START - Duration::from_mins(minutes)
}

/// Returns a result of a region this many minutes before the start.
pub(super) fn result(
    monitor: MonitorId,
    region: Region,
    minutes: u64,
    outcome: Outcome,
) -> CheckResult {
    let slot = before_start(minutes);
    let identity = ResultKey { monitor, revision: 1, region, slot, trigger: Trigger::Scheduled };
    let wait = 40_000 + (minutes as u32 * 7_919) % 60_000 + 30_000 * (region as u32 % 5);
    let phases = Phases {
        dns_us: Some(4_000),
        connect_us: Some(18_000),
        tls_us: Some(21_000),
        first_byte_us: Some(wait),
        transfer_us: Some(6_000),
    };
    CheckResult {
        identity,
        finished_at: slot + Duration::from_millis(200),
        outcome,
        latency_us: wait + 49_000,
        phases,
        status: Some(if outcome == Outcome::Failure { 503 } else { 200 }),
        attempts: 1,
        probe: ProbeName(Arc::from("this server")),
        evidence: None,
    }
}

/// Stores ten days of checks, an outage of two hours with its incident, and missed slots.
async fn with_a_past(server: &TestServer, monitor: MonitorId) {
    let store = &server.running().app().store;
    let mut results = Vec::new();
    for minutes in (10..=10 * 24 * HOUR).step_by(10) {
        let is_down = (50 * HOUR..52 * HOUR).contains(&minutes);
        let outcome = if is_down { Outcome::Failure } else { Outcome::Success };
        results.extend(REGIONS.map(|region| result(monitor, region, minutes, outcome)));
    }
    let incident = IncidentId::from_bits(7);
    let change = |minutes, from, to, incident| {
        let at = before_start(minutes);
        (monitor, Transition { from, to, at, incident, why: StatusReason::NoVotes })
    };
    let closed = IncidentChange::Closed { id: incident, reason: CloseReason::Recovered };
    let transitions = vec![
        change(240 * HOUR, MonitorStatus::Unknown, MonitorStatus::Active, IncidentChange::None),
        change(
            52 * HOUR,
            MonitorStatus::Active,
            MonitorStatus::Error,
            IncidentChange::Opened(incident),
        ),
        change(50 * HOUR, MonitorStatus::Error, MonitorStatus::Active, closed),
    ];
    let missed = Missed {
        last_slot: before_start(4 * HOUR + 5),
        count: 3,
        ..Missed::slot(monitor, Region::FlyAms, before_start(4 * HOUR + 25), MissedReason::Down)
    };
    let missed = vec![
        missed,
        Missed::slot(
            monitor,
            Region::FlySin,
            before_start(30 * HOUR + 5),
            MissedReason::Overloaded,
        ),
    ];
    let batch = Batch { results, transitions, missed, ..Batch::default() };
    store.commit(Arc::new(batch)).await.unwrap();
    while store.history().compact().await.unwrap().results > 0 {}
}

// issue 18, point 4: "The monitor's page shows status by place, p50 p75 p90 p95 p99 by region …,
// stacked phases, uptime bars, incidents"
#[tokio::test]
async fn page_shows_figures_of_the_range() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server, "https://example.com/checkout").await;
    let path = format!("/w/acme/monitors/{monitor}");
    let empty = ada.get(&path).await.text();
    assert!(empty.contains("No latency yet") && empty.contains("Paused"), "{empty}");
    with_a_past(&server, monitor).await;
    for (range, uptime, checks) in
        [("1d", "100.000 %", "432"), ("7d", "98.809 %", "3,024"), ("90d", "99.166 %", "4,320")]
    {
        let text = ada.get(&format!("{path}?range={range}")).await.text();
        assert!(text.contains(&format!("<dd>{uptime}</dd>")), "{range}: {text}");
        assert!(text.contains(&format!("<dd>{checks}</dd>")), "{range}: {text}");
        for part in ["Amsterdam", "p99", "id=\"latency-title\"", "id=\"phases-title\"", "Recovered"]
        {
            assert!(text.contains(part), "{range} {part}");
        }
    }
    assert_eq!(ada.get("/w/acme/monitors/mon_nothing").await.status, 404);
}

#[tokio::test]
async fn log_lists_each_missed_slot_once() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server, "https://example.com/checkout").await;
    with_a_past(&server, monitor).await;
    let log = format!("/w/acme/monitors/{monitor}/log");
    let (mut path, mut checks, mut missed) = (log.clone(), 0, 0);
    for _ in 0..20 {
        let text = ada.get(&path).await.text();
        checks += text.matches("hx-get").count();
        missed += text.matches("#unknown\"/></svg>Missed").count();
        let Some((before, _)) = text.split_once("\" rel=\"next\"") else { break };
        path = before.rsplit('"').next().unwrap().replace("&amp;", "&").replace("&#38;", "&");
    }
    assert_eq!((checks, missed), (1_000, 2), "20 pages of 50 checks");
    let text = ada.get(&format!("{log}?outcome=missed")).await.text();
    assert!(text.contains("3 slots until") && !text.contains("hx-get"), "{text}");
    let text = ada.get(&format!("{log}?outcome=failure&region=fly-iad")).await.text();
    assert_eq!(text.matches("hx-get").count(), 12, "{text}");
    let text = ada.get(&format!("{log}?from=soon")).await.text();
    assert!(text.contains("id=\"from-error\"") && text.contains("value=\"soon\""), "{text}");
    let text = ada.get(&format!("{log}?trigger=manual")).await.text();
    assert!(text.contains("Nothing matches"), "{text}");
}

// issue 18, point 4: "a side panel (waterfall, headers, assertions, attempts, difference from the
// last good response)"
#[tokio::test]
async fn failed_check_differs_from_last_good_one() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let target = HttpTarget::start().await;
    let good = ScriptedResponse::ok("fine").header("x-version", "1");
    target.on("/", good);
    let monitor = create(&server, &target.url("/")).await;
    let path = format!("/w/acme/monitors/{monitor}");
    let checked = ada.post(&format!("{path}/check"), &[]).await;
    assert_eq!(checked.status, 303, "{checked}");
    assert!(ada.open(&checked.location().unwrap()).await.text().contains("all succeeded"));
    server.advance(Duration::from_mins(1));
    target.on("/", ScriptedResponse::status(503).header("x-version", "2"));
    ada.post(&format!("{path}/check"), &[]).await;
    let log = ada.get(&format!("{path}/log?outcome=failure")).await.text();
    let check = log.split_once("hx-get=\"").unwrap().1.split('"').next().unwrap().to_owned();
    let check = check.replace("&amp;", "&").replace("&#38;", "&");
    let text = ada.get(&check).await.text();
    for part in ["First byte", "Header x-version", "Status code", "Attempt 1", "503"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(text.contains(&format!("href=\"{path}/log?outcome=failure\"")), "{text}");
    assert_eq!(ada.get(&format!("{path}/log/log_none")).await.status, 404);
}

#[tokio::test]
async fn actions_change_the_monitor() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let target = HttpTarget::start().await;
    let monitor = create(&server, &target.url("/")).await;
    let path = format!("/w/acme/monitors/{monitor}");
    let is_active = async || {
        let id = json!({ "id": monitor.to_string() });
        let found = server.caller(Scope::Read).rpc("GetMonitor", id).await.json();
        found["monitor"]["http"]["active"].as_bool().unwrap()
    };
    for (action, expected) in [("resume", true), ("pause", false)] {
        assert_eq!(ada.post(&format!("{path}/{action}"), &[]).await.status, 303);
        assert_eq!(is_active().await, expected);
    }
    let asked = ada.get(&format!("{path}/delete")).await;
    assert!(asked.status == 200 && asked.text().contains("Delete “Checkout API”?"), "{asked}");
    let deleted = ada.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(deleted.location().as_deref(), Some("/w/acme/monitors"));
    assert_eq!(ada.get(&path).await.status, 404);
}

#[tokio::test]
async fn copies_hide_credentials_from_terraform() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server, "https://example.com/checkout").await;
    let path = format!("/w/acme/monitors/{monitor}");
    let terraform = ada.get(&format!("{path}/terraform")).await.text();
    assert!(terraform.contains("var.checkout_api_authorization"), "{terraform}");
    assert!(terraform.contains(&format!("service_http_monitor.checkout_api {monitor}")));
    assert!(!terraform.contains("s3cret"), "{terraform}");
    let curl = ada.get(&format!("{path}/curl")).await.text();
    assert!(curl.contains("authorization: Bearer s3cret"), "{curl}");
    assert!(!curl.contains("--location"), "curl would send the header to other hosts: {curl}");
    assert!(curl.contains("/rpc/monitor.v1.MonitorService/CreateHttpMonitor"), "{curl}");
}

/// Runs the command that the page of a monitor shows for its check.
async fn run_curl(ada: &Person, monitor: &str) {
    let page = ada.get(&format!("/w/acme/monitors/{monitor}/curl")).await.text();
    let (_, rest) = page.split_once("<pre class=\"code\" id=\"check\" tabindex=\"0\">").unwrap();
    let (command, _) = rest.split_once("</pre>").unwrap();
    let command = command.replace("&#39;", "'").replace("&#34;", "\"").replace("&#38;", "&");
    let output = Command::new("sh").args(["-c", &command]).output().await.unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}

#[tokio::test]
async fn copied_command_redirects_like_the_check() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    for (method, text) in [("POST", "a=b"), ("POST", ""), ("GET", ""), ("HEAD", "")] {
        let target = HttpTarget::start().await;
        target.on("/old", ScriptedResponse::redirect(302, "/new"));
        target.on("/new", ScriptedResponse::status(204));
        let monitor = json!({
            "name": "Redirected", "url": target.url("/old"), "periodicity": "10m", "retry": 0,
            "method": method, "body": text, "regions": ["fly-ams"],
            "headers": [{ "key": "Host", "value": "shop.example" }],
        });
        let caller = server.caller(Scope::Write);
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        let id = created["monitor"]["id"].as_str().unwrap();
        let checked = ada.post(&format!("/w/acme/monitors/{id}/check"), &[]).await;
        assert_eq!(checked.status, 303, "{checked}");
        run_curl(&ada, id).await;
        let hops = target.received().into_iter().map(|it| {
            let header = |name| it.header(name).unwrap_or_default().to_owned();
            // curl repeats the type of a body without the body.
            let body_type =
                if it.method == "POST" { header("content-type") } else { String::new() };
            (header("host"), body_type, it.method, it.target, it.body)
        });
        let hops: Vec<_> = hops.collect();
        assert_eq!(hops.len(), 4, "{hops:?}");
        assert_eq!(hops[..2], hops[2..], "{method} {text:?}");
    }
}

#[tokio::test]
async fn scripts_show_check_and_test_beside_the_page() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let target = HttpTarget::start().await;
    let monitor = create(&server, &target.url("/")).await;
    let path = format!("/w/acme/monitors/{monitor}");
    ada.post(&format!("{path}/check"), &[]).await;
    let browser = Browser::start().await;
    let origin = format!("http://{}", server.address());
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let phone = View { width: 390, height: 844, ..View::PHONE };
    for view in [View::DESKTOP, phone.dark()] {
        let tab = browser.open(&origin, view, Some(&cookie)).await;
        tab.visit(&format!("{path}/log")).await;
        tab.evaluate("document.querySelector('.log-list a').click()").await;
        tab.until("document.querySelector('#check .fall')").await;
        let list = "document.querySelectorAll('.log-list tbody tr').length";
        assert_eq!(tab.evaluate(list).await, json!(3), "the list stays");
        let url = tab.text("location.pathname").await;
        assert!(url.starts_with(&format!("{path}/log/log_")), "{url}");
        take_picture(&tab, "monitor-check", view).await;
        assert_eq!(tab.audit().await, Vec::<String>::new(), "{view:?}");

        tab.visit("/w/acme/monitors/new").await;
        tab.fill("#url", &target.url("/new")).await;
        tab.fill("#name", "Draft").await;
        tab.evaluate("document.querySelector('[formaction]').click()").await;
        tab.until("document.querySelector('#tested .fall')").await;
        assert_eq!(tab.text("document.querySelector('#name').value").await, "Draft");
        take_picture(&tab, "monitor-test", view).await;
        assert_eq!(tab.audit().await, Vec::<String>::new(), "{view:?}");
        assert_eq!(tab.errors().await, Vec::<String>::new(), "{view:?}");
        tab.close().await;
    }
}

#[tokio::test]
async fn viewers_neither_see_nor_replace_heartbeat_urls() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let vera = join(&server, &ada, "vera@example.com", Role::Viewer).await;
    let monitor = heartbeats::monitor(&server, json!({})).await;
    let page = format!("/w/acme/monitors/{}", monitor["id"].as_str().unwrap());
    let (url, rotate) = (monitor["url"].as_str().unwrap(), format!("{page}/rotate-url"));
    assert!(ada.get(&page).await.text().contains(url));
    let seen = vera.get(&page).await;
    assert!(seen.status == 200 && !seen.text().contains(url), "{seen}");
    assert_eq!(vera.post(&rotate, &[]).await.status, 403);
    assert_eq!(ada.get(&rotate).await.status, 200);
    assert_eq!(ada.post(&rotate, &[]).await.status, 303);
    let text = ada.get(&page).await.text();
    assert!(!text.contains(url) && text.contains("/heartbeat/"), "{text}");
}
