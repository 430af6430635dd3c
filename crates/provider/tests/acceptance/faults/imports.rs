//! Faults of imports: another kind, a missing resource, a malformed ID.

use crate::world::World;

const BODY: &str = r#"
resource "service_tcp_monitor" "m" {
  name        = "m"
  uri         = "example.com:443"
  periodicity = "1m"
}
resource "service_http_monitor" "m" {
  name        = "m"
  url         = "https://example.com"
  periodicity = "1m"
}
resource "service_notification" "n" {
  provider_type = "email"
  email {
    email = "ops@example.com"
  }
}
resource "service_status_page" "p" {
  title = "Status"
  slug  = "status"
}
resource "service_status_page" "q" {
  title = "Other"
  slug  = "other"
}
resource "service_status_page_component" "c" {
  page_id = service_status_page.p.id
  type    = "static"
  name    = "Mail"
}
"#;

async fn import_error(world: &World, address: &str, id: &str) -> String {
    world.configure(&format!("{BODY}\nimport {{\n  to = {address}\n  id = \"{id}\"\n}}\n"));
    let error = world.terraform.plan().await.unwrap_err();
    let shown = error.diagnostics().iter().find(|shown| shown.severity == "error").unwrap();
    format!("{}: {}", shown.summary, shown.detail)
}

#[tokio::test]
async fn import_of_another_kind_names_the_right_resource() {
    let world = World::start().await;
    let state = world.settle(BODY).await;
    let tcp = state.value("service_tcp_monitor.m", "id").as_str().unwrap().to_owned();
    world.terraform.remove_state().unwrap();
    let errors = import_error(&world, "service_http_monitor.m", &tcp).await.replace(&tcp, "mon_…");
    insta::assert_snapshot!(errors, @"Cannot import the HTTP monitor: `mon_…` is a TCP monitor, so it is a `service_tcp_monitor`, not a `service_http_monitor`. Import it as a `service_tcp_monitor`.");
    let mut errors = Vec::new();
    for (address, id) in [
        ("service_notification.n", "mon_0000000000000"),
        ("service_http_monitor.m", "page_0000000000000"),
        ("service_status_page_component.c", "page_0000000000000/grp_0000000000000"),
    ] {
        errors.push(import_error(&world, address, id).await);
    }
    insta::assert_snapshot!(errors.join("\n"), @r"
    Cannot import the notification channel: `mon_0000000000000` is a monitor, not a `service_notification`. Import it as `service_http_monitor` or `service_tcp_monitor` or `service_dns_monitor` or `service_heartbeat_monitor`, by its kind.
    Cannot import the HTTP monitor: `page_0000000000000` is a `service_status_page`, not a `service_http_monitor`. Import it as a `service_status_page`.
    Cannot import the component: `grp_0000000000000` is a `service_status_page_component_group`, not a `service_status_page_component`. Import it as a `service_status_page_component_group`.
    ");
}

#[tokio::test]
async fn import_reports_missing_and_malformed_ids() {
    let world = World::start().await;
    let mut errors = Vec::new();
    for (address, id) in [
        ("service_http_monitor.m", "mon_0000000000000"),
        ("service_http_monitor.m", "page/mon_0000000000000"),
        ("service_status_page_component.c", "cmp_0000000000000"),
        ("service_status_page_component.c", "/cmp_0000000000000"),
        ("service_status_page_component.c", "page_0000000000000/cmp_0000000000000"),
    ] {
        errors.push(import_error(&world, address, id).await);
    }
    insta::assert_snapshot!(errors.join("\n"), @r"
    Cannot import the HTTP monitor: The service returned: monitor `mon_0000000000000` not found in this workspace.
    Invalid import id: `page/mon_0000000000000` is not an ID of this resource. Import a `service_http_monitor` by <monitor_id>.
    Invalid import id: `cmp_0000000000000` is not an ID of this resource. Import a `service_status_page_component` by <page_id>/<component_id>.
    Invalid import id: `/cmp_0000000000000` is not an ID of this resource. Import a `service_status_page_component` by <page_id>/<component_id>.
    Cannot import the component: The service returned: component `cmp_0000000000000` not found in this workspace.
    ");
}

#[tokio::test]
async fn component_import_requires_its_own_page() {
    // spec: §2.6
    let world = World::start().await;
    let state = world.settle(BODY).await;
    let component = state.value("service_status_page_component.c", "id").as_str().unwrap();
    let page = state.value("service_status_page.p", "id").as_str().unwrap();
    let other = state.value("service_status_page.q", "id").as_str().unwrap();
    world.terraform.run(&["state", "rm", "service_status_page_component.c"]).await.unwrap();
    let errors =
        import_error(&world, "service_status_page_component.c", &format!("{other}/{component}"))
            .await;
    assert!(errors.contains("not found in this workspace"), "{errors}");
    world.configure(BODY);
    let id = format!("{page}/{component}");
    world.terraform.import("service_status_page_component.c", &id).await.unwrap();
    world.must_be_settled().await;
}
