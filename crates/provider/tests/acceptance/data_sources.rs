//! The data sources: the values that they read (spec §2.8), and the arguments that they reject.

use rules::Scope;
use serde_json::json;
use testkit::person::Person;

use crate::world::World;

/// A monitor of each kind, and its data source.
const MONITORS: &str = r#"
            resource "service_http_monitor" "m" {
              name        = "API"
              url         = "https://example.com"
              periodicity = "30s"
              description = "x"
              tags        = ["Prod", "team web"]
            }
            resource "service_tcp_monitor" "m" {
              name        = "DB"
              uri         = "example.com:5432"
              periodicity = "1m"
              timeout     = 0
              tags        = ["prod"]
            }
            resource "service_dns_monitor" "m" {
              name        = "Zone"
              uri         = "example.com"
              periodicity = "1h"
              public      = true
            }
            data "service_monitor" "http" {
              id = service_http_monitor.m.id
            }
            data "service_monitor" "tcp" {
              id = service_tcp_monitor.m.id
            }
            data "service_monitor" "dns" {
              id = service_dns_monitor.m.id
            }
            data "service_monitors" "all" {
              depends_on = [service_http_monitor.m, service_tcp_monitor.m, service_dns_monitor.m]
            }
            data "service_monitors" "tagged" {
              tags       = ["team web", "PROD"]
              depends_on = [service_http_monitor.m, service_tcp_monitor.m, service_dns_monitor.m]
            }
            data "service_monitors" "second" {
              limit      = 1
              offset     = 1
              depends_on = [service_http_monitor.m, service_tcp_monitor.m, service_dns_monitor.m]
            }
            "#;

