//! Faults of `ignore_changes`: the provider sends the plan, not the configuration.

use serde_json::{Value, json};
use terraform_plugin::harness::PlannedAction;
use testkit::tools::terraform_hosts;

use crate::world::World;

const MONITORS: &str = "monitor.v1.MonitorService";
const ADDRESS: &str = "service_tcp_monitor.m";

/// Returns a monitor whose `degraded_at` Terraform ignores.
fn monitor(name: &str, timeout: u32, degraded_at: &str) -> String {
    format!(
        "resource \"service_tcp_monitor\" \"m\" {{\n  name = \"{name}\"\n  uri = \"example.com:443\"\n  \
         periodicity = \"1m\"\n  timeout = {timeout}\n  degraded_at = {degraded_at}\n  lifecycle {{\n    \
         ignore_changes = [degraded_at]\n  }}\n}}\n"
    )
}

async fn stored(world: &World) -> Value {
    let list = world.rpc(MONITORS, "ListMonitors", json!({})).await;
    list["tcpMonitors"][0].clone()
}

/// Sets or removes `degraded_at` outside Terraform.
async fn set_outside_terraform(world: &World, degraded_at: Value) {
    let id = stored(world).await["id"].clone();
    let mut monitor = json!({ "id": id });
    if !degraded_at.is_null() {
        monitor["degradedAt"] = degraded_at;
    }
    let request = json!({ "monitor": monitor, "updateMask": "degradedAt" });
    world.rpc(MONITORS, "UpdateTcpMonitor", request).await;
}

// issue 16 point 18: `ignore_changes = [degraded_at]` is honoured
#[tokio::test]
async fn ignored_value_is_sent_as_planned() {
    for host in terraform_hosts() {
        let world = World::start_on(&host).await;
        // The configuration, the value set outside Terraform, and the value that stays.
        for (configured, stored_by_others, kept) in [
            ("1000", json!(5_000), json!(5_000)),
            ("null", json!(5_000), json!(5_000)),
            ("1000", Value::Null, Value::Null),
            ("null", Value::Null, Value::Null),
        ] {
            let named = format!("{}: {configured}, {stored_by_others}", host.name);
            world.settle(&monitor("before", 45_000, configured)).await;
            set_outside_terraform(&world, stored_by_others).await;
            let after = monitor("after", 45_000, configured);
            let plan = world.plan(&after).await;
            assert_eq!(plan.change(ADDRESS).action, PlannedAction::Update, "{named}");
            world.apply_planned().await;
            world.must_be_settled().await;
            let stored = stored(&world).await;
            assert_eq!(
                (&stored["name"], &stored["degradedAt"]),
                (&json!("after"), &kept),
                "{named}"
            );
            world.destroy().await;
        }
    }
}

#[tokio::test]
async fn ignored_value_survives_a_new_timeout() {
    let world = World::start().await;
    for configured in ["null", "1000"] {
        world.settle(&monitor("m", 45_000, configured)).await;
        set_outside_terraform(&world, Value::Null).await;
        // The value of the state stays: two thirds of the old timeout.
        world.plan(&monitor("m", 60_000, configured)).await;
        world.apply_planned().await;
        world.must_be_settled().await;
        assert_eq!(stored(&world).await["effectiveDegradedAt"], 30_000, "{configured}");
        world.destroy().await;
    }
}

#[tokio::test]
async fn absent_value_follows_the_timeout() {
    let world = World::start().await;
    let followed = |timeout, degraded_at: &str| {
        let body = monitor("m", timeout, degraded_at);
        body.replace("ignore_changes = [degraded_at]", "ignore_changes = []")
    };
    for (timeout, configured, effective, written) in [
        (45_000, "null", 30_000, Value::Null),
        (60_000, "null", 40_000, Value::Null),
        (60_000, "5000", 5_000, json!(5_000)),
        (30_000, "5000", 5_000, json!(5_000)),
        (30_000, "null", 20_000, Value::Null),
    ] {
        world.settle(&followed(timeout, configured)).await;
        let stored = stored(&world).await;
        assert_eq!(stored["effectiveDegradedAt"], effective, "{timeout} {configured}");
        assert_eq!(stored["degradedAt"], written, "{timeout} {configured}");
    }
}
