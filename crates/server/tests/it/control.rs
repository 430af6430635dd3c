//! Management of workspaces and keys from the command line, with and without a running server.

mod probes;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rules::Scope;
use serde_json::json;
use server::boot::store_settings;
use server::control::{Admin, CreateKey, CreateWorkspace, connect};
use store::{Database, MasterKeySource, Settings, Store};
use testkit::server::TestServer;
use web::context::Context;

async fn beside(server: &TestServer) -> Admin {
    connect(&Context::system(), store_settings(server.settings())).await.unwrap()
}

fn embedded(folder: &Path) -> Settings {
    Settings {
        folder: folder.to_owned(),
        database: Database::Embedded,
        master_key: MasterKeySource::File,
    }
}

fn a_key(workspace: &str) -> CreateKey {
    CreateKey {
        workspace: workspace.to_owned(),
        name: "ci".to_owned(),
        scope: Scope::Write,
        expires_in_seconds: None,
    }
}

#[tokio::test]
async fn running_server_accepts_commands_over_its_socket() {
    // issue 3: keys, even while the server runs
    let server = TestServer::start().await;
    let admin = beside(&server).await;
    assert!(admin.is_remote());
    let created = admin.create_key(a_key("acme")).await.unwrap();
    let caller = server.with_key(created.key.expose());
    assert_eq!(caller.rpc("ListMonitors", json!({})).await.status, 200);
    let keys = admin.list_keys(Some("acme")).await.unwrap();
    assert!(keys.iter().any(|key| key.id == created.id && key.name == "ci"));
    admin.revoke_key(created.id).await.unwrap();
    assert_eq!(caller.rpc("ListMonitors", json!({})).await.status, 401);
}

#[tokio::test]
async fn socket_is_private_and_removed_on_stop() {
    let server = TestServer::start().await;
    let socket = server.settings().data.join("control.sock");
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mode = std::fs::metadata(&server.settings().data).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    server.stop().await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn commands_work_on_the_folder_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let ctx = Context::system();
    assert!(connect(&ctx, embedded(&data)).await.is_err());
    assert!(!data.exists(), "only a server creates a database");
    Store::open(embedded(&data)).await.unwrap().close().await.unwrap();
    let admin = connect(&ctx, embedded(&data)).await.unwrap();
    assert!(!admin.is_remote());
    let new = CreateWorkspace { slug: "acme".to_owned(), name: "Acme".to_owned(), plan: None };
    let workspace = admin.create_workspace(new).await.unwrap();
    let listed = admin.list_workspaces().await.unwrap();
    assert_eq!(listed.into_iter().map(|it| it.workspace).collect::<Vec<_>>(), [workspace]);
    let created = admin.create_key(a_key("acme")).await.unwrap();
    admin.revoke_key(created.id).await.unwrap();
    let keys = admin.list_keys(None).await.unwrap();
    assert!(keys[0].revoked_at.is_some());
    admin.close().await.unwrap();
    let again = connect(&ctx, embedded(&data)).await.unwrap();
    assert_eq!(again.list_keys(None).await.unwrap(), keys);
    again.close().await.unwrap();
}

#[tokio::test]
async fn socket_and_folder_refuse_invalid_input_alike() {
    let server = TestServer::start().await;
    let remote = beside(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    Store::open(embedded(&data)).await.unwrap().close().await.unwrap();
    let local = connect(&Context::system(), embedded(&data)).await.unwrap();
    let acme = CreateWorkspace { slug: "acme".to_owned(), name: "Acme".to_owned(), plan: None };
    local.create_workspace(acme.clone()).await.unwrap();
    let mut shown = Vec::new();
    for admin in [&remote, &local] {
        let mut refusals = Vec::new();
        let new = |slug: &str, name: &str| CreateWorkspace {
            slug: slug.to_owned(),
            name: name.to_owned(),
            plan: None,
        };
        for new in [acme.clone(), new("No Slug", "x"), new("x", "")] {
            refusals.push(admin.create_workspace(new).await.unwrap_err().to_string());
        }
        refusals.push(admin.create_key(a_key("nobody")).await.unwrap_err().to_string());
        let nameless = CreateKey { name: String::new(), ..a_key("acme") };
        refusals.push(admin.create_key(nameless).await.unwrap_err().to_string());
        for seconds in [0, 36_500 * 86_400 + 1, u64::MAX] {
            let endless = CreateKey { expires_in_seconds: Some(seconds), ..a_key("acme") };
            refusals.push(admin.create_key(endless).await.unwrap_err().to_string());
        }
        let strange = rules::KeyId::from_bits(1);
        refusals.push(admin.revoke_key(strange).await.unwrap_err().to_string());
        refusals.push(admin.list_keys(Some("nobody")).await.unwrap_err().to_string());
        shown.push(refusals.join("\n"));
    }
    assert_eq!(shown[0], shown[1]);
    insta::assert_snapshot!(shown[0], @"
    workspace `acme` already exists; choose another name
    `slug` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `No Slug`)
    `name` must not be empty
    workspace `nobody` not found
    `name` must not be empty
    a key is valid for 1 second to 36500 days, or without a limit
    a key is valid for 1 second to 36500 days, or without a limit
    a key is valid for 1 second to 36500 days, or without a limit
    unknown key `key_0000000000001`; see `aloft keys list`
    workspace `nobody` not found
    ");
}

#[tokio::test]
async fn command_line_change_is_audited() {
    // design: §6
    let server = TestServer::start().await;
    let created = beside(&server).await.create_key(a_key("acme")).await.unwrap();
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let entry = store.audit().newest(acme, 1).await.unwrap().remove(0);
    let key = created.id.to_string();
    assert_eq!((entry.action.as_str(), entry.actor.as_str()), ("key.create", "command line"));
    assert_eq!(entry.resource_id, key);
}

// issue 18, point 1: "reset by email and by `aloft users reset`"
#[tokio::test]
async fn reset_user_gets_new_password_and_no_sessions() {
    let server = TestServer::start().await;
    crate::rpc::people::add_members(&server).await;
    let admin = beside(&server).await;
    let users = admin.list_users().await.unwrap();
    let viewer = users.iter().find(|user| user.email == "viewer@example.com").unwrap();
    assert_eq!(viewer.roles.get("acme"), Some(&rules::Role::Viewer));
    assert_eq!(users.len(), 4);
    let store = &server.running().app().store;
    let before = store.users().get(viewer.id).await.unwrap().1;
    let passkey = store::NewPasskey {
        id: rules::PasskeyId::from_bits(1),
        user: viewer.id,
        credential_id: vec![1],
        public_key: vec![2],
        state: vec![3],
        name: "Laptop".to_owned(),
    };
    let change = store::AuditContext::new(store::Actor::Server, server.running().app().ctx.now());
    store.passkeys().add(passkey, change).await.unwrap();
    let kept = admin.reset_user("viewer@example.com".to_owned(), true).await.unwrap();
    assert_eq!(kept.removed_passkeys, 0);
    let new = admin.reset_user("Viewer@Example.com".to_owned(), false).await.unwrap();
    assert_eq!(
        (new.removed_passkeys, store.passkeys().list(viewer.id).await.unwrap().len()),
        (1, 0)
    );
    let after = store.users().get(viewer.id).await.unwrap().1;
    assert_eq!((new.id, new.password.expose().len()), (viewer.id, 24));
    assert!(after.expose().starts_with("$argon2id$") && after != before);
    let refusal = admin.reset_user("nobody@example.com".to_owned(), false).await.unwrap_err();
    insta::assert_snapshot!(refusal, @"no user has the address `nobody@example.com`; see `aloft users list`");
}
