//! Members call the services in process, as the dashboard does: what each role may do, and what
//! keys may not.

use std::time::Duration;

use contract::rpc::methods;
use http::Request;
use http_body_util::BodyExt as _;
use rules::{InvitationId, Role, Secret, UserId, WorkspaceId, limits, person_role};
use serde_json::{Value, json};
use server::auth::Caller as Member;
use store::{Actor, AuditContext, InvitationHash, NewInvitation, NewUser, Workspace};
use testkit::server::{API_KEYS, MEMBERS, MONITORS, START, STATUS_PAGES, TestServer, WORKSPACES};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::protocols::a_monitor;

const ROLES: [Role; 4] = [Role::Owner, Role::Admin, Role::Editor, Role::Viewer];

/// Server whose workspace `acme` has a member of each role.
pub(super) struct Team {
    pub(super) server: TestServer,
    workspace: WorkspaceId,
}

pub(crate) fn user_id(role: Role) -> UserId {
    UserId::from_bits(1 + role as u64)
}

fn a_user(role: Role) -> NewUser {
    NewUser {
        id: user_id(role),
        email: format!("{role}@example.com"),
        name: format!("The {role}"),
        password_hash: Secret::new("$argon2id$none".to_owned()),
    }
}

/// Adds a member of each role to the workspace `acme`, and returns its ID.
pub(crate) async fn add_members(server: &TestServer) -> WorkspaceId {
    let store = &server.running().app().store;
    let change = AuditContext::new(Actor::CommandLine, START);
    let workspace = store.workspaces().by_slug("acme").await.unwrap();
    let unused = Workspace { id: WorkspaceId::from_bits(9), ..workspace.clone() };
    store.users().create_first(a_user(Role::Owner), unused, change).await.unwrap();
    for role in &ROLES[1..] {
        let hash = InvitationHash::new(role.as_str());
        let new = NewInvitation {
            id: InvitationId::from_bits(*role as u64),
            workspace: workspace.id,
            email: None,
            role: *role,
            expires_at: START + Duration::from_secs(1),
        };
        store.invitations().create(new, hash, change).await.unwrap();
        store.invitations().accept_with_new_user(hash, a_user(*role), change).await.unwrap();
    }
    workspace.id
}

impl Team {
    pub(super) async fn new() -> Self {
        let server = TestServer::start().await;
        let workspace = add_members(&server).await;
        Self { server, workspace }
    }

