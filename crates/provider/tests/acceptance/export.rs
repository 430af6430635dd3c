//! Round trip: `aloft terraform export` writes a workspace of all resources with awkward values. Applying the
//! result imports them and changes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use rules::Scope;
use serde_json::json;
use terraform_plugin::harness::PlannedAction;
use tokio::process::Command;

use crate::world::World;

const PAGES: &str = "status_page.v1.StatusPageService";
const MONITORS: &str = "monitor.v1.MonitorService";

/// Number of resources that the export configures.
const RESOURCES: usize = 24;

const WORKSPACE: &str = r#"
resource "service_http_monitor" "plain" {
  name        = "API"
  url         = "https://example.com/"
  periodicity = "30s"
}
resource "service_http_monitor" "full" {
  name             = "API"
  url              = "https://user:secret-1@example.com/full"
  periodicity      = "1h"
  method           = "POST"
  body             = "{\"a\": \"$${b}\", \"c\": \"\\\\ $\u0024{d} %\u0025{e}\"}\r\n\tfür 監視 🚀 \u202e"
  timeout          = 0
  degraded_at      = 0
  retry            = 0
  follow_redirects = false
  active           = true
  public           = true
  description      = ""
  regions          = ["fly-ams", "fly-iad", "fly-nrt", "fly-syd", "fly-gru", "fly-jnb", "fly-sin", "fly-fra"]
  client_certificate = file("client.pem")
  client_key         = "secret-e\n${file("client.key")}"
  headers {
    key   = "X-Token"
    value = "secret-2"
  }
  headers {
    key   = "X-Empty"
    value = ""
  }
  headers {
    key   = "x-token-2"
    value = "secret-3 $${x}"
  }
  status_code_assertions {
    target     = 599
    comparator = "lte"
  }
  body_assertions {
    target     = ""
    comparator = "not_empty"
  }
  json_assertions {
    path       = "$.a['%%{x}']"
    target     = "^\\d$"
    comparator = "not_matches"
  }
  header_assertions {
    key        = "Server"
    target     = "%%{x}"
    comparator = "neq"
  }
}
resource "service_tcp_monitor" "m" {
  name        = "監視"
  uri         = "[2001:db8::1]:443"
  periodicity = "5m"
  regions     = []
}
resource "service_tcp_monitor" "doomed" {
  name        = "doomed"
  uri         = "example.com:443"
  periodicity = "5m"
}
resource "service_dns_monitor" "m" {
  name        = "2 \"records\""
  uri         = "example.com"
  periodicity = "10m"
  degraded_at = 120000
  record_assertions {
    record     = "TXT"
    target     = "v=spf1 \"$${all}\""
    comparator = "not_contains"
  }
  record_assertions {
    record     = "A"
    target     = "192.0.2.1"
    comparator = "neq"
  }
}
resource "service_notification" "discord" {
  provider_type = "discord"
  discord {
    webhook_url = "https://discord.com/api/webhooks/1/secret-4"
  }
}
resource "service_notification" "email" {
  name          = ""
  provider_type = "email"
  monitor_ids   = []
  email {
    email = "ops@example.com"
  }
}
resource "service_notification" "slack" {
  name          = "On call"
  provider_type = "slack"
  monitor_ids = [
    service_http_monitor.full.id, service_tcp_monitor.m.id, service_dns_monitor.m.id,
    service_tcp_monitor.doomed.id,
  ]
  slack {
    webhook_url = "https://hooks.slack.com/services/T/B/secret-5"
  }
}
resource "service_notification" "pagerduty" {
  name          = "On call"
  provider_type = "pagerduty"
  pagerduty {
    integration_key = "secret-6 $${x} \\"
  }
}
resource "service_notification" "opsgenie" {
  provider_type = "opsgenie"
  opsgenie {
    api_key = "secret-7"
    region  = "eu"
  }
}
resource "service_notification" "webhook" {
  provider_type = "webhook"
  webhook {
    endpoint = "https://user:secret-8@example.com/hook"
    headers {
      key   = "B"
      value = "secret-9"
    }
    headers {
      key   = "A"
      value = ""
    }
  }
}
resource "service_notification" "plain_webhook" {
  provider_type = "webhook"
  webhook {
    endpoint = "https://example.com/hook"
  }
}
resource "service_notification" "telegram" {
  provider_type = "telegram"
  telegram {
    chat_id = "@ops"
  }
}
resource "service_notification" "sms" {
  provider_type = "sms"
  sms {
    phone_number = "+4915112345678"
  }
}
resource "service_notification" "whatsapp" {
  provider_type = "whatsapp"
  whatsapp {
    phone_number = "+12"
  }
}
resource "service_notification" "google_chat" {
  provider_type = "google_chat"
  google_chat {
    webhook_url = "https://chat.googleapis.com/v1/spaces/secret-a"
  }
}
resource "service_notification" "grafana_oncall" {
  provider_type = "grafana_oncall"
  grafana_oncall {
    webhook_url = "https://oncall.example.com/secret-b"
  }
}
resource "service_notification" "ntfy" {
  provider_type = "ntfy"
  ntfy {
    topic      = "alerts"
    server_url = "https://ntfy.example.com"
    token      = "secret-c"
  }
}
resource "service_notification" "plain_ntfy" {
  provider_type = "ntfy"
  ntfy {
    topic = "alerts"
  }
}
resource "service_status_page" "plain" {
  title = "Status"
  slug  = "status"
}
resource "service_status_page" "locked" {
  title         = "Status"
  slug          = "locked"
  description   = "Line\nLine"
  homepage_url  = "https://example.com"
  contact_url   = "mailto:ops@example.com"
  icon          = "https://example.com/icon.png"
  custom_domain = "status.example.com"
  access_type   = "password"
  password      = "secret-d $${x} %%{y} \"z\""
}
resource "service_status_page" "domains" {
  title              = "Status"
  slug               = "domains"
  access_type        = "email-domain"
  auth_email_domains = ["b.example", "a.example"]
}
resource "service_status_page_component_group" "g" {
  page_id = service_status_page.plain.id
  name    = "Group $${x}"
}
resource "service_status_page_component" "shown" {
  page_id     = service_status_page.plain.id
  type        = "monitor"
  monitor_id  = service_http_monitor.full.id
  group_id    = service_status_page_component_group.g.id
  group_order = 0
  order       = -2147483648
}
resource "service_status_page_component" "static" {
  page_id     = service_status_page.locked.id
  type        = "static"
  name        = "Static"
  description = ""
}
resource "service_status_page_component" "doomed" {
  page_id    = service_status_page.plain.id
  type       = "monitor"
  name       = "Gone $${x}"
  monitor_id = service_tcp_monitor.doomed.id
}
"#;

