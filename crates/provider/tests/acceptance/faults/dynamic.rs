//! Faults of channels whose block is chosen by a variable of a module, or by a value that is unknown until apply.
//! On every program that runs providers.

use serde_json::json;
use testkit::tools::terraform_hosts;

use crate::world::World;

const CHANNELS: &str = "notification.v1.NotificationService";

/// A module with two channels. The caller chooses kind and block of the first; the block of the second is
/// optional. Terraform validates it with unknown variables.
const MODULE: &str = r#"
terraform {
  required_providers {
    service = { source = "aloft/service" }
  }
}
variable "kind" {
  type = string
}
variable "slack_url" {
  type    = string
  default = ""
}
resource "service_notification" "chosen" {
  provider_type = var.kind
  dynamic "discord" {
    for_each = var.kind == "discord" ? [1] : []
    content {
      webhook_url = "https://example.com/discord"
    }
  }
  dynamic "slack" {
    for_each = var.kind == "slack" ? [1] : []
    content {
      webhook_url = "https://example.com/slack"
    }
  }
  dynamic "webhook" {
    for_each = var.kind == "webhook" ? [1] : []
    content {
      endpoint = "https://example.com/hook"
      headers {
        key   = "X-Team"
        value = "core"
      }
    }
  }
}
resource "service_notification" "optional" {
  provider_type = "discord"
  discord {
    webhook_url = "https://example.com/discord"
  }
  dynamic "slack" {
    for_each = var.slack_url == "" ? [] : [var.slack_url]
    content {
      webhook_url = slack.value
    }
  }
}
"#;

/// Returns the caller of the module; `kind` and `url` are expressions.
fn called_with(kind: &str, url: &str) -> String {
    format!(
        r#"
        resource "terraform_data" "kind" {{
          input = "slack"
        }}
        resource "terraform_data" "url" {{
          input = "https://example.com/slack"
        }}
        module "alerts" {{
          source    = "./alerts"
          kind      = {kind}
          slack_url = {url}
        }}
        output "first" {{
          value     = one(module.alerts.service_url)
          sensitive = true
        }}
        "#
    )
}

const OUTPUT: &str = r#"
output "service_url" {
  value     = service_notification.chosen.slack[*].webhook_url
  sensitive = true
}
"#;

async fn world_with_module(host: &testkit::tools::TerraformHost, body: &str) -> World {
    let world = World::start_on(host).await;
    world.terraform.write("alerts/main.tf", &format!("{MODULE}{OUTPUT}")).unwrap();
    world.configure(body);
    world.terraform.run(&["get"]).await.unwrap();
    world
}

async fn stored_kinds(world: &World) -> Vec<String> {
    let list = world.rpc(CHANNELS, "ListNotifications", json!({})).await;
    let channels = list["notifications"].as_array().unwrap().iter();
    let kinds = channels.map(|it| it["providerType"].as_str().unwrap().to_owned());
    let mut kinds: Vec<_> = kinds.collect();
    kinds.sort();
    kinds
}

// issue 16 point 18: two `dynamic` blocks, or one beside a literal kind, in a module
#[tokio::test]
async fn block_chosen_by_variable_applies() {
    for host in terraform_hosts() {
        let world = world_with_module(&host, &called_with("\"discord\"", "\"\"")).await;
        for kind in ["discord", "slack", "webhook"] {
            let body = called_with(&format!("\"{kind}\""), "\"\"");
            assert_eq!(world.validation_errors(&body).await, [""; 0], "{}: {kind}", host.name);
            world.settle(&body).await;
            assert_eq!(stored_kinds(&world).await, ["discord", kind], "{}", host.name);
        }
        world.destroy().await;
    }
}

#[tokio::test]
async fn block_of_unknown_number_applies() {
    for host in terraform_hosts() {
        // One of three possible blocks exists.
        let body = called_with("terraform_data.kind.output", "\"\"");
        let world = world_with_module(&host, &body).await;
        world.settle(&body).await;
        assert_eq!(stored_kinds(&world).await, ["discord", "slack"], "{}", host.name);
        world.destroy().await;
    }
}

#[tokio::test]
async fn block_of_another_kind_is_refused_once_known() {
    for host in terraform_hosts() {
        let known = called_with("\"discord\"", "\"https://example.com/slack\"");
        let world = world_with_module(&host, &known).await;
        assert_eq!(world.validation_errors(&known).await, [""; 0], "{}", host.name);
        let expected = "`slack` must not be given when `provider_type` is `discord`.";
        let error = world.terraform.plan().await.unwrap_err().to_string();
        assert!(error.contains(expected), "{}: {error}", host.name);
        // The URL is an output of another resource: the plan passes, and the apply fails with the same words.
        let unknown = called_with("\"discord\"", "terraform_data.url.output");
        world.plan(&unknown).await;
        let error = world.terraform.apply().await.unwrap_err().to_string();
        assert!(error.contains(expected), "{}: {error}", host.name);
        assert_eq!(stored_kinds(&world).await, ["discord"], "{}", host.name);
    }
}

/// A state from before a block was a list.
#[tokio::test]
async fn state_with_block_as_object_is_upgraded() {
    let body = "resource \"service_notification\" \"c\" {\n provider_type = \"ntfy\"\n ntfy {\n \
                topic = \"t\"\n }\n}\n";
    let world = World::start().await;
    world.settle(body).await;
    let file = world.terraform.folder().join("terraform.tfstate");
    let mut state: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let instance = &mut state["resources"][0]["instances"][0];
    instance["schema_version"] = json!(0);
    for kind in rules::ProviderType::ALL {
        let block = instance["attributes"][kind.as_str()].take();
        instance["attributes"][kind.as_str()] = block[0].clone();
    }
    assert_eq!(instance["attributes"]["ntfy"]["topic"], "t");
    std::fs::write(&file, state.to_string()).unwrap();
    world.must_be_settled().await;
    world.destroy().await;
}
