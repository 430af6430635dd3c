//! Pages of the monitor list.

use std::collections::BTreeSet;
use std::time::Duration;

use contract::rpc::methods;
use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, MAINTENANCES, STATUS_PAGES, STATUS_REPORTS, TestServer};

use super::kinds::{self, Kind};
use crate::protocols::a_monitor;

const LISTS: [&str; 3] = ["httpMonitors", "tcpMonitors", "dnsMonitors"];

/// Returns the IDs in the three lists of a response, newest first.
fn ids(list: &Value) -> Vec<String> {
    let lists = LISTS.iter().flat_map(|name| list[name].as_array().unwrap());
    let mut ids: Vec<_> = lists.map(|monitor| monitor["id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids
}

async fn create(caller: &Caller, count: usize) -> Vec<String> {
    let mut created = Vec::new();
    for index in 0..count {
        let (kind, method) = match index % 3 {
            0 => ("http", "CreateHttpMonitor"),
            1 => ("tcp", "CreateTcpMonitor"),
            _ => ("dns", "CreateDnsMonitor"),
        };
        let reply = caller.rpc(method, json!({ "monitor": a_monitor(kind) })).await.json();
        created.push(reply["monitor"]["id"].as_str().unwrap().to_owned());
    }
    created.sort_unstable_by(|one, other| other.cmp(one));
    created
}

#[tokio::test]
async fn an_empty_workspace_answers_its_empty_lists() {
    // spec: §4.3: an empty object is accepted and `httpMonitors` is present
    let server = TestServer::start().await;
    let reply = server.caller(Scope::Read).rpc("ListMonitors", json!({})).await;
    assert_snapshot!(reply, @r#"200 {"httpMonitors":[],"tcpMonitors":[],"dnsMonitors":[],"heartbeatMonitors":[],"totalSize":0,"nextPageToken":""}"#);
}

#[tokio::test]
async fn pages_cover_all_kinds_once_newest_first() {
    // design: §4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let created = create(&caller, 11).await;
    let mut by_token = Vec::new();
    let mut token = String::new();
    loop {
        let request = json!({ "limit": 3, "pageToken": token });
        let page = caller.rpc("ListMonitors", request).await.json();
        assert_eq!(page["totalSize"], 11);
        let page_ids = ids(&page);
        assert_eq!(page_ids, created[by_token.len()..][..page_ids.len()]);
        by_token.extend(page_ids);
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(by_token, created);
    let mut by_offset = Vec::new();
    for offset in [0, 4, 8, 12] {
        let request = json!({ "limit": 4, "offset": offset });
        by_offset.extend(ids(&caller.rpc("ListMonitors", request).await.json()));
    }
    assert_eq!(by_offset, created);
}

/// Creates a TCP monitor with these tags. Returns its ID.
async fn create_tagged(caller: &Caller, tags: Value) -> String {
    let mut monitor = a_monitor("tcp");
    monitor["tags"] = tags;
    let reply = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    reply["monitor"]["id"].as_str().unwrap().to_owned()
}

// issue 18, point 3: "Tags exist on monitors"
#[tokio::test]
async fn pages_by_tags_have_all_that_match() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut tagged = Vec::new();
    for number in 0..7 {
        tagged.push(create_tagged(&caller, json!(["Prod", format!("n{number}")])).await);
        create_tagged(&caller, json!(["staging"])).await;
    }
    tagged.sort_unstable_by(|one, other| other.cmp(one));
    let mut found = Vec::new();
    let mut token = String::new();
    loop {
        let request = json!({ "limit": 3, "pageToken": token, "tags": ["prod"] });
        let page = caller.rpc("ListMonitors", request).await.json();
        assert_eq!(page["totalSize"], 7);
        found.extend(ids(&page));
        // A new monitor moves no other one to the next page.
        create_tagged(&caller, json!(["other"])).await;
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(found, tagged);
    for (tags, expected) in [(json!(["N3", "PROD"]), 1), (json!(["prod", "staging"]), 0)] {
        let list = caller.rpc("ListMonitors", json!({ "tags": tags })).await.json();
        assert_eq!(list["totalSize"], expected, "{tags}");
    }
    let stranger = server.stranger();
    let theirs = stranger.rpc("ListMonitors", json!({ "tags": ["prod"] })).await.json();
    assert_eq!(theirs["totalSize"], 0);
}

#[tokio::test]
async fn list_by_tags_shows_changed_tags() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let id = create_tagged(&caller, json!(["before"])).await;
    let count = async |tag: &str| {
        let list = caller.rpc("ListMonitors", json!({ "tags": [tag] })).await.json();
        list["totalSize"].clone()
    };
    assert_eq!((count("before").await, count("after").await), (json!(1), json!(0)));
    let monitor = json!({ "id": id, "tags": ["after"] });
    let request = json!({ "monitor": monitor, "updateMask": "tags" });
    let updated = caller.rpc("UpdateTcpMonitor", request).await.json();
    assert_eq!(updated["monitor"]["tags"], json!(["after"]));
    assert_eq!((count("before").await, count("after").await), (json!(0), json!(1)));
}

// issue 16, point 27: "List newest first everywhere"
#[tokio::test]
async fn every_list_is_newest_first() {
    // Covered by their own tests: the timeline of checks, and resources that callers cannot create.
    const OTHERS: [&str; 14] = [
        "ListResponseLogs",
        "ListMissedSlots",
        "ListAuditEntries",
        "ListDeliveries",
        "ListSigningSecrets",
        "ListIncidents",
        "ListSubscribers",
        "ListRegions",
        "ListApiKeys",
        "ListMembers",
        "ListInvitations",
        "ListProbes",
        "ListConfigurations",
        "ListConfiguredResources",
    ];
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut walked = BTreeSet::from(OTHERS);
    for kind in kinds::all(&caller).await {
        let (method, field) = kind.list;
        let before = of_field(&caller, &kind, json!({})).await;
        let mut expected: Vec<String> = Vec::new();
        for number in 0..3 {
            let id = kind.create(&caller, number).await["id"].as_str().unwrap().to_owned();
            expected.push(id);
            server.advance(Duration::from_secs(1));
        }
        expected.reverse();
        expected.extend(before);
        assert_eq!(of_field(&caller, &kind, json!({})).await, expected, "{method}, {field}");
        walked.insert(method);
    }
    let lists = methods().iter().map(|it| it.name.as_str()).filter(|it| it.starts_with("List"));
    assert_eq!(walked, lists.collect());
}

/// Returns the IDs of the resources of a kind, in the order of its list.
async fn of_field(caller: &Caller, kind: &Kind, request: Value) -> Vec<String> {
    let (method, field) = kind.list;
    let reply = caller.call(kind.service, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    let list = reply.json();
    let ids = list[field].as_array().unwrap().iter();
    ids.map(|it| it["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_full_last_page_has_no_next_one() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    create(&caller, 3).await;
    let page = caller.rpc("ListMonitors", json!({ "limit": 3 })).await.json();
    assert_eq!((ids(&page).len(), &page["nextPageToken"]), (3, &json!("")));
}

// issue 16, point 11: 404 "for another workspace's page", in every list owned by a page or a
// monitor
#[tokio::test]
async fn filter_by_foreign_resource_is_not_found() {
    let server = TestServer::start().await;
    let stranger = server.stranger();
    let request = json!({ "statusPage": { "title": "Theirs", "slug": "theirs" } });
    let page = stranger.call(STATUS_PAGES, "CreateStatusPage", request).await.json();
    let page = &page["statusPage"]["id"];
    let monitor = create(&stranger, 1).await.remove(0);
    for (service, method, filter) in [
        (STATUS_PAGES, "ListComponents", json!({ "pageId": page })),
        (STATUS_PAGES, "ListComponentGroups", json!({ "pageId": page })),
        (STATUS_PAGES, "ListSubscribers", json!({ "pageId": page })),
        (STATUS_REPORTS, "ListStatusReports", json!({ "pageId": page })),
        (MAINTENANCES, "ListMaintenances", json!({ "monitorId": monitor })),
    ] {
        for (caller, status) in [(server.caller(Scope::Read), 404), (stranger.clone(), 200)] {
            let reply = caller.call(service, method, filter.clone()).await;
            assert_eq!(reply.status, status, "{method}: {reply}");
        }
    }
}

#[tokio::test]
async fn invalid_limits_offsets_tokens_and_tags_are_refused() {
    // spec: §2.8, §8.1
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    for (request, status) in [
        (json!({ "limit": 0 }), 400),
        (json!({ "limit": 1 }), 200),
        (json!({ "limit": 100 }), 200),
        (json!({ "limit": 101 }), 400),
        (json!({ "limit": -1 }), 400),
        (json!({ "offset": 0 }), 200),
        (json!({ "offset": -1 }), 400),
        (json!({ "offset": 2_147_483_647 }), 200),
        (json!({ "pageToken": "made up" }), 400),
        (json!({ "tags": [""] }), 400),
        (json!({ "tags": ["a,b"] }), 400),
    ] {
        let reply = caller.rpc("ListMonitors", request.clone()).await;
        assert_eq!(reply.status, status, "{request}: {reply}");
    }
}

// issue 16, point 15: gRPC clients accept messages of 4 MiB by default
#[tokio::test]
async fn pages_of_large_monitors_end_early() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let body = "x".repeat(65_536);
    for number in 0..60 {
        let monitor = json!({
            "name": format!("{number}"), "url": "http://127.0.0.1:9/", "periodicity": "1h", "method": "POST", "body": body,
        });
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
        assert_eq!(created.status, 200, "{created}");
    }
    let first = caller.rpc("ListMonitors", json!({ "limit": 100 })).await.json();
    let shown = first["httpMonitors"].as_array().unwrap().len();
    assert!((40..50).contains(&shown), "{shown}");
    assert_eq!(first["totalSize"], 60);
    let asked = json!({ "limit": 100, "pageToken": first["nextPageToken"] });
    let rest = caller.rpc("ListMonitors", asked).await.json();
    assert_eq!(rest["httpMonitors"].as_array().unwrap().len(), 60 - shown);
    assert_eq!(rest["nextPageToken"], "");
}
