//! `aloft serve --demo` as a newcomer sees it.

use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::{Home, PATIENCE, Server, call_service, until};

/// Reads the output of the demo to its last line.
fn welcome(server: &Server) -> String {
    let mut text = String::new();
    while !text.contains("Ctrl-C") {
        text.push_str(&server.out.recv_timeout(PATIENCE).expect("the demo prints commands to try"));
        text.push('\n');
    }
    text
}

fn key_in(welcome: &str) -> String {
    let is_key = |line: &&str| line.starts_with("aloft_");
    welcome.lines().map(str::trim).find(is_key).expect("a new demo prints its key").to_owned()
}

/// Waits until all monitors have a status. Returns the statuses by name.
fn statuses(server: &Server, key: &str) -> BTreeMap<String, String> {
    until("each monitor has a status", || {
        let listed = server.rpc(key, "ListMonitors", &json!({}));
        let monitors = ["httpMonitors", "tcpMonitors", "dnsMonitors"]
            .iter()
            .flat_map(|kind| listed[kind].as_array().unwrap());
        let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
        let found: BTreeMap<_, _> =
            monitors.map(|it| (text(&it["name"]), text(&it["status"]))).collect();
        (!found.is_empty() && found.values().all(|status| status != "unknown")).then_some(found)
    })
}

/// Returns the commands that the demo prints.
fn commands(welcome: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in welcome.lines().filter(|line| line.starts_with("    ")) {
        match commands.last_mut().filter(|_| goes_on) {
            Some(command) => *command = format!("{command}\n{line}"),
            None => commands.push(line.to_owned()),
        }
        goes_on = line.ends_with('\\');
    }
    commands.retain(|command| !command.trim().starts_with("aloft_"));
    commands
}

fn paste(home: &Home, command: &str) -> String {
    let ran = Command::new("sh")
        .args(["-c", command])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{command}: {out}{err}");
    out.into_owned()
}

