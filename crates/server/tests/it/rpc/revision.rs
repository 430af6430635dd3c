//! The `revision` precondition of updates. Every update accepts it, and one of two concurrent
//! writers is rejected.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use contract::rpc::{field_names, methods};
use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, MONITORS, NOTIFICATIONS, Reply, STATUS_PAGES, TestServer};

use super::kinds::{self, Kind};
use crate::protocols::a_monitor;

/// Renames a resource if it is at this revision.
async fn rename(
    caller: &Caller,
    kind: &Kind,
    of: &Value,
    (name, revision): (&str, Option<&Value>),
) -> Reply {
    let mut request = json!({
        kind.field(): { "id": of["id"], kind.title(): name },
        "updateMask": kind.title(),
    });
    if let Some(revision) = revision {
        request["revision"] = revision.clone();
    }
    caller.call(kind.service, &format!("Update{}", kind.name), request).await
}

fn number(revision: &Value) -> i64 {
    revision.as_str().unwrap().parse().unwrap()
}

// issue 16, point 17: "Accept an optional `revision` precondition on updates"
#[tokio::test]
async fn every_update_refuses_a_stale_revision() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut walked = BTreeSet::new();
    for kind in kinds::all(&caller).await {
        let created = kind.create(&caller, 0).await;
        let (field, title) = (kind.field(), kind.title());
        let renamed = rename(&caller, &kind, &created, ("One", Some(&created["revision"]))).await;
        assert_eq!(renamed.status, 200, "{}: {renamed}", kind.name);
        let renamed = renamed.json()[&field].clone();
        assert!(number(&renamed["revision"]) > number(&created["revision"]), "{renamed}");
        let same = rename(&caller, &kind, &created, ("One", Some(&renamed["revision"]))).await;
        assert_eq!(same.json()[&field]["revision"], renamed["revision"], "nothing changed");
        // An unchanged name is rejected too: the caller has not seen the current object.
        for name in ["Two", "One"] {
            let stale = rename(&caller, &kind, &created, (name, Some(&created["revision"]))).await;
            let error = stale.json();
            assert_eq!(
                (stale.status.as_u16(), &error["code"]),
                (409, &json!("aborted")),
                "{stale}"
            );
            assert_eq!(error["details"][0]["debug"]["reason"], "REVISION_MISMATCH", "{stale}");
        }
        let read = rename(&caller, &kind, &created, ("One", None)).await.json()[&field].clone();
        assert_eq!((&read[title], &read["revision"]), (&json!("One"), &renamed["revision"]));
        let any = rename(&caller, &kind, &created, ("Three", None)).await.json()[&field].clone();
        assert!(number(&any["revision"]) > number(&renamed["revision"]), "{any}");
        walked.insert(format!("Update{}", kind.name));
    }
    // These replace single values and have no stale copies to protect.
    let others = ["UpdateMember", "UpdateWorkspace"];
    let updates = methods().iter().filter(|it| it.name.starts_with("Update"));
    let updates = updates.filter(|it| !others.contains(&&*it.name));
    assert_eq!(walked, updates.clone().map(|it| it.name.clone()).collect());
    for method in updates {
        let mut fields = field_names(&method.request).unwrap();
        assert!(fields.any(|field| field == "revision"), "{}", method.request);
    }
}

#[tokio::test]
async fn one_of_two_racing_writers_is_refused() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for kind in kinds::all(&caller).await {
        let created = kind.create(&caller, 0).await;
        let revision = Some(&created["revision"]);
        let (one, other) = tokio::join!(
            rename(&caller, &kind, &created, ("One", revision)),
            rename(&caller, &kind, &created, ("Other", revision)),
        );
        let (first, refused) = if one.status == 200 { (one, other) } else { (other, one) };
        assert_eq!(
            (first.status.as_u16(), refused.status.as_u16()),
            (200, 409),
            "{}: {refused}",
            kind.name
        );
        assert_eq!(refused.reason().as_deref(), Some("REVISION_MISMATCH"), "{refused}");
    }
}

#[tokio::test]
async fn stale_revision_names_the_current_one() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let request = json!({ "monitor": a_monitor("tcp") });
    let monitor = caller.rpc("CreateTcpMonitor", request).await.json()["monitor"].clone();
    let mut messages = String::new();
    for revision in ["1", "", "x"] {
        let renamed = json!({ "id": monitor["id"], "name": "x" });
        let request = json!({ "monitor": renamed, "updateMask": "name", "revision": revision });
        let reply = caller.rpc("UpdateTcpMonitor", request).await;
        writeln!(messages, "{} {}", reply.status.as_u16(), reply.json()["message"]).unwrap();
    }
    let id = monitor["id"].as_str().unwrap();
    assert_snapshot!(messages.replace(id, "mon_…"), @r#"
    409 "monitor `mon_…` has changed: its revision is `1795219200000`; fetch it again"
    409 "monitor `mon_…` has changed: its revision is `1795219200000`; fetch it again"
    409 "monitor `mon_…` has changed: its revision is `1795219200000`; fetch it again"
    "#);
}

// Changes by other methods count too: they make the caller's copy stale.
#[tokio::test]
async fn other_changes_change_the_revision() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let request = json!({ "monitor": a_monitor("tcp") });
    let monitor = caller.rpc("CreateTcpMonitor", request).await.json()["monitor"]["id"].clone();
    let channel = json!({
        "name": "ntfy", "providerType": "ntfy", "ntfy": { "topic": "alerts" }, "monitorIds": [monitor],
    });
    let request = json!({ "notification": channel });
    let channel = caller.call(NOTIFICATIONS, "CreateNotification", request).await.json();
    let channel = &channel["notification"];
    let deleted = caller.call(MONITORS, "DeleteMonitor", json!({ "id": monitor })).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    let read = json!({ "id": channel["id"] });
    let read = caller.call(NOTIFICATIONS, "GetNotification", read).await.json();
    assert!(number(&read["notification"]["revision"]) > number(&channel["revision"]));

    let request = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = caller.call(STATUS_PAGES, "CreateStatusPage", request).await.json();
    let page = &page["statusPage"];
    let hidden = json!({ "id": page["id"] });
    let hidden = caller.call(STATUS_PAGES, "UnpublishStatusPage", hidden).await.json();
    assert!(number(&hidden["statusPage"]["revision"]) > number(&page["revision"]));
}
