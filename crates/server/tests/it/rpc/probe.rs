//! Probes by RPC: rights of callers, responses, and tokens that work at once.

use std::time::Duration;

use rules::{Role, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

use super::people::Team;
use crate::probes::refused;

const PROBES: &str = "probe.v1.ProbeService";

async fn refusal(caller: &Caller, method: &str, request: Value) -> (u16, String) {
    let reply = caller.call(PROBES, method, request).await;
    (reply.status.as_u16(), reply.json()["message"].as_str().unwrap_or_default().to_owned())
}

// issue 19 point 1: "`aloft probes create --region fly-ams` (and RPC, and the dashboard)"
#[tokio::test]
async fn created_token_opens_a_stream_until_deleted() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let new = json!({ "regions": ["fly-ams", "fly-arn", "fly-ams"] });
    let created = caller.call(PROBES, "CreateProbe", new).await.json();
    let (id, token) = (created["probe"]["id"].clone(), created["token"].as_str().unwrap());
    assert_eq!(created["probe"]["name"], "fly-ams-fly-arn");
    assert_eq!(created["probe"]["regions"], json!(["fly-ams", "fly-arn"]));
    let command = format!("aloft probe --server http://{} --token {token}", server.address());
    assert_eq!(created["command"], command);
    assert_eq!(refused::open(&server, token, 1).await.status(), 200);
    let listed = server.caller(Scope::Read).call(PROBES, "ListProbes", json!({})).await;
    let text = listed.text();
    assert_eq!(listed.json()["probes"][0]["id"], id);
    assert!(!text.contains(token), "{text}");
    let rotated = caller.call(PROBES, "RotateProbeToken", json!({ "id": id })).await.json();
    let second = rotated["token"].as_str().unwrap();
    assert_ne!(second, token);
    assert_eq!(refused::open(&server, token, 1).await.status(), 200, "the first one still works");
    caller.call(PROBES, "DeleteProbe", json!({ "id": id })).await.json();
    for token in [token, second] {
        assert_eq!(refused::open(&server, token, 1).await.status(), 401);
    }
}

