//! Faults of monitors: lists that cannot be cleared, lost zeroes, echoes, order, status.

use serde_json::{Value, json};

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";

fn monitor(more: &str) -> String {
    format!(
        "resource \"service_http_monitor\" \"m\" {{\n  name = \"API\"\n  \
         url = \"https://example.com\"\n  periodicity = \"30s\"\n{more}\n}}\n"
    )
}

async fn stored(world: &World) -> Value {
    let list = world.rpc(MONITORS, "ListMonitors", json!({})).await;
    assert_eq!(list["httpMonitors"].as_array().unwrap().len(), 1, "{list}");
    list["httpMonitors"][0].clone()
}

#[tokio::test]
async fn headers_assertions_and_regions_can_be_removed() {
    let full = monitor(
        r#"
        regions = ["fly-ams"]
        headers {
          key   = "A"
          value = "1"
        }
        status_code_assertions {
          target     = 200
          comparator = "eq"
        }
        body_assertions {
          target     = "x"
          comparator = "contains"
        }
        header_assertions {
          key        = "A"
          target     = "x"
          comparator = "eq"
        }
        "#,
    );
    let world = World::start().await;
    world.settle(&full).await;
    world.settle(&monitor("")).await;
    let stored = stored(&world).await;
    for list in ["regions", "headers", "statusCodeAssertions", "bodyAssertions", "headerAssertions"]
    {
        assert_eq!(stored[list], json!([]), "{list}");
    }
}

#[tokio::test]
async fn zero_and_empty_are_stored() {
    let world = World::start().await;
    let zeroes = "timeout = 0\n degraded_at = 0\n retry = 0\n description = \"\"\n body = \"\"\n \
                  follow_redirects = false";
    let state = world.settle(&monitor(zeroes)).await;
    let stored = stored(&world).await;
    for (attribute, field, value) in [
        ("timeout", "timeout", json!(0)),
        ("degraded_at", "degradedAt", json!(0)),
        ("retry", "retry", json!(0)),
        ("description", "description", json!("")),
        ("follow_redirects", "followRedirects", json!(false)),
    ] {
        assert_eq!(state.value("service_http_monitor.m", attribute), &value);
        assert_eq!(stored[field], value);
    }
}

#[tokio::test]
async fn absent_argument_stays_null() {
    let world = World::start().await;
    let state = world.settle(&monitor("")).await;
    let values = state.values("service_http_monitor.m");
    for list in ["headers", "status_code_assertions", "body_assertions", "header_assertions"] {
        assert_eq!(values[list], json!([]), "{list}");
    }
    assert_eq!((&values["regions"], &values["description"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn reordered_blocks_are_a_change() {
    let header = |key: &str| format!("headers {{\n key = \"{key}\"\n value = \"1\"\n}}\n");
    let world = World::start().await;
    world.settle(&monitor(&(header("B") + &header("A")))).await;
    assert_eq!(stored(&world).await["headers"][0]["key"], "B");
    let plan = world.plan(&monitor(&(header("A") + &header("B")))).await;
    assert!(!plan.is_empty());
    world.settle(&monitor(&(header("A") + &header("B")))).await;
    assert_eq!(stored(&world).await["headers"][0]["key"], "A");
}

#[tokio::test]
async fn reordered_regions_are_no_change() {
    let world = World::start().await;
    world.settle(&monitor("regions = [\"koyeb-sin\", \"fly-ams\"]")).await;
    let plan = world.plan(&monitor("regions = [\"fly-ams\", \"koyeb-sin\", \"fly-ams\"]")).await;
    assert!(plan.is_empty(), "{}", plan.summary());
}

#[tokio::test]
async fn absent_degraded_at_is_planned_exactly() {
    // design: §4, degraded_at
    let world = World::start().await;
    let plan = world.plan(&monitor("timeout = 1000")).await;
    assert_eq!(plan.change("service_http_monitor.m").after["degraded_at"], 666);
    world.settle(&monitor("timeout = 1000\n degraded_at = 5")).await;
    let state = world.settle(&monitor("timeout = 1000")).await;
    assert_eq!(state.value("service_http_monitor.m", "degraded_at"), 666);
    assert_eq!(stored(&world).await.get("degradedAt"), None);
    let state = world.settle(&monitor("timeout = 0")).await;
    assert_eq!(state.value("service_http_monitor.m", "degraded_at"), 80_000);
}

#[tokio::test]
async fn update_plans_all_values_but_server_outputs() {
    let world = World::start().await;
    world.settle(&monitor("")).await;
    let plan = world.plan(&monitor("retry = 1")).await;
    assert_eq!(plan.change("service_http_monitor.m").unknown_attributes(), ["status"]);
}

#[tokio::test]
async fn equal_resources_stay_separate() {
    let world = World::start().await;
    let state = world.settle(&monitor("count = 5")).await;
    let ids = (0..5).map(|at| state.value(&format!("service_http_monitor.m[{at}]"), "id").clone());
    let mut ids: Vec<_> = ids.map(|id| id.to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}
