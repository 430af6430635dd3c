//! Features that the `terraform` of the `PATH` is too old for, by a client on go-plugin's own module: identity
//! (1.12), list resources and actions (1.14).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

#[expect(dead_code, reason = "the framework's own client, of which its tests use more")]
#[path = "../../../terraform-plugin/tests/it/host.rs"]
mod host;
mod notebook;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::TestServer;
use testkit::target::TcpTarget;
use tokio::net::TcpListener;

use crate::host::{Host, value};

const MONITORS: &str = "monitor.v1.MonitorService";
const CHANNELS: &str = "notification.v1.NotificationService";
const PAGES: &str = "status_page.v1.StatusPageService";

/// Returns the provider, configured for a server.
fn host(server: &TestServer) -> Host {
    let mut host = Host::start_example("service");
    let config = json!({
        "api_token": server.caller(Scope::Write).key(),
        "base_url": format!("http://{}/rpc", server.address()),
        "request_timeout": null,
        "max_retries": null,
    });
    assert_eq!(host.call("ConfigureProvider", json!({ "config": value(config) })), json!({}));
    host
}

async fn create(server: &TestServer, service: &str, method: &str, request: Value) -> String {
    let member = request.as_object().unwrap().keys().next().unwrap().clone();
    let reply = server.caller(Scope::Write).call(service, method, request).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()[member]["id"].as_str().unwrap().to_owned()
}

