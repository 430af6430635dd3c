//! Signing secrets over RPC. A secret is shown once, to a write key, on creation.

use rules::{Scope, WorkspaceId};
use serde_json::json;
use testkit::server::TestServer;

use super::call;

#[tokio::test]
async fn signing_secret_is_shown_only_on_rotation() {
    // issue 6, point 6
    let server = TestServer::start().await;
    let (write, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let first = call(&read, "ListSigningSecrets", json!({})).await;
    assert_eq!(first.json()["signingSecrets"].as_array().unwrap().len(), 1, "{first}");
    let rotated = call(&write, "RotateSigningSecret", json!({})).await.json();
    let secret = rotated["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    let listed = call(&write, "ListSigningSecrets", json!({})).await;
    assert_eq!(listed.json()["signingSecrets"], rotated["signingSecrets"]);
    assert!(!listed.to_string().contains("whsec_"), "{listed}");
    let id = |at: usize| rotated["signingSecrets"][at]["id"].as_str().unwrap();
    let shown = listed.json()["signingSecrets"].to_string();
    let shown = shown.replace(id(0), "sgn_new").replace(id(1), "sgn_old");
    insta::assert_snapshot!(shown, @r#"[{"id":"sgn_new","createdAt":"2026-11-21T00:00:00Z"},{"id":"sgn_old","createdAt":"2026-11-21T00:00:00Z","expiresAt":"2026-11-22T00:00:00Z"}]"#);
}

#[tokio::test]
async fn messages_are_signed_with_the_shown_secret() {
    let server = TestServer::start().await;
    let rotated = call(&server.caller(Scope::Write), "RotateSigningSecret", json!({})).await.json();
    let app = server.running().app();
    let workspace: WorkspaceId = app.store.workspaces().by_slug("acme").await.unwrap().id;
    let signing = app.store.signing_secrets().active(workspace, app.ctx.now()).await.unwrap();
    assert_eq!(signing.len(), 2);
    let shown = domain::notify::signing_secret_text(&signing[0]);
    assert_eq!(rotated["secret"], json!(shown.expose()));
}

#[tokio::test]
async fn an_overlap_has_its_bounds() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let rotate = async |hours: i32| {
        call(&caller, "RotateSigningSecret", json!({ "overlapHours": hours })).await
    };
    for (hours, signing) in [(168, 2), (0, 1)] {
        let rotated = rotate(hours).await.json();
        assert_eq!(rotated["signingSecrets"].as_array().unwrap().len(), signing, "{hours}");
    }
    for hours in [-1, 169] {
        let refused = rotate(hours).await;
        assert_eq!(refused.status, 400, "{refused}");
        let message = refused.json()["message"].to_string();
        assert!(message.contains("must be a whole number from 0 to 168"), "{message}");
    }
}

#[tokio::test]
async fn another_workspace_keeps_its_own() {
    let server = TestServer::start().await;
    let stranger = server.stranger();
    let before = call(&stranger, "ListSigningSecrets", json!({})).await.json();
    call(&server.caller(Scope::Write), "RotateSigningSecret", json!({ "overlapHours": 0 })).await;
    assert_eq!(call(&stranger, "ListSigningSecrets", json!({})).await.json(), before);
}
