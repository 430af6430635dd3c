//! Fair scheduling: a workspace whose targets hang does not delay the checks of other workspaces.

use domain::cadence::MissedReason;
use domain::check::Outcome;
use rules::plan::Plans;
use rules::{MonitorId, Region, Scope};
use serde_json::json;
use testkit::server::{Caller, START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::net::TcpListener;

use super::{PERIOD, Watched, until};

/// Limit of concurrent checks.
const PLACES: usize = 16;
/// Those that are reserved for workspaces that run no check.
const FOR_IDLE: usize = PLACES / 8;
/// Maximum of a workspace above its share. As many again are reserved for workspaces below theirs.
const OF_GREEDY: usize = PLACES - 2 * FOR_IDLE;
/// Monitors of the greedy workspace, each in all regions.
const GREEDY: usize = 14;
/// Periods that the test observes.
const PERIODS: usize = 10;

/// Creates monitors of a target that accepts connections and never responds, in all regions.
async fn hang(caller: &Caller, silent: &TcpListener) {
    let regions: Vec<&str> = Region::PUBLIC.iter().map(|region| region.as_str()).collect();
    hang_in(&regions, GREEDY, caller, silent).await;
}

async fn hang_in(regions: &[&str], monitors: usize, caller: &Caller, silent: &TcpListener) {
    let url = format!("http://{}/", silent.local_addr().unwrap());
    for number in 0..monitors {
        let monitor = json!({
            "name": format!("hangs {number}"), "url": url, "periodicity": "30s",
            "regions": regions, "retry": 0, "active": true, "timeout": 120_000,
        });
        let reply = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
        assert_eq!(reply.status, 200, "{reply}");
    }
}

// docs/decisions/0046-fair-scheduling.md: "the fewest running checks for its weight"
#[tokio::test]
async fn places_are_shared_by_weights_of_plans() {
    let [ours, theirs] =
        [TcpListener::bind("127.0.0.1:0").await, TcpListener::bind("127.0.0.1:0").await];
    let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
    let server = TestServer::start_with(|settings| {
        settings.max_checks_in_flight = Some(PLACES);
        settings.plans = Plans::parse("big weight=3").unwrap();
    })
    .await;
    hang(&server.stranger(), &theirs).await;
    let (mut of_them, mut of_us) = (Vec::new(), Vec::new());
    for _ in 0..OF_GREEDY {
        of_them.push(theirs.accept().await.unwrap());
    }
    server.running().control().set_plan("acme", "big".to_owned()).await.unwrap();
    hang(&server.caller(Scope::Write), &ours).await;
    while of_us.len() + of_them.len() < PLACES - FOR_IDLE {
        of_us.push(ours.accept().await.unwrap());
    }
    // Each of their checks that ends frees a permit for us, until we have three quarters.
    while of_us.len() < (PLACES - FOR_IDLE) * 3 / 4 {
        drop(of_them.pop());
        of_us.push(ours.accept().await.unwrap());
    }
    // From then on, each workspace keeps its share.
    drop(of_them.pop());
    of_them.push(theirs.accept().await.unwrap());
    drop(of_us.pop());
    of_us.push(ours.accept().await.unwrap());
    assert_eq!((of_us.len(), of_them.len()), (10, 4));
}

// docs/decisions/0046-fair-scheduling.md: "decides nothing"
#[tokio::test]
async fn check_without_memory_counts_as_missed() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("x".repeat(100_000)));
    let server = TestServer::start_with(|settings| settings.check_body_memory = 1_000).await;
    let watched = Watched::on(server).await;
    let monitor = json!({
        "name": "local", "url": target.url("/"), "periodicity": "30s", "retry": 0,
        "regions": ["fly-ams"], "active": true,
        "bodyAssertions": [{ "target": "needle", "comparator": "eq" }],
    });
    let caller = watched.server.caller(Scope::Write);
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let id = MonitorId::parse(created["monitor"]["id"].as_str().unwrap()).unwrap();
    let missed = until(async || watched.stored.missed(id).await.pop()).await;
    assert_eq!((missed.reason, missed.first_slot), (MissedReason::Overloaded, START));
    assert_eq!(watched.stored.at_least(0, id).await.len(), 0, "it says nothing of the target");
    assert_eq!(watched.status(id).await, "unknown");
    let refused = caller.rpc("TriggerMonitor", json!({ "id": id.to_string() })).await;
    assert_eq!(refused.status, 503);
    let message = refused.json()["message"].to_string();
    assert!(message.contains("its probe had no capacity"), "{message}");
    assert_eq!(watched.stored.at_least(0, id).await.len(), 0, "it has no vote");
}