#[test]
fn demo_starts_six_monitors_and_prints_working_commands() {
    // issue 3, point 2
    let home = Home::new();
    let server = home.serve_with(&["--demo"]);
    let welcome = welcome(&server);
    let mut statuses = statuses(&server, &key_in(&welcome));
    let flapping = statuses.remove("Flapping page").unwrap();
    assert!(["active", "error", "degraded"].contains(&flapping.as_str()), "{flapping}");
    // The first slow result does not make it degraded, the second one does.
    let slow = statuses.remove("Slow page").unwrap();
    assert!(["active", "degraded"].contains(&slow.as_str()), "{slow}");
    insta::assert_snapshot!(json!(statuses), @r#"{"DNS records":"active","Failing page":"error","Healthy page":"active","TCP port":"active"}"#);

    let [listing, creating, checking] = commands(&welcome).try_into().expect("three commands");
    assert_eq!(paste(&home, &listing).lines().count(), 6);
    assert!(paste(&home, &creating).contains(r#""name":"Mine""#));
    let mine = paste(&home, &listing);
    assert!(mine.lines().any(|line| line.starts_with("\"name\":\"Mine\"")), "{mine}");
    assert!(paste(&home, &checking).contains("✓ success"));
}

// issue 16 point 27: "The demo prints commands that work as pasted, with absolute paths"
#[test]
fn printed_commands_work_after_restart_and_with_spaces() {
    let home = Home::with_a_space();
    let first = home.serve_with(&["--demo"]);
    let printed = commands(&welcome(&first));
    assert_eq!(printed.len(), 3, "{printed:?}");
    let pasted = paste(&home, &printed.join("\n"));
    assert!(pasted.contains(r#""name":"Mine""#) && pasted.contains("✓ success"), "{pasted}");
    assert_eq!(first.stop().code(), Some(0));
    let second = home.serve_with(&["--demo"]);
    let printed = commands(&welcome(&second));
    assert_eq!(printed.len(), 4, "{printed:?}");
    // A user pastes them into one shell, in any folder.
    let elsewhere = Home::new();
    let pasted = paste(&elsewhere, &printed.join("\n"));
    let monitors = pasted.lines().filter(|line| line.starts_with("\"name\":")).count();
    assert_eq!(monitors, 7, "{pasted}");
    assert!(pasted.contains("✓ success"), "{pasted}");
}

#[test]
fn commands_of_an_empty_server_work_as_pasted() {
    let home = Home::with_a_space();
    let server = home.serve();
    let mut text = String::new();
    while commands(&text).len() < 2 {
        text.push_str(&server.out.recv_timeout(PATIENCE).expect("the server prints commands"));
        text.push('\n');
    }
    let pasted = paste(&Home::new(), &commands(&text).join("\n"));
    assert!(pasted.contains("aloft_"), "{pasted}");
}

#[test]
fn demo_page_shows_outages_and_maintenance() {
    // issue 7, points 2 and 3
    let home = Home::new();
    let server = home.serve_with(&["--demo"]);
    let key = key_in(&welcome(&server));
    let list_reports = |server: &Server| {
        let page = server.get("/status/demo/status.json", None).json();
        let reports = page["reports"].as_array().unwrap().iter().map(|report| {
            let updates = report["updates"].as_array().unwrap().len();
            format!(
                "{} ({}, {updates})",
                report["title"].as_str().unwrap(),
                report["status"].as_str().unwrap()
            )
        });
        let planned = page["plannedMaintenance"].as_array().unwrap().iter();
        reports
            .chain(planned.map(|it| it["title"].as_str().unwrap().to_owned()))
            .collect::<Vec<_>>()
    };
    let first = list_reports(&server);
    insta::assert_snapshot!(first.join("; "), @"The failing page answers 503 (identified, 2); The slow page responded slowly (resolved, 3); Disk replacement on the name server");
    let page = server.get("/status/demo", None).body;
    assert!(page.contains("<em>on purpose</em>"), "{page}");
    // The demo has no subscribers, so nobody is notified.
    let deliveries = call_service(
        server.address,
        &key,
        "notification.v1.NotificationService",
        "ListDeliveries",
        &json!({}),
    );
    assert_eq!(deliveries.unwrap().json()["totalSize"], 0);
    assert_eq!(server.stop().code(), Some(0));
    let again = home.serve_with(&["--demo"]);
    welcome(&again);
    assert_eq!(list_reports(&again), first, "a restart repeats no report");
}

// issue 16, point 28: "seed the demo with 90 days of history"
#[test]
fn demo_has_results_of_ninety_days() {
    let home = Home::new();
    let server = home.serve_with(&["--demo"]);
    let key = key_in(&welcome(&server));
    let listed = server.rpc(&key, "ListMonitors", &json!({}));
    let kinds = ["httpMonitors", "tcpMonitors", "dnsMonitors"];
    let monitors: Vec<&Value> =
        kinds.iter().flat_map(|kind| listed[kind].as_array().unwrap()).collect();
    assert_eq!(monitors.len(), 6);
    for monitor in monitors {
        let asked = json!({ "id": monitor["id"], "window": "90d" });
        let summary = server.rpc(&key, "GetMonitorSummary", &asked);
        // One every two hours, and the checks since the start.
        assert!(summary["total"]["checks"].as_u64().unwrap() >= 90 * 12, "{summary}");
    }
    let page = server.get("/status/demo/status.json", None).json();
    let mut components = Vec::new();
    for section in page["sections"].as_array().unwrap_or_else(|| panic!("{page}")) {
        components.extend(section.get("component"));
        components.extend(section["group"]["components"].as_array().into_iter().flatten());
    }
    let charts: Vec<&Vec<Value>> =
        components.iter().filter_map(|it| it["days"].as_array()).collect();
    assert!(!charts.is_empty(), "{page}");
    for days in charts {
        let known = days.iter().filter(|day| !day["uptimeMillionths"].is_null()).count();
        assert!(known >= 90, "{known} days are known: {days:?}");
    }
}

#[test]
fn demo_restarts_in_its_folder_with_ports_taken() {
    let home = Home::new();
    let first = home.serve_with(&["--demo"]);
    let key = key_in(&welcome(&first));
    let before = statuses(&first, &key);
    assert_eq!(first.stop().code(), Some(0));

    // Held by this test, or by another process.
    let _pages = TcpListener::bind("127.0.0.1:8090");
    let _port = TcpListener::bind("127.0.0.1:8091");
    let _zone = UdpSocket::bind("127.0.0.1:8053");
    let second = home.serve_with(&["--demo"]);
    let welcome = welcome(&second);
    assert!(!welcome.contains(&key), "a key is printed only once");
    let making = commands(&welcome).into_iter().next().unwrap();
    let another = paste(&home, &format!("{making}\necho \"$KEY\""));
    let another = another.trim_end();
    let after = until("the healthy page is found at its new port", || {
        let after = statuses(&second, another);
        (after["Healthy page"] == "active" && after["DNS records"] == "active").then_some(after)
    });
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
}
