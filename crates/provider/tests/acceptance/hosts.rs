//! The life of a small configuration on every program that runs providers: the oldest Terraform that is
//! supported, the newest, and OpenTofu. Details are tested on the `terraform` of the `PATH` only.

use serde_json::json;
use terraform_plugin::harness::PlannedAction;
use testkit::tools::{TerraformHost, WriteOnly, terraform_hosts};

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";

/// Returns a monitor that alerts a channel, on a status page.
fn body(name: &str, host: &TerraformHost) -> String {
    // Older programs refuse a write-only argument.
    let password = match host.write_only {
        WriteOnly::Known => "password_wo = \"correct horse\"\n  password_wo_version = 1",
        WriteOnly::Unknown => "password = \"correct horse\"",
    };
    format!(
        r#"
resource "service_http_monitor" "api" {{
  name        = "{name}"
  url         = "https://example.com/"
  periodicity = "1m"
  regions     = ["fly-ams", "fly-iad"]

  status_code_assertions {{
    target     = 200
    comparator = "eq"
  }}
}}

resource "service_notification" "push" {{
  name          = "Push"
  provider_type = "ntfy"
  monitor_ids   = [service_http_monitor.api.id]

  ntfy {{
    topic = "status"
  }}
}}

resource "service_status_page" "public" {{
  title       = "Status"
  slug        = "status"
  access_type = "password"
  {password}
}}

resource "service_status_page_component" "api" {{
  page_id    = service_status_page.public.id
  type       = "monitor"
  monitor_id = service_http_monitor.api.id
}}

data "service_monitor" "api" {{
  id = service_http_monitor.api.id
}}
"#
    )
}

#[tokio::test]
async fn configuration_lives_on_every_host() {
    // issue 16 point 18: "acceptance tests run with a real `tofu`"
    for host in terraform_hosts() {
        let world = World::start_on(&host).await;
        world.settle(&body("before", &host)).await;
        let plan = world.plan(&body("after", &host)).await;
        let updated = plan.changes.iter().filter(|it| it.action == PlannedAction::Update);
        let updated: Vec<_> = updated.map(|it| it.address.as_str()).collect();
        assert_eq!(updated, ["service_http_monitor.api"], "{}", host.name);
        let state = world.settle(&body("after", &host)).await;
        let list = world.rpc(MONITORS, "ListMonitors", json!({})).await;
        assert_eq!(list["httpMonitors"][0]["name"], "after", "{}", host.name);
        // A password cannot be read: an import sets it again.
        world.import_all(&body("after", &host), &state, &["service_status_page.public"]).await;
        world.destroy().await;
    }
}

#[tokio::test]
async fn invalid_configuration_is_refused_on_every_host() {
    for host in terraform_hosts() {
        let world = World::start_on(&host).await;
        let wrong = body("api", &host).replace("\"1m\"", "\"2m\"");
        let refused = world.validation_errors(&wrong).await;
        assert_eq!(refused.len(), 1, "{}: {refused:?}", host.name);
        assert!(refused[0].contains("`periodicity` must be one of"), "{}", refused[0]);
    }
}
