//! No input makes an import panic, and every configuration is valid YAML with valid resources.

use std::fs;

use aloft_import::{Peer, SecretStyle};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::{assert_applies, data, import_of};

/// Words that importers look for, so that random objects reach deep into them.
const WORDS: [&str; 60] = [
    "endpoints",
    "alerting",
    "slack",
    "name",
    "url",
    "interval",
    "conditions",
    "alerts",
    "type",
    "dns",
    "client",
    "headers",
    "ui",
    "external-endpoints",
    "overrides",
    "default-alert",
    "webhook-url",
    "httpMonitors",
    "tcpMonitors",
    "dnsMonitors",
    "monitor",
    "notification",
    "data",
    "monitorIds",
    "statusPage",
    "components",
    "groups",
    "statusReports",
    "updates",
    "id",
    "attributes",
    "monitors",
    "alert_contacts",
    "psps",
    "mwindows",
    "custom_http_statuses",
    "page",
    "incidents",
    "incident_updates",
    "position",
    "subdomain",
    "page_id",
    "monitorList",
    "notificationList",
    "config",
    "accepted_statuscodes",
    "tags",
    "notificationIDList",
    "timeout",
    "periodicity",
    "regions",
    "status",
    "stat",
    "title",
    "slug",
    "order",
    "value",
    "key",
    "target",
    "comparator",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => proptest::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => any::<String>()]
}

fn any_value() -> impl Strategy<Value = Value> {
    const TEXTS: [&str; 10] = [
        "http",
        "monitor",
        "status_page",
        "https://example.com",
        "[STATUS] == 200",
        "1m",
        "${A}",
        "200-299",
        "keyword",
        "\u{0}\u{202e}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(&TEXTS[..]).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Imports a text as a source of every peer.
fn import_as_all(text: &[u8]) {
    let folder = tempdir().unwrap();
    for peer in Peer::ALL {
        let path = folder.path().join("source.json");
        fs::write(&path, text).unwrap();
        if let Ok(import) = import_of(*peer, &path) {
            let written = import.write(SecretStyle::Named);
            assert!(written.text.starts_with("# Imported from "));
            assert_applies(&written);
            assert_applies(&import.write(SecretStyle::Inline));
            assert!(!written.preview.to_text().is_empty());
            import.write_history(&mut Vec::new()).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_objects_do_not_panic(value in any_value(), key in word()) {
        import_as_all(value.to_string().as_bytes());
        import_as_all(json!({ key: value }).to_string().as_bytes());
    }

    #[test]
    fn random_text_does_not_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        import_as_all(text.as_bytes());
        import_as_all(&bytes);
    }

    #[test]
    fn changed_answers_do_not_panic(at in any::<prop::sample::Index>(), with in any_value()) {
        for peer in ["openstatus", "better-stack", "uptimerobot", "statuspage"] {
            for file in fs::read_dir(data(peer)).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                // Every place after a colon holds a value.
                let places: Vec<usize> = text.match_indices(": ").map(|(place, _)| place + 2).collect();
                let place = *at.get(&places);
                let end = text[place..].find([',', '}', '\n']).map_or(text.len(), |end| place + end);
                let changed = format!("{}{with}{}", &text[..place], &text[end..]);
                import_as_all(changed.as_bytes());
            }
        }
    }
}

#[test]
fn file_beyond_the_limit_is_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("large.json");
    fs::File::create(&path).unwrap().set_len(65 * 1024 * 1024).unwrap();
    for peer in [Peer::Gatus, Peer::Statuspage, Peer::UptimeKuma] {
        let error = import_of(peer, &path).unwrap_err();
        assert!(error.ends_with("has more than 64 MiB; split it into several files"), "{error}");
    }
}
