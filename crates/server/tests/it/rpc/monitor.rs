//! Creation, retrieval and deletion of monitors.

use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::pem;
use testkit::server::{MONITORS, TestServer};

use crate::protocols::a_monitor;

#[tokio::test]
async fn read_key_cannot_create_a_monitor() {
    // spec: §5.5, §7 row 1
    let server = TestServer::start().await;
    let reply = server.caller(Scope::Read).rpc("CreateHttpMonitor", json!({})).await;
    assert_snapshot!(reply, @r#"403 {"code":"permission_denied","message":"this key is read-only"}"#);
    assert_eq!(reply.reason().as_deref(), Some("KEY_READ_ONLY"));
}

#[tokio::test]
async fn created_monitor_has_defaults_and_outputs() {
    // spec: §2.1; design: §4
    let server = TestServer::start().await;
    let request = json!({ "monitor": { "name": "API", "url": "https://example.com/health", "periodicity": "30s" } });
    let reply = server.caller(Scope::Write).rpc("CreateHttpMonitor", request).await;
    assert_snapshot!(reply, @r#"200 {"monitor":{"id":"mon_1jkm030012kv4","name":"API","url":"https://example.com/health","periodicity":"30s","method":"GET","body":"","timeout":45000,"retry":3,"followRedirects":true,"ipVersion":"any","certificateWarnDays":0,"active":false,"public":false,"tags":[],"regions":[],"headers":[],"statusCodeAssertions":[],"bodyAssertions":[],"jsonAssertions":[],"headerAssertions":[],"status":"unknown","effectiveDegradedAt":30000,"resolvedRegions":["fly-ams","fly-iad","fly-sin"],"createdAt":"2026-11-21T00:00:00Z","updatedAt":"2026-11-21T00:00:00Z","revision":"1795219200000"},"warnings":[{"field":"monitor.active","message":"the monitor is not checked until `active` is true"}]}"#);
}

#[tokio::test]
async fn created_monitor_reads_back_equal() {
    // design: §4: no value is normalized
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let written = json!({
        "name": "  ÄPI ☂ ",
        "url": "HTTPS://Bücher.example:443/a%2fb?q=1#top",
        "periodicity": "1h",
        "method": "PATCH",
        "body": "{\"a\": 1}\n",
        "timeout": 0,
        "degradedAt": 0,
        "retry": 0,
        "followRedirects": false,
        "clientCertificate": format!("subject=ä\r\n{}\n", pem::CERTIFICATE),
        "clientKey": format!("\n{}", pem::KEY),
        "active": false,
        "public": true,
        "description": "",
        "tags": ["prod", "Team ☂"],
        "regions": ["koyeb-fra", "fly-ams"],
        "headers": [{ "key": "X-B", "value": "2" }, { "key": "X-A", "value": "" }, { "key": "X-B", "value": "1" }],
        "statusCodeAssertions": [{ "target": 599, "comparator": "lte" }, { "target": 100, "comparator": "gt" }],
        "bodyAssertions": [{ "target": "", "comparator": "empty" }],
        "jsonAssertions": [{ "path": "$.queue[?@.age > 60]", "target": "", "comparator": "empty" }],
        "headerAssertions": [{ "key": "content-type", "target": "json", "comparator": "contains" }],
    });
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": written })).await.json();
    let id = created["monitor"]["id"].clone();
    let read = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
    assert_eq!(read["monitor"]["http"], created["monitor"]);
    for (field, value) in written.as_object().unwrap() {
        // Regions are a set and are returned sorted.
        let due = if field == "regions" { json!(["fly-ams", "koyeb-fra"]) } else { value.clone() };
        assert_eq!(read["monitor"]["http"][field], due, "{field}");
    }
    assert_eq!(read["monitor"]["http"]["effectiveDegradedAt"], 0);
}

#[tokio::test]
async fn days_without_a_certificate_are_a_warning() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for (url, days, warnings) in [
        ("http://example.com/", 14, 1),
        ("https://example.com/", 14, 0),
        ("http://example.com/", 0, 0),
    ] {
        let mut monitor = a_monitor("http");
        monitor["url"] = json!(url);
        monitor["certificateWarnDays"] = json!(days);
        monitor["active"] = json!(true);
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        let given = created["warnings"].as_array().map_or(0, Vec::len);
        assert_eq!(given, warnings, "{url} {days}: {created}");
        if warnings > 0 {
            assert_eq!(created["warnings"][0]["field"], "monitor.certificate_warn_days");
        }
    }
}

#[tokio::test]
async fn every_kind_is_created_read_and_deleted() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for (kind, method) in
        [("http", "CreateHttpMonitor"), ("tcp", "CreateTcpMonitor"), ("dns", "CreateDnsMonitor")]
    {
        let created = caller.rpc(method, json!({ "monitor": a_monitor(kind) })).await;
        assert_eq!(created.status, 200, "{kind}: {created}");
        let monitor = created.json()["monitor"].clone();
        let id = &monitor["id"];
        let read = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
        assert_eq!(read, json!({ "monitor": { kind: monitor } }), "{kind}");
        let deleted = caller.rpc("DeleteMonitor", json!({ "id": id })).await;
        assert_eq!(deleted.to_string(), "200 {}", "{kind}");
        for method in ["GetMonitor", "DeleteMonitor", "TriggerMonitor", "GetMonitorStatus"] {
            let gone = caller.rpc(method, json!({ "id": id })).await;
            assert_eq!(gone.status, 404, "{kind} {method}: {gone}");
            assert_eq!(gone.reason().as_deref(), Some("NOT_FOUND"));
        }
    }
}

