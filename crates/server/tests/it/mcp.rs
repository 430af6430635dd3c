//! `/mcp`: assistants with a key. Messages are built by hand here; `official_client` uses the protocol's own
//! client library.

mod access;
mod official_client;
mod protocol;
mod tools;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::Full;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, TestServer};

/// Version of the protocol that most assistants speak.
const VERSION: &str = "2025-06-18";

/// Sends a message to a server with this caller's key, and with these headers instead of the usual ones.
async fn send(
    server: &TestServer,
    caller: &Caller,
    body: impl Into<Bytes>,
    headers: &[(&'static str, &str)],
) -> Reply {
    let mut all = HeaderMap::new();
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", VERSION),
    ]
    .iter()
    .chain(headers)
    {
        all.insert(*name, value.parse().unwrap());
    }
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", server.address().to_string())
        .body(Full::new(body.into()))
        .unwrap();
    request.headers_mut().extend(all);
    caller.request(request).await
}

/// Calls a method of the protocol and returns the whole message.
async fn ask(server: &TestServer, caller: &Caller, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let reply = send(server, caller, message.to_string(), &[]).await;
    assert_eq!(reply.status, 200, "{reply}");
    assert_eq!(reply.headers["content-type"], "application/json", "{reply}");
    reply.json()
}

/// Calls a tool and returns its result.
async fn call(server: &TestServer, scope: Scope, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let message = ask(server, &server.caller(scope), "tools/call", params).await;
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

/// Calls a tool with a write key and returns its data.
async fn data(server: &TestServer, tool: &str, arguments: Value) -> Value {
    let result = call(server, Scope::Write, tool, arguments).await;
    assert_eq!(result["isError"], json!(false), "{result}");
    result["structuredContent"].clone()
}

/// Returns the text of a failed result.
fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], json!(true), "{result}");
    result["content"][0]["text"].as_str().unwrap()
}