/// Returns a workspace of all resources whose state is lost. One component has lost its monitor.
async fn world() -> World {
    let world = World::start().await;
    let state = world.settle(WORKSPACE).await;
    let doomed = state.value("service_tcp_monitor.doomed", "id");
    world.rpc(MONITORS, "DeleteMonitor", json!({ "id": doomed })).await;
    world.terraform.remove_state().unwrap();
    fs::remove_file(world.terraform.folder().join("main.tf")).unwrap();
    world
}

/// Returns the binary `aloft`. Cargo gives a test only binaries of its own package.
async fn aloft() -> PathBuf {
    let provider = Path::new(env!("CARGO_BIN_EXE_terraform-provider-service"));
    let folder = provider.parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--package", "aloft", "--bin", "aloft", "--target-dir"]);
    build.arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let built = build.output().await.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.join("aloft")
}

async fn export(world: &World, scope: Scope, further: &[&str]) -> Output {
    let caller = world.server.caller(scope);
    let mut command = Command::new(aloft().await);
    command.args(["terraform", "export"]).args(further).env_clear();
    command.env("SERVICE_API_URL", format!("http://{}/rpc", world.server.address()));
    command.env("SERVICE_API_TOKEN", caller.key().unwrap());
    command.output().await.unwrap()
}

