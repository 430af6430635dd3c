//! Probes in the dashboard: created with a command that works once it is pasted, given new tokens and
//! deleted: by the operator's admins for all, and by those of any workspace for its private regions.

use rules::Role;
use testkit::person::Person;
use testkit::server::TestServer;

use super::settings::join;
use crate::probes::refused;

/// Returns the token in the command that a page shows.
fn token(page: &str) -> String {
    let (_, after) = page.split_once("--token ").unwrap_or_else(|| panic!("no token: {page}"));
    after.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').collect()
}

async fn opens(server: &TestServer, token: &str) -> bool {
    refused::open(server, token, 1).await.status() == 200
}

// issue 19 point 1: "(and RPC, and the dashboard) prints the one line to paste elsewhere"
#[tokio::test]
async fn probe_is_created_rotated_and_deleted() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let regions = ada.get("/w/acme/regions").await.text();
    assert!(regions.contains("href=\"/w/acme/probes\""), "{regions}");
    let empty = ada.get("/w/acme/probes").await.text();
    assert!(empty.contains("No probes in other places"), "{empty}");

    let fields = [("name", ""), ("regions", "fly-ams"), ("regions", "fly-arn")];
    let created = ada.post("/w/acme/probes", &fields).await.text();
    let start = format!("aloft probe --server http://{} --token ", server.address());
    assert!(created.contains(&start), "{created}");
    let first = token(&created);
    assert!(opens(&server, &first).await);

    let list = ada.get("/w/acme/probes").await.text();
    assert!(list.contains("fly-ams-fly-arn") && !list.contains(&first), "{list}");
    assert!(!list.contains("value=\"fly-ams\""), "a served region is not offered: {list}");
    let id = list.split_once("/w/acme/probes/").unwrap().1.split_once('/').unwrap().0.to_owned();
    let rotated = ada.post(&format!("/w/acme/probes/{id}/rotate"), &[]).await.text();
    let second = token(&rotated);
    assert_ne!(first, second);
    let deleted = ada.post(&format!("/w/acme/probes/{id}/delete"), &[]).await;
    assert_eq!(deleted.location().as_deref(), Some("/w/acme/probes"), "{deleted}");
    for ended in [&first, &second] {
        assert!(!opens(&server, ended).await);
    }
}

#[tokio::test]
async fn invalid_probe_keeps_the_input() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let nowhere = ada.post("/w/acme/probes", &[("name", "nowhere")]).await;
    assert_eq!(nowhere.status, 422);
    let page = nowhere.text();
    assert!(page.contains("value=\"nowhere\"") && page.contains("at least one region"), "{page}");
    let fields = [("name", "Not A Slug"), ("regions", "fly-ams")];
    let page = ada.post("/w/acme/probes", &fields).await.text();
    assert!(page.contains("value=\"fly-ams\" checked"), "{page}");
    assert!(page.contains("words of a–z and 0–9"), "{page}");
}

#[tokio::test]
async fn only_the_operators_workspace_has_shared_probes() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let created = ada.post("/workspaces/new", &[("name", "Elsewhere")]).await;
    assert_eq!(created.location().as_deref(), Some("/w/elsewhere"), "{created}");
    let offered = ada.get("/w/elsewhere/probes").await.text();
    assert!(offered.contains("value=\"private-1\""), "{offered}");
    assert!(!offered.contains("value=\"fly-ams\""), "{offered}");
    let fields = [("name", "ams"), ("regions", "fly-ams")];
    let created = ada.post("/w/acme/probes", &fields).await.text();
    let list = ada.get("/w/acme/probes").await.text();
    let id = list.split_once("/w/acme/probes/").unwrap().1.split_once('/').unwrap().0.to_owned();
    let posts = ["/w/elsewhere/probes".to_owned()];
    let acts = ["rotate", "delete"].map(|act| format!("/w/elsewhere/probes/{id}/{act}"));
    for path in posts.iter().chain(&acts) {
        assert_eq!(ada.post(path, &fields).await.status, 403, "{path}");
    }
    assert!(opens(&server, &token(&created)).await, "nothing was changed");
    let vera = join(&server, &ada, "vera@example.com", Role::Editor).await;
    let regions = vera.get("/w/acme/regions").await.text();
    assert!(!regions.contains("/probes\""), "an editor does not manage probes: {regions}");
}

// issue 19, point 1: "A workspace may register private regions"
#[tokio::test]
async fn private_probe_is_shown_with_its_region() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    ada.post("/workspaces/new", &[("name", "Elsewhere")]).await;
    let fields = [("name", "office"), ("regions", "private-1")];
    let created = ada.post("/w/elsewhere/probes", &fields).await.text();
    assert!(opens(&server, &token(&created)).await);
    let regions = ada.get("/w/elsewhere/regions").await.text();
    assert!(regions.contains("private-1") && regions.contains("office"), "{regions}");
    let form = ada.get("/w/elsewhere/monitors/new").await.text();
    assert!(form.contains("value=\"private-1\""), "{form}");
    for page in ["/w/acme/regions", "/w/acme/monitors/new"] {
        let page = ada.get(page).await.text();
        assert!(!page.contains("office"), "another workspace's region is invisible: {page}");
    }
}
