//! Audit log over RPC: newest first, with pages and filters.

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

const AUDIT: &str = "audit.v1.AuditService";

async fn listed(caller: &Caller, request: Value) -> (Vec<String>, Value) {
    let page = caller.call(AUDIT, "ListAuditEntries", request).await.json();
    let entries = page["entries"].as_array().unwrap_or_else(|| panic!("{page}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |entry: &Value| format!("{} {}", text(&entry["action"]), text(&entry["detail"]));
    (entries.iter().map(line).collect(), page)
}

/// Creates a monitor and edits it this many times. Returns its ID.
async fn edited(caller: &Caller, edits: usize) -> String {
    let monitor = json!({ "name": "db", "uri": "example.com:5432", "periodicity": "1m" });
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = created["monitor"]["id"].as_str().unwrap().to_owned();
    for edit in 0..edits {
        let monitor = json!({ "id": id, "retry": edit });
        let request = json!({ "monitor": monitor, "updateMask": "retry" });
        assert_eq!(caller.rpc("UpdateTcpMonitor", request).await.status, 200);
    }
    id
}

// issue 16: "Add `audit.v1`"
#[tokio::test]
async fn changes_are_listed_newest_first_by_pages() {
    let server = TestServer::start().await;
    let (owner, reader) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let id = edited(&owner, 3).await;
    edited(&owner, 0).await;
    let all = ["revision 4", "revision 3", "revision 2"].map(|it| format!("monitor.update {it}"));
    let created = "monitor.create revision 1".to_owned();
    let (mut found, mut request) = (Vec::new(), json!({ "resourceId": id, "limit": 3 }));
    loop {
        let (entries, page) = listed(&reader, request.clone()).await;
        found.push(entries);
        if page["nextPageToken"] == "" {
            break;
        }
        request["pageToken"] = page["nextPageToken"].clone();
    }
    assert_eq!(found, [all.to_vec(), vec![created.clone()]]);
    let (entries, page) = listed(&reader, json!({ "limit": 1 })).await;
    assert_eq!(entries, [created], "the other monitor is the newest");
    let entry = &page["entries"][0];
    assert!(entry["actor"].as_str().unwrap().starts_with("key_"), "{entry}");
    assert_ne!(entry["actorName"], "", "{entry}");
    assert!(entry["at"].as_str().unwrap().starts_with("20"), "{entry}");
}

#[tokio::test]
async fn filters_select_actor_and_time() {
    let server = TestServer::start().await;
    let (owner, reader) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let id = edited(&owner, 1).await;
    let (_, page) = listed(&reader, json!({ "resourceId": id })).await;
    let actor = page["entries"][0]["actor"].clone();
    let (first, last) = (page["entries"][1]["at"].clone(), page["entries"][0]["at"].clone());
    for (request, expected) in [
        (json!({ "resourceId": id, "actor": actor }), 2),
        (json!({ "resourceId": id, "actor": "command_line" }), 0),
        (json!({ "resourceId": id, "actor": "server" }), 0),
        (json!({ "resourceId": id, "from": first }), 2),
        (json!({ "resourceId": id, "to": first }), 0),
        (json!({ "resourceId": id, "from": last, "to": last }), 0),
        (json!({ "resourceId": "mon_0000000000000" }), 0),
    ] {
        let (entries, _) = listed(&reader, request.clone()).await;
        assert_eq!(entries.len(), expected, "{request}: {entries:?}");
    }
    let (by_hand, page) = listed(&reader, json!({ "actor": "command_line" })).await;
    assert!(by_hand.iter().any(|entry| entry.starts_with("workspace.create")), "{by_hand:?}");
    assert_eq!(page["entries"][0]["actorName"], "");
}

#[tokio::test]
async fn invalid_filters_are_refused_by_name() {
    let server = TestServer::start().await;
    let reader = server.caller(Scope::Read);
    let request = json!({ "actor": "ada", "limit": 0, "pageToken": "x" });
    let refused = reader.call(AUDIT, "ListAuditEntries", request).await;
    insta::assert_snapshot!(refused.json()["message"].as_str().unwrap(), @"`actor` must be the identifier of a key or a user, `command_line` or `server` (given: `ada`); `limit` must be 1 to 100 (given: `0`); `page_token` must be the next_page_token of an earlier response");
}