#[tokio::test]
async fn a_monitor_of_another_workspace_is_not_found() {
    // design: §4, errors
    let server = TestServer::start().await;
    let created = server
        .caller(Scope::Write)
        .rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") }))
        .await
        .json();
    let id = &created["monitor"]["id"];
    let mut monitor = a_monitor("tcp");
    monitor["id"] = id.clone();
    for (method, request) in [
        ("GetMonitor", json!({ "id": id })),
        ("GetMonitorStatus", json!({ "id": id })),
        ("TriggerMonitor", json!({ "id": id })),
        ("DeleteMonitor", json!({ "id": id })),
        ("UpdateTcpMonitor", json!({ "monitor": monitor })),
        // The response does not reveal that the monitor is of another kind.
        ("UpdateDnsMonitor", json!({ "monitor": { "id": id } })),
    ] {
        let reply = server.stranger().rpc(method, request).await;
        let due = format!(
            r#"404 {{"code":"not_found","message":"monitor `{}` not found in this workspace"}}"#,
            id.as_str().unwrap()
        );
        assert_eq!(reply.to_string(), due, "{method}");
    }
    let list = server.stranger().rpc("ListMonitors", json!({})).await.json();
    assert_eq!(list["totalSize"], 0);
    let still = server.caller(Scope::Write).rpc("GetMonitor", json!({ "id": id })).await;
    assert_eq!(still.status, 200);
}

