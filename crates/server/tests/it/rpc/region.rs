//! Regions and the probes that serve them.

use http::Method;
use rules::Scope;
use serde_json::Value;
use serde_json::json;
use testkit::server::TestServer;
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::net::TcpListener;

use crate::pipeline::{PERIOD, Watched, until};

const LIST: &str = "/rpc/region.v1.RegionService/ListRegions";

async fn regions(server: &TestServer) -> Vec<Value> {
    let reply = server.caller(Scope::Read).send(Method::POST, LIST, "application/json", "{}").await;
    reply.json()["regions"].as_array().unwrap().clone()
}

async fn amsterdam(server: &TestServer) -> Value {
    let regions = regions(server).await;
    regions.into_iter().find(|region| region["id"] == "fly-ams").unwrap()
}

#[tokio::test]
async fn all_28_regions_fall_back_to_this_server() {
    // spec: §8.3
    let server = TestServer::start().await;
    let regions = regions(&server).await;
    assert_eq!(regions.len(), 28);
    for region in &regions {
        assert_eq!(
            (&region["servedBy"], &region["isFallback"]),
            (&json!("this server"), &json!(true))
        );
        assert_eq!(region["health"], "healthy");
        assert_eq!(region.get("lastSeenAt"), None, "nothing was checked yet");
    }
    let defaults: Vec<&str> = regions
        .iter()
        .filter(|region| region["default"] == true)
        .map(|region| region["id"].as_str().unwrap())
        .collect();
    assert_eq!(defaults, ["fly-ams", "fly-iad", "fly-sin"]);
    let amsterdam = regions.iter().find(|region| region["id"] == "fly-ams").unwrap();
    let place = json!([amsterdam["group"], amsterdam["city"], amsterdam["country"]]);
    assert_eq!(place, json!(["fly", "Amsterdam", "NL"]));
}

#[tokio::test]
async fn last_seen_is_end_of_latest_check() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let monitor = watched.monitor(&target.url("/")).await;
    watched.stored.at_least(1, monitor).await;
    let first = amsterdam(&watched.server).await;
    assert_eq!(first["lastSeenAt"], "2026-11-21T00:00:00Z");
    watched.server.advance(PERIOD);
    watched.stored.at_least(2, monitor).await;
    let next = amsterdam(&watched.server).await;
    assert_eq!(
        (&next["lastSeenAt"], &next["health"]),
        (&json!("2026-11-21T00:00:30Z"), &json!("healthy"))
    );
}

#[tokio::test]
async fn region_with_overdue_unfinished_checks_is_stalled() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let watched = Watched::start().await;
    watched.monitor(&format!("http://{}/", silent.local_addr().unwrap())).await;
    let _running = silent.accept().await.unwrap();
    assert_eq!(amsterdam(&watched.server).await["health"], "healthy");
    // An attempt may take 120 s. A result is overdue one period and 120 s after its slot.
    watched.server.advance(8 * PERIOD);
    until(async || (amsterdam(&watched.server).await["health"] == "stalled").then_some(())).await;
    let elsewhere = regions(&watched.server).await;
    let stalled: Vec<&Value> =
        elsewhere.iter().filter(|region| region["health"] == "stalled").collect();
    assert_eq!(stalled.len(), 1, "nothing is due in other regions");
}

#[tokio::test]
async fn the_operator_says_where_checks_come_from() {
    let server = TestServer::start_with(|settings| {
        settings.egress_addresses =
            vec!["192.0.2.7".parse().unwrap(), "2001:db8::7".parse().unwrap()];
    })
    .await;
    let amsterdam = amsterdam(&server).await;
    assert_eq!(amsterdam["egressAddresses"], json!(["192.0.2.7", "2001:db8::7"]));
}
