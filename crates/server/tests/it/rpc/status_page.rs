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

/// A server, and a caller who may write.
async fn start() -> (TestServer, Caller) {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    (server, caller)
}

async fn call(caller: &Caller, method: &str, request: Value) -> Reply {
    caller.call(STATUS_PAGES, method, request).await
}

/// What a method answered under `field`; it must have answered.
async fn done(caller: &Caller, method: &str, field: &str, request: Value) -> Value {
    let reply = call(caller, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}

/// A new page with this slug.
async fn a_page(caller: &Caller, slug: &str) -> Value {
    let request = json!({ "statusPage": { "title": "Acme", "slug": slug } });
    done(caller, "CreateStatusPage", "statusPage", request).await
}

/// The id of a new monitor.
async fn monitor(caller: &Caller) -> Value {
    let request = json!({ "monitor": a_monitor("tcp") });
    caller.rpc("CreateTcpMonitor", request).await.json()["monitor"]["id"].clone()
}

/// A new component of this page, with these fields.
async fn a_component(caller: &Caller, page: &Value, fields: Value) -> Value {
    let mut component = json!({ "pageId": page["id"], "type": "static", "name": "Mail" });
    if fields["type"] == "monitor" {
        component.as_object_mut().unwrap().remove("name");
    }
    merge(&mut component, fields);
    done(caller, "CreateComponent", "component", json!({ "component": component })).await
}

/// A new group of this page.
async fn a_group(caller: &Caller, page: &Value) -> Value {
    let group = json!({ "pageId": page["id"], "name": "Core" });
    let request = json!({ "componentGroup": group });
    done(caller, "CreateComponentGroup", "componentGroup", request).await
}

/// Puts the fields of one object into another.
fn merge(into: &mut Value, fields: Value) {
    if let (Value::Object(into), Value::Object(fields)) = (into, fields) {
        into.extend(fields);
    }
}

/// Paths of the fields that a refusal names.
fn paths(reply: &Reply) -> Vec<String> {
    let violations = reply.error().map(|error| contract::rpc::field_violations(&error));
    violations.unwrap_or_default().into_iter().map(|violation| violation.field).collect()
}

/// What the write key did, newest first: the audit's actions, with what was concerned.
async fn audited(server: &TestServer) -> Vec<(String, String)> {
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let key = server.key_id(Scope::Write).to_string();
    let entries = store.audit().newest(acme, 50).await.unwrap();
    let own = entries.into_iter().filter(|entry| entry.actor == key);
    own.map(|entry| (entry.action, entry.resource_id)).collect()
}
