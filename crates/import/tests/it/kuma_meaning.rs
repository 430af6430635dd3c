//! Uptime Kuma: settings without which a monitor would mean something else.

use aloft_import::Peer;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::{configuration, import_of, unpacked};

/// Imports the database after a change.
fn after(sql: &str) -> (String, String) {
    let folder = tempdir().unwrap();
    let path = unpacked("kuma-2.5.3.db.gz", folder.path(), "kuma.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    configuration(Peer::UptimeKuma, &path)
}

/// Imports a backup with some monitors.
fn backup(monitors: &Value) -> (String, String) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("backup.json");
    std::fs::write(&path, json!({ "monitorList": monitors }).to_string()).unwrap();
    configuration(Peer::UptimeKuma, &path)
}

fn monitor(id: u32, kind: &str, more: &Value) -> Value {
    let mut monitor = json!({
        "id": id, "name": format!("m{id}"), "type": kind, "url": "https://example.com", "active": true,
        "hostname": "example.com", "port": 53, "interval": 60,
    });
    for (name, value) in more.as_object().unwrap() {
        monitor[name] = value.clone();
    }
    monitor
}

#[test]
fn paused_group_pauses_its_monitors() {
    let (text, preview) = backup(&json!([
        monitor(1, "group", &json!({ "active": false })),
        monitor(2, "group", &json!({ "parent": 1 })),
        monitor(3, "http", &json!({ "parent": 2 })),
        monitor(4, "http", &json!({ "forceInactive": true })),
        monitor(5, "group", &json!({ "parent": 6 })),
        monitor(6, "group", &json!({ "parent": 5 })),
        monitor(7, "http", &json!({ "parent": 6 })),
    ]));
    assert_eq!(text.matches("active: false").count(), 2, "{text}");
    assert!(preview.contains("active: true -> false (the group `m1` is paused)"), "{preview}");
}

#[test]
fn unknown_status_codes_are_not_replaced() {
    let (text, preview) = backup(&json!([
        monitor(1, "http", &json!({ "accepted_statuscodes": ["999"] })),
        monitor(2, "http", &json!({ "accepted_statuscodes": ["200-299", "999"] })),
    ]));
    assert!(!text.contains("  m1:") && text.contains("  m2:"), "{text}");
    assert!(preview.contains("impossible: the status codes 999 beyond 100-599"), "{preview}");
}

#[test]
fn conditions_without_counterpart_refuse_a_lookup() {
    let condition = |operator: &str, word: &str| json!([{ "type": "expression", "variable": "record", "operator": operator, "value": "a.example", "andOr": word }]);
    for (more, expected) in [
        (json!({ "dns_resolve_type": "NS" }), "impossible: records of the type NS"),
        (json!({ "conditions": condition("equals", "or") }), "impossible: the condition "),
        (json!({ "conditions": condition("starts_with", "and") }), "impossible: the condition "),
        (json!({ "conditions": "{" }), "impossible: conditions that are not a list"),
    ] {
        let (text, preview) = backup(&json!([monitor(1, "dns", &more)]));
        assert!(!text.contains("monitors:") && preview.contains(expected), "{text}{preview}");
    }
    let mx = json!({ "dns_resolve_type": "MX", "conditions": condition("not_equals", "and") });
    let (text, _) = backup(&json!([monitor(1, "dns", &mx)]));
    assert!(text.contains("target: a.example\n        comparator: not_contains"), "{text}");
}

#[test]
fn tls_of_ports_is_named_or_refused() {
    let (text, preview) = backup(&json!([
        monitor(1, "port", &json!({ "expected_tls_alert": "certificate_required" })),
        monitor(2, "port", &json!({ "smtp_security": "starttls", "expiryNotification": true })),
    ]));
    assert!(!text.contains("  m1:") && text.contains("  m2:"), "{text}");
    for expected in [
        "impossible: the expected TLS alert `certificate_required`",
        "impossible: the TLS of the port (starttls)",
        "impossible: warnings before the certificate expires",
    ] {
        assert!(preview.contains(expected), "{preview}");
    }
}