// issue 16: "A greedy workspace beside a modest one: at most one late slot". It missed four.
#[tokio::test]
async fn new_workspace_beside_a_busy_one_misses_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::with_permits(PLACES).await;
    hang(&watched.server.stranger(), &silent).await;
    let mut held = Vec::new();
    for _ in 0..OF_GREEDY {
        held.push(silent.accept().await.unwrap());
    }
    let modest = watched.monitor(&target.url("/")).await;
    let first = watched.stored.at_least(1, modest).await;
    assert_eq!(first[0].identity.slot, START);
    for period in 0..PERIODS {
        watched.server.advance(PERIOD);
        watched.stored.at_least(2 + period, modest).await;
    }
    assert_eq!(watched.stored.missed(modest).await, [], "no slot was late");
}

// Each of several hanging workspaces took some of the last permits, so together they held all.
#[tokio::test]
async fn three_hanging_workspaces_delay_nobody() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::with_permits(PLACES).await;
    hang(&watched.server.stranger(), &silent).await;
    let mut held = Vec::new();
    for _ in 0..OF_GREEDY {
        held.push(silent.accept().await.unwrap());
    }
    // The second one takes the reserve for workspaces below their share, the third one a permit.
    for (slug, more) in [("second", FOR_IDLE), ("third", 1)] {
        let caller = watched.server.new_workspace(slug).await;
        hang(&caller, &silent).await;
        for _ in 0..more {
            held.push(silent.accept().await.unwrap());
        }
    }
    let modest = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, modest).await;
    for period in 0..PERIODS {
        watched.server.advance(PERIOD);
        watched.stored.at_least(2 + period, modest).await;
    }
    assert_eq!(watched.stored.missed(modest).await, [], "no slot was late");
}

// docs/decisions/0046-fair-scheduling.md: "any number of workspaces"
#[tokio::test]
async fn hanging_workspaces_leave_one_permit_for_others() {
    let permits = 8;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::with_permits(permits).await;
    let modest = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, modest).await;
    let mut held = Vec::new();
    for number in 0..permits {
        let caller = watched.server.new_workspace(&format!("hangs-{number}")).await;
        hang_in(&["fly-ams"], 1, &caller, &silent).await;
        held.push(silent.accept().await.unwrap());
    }
    // Their first checks hold all permits. All end after half a minute.
    watched.server.advance(PERIOD);
    held.clear();
    watched.stored.at_least(2, modest).await;
    watched.server.advance(PERIOD);
    for _ in 1..permits {
        held.push(silent.accept().await.unwrap());
    }
    for period in 0..PERIODS {
        watched.stored.at_least(3 + period, modest).await;
        watched.server.advance(PERIOD);
    }
    assert_eq!(watched.stored.missed(modest).await, [], "no slot was late");
}

#[tokio::test]
async fn busy_workspace_does_not_delay_other_workspaces() {
    // docs/decisions/0046-fair-scheduling.md
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::with_permits(PLACES).await;

    let modest = watched.monitor(&target.url("/")).await;
    let first = watched.stored.at_least(1, modest).await;
    assert_eq!(first[0].identity.slot, START);

    hang(&watched.server.stranger(), &silent).await;
    let mut held = Vec::new();
    for _ in 0..OF_GREEDY {
        held.push(silent.accept().await.unwrap());
    }

    for period in 0..PERIODS {
        watched.server.advance(PERIOD);
        watched.stored.at_least(2 + period, modest).await;
    }
    let results = watched.stored.at_least(1 + PERIODS, modest).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Success));
    assert_eq!(watched.stored.missed(modest).await, [], "no slot was late");

    // The metrics count the slots that the greedy workspace could not run.
    let waited = GREEDY * Region::PUBLIC.len() - held.len();
    until(async || {
        let metrics = watched.server.nobody().get("/metrics").await;
        let metrics = String::from_utf8(metrics.body.into()).unwrap();
        let figure = |name: &str| -> usize {
            let line = metrics.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{name} in {metrics}")).trim().parse().unwrap()
        };
        let expired = figure("aloft_expired_slots_total");
        assert!(figure("aloft_missed_slots_total") >= expired);
        (expired >= waited * (PERIODS - 1) && figure("aloft_workspaces_waiting") == 1).then_some(())
    })
    .await;
}
