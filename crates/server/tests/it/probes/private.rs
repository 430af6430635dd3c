//! Private regions: each workspace has its own, with its own probes, and nobody else checks there.

use domain::cadence::MissedReason;
use remote::nats::jobs_stream;
use rules::{Region, Scope};
use serde_json::json;
use store::ProbeOwner;
use testkit::nats::NatsServer;
use testkit::target::{HttpTarget, ScriptedResponse};

use super::nats::{agent as nats_agent, client, watched as watched_with_nats};
use super::{Agent, Registered, monitor, register_for, wait_for_health};
use crate::pipeline::{Watched, until};

const REGIONS: &str = "region.v1.RegionService";

/// Stores a probe of the first workspace's region `private-1`.
async fn office(watched: &Watched, id: u64) -> Registered {
    let workspace = watched.server.workspace();
    register_for(&watched.server, ProbeOwner::Workspace(workspace), id, &[Region::Private1]).await
}

// issue 19, point 1: "A workspace may register private regions (`private-…`)"
#[tokio::test]
async fn private_region_is_checked_by_its_probe() {
    let watched = Watched::start().await;
    let probe = office(&watched, 7).await;
    let agent = Agent::start(&watched.server.address().to_string(), &probe.token);
    let region = wait_for_health(&watched.server, "private-1", "healthy").await;
    assert_eq!((&region["city"], &region["group"]), (&json!("probe-7"), &json!("private")));
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(500));
    let id = monitor(&watched, &target.url("/"), &["private-1"]).await;
    let results = watched.stored.at_least(1, id).await;
    assert!(results.iter().all(|it| &*it.probe.0 == "probe-7"), "{results:?}");
    let incident = watched.stored.incident(id, |_| true).await;
    let request = json!({ "id": incident.id.to_string() });
    let caller = watched.server.caller(Scope::Read);
    let shown = caller.call("incident.v1.IncidentService", "GetIncident", request).await.json();
    assert_eq!(shown["evidence"][0]["place"], "probe-7", "{shown}");
    agent.stop().await;
}

#[tokio::test]
async fn private_region_is_unknown_to_other_workspaces() {
    let watched = Watched::start().await;
    let probe = office(&watched, 7).await;
    let agent = Agent::start(&watched.server.address().to_string(), &probe.token);
    wait_for_health(&watched.server, "private-1", "healthy").await;
    let stranger = watched.server.stranger();
    let listed = stranger.call(REGIONS, "ListRegions", json!({})).await.json();
    let all = listed["regions"].as_array().unwrap();
    assert_eq!(all.len(), Region::PUBLIC.len(), "{listed}");
    let new = json!({ "monitor": {
        "name": "inside", "url": "http://127.0.0.1:9/", "periodicity": "30s",
        "regions": ["private-1"], "active": true,
    }});
    let refused = stranger.rpc("CreateHttpMonitor", new).await;
    assert_eq!(refused.status, 400, "{refused}");
    let text = refused.to_string();
    assert!(text.contains("must not name `private-1`, because it has no probe"), "{text}");
    agent.stop().await;
}

#[tokio::test]
async fn nobody_checks_a_private_region_without_probe() {
    let watched = Watched::start().await;
    let probe = office(&watched, 7).await;
    let agent = Agent::start(&watched.server.address().to_string(), &probe.token);
    wait_for_health(&watched.server, "private-1", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["private-1"]).await;
    watched.stored.at_least(1, id).await;
    let store = watched.server.running().app().store.clone();
    store.probes().delete(probe.id, super::author()).await.unwrap();
    watched
        .advance_until(id, async || {
            let missed = watched.stored.missed(id).await;
            missed.iter().find(|it| it.reason == MissedReason::Disconnected).map(drop)
        })
        .await;
    let results = watched.stored.at_least(1, id).await;
    assert!(results.iter().all(|it| &*it.probe.0 == "probe-7"), "this server checks nothing there");
    watched.advance_until(id, async || (watched.status(id).await == "unknown").then_some(())).await;
    agent.stop().await;
}

#[tokio::test]
async fn probes_of_private_regions_share_no_queue() {
    let nats = NatsServer::start("");
    let watched = watched_with_nats(&nats).await;
    let probe = office(&watched, 7).await;
    let other = watched.server.stranger_workspace();
    let elsewhere =
        register_for(&watched.server, ProbeOwner::Workspace(other), 8, &[Region::Private1]).await;
    let (first, second) = (nats_agent(&nats, &probe), nats_agent(&nats, &elsewhere));
    wait_for_health(&watched.server, "private-1", "healthy").await;
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let id = monitor(&watched, &target.url("/"), &["private-1"]).await;
    let results = watched.stored.at_least(1, id).await;
    assert!(results.iter().all(|it| &*it.probe.0 == "probe-7"), "{results:?}");
    let (_, jetstream) = client(&nats, &elsewhere).await;
    let other_queue = jetstream.get_stream(jobs_stream(elsewhere.id, Region::Private1)).await;
    assert_eq!(other_queue.unwrap().cached_info().state.last_sequence, 0, "it never had a job");
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn queues_of_deleted_probe_are_deleted() {
    let nats = NatsServer::start("");
    let watched = watched_with_nats(&nats).await;
    let probe = office(&watched, 7).await;
    let agent = nats_agent(&nats, &probe);
    wait_for_health(&watched.server, "private-1", "healthy").await;
    let (_, jetstream) = client(&nats, &probe).await;
    let queue = jobs_stream(probe.id, Region::Private1);
    assert!(jetstream.get_stream(&queue).await.is_ok());
    let store = watched.server.running().app().store.clone();
    store.probes().delete(probe.id, super::author()).await.unwrap();
    until(async || jetstream.get_stream(&queue).await.err()).await;
    agent.stop().await;
}
