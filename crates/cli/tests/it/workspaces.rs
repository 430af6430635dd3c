//! `aloft workspaces list` and `show`: plans with their limits and the usage.

use serde_json::json;

use crate::process::{Home, http_monitor};

const PLANS: &str = "team monitors=50 shortest_period=30s pages=3 retention_days=90";

// issue 16 point 20: "Add named plans with limits"
#[test]
fn limits_and_usage_show_with_and_without_server() {
    let home = Home::new();
    let server = home.serve_with(&["--plans", PLANS]);
    let create = ["workspaces", "create", "--slug", "acme", "--name", "Acme"];
    assert_eq!(home.run(&[&create[..], &["--plan", "team"]].concat()).code, Some(0));
    let key = home.new_key(&["--scope", "write"])["key"].as_str().unwrap().to_owned();
    for name in ["a", "b"] {
        let mut monitor = http_monitor(name, "http://127.0.0.1:9/", &["fly-ams"]);
        monitor["active"] = json!(false);
        server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
    }
    let show = ["workspaces", "show", "--slug", "acme"];
    let beside = home.run(&show).out;
    let stable = |out: &str| {
        let lines =
            out.lines().filter(|line| !line.starts_with("ID") && !line.starts_with("Created"));
        lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(stable(&beside), @"
    Slug            acme
    Name            Acme
    Plan            team
    Weight          1
    Manages probes  yes

                     USED  LIMIT
    Monitors         2     50
    Shortest period  30s   30s
    Status pages     0     3
    Channels         0     none
    Retention        30d   90d
    ");
    let details = home.json(&show);
    insta::assert_snapshot!(details["limits"], @r#"{"monitors":50,"shortestPeriod":"30s","pages":3,"channels":null,"retentionDays":90,"weight":1}"#);
    insta::assert_snapshot!(details["usage"], @r#"{"monitors":2,"shortestPeriod":"30s","pages":0,"channels":0,"retentionDays":30}"#);
    assert_eq!(home.json(&["workspaces", "list"]), json!([details]));
    let listed = home.run(&["workspaces", "list"]).out;
    let columns: Vec<&str> = listed.lines().nth(1).unwrap().split("  ").collect();
    let columns: Vec<&str> =
        columns.into_iter().map(str::trim).filter(|it| !it.is_empty()).collect();
    insta::assert_snapshot!(columns[..8].join(" | "), @"acme | Acme | team | 2 of 50 | 30s of 30s | 0 of 3 | 0 | 30d of 90d");
    assert!(server.stop().success());
    assert_eq!(home.run_with(&show, &[("ALOFT_PLANS", PLANS)]).out, beside);
}

#[test]
fn unknown_workspace_is_not_found() {
    let home = Home::with_database();
    let ran = home.run(&["workspaces", "show", "--slug", "nobody"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.err, @"error: workspace `nobody` not found");
}

// issue 19 point 1: "(and RPC, and the dashboard)"
#[test]
fn operator_names_the_workspaces_that_manage_probes() {
    let (home, _) = Home::with_key();
    let manages = |slug: &str| {
        home.json(&["workspaces", "show", "--slug", slug])["isOperator"].as_bool().unwrap()
    };
    home.run(&["workspaces", "create", "--slug", "second", "--name", "Second"]);
    assert_eq!(["acme", "second"].map(manages), [true, false]);
    let named = home.run(&["workspaces", "operator", "--slug", "second"]);
    assert_eq!(named.out.trim_end(), "workspace `second` now manages the server's probes");
    let ended = home.run(&["workspaces", "operator", "--slug", "acme", "--revoke"]);
    assert_eq!(ended.out.trim_end(), "workspace `acme` no longer manages the server's probes");
    assert_eq!(["acme", "second"].map(manages), [false, true]);
}
