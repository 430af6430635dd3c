//! Saved answers: settings that change what an object means.

use aloft_import::{Import, Peer, SecretStyle};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::import_of;

/// Imports an answer. Returns configuration and preview.
fn import(peer: Peer, answers: &[Value]) -> (String, String) {
    let folder = tempdir().unwrap();
    for (number, answer) in answers.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.json")), answer.to_string()).unwrap();
    }
    let import: Import = import_of(peer, folder.path()).unwrap();
    let written = import.write(SecretStyle::Named);
    (written.text, written.preview.to_text())
}

/// Returns an answer of UptimeRobot with a monitor.
fn robot(more: Value) -> Value {
    let mut monitor = json!({
        "id": 1, "friendly_name": "Shop", "url": "https://example.com", "type": 1, "interval": 60,
        "timeout": 30, "status": 2,
    });
    for (name, value) in more.as_object().unwrap() {
        monitor[name] = value.clone();
    }
    json!({ "stat": "ok", "monitors": [monitor] })
}

#[test]
fn rejected_code_keeps_the_range_around_it() {
    let (text, _) = import(Peer::UptimeRobot, &[robot(json!({ "custom_http_statuses": "204:0" }))]);
    for expected in [
        "target: 204\n        comparator: neq",
        "target: 200\n        comparator: gte",
        "target: 299\n        comparator: lte",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn ignored_tls_errors_are_named() {
    for more in [json!({ "ssl": { "ignore_errors": 1 } }), json!({ "ignore_ssl_errors": 1 })] {
        let (_, preview) = import(Peer::UptimeRobot, &[robot(more)]);
        assert!(preview.contains("impossible: ignored TLS errors"), "{preview}");
    }
}

#[test]
fn contact_without_name_hides_its_address() {
    let contacts = json!({ "stat": "ok", "alert_contacts": [
        { "id": "1", "type": 5, "status": 2, "value": "https://example.com/hidden" },
        { "id": "2", "type": 5, "status": 2, "value": "https://example.com/?x=hooks.slack.com/" },
    ] });
    let (text, preview) = import(Peer::UptimeRobot, &[contacts]);
    assert!(!text.contains("hidden") && !preview.contains("hidden"), "{text}{preview}");
    assert!(text.contains("name: Webhook") && !text.contains("slack:"), "{text}");
}
