//! Management of probes from the command line: tokens, names, and the news for a running server.

use std::time::Duration;

use rules::Region;
use rules::limits::PROBE_TOKEN_OVERLAP;
use serde_json::json;
use server::auth::probe_token;
use server::control::{Admin, CreateProbe, ProbeRow, connect};
use store::{Store, StoredProbe};
use testkit::server::{START, TestServer};
use web::context::Context;

use super::{beside, embedded};

fn a_probe(name: Option<&str>, regions: &[Region]) -> CreateProbe {
    CreateProbe { workspace: None, name: name.map(str::to_owned), regions: regions.to_vec() }
}

/// Returns the probe that the server finds with this token at this time after the start.
async fn found(server: &TestServer, token: &str, later: Duration) -> Option<StoredProbe> {
    let presented = probe_token::read(token.as_bytes()).unwrap();
    let probes = server.running().app().store.probes();
    let found = probes.find_for_auth(presented.hash, START + later).await.unwrap();
    if let Some(found) = &found {
        assert_eq!(found.id, presented.probe, "the token has the ID of its probe");
    }
    found
}

async fn refusal(admin: &Admin, new: CreateProbe) -> String {
    admin.create_probe(new).await.unwrap_err().to_string()
}

// issue 19 point 1: "`aloft probes create --region fly-ams` prints the one line to paste elsewhere"
#[tokio::test]
async fn created_probe_is_found_by_its_token() {
    let server = TestServer::start().await;
    let admin = beside(&server).await;
    let new = a_probe(None, &[Region::FlyArn, Region::FlyAms, Region::FlyArn]);
    let created = admin.create_probe(new).await.unwrap();
    let regions = vec![Region::FlyAms, Region::FlyArn];
    assert_eq!((created.name.as_str(), &created.regions), ("fly-ams-fly-arn", &regions));
    assert_eq!(created.server_url, Some(format!("http://{}", server.running().address())));
    let probe = found(&server, created.token.expose(), PROBE_TOKEN_OVERLAP).await.unwrap();
    assert_eq!((probe.id, &probe.regions), (created.id, &regions));
    let row = ProbeRow {
        id: created.id,
        name: created.name,
        workspace: None,
        regions,
        created_at: START,
        last_seen_at: None,
        version: None,
        address: None,
        previous_token_ends_at: None,
        connected: Some(false),
    };
    assert_eq!(admin.list_probes().await.unwrap(), [row]);
    let caller = server.with_key(created.token.expose());
    assert_eq!(caller.rpc("ListMonitors", json!({})).await.status, 401, "the token is no key");
}

// issue 19 point 1: "rotated without a gap"
#[tokio::test]
async fn rotation_keeps_the_previous_token_a_day() {
    let server = TestServer::start().await;
    let admin = beside(&server).await;
    let first = admin.create_probe(a_probe(Some("ams"), &[Region::FlyAms])).await.unwrap();
    let second = admin.rotate_probe("ams".to_owned()).await.unwrap();
    let (first, second) = (first.token.expose(), second.token.expose());
    let until = PROBE_TOKEN_OVERLAP.saturating_sub(Duration::from_millis(1));
    for (token, later, is_valid) in [
        (first, until, true),
        (second, until, true),
        (first, PROBE_TOKEN_OVERLAP, false),
        (second, PROBE_TOKEN_OVERLAP, true),
    ] {
        assert_eq!(found(&server, token, later).await.is_some(), is_valid, "{later:?}");
    }
    let row = admin.list_probes().await.unwrap().remove(0);
    assert_eq!(row.previous_token_ends_at, Some(START + PROBE_TOKEN_OVERLAP));
}

#[tokio::test]
async fn running_server_learns_of_every_change() {
    let server = TestServer::start().await;
    let admin = beside(&server).await;
    let mut changed = server.running().app().store.probes().changed();
    let created = admin.create_probe(a_probe(None, &[Region::FlyAms])).await.unwrap();
    assert!(changed.has_changed().unwrap(), "created");
    changed.mark_unchanged();
    admin.rotate_probe(created.id.to_string()).await.unwrap();
    assert!(changed.has_changed().unwrap(), "rotated");
    changed.mark_unchanged();
    assert_eq!(admin.delete_probe(created.id.to_string()).await.unwrap().name, "fly-ams");
    assert!(changed.has_changed().unwrap(), "deleted");
    assert_eq!(admin.list_probes().await.unwrap(), []);
}

