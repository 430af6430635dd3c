//! Probes in other places: real agents that connect to a server over the network, with its manual clock.

mod faults;
mod interrupted;
mod nats;
mod private;
pub(crate) mod refused;

use std::time::Duration;

use domain::cadence::MissedReason;
use domain::check::Outcome;
use http::StatusCode;
use remote::agent::{self, AgentError, AgentSettings, ServerAddress};
use rules::{MonitorId, ProbeId, Region, Scope, Secret};
use serde_json::{Value, json};
use server::auth::probe_token;
use store::{Actor, AuditContext, KeyHash, NewProbe, NewProbeToken, OperatorContext, ProbeOwner};
use tempfile::TempDir;
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::faults::{BehindProxy, HeldTarget};
use crate::pipeline::{PATIENCE, Watched, until};

/// A stored probe.
pub(crate) struct Registered {
    id: ProbeId,
    pub(crate) token: Secret<String>,
}

/// A running agent.
pub(crate) struct Agent {
    stop: CancellationToken,
    running: JoinHandle<Result<(), AgentError>>,
    data: TempDir,
}

fn author() -> OperatorContext {
    OperatorContext::of_server(AuditContext::new(Actor::CommandLine, START))
}

/// Stores a probe of these regions.
pub(crate) async fn register(server: &TestServer, id: u64, regions: &[Region]) -> Registered {
    register_for(server, ProbeOwner::Operator, id, regions).await
}

/// Stores a probe of these regions of an owner.
async fn register_for(
    server: &TestServer,
    owner: ProbeOwner,
    id: u64,
    regions: &[Region],
) -> Registered {
    let id = ProbeId::from_bits(id);
    let token = probe_token::compose(id, &[id.bits() as u8; 32]);
    let name = format!("probe-{}", id.bits());
    let new = NewProbe { id, owner, name, regions: regions.to_vec() };
    let store = &server.running().app().store;
    store.probes().create(new, KeyHash::new(token.expose()), author()).await.unwrap();
    Registered { id, token }
}

impl Agent {
    /// Starts an agent that connects to this address.
    pub(crate) fn start(address: &str, token: &Secret<String>) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), address, token)
    }

    fn start_in(data: TempDir, address: &str, token: &Secret<String>) -> Self {
        let (url, network) = (format!("http://{address}"), contract::rpc::Network::default());
        Self::start_with(data, ServerAddress::Http { url, network }, token)
    }

    fn start_with(data: TempDir, server: ServerAddress, token: &Secret<String>) -> Self {
        let settings = AgentSettings {
            server,
            token: token.clone(),
            data: data.path().to_owned(),
            spool_bytes_max: 1_000_000,
            checks_max: 64,
            probe: probe::Settings {
                egress: probe::Egress::new(true, []),
                ..probe::Settings::default()
            },
            version: "9.9.9",
        };
        let stop = CancellationToken::new();
        let running = tokio::spawn(agent::run(settings, stop.clone()));
        Self { stop, running, data }
    }

    /// Stops the agent in order.
    pub(crate) async fn stop(self) -> TempDir {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
        self.data
    }
}

/// Waits until the server lists the probe of a region in this state.
pub(crate) async fn wait_for_health(server: &TestServer, region: &str, health: &str) -> Value {
    let caller = server.caller(Scope::Read);
    until(async || {
        let reply = caller.call("region.v1.RegionService", "ListRegions", json!({})).await.json();
        let all = reply["regions"].as_array().unwrap().clone();
        // A private region is listed once it has a probe.
        all.into_iter().find(|it| it["id"] == region && it["health"] == health)
    })
    .await
}