#[tokio::test]
async fn secrets_are_shown_only_to_write_keys() {
    // design: §4: omit secrets instead of masking them
    let server = TestServer::start().await;
    let mut monitor = a_monitor("http");
    monitor["url"] = json!("https://ada:hunter2@example.com/");
    monitor["headers"] = json!([{ "key": "Authorization", "value": "Bearer hunter2" }]);
    let created =
        server.caller(Scope::Write).rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    let id = &created.json()["monitor"]["id"];
    let shown = |read: Value| {
        let http = &read["monitor"]["http"];
        format!("{} {}", http["url"], http["headers"])
    };
    let write = server.caller(Scope::Write).rpc("GetMonitor", json!({ "id": id })).await;
    assert_snapshot!(shown(write.json()), @r#""https://ada:hunter2@example.com/" [{"key":"Authorization","value":"Bearer hunter2"}]"#);
    let read = server.caller(Scope::Read).rpc("GetMonitor", json!({ "id": id })).await;
    assert_snapshot!(shown(read.json()), @r#""https://example.com/" [{"key":"Authorization"}]"#);
    let list = server.caller(Scope::Read).rpc("ListMonitors", json!({})).await;
    assert!(!list.to_string().contains("hunter2"), "{list}");
}

#[tokio::test]
async fn a_repeated_create_returns_the_first_ones_monitor() {
    // design: §4: create methods accept an idempotency key
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let send = async |caller: &testkit::server::Caller, key: &str, body: String| {
        let request = http::Request::post(format!("/rpc/{MONITORS}/CreateTcpMonitor"))
            .header("host", server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(bytes::Bytes::from(body).into())
            .unwrap();
        caller.request(request).await
    };
    let create = async |caller: &testkit::server::Caller, key: &str| {
        send(caller, key, json!({ "monitor": a_monitor("tcp") }).to_string()).await
    };
    let first = create(&caller, "k1").await.json();
    let spaced = format!("{:#}", json!({ "monitor": a_monitor("tcp") }));
    assert_eq!(
        send(&caller, "k1", spaced).await.json(),
        first,
        "the same message, written otherwise"
    );
    let mut other = a_monitor("tcp");
    other["name"] = json!("Another");
    let other = send(&caller, "k1", json!({ "monitor": other }).to_string()).await;
    assert_snapshot!(other, @r#"409 {"code":"already_exists","message":"this idempotency key was used by another `CreateTcpMonitor` request; send a new key"}"#);
    assert_eq!(create(&caller, "k1").await.json(), first);
    assert_ne!(create(&caller, "k2").await.json()["monitor"]["id"], first["monitor"]["id"]);
    let strangers = create(&server.stranger(), "k1").await.json();
    assert_ne!(strangers["monitor"]["id"], first["monitor"]["id"]);
    let list = caller.rpc("ListMonitors", json!({})).await.json();
    assert_eq!(list["totalSize"], 2);
    caller.rpc("DeleteMonitor", json!({ "id": first["monitor"]["id"] })).await;
    let gone = create(&caller, "k1").await;
    let id = first["monitor"]["id"].as_str().unwrap();
    assert_snapshot!(gone.to_string().replace(id, "[id]"), @r#"409 {"code":"already_exists","message":"this idempotency key created monitor `[id]`, which has been deleted; send another key to create a new one"}"#);
    let refused = create(&caller, &"k".repeat(257)).await;
    assert_snapshot!(refused, @r#"400 {"code":"invalid_argument","message":"`idempotency-key` must be 1 to 256 characters of ASCII"}"#);
}

#[tokio::test]
async fn empty_id_is_refused_and_unknown_not_found() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    assert_snapshot!(caller.rpc("GetMonitor", json!({})).await, @r#"400 {"code":"invalid_argument","message":"`id` must be given"}"#);
    for id in ["x", "mon_", "key_0000000000001", "mon_zzzzzzzzzzzzz", "' OR 1=1", "\u{0}"] {
        let reply = caller.rpc("GetMonitor", json!({ "id": id })).await;
        assert_eq!(reply.status, 404, "{id}: {reply}");
    }
}

#[tokio::test]
async fn monitor_changes_are_audited_with_the_calling_key() {
    // design: §6
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") })).await;
    let id = created.json()["monitor"]["id"].as_str().unwrap().to_owned();
    caller.rpc("DeleteMonitor", json!({ "id": id })).await;
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let entries = store.audit().newest(acme, 2).await.unwrap();
    let shown: Vec<_> = entries
        .iter()
        .map(|it| (it.action.as_str(), it.resource_id.as_str(), it.actor.clone()))
        .collect();
    let key = server.key_id(Scope::Write).to_string();
    let due = [("monitor.delete", id.as_str(), key.clone()), ("monitor.create", id.as_str(), key)];
    assert_eq!(shown, due);
}

// issue 16 point 27: "Warn on creating an inactive monitor or one whose address egress will refuse"
#[tokio::test]
async fn monitors_that_cannot_succeed_are_created_with_warnings() {
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let owner = server.caller(Scope::Write);
    for (method, monitor, expected) in [
        (
            "CreateHttpMonitor",
            json!({ "name": "a", "url": "http://127.0.0.1/", "periodicity": "1h", "active": true }),
            &["monitor.url"][..],
        ),
        (
            "CreateTcpMonitor",
            json!({ "name": "b", "uri": "10.0.0.1:5432", "periodicity": "1h" }),
            &["monitor.active", "monitor.uri"],
        ),
        (
            "CreateHttpMonitor",
            json!({ "name": "c", "url": "https://example.com/", "periodicity": "1h", "active": true }),
            &[],
        ),
    ] {
        let reply = owner.rpc(method, json!({ "monitor": monitor })).await;
        assert_eq!(reply.status, 200, "{reply}");
        let answer = reply.json();
        let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
        let fields: Vec<_> = warnings.iter().map(|it| it["field"].as_str().unwrap()).collect();
        assert_eq!(fields, expected, "{answer}");
    }
}
