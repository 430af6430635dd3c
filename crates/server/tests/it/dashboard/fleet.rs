//! All monitors: filters in the URL, and bulk changes that can be undone.

use std::time::Duration;

use rules::{Role, Scope};
use serde_json::{Value, json};
use store::{Actor, AuditContext, MemberRole};
use testkit::person::Person;
use testkit::server::TestServer;

use super::settings::join;
use crate::pipeline::until;

/// A workspace with monitors.
struct Fleet {
    server: TestServer,
    ada: Person,
    ids: Vec<String>,
}

impl Fleet {
    /// Creates paused monitors with these names.
    async fn of(names: &[&str]) -> Self {
        let server = TestServer::start().await;
        let ada = Person::set_up(&server).await;
        let mut ids = Vec::new();
        for name in names {
            let monitor = json!({ "name": name, "active": false, "periodicity": "10m",
                "url": format!("https://ada:hunter2@{}.example/?token=hunter2", ids.len()) });
            let caller = server.caller(Scope::Write);
            let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
            ids.push(created.json()["monitor"]["id"].as_str().unwrap().to_owned());
        }
        Self { server, ada, ids }
    }

    async fn page(&self, query: &str) -> String {
        self.ada.get(&format!("/w/acme/monitors{query}")).await.text()
    }

    /// Submits a bulk change of these monitors with further fields.
    async fn bulk(&self, action: &str, ids: &[String], more: &[(&str, &str)]) -> String {
        let mut fields = vec![("action", action)];
        fields.extend(ids.iter().map(|id| ("monitor", id.as_str())));
        fields.extend(more);
        let reply = self.ada.post("/w/acme/monitors/bulk", &fields).await;
        if reply.status == 200 { reply.text() } else { reply.location().unwrap_or_default() }
    }

    /// Takes back the only change that the page offers to undo.
    async fn undo(&self) {
        let page = self.page("").await;
        let token = page.split_once("name=\"change\" value=\"").unwrap().1;
        let token = token.split_once('"').unwrap().0;
        let reply = self.ada.post("/w/acme/monitors/undo", &[("change", token)]).await;
        assert_eq!(reply.status, 303, "{reply}");
        let again = self.ada.post("/w/acme/monitors/undo", &[("change", token)]).await;
        assert_eq!(again.status, 303, "{again}");
        assert!(self.page("").await.contains("It is too late to undo this."));
    }

    async fn is_active(&self, id: &str) -> bool {
        self.get(id).await["monitor"]["http"]["active"].as_bool().unwrap()
    }

    async fn get(&self, id: &str) -> Value {
        self.server.caller(Scope::Read).rpc("GetMonitor", json!({ "id": id })).await.json()
    }

    async fn count(&self) -> u64 {
        let all = self.server.caller(Scope::Read).rpc("ListMonitors", json!({})).await.json();
        all["totalSize"].as_u64().unwrap()
    }
}

#[tokio::test]
async fn fleet_is_filtered_by_its_url() {
    let fleet = Fleet::of(&["Shop", "Search <b>", "Mail"]).await;
    let all = fleet.page("").await;
    assert!(all.contains("1–3 of 3") && all.contains("Search &#60;b&#62;"), "{all}");
    assert!(!all.contains("hunter2") && all.contains("https://2.example/?…"), "{all}");
    let found = fleet.page("?q=SHOP").await;
    assert!(found.contains("1–1 of 1") && found.contains("value=\"SHOP\""), "{found}");
    let none = fleet.page("?status=down").await;
    assert!(none.contains("No monitor matches"), "{none}");
    let other = fleet.page("?kind=tcp&q=shop").await;
    assert!(other.contains("No monitor matches"), "{other}");
}

