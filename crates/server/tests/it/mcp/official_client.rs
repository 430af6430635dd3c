//! The protocol's official client for TypeScript walks all tools. `cargo xtask setup` installs it.

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{NOTIFICATIONS, STATUS_PAGES, TestServer};
use testkit::tools;
use tokio::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn official_client_walks_all_tools() {
    // issue 20, point 5: "tested with an official client library"
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let create = async |service: &str, method: &str, request: Value, resource: &str| {
        let reply = caller.call(service, method, request).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()[resource]["id"].clone()
    };
    let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = create(STATUS_PAGES, "CreateStatusPage", page, "statusPage").await;
    let component = json!({ "component": { "pageId": page, "type": "static", "name": "Shop" } });
    let component = create(STATUS_PAGES, "CreateComponent", component, "component").await;
    let channel = json!({ "notification": {
        "name": "Closed", "providerType": "webhook", "webhook": { "endpoint": "http://localhost:1/" },
    } });
    let channel = create(NOTIFICATIONS, "CreateNotification", channel, "notification").await;
    let package = tools::installed("mcp/node_modules/@modelcontextprotocol/sdk", "a client of MCP");
    let options = json!({
        "packages": package.ancestors().nth(3),
        "url": format!("http://{}/mcp", server.address()),
        "keys": { "read": server.caller(Scope::Read).key(), "write": caller.key() },
        "page": page, "component": component, "channel": channel,
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/walk.mjs");
    let output = Command::new("node").args([script, &options.to_string()]).output().await;
    let output = output.expect("the client runs on Node.js: run `cargo xtask setup`");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["server"], &answer["missed"]), (&json!("aloft"), &json!([])), "{answer}");
    assert_eq!(answer["readable"], json!(21), "{answer}");
}
