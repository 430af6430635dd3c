//! Keys, scopes, workspaces and origins.

use std::num::NonZeroU32;

use rules::Scope;
use serde_json::{Value, json};
use testkit::pem;
use testkit::server::{NOTIFICATIONS, TestServer};

use super::{ask, call, data, failure, send};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn tools(server: &TestServer, scope: Scope) -> Vec<Value> {
    let message = ask(server, &server.caller(scope), "tools/list", json!({})).await;
    message["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn missing_key_is_refused_before_the_body() {
    let server = TestServer::start().await;
    for caller in [server.nobody(), server.with_key("aloft_nonsense")] {
        for body in [LIST, "not JSON"] {
            let reply = send(&server, &caller, body, &[]).await;
            assert_eq!(reply.status, 401, "{reply}");
            assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"aloft\"");
            assert_eq!(reply.headers["content-type"], "application/problem+json");
        }
    }
    let get = server.nobody().get("/mcp").await;
    assert_eq!(get.status, 401, "{get}");
}

#[tokio::test]
async fn bearer_token_is_a_key() {
    let server = TestServer::start().await;
    let token = format!("Bearer {}", server.caller(Scope::Read).key().unwrap());
    let reply = send(&server, &server.nobody(), LIST, &[("authorization", &token)]).await;
    assert_eq!(reply.status, 200, "{reply}");
    assert!(reply.headers.contains_key("ratelimit-remaining"));
    assert_eq!(reply.headers["cache-control"], "no-store");
}

#[tokio::test]
async fn read_key_sees_reading_tools_only() {
    let server = TestServer::start().await;
    let read = tools(&server, Scope::Read).await;
    let write = tools(&server, Scope::Write).await;
    assert!(read.iter().all(|tool| tool["annotations"]["readOnlyHint"] == json!(true)));
    let reading: Vec<_> =
        write.iter().filter(|tool| tool["annotations"]["readOnlyHint"] == json!(true)).collect();
    assert_eq!(reading, read.iter().collect::<Vec<_>>());
    assert!(write.len() > read.len());
}

#[tokio::test]
async fn read_key_cannot_call_a_writing_tool() {
    let server = TestServer::start().await;
    for tool in tools(&server, Scope::Write).await {
        if tool["annotations"]["readOnlyHint"] == json!(true) {
            continue;
        }
        let name = tool["name"].as_str().unwrap();
        let result = call(&server, Scope::Read, name, json!({})).await;
        let expected = format!(
            "`{name}` needs a key with the scope write, and this key has the scope read; connect with a write key"
        );
        assert_eq!(failure(&result), expected);
        assert_eq!(result["structuredContent"]["reason"], "KEY_READ_ONLY");
    }
}

#[tokio::test]
async fn ids_of_another_workspace_are_not_found() {
    let server = TestServer::start().await;
    let new = json!({ "monitor": { "name": "theirs", "uri": "localhost:1", "periodicity": "1h" } });
    let theirs =
        server.stranger().rpc("CreateTcpMonitor", new).await.json()["monitor"]["id"].clone();
    for (tool, arguments) in [
        ("get_monitor", json!({ "id": theirs })),
        ("get_monitor_status", json!({ "id": theirs })),
        ("pause_monitor", json!({ "id": theirs, "notify": true })),
        ("update_tcp_monitor", json!({ "monitor": { "id": theirs, "name": "ours" } })),
        ("trigger_monitor", json!({ "id": theirs })),
        ("delete_monitor", json!({ "id": theirs, "notify": true })),
    ] {
        let result = call(&server, Scope::Write, tool, arguments).await;
        assert!(failure(&result).contains("not found in this workspace"), "{tool}: {result}");
        assert_eq!(result["structuredContent"]["code"], "not_found");
    }
}

