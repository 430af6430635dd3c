//! Tests of exported files.

use std::io;
use std::path::{Path, PathBuf};

use super::*;
use crate::plan::{Current, PlanOptions, plan};
use crate::read::{Document, Sources, read};

/// Exports resources that no configuration owns.
fn export_of(existing: &[Existing], with_secrets: bool, reads_only: bool) -> Export {
    let owners = HashMap::new();
    export(existing, ExportOptions { owners: &owners, with_secrets, reads_only })
}

/// Returns a workspace with each kind of resources, secrets, and repeated names.
fn workspace() -> Vec<Existing> {
    use rules::MonitorKind::{Http, Tcp};
    let shop = json!({
        "id": "mon_1", "name": "Shop", "url": "https://ada:pw@shop.example/", "periodicity": "1m",
        "method": "POST", "body": "a: b\n", "timeout": 45_000, "active": true, "regions": [],
        "headers": [{"key": "X-Key", "value": "s3cret"}, {"key": "A", "value": ""}],
        "statusCodeAssertions": [{"target": 200, "comparator": "eq"}], "status": "active",
        "effectiveDegradedAt": 30_000, "revision": "1", "createdAt": "2026-01-01T00:00:00Z",
    });
    let other =
        json!({ "id": "mon_2", "name": "Shop", "uri": "db.example:1", "periodicity": "30s" });
    let page = json!({
        "id": "page_1", "title": "Status: all", "slug": "status", "accessType": "password",
        "password": "hidden", "published": true, "authEmailDomains": ["b.example", "a.example"],
    });
    let group = json!({ "id": "grp_1", "pageId": "page_1", "name": "Front" });
    let component = json!({
        "id": "cmp_1", "pageId": "page_1", "type": "monitor", "monitorId": "mon_1",
        "groupId": "grp_1", "order": 0,
    });
    let orphan = json!({ "id": "cmp_2", "pageId": "page_1", "type": "monitor" });
    let channel = json!({
        "id": "chn_1", "providerType": "ntfy", "ntfy": {"topic": "yes", "token": "tk"},
        "monitorIds": ["mon_2", "mon_1", "mon_9"], "events": ["error"],
        "quietHours": {"from": "22:00", "until": "07:00", "timeZone": "UTC", "appliesTo": "all"},
    });
    [
        (Kind::Monitor(Http), shop),
        (Kind::Monitor(Tcp), other),
        (Kind::Page, page),
        (Kind::Group, group),
        (Kind::Component, component),
        (Kind::Component, orphan),
        (Kind::Channel, channel),
    ]
    .map(|(kind, json)| Existing { kind, json })
    .to_vec()
}

