//! `aloft import`: its files, its refusals, and the interface of a service.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::process::Home;

const BACKUP: &str = r#"{"monitorList": [
    {"id": 1, "name": "Shop", "type": "http", "url": "https://example.com/", "interval": 60, "timeout": 48, "active": 1,
     "headers": "{\"X-Key\": \"k3y\"}"}
]}"#;

#[test]
fn import_writes_configuration_secrets_and_history() {
    let home = Home::new();
    let path = |name: &str| home.path().join(name);
    fs::write(path("kuma.json"), BACKUP).unwrap();
    let arguments = [
        "import",
        "uptime-kuma",
        "kuma.json",
        "--output",
        "aloft.yaml",
        "--secrets",
        "secrets.env",
        "--history",
        "history.jsonl",
        "--json",
    ];
    let ran = home.run(&arguments);
    assert_eq!((ran.code, &*ran.out), (Some(0), ""), "{}", ran.err);
    let preview: Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(preview["objects"][0]["keys"], json!(["shop"]));
    assert_eq!(preview["secrets"], json!(["MONITOR_SHOP_X_KEY"]));
    let text = fs::read_to_string(path("aloft.yaml")).unwrap();
    assert!(text.contains("value: {env: MONITOR_SHOP_X_KEY}") && !text.contains("k3y"), "{text}");
    assert_eq!(fs::read_to_string(path("secrets.env")).unwrap(), "MONITOR_SHOP_X_KEY=k3y\n");
    assert_eq!(path("secrets.env").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(path("history.jsonl")).unwrap().lines().count(), 1);
    let again = home.run(&arguments);
    assert_eq!(again.code, Some(1));
    assert!(
        again.err.contains("`aloft.yaml` already exists; choose another file, or add `--force`")
    );
}

#[test]
fn destination_of_another_file_is_refused() {
    let home = Home::new();
    fs::write(home.path().join("kuma.json"), BACKUP).unwrap();
    for (more, expected) in [
        (&["--output", "a", "--secrets", "./a"][..], "is the destination of two things"),
        (&["--output", "kuma.json", "--force"], "`kuma.json` belongs to the source"),
    ] {
        let ran = home.run(&[&["import", "uptime-kuma", "kuma.json"], more].concat());
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(home.path().join("kuma.json")).unwrap(), BACKUP);
    assert!(!home.path().join("a").exists());
}

#[test]
fn inline_secrets_are_printed_on_request() {
    let home = Home::new();
    fs::write(home.path().join("kuma.json"), BACKUP).unwrap();
    let ran = home.run(&["import", "uptime-kuma", "kuma.json", "--with-secrets"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.contains("value: k3y"), "{}", ran.out);
}

#[test]
fn unusable_sources_are_refused() {
    let home = Home::new();
    fs::write(home.path().join("a.json"), "{").unwrap();
    for (arguments, code, expected) in [
        (
            &["import", "statuspage", "a.json"][..],
            1,
            "`a.json`, line 1, column 1: EOF while parsing an object",
        ),
        (&["import", "gatus", "missing"], 1, "failed to read `missing`"),
        (&["import", "gatus", "--live"], 1, "Gatus has files; give the path of its file or folder"),
        (
            &["import", "uptimerobot", "--live"],
            1,
            "no token; set UPTIMEROBOT_API_KEY, or give a file with `--token-file`",
        ),
        (&["import", "nagios", "a"], 2, "possible values: uptime-kuma, gatus, openstatus"),
        (&["import", "gatus"], 2, "required"),
    ] {
        let ran = home.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn busy_live_service_is_asked_again() {
    let busy = AtomicU32::new(0);
    let target = HttpTarget::start_with(move |received| {
        let list = received.target.rsplit('/').next().unwrap_or_default();
        if received.header("x-openstatus-key") != Some("os_1") {
            return ScriptedResponse::status(401);
        }
        if busy.fetch_add(1, Ordering::Relaxed) == 0 {
            return ScriptedResponse::status(429).header("retry-after", "0");
        }
        let answer = match list {
            "ListMonitors" => json!({ "totalSize": 1, "tcpMonitors": [{
                "id": "1", "name": "Database", "uri": "db.example.com:5432", "periodicity": "PERIODICITY_1M",
            }] }),
            "ListNotifications" => json!({ "notifications": [{ "id": "2", "name": "Mail" }], "totalSize": 1 }),
            "GetNotification" => json!({ "notification": {
                "id": "2", "name": "Mail", "data": { "email": { "email": "ops@example.com" } }, "monitorIds": ["1"],
            } }),
            _ => json!({}),
        };
        ScriptedResponse::ok(answer.to_string())
    })
    .await;
    let home = Home::new();
    let url = target.url("");
    fs::write(home.path().join("token"), "os_1\n").unwrap();
    let import = |token: &str| {
        home.run(&[
            "import",
            "openstatus",
            "--live",
            "--token-file",
            token,
            "--interface",
            &url,
            "--allow-private-networks",
        ])
    };
    let ran = tokio::task::block_in_place(|| import("token"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("  database:\n    kind: tcp\n"), "{}", ran.out);
    assert!(ran.out.contains("    monitor_ids:\n      - database\n"), "{}", ran.out);
    fs::write(home.path().join("wrong"), "os_2").unwrap();
    let refused = tokio::task::block_in_place(|| import("wrong"));
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("the service rejects the token (401 Unauthorized)"),
        "{}",
        refused.err
    );
}
