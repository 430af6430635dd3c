//! `terraform test` with `mock_provider`: without a service and a key, but with the provider's validation. Mocks
//! generate computed values, so that IDs have no prefix.

use testkit::tools::terraform_hosts;

use crate::examples::examples;
use crate::world::World;

const TEST: &str = r#"
mock_provider "service" {}

run "plan" {
  command = plan
  assert {
    condition     = length(service_notification.mocked.monitor_ids) > 0
    error_message = "the plan has no monitors"
  }
}

run "apply" {
  assert {
    condition     = service_notification.mocked.webhook[0].endpoint == "https://example.com/hook"
    error_message = "the endpoint is another one"
  }
  assert {
    condition     = service_status_page_component.mocked.page_id == service_status_page.mocked.id
    error_message = "the component is of another page"
  }
}

run "apply_again" {
  variables {
    name = "after"
  }
  assert {
    condition     = service_http_monitor.mocked.name == "after"
    error_message = "the name stayed"
  }
}
"#;

/// Every resource and data source, with every ID that one takes from another.
const EVERYTHING: &str = r#"
variable "name" {
  default = "before"
}
resource "service_http_monitor" "mocked" {
  name        = var.name
  url         = "https://example.com/"
  periodicity = "30s"
  regions     = data.service_regions.all.ids
}
resource "service_tcp_monitor" "mocked" {
  name        = var.name
  uri         = "example.com:443"
  periodicity = "1m"
}
resource "service_dns_monitor" "mocked" {
  name        = var.name
  uri         = "example.com"
  periodicity = "1m"
}
resource "service_heartbeat_monitor" "mocked" {
  name     = var.name
  interval = 3600
}
resource "service_notification" "mocked" {
  provider_type = "webhook"
  monitor_ids = [
    service_http_monitor.mocked.id, service_tcp_monitor.mocked.id, service_dns_monitor.mocked.id,
    service_heartbeat_monitor.mocked.id,
  ]
  webhook {
    endpoint = "https://example.com/hook"
  }
}
resource "service_status_page" "mocked" {
  title = var.name
  slug  = "mocked"
}
resource "service_status_page_component_group" "mocked" {
  page_id = service_status_page.mocked.id
  name    = var.name
}
resource "service_status_page_component" "mocked" {
  page_id    = service_status_page.mocked.id
  type       = "monitor"
  monitor_id = service_http_monitor.mocked.id
  group_id   = service_status_page_component_group.mocked.id
}
data "service_regions" "all" {}
data "service_whoami" "me" {}
data "service_monitors" "all" {}
data "service_monitor" "mocked" {
  id = service_http_monitor.mocked.id
}
data "service_notification" "mocked" {
  id = service_notification.mocked.id
}
data "service_status_page" "mocked" {
  id = service_status_page.mocked.id
}
"#;

// issue 16 point 18: `mock_provider` works without defaults
#[tokio::test]
async fn mocked_provider_needs_no_defaults() {
    for table in rules::tables::RESOURCES.iter().chain(&rules::tables::DATA_SOURCES) {
        assert!(EVERYTHING.contains(&format!("\"{}\"", table.name)), "{}", table.name);
    }
    for host in terraform_hosts() {
        let mut world = World::start_on(&host).await;
        world.terraform.set("SERVICE_API_TOKEN", "").set("SERVICE_API_URL", "");
        world.configure(EVERYTHING);
        world.terraform.write("mocked.tftest.hcl", TEST).unwrap();
        let output = world.terraform.execute(&["test", "-no-color"]).await.unwrap();
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(0), "{}: {printed}", host.name);
        assert!(printed.contains("3 passed, 0 failed"), "{}: {printed}", host.name);
    }
}

#[tokio::test]
async fn mocked_provider_applies_all_examples() {
    for (name, example) in examples("resources", "resource.tf") {
        let mut world = World::start().await;
        world.terraform.set("SERVICE_API_TOKEN", "").set("SERVICE_API_URL", "");
        world.configure(&example);
        let test = "mock_provider \"service\" {}\nrun \"apply\" {}\n";
        world.terraform.write("mocked.tftest.hcl", test).unwrap();
        let output = world.terraform.execute(&["test", "-no-color"]).await.unwrap();
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(output.code, Some(0), "{name}: {printed}");
    }
}

#[tokio::test]
async fn id_of_another_kind_is_still_refused() {
    let world = World::start().await;
    let body = "data \"service_monitor\" \"m\" {\n  id = \"page_0000000000000\"\n}\n";
    insta::assert_snapshot!(world.validation_errors(body).await.join("\n"), @r#"
    error: Invalid id
      on main.tf line 8: id = "page_0000000000000"
      `id` must be an identifier of the form mon_… (given: `page_0000000000000`).
    "#);
}