#[tokio::test]
async fn write_key_reads_no_secrets() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let monitor = json!({ "monitor": {
        "name": "secretive",
        "url": "https://user:hunter2@example.com/?token=hunter2",
        "periodicity": "1h",
        "method": "POST",
        "body": "hunter2",
        "headers": [{ "key": "authorization", "value": "hunter2" }],
        "clientCertificate": pem::CERTIFICATE,
        "clientKey": format!("hunter2\n{}", pem::KEY),
    } });
    let created = caller.rpc("CreateHttpMonitor", monitor.clone()).await;
    let id = created.json()["monitor"]["id"].clone();
    assert!(created.to_string().contains("hunter2"));
    let channel = json!({ "notification": {
        "name": "On call",
        "providerType": "webhook",
        "webhook": { "endpoint": "https://example.com/hunter2" },
        "monitorIds": [id],
    } });
    let created = caller.call(NOTIFICATIONS, "CreateNotification", channel).await;
    assert_eq!(created.status, 200, "{created}");
    let rename = json!({ "monitor": { "id": id, "name": "renamed" } });
    for (tool, arguments) in [
        ("get_monitor", json!({ "id": id })),
        ("list_monitors", json!({})),
        ("list_channels", json!({})),
        ("update_http_monitor", rename),
        ("create_http_monitor", monitor),
        ("resume_monitor", json!({ "id": id })),
    ] {
        let result = call(&server, Scope::Write, tool, arguments).await;
        assert_eq!(result["isError"], json!(false), "{tool}: {result}");
        assert!(!result.to_string().contains("hunter2"), "{tool}: {result}");
    }
    // The secrets that the assistant cannot read are still there.
    let stored = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
    let stored = &stored["monitor"]["http"];
    assert_eq!((&stored["name"], &stored["body"]), (&json!("renamed"), &json!("hunter2")));
    assert_eq!(stored["headers"][0]["value"], "hunter2");
    assert!(stored["clientKey"].as_str().unwrap().contains("hunter2"));
    assert!(stored["url"].as_str().unwrap().contains("hunter2"));
}

#[tokio::test]
async fn change_is_audited_as_that_of_the_key() {
    let server = TestServer::start().await;
    let new = json!({ "monitor": { "name": "Shop", "uri": "localhost:1", "periodicity": "1h" } });
    data(&server, "create_tcp_monitor", new).await;
    let caller = server.caller(Scope::Read);
    let log = caller.call("audit.v1.AuditService", "ListAuditEntries", json!({})).await.json();
    let entry = &log["entries"][0];
    assert_eq!(entry["actor"], json!(server.key_id(Scope::Write).to_string()), "{log}");
    assert_eq!(entry["address"], "127.0.0.1", "{log}");
}

#[tokio::test]
async fn foreign_origin_is_refused() {
    let server =
        TestServer::start_with(|it| it.public_url = Some("https://aloft.example.com".to_owned()))
            .await;
    let caller = server.caller(Scope::Read);
    for (origin, status) in [
        ("https://aloft.example.com", 200),
        ("http://localhost:6274", 200),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        let reply = send(&server, &caller, LIST, &[("origin", origin)]).await;
        assert_eq!(reply.status.as_u16(), status, "{origin}: {reply}");
    }
    let reply = send(&server, &caller, LIST, &[("host", "aloft.example.com")]).await;
    assert_eq!(reply.status, 200, "a public host name works: {reply}");
}

#[tokio::test]
async fn calls_count_for_the_limit_of_the_key() {
    let few = NonZeroU32::new(2).unwrap();
    let server = TestServer::start_with(|it| {
        it.calls_per_second = NonZeroU32::MIN;
        it.calls_burst = few;
    })
    .await;
    let caller = server.caller(Scope::Read);
    let mut last = send(&server, &caller, LIST, &[]).await;
    for _ in 0..2 {
        last = send(&server, &caller, LIST, &[]).await;
    }
    assert_eq!(last.status, 429, "{last}");
    assert!(last.headers.contains_key("retry-after"));
}
