//! Saved answers: settings that change what an object means.

use aloft_import::{Import, Peer, SecretStyle};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::{assert_applies, import_of};

/// Imports an answer. Returns configuration and preview.
fn import(peer: Peer, answers: &[Value]) -> (String, String) {
    let folder = tempdir().unwrap();
    for (number, answer) in answers.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.json")), answer.to_string()).unwrap();
    }
    let import: Import = import_of(peer, folder.path()).unwrap();
    let written = import.write(SecretStyle::Named);
    assert_applies(&written);
    (written.text, written.preview.to_text())
}

/// Returns an answer of UptimeRobot with a monitor.
fn robot(more: &Value) -> Value {
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
    let (text, _) =
        import(Peer::UptimeRobot, &[robot(&json!({ "custom_http_statuses": "204:0" }))]);
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
        let (_, preview) = import(Peer::UptimeRobot, &[robot(&more)]);
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

#[test]
fn bodies_have_the_form_that_was_sent() {
    for (more, body, media_type) in [
        (
            json!({ "post_type": 1, "post_value": { "a b": "1&2" } }),
            "body: a+b=1%262",
            "application/x-www-form-urlencoded",
        ),
        (
            json!({ "post_type": 2, "post_content_type": 0, "post_value": "<a>" }),
            "<a>",
            "text/html",
        ),
        (json!({ "post_type": 2, "post_value": { "a": 1 } }), "a", "application/json"),
    ] {
        let (text, _) = import(Peer::UptimeRobot, &[robot(&more)]);
        assert!(text.contains(body) && text.contains(media_type), "{text}");
    }
}

#[test]
fn repeated_objects_are_imported_once() {
    let contact = json!({ "stat": "ok", "alert_contacts": [
        { "id": "1", "type": 2, "status": 2, "friendly_name": "Ops", "value": "ops@example.com" },
    ], "psps": [{ "id": 7, "friendly_name": "Page", "monitors": 0 }] });
    let (text, _) = import(Peer::UptimeRobot, &[contact.clone(), contact]);
    assert!(!text.contains("ops-2:") && !text.contains("page-2:"), "{text}");
    let component = json!({ "id": "c", "name": "Web", "position": 1, "page_id": "p" });
    let page =
        json!({ "id": "p", "name": "Acme", "subdomain": "acme-status", "page_description": "d" });
    let summary = json!({ "page": { "id": "p", "name": "Acme", "url": "https://acme.example" }, "components": [component] });
    let (text, _) = import(Peer::Statuspage, &[json!([page]), json!([component]), summary]);
    assert_eq!(text.matches("name: Web").count(), 1, "{text}");
    assert!(text.contains("slug: acme-status"), "{text}");
}

#[test]
fn equal_slugs_become_unique() {
    let pages = json!([
        { "id": "a", "name": "Status", "subdomain": "status" },
        { "id": "b", "name": "Status", "subdomain": "status" },
    ]);
    let (text, preview) = import(Peer::Statuspage, &[pages]);
    assert!(text.contains("slug: status\n") && text.contains("slug: status-2\n"), "{text}");
    assert!(preview.contains("slug: status -> status-2"), "{preview}");
}

#[test]
fn kinds_of_better_stack_are_never_guessed() {
    let data = json!({ "data": [
        { "id": "1", "type": "monitor", "attributes": {
            "monitor_type": "dns", "url": "1.1.1.1", "pronounceable_name": "Resolver", "request_body": "a.example",
        } },
        { "id": "2", "type": "status_page", "attributes": { "company_name": "Acme", "subdomain": "acme" } },
        { "id": "3", "type": "status_page_resource", "attributes": {
            "resource_type": "Heartbeat", "resource_id": 9, "public_name": "Backup", "brand_new": 1,
        } },
    ] });
    let (text, preview) = import(Peer::BetterStack, &[data]);
    assert!(!text.contains("kind: dns"), "{text}");
    for expected in
        ["check port 53 of the name server", "component `Backup`: Heartbeat -> static", "brand_new"]
    {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
}

#[test]
fn unknown_inner_fields_are_listed() {
    let openstatus = json!({
        "statusPage": { "id": "1", "title": "Acme", "slug": "acme" },
        "groups": [{ "id": "1", "name": "A", "new_of_group": 1 }],
        "components": [{ "id": "1", "name": "B", "new_of_component": 1 }],
    });
    let monitor = json!({ "httpMonitors": [{
        "id": "1", "name": "Shop", "url": "https://example.com", "periodicity": "PERIODICITY_1M",
        "headers": [{ "key": "Accept", "value": "a", "new_of_header": 1 }],
    }] });
    let statuspage = json!([
        { "id": "p", "name": "Acme", "subdomain": "acme" },
        { "id": "c", "name": "Web", "position": 1, "page_id": "p", "new_of_component": 1 },
        { "page_id": "p", "something": "else" },
    ]);
    for (peer, answers, names) in [
        (
            Peer::OpenStatus,
            vec![openstatus, monitor],
            vec!["new_of_group", "new_of_component", "new_of_header"],
        ),
        (Peer::Statuspage, vec![statuspage], vec!["new_of_component", "something"]),
    ] {
        let (_, preview) = import(peer, &answers);
        for name in names {
            assert!(preview.contains(name), "{name}: {preview}");
        }
    }
}

#[test]
fn items_without_fields_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, r#"[{"id": "p", "name": "A", "subdomain": "a"}, 7]"#).unwrap();
    let error = import_of(Peer::Statuspage, &path).unwrap_err();
    assert!(error.contains("has an item that is not an object, at place 2"), "{error}");
}

#[test]
fn updates_are_ordered_by_moment() {
    let incident = json!([
        { "id": "p", "name": "Acme", "subdomain": "acme" },
        { "id": "i", "page_id": "p", "name": "Slow", "impact": "minor", "incident_updates": [
            { "status": "resolved", "body": "b", "created_at": "2026-01-01T01:00:00-05:00" },
            { "status": "investigating", "body": "a", "created_at": "2026-01-01T02:00:00.000Z" },
        ] },
    ]);
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.json");
    std::fs::write(&path, incident.to_string()).unwrap();
    let mut lines = Vec::new();
    import_of(Peer::Statuspage, &path).unwrap().write_history(&mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let times = r#""startedAt":"2026-01-01T02:00:00Z","resolvedAt":"2026-01-01T06:00:00Z""#;
    assert!(lines.contains(times), "{lines}");
}

#[test]
fn file_beyond_the_limits_of_apply_is_named() {
    let monitor = |id: u32| json!({ "id": id, "friendly_name": "Shop", "url": "https://example.com", "type": 1, "status": 2 });
    let monitors: Vec<Value> = (0..10_001).map(monitor).collect();
    let (text, preview) =
        import(Peer::UptimeRobot, &[json!({ "stat": "ok", "monitors": monitors })]);
    assert!(text.contains("  shop-10001:"));
    assert!(preview.contains("10001 resources in "), "{}", preview.lines().last().unwrap());
}
