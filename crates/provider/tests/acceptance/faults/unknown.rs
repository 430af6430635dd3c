//! Faults of values that are unknown until apply: in arguments, in blocks, in the number of blocks, and in the
//! provider's own configuration.

use crate::world::World;

/// A resource whose output is unknown until apply.
const LATER: &str = r#"
resource "terraform_data" "later" {
  input = "30s"
}
resource "terraform_data" "keys" {
  input = ["A", "B"]
}
"#;

/// Resources in which every value is unknown that may be.
const UNKNOWN: &str = r#"
        resource "service_http_monitor" "m" {
          name        = terraform_data.later.output
          url         = "https://example.com/${terraform_data.later.output}"
          periodicity = terraform_data.later.output
          timeout     = length(terraform_data.later.output)
          tags        = ["known", terraform_data.later.output]
          regions     = ["fly-ams", terraform_data.later.output == "" ? "fly-arn" : "fly-lhr"]
          headers {
            key   = "X-${terraform_data.later.output}"
            value = terraform_data.later.output
          }
          dynamic "headers" {
            for_each = terraform_data.keys.output
            content {
              key   = headers.value
              value = ""
            }
          }
          dynamic "status_code_assertions" {
            for_each = terraform_data.keys.output
            content {
              target     = 200
              comparator = "eq"
            }
          }
        }
        resource "service_tcp_monitor" "each" {
          for_each    = { a = terraform_data.later.output, b = "known" }
          name        = each.value
          uri         = "${each.key}.example.com:443"
          periodicity = "1m"
        }
        resource "service_dns_monitor" "m" {
          name        = "Zone"
          uri         = "example.com"
          periodicity = "1m"
          record_assertions {
            record     = terraform_data.later.output == "" ? "A" : "TXT"
            target     = "nowhere"
            comparator = "eq"
          }
        }
        resource "service_notification" "c" {
          provider_type = terraform_data.later.output == "" ? "email" : "ntfy"
          monitor_ids   = [service_http_monitor.m.id]
          dynamic "ntfy" {
            for_each = terraform_data.later.output == "" ? [] : ["x"]
            content {
              topic = ntfy.value
            }
          }
        }
        resource "service_status_page" "p" {
          title              = terraform_data.later.output
          slug               = "s-${terraform_data.later.output}"
          access_type        = terraform_data.later.output == "" ? "public" : "email-domain"
          auth_email_domains = [for key in terraform_data.keys.output : "${lower(key)}.example"]
        }
        resource "service_status_page_component" "c" {
          page_id    = service_status_page.p.id
          type       = terraform_data.later.output == "" ? "static" : "monitor"
          monitor_id = service_http_monitor.m.id
        }
        "#;

#[tokio::test]
async fn unknown_arguments_and_blocks_are_planned() {
    let body = format!("{LATER}{UNKNOWN}");
    let world = World::start().await;
    let state = world.settle(&body).await;
    assert_eq!(state.value("service_http_monitor.m", "timeout"), 3);
    assert_eq!(state.value("service_http_monitor.m", "degraded_at"), 2);
    assert_eq!(state.value("service_http_monitor.m", "headers").as_array().unwrap().len(), 3);
    world.destroy().await;
}

#[tokio::test]
async fn invalid_value_is_refused_once_known() {
    let world = World::start().await;
    world.configure(&format!(
        "{LATER}{}",
        r#"
        resource "service_tcp_monitor" "m" {
          name        = "m"
          uri         = terraform_data.later.output
          periodicity = "1m"
        }
        "#
    ));
    let plan = world.terraform.plan().await.unwrap();
    assert!(!plan.is_empty());
    let error = world.terraform.apply().await.unwrap_err();
    let shown = error.diagnostics().iter().find(|shown| shown.severity == "error").unwrap();
    insta::assert_snapshot!(shown, @r"
    error: Invalid uri
      on main.tf line 17: uri         = terraform_data.later.output
      `uri` must be host:port, such as example.com:443 (given: `30s`).
    ");
}

#[tokio::test]
async fn unknown_key_allows_planning_new_resources() {
    let mut world = World::start().await;
    let key = world.writer().key().unwrap().to_owned();
    world.terraform.set("SERVICE_API_TOKEN", "").set("TF_VAR_key", key);
    let body = r#"
        variable "key" {
          sensitive = true
        }
        resource "terraform_data" "key" {
          input = var.key
        }
        provider "service" {
          api_token = terraform_data.key.output
        }
        resource "service_tcp_monitor" "m" {
          name        = "m"
          uri         = "example.com:443"
          periodicity = "1m"
        }
    "#;
    world.settle(body).await;
}

#[tokio::test]
async fn missing_key_names_argument_and_variable() {
    // spec: §5.9
    let mut world = World::start().await;
    world.terraform.set("SERVICE_API_TOKEN", "");
    world.configure("data \"service_whoami\" \"this\" {}\n");
    let error = world.terraform.plan().await.unwrap_err();
    insta::assert_snapshot!(error.diagnostics()[0], @r"
    error: Invalid api_token
      on <empty> line 0
      `api_token` must be given, or SERVICE_API_TOKEN must be set.
    ");
}
