//! Drift: a change outside Terraform of each argument is detected and reverted.

use serde_json::{Value, json};
use terraform_plugin::harness::PlannedAction;

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";
const CHANNELS: &str = "notification.v1.NotificationService";
const PAGES: &str = "status_page.v1.StatusPageService";

/// Changes fields of a resource one by one outside Terraform. A plan must revert each.
async fn assert_each_reverted(
    world: &World,
    address: &str,
    (service, method, member): (&str, &str, &str),
    drifts: &[(&str, Value)],
) {
    let id = world.terraform.state().await.unwrap().value(address, "id").clone();
    for (field, value) in drifts {
        let mut resource = json!({ "id": id });
        for (name, value) in value.as_object().unwrap() {
            resource[name] = value.clone();
        }
        let request = json!({ member: resource, "updateMask": field });
        world.rpc(service, method, request).await;
        let plan = world.terraform.plan().await.unwrap_or_else(|error| panic!("{field}: {error}"));
        let change = plan.change(address);
        assert_eq!(change.action, PlannedAction::Update, "{field}: {}", plan.summary());
        // Changes add up, so an update alone proves nothing about this field.
        for name in field.split(',').map(snake) {
            let (before, after) = (&change.before[&name], &change.after[&name]);
            assert_ne!(before, after, "{name}: {}", plan.summary());
        }
    }
    world.terraform.apply().await.unwrap();
    world.must_be_settled().await;
}

/// Converts `camelCase` to Terraform's `snake_case`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[tokio::test]
async fn drift_of_an_http_monitor_is_reverted() {
    let world = World::start().await;
    world
        .settle(
            r#"
            resource "service_http_monitor" "m" {
              name        = "API"
              url         = "https://example.com"
              periodicity = "30s"
              regions     = ["fly-ams"]
              headers {
                key   = "A"
                value = "1"
              }
            }
            resource "service_dns_monitor" "m" {
              name        = "Zone"
              uri         = "example.com"
              periodicity = "30s"
            }
            "#,
        )
        .await;
    let drifts = [
        ("name", json!({ "name": "Other" })),
        ("url", json!({ "url": "https://example.org" })),
        ("periodicity", json!({ "periodicity": "1h" })),
        ("method", json!({ "method": "HEAD" })),
        ("body", json!({ "body": "x" })),
        ("timeout", json!({ "timeout": 0 })),
        ("degradedAt", json!({ "degradedAt": 0 })),
        ("retry", json!({ "retry": 0 })),
        ("followRedirects", json!({ "followRedirects": false })),
        ("active", json!({ "active": true })),
        ("public", json!({ "public": true })),
        ("description", json!({ "description": "" })),
        ("regions", json!({})),
        ("headers", json!({ "headers": [{ "key": "A", "value": "2" }] })),
        (
            "statusCodeAssertions",
            json!({ "statusCodeAssertions": [{ "target": 200, "comparator": "eq" }] }),
        ),
        ("bodyAssertions", json!({ "bodyAssertions": [{ "target": "", "comparator": "empty" }] })),
        (
            "headerAssertions",
            json!({ "headerAssertions": [{ "key": "A", "target": "", "comparator": "empty" }] }),
        ),
    ];
    let of_http = (MONITORS, "UpdateHttpMonitor", "monitor");
    assert_each_reverted(&world, "service_http_monitor.m", of_http, &drifts).await;
    let assertion = json!([{ "record": "A", "target": "", "comparator": "contains" }]);
    let drifts = [
        ("uri", json!({ "uri": "example.org" })),
        ("recordAssertions", json!({ "recordAssertions": assertion })),
    ];
    let of_dns = (MONITORS, "UpdateDnsMonitor", "monitor");
    assert_each_reverted(&world, "service_dns_monitor.m", of_dns, &drifts).await;
}

#[tokio::test]
async fn drift_of_a_tcp_monitor_is_reverted() {
    let world = World::start().await;
    world
        .settle(
            r#"
            resource "service_tcp_monitor" "m" {
              name        = "DB"
              uri         = "example.com:5432"
              periodicity = "30s"
            }
            "#,
        )
        .await;
    let drifts = [
        ("name", json!({ "name": "Other" })),
        ("uri", json!({ "uri": "example.org:5432" })),
        ("periodicity", json!({ "periodicity": "1h" })),
        ("timeout", json!({ "timeout": 0 })),
        ("degradedAt", json!({ "degradedAt": 0 })),
        ("retry", json!({ "retry": 0 })),
        ("active", json!({ "active": true })),
        ("public", json!({ "public": true })),
        ("description", json!({ "description": "x" })),
        ("regions", json!({ "regions": ["fly-ams"] })),
    ];
    let of_tcp = (MONITORS, "UpdateTcpMonitor", "monitor");
    assert_each_reverted(&world, "service_tcp_monitor.m", of_tcp, &drifts).await;
}

