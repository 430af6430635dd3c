//! Workspaces and plans: plan limits, renames, and deletion of a workspace.

use http::StatusCode;
use rules::Scope;
use rules::plan::Plans;
use serde_json::{Value, json};
use server::control::{AuditQuery, ControlError, KeepResults, RenameWorkspace};
use testkit::server::{Caller, NOTIFICATIONS, Reply, STATUS_PAGES, TestServer};

async fn limited() -> (TestServer, Caller) {
    let server = TestServer::start_with(|settings| {
        let plans = "small monitors=1 shortest_period=1m pages=1 channels=1 retention_days=7";
        settings.plans = Plans::parse(plans).unwrap();
    })
    .await;
    let control = server.running().control();
    control.set_plan("acme", "small".to_owned()).await.unwrap();
    let owner = server.caller(Scope::Write);
    (server, owner)
}

async fn monitor(owner: &Caller, periodicity: &str) -> Reply {
    let monitor = json!({ "name": "a", "uri": "example.com:80", "periodicity": periodicity });
    owner.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await
}

fn message(reply: &Reply) -> String {
    assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{reply}");
    reply.json()["message"].as_str().unwrap().to_owned()
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, ControlError>) -> String {
    outcome.unwrap_err().to_string()
}

// issue 16 point 20: "Add named plans with limits …; an exceeded limit is a clear error"
#[tokio::test]
async fn plan_limits_monitors_pages_channels_and_retention() {
    let (server, owner) = limited().await;
    let whoami: Value = owner.get("/v1/whoami").await.json();
    assert_eq!(whoami["plan"], "small");
    let short = message(&monitor(&owner, "30s").await);
    assert!(short.contains("must be 1m or longer on the plan `small`"), "{short}");
    let created = monitor(&owner, "1m").await;
    assert_eq!(created.status, 200, "{created}");
    let more = message(&monitor(&owner, "1m").await);
    assert!(more.contains("the plan `small` allows 1 monitor;"), "{more}");
    let id = created.json()["monitor"]["id"].clone();
    let update =
        json!({ "monitor": { "id": id, "periodicity": "30s" }, "updateMask": "periodicity" });
    let shorter = message(&owner.rpc("UpdateTcpMonitor", update).await);
    assert!(shorter.contains("must be 1m or longer"), "{shorter}");
    for (place, expected) in [(0, 200), (1, 400)] {
        let page = json!({ "statusPage": { "title": "a", "slug": format!("a-{place}") } });
        let reply = owner.call(STATUS_PAGES, "CreateStatusPage", page).await;
        assert_eq!(reply.status, expected, "{reply}");
        let channel = json!({ "providerType": "ntfy", "ntfy": { "topic": "alerts" } });
        let request = json!({ "notification": channel });
        let reply = owner.call(NOTIFICATIONS, "CreateNotification", request).await;
        assert_eq!(reply.status, expected, "{reply}");
    }
    let other = server.stranger();
    for _ in 0..2 {
        assert_eq!(monitor(&other, "30s").await.status, 200, "its plan limits nothing");
    }
    let keep = KeepResults { workspace: "acme".to_owned(), days: Some(30) };
    let longer = refusal(server.running().control().set_retention(keep).await);
    assert_eq!(longer, "the plan `small` keeps results for 7 days at most");
}

// A heartbeat monitor has a period that nobody chooses.
#[tokio::test]
async fn plan_limits_no_period_of_heartbeat_monitors() {
    let (_server, owner) = limited().await;
    let backup = json!({ "monitor": { "name": "Backup", "interval": 60, "active": true } });
    let created = owner.rpc("CreateHeartbeatMonitor", backup).await;
    assert_eq!(created.status, 200, "{created}");
    let found = owner.call("workspace.v1.WorkspaceService", "GetWorkspace", json!({})).await.json();
    let usage = &found["workspace"]["usage"];
    assert_eq!(
        (&usage["monitors"], &usage["shortestPeriod"]),
        (&json!(1), &Value::Null),
        "{found}"
    );
}

#[tokio::test]
async fn deleting_makes_room_within_the_plan() {
    let (_server, owner) = limited().await;
    let id = monitor(&owner, "5m").await.json()["monitor"]["id"].clone();
    assert_eq!(monitor(&owner, "5m").await.status, 400);
    assert_eq!(owner.rpc("DeleteMonitor", json!({ "id": id })).await.status, 200);
    assert_eq!(monitor(&owner, "5m").await.status, 200);
}

// issue 16 point 20: "operator commands for workspaces"
#[tokio::test]
async fn workspaces_are_renamed_and_deleted() {
    let (server, owner) = limited().await;
    let control = server.running().control();
    assert_eq!(
        refusal(control.set_plan("acme", "large".to_owned()).await),
        "unknown plan `large`; the setting `plans` has `small`, `free`"
    );
    let renamed = |slug: &str| RenameWorkspace {
        workspace: "acme".to_owned(),
        slug: Some(slug.to_owned()),
        name: None,
    };
    assert!(refusal(control.rename_workspace(renamed("other")).await).contains("already exists"));
    let row = control.rename_workspace(renamed("acme-2")).await.unwrap();
    assert_eq!((row.slug.as_str(), row.name.as_str()), ("acme-2", "Acme"));
    assert_eq!(owner.get("/v1/whoami").await.json()["slug"], "acme-2");
    assert_eq!(monitor(&owner, "1m").await.status, 200);
    control.delete_workspace("acme-2").await.unwrap();
    assert_eq!(owner.get("/v1/whoami").await.status, StatusCode::UNAUTHORIZED);
    assert!(refusal(control.delete_workspace("acme-2").await).contains("not found"));
    let slugs: Vec<_> =
        control.list_workspaces().await.unwrap().into_iter().map(|it| it.workspace.slug).collect();
    assert_eq!(slugs, ["other"]);
    let new = server::control::CreateWorkspace {
        slug: "acme-2".to_owned(),
        name: "Again".to_owned(),
        plan: None,
    };
    control.create_workspace(new).await.unwrap();
    let query = AuditQuery { workspace: "acme-2".to_owned(), limit: 10, ..AuditQuery::default() };
    let actions = control.audit(query).await.unwrap();
    let actions: Vec<_> = actions.iter().map(|row| row.action.as_str()).collect();
    assert_eq!(actions, ["workspace.create"], "the audit of the old one is not the new one's");
}
