//! Faults of secrets: lost if the service does not return them, or stored where they should not be.

use rules::Scope;
use serde_json::{Value, json};
use testkit::pem;

use crate::world::World;

const PAGES: &str = "status_page.v1.StatusPageService";
const MONITORS: &str = "monitor.v1.MonitorService";
const CHANNELS: &str = "notification.v1.NotificationService";

#[tokio::test]
async fn read_key_plans_with_hidden_secrets() {
    // issue 5 point 3; design: §4
    let body = r#"
        resource "service_http_monitor" "m" {
          name        = "API"
          url         = "https://user:secret@example.com/"
          periodicity = "30s"
          client_certificate = file("client.pem")
          client_key         = file("client.key")
          headers {
            key   = "Authorization"
            value = "Bearer secret"
          }
        }
        resource "service_notification" "slack" {
          provider_type = "slack"
          slack {
            webhook_url = "https://hooks.slack.com/services/T/B/X"
          }
        }
        resource "service_notification" "webhook" {
          provider_type = "webhook"
          webhook {
            endpoint = "https://user:secret@example.com/hook"
            headers {
              key   = "X-Key"
              value = "secret"
            }
          }
        }
        resource "service_notification" "ntfy" {
          provider_type = "ntfy"
          ntfy {
            topic = "t"
            token = "tk_1"
          }
        }
        resource "service_status_page" "p" {
          title       = "Status"
          slug        = "status"
          access_type = "password"
          password    = "hunter2"
        }
        resource "service_status_page" "q" {
          title    = "Other"
          slug     = "other"
          password = "unused"
        }
    "#;
    let mut world = World::start().await;
    world.settle(body).await;
    world.call_as(Scope::Read);
    world.must_be_settled().await;
    // A read key plans a change; only the apply needs a write key.
    world.configure(&body.replace("title       = \"Status\"", "title       = \"How we are\""));
    let plan = world.terraform.plan().await.unwrap();
    assert_eq!(plan.summary().lines().next(), Some("Update service_status_page.p"));
    let error = world.terraform.apply().await.unwrap_err();
    let refusal = error.diagnostics().iter().find(|shown| shown.severity == "error").unwrap();
    insta::assert_snapshot!(refusal, @r#"
    error: Cannot change the status page
      on main.tf line 42: resource "service_status_page" "p" {
      The service rejected a change: this key is read-only. A plan needs a key with the scope read, an apply a key with the scope write.
    "#);
}

#[tokio::test]
async fn write_only_secret_is_in_no_file() {
    let page = |password: &str, version: u8, title: &str| {
        format!(
            "resource \"service_status_page\" \"p\" {{\n title = \"{title}\"\n slug = \"status\"\n \
             access_type = \"password\"\n password_wo = \"{password}\"\n \
             password_wo_version = {version}\n}}\n"
        )
    };
    let world = World::start().await;
    let stored = async || {
        let pages = world.rpc(PAGES, "ListStatusPages", json!({})).await;
        pages["statusPages"][0]["password"].clone()
    };
    let page_id = async || {
        let pages = world.rpc(PAGES, "ListStatusPages", json!({})).await;
        pages["statusPages"][0]["id"].clone()
    };
    world.settle(&page("first", 1, "Status")).await;
    assert_eq!(stored().await, "first");
    // Another secret with the same version is not sent, even if other arguments change.
    world.settle(&page("second", 1, "Other")).await;
    assert_eq!(stored().await, "first");
    world.settle(&page("second", 2, "Other")).await;
    assert_eq!(stored().await, "second");
    // A change outside Terraform makes the page public and removes its password: the apply sets it again.
    let opened = json!({ "id": page_id().await, "accessType": "public" });
    let request = json!({ "statusPage": opened, "updateMask": "accessType,password" });
    world.rpc(PAGES, "UpdateStatusPage", request).await;
    assert_eq!(stored().await, Value::Null);
    world.settle(&page("second", 2, "Other")).await;
    assert_eq!(stored().await, "second");
    let state =
        std::fs::read_to_string(world.terraform.folder().join("terraform.tfstate")).unwrap();
    assert!(!state.contains("first") && !state.contains("second"));
}

#[tokio::test]
async fn secret_moves_between_names_and_is_removed() {
    let ntfy = |name: &str, token: &str| {
        format!(
            "resource \"service_notification\" \"c\" {{\n name = \"{name}\"\n \
             provider_type = \"ntfy\"\n ntfy {{\n topic = \"t\"\n{token}\n }}\n}}\n"
        )
    };
    let world = World::start().await;
    let stored = async || -> Value {
        let channels = world.rpc(CHANNELS, "ListNotifications", json!({})).await;
        channels["notifications"][0]["ntfy"]["token"].clone()
    };
    for (name, token, expected) in [
        ("a", "token = \"tk_1\"", json!("tk_1")),
        ("a", "token_wo = \"tk_2\"\n token_wo_version = 1", json!("tk_2")),
        ("a", "token_wo = \"tk_3\"\n token_wo_version = 2", json!("tk_3")),
        // Another secret with the same version is not sent, even if other arguments change.
        ("b", "token_wo = \"tk_0\"\n token_wo_version = 2", json!("tk_3")),
        ("b", "token = \"tk_4\"", json!("tk_4")),
        ("b", "token_wo = \"tk_5\"\n token_wo_version = 1", json!("tk_5")),
        ("b", "", json!(null)),
    ] {
        world.settle(&ntfy(name, token)).await;
        assert_eq!(stored().await, expected, "{token}");
    }
}

// decision 0085
#[tokio::test]
async fn private_key_moves_out_of_the_state() {
    let monitor = |certificate: &str, key: &str| {
        format!(
            "resource \"service_http_monitor\" \"m\" {{\n name = \"API\"\n \
             url = \"https://example.com/\"\n periodicity = \"30s\"\n{certificate}\n{key}\n}}\n"
        )
    };
    let world = World::start().await;
    let (certificate, key) =
        ("client_certificate = file(\"client.pem\")", "client_key = file(\"client.key\")");
    let state = || {
        let path = world.terraform.folder().join("terraform.tfstate");
        std::fs::read_to_string(path).unwrap()
    };
    let stored = async || -> Value {
        let monitors = world.rpc(MONITORS, "ListMonitors", json!({})).await;
        monitors["httpMonitors"][0]["clientKey"].clone()
    };
    world.settle(&monitor(certificate, key)).await;
    assert!(state().contains("PRIVATE KEY"));
    let written = "client_key_wo = file(\"client.key\")\n client_key_wo_version = 1";
    world.settle(&monitor(certificate, written)).await;
    assert!(!state().contains("PRIVATE KEY"));
    assert_eq!(stored().await, pem::KEY);
    // Somebody removes both elsewhere. The key comes back with the certificate, without another version.
    let monitors = world.rpc(MONITORS, "ListMonitors", json!({})).await;
    let id = &monitors["httpMonitors"][0]["id"];
    let removal = json!({ "monitor": { "id": id }, "updateMask": "clientCertificate,clientKey" });
    world.rpc(MONITORS, "UpdateHttpMonitor", removal).await;
    world.settle(&monitor(certificate, written)).await;
    assert_eq!(stored().await, pem::KEY);
    world.settle(&monitor("", "")).await;
    assert_eq!(stored().await, Value::Null);
    let errors = world.validation_errors(&monitor(certificate, "")).await;
    assert!(
        errors[0].contains("`client_key` must be given with `client_certificate`"),
        "{errors:?}"
    );
}