#[tokio::test]
async fn drift_of_a_channel_is_reverted() {
    let world = World::start().await;
    let state = world
        .settle(
            r#"
            resource "service_tcp_monitor" "m" {
              name        = "m"
              uri         = "example.com:443"
              periodicity = "1m"
            }
            resource "service_notification" "c" {
              provider_type = "ntfy"
              monitor_ids   = []
              ntfy {
                topic = "t"
                token = "tk_1"
              }
            }
            "#,
        )
        .await;
    let monitor = state.value("service_tcp_monitor.m", "id");
    let drifts = [
        ("name", json!({ "name": "Other" })),
        ("monitorIds", json!({ "monitorIds": [monitor] })),
        ("ntfy", json!({ "ntfy": { "topic": "t", "token": "tk_2" } })),
        ("ntfy", json!({ "ntfy": { "topic": "t" } })),
        (
            "providerType,email",
            json!({ "providerType": "email", "email": { "email": "a@b.example" } }),
        ),
    ];
    let of_channel = (CHANNELS, "UpdateNotification", "notification");
    assert_each_reverted(&world, "service_notification.c", of_channel, &drifts).await;
}

#[tokio::test]
async fn drift_of_a_page_and_parts_is_reverted() {
    let world = World::start().await;
    let state = world
        .settle(
            r#"
            resource "service_status_page" "p" {
              title    = "Status"
              slug     = "status"
              password = "hunter2"
            }
            resource "service_status_page_component_group" "g" {
              page_id = service_status_page.p.id
              name    = "Group"
            }
            resource "service_status_page_component" "c" {
              page_id = service_status_page.p.id
              type    = "static"
              name    = "Mail"
            }
            "#,
        )
        .await;
    let drifts = [
        ("title", json!({ "title": "Other" })),
        ("slug", json!({ "slug": "other" })),
        ("description", json!({ "description": "" })),
        ("homepageUrl", json!({ "homepageUrl": "https://example.com" })),
        ("contactUrl", json!({ "contactUrl": "https://example.com" })),
        ("icon", json!({ "icon": "https://example.com/i.png" })),
        ("customDomain", json!({ "customDomain": "status.example.com" })),
        ("accessType", json!({ "accessType": "public" })),
        ("password", json!({ "password": "hunter3" })),
        ("password", json!({})),
        ("authEmailDomains", json!({ "authEmailDomains": ["example.com"] })),
    ];
    let of_page = (PAGES, "UpdateStatusPage", "statusPage");
    assert_each_reverted(&world, "service_status_page.p", of_page, &drifts).await;
    let group = state.value("service_status_page_component_group.g", "id");
    let drifts = [
        ("name", json!({ "name": "Post" })),
        ("description", json!({ "description": "x" })),
        ("order", json!({ "order": 0 })),
        ("groupId", json!({ "groupId": group })),
        ("groupOrder", json!({ "groupOrder": 0 })),
    ];
    let of_component = (PAGES, "UpdateComponent", "component");
    assert_each_reverted(&world, "service_status_page_component.c", of_component, &drifts).await;
    let drifts = [("name", json!({ "name": "Other" }))];
    let of_group = (PAGES, "UpdateComponentGroup", "componentGroup");
    assert_each_reverted(&world, "service_status_page_component_group.g", of_group, &drifts).await;
}

#[tokio::test]
async fn drift_of_the_monitor_of_component_is_reverted() {
    let world = World::start().await;
    let state = world
        .settle(
            r#"
            resource "service_status_page" "p" {
              title = "Status"
              slug  = "status"
            }
            resource "service_tcp_monitor" "one" {
              name        = "one"
              uri         = "example.com:443"
              periodicity = "1m"
            }
            resource "service_tcp_monitor" "two" {
              name        = "two"
              uri         = "example.com:443"
              periodicity = "1m"
            }
            resource "service_status_page_component" "m" {
              page_id    = service_status_page.p.id
              type       = "monitor"
              monitor_id = service_tcp_monitor.one.id
            }
            "#,
        )
        .await;
    let of_component = (PAGES, "UpdateComponent", "component");
    let two = state.value("service_tcp_monitor.two", "id");
    let drifts = [("monitorId", json!({ "monitorId": two }))];
    assert_each_reverted(&world, "service_status_page_component.m", of_component, &drifts).await;
}

#[tokio::test]
async fn deleted_resource_is_created_again() {
    let world = World::start().await;
    let body = r#"
        resource "service_tcp_monitor" "m" {
          name        = "m"
          uri         = "example.com:443"
          periodicity = "1m"
        }
        resource "service_status_page" "p" {
          title = "Status"
          slug  = "status"
        }
        resource "service_status_page_component_group" "g" {
          page_id = service_status_page.p.id
          name    = "Group"
        }
    "#;
    let state = world.settle(body).await;
    let delete = async |service: &str, method: &str, address: &str| {
        let id = state.value(address, "id");
        world.rpc(service, method, json!({ "id": id })).await;
    };
    delete(MONITORS, "DeleteMonitor", "service_tcp_monitor.m").await;
    delete(PAGES, "DeleteStatusPage", "service_status_page.p").await;
    let plan = world.terraform.plan().await.unwrap();
    for address in ["service_tcp_monitor.m", "service_status_page.p"] {
        assert_eq!(plan.change(address).action, PlannedAction::Create, "{}", plan.summary());
    }
    // The state still names them: destroying a deleted resource succeeds.
    world.terraform.apply_with(&["-destroy", "-refresh=false"]).await.unwrap();
    world.settle(body).await;
    world.destroy().await;
}
