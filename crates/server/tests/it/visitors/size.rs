//! Compressed size of a page whose components each have a different history.

use std::sync::Arc;
use std::time::Duration;

use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use http::Request;
use http_body_util::Full;
use rules::{IncidentId, MonitorId, MonitorStatus, Scope, Timestamp};
use serde_json::json;
use store::Batch;
use testkit::server::{Caller, START, TestServer};

use super::made;

const DAY: Duration = Duration::from_hours(24);
/// Number of troubles of each monitor in the 90 days.
const TROUBLES: u64 = 3;

/// Creates a published page with this many components in groups of ten, each with its own history.
async fn a_page_of(count: u64) -> TestServer {
    let server = TestServer::start().await;
    let owner = server.caller(Scope::Write);
    let page = json!({ "title": "Acme Cloud", "slug": "acme" });
    let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
    let mut group = json!(null);
    let mut transitions = Vec::new();
    for number in 0..count {
        if number % 10 == 0 {
            let new = json!({ "pageId": page["id"], "name": format!("Region {}", number / 10) });
            group = made(&owner, "CreateComponentGroup", "componentGroup", new).await["id"].clone();
        }
        let monitor = a_monitor(&owner, number).await;
        let component = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": monitor.to_string(),
            "groupId": group,
        });
        made(&owner, "CreateComponent", "component", component).await;
        transitions.extend(past(number).into_iter().map(|change| (monitor, change)));
    }
    let batch = Batch { transitions, ..Batch::default() };
    server.running().app().store.commit(Arc::new(batch)).await.unwrap();
    server
}

async fn a_monitor(owner: &Caller, number: u64) -> MonitorId {
    let monitor = json!({
        "name": format!("Service number {number}"), "url": "http://127.0.0.1:9/",
        "periodicity": "30s", "active": false,
    });
    let reply = owner.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    MonitorId::parse(reply.json()["monitor"]["id"].as_str().unwrap()).unwrap()
}

/// Returns transitions of 80 days: up, except for some minutes or hours down or degraded.
pub(super) fn past(number: u64) -> Vec<Transition> {
    let mut past =
        vec![change(80 * DAY, MonitorStatus::Unknown, MonitorStatus::Active, NO_INCIDENT)];
    for trouble in (1..=TROUBLES).rev() {
        let chance = (number * TROUBLES + trouble).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
        let ago = DAY * (trouble * 20 + chance % 17) as u32 + Duration::from_secs(chance % 80_000);
        let end = ago.saturating_sub(Duration::from_secs(120 + chance % 30_000));
        let id = IncidentId::from_bits(number * TROUBLES + trouble);
        let (bad, opened, closed) = match chance % 3 {
            0 => (MonitorStatus::Degraded, NO_INCIDENT, NO_INCIDENT),
            _ => (
                MonitorStatus::Error,
                IncidentChange::Opened(id),
                IncidentChange::Closed { id, reason: CloseReason::Recovered },
            ),
        };
        past.push(change(ago, MonitorStatus::Active, bad, opened));
        past.push(change(end, bad, MonitorStatus::Active, closed));
    }
    past
}

const NO_INCIDENT: IncidentChange = IncidentChange::None;

fn change(
    ago: Duration,
    from: MonitorStatus,
    to: MonitorStatus,
    incident: IncidentChange,
) -> Transition {
    let why = StatusReason::NoVotes;
    let at: Timestamp = START - ago;
    Transition { from, to, at, incident, why }
}

/// Returns the size of the home page in an encoding, in bytes.
async fn size(server: &TestServer, encoding: &str) -> usize {
    let request = Request::get("/status/acme").header("host", "acme");
    let request = request.header("accept-encoding", encoding).body(Full::default()).unwrap();
    let page = server.with_key("nobody").request(request).await;
    assert_eq!(
        (page.status.as_u16(), &page.headers["content-encoding"]),
        (200, &encoding.parse().unwrap())
    );
    page.body.len()
}

// issue 7: "30 components × 90 days: HTML+CSS at most 30 KB compressed … 100 components × 90 days still
// under 60 KB"
#[tokio::test]
async fn pages_are_small_on_the_wire() {
    for (count, most) in [(30, 30_000), (100, 60_000)] {
        let server = a_page_of(count).await;
        for encoding in ["br", "gzip"] {
            let size = size(&server, encoding).await;
            assert!(size <= most, "{count} components are {size} bytes in {encoding}");
        }
    }
}
