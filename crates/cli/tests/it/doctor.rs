//! `aloft doctor`: unreadable rows next to a server that runs without them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::{Home, Server, http_monitor};
use crate::target::Target;

/// Region of the second monitor.
const REGION: &str = "koyeb-sin";
/// Maximum distance between its name and its regions in the file.
const ROW_BYTES: usize = 100;

/// Starts a server with three monitors and returns their ids.
fn three_monitors(home: &Home, key: &str, target: &Target) -> (Server, Vec<String>) {
    let server = home.serve();
    let made = [("one", "fly-ams"), ("two", REGION), ("three", "fly-ams")].map(|(name, region)| {
        let monitor = http_monitor(name, &target.url("/"), &[region]);
        let made = server.rpc(key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        made["monitor"]["id"].as_str().unwrap().to_owned()
    });
    (server, made.to_vec())
}

/// Writes an unknown region into the row of the second monitor, as a bad disk would.
fn damage(database: &Path) {
    let mut bytes = fs::read(database).unwrap();
    let is_at = |bytes: &[u8], at: usize, text: &str| bytes[at..].starts_with(text.as_bytes());
    let places: Vec<usize> = (0..bytes.len())
        .filter(|at| is_at(&bytes, *at, "two"))
        .flat_map(|name| name..bytes.len().min(name + ROW_BYTES))
        .filter(|at| is_at(&bytes, *at, REGION))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] = b'x';
    }
    fs::write(database, bytes).unwrap();
}

fn names(listed: &Value) -> Vec<&str> {
    listed["httpMonitors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

// issue 16, point 7: "One unreadable row prevents startup"
#[test]
fn damaged_monitor_is_skipped_listed_exported_and_removed() {
    let (home, key) = Home::with_key();
    let target = Target::start();
    let (server, ids) = three_monitors(&home, &key, &target);
    assert!(server.stop().success());
    damage(&home.data().join("aloft.db"));

    let server = home.serve();
    let listed = server.rpc(&key, "ListMonitors", &json!({}));
    assert_eq!((names(&listed), &listed["totalSize"]), (vec!["three", "one"], &json!(3)));
    // The token of the first page leads past the damaged monitor.
    let (mut token, mut pages) = (json!(""), Vec::new());
    while pages.is_empty() || token != "" {
        let page = json!({ "limit": 1, "pageToken": token });
        let page = server.rpc(&key, "ListMonitors", &page);
        pages.push(names(&page).join(" "));
        token = page["nextPageToken"].clone();
    }
    assert_eq!(pages, ["three", "one"]);
    let ready = server.get("/readyz", None);
    assert_eq!((ready.status, &ready.json()["unreadable_rows"]), (200, &json!(1)));
    let metrics = server.get("/metrics", None).body;
    assert!(metrics.contains("aloft_unreadable_rows 1"), "{metrics}");

    let found = home.run(&["doctor", "--export", "damaged.jsonl"]);
    assert_eq!(found.code, Some(1), "{}", found.err);
    assert!(found.out.contains(&ids[1]), "{}", found.out);
    let exported = fs::read_to_string(home.path().join("damaged.jsonl")).unwrap();
    let exported: Value = serde_json::from_str(exported.trim()).unwrap();
    assert_eq!(
        (&exported["table"], &exported["columns"]["name"]),
        (&json!("monitors"), &json!("two"))
    );
    let again = home.run(&["doctor", "--export", "damaged.jsonl"]);
    assert!(again.code == Some(1) && again.err.contains("cannot create"), "{}", again.err);
    let sound = format!("monitors/{}", ids[0]);
    let refused = home.run(&["doctor", "--export", "a.jsonl", "--remove", &sound]);
    assert!(refused.err.contains("not found"), "{}", refused.err);

    let damaged = format!("monitors/{}", ids[1]);
    let removed = home.run(&["doctor", "--export", "b.jsonl", "--remove", &damaged]);
    assert_eq!((removed.code, removed.err.as_str()), (Some(0), ""), "{}", removed.out);
    let listed = server.rpc(&key, "ListMonitors", &json!({}));
    assert_eq!((names(&listed), &listed["totalSize"]), (vec!["three", "one"], &json!(2)));
    assert_eq!(server.get("/readyz", None).json()["unreadable_rows"], json!(0));
    assert!(server.stop().success());
    assert_eq!(home.run(&["doctor"]).code, Some(0));
}
