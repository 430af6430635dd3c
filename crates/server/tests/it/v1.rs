//! `/v1`: identity, revocation and description.

use insta::assert_snapshot;
use rules::Scope;
use serde_json::json;
use testkit::server::{Caller, Reply, TestServer};

async fn revoke(caller: &Caller, id: &str) -> Reply {
    caller.send(http::Method::DELETE, &format!("/v1/api-key/{id}"), "text/plain", "").await
}

#[tokio::test]
async fn whoami_answers_workspace_and_key() {
    // spec: §4.1, §5.8
    let server = TestServer::start().await;
    for (scope, word) in [(Scope::Read, "read"), (Scope::Write, "write")] {
        let reply = server.caller(scope).get("/v1/whoami").await;
        let due = json!({
            "name": "Acme",
            "slug": "acme",
            "plan": "free",
            "actor": { "type": "apiKey", "keyId": server.key_id(scope), "scopes": [word] },
        });
        assert_eq!((reply.status.as_u16(), reply.json()), (200, due));
    }
}

#[tokio::test]
async fn a_legacy_key_reports_write() {
    // spec: §5.6
    let server = TestServer::start().await;
    let acme = server.running().app().store.workspaces().by_slug("acme").await.unwrap().id;
    let key = server.running().control().create_legacy_key(acme, "old".to_owned()).await.unwrap();
    let reply = server.with_key(key.key.expose()).get("/v1/whoami").await;
    assert_eq!(reply.json()["actor"]["scopes"], json!(["write"]));
}

#[tokio::test]
async fn a_read_key_revokes_itself_and_nothing_else() {
    // spec: §4.2, §5.7, §7 rows 2 and 3
    let server = TestServer::start().await;
    let read = server.caller(Scope::Read);
    let write_id = server.key_id(Scope::Write).to_string();
    let stranger_id = server.stranger_key_id().to_string();
    // The response is the same for existing, foreign, unknown and malformed IDs.
    for id in
        [write_id.as_str(), &stranger_id, "key_0000000000001", "nonsense", "%F0%9F%94%91", "%FF"]
    {
        let reply = revoke(&read, id).await;
        assert_eq!(
            (reply.status.as_u16(), reply.reason().as_deref()),
            (403, Some("KEY_READ_ONLY")),
            "{id}"
        );
    }
    let own = server.key_id(Scope::Read).to_string();
    let reply = revoke(&read, &own).await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0));
    assert_eq!(read.get("/v1/whoami").await.reason().as_deref(), Some("KEY_REVOKED"));
    assert_eq!(server.caller(Scope::Write).get("/v1/whoami").await.status, 200);
}

#[tokio::test]
async fn write_key_revokes_only_keys_of_its_workspace() {
    // spec: §4.2
    let server = TestServer::start().await;
    let write = server.caller(Scope::Write);
    let stranger_id = server.stranger_key_id().to_string();
    for id in [stranger_id.as_str(), "key_0000000000001", "nonsense", "%FF"] {
        let reply = revoke(&write, id).await;
        assert_eq!(
            (reply.status.as_u16(), reply.reason().as_deref()),
            (404, Some("NOT_FOUND")),
            "{id}"
        );
    }
    assert_eq!(server.stranger().get("/v1/whoami").await.status, 200);
    let read = server.key_id(Scope::Read).to_string();
    assert_eq!(revoke(&write, &read).await.status, 204);
    assert_eq!(revoke(&write, &read).await.status, 204, "once more is no error");
    assert_eq!(server.caller(Scope::Read).get("/v1/whoami").await.status, 401);
    let own = server.key_id(Scope::Write).to_string();
    assert_eq!(revoke(&write, &own).await.status, 204);
    assert_eq!(write.get("/v1/whoami").await.status, 401);
}

#[tokio::test]
async fn errors_are_problems_with_a_reason() {
    // design: §4, errors
    let server = TestServer::start().await;
    let nobody = server.nobody();
    let replies = [
        nobody.get("/v1/whoami").await,
        server.with_key("hunter2").get("/v1/whoami").await,
        nobody.get("/v1/nonsense").await,
        nobody.get("/v1").await,
        server.caller(Scope::Read).send(http::Method::POST, "/v1/whoami", "text/plain", "x").await,
        revoke(&server.caller(Scope::Write), "key_0000000000001").await,
    ];
    for reply in &replies {
        assert_eq!(reply.headers["content-type"], "application/problem+json", "{reply}");
        assert!(reply.headers.contains_key("x-request-id"), "{reply}");
    }
    let shown: Vec<String> = replies.iter().map(ToString::to_string).collect();
    assert_snapshot!(shown.join("\n"), @r#"
    401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"the API key is missing; send it in the header x-service-key or as a bearer token","reason":"KEY_MISSING","requestId":"req_c3cf17102b7f7f86"}
    401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"unknown API key; check that it is complete and belongs to this server","reason":"KEY_UNKNOWN","requestId":"req_3466e9a083914f64"}
    404 {"type":"about:blank","title":"Not Found","status":404,"detail":"`/v1/nonsense` not found; see /openapi.json","reason":"NOT_FOUND","requestId":"req_d81a8d2b5a4485ac"}
    404 {"type":"about:blank","title":"Not Found","status":404,"detail":"`/v1` not found; see /openapi.json","reason":"NOT_FOUND","requestId":"req_db01602b100b9ed7"}
    405 {"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"POST is not for `/v1/whoami`; see /openapi.json","reason":"METHOD_NOT_ALLOWED","requestId":"req_a9038a921825f10d"}
    404 {"type":"about:blank","title":"Not Found","status":404,"detail":"key `key_0000000000001` not found in this workspace","reason":"NOT_FOUND","requestId":"req_edf5f1d90dca2f6a"}
    "#);
}

#[tokio::test]
async fn unknown_v1_paths_return_404_problem_json() {
    // issue 3: bad input
    let server = TestServer::start().await;
    for path in ["/v1", "/v1/", "/v1//", "/v1/whoami/", "/v1//whoami", "/v1/api-key/", "/v1/%FF"] {
        let reply = server.caller(Scope::Write).get(path).await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.headers["content-type"], "application/problem+json", "{path}");
    }
}
