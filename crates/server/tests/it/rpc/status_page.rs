//! Status pages, components and groups over RPC, one file per resource.

mod component;
mod group;
mod limits;
mod overview;
mod page;
mod subscriber;

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, STATUS_PAGES, TestServer};

use crate::protocols::a_monitor;

/// Starts a server and returns it with its write caller.
async fn start() -> (TestServer, Caller) {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    (server, caller)
}

async fn call(caller: &Caller, method: &str, request: Value) -> Reply {
    caller.call(STATUS_PAGES, method, request).await
}

/// Calls a method that must succeed and returns `field` from its response.
async fn done(caller: &Caller, method: &str, field: &str, request: Value) -> Value {
    let reply = call(caller, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}

/// Creates a page with this slug.
async fn a_page(caller: &Caller, slug: &str) -> Value {
    let request = json!({ "statusPage": { "title": "Acme", "slug": slug } });
    done(caller, "CreateStatusPage", "statusPage", request).await
}

/// Creates a monitor and returns its ID.
async fn monitor(caller: &Caller) -> Value {
    let request = json!({ "monitor": a_monitor("tcp") });
    caller.rpc("CreateTcpMonitor", request).await.json()["monitor"]["id"].clone()
}

/// Creates a component on this page, with these fields.
async fn a_component(caller: &Caller, page: &Value, fields: Value) -> Value {
    let mut component = json!({ "pageId": page["id"], "type": "static", "name": "Mail" });
    if fields["type"] == "monitor" {
        component.as_object_mut().unwrap().remove("name");
    }
    merge(&mut component, fields);
    done(caller, "CreateComponent", "component", json!({ "component": component })).await
}

/// Creates a group on this page.
async fn a_group(caller: &Caller, page: &Value) -> Value {
    let group = json!({ "pageId": page["id"], "name": "Core" });
    let request = json!({ "componentGroup": group });
    done(caller, "CreateComponentGroup", "componentGroup", request).await
}

/// Copies the fields of one object into another.
fn merge(into: &mut Value, fields: Value) {
    if let (Value::Object(into), Value::Object(fields)) = (into, fields) {
        into.extend(fields);
    }
}

/// Returns the paths of the fields in the violations of an error.
fn paths(reply: &Reply) -> Vec<String> {
    let violations = reply.error().map(|error| contract::rpc::field_violations(&error));
    violations.unwrap_or_default().into_iter().map(|violation| violation.field).collect()
}

/// Returns the audited actions of the write key with their targets, newest first.
async fn audited(server: &TestServer) -> Vec<(String, String)> {
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let key = server.key_id(Scope::Write).to_string();
    let entries = store.audit().newest(acme, 50).await.unwrap();
    let own = entries.into_iter().filter(|entry| entry.actor == key);
    own.map(|entry| (entry.action, entry.resource_id)).collect()
}