async fn tcp(server: &TestServer, name: &str, uri: &str) -> String {
    let monitor = json!({ "name": name, "uri": uri, "periodicity": "1m", "active": true });
    create(server, MONITORS, "CreateTcpMonitor", json!({ "monitor": monitor })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn list_finds_resources_as_an_import_reads_them() {
    let server = TestServer::start().await;
    let dns = json!({ "name": "Zone", "uri": "example.com", "periodicity": "1m" });
    create(&server, MONITORS, "CreateDnsMonitor", json!({ "monitor": dns })).await;
    for at in 0..120 {
        tcp(&server, &format!("m{at}"), "example.com:443").await;
    }
    let mut host = host(&server);
    let mut search = |resource: &str, config: Value, limit: u64| {
        let request = json!({
            "type_name": resource, "config": value(config), "limit": limit,
            "include_resource_object": true,
        });
        host.stream("ListResource", request)
    };
    // More than one page of the service, which lists all kinds of monitors together.
    let found = search("service_tcp_monitor", json!({}), 1_000);
    assert_eq!(found.len(), 120);
    assert!(found[0]["display_name"].as_str().unwrap().starts_with('m'));
    let object = &found[0]["resource_object"];
    assert_eq!(object["id"], found[0]["identity"]["identity_data"]["id"]);
    assert_eq!((&object["degraded_at"], &object["regions"]), (&json!(30_000), &json!(null)));
    assert_eq!(search("service_tcp_monitor", json!({}), 105).len(), 105);
    assert_eq!(search("service_http_monitor", json!({}), 10).len(), 0);
    assert_eq!(search("service_dns_monitor", json!({}), 10).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn monitors_data_source_follows_short_pages() {
    let server = TestServer::start().await;
    let body = "x".repeat(64 << 10);
    // The clock stands still, so IDs order the monitors, and not their creation.
    let mut newest_first = BTreeMap::new();
    for at in 0..60 {
        let name = format!("m{at}");
        let monitor = json!({
            "name": name, "url": "https://example.com", "periodicity": "1m",
            "method": "POST", "body": body,
        });
        let id =
            create(&server, MONITORS, "CreateHttpMonitor", json!({ "monitor": monitor })).await;
        newest_first.insert(Reverse(id), name);
    }
    // Bodies of 64 KiB end a page of the service after fewer than 60 monitors.
    let page = json!({ "limit": 100 });
    let page = server.caller(Scope::Write).call(MONITORS, "ListMonitors", page).await.json();
    let on_a_page = page["httpMonitors"].as_array().unwrap().len();
    assert!(on_a_page < 57, "{on_a_page}");
    let mut host = host(&server);
    let mut names = |limit: Value, offset: Value| {
        let config = json!({ "limit": limit, "offset": offset, "monitors": null });
        let request = json!({ "type_name": "service_monitors", "config": value(config) });
        let read = host.call("ReadDataSource", request);
        let monitors = read["state"]["monitors"].as_array().unwrap_or_else(|| panic!("{read}"));
        let names = monitors.iter().map(|it| it["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let newest = |from: usize, count: usize| {
        newest_first.values().skip(from).take(count).cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(json!(100), Value::Null), newest(0, 60));
    assert_eq!(names(json!(57), json!(2)), newest(2, 57));
    assert_eq!(names(Value::Null, json!(1)), newest(1, 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn component_list_filters_by_page() {
    let server = TestServer::start().await;
    let mut pages = Vec::new();
    for slug in ["one", "two"] {
        let page = json!({ "statusPage": { "title": slug, "slug": slug } });
        let page = create(&server, PAGES, "CreateStatusPage", page).await;
        let component = json!({ "pageId": page, "type": "static", "name": slug });
        create(&server, PAGES, "CreateComponent", json!({ "component": component })).await;
        pages.push(page);
    }
    let mut host = host(&server);
    let mut search = |page: Value| {
        let request = json!({
            "type_name": "service_status_page_component",
            "config": value(json!({ "page_id": page })), "limit": 100,
        });
        host.stream("ListResource", request)
    };
    assert_eq!(search(Value::Null).len(), 2);
    let found = search(json!(pages[1]));
    assert_eq!((found.len(), &found[0]["display_name"]), (1, &json!("two")));
    assert_eq!(found[0]["identity"]["identity_data"]["page_id"], json!(pages[1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_resource_has_an_identity_and_a_list() {
    let server = TestServer::start().await;
    let mut host = host(&server);
    let identities = host.call("GetResourceIdentitySchemas", json!({}));
    let schemas = host.call("GetProviderSchema", json!({}));
    for table in rules::tables::RESOURCES {
        let attributes = &identities["identity_schemas"][table.name]["identity_attributes"];
        let names: Vec<_> = attributes.as_array().unwrap().iter().map(|it| &it["name"]).collect();
        let of_a_page = table.fields.iter().any(|field| field.name == "page_id");
        let expected = if of_a_page { vec!["id", "page_id"] } else { vec!["id"] };
        assert_eq!(names, expected, "{}", table.name);
        assert!(schemas["list_resource_schemas"][table.name].is_object(), "{}", table.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_resource_is_imported_by_its_identity() {
    let server = TestServer::start().await;
    let page = json!({ "statusPage": { "title": "Status", "slug": "status" } });
    let page = create(&server, PAGES, "CreateStatusPage", page).await;
    let mut all = vec![("service_status_page", page.clone(), "title", "Status")];
    let target = json!({ "name": "It", "periodicity": "1m", "uri": "example.com:443" });
    let http = json!({ "name": "It", "periodicity": "1m", "url": "https://example.com" });
    let zone = json!({ "name": "It", "periodicity": "1m", "uri": "example.com" });
    let job = json!({ "name": "It", "interval": 60 });
    let channel = json!({ "name": "It", "providerType": "ntfy", "ntfy": { "topic": "t" } });
    let component = json!({ "pageId": page, "type": "static", "name": "It" });
    for (resource, service, method, field, sent) in [
        ("service_http_monitor", MONITORS, "CreateHttpMonitor", "monitor", http),
        ("service_tcp_monitor", MONITORS, "CreateTcpMonitor", "monitor", target),
        ("service_dns_monitor", MONITORS, "CreateDnsMonitor", "monitor", zone),
        ("service_heartbeat_monitor", MONITORS, "CreateHeartbeatMonitor", "monitor", job),
        ("service_notification", CHANNELS, "CreateNotification", "notification", channel),
        ("service_status_page_component", PAGES, "CreateComponent", "component", component),
        (
            "service_status_page_component_group",
            PAGES,
            "CreateComponentGroup",
            "componentGroup",
            json!({ "pageId": page, "name": "It" }),
        ),
    ] {
        let id = create(&server, service, method, json!({ field: sent })).await;
        all.push((resource, id, "name", "It"));
    }
    assert_eq!(all.len(), rules::tables::RESOURCES.len());
    let mut host = host(&server);
    for (resource, id, named, name) in all {
        let identity = if resource.contains("component") {
            json!({ "page_id": page, "id": id })
        } else {
            json!({ "id": id })
        };
        let request = json!({
            "type_name": resource, "identity": { "identity_data": value(identity.clone()) },
        });
        let imported = host.call("ImportResourceState", request);
        let imported = &imported["imported_resources"][0];
        assert_eq!(imported["state"][named], name, "{resource}");
        assert_eq!(imported["identity"]["identity_data"], identity, "{resource}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn triggered_monitor_reports_its_results() {
    let server = TestServer::start_on_system_clock().await;
    let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fine = tcp(&server, "fine", &target.local_addr().unwrap().to_string()).await;
    let nobody = TcpTarget::refusing();
    let broken = tcp(&server, "broken", &nobody.address().to_string()).await;
    let mut host = host(&server);
    let mut trigger = |id: &str, must_succeed: Value| {
        let config = value(json!({ "id": id, "must_succeed": must_succeed }));
        let request = json!({ "action_type": "service_monitor_trigger", "config": config });
        host.stream("InvokeAction", request)
    };
    let events = trigger(&fine, json!(true));
    let line = events[0]["progress"]["message"].as_str().unwrap();
    assert!(line.contains(": success in "), "{line}");
    assert_eq!(events.last().unwrap()["completed"], json!({}));
    assert_eq!(trigger(&broken, Value::Null).last().unwrap()["completed"], json!({}));
    let failed = trigger(&broken, json!(true));
    let diagnostic = &failed.last().unwrap()["completed"]["diagnostics"][0];
    assert_eq!(diagnostic["summary"], "The check failed");
    let gone = trigger("mon_0000000000000", Value::Null);
    let diagnostic = &gone.last().unwrap()["completed"]["diagnostics"][0];
    assert_eq!(diagnostic["summary"], "Cannot trigger the monitor");
}