#[test]
fn exported_file_has_keys_and_variables() {
    let export = export_of(&workspace(), false, false);
    insta::assert_snapshot!(export.text, @r#"
    # component cmp_2 is not exported: it needs `monitor_id`, whose object was deleted.
    monitors:
      shop:
        kind: http
        name: Shop
        url: {env: SHOP_URL}
        periodicity: 1m
        method: POST
        body: {env: SHOP_BODY}
        active: true
        headers:
          - key: X-Key
            value: {env: SHOP_HEADERS_X_KEY_VALUE}
          - key: A
            value: {env: SHOP_HEADERS_A_VALUE}
        status_code_assertions:
          - target: 200
            comparator: eq
      shop-2:
        kind: tcp
        name: Shop
        uri: db.example:1
        periodicity: 30s
    status_pages:
      status:
        title: "Status: all"
        slug: status
        access_type: password
        password: {env: STATUS_PASSWORD}
        auth_email_domains: [b.example, a.example]
        groups:
          front:
            name: Front
        components:
          shop:
            type: monitor
            monitor_id: shop
            order: 0
            group_id: front
    channels:
      ntfy:
        name: ""
        monitor_ids: [shop-2, shop, mon_9]
        events: [error]
        ntfy:
          topic: "yes"
          token: {env: NTFY_NTFY_TOKEN}
        quiet_hours:
          from: "22:00"
          until: "07:00"
          time_zone: UTC
    "#);
    assert_eq!(export.resources, 6);
    insta::assert_snapshot!(export.variables.join(" "), @"SHOP_URL SHOP_BODY SHOP_HEADERS_X_KEY_VALUE SHOP_HEADERS_A_VALUE STATUS_PASSWORD NTFY_NTFY_TOKEN");
}

#[test]
fn adopted_export_changes_nothing() {
    let existing = workspace();
    let exported = export_of(&existing, true, false);
    assert!(exported.text.contains("hidden") && exported.variables.is_empty());
    let variable = |_: &str| None;
    let file = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let document =
        Document { name: "a.yaml".to_owned(), folder: PathBuf::new(), text: exported.text };
    let configuration = read(&[document], Sources { variable: &variable, file: &file }).unwrap();
    let current = Current { existing, ..Current::default() };
    let options = PlanOptions { adopt: true, ..PlanOptions::default() };
    let plan = plan(&configuration, &current, &options).unwrap();
    insta::assert_snapshot!(plan.text(), @r"
    ~ adopt HTTP monitor `shop` (mon_1)
    ~ adopt TCP monitor `shop-2` (mon_2)
    ~ adopt status page `status` (page_1)
    ~ adopt component group `status/front` (grp_1)
    ~ adopt component `status/shop` (cmp_1)
    ~ adopt channel `ntfy` (chn_1)
    6 to adopt
    ");
}

#[test]
fn read_key_exports_variables_for_hidden_values() {
    let mut existing = workspace();
    existing[0].json["url"] = "https://shop.example/?…".into();
    existing[0].json["body"] = "…".into();
    existing[0].json["headers"][0].as_object_mut().unwrap().remove("value");
    existing[2].json.as_object_mut().unwrap().remove("password");
    let export = export_of(&existing, false, true);
    insta::assert_snapshot!(export.variables.join(" "), @"SHOP_URL SHOP_BODY SHOP_HEADERS_X_KEY_VALUE SHOP_HEADERS_A_VALUE STATUS_PASSWORD NTFY_NTFY_TOKEN");
    assert!(export.text.starts_with("# component cmp_2 is not exported"), "{}", export.text);
}

// decision 0085
#[test]
fn private_key_is_a_variable_of_its_certificate() {
    let monitor = |more: Json| {
        let mut json = json!({
            "id": "mon_1", "name": "Shop", "url": "https://shop.example/", "periodicity": "1m",
        });
        json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        [Existing { kind: Kind::Monitor(rules::MonitorKind::Http), json }]
    };
    let (certificate, key) = ("-----BEGIN C-----\n", "-----BEGIN hunter2-----\n");
    let full = monitor(json!({ "clientCertificate": certificate, "clientKey": key }));
    let seen = monitor(json!({ "clientCertificate": certificate }));
    // A read key does not see the key, but the certificate says that there is one.
    for export in [export_of(&full, false, false), export_of(&seen, false, true)] {
        let text = export.text;
        assert!(text.contains("client_key: {env: SHOP_CLIENT_KEY}"), "{text}");
        assert!(text.contains("client_certificate:") && !text.contains("hunter2"), "{text}");
    }
    assert!(export_of(&full, true, false).text.contains("hunter2"));
    assert!(!export_of(&monitor(json!({})), false, true).text.contains("client_key"));
}

#[test]
fn owners_and_lost_pages_are_comments() {
    let mut existing = workspace();
    existing[4].json["pageId"] = "page_9".into();
    existing[0].json["url"] = "https://shop.example/?token=t0ken".into();
    let owners = [("mon_1", "production"), ("mon_2", "production"), ("chn_1", "default")];
    let owners = owners.map(|(id, name)| (id.to_owned(), name.to_owned())).into();
    let options = ExportOptions { owners: &owners, with_secrets: false, reads_only: false };
    let export = export(&existing, options);
    let comments: Vec<&str> = export.text.lines().filter(|line| line.starts_with('#')).collect();
    insta::assert_snapshot!(comments.join("\n"), @r"
    # component cmp_1 is not exported: it needs `page_id`, whose object was deleted.
    # component cmp_2 is not exported: it needs `monitor_id`, whose object was deleted.
    # The configuration `default` owns 1 resource of this file; others cannot adopt them.
    # The configuration `production` owns 2 resources of this file; others cannot adopt them.
    ");
    assert!(!export.text.contains("t0ken") && !export.text.contains("a: b"), "{}", export.text);
}
