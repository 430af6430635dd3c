//! Which regions there are, and who serves them.

use http::Method;
use rules::Scope;
use serde_json::json;
use testkit::server::TestServer;

const LIST: &str = "/rpc/region.v1.RegionService/ListRegions";

#[tokio::test]
async fn all_28_regions_are_listed_and_the_server_stands_in_for_each() {
    // spec: §8.3
    let server = TestServer::start().await;
    let reply = server.caller(Scope::Read).send(Method::POST, LIST, "application/json", "{}").await;
    let regions = reply.json()["regions"].as_array().unwrap().clone();
    assert_eq!(regions.len(), 28);
    for region in &regions {
        assert_eq!((&region["servedBy"], &region["standsIn"]), (&json!("embedded"), &json!(true)));
        assert_eq!(region["health"], "healthy");
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