#[tokio::test]
async fn monitor_of_each_kind_is_read() {
    let world = World::start().await;
    let state = world.settle(MONITORS).await;
    let read = |kind: &str| {
        let mut values = state.values(&format!("data.service_monitor.{kind}")).clone();
        values.as_object_mut().unwrap().remove("id");
        values
    };
    assert_eq!(
        read("http"),
        json!({
            "type": "http", "name": "API", "url": "https://example.com", "uri": null,
            "periodicity": "30s", "method": "GET", "active": false, "public": false,
            "description": "x", "tags": ["Prod", "team web"], "timeout": 45_000, "status": "unknown",
        })
    );
    assert_eq!(
        read("tcp"),
        json!({
            "type": "tcp", "name": "DB", "url": null, "uri": "example.com:5432",
            "periodicity": "1m", "method": null, "active": false, "public": false,
            "description": null, "tags": ["prod"], "timeout": 0, "status": "unknown",
        })
    );
    assert_eq!(read("dns")["type"], "dns");
    let all = state.value("data.service_monitors.all", "monitors").as_array().unwrap();
    let ids: Vec<_> = all.iter().map(|monitor| monitor["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|one, other| one > other), "{ids:?}");
    assert_eq!(all.len(), 3);
    assert_eq!(state.value("data.service_monitors.all", "limit"), 50);
    assert_eq!(state.value("data.service_monitors.all", "offset"), 0);
    let tagged = state.value("data.service_monitors.tagged", "monitors");
    let http = json!([{
        "id": state.value("service_http_monitor.m", "id"),
        "name": "API", "type": "http", "tags": ["Prod", "team web"],
    }]);
    assert_eq!(tagged, &http);
    let second = state.value("data.service_monitors.second", "monitors");
    assert_eq!(second, &json!([all[1]]));
    world.destroy().await;
}

#[tokio::test]
async fn channel_and_page_include_times_and_secrets() {
    let mut world = World::start().await;
    let resources = r#"
        resource "service_notification" "c" {
          provider_type = "email"
          email {
            email = "ops@example.com"
          }
        }
        resource "service_status_page" "p" {
          title       = "Status"
          slug        = "status"
          access_type = "password"
          password    = "hunter2"
        }
        data "service_notification" "c" {
          id = service_notification.c.id
        }
        data "service_status_page" "p" {
          id = service_status_page.p.id
        }
    "#;
    let state = world.settle(resources).await;
    let channel = state.values("data.service_notification.c");
    assert_eq!(channel["created_at"], state.values("service_notification.c")["created_at"]);
    assert_eq!((&channel["name"], &channel["monitor_ids"]), (&json!(null), &json!([])));
    let page = state.values("data.service_status_page.p");
    assert_eq!((&page["theme"], &page["published"]), (&json!("system"), &json!(true)));
    assert_eq!((&page["password"], &page["description"]), (&json!("hunter2"), &json!(null)));
    world.call_as(Scope::Read);
    let plan = world.terraform.plan().await.unwrap();
    assert!(plan.is_empty(), "{}", plan.summary());
}

#[tokio::test]
async fn error_points_at_its_argument() {
    let world = World::start().await;
    let refused = world
        .validation_errors(
            r#"
            data "service_monitors" "all" {
              limit  = 101
              offset = -1
              tags   = ["a,b"]
            }
            data "service_monitor" "one" {
              id = "chn_1"
            }
            data "service_regions" "some" {
              group = "mars"
            }
            "#,
        )
        .await;
    insta::assert_snapshot!(refused.join("\n"), @r#"
    error: Invalid group
      on main.tf line 17: group = "mars"
      `group` must be one of fly, koyeb, railway, private (given: `mars`).
    error: Invalid id
      on main.tf line 14: id = "chn_1"
      `id` must be an identifier of the form mon_… (given: `chn_1`).
    error: Invalid limit
      on main.tf line 9: limit  = 101
      `limit` must be a whole number from 1 to 100 (given: `101`).
    error: Invalid offset
      on main.tf line 10: offset = -1
      `offset` must be a whole number from 0 to 2147483647 (given: `-1`).
    error: Invalid tags
      on main.tf line 11: tags   = ["a,b"]
      `tags` has a tag that must not contain a comma (given: `a,b`).
    "#);
    world.configure("data \"service_monitor\" \"one\" {\n  id = \"mon_0000000000000\"\n}\n");
    let error = world.terraform.plan().await.unwrap_err();
    insta::assert_snapshot!(error.diagnostics()[0], @r#"
    error: Cannot read the monitor
      on main.tf line 7: data "service_monitor" "one" {
      The service returned: monitor `mon_0000000000000` not found in this workspace.
    "#);
}

#[tokio::test]
async fn read_key_reads_identity_and_regions() {
    let mut world = World::start().await;
    world.call_as(Scope::Read);
    let state = world
        .settle(
            r#"
            data "service_whoami" "this" {}
            data "service_regions" "koyeb" {
              group = "koyeb"
            }
            data "service_regions" "all" {}
            "#,
        )
        .await;
    let who = state.values("data.service_whoami.this");
    assert_eq!((&who["slug"], &who["scopes"]), (&json!("acme"), &json!(["read"])));
    assert_eq!(state.value("data.service_regions.koyeb", "ids").as_array().unwrap().len(), 6);
    assert_eq!(state.value("data.service_regions.all", "regions").as_array().unwrap().len(), 28);
}

// issue 18, point 2: "as Terraform data sources if useful"
#[tokio::test]
async fn workspace_members_and_keys_are_read() {
    let mut world = World::start().await;
    let _ada = Person::set_up(&world.server).await;
    world.call_as(Scope::Read);
    let state = world
        .settle(
            r#"
            data "service_workspace" "this" {}
            data "service_members" "all" {}
            data "service_members" "viewers" {
              role = "viewer"
            }
            data "service_api_keys" "all" {}
            data "service_api_keys" "reading" {
              scope = "read"
            }
            "#,
        )
        .await;
    let workspace = state.values("data.service_workspace.this");
    assert_eq!((&workspace["slug"], &workspace["plan"]), (&json!("acme"), &json!("free")));
    assert_eq!(
        (&workspace["uptime_target"], &workspace["deletes_at"]),
        (&json!("99.9"), &json!(null))
    );
    assert_eq!(workspace["limits"][0]["monitors"], json!(null));
    assert_eq!(workspace["usage"][0]["monitors"], 0);
    let members = state.value("data.service_members.all", "members").as_array().unwrap();
    assert_eq!((members.len(), &members[0]["role"]), (1, &json!("owner")));
    assert!(members[0]["user_id"].as_str().unwrap().starts_with("usr_"));
    assert_eq!(state.value("data.service_members.viewers", "members"), &json!([]));
    let keys = state.value("data.service_api_keys.all", "api_keys").as_array().unwrap();
    let reading = state.value("data.service_api_keys.reading", "api_keys").as_array().unwrap();
    assert!(reading.len() < keys.len() && reading.iter().all(|key| key["scope"] == "read"));
    for scope in [Scope::Read, Scope::Write] {
        let caller = world.server.caller(scope);
        let listed = state.values("data.service_api_keys.all").to_string();
        assert!(!listed.contains(caller.key().unwrap()), "a key is in the state");
    }
}

#[tokio::test]
async fn all_pages_of_keys_are_listed() {
    let world = World::start().await;
    let store = &world.server.running().app().store;
    let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
    let before = store.keys().list(workspace).await.unwrap().len();
    for _ in 0..101 {
        world.server.new_key(Scope::Read, None).await;
    }
    let state = world.settle("data \"service_api_keys\" \"all\" {}").await;
    let keys = state.value("data.service_api_keys.all", "api_keys").as_array().unwrap();
    assert_eq!(keys.len(), before + 101);
}