#[tokio::test]
async fn long_fleet_has_pages() {
    let names: Vec<String> = (0..51).map(|number| format!("monitor {number:02}")).collect();
    let fleet = Fleet::of(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let first = fleet.page("?sort=name").await;
    assert!(first.contains("1–50 of 51") && !first.contains("monitor 50"), "{first}");
    assert!(first.contains("href=\"/w/acme/monitors?sort=name&#38;page=2\""), "{first}");
    let second = fleet.page("?sort=name&page=2").await;
    assert!(second.contains("51–51 of 51") && second.contains("monitor 50"), "{second}");
}

#[tokio::test]
async fn bulk_pause_changes_active_monitors_and_is_undone() {
    let fleet = Fleet::of(&["a", "b", "c"]).await;
    assert_eq!(fleet.bulk("resume", &fleet.ids[..2], &[]).await, "/w/acme/monitors");
    assert!(fleet.page("").await.contains("2 monitors resumed."));
    assert!(fleet.is_active(&fleet.ids[0]).await && fleet.is_active(&fleet.ids[1]).await);
    fleet.undo().await;
    assert!(!fleet.is_active(&fleet.ids[0]).await && !fleet.is_active(&fleet.ids[1]).await);
    fleet.bulk("pause", &fleet.ids, &[]).await;
    assert!(fleet.page("").await.contains("All of these monitors are paused already."));
}

#[tokio::test]
async fn bulk_tags_filter_the_list() {
    let fleet = Fleet::of(&["shop", "mail", "archive"]).await;
    let tags =
        async |index: usize| fleet.get(&fleet.ids[index]).await["monitor"]["http"]["tags"].clone();
    fleet.bulk("add_tag", &fleet.ids[..2], &[("new_tag", " Prod ")]).await;
    fleet.bulk("add_tag", &fleet.ids[..1], &[("new_tag", "EU")]).await;
    assert_eq!((tags(0).await, tags(2).await), (json!(["EU", "Prod"]), json!([])));
    let found = fleet.page("?tag=prod").await;
    assert!(found.contains("1–2 of 2") && !found.contains("archive"), "{found}");
    assert!(found.contains("href=\"/w/acme/monitors?tag=EU\""), "{found}");
    let groups = fleet.page("?group=tag").await;
    assert!(groups.contains("1–4 of 4") && groups.contains("No tag"), "{groups}");
    assert!(groups.contains(&format!("id=\"row-1-{}\"", fleet.ids[0])), "{groups}");
    fleet.bulk("remove_tag", &[], &[("all", "1"), ("tag", "EU"), ("new_tag", "PROD")]).await;
    assert_eq!((tags(0).await, tags(1).await), (json!(["EU"]), json!(["Prod"])));
    let fields = [
        ("action", "add_tag"),
        ("new_tag", "a,b"),
        ("monitor", fleet.ids[1].as_str()),
        ("q", "mail"),
    ];
    let refused = fleet.ada.post("/w/acme/monitors/bulk", &fields).await;
    let text = refused.text();
    assert_eq!(refused.status, 422, "{text}");
    let ticked = format!("value=\"{}\" checked", fleet.ids[1]);
    for kept in ["The tag must not contain a comma.", "value=\"a,b\"", &ticked, "value=\"mail\""] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[tokio::test]
async fn removed_tag_comes_back_as_it_was() {
    let fleet = Fleet::of(&["shop"]).await;
    let change =
        json!({ "monitor": { "id": fleet.ids[0], "tags": ["Prod"] }, "updateMask": "tags" });
    fleet.server.caller(Scope::Write).rpc("UpdateHttpMonitor", change).await;
    fleet.bulk("remove_tag", &fleet.ids, &[("new_tag", "prod")]).await;
    assert!(fleet.page("").await.contains("1 monitor lost the tag “prod”."));
    fleet.undo().await;
    assert_eq!(fleet.get(&fleet.ids[0]).await["monitor"]["http"]["tags"], json!(["Prod"]));
    fleet.bulk("remove_tag", &fleet.ids, &[("new_tag", "other")]).await;
    assert!(fleet.page("").await.contains("None of these monitors has the tag “other”."));
}

#[tokio::test]
async fn all_matching_monitors_are_changed_at_once() {
    let fleet = Fleet::of(&["shop a", "shop b", "mail"]).await;
    let back = fleet.bulk("resume", &[], &[("all", "1"), ("q", "shop")]).await;
    assert_eq!(back, "/w/acme/monitors?q=shop");
    let mut active = Vec::new();
    for id in &fleet.ids {
        active.push(fleet.is_active(id).await);
    }
    assert_eq!(active, [true, true, false]);
    fleet.bulk("pause", &[], &[]).await;
    assert!(fleet.page("").await.contains("No monitor was selected."));
}

// issue 18, point 3: "bulk … delete with undo"
#[tokio::test]
async fn deletion_waits_for_its_undo() {
    let fleet = Fleet::of(&["a", "b"]).await;
    let asked = fleet.bulk("delete", &fleet.ids, &[]).await;
    assert!(asked.contains("Delete 2 monitors?"), "{asked}");
    fleet.bulk("delete", &fleet.ids, &[("confirmed", "2")]).await;
    let page = fleet.page("").await;
    assert!(page.contains("being deleted") && page.contains("2 monitors will be"), "{page}");
    fleet.undo().await;
    fleet.server.advance(Duration::from_secs(11));
    assert!(!fleet.page("").await.contains("being deleted") && fleet.count().await == 2);
    fleet.bulk("delete", &fleet.ids[..1], &[("confirmed", "1")]).await;
    assert_eq!(fleet.count().await, 2);
    fleet.server.advance(Duration::from_secs(11));
    until(async || (fleet.count().await == 1).then_some(())).await;
    let left = fleet.page("").await;
    assert!(left.contains(&fleet.ids[1]) && !left.contains(&fleet.ids[0]), "{left}");
}

#[tokio::test]
async fn person_without_the_role_deletes_nothing_later() {
    let fleet = Fleet::of(&["a"]).await;
    let store = &fleet.server.running().app().store;
    let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
    let person = join(&fleet.server, &fleet.ada, "bob@example.com", Role::Editor).await;
    let users = store.users().list().await.unwrap();
    let owner = users.iter().find(|it| it.email == "ada@example.com").unwrap().id;
    let editor = users.iter().find(|it| it.id != owner).unwrap().id;
    let fields = [("action", "delete"), ("monitor", fleet.ids[0].as_str()), ("confirmed", "1")];
    assert_eq!(person.post("/w/acme/monitors/bulk", &fields).await.status, 303);
    assert!(fleet.page("").await.contains("being deleted"));
    let change = AuditContext::new(Actor::User(owner), fleet.server.running().app().ctx.now());
    let role = MemberRole { workspace, user: editor, role: Role::Viewer };
    store.members().change_role(role, change).await.unwrap();
    fleet.server.advance(Duration::from_secs(11));
    until(async || (!fleet.page("").await.contains("being deleted")).then_some(())).await;
    let refused = until(async || {
        let newest = store.audit().newest(workspace, 1).await.unwrap().remove(0);
        (newest.action == "monitor.bulk_delete_refuse").then_some(newest.detail)
    })
    .await;
    assert_eq!((refused.as_str(), fleet.count().await), ("the role is viewer now", 1));
}

#[tokio::test]
async fn unexpected_count_is_confirmed_again() {
    let fleet = Fleet::of(&["a", "b"]).await;
    let asked = fleet.bulk("delete", &[], &[("all", "1"), ("confirmed", "1")]).await;
    assert!(asked.contains("Delete 2 monitors?"), "{asked}");
    let unknown = fleet.ada.post("/w/acme/monitors/bulk", &[("action", "explode")]).await;
    assert_eq!(unknown.status, 400);
}

#[tokio::test]
async fn search_finds_monitors_and_screens() {
    let fleet = Fleet::of(&["Shop"]).await;
    let found = fleet.ada.get("/w/acme/search?q=shop").await.text();
    assert!(found.contains(&format!("/w/acme/monitors/{}", fleet.ids[0])), "{found}");
    let part = fleet.ada.get("/w/acme/search?q=mainten&part=1").await.text();
    assert!(part.contains("href=\"/w/acme/maintenance\"") && !part.contains("<html"), "{part}");
    let none = fleet.ada.get("/w/acme/search?q=xyzzy&part=1").await.text();
    assert!(none.contains("Nothing found."), "{none}");
}