#[test]
fn plain_json_queries_become_json_assertions() {
    let query = |path: &str, operator: &str| json!({ "url": "https://a.example", "jsonPath": path, "jsonPathOperator": operator, "expectedValue": "5" });
    for (path, operator, expected, differences) in [
        ("$.a.b[0]", "==", "path: $.a.b[0]", &["needs `[*]`"][..]),
        ("status", "contains", "path: $.status", &[]),
        ("$", "!=", "path: $", &["a value that is absent satisfies it"]),
        ("a[-1]", "<=", "path: $.a[-1]", &["needs `[*]`"]),
    ] {
        let (text, preview) = backup(&json!([monitor(1, "json-query", &query(path, operator))]));
        assert!(text.replace('"', "").contains(expected), "{path}: {text}");
        assert!(!preview.contains("JSON query"), "{preview}");
        for difference in ["needs `[*]`", "a value that is absent satisfies it"] {
            let is_named = preview.contains(difference);
            assert_eq!(is_named, differences.contains(&difference), "{path}: {preview}");
        }
    }
    for path in ["$count(a)", "a - b", "a[b=1]", "a..b", "$sum(x.y)"] {
        let (text, preview) = backup(&json!([monitor(1, "json-query", &query(path, ">"))]));
        assert!(!text.contains("json_assertions"), "{path}: {text}");
        assert!(preview.contains(&format!("impossible: the JSON query `{path} > 5`")), "{preview}");
    }
}

#[test]
fn expiry_and_ip_family_become_arguments() {
    let more =
        json!({ "url": "https://a.example", "expiryNotification": true, "ipFamily": "ipv4" });
    let (text, _) = backup(&json!([monitor(1, "http", &more)]));
    assert!(
        text.contains("certificate_warn_days: 21") && text.contains("ip_version: ipv4"),
        "{text}"
    );
    let plain = json!({ "url": "http://a.example", "expiryNotification": true });
    let (text, _) = backup(&json!([monitor(1, "http", &plain)]));
    assert!(!text.contains("certificate_warn_days"), "{text}");
}

#[test]
fn changed_days_of_warnings_are_read() {
    let (text, _) = after(
        "INSERT OR REPLACE INTO setting ([key], value) VALUES ('tlsExpiryNotifyDays', '[3,10]');
         UPDATE monitor SET expiry_notification = 1, url = 'https://a.example' WHERE type = 'http';",
    );
    assert!(text.contains("certificate_warn_days: 10"), "{text}");
}

#[test]
fn disabled_link_notifies_nobody() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("backup.json");
    let config =
        json!({ "type": "slack", "slackwebhookURL": "https://hooks.slack.com/x" }).to_string();
    let backup = json!({
        "monitorList": [monitor(1, "http", &json!({ "notificationIDList": { "1": true, "2": false } }))],
        "notificationList": [{ "id": 1, "name": "One", "config": config }, { "id": 2, "name": "Two", "config": config }],
    });
    std::fs::write(&path, backup.to_string()).unwrap();
    let (text, _) = configuration(Peer::UptimeKuma, &path);
    assert_eq!(text.matches("monitor_ids").count(), 1, "{text}");
}

#[test]
fn inner_rows_lose_nothing_silently() {
    let (_, preview) = after(
        "UPDATE monitor_group SET custom_url = 'https://docs.example';
         ALTER TABLE monitor_group ADD COLUMN brand_new TEXT DEFAULT 'x';
         UPDATE maintenance SET weekdays = '[1,3]', duration = 3600, description = 'Long';
         INSERT INTO monitor_maintenance (monitor_id, maintenance_id) SELECT 2, id FROM maintenance;
         UPDATE monitor SET description = 'd' WHERE type = 'group';",
    );
    for expected in [
        "impossible: the link `https://docs.example` of a monitor",
        "unknown fields: brand_new",
        "weekdays [1,3]",
        "duration 3600",
        "impossible: the monitor `",
        "impossible: its description; write it into the maintenance",
        "impossible: its description; write it into the descriptions of its monitors",
    ] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
}