/// Creates a monitor of `url` in `regions`, every 30 seconds.
async fn monitor(watched: &Watched, url: &str, regions: &[&str]) -> MonitorId {
    let monitor = json!({
        "name": "site", "url": url, "periodicity": "30s", "regions": regions, "retry": 0,
        "active": true, "timeout": 120_000,
        "headers": [{ "key": "Authorization", "value": "Bearer secret" }],
    });
    let caller = watched.server.caller(Scope::Write);
    let reply = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    assert_eq!(reply.status, 200, "{reply}");
    MonitorId::parse(reply.json()["monitor"]["id"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn regions_are_checked_by_their_probes() {
    let watched = Watched::start().await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let agent = Agent::start(&watched.server.address().to_string(), &probe.token);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(500));
    let id = monitor(&watched, &target.url("/"), &["fly-ams", "fly-sin"]).await;
    let results = watched.stored.at_least(2, id).await;
    let mut by: Vec<(&str, &str, Outcome)> =
        results.iter().map(|it| (it.identity.region.as_str(), &*it.probe.0, it.outcome)).collect();
    by.sort_unstable();
    by.dedup();
    assert_eq!(
        by,
        [("fly-ams", "this server", Outcome::Failure), ("fly-sin", "probe-7", Outcome::Failure)]
    );
    // Both votes fail, so the monitor is down, and the incident has the evidence of both places.
    let incident = watched.stored.incident(id, |_| true).await;
    let request = json!({ "id": incident.id.to_string() });
    let caller = watched.server.caller(Scope::Read);
    let shown = caller.call("incident.v1.IncidentService", "GetIncident", request).await;
    let shown = shown.to_string();
    assert!(shown.contains("fly-sin") && shown.contains("500"), "{shown}");
    assert!(!shown.contains("Bearer secret"), "{shown}");
    let region = wait_for_health(&watched.server, "fly-sin", "healthy").await;
    assert_eq!(region["servedBy"], "probe-7");
    assert_eq!(region["probe"]["version"], "9.9.9");
    assert_eq!(region["probe"]["connected"], true);
    let metrics = watched.server.nobody().get("/metrics").await.to_string();
    assert!(metrics.contains("probe_connected{region=\"fly-sin\"} 1"), "{metrics}");
    agent.stop().await;
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
}

#[tokio::test]
async fn slots_of_an_absent_probe_are_missed() {
    let watched = Watched::start().await;
    register(&watched.server, 7, &[Region::FlySin]).await;
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["fly-sin"]).await;
    watched
        .advance_until(id, async || {
            let missed = watched.stored.missed(id).await;
            let absent = missed.iter().filter(|it| it.reason == MissedReason::Disconnected);
            (absent.map(|it| it.count).sum::<u32>() >= 2).then_some(())
        })
        .await;
    assert_eq!(watched.status(id).await, "unknown", "a vanished probe is no outage");
    let caller = watched.server.caller(Scope::Write);
    let reply = caller.rpc("TriggerMonitor", json!({ "id": id.to_string() })).await;
    assert!(reply.to_string().contains("the probe of `fly-sin` is not connected"), "{reply}");
}

#[tokio::test]
async fn result_arrives_after_the_connection_returns() {
    let BehindProxy { watched, proxy, agent, .. } = BehindProxy::start().await;
    let target = HeldTarget::start().await;
    let id = monitor(&watched, &target.url, &["fly-sin"]).await;
    target.wait_until_reached().await;
    proxy.cut();
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
    target.release();
    // The slot is given up, and recorded as missed.
    watched.server.advance(Duration::from_mins(5));
    until(async || (!watched.stored.missed(id).await.is_empty()).then_some(())).await;
    let files = agent.data.path().join("results");
    until(async || std::fs::read_dir(&files).unwrap().next().map(drop)).await;
    proxy.restore();
    let results = watched.stored.at_least(1, id).await;
    let first = results.iter().map(|it| it.identity.slot).min().unwrap();
    assert_eq!(first, START, "it is the check of before the cut");
    let missed = watched.stored.missed(id).await;
    assert!(missed.iter().all(|it| it.first_slot > START), "{missed:?}");
    until(async || std::fs::read_dir(&files).unwrap().next().is_none().then_some(())).await;
    agent.stop().await;
}

#[tokio::test]
async fn stopped_probe_delivers_after_its_restart() {
    let BehindProxy { watched, probe, proxy, agent } = BehindProxy::start().await;
    let target = HeldTarget::start().await;
    let id = monitor(&watched, &target.url, &["fly-sin"]).await;
    target.wait_until_reached().await;
    proxy.cut();
    target.release();
    let files = agent.data.path().join("results");
    until(async || std::fs::read_dir(&files).unwrap().next().map(drop)).await;
    let data = agent.stop().await;
    assert_eq!(watched.stored.missed(id).await, []);
    proxy.restore();
    let agent = Agent::start_in(data, &proxy.address, &probe.token);
    assert_eq!(watched.stored.at_least(1, id).await[0].identity.slot, START);
    agent.stop().await;
}

#[tokio::test]
async fn deleted_probe_returns_its_regions() {
    let watched = Watched::start().await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let agent = Agent::start(&watched.server.address().to_string(), &probe.token);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["fly-sin"]).await;
    watched.stored.at_least(1, id).await;
    let store = watched.server.running().app().store.clone();
    store.probes().delete(probe.id, author()).await.unwrap();
    until(async || {
        let region = wait_for_health(&watched.server, "fly-sin", "healthy").await;
        (region["servedBy"] == "this server").then_some(())
    })
    .await;
    let by_server = watched.advance_until(id, async || {
        let results = watched.stored.at_least(1, id).await;
        results.into_iter().find(|it| &*it.probe.0 == "this server")
    });
    assert_eq!(by_server.await.outcome, Outcome::Success);
    agent.stop().await;
}

#[tokio::test]
async fn used_new_token_ends_the_old_one() {
    let watched = Watched::start().await;
    let probe = register(&watched.server, 7, &[Region::FlySin]).await;
    let store = watched.server.running().app().store.clone();
    let address = watched.server.address().to_string();
    let old = Agent::start(&address, &probe.token);
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    let token = probe_token::compose(probe.id, &[99; 32]);
    let rotation = NewProbeToken {
        token: KeyHash::new(token.expose()),
        previous_until: START + Duration::from_hours(24),
    };
    store.probes().rotate(probe.id, rotation, author()).await.unwrap();
    assert_eq!(refused::open(&watched.server, probe.token.expose(), 1).await.status(), 200);
    let new = Agent::start(&address, &token);
    until(async || {
        let opened = refused::open(&watched.server, probe.token.expose(), 1).await;
        (opened.status() == StatusCode::UNAUTHORIZED).then_some(())
    })
    .await;
    wait_for_health(&watched.server, "fly-sin", "healthy").await;
    old.stop().await;
    new.stop().await;
}

#[tokio::test]
async fn unknown_token_ends_the_probe_at_its_start() {
    let watched = Watched::start().await;
    let token = probe_token::compose(ProbeId::from_bits(1), &[1; 32]);
    let agent = Agent::start(&watched.server.address().to_string(), &token);
    let ended = tokio::time::timeout(PATIENCE, agent.running).await.unwrap().unwrap();
    let why = ended.unwrap_err().to_string();
    assert!(why.contains("the token is unknown, revoked or replaced"), "{why}");
}