#[tokio::test]
async fn socket_and_folder_refuse_invalid_probes_alike() {
    let server = TestServer::start().await;
    let remote = beside(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    Store::open(embedded(&data)).await.unwrap().close().await.unwrap();
    let local = connect(&Context::system(), embedded(&data)).await.unwrap();
    let mut shown = Vec::new();
    for admin in [&remote, &local] {
        let ams = [Region::FlyAms];
        admin.create_probe(a_probe(Some("amsterdam"), &ams)).await.unwrap();
        let longest = "a".repeat(40);
        admin.create_probe(a_probe(Some(&longest), &[Region::FlyArn])).await.unwrap();
        let mut refusals = vec![
            refusal(admin, a_probe(Some("amsterdam"), &[Region::FlyBom])).await,
            refusal(admin, a_probe(Some("other"), &[Region::FlyBom, Region::FlyAms])).await,
            refusal(admin, a_probe(Some(""), &[Region::FlyBom])).await,
            refusal(admin, a_probe(Some("Not A Slug"), &[Region::FlyBom])).await,
            refusal(admin, a_probe(Some(&"a".repeat(41)), &[Region::FlyBom])).await,
            refusal(admin, a_probe(None, &[])).await,
            refusal(admin, a_probe(None, Region::PUBLIC)).await,
        ];
        for unknown in ["amsterdm", "prb_0000000000000"] {
            let rotated = admin.rotate_probe(unknown.to_owned()).await.unwrap_err();
            let deleted = admin.delete_probe(unknown.to_owned()).await.unwrap_err();
            assert_eq!(rotated.to_string(), deleted.to_string());
            refusals.push(rotated.to_string());
        }
        assert_eq!(admin.list_probes().await.unwrap().len(), 2, "nothing else is stored");
        shown.push(refusals.join("\n"));
    }
    assert_eq!(shown[0], shown[1]);
    insta::assert_snapshot!(shown[0], @"
    probe `amsterdam` already exists; choose another name
    region `fly-ams` is served by the probe `amsterdam`; leave the region out, or delete that probe first
    `name` must not be empty
    `name` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Not A Slug`)
    `name` must have at most 40 characters (given: `41 characters`)
    `regions` must have at least one region
    `name` is required: the names of its 28 regions have more than 40 characters
    unknown probe `amsterdm`; did you mean `amsterdam`?
    unknown probe `prb_0000000000000`; see `aloft probes list`
    ");
}

// issue 19, point 1: "A workspace may register private regions"
#[tokio::test]
async fn private_probes_name_their_workspace() {
    let server = TestServer::start().await;
    let admin = beside(&server).await;
    let office = |workspace: Option<&str>| CreateProbe {
        workspace: workspace.map(str::to_owned),
        ..a_probe(Some("office"), &[Region::Private1])
    };
    let shown = refusal(&admin, office(None)).await;
    assert!(shown.contains("add --workspace SLUG"), "{shown}");
    let shared =
        CreateProbe { workspace: Some("acme".to_owned()), ..a_probe(None, &[Region::FlyAms]) };
    let shown = refusal(&admin, shared).await;
    assert!(shown.contains("must be private with a workspace"), "{shown}");
    let mut ids = Vec::new();
    for workspace in ["acme", "other"] {
        ids.push(admin.create_probe(office(Some(workspace))).await.unwrap().id);
    }
    let listed = admin.list_probes().await.unwrap();
    let slugs: Vec<_> = listed.iter().map(|row| row.workspace.as_deref().unwrap()).collect();
    assert_eq!(slugs.len(), 2);
    assert!(slugs.contains(&"acme") && slugs.contains(&"other"), "{slugs:?}");
    let shown = admin.rotate_probe("office".to_owned()).await.unwrap_err().to_string();
    assert!(shown.contains("several probes are named `office`; use an ID"), "{shown}");
    admin.delete_probe(ids[1].to_string()).await.unwrap();
    admin.rotate_probe("office".to_owned()).await.unwrap();
    let own = admin.create_probe(a_probe(Some("office"), &[Region::FlyBom])).await.unwrap();
    let rotated = admin.rotate_probe("office".to_owned()).await.unwrap();
    assert_eq!(rotated.id, own.id, "a workspace does not take the operator's name away");
}