    /// Calls a method as the member with this role. Returns the status and the response.
    pub(super) async fn call(&self, role: Role, path: &str, request: Value) -> (u16, Value) {
        let caller =
            Member::member(self.workspace, user_id(role), role).from_address([192, 0, 2, 1].into());
        let router = self.server.running().app().inner_routes(CancellationToken::new());
        let router = router.layer(axum::Extension(caller));
        let request = Request::post(format!("/rpc/{path}"))
            .header("content-type", "application/json")
            .body(axum::body::Body::from(request.to_string()))
            .unwrap();
        let response = router.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    async fn members(&self, role: Role, method: &str, request: Value) -> (u16, Value) {
        self.call(role, &format!("{MEMBERS}/{method}"), request).await
    }

    async fn workspaces(&self, role: Role, method: &str, request: Value) -> (u16, Value) {
        self.call(role, &format!("{WORKSPACES}/{method}"), request).await
    }
}

fn reason(answer: &Value) -> &str {
    answer["details"][0]["debug"]["reason"].as_str().unwrap_or_default()
}

// issue 18: "Walk all routes × (anonymous, viewer, editor, admin, owner, …)"
#[tokio::test]
async fn role_decides_which_methods_a_member_calls() {
    let team = Team::new().await;
    for method in methods().iter().filter(|it| !it.service.starts_with("grpc.") && !it.streams) {
        let least = if method.reads_only { Role::Viewer } else { Role::Editor };
        let of_admins = ["UpdateWorkspace", "RevokeApiKey"].contains(&&*method.name)
            || method.service == "probe.v1.ProbeService";
        let needed = if of_admins { Role::Admin } else { least };
        let needed = person_role(&method.path).unwrap_or(needed);
        // The last one in the list of roles deletes the workspace, which is cancelled at once.
        for role in ROLES {
            let request = json!({});
            let (status, answer) = team.call(role, &method.path[1..], request).await;
            let is_refused = status == 403;
            let at = format!("{} as {role}: {status} {answer}", method.path);
            // Removing nobody is removing somebody else.
            let needed = if method.name == "RemoveMember" { Role::Admin } else { needed };
            assert_eq!(is_refused, !role.includes(needed), "{at}");
            assert!(!is_refused || reason(&answer) == "ROLE_REQUIRED", "{at}");
            if method.name == "DeleteWorkspace" && !is_refused {
                team.workspaces(Role::Owner, "CancelDeletion", json!({})).await;
            }
        }
    }
}

#[tokio::test]
async fn refusal_names_the_needed_role() {
    let team = Team::new().await;
    let (status, answer) =
        team.members(Role::Editor, "CreateInvitation", json!({ "role": "viewer" })).await;
    assert_eq!(status, 403);
    insta::assert_snapshot!(answer["message"].as_str().unwrap(), @"this needs a person with the role `admin`; ask a member who has it");
    let (status, answer) =
        team.members(Role::Admin, "CreateInvitation", json!({ "role": "owner" })).await;
    assert_eq!(status, 403);
    insta::assert_snapshot!(answer["message"].as_str().unwrap(), @"this needs a person with the role `owner`; ask a member who has it");
}

#[tokio::test]
async fn invitation_is_created_listed_and_revoked() {
    let team = Team::new().await;
    let request = json!({ "email": "joe@example.com", "role": "editor" });
    let (status, made) = team.members(Role::Admin, "CreateInvitation", request).await;
    assert_eq!(status, 200, "{made}");
    let invitation = &made["invitation"];
    assert_eq!(invitation["invitedBy"], user_id(Role::Admin).to_string());
    assert_eq!(invitation["invitedByName"], "The admin");
    let token = made["token"].as_str().unwrap();
    let store = &team.server.running().app().store;
    let hash = InvitationHash::new(token);
    let at = START + limits::INVITATION_LIFETIME;
    assert!(store.invitations().find(hash, at - Duration::from_millis(1)).await.unwrap().is_some());
    assert_eq!(store.invitations().find(hash, at).await.unwrap(), None);
    let (_, listed) = team.members(Role::Viewer, "ListInvitations", json!({})).await;
    assert_eq!(listed["invitations"][0]["email"], "j…@example.com", "{listed}");
    assert!(!listed.to_string().contains(token), "the token is shown once");
    let request = json!({ "id": invitation["id"] });
    let (status, _) = team.members(Role::Admin, "RevokeInvitation", request.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(store.invitations().find(hash, START).await.unwrap(), None);
    let (status, _) = team.members(Role::Admin, "RevokeInvitation", request).await;
    assert_eq!(status, 404);
    for wrong in [json!({ "role": "king" }), json!({ "role": "viewer", "email": "joe" })] {
        let (status, answer) = team.members(Role::Owner, "CreateInvitation", wrong).await;
        assert_eq!((status, reason(&answer)), (400, "INVALID_ARGUMENT"), "{answer}");
    }
    let member = json!({ "role": "viewer", "email": "Editor@example.com" });
    let (status, answer) = team.members(Role::Owner, "CreateInvitation", member).await;
    assert_eq!((status, reason(&answer)), (409, "ALREADY_EXISTS"), "{answer}");
}

#[tokio::test]
async fn members_are_changed_and_leave() {
    let team = Team::new().await;
    let (_, listed) = team.members(Role::Owner, "ListMembers", json!({})).await;
    assert_eq!(listed["totalSize"], 4);
    assert_eq!(listed["members"][0]["email"], "viewer@example.com");
    let viewer = user_id(Role::Viewer).to_string();
    let request = json!({ "userId": viewer, "role": "editor" });
    let (status, changed) = team.members(Role::Admin, "UpdateMember", request).await;
    assert_eq!((status, &changed["member"]["role"]), (200, &json!("editor")), "{changed}");
    let owner = json!({ "userId": user_id(Role::Owner).to_string() });
    let (status, answer) = team.members(Role::Owner, "RemoveMember", owner.clone()).await;
    assert_eq!((status, reason(&answer)), (400, "FAILED_PRECONDITION"), "{answer}");
    let (status, _) = team.members(Role::Admin, "RemoveMember", owner).await;
    assert_eq!(status, 403);
    let (status, _) = team.members(Role::Viewer, "RemoveMember", json!({ "userId": viewer })).await;
    assert_eq!(status, 200, "everybody may leave");
    let (status, _) = team.members(Role::Admin, "RemoveMember", json!({ "userId": viewer })).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn stale_role_counts_no_longer() {
    let team = Team::new().await;
    let admin = json!({ "userId": user_id(Role::Admin).to_string(), "role": "viewer" });
    assert_eq!(team.members(Role::Owner, "UpdateMember", admin).await.0, 200);
    // This caller was authenticated before the change.
    let request = json!({ "role": "viewer" });
    let (status, answer) = team.members(Role::Admin, "CreateInvitation", request).await;
    assert_eq!((status, reason(&answer)), (403, "ROLE_REQUIRED"), "{answer}");
}

#[tokio::test]
async fn keys_are_listed_with_prefix_and_revoked() {
    let team = Team::new().await;
    let reader = team.server.caller(rules::Scope::Read);
    let path = format!("{API_KEYS}/ListApiKeys");
    let (_, listed) = team.call(Role::Viewer, &path, json!({ "limit": 1 })).await;
    assert_eq!(listed["totalSize"], 2, "{listed}");
    let (_, listed) = team.call(Role::Viewer, &path, json!({})).await;
    for key in listed["apiKeys"].as_array().unwrap() {
        assert_eq!(key["createdBy"], "command_line");
    }
    let id = team.server.key_id(rules::Scope::Read).to_string();
    let find = |listed: &Value| {
        let keys = listed["apiKeys"].as_array().unwrap().clone();
        keys.into_iter().find(|key| key["id"] == *id).unwrap()
    };
    let prefix = find(&listed)["prefix"].as_str().unwrap().to_owned();
    assert!(reader.key().unwrap().starts_with(&prefix), "{prefix}");
    assert_eq!(reader.call(API_KEYS, "ListApiKeys", json!({})).await.status, 200);
    team.server.running().app().auth.save_last_uses().await.unwrap();
    let (_, listed) = team.call(Role::Viewer, &path, json!({})).await;
    assert_eq!(find(&listed)["lastUsedFrom"], "127.0.0.1");
    let path = format!("{API_KEYS}/RevokeApiKey");
    assert_eq!(team.call(Role::Admin, &path, json!({ "id": id })).await.0, 200);
    assert_eq!(reader.call(API_KEYS, "ListApiKeys", json!({})).await.status, 401, "at once");
}

#[tokio::test]
async fn workspace_rests_until_deletion_is_cancelled() {
    let team = Team::new().await;
    let writer = team.server.caller(rules::Scope::Write);
    let created = writer.rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") })).await;
    let id = created.json()["monitor"]["id"].clone();
    let page = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let page = writer.call(STATUS_PAGES, "CreateStatusPage", page).await.json();
    let request = json!({ "id": page["statusPage"]["id"] });
    writer.call(STATUS_PAGES, "PublishStatusPage", request).await;
    assert_eq!(team.server.nobody().get("/status/acme").await.status, 200);
    let (status, deleted) = team.workspaces(Role::Owner, "DeleteWorkspace", json!({})).await;
    assert_eq!(status, 200, "{deleted}");
    let due = deleted["workspace"]["deletesAt"].clone();
    assert!(due.is_string(), "{deleted}");
    team.server.advance(Duration::from_mins(1));
    let (_, again) = team.workspaces(Role::Owner, "DeleteWorkspace", json!({})).await;
    assert_eq!(again["workspace"]["deletesAt"], due, "repeating does not move it");
    assert_eq!(team.server.nobody().get("/status/acme").await.status, 404);
    let change = json!({ "monitor": { "id": id, "name": "new" }, "updateMask": "name" });
    let refused = writer.rpc("UpdateTcpMonitor", change.clone()).await;
    assert_eq!(refused.reason().as_deref(), Some("FAILED_PRECONDITION"), "{refused}");
    assert_eq!(writer.call(MONITORS, "GetMonitor", json!({ "id": id })).await.status, 200);
    let (status, kept) = team.workspaces(Role::Owner, "CancelDeletion", json!({})).await;
    assert_eq!((status, kept["workspace"].get("deletesAt")), (200, None), "{kept}");
    assert_eq!(team.server.nobody().get("/status/acme").await.status, 200);
    assert_eq!(writer.rpc("UpdateTcpMonitor", change).await.status, 200);
}

#[tokio::test]
async fn update_is_audited_with_fields_and_address() {
    let team = Team::new().await;
    let writer = team.server.caller(rules::Scope::Write);
    let mut monitor = a_monitor("http");
    monitor["headers"] = json!([{ "key": "Authorization", "value": "hunter2" }]);
    let created = writer.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let id = created["monitor"]["id"].clone();
    let header = json!([{ "key": "Authorization", "value": "hunter3" }]);
    let update = json!({ "id": id, "periodicity": "5m", "headers": header });
    let request = json!({ "monitor": update, "updateMask": "periodicity,headers" });
    let path = format!("{MONITORS}/UpdateHttpMonitor");
    let (status, answer) = team.call(Role::Editor, &path, request).await;
    assert_eq!(status, 200, "{answer}");
    let path = "audit.v1.AuditService/ListAuditEntries";
    let (_, listed) = team.call(Role::Owner, path, json!({ "limit": 1 })).await;
    let entry = &listed["entries"][0];
    assert_eq!(entry["actorName"], "The editor");
    assert_eq!(entry["address"], "192.0.2.1");
    insta::assert_snapshot!(entry["changes"].to_string(), @r#"[{"field":"headers","before":"[{\"key\":\"Authorization\"}]","after":"[{\"key\":\"Authorization\"}]"},{"field":"periodicity","before":"\"1m\"","after":"\"5m\""}]"#);
}