// issue 16, point 27: "List newest first everywhere"
#[tokio::test]
async fn newest_probe_is_listed_first() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    for region in ["fly-ams", "fly-arn", "fly-bom"] {
        caller.call(PROBES, "CreateProbe", json!({ "regions": [region] })).await.json();
        server.advance(Duration::from_secs(1));
    }
    let listed = caller.call(PROBES, "ListProbes", json!({})).await.json();
    let names = listed["probes"].as_array().unwrap().iter().map(|probe| probe["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["fly-bom", "fly-arn", "fly-ams"]);
}

#[tokio::test]
async fn probes_are_only_for_the_operators_admins() {
    let team = Team::new().await;
    let new = || json!({ "name": "ams", "regions": ["fly-ams"] });
    for (role, status) in
        [(Role::Viewer, 403), (Role::Editor, 403), (Role::Admin, 200), (Role::Owner, 409)]
    {
        let (found, answer) = team.call(role, "probe.v1.ProbeService/CreateProbe", new()).await;
        assert_eq!(found, status, "{role}: {answer}");
    }
    let server = &team.server;
    let other = server.stranger();
    let read = server.caller(Scope::Read);
    let listed = read.call(PROBES, "ListProbes", json!({})).await.json();
    let probes = listed["probes"].as_array().unwrap();
    assert_eq!(probes.len(), 1);
    let id = &probes[0]["id"];
    let methods = [
        ("CreateProbe", json!({ "name": "arn", "regions": ["fly-arn"] })),
        ("RotateProbeToken", json!({ "id": id })),
        ("DeleteProbe", json!({ "id": id })),
    ];
    for (method, request) in methods {
        let (status, message) = refusal(&other, method, request).await;
        assert_eq!(status, 403, "{method}");
        assert!(message.contains("only a workspace of this server's operator"), "{message}");
    }
    let seen = other.call(PROBES, "ListProbes", json!({})).await.json();
    assert_eq!(seen["probes"], json!([]), "{seen}");
    assert_eq!(refusal(&read, "CreateProbe", new()).await.0, 403, "a read key");
}

// issue 19, point 1: "A workspace may register private regions"
#[tokio::test]
async fn each_workspace_has_private_probes() {
    let server = TestServer::start().await;
    let (own, other) = (server.caller(Scope::Write), server.stranger());
    let new = || json!({ "name": "office", "regions": ["private-1", "private-2"] });
    let mut ids = Vec::new();
    for caller in [&own, &other] {
        let created = caller.call(PROBES, "CreateProbe", new()).await.json();
        assert_eq!(created["probe"]["regions"], json!(["private-1", "private-2"]), "{created}");
        let token = created["token"].as_str().unwrap();
        assert_eq!(refused::open(&server, token, 1).await.status(), 200);
        ids.push(created["probe"]["id"].clone());
    }
    for (caller, id) in [(&own, &ids[0]), (&other, &ids[1])] {
        let listed = caller.call(PROBES, "ListProbes", json!({})).await.json();
        assert_eq!(listed["probes"].as_array().unwrap().len(), 1, "{listed}");
        assert_eq!(listed["probes"][0]["id"], *id);
    }
    for method in ["RotateProbeToken", "DeleteProbe"] {
        for (caller, id) in [(&own, &ids[1]), (&other, &ids[0])] {
            assert_eq!(refusal(caller, method, json!({ "id": id })).await.0, 404, "{method}");
        }
    }
    let mixed = json!({ "regions": ["private-3", "fly-ams"] });
    let (status, message) = refusal(&own, "CreateProbe", mixed).await;
    assert_eq!(status, 400, "{message}");
    assert!(message.contains("must not mix private regions with others"), "{message}");
    other.call(PROBES, "DeleteProbe", json!({ "id": ids[1] })).await.json();
}

// Anybody with a write key could fill the memory of the server with deleted probes.
#[tokio::test]
async fn workspace_creates_few_probes_an_hour() {
    let server = TestServer::start().await;
    let stranger = server.stranger();
    let new = || json!({ "regions": ["private-1"] });
    for number in 0..rules::limits::PROBE_CREATIONS {
        let created = stranger.call(PROBES, "CreateProbe", new()).await.json();
        let id = json!({ "id": created["probe"]["id"] });
        let deleted = stranger.call(PROBES, "DeleteProbe", id).await;
        assert_eq!(deleted.status, 200, "{number}: {deleted}");
    }
    let (status, message) = refusal(&stranger, "CreateProbe", new()).await;
    assert_eq!(status, 429, "{message}");
    assert!(message.contains("more than 64 probes in an hour"), "{message}");
    let own = server.caller(Scope::Write).call(PROBES, "CreateProbe", new()).await;
    assert_eq!(own.status, 200, "{own}");
    server.advance(rules::limits::PROBE_CREATIONS_IN);
    assert_eq!(stranger.call(PROBES, "CreateProbe", new()).await.status, 200);
}

#[tokio::test]
async fn invalid_probes_are_explained() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut shown = Vec::new();
    for request in [
        json!({ "regions": ["fly-moon"] }),
        json!({ "name": "nowhere" }),
        json!({ "name": "Not A Slug", "regions": ["fly-ams"] }),
        json!({ "regions": rules::Region::PUBLIC_WORDS }),
    ] {
        let (status, message) = refusal(&caller, "CreateProbe", request).await;
        shown.push(format!("{status} {message}"));
    }
    assert!(shown[0].ends_with("(given: `fly-moon`)"), "{}", shown[0]);
    insta::assert_snapshot!(shown[1..].join("\n"), @"
    400 `regions` must have at least one region
    400 `name` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Not A Slug`)
    400 `name` is required: the names of its 28 regions have more than 40 characters
    ");
}