async fn exported(world: &World, scope: Scope, further: &[&str]) -> String {
    let output = export(world, scope, further).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Plans, which must only import; applies; and plans again, which must be empty.
async fn must_only_import(world: &World) {
    world.terraform.run(&["fmt", "-check", "-diff"]).await.unwrap_or_else(|why| panic!("{why}"));
    let plan = world.terraform.plan().await.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(plan.changes.len(), RESOURCES, "{}", plan.summary());
    for change in &plan.changes {
        assert_eq!(change.action, PlannedAction::Nothing, "{} {:?}", plan.summary(), change);
        assert!(change.importing.is_some(), "{}", plan.summary());
    }
    world.apply_planned().await;
    world.must_be_settled().await;
}

#[tokio::test]
async fn export_with_secrets_only_imports() {
    // issue 5 point 7
    let world = world().await;
    let folder = world.terraform.folder();
    let out = folder.to_str().unwrap();
    exported(&world, Scope::Write, &["--out", out, "--with-secrets"]).await;
    let secrets = folder.join("terraform.tfvars");
    assert_eq!(fs::metadata(&secrets).unwrap().permissions().mode() & 0o777, 0o600);
    for file in ["provider.tf", "variables.tf", "resources.tf", "imports.tf"] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(!text.contains("secret-"), "{text}");
    }
    must_only_import(&world).await;
    // Existing files stay.
    let refused = export(&world, Scope::Write, &["--out", out]).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("already exists"));
}

#[tokio::test]
async fn read_key_export_has_variables_for_secrets() {
    // design: §4, secrets are left out of answers to read keys
    let world = world().await;
    let with_secrets = tempfile::tempdir().unwrap();
    let out = with_secrets.path().to_str().unwrap();
    exported(&world, Scope::Write, &["--out", out, "--with-secrets"]).await;
    let read = exported(&world, Scope::Read, &[]).await;
    assert!(!read.contains("secret-"), "{read}");
    assert!(read.contains("is not exported: it needs `monitor_id`"), "{read}");
    // A read key cannot see only the credentials in this URL.
    let (without, with) = ("https://example.com/full", "https://user:secret-1@example.com/full");
    let text = read.replace(without, with);
    world.terraform.write("main.tf", &text).unwrap();
    let formatted = world.terraform.run(&["fmt", "-check", "-diff"]).await;
    formatted.unwrap_or_else(|why| panic!("{why}"));
    let secrets = fs::read_to_string(with_secrets.path().join("terraform.tfvars")).unwrap();
    let declared =
        |line: &&str| text.contains(&format!("variable \"{}\"", line.split(' ').next().unwrap()));
    let mut secrets: Vec<_> = secrets.lines().filter(declared).map(str::to_owned).collect();
    // Variables for a read key only: a write key writes the values in place.
    let resources = fs::read_to_string(with_secrets.path().join("resources.tf")).unwrap();
    let body = resources.lines().find_map(|line| line.trim().strip_prefix("body ")).unwrap();
    let body = body.trim_start().trim_start_matches("= ").to_owned();
    let names = text.lines().filter_map(|line| line.strip_prefix("variable \"")?.split('"').next());
    for name in names {
        let value = match name.rsplit('_').next() {
            Some("body") => &body,
            Some("endpoint") => "\"https://example.com/hook\"",
            _ => continue,
        };
        if !secrets.iter().any(|line| line.starts_with(&format!("{name} "))) {
            secrets.push(format!("{name} = {value}"));
        }
    }
    world.terraform.write("known.auto.tfvars", &secrets.join("\n")).unwrap();
    // Alignment depends on lines that are left out.
    world.terraform.run(&["fmt"]).await.unwrap();
    must_only_import(&world).await;
    let refused = export(&world, Scope::Read, &["--out", out, "--with-secrets"]).await;
    assert_eq!(refused.status.code(), Some(1));
}

#[tokio::test]
async fn second_export_is_equal() {
    let world = world().await;
    let once = exported(&world, Scope::Write, &[]).await;
    assert_eq!(exported(&world, Scope::Write, &[]).await, once);
    let pages = world.rpc(PAGES, "ListStatusPages", json!({})).await;
    assert_eq!(pages["totalSize"], 3);
}
