//! The tools themselves: their arguments, results and failures.

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{NOTIFICATIONS, STATUS_PAGES, TestServer};

use super::{call, data, failure};

async fn monitor(server: &TestServer, name: &str) -> String {
    let new = json!({ "monitor": {
        "name": name, "uri": "localhost:1", "periodicity": "1h", "active": true, "retry": 0, "tags": ["shop"],
    } });
    let created = data(server, "create_tcp_monitor", new).await;
    created["monitor"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whoami_names_workspace_and_scope() {
    let server = TestServer::start().await;
    let answer = call(&server, Scope::Read, "whoami", json!({})).await;
    let answer = &answer["structuredContent"];
    assert_eq!(answer["workspace"]["slug"], "acme");
    assert_eq!(answer["key"], json!({ "scope": "read" }));
}

#[tokio::test]
async fn result_has_a_sentence_and_the_contracts_json() {
    let server = TestServer::start().await;
    monitor(&server, "Shop").await;
    monitor(&server, "Mail").await;
    let result = call(&server, Scope::Read, "list_monitors", json!({ "limit": 1 })).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    insta::assert_snapshot!(text, @"List monitors: 0 httpMonitors, 1 tcpMonitors, 0 dnsMonitors, 0 heartbeatMonitors. More exist: call again with `pageToken` set to `nextPageToken`.");
    let again: Value =
        serde_json::from_str(result["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(again, result["structuredContent"]);
    let token = &result["structuredContent"]["nextPageToken"];
    let rest = data(&server, "list_monitors", json!({ "limit": 1, "pageToken": token })).await;
    assert_eq!(rest["tcpMonitors"][0]["name"], "Shop", "{rest}");
}

#[tokio::test]
async fn update_changes_the_given_fields_only() {
    let server = TestServer::start().await;
    let id = monitor(&server, "Shop").await;
    let change = json!({ "monitor": { "id": id, "name": "Checkout" } });
    let changed = data(&server, "update_tcp_monitor", change).await;
    assert_eq!(changed["monitor"]["name"], "Checkout");
    assert_eq!(changed["monitor"]["tags"], json!(["shop"]));
    assert_eq!(changed["monitor"]["active"], json!(true));
}

#[tokio::test]
async fn monitor_of_each_kind_can_be_paused() {
    let server = TestServer::start().await;
    let http = json!({ "monitor": { "name": "h", "url": "http://localhost:1", "periodicity": "1h", "active": true } });
    let dns = json!({ "monitor": { "name": "d", "uri": "localhost", "periodicity": "1h", "active": true,
        "recordAssertions": [{ "record": "A", "comparator": "eq", "target": "127.0.0.1" }] } });
    let http = data(&server, "create_http_monitor", http).await["monitor"]["id"].clone();
    let dns = data(&server, "create_dns_monitor", dns).await["monitor"]["id"].clone();
    let tcp = json!(monitor(&server, "t").await);
    let heartbeat = json!({ "monitor": { "name": "b", "interval": 60, "active": true } });
    let heartbeat = data(&server, "create_heartbeat_monitor", heartbeat).await;
    for id in [http, tcp, dns, heartbeat["monitor"]["id"].clone()] {
        for (tool, active) in
            [("pause_monitor", false), ("pause_monitor", false), ("resume_monitor", true)]
        {
            let mut arguments = json!({ "id": id });
            if !active {
                arguments["notify"] = json!(true);
            }
            let answer = data(&server, tool, arguments).await;
            assert_eq!(answer["monitor"]["active"], json!(active), "{tool}: {answer}");
        }
    }
}

#[tokio::test]
async fn results_omit_the_url_of_a_heartbeat_monitor() {
    let server = TestServer::start().await;
    let new = json!({ "monitor": { "name": "Backup", "interval": 3_600 } });
    let created = data(&server, "create_heartbeat_monitor", new).await;
    let id = json!({ "id": created["monitor"]["id"] });
    let read = data(&server, "get_monitor", id.clone()).await;
    let rotated = data(&server, "rotate_heartbeat_url", id).await;
    for answer in [created, read, rotated] {
        assert!(!answer.to_string().contains("/heartbeat/"), "{answer}");
    }
}

#[tokio::test]
async fn list_broken_finds_a_monitor_that_is_down() {
    let server = TestServer::start().await;
    let nothing = data(&server, "list_broken", json!({})).await;
    assert_eq!((&nothing["brokenMonitors"], &nothing["isComplete"]), (&json!([]), &json!(true)));
    let id = monitor(&server, "Shop").await;
    data(&server, "trigger_monitor", json!({ "id": id })).await;
    let broken = data(&server, "list_broken", json!({})).await;
    let expected = json!([{ "id": id, "name": "Shop", "kind": "tcp", "status": "error" }]);
    assert_eq!(broken["brokenMonitors"], expected, "{broken}");
    assert_eq!(broken["openIncidentsTotal"], json!(1));
    let incident = broken["openIncidents"][0]["id"].clone();
    let said = json!({ "id": incident, "text": "Looking into it." });
    data(&server, "comment_incident", said).await;
    data(&server, "acknowledge_incident", json!({ "id": incident })).await;
    let found = data(&server, "get_incident", json!({ "id": incident })).await;
    assert!(found["incident"]["acknowledgedBy"].is_object(), "{found}");
    let resolved =
        data(&server, "resolve_incident", json!({ "id": incident, "notify": true })).await;
    assert_eq!(resolved["incident"]["state"], "closed");
}

#[tokio::test]
async fn tool_that_notifies_needs_consent() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = caller.call(STATUS_PAGES, "CreateStatusPage", page).await;
    assert_eq!(page.status, 200, "{page}");
    let page = page.json()["statusPage"]["id"].clone();
    let report = json!({
        "statusReport": { "pageId": page, "title": "Slow checkout" },
        "update": { "status": "investigating", "text": "We look into it." },
    });
    for (tool, arguments) in [
        ("create_status_report", report.clone()),
        ("resolve_incident", json!({ "id": "inc_0000000000001" })),
        ("resolve_incident", json!({ "id": "inc_0000000000001", "notify": false })),
        ("test_channel", json!({ "id": "chn_0000000000001", "notify": "true" })),
        ("pause_monitor", json!({ "id": "mon_0000000000001" })),
        ("delete_maintenance", json!({ "id": "mnt_0000000000001" })),
    ] {
        let result = call(&server, Scope::Write, tool, arguments).await;
        assert!(failure(&result).starts_with("`notify` must be true"), "{tool}: {result}");
        assert_eq!(result["structuredContent"]["violations"][0]["field"], "notify");
    }
    let mut report = report;
    report["notify"] = json!(false);
    let created = data(&server, "create_status_report", report).await;
    assert_eq!(created["statusReport"]["updates"][0]["notified"], json!(false), "{created}");
}

#[tokio::test]
async fn test_of_a_channel_offers_stored_channels_only() {
    let server = TestServer::start().await;
    let arguments = json!({ "notification": { "name": "x" }, "notify": true });
    let result = call(&server, Scope::Write, "test_channel", arguments).await;
    insta::assert_snapshot!(failure(&result), @"`notification` is unknown; expected one of id, notify");
    let caller = server.caller(Scope::Write);
    let listed = caller.call(NOTIFICATIONS, "ListNotifications", json!({})).await.json();
    assert_eq!(listed["totalSize"], json!(0));
}

#[tokio::test]
async fn invalid_argument_names_field_and_remedy() {
    let server = TestServer::start().await;
    let mut shown = Vec::new();
    for (tool, arguments) in [
        ("create_http_monitor", json!({})),
        (
            "create_http_monitor",
            json!({ "monitor": { "name": "", "url": "ftp://x", "periodicity": "2m" } }),
        ),
        (
            "create_http_monitor",
            json!({ "monitor": { "name": "a", "url": "http://a", "periodicity": "1m", "colour": 1 } }),
        ),
        ("list_monitors", json!({ "limit": 1000 })),
        ("list_monitors", json!({ "offset": 1 })),
        ("get_monitor", json!({ "id": 7 })),
        ("get_response_log", json!({ "id": "log_1" })),
        ("whoami", json!({ "id": "x" })),
        ("update_tcp_monitor", json!({ "monitor": { "name": "x" } })),
        ("create_tcp_monitor", json!({ "idempotencyKey": "a\nb", "monitor": {} })),
        (
            "update_http_monitor",
            json!({ "monitor": { "id": "mon_0000000000001", "status": "error" } }),
        ),
        (
            "update_http_monitor",
            json!({ "monitor": { "id": "mon_0000000000001", "active": false } }),
        ),
    ] {
        let result = call(&server, Scope::Write, tool, arguments).await;
        shown.push(format!("{tool}: {}", failure(&result)));
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    create_http_monitor: `monitor` must be given. Fix the fields listed in the violations.
    create_http_monitor: `monitor.name` must not be empty; `monitor.periodicity` must be one of 30s, 1m, 5m, 10m, 30m, 1h (given: `2m`); `monitor.url` must be an absolute URL that begins with http:// or https:// (given: `ftp://x`). Fix the fields listed in the violations.
    create_http_monitor: `monitor.colour` is not a field of monitor.v1.HttpMonitor. Fix the fields listed in the violations.
    list_monitors: `limit` must be 1 to 100 (given: `1000`). Fix the fields listed in the violations.
    list_monitors: `offset` is unknown; expected one of limit, pageToken, tags
    get_monitor: `id` must be a string (given: `a number`). Fix the fields listed in the violations.
    get_response_log: `monitorId` must be given. Fix the fields listed in the violations.
    whoami: `id` is unknown; this tool has no arguments
    update_tcp_monitor: `monitor.id` must be given. Fix the fields listed in the violations.
    create_tcp_monitor: `idempotencyKey` must be ASCII without line breaks. Fix the body: the message names the field or the position.
    update_http_monitor: monitor `mon_0000000000001` not found in this workspace. Check the id and the workspace of the key.
    update_http_monitor: `monitor.active` cannot be changed by this tool; its description names another one
    ");
}

#[tokio::test]
async fn idempotency_key_creates_once() {
    let server = TestServer::start().await;
    let new = json!({
        "monitor": { "name": "once", "uri": "localhost:1", "periodicity": "1h" },
        "idempotencyKey": "3f0a",
    });
    let first = data(&server, "create_tcp_monitor", new.clone()).await;
    let second = data(&server, "create_tcp_monitor", new).await;
    assert_eq!(first["monitor"]["id"], second["monitor"]["id"]);
}

#[tokio::test]
async fn too_long_result_is_refused_with_advice() {
    let server = TestServer::start().await;
    for number in 0..20 {
        let assertions: Vec<Value> = (0..2)
            .map(|_| json!({ "target": "x".repeat(8192), "comparator": "contains" }))
            .collect();
        let new = json!({ "monitor": {
            "name": format!("m{number}"), "url": "http://localhost:1", "periodicity": "1h",
            "bodyAssertions": assertions,
        } });
        data(&server, "create_http_monitor", new).await;
    }
    let result = call(&server, Scope::Write, "list_monitors", json!({})).await;
    assert!(failure(&result).contains("ask for less"), "{}", failure(&result));
    data(&server, "list_monitors", json!({ "limit": 5 })).await;
}
