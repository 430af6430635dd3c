//! Faults of pages, components and groups: replaced for a new title, impossible to clear, order lost.

use serde_json::{Value, json};
use terraform_plugin::harness::PlannedAction;

use crate::world::World;

const PAGES: &str = "status_page.v1.StatusPageService";

fn page(more: &str) -> String {
    format!("resource \"service_status_page\" \"p\" {{\n slug = \"status\"\n{more}\n}}\n")
}

fn component(more: &str) -> String {
    format!(
        "{}
        resource \"service_status_page_component_group\" \"g\" {{
          page_id = service_status_page.p.id
          name    = \"Group\"
        }}
        resource \"service_tcp_monitor\" \"m\" {{
          count       = 2
          name        = \"m\"
          uri         = \"example.com:443\"
          periodicity = \"1m\"
        }}
        resource \"service_status_page_component\" \"c\" {{
          page_id = service_status_page.p.id
          {more}
        }}\n",
        page("title = \"Status\"")
    )
}

async fn stored(world: &World) -> Value {
    world.rpc(PAGES, "ListComponents", json!({})).await["components"][0].clone()
}

#[tokio::test]
async fn edited_title_keeps_the_page() {
    let world = World::start().await;
    world.settle(&page("title = \"Status\"")).await;
    let plan = world.plan(&page("title = \"How we are\"")).await;
    assert_eq!(plan.change("service_status_page.p").action, PlannedAction::Update);
}