#[test]
fn log_of_a_linked_database_is_read() {
    let folder = tempdir().unwrap();
    let path = unpacked("kuma-2.5.3.db.gz", folder.path(), "kuma.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.execute("UPDATE monitor SET name = 'Newer' WHERE id = 6", []).unwrap();
    let other = tempdir().unwrap();
    let link = other.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let (text, _) = configuration(Peer::UptimeKuma, &link);
    assert!(text.contains("name: Newer"), "{text}");
}

#[test]
fn lock_of_a_writer_is_respected() {
    let folder = tempdir().unwrap();
    let path = unpacked("kuma-2.5.3.db.gz", folder.path(), "kuma.db");
    let writer = Connection::open(&path).unwrap();
    writer.pragma_update(None, "journal_mode", "delete").unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = import_of(Peer::UptimeKuma, &path).unwrap_err();
    assert!(error.contains("is locked by another program"), "{error}");
}

#[test]
fn statistics_are_named_with_a_remedy() {
    let (_, preview) = after(
        "INSERT INTO stat_daily (monitor_id, timestamp, ping, up, down) VALUES (6, 1, 1, 1, 0);",
    );
    assert!(preview.contains("of the kind daily statistic; keep the database"), "{preview}");
}

#[test]
fn remedy_of_a_setting_fits_it() {
    let config = json!({
        "type": "telegram", "telegramChatID": "-1", "telegramServerUrl": "https://own.example", "telegramMessageThreadID": "7",
    });
    let folder = tempdir().unwrap();
    let path = folder.path().join("backup.json");
    let backup =
        json!({ "notificationList": [{ "id": 1, "name": "One", "config": config.to_string() }] });
    std::fs::write(&path, backup.to_string()).unwrap();
    let (_, preview) = configuration(Peer::UptimeKuma, &path);
    for expected in [
        "`telegramServerUrl`; messages go to the vendor",
        "`telegramMessageThreadID`; messages go to the chat",
    ] {
        assert!(preview.contains(expected), "{preview}");
    }
}

#[test]
fn unused_token_of_ntfy_is_dropped() {
    let config = json!({
        "type": "ntfy", "ntfytopic": "acme", "ntfyaccesstoken": "tk_0", "ntfyAuthenticationMethod": "none",
    });
    let folder = tempdir().unwrap();
    let path = folder.path().join("backup.json");
    let backup =
        json!({ "notificationList": [{ "id": 1, "name": "One", "config": config.to_string() }] });
    std::fs::write(&path, backup.to_string()).unwrap();
    let (text, preview) = configuration(Peer::UptimeKuma, &path);
    assert!(!text.contains("token:"), "{text}");
    assert!(preview.contains("a token that is not sent -> no token"), "{preview}");
}

// decision 0085
#[test]
fn client_certificate_is_imported_without_its_authority() {
    let object = |label: &str, content: &str| {
        format!("-----BEGIN {label}-----\n{content}\n-----END {label}-----\n")
    };
    let (certificate, key) = (object("CERTIFICATE", "AA=="), object("PRIVATE KEY", "hunter2"));
    let mtls = |more: &Value| {
        let mut fields = json!({ "authMethod": "mtls", "tlsCert": certificate, "tlsKey": key });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    let (text, preview) = backup(&json!([
        monitor(1, "http", &mtls(&json!({ "tlsCa": certificate }))),
        monitor(2, "http", &mtls(&json!({ "tlsKey": object("ENCRYPTED PRIVATE KEY", "hunter2") }))),
        monitor(3, "http", &mtls(&json!({ "authMethod": "basic" }))),
    ]));
    assert_eq!(text.matches("client_certificate:").count(), 1, "{text}");
    assert!(text.contains("client_key: {env: MONITOR_M1_CLIENT_KEY}"), "{text}");
    assert!(!text.contains("hunter2") && !preview.contains("hunter2"), "{preview}");
    for expected in [
        "impossible: the authority `tlsCa`; trust it with the setting `extra_ca_file`",
        "impossible: the client certificate; `client_key` must not be encrypted; decrypt it by ",
    ] {
        assert!(preview.contains(expected), "{preview}");
    }
}