#[tokio::test]
async fn unknown_access_type_is_refused() {
    let world = World::start().await;
    for (access, word) in [
        ("access_type = \"password\"\n password = \"hunter2\"", "password"),
        ("access_type = \"email-domain\"\n auth_email_domains = [\"example.com\"]", "email-domain"),
        ("access_type = \"public\"", "public"),
    ] {
        let state = world.settle(&page(&format!("title = \"Status\"\n{access}"))).await;
        assert_eq!(state.value("service_status_page.p", "access_type"), word);
    }
    let refused = world
        .validation_errors(&page("title = \"Status\"\n access_type = \"ip-restriction\""))
        .await;
    insta::assert_snapshot!(refused.join("\n"), @r#"
    error: Invalid access_type
      on main.tf line 10: access_type = "ip-restriction"
      `access_type` must be one of public, password, email-domain (given: `ip-restriction`).
    "#);
}

#[tokio::test]
async fn component_can_be_cleared_and_zero_kept() {
    let world = World::start().await;
    let full = component(
        "type = \"monitor\"\n monitor_id = service_tcp_monitor.m[0].id\n name = \"Orders\"\n \
         description = \"x\"\n order = 0\n group_order = 0\n \
         group_id = service_status_page_component_group.g.id",
    );
    world.settle(&full).await;
    let first = stored(&world).await;
    assert_eq!((&first["order"], &first["groupOrder"]), (&json!(0), &json!(0)));
    let bare = component("type = \"monitor\"\n monitor_id = service_tcp_monitor.m[0].id");
    world.settle(&bare).await;
    let second = stored(&world).await;
    for field in ["name", "description", "order", "groupId", "groupOrder"] {
        assert_eq!(second.get(field), None, "{field}");
    }
}

#[tokio::test]
async fn component_changes_its_monitor_in_place() {
    let world = World::start().await;
    let shows = |at: u8| {
        component(&format!("type = \"monitor\"\n monitor_id = service_tcp_monitor.m[{at}].id"))
    };
    let before = world.settle(&shows(0)).await;
    let after = world.settle(&shows(1)).await;
    let values = "service_status_page_component.c";
    assert_eq!(before.value(values, "id"), after.value(values, "id"));
    assert_eq!(stored(&world).await["monitorId"], *after.value("service_tcp_monitor.m[1]", "id"));
}

#[tokio::test]
async fn component_follows_its_replaced_monitor() {
    // issue 5 point 3
    let world = World::start().await;
    let body = component("type = \"monitor\"\n monitor_id = service_tcp_monitor.m[0].id");
    let before = world.settle(&body).await;
    let applied = world.terraform.apply_with(&["-replace=service_tcp_monitor.m[0]"]).await.unwrap();
    let monitor = applied.state.value("service_tcp_monitor.m[0]", "id");
    assert_ne!(monitor, before.value("service_tcp_monitor.m[0]", "id"));
    assert_eq!(stored(&world).await["monitorId"], *monitor);
    world.must_be_settled().await;
}

#[tokio::test]
async fn new_page_or_type_replaces_component() {
    let world = World::start().await;
    world.settle(&component("type = \"monitor\"\n monitor_id = service_tcp_monitor.m[0].id")).await;
    let plan = world.plan(&component("type = \"static\"\n name = \"Mail\"")).await;
    let change = plan.change("service_status_page_component.c");
    assert_eq!(
        (change.action, &change.replace_paths),
        (PlannedAction::Replace, &json!([["type"]]))
    );
}

#[tokio::test]
async fn update_plans_all_values_but_server_outputs() {
    let world = World::start().await;
    let shown = "type = \"monitor\"\n monitor_id = service_tcp_monitor.m[0].id";
    world.settle(&component(shown)).await;
    let changed = component(&format!("{shown}\n name = \"Shop\""));
    let changed = changed.replace("\"Status\"", "\"How we are\"").replace("\"Group\"", "\"Shop\"");
    let plan = world.plan(&changed).await;
    for (address, open) in [
        ("service_status_page.p", &["published", "theme", "updated_at"][..]),
        ("service_status_page_component.c", &["updated_at"]),
        ("service_status_page_component_group.g", &["updated_at"]),
    ] {
        let change = plan.change(address);
        assert_eq!(
            (change.action, change.unknown_attributes()),
            (PlannedAction::Update, open.to_vec()),
            "{address}"
        );
    }
}

/// Returns a page with three monitors, and components that show one monitor each.
fn components(shown: &[(&str, &str)]) -> String {
    let one = |(name, monitor): &(&str, &str)| {
        format!(
            "resource \"service_status_page_component\" \"{name}\" {{\n \
             page_id = service_status_page.p.id\n type = \"monitor\"\n \
             monitor_id = service_tcp_monitor.m[\"{monitor}\"].id\n}}\n"
        )
    };
    let monitors = "resource \"service_tcp_monitor\" \"m\" {\n for_each = toset([\"x\", \"y\", \"z\"])\n \
                    name = \"m\"\n uri = \"example.com:443\"\n periodicity = \"1m\"\n}\n";
    page("title = \"Status\"") + monitors + &shown.iter().map(one).collect::<String>()
}

#[tokio::test]
async fn unique_values_move_in_one_apply() {
    let world = World::start().await;
    world.settle(&components(&[("a", "x"), ("b", "y")])).await;
    // Each takes the value that the next one gives up, or that a deleted one leaves.
    world.settle(&components(&[("a", "y"), ("b", "z")])).await;
    world.settle(&components(&[("c", "y"), ("b", "z")])).await;
    let renamed = page("title = \"Status\"").replace("\"p\"", "\"q\"");
    world.settle(&renamed).await;
}

#[tokio::test]
async fn swapped_monitors_fail_with_the_way_out() {
    let world = World::start().await;
    world.settle(&components(&[("a", "x"), ("b", "y")])).await;
    world.configure(&components(&[("a", "y"), ("b", "x")]));
    let error = world.terraform.apply().await.unwrap_err();
    let message = error.diagnostics()[0].to_string();
    assert!(message.contains("two resources cannot trade"), "{message}");
    assert!(message.contains("monitor_id = service_tcp_monitor.m"), "{message}");
    // The way out of the message works.
    world.settle(&components(&[("a", "y")])).await;
    world.settle(&components(&[("a", "y"), ("b", "x")])).await;
}

#[tokio::test]
async fn taken_slug_points_at_its_argument() {
    let world = World::start().await;
    world.settle(&page("title = \"Status\"")).await;
    let other =
        "resource \"service_status_page\" \"q\" {\n  title = \"Other\"\n  slug  = \"status\"\n}\n";
    world.configure(&(page("title = \"Status\"") + other));
    let error = world.terraform.apply().await.unwrap_err();
    insta::assert_snapshot!(error.diagnostics()[0], @r#"
    error: Cannot create the status page
      on main.tf line 13: slug  = "status"
      `slug` is already used by another status page of this server (given: `status`).
    "#);
}
