//! Gatus: what conditions and variables mean, and what is refused.

use std::fs;

use aloft_import::{Peer, SecretStyle, Written};
use tempfile::tempdir;

use crate::support::assert_applies;

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n";

/// Imports a configuration with some environment variables.
fn import(text: &str) -> Written {
    let folder = tempdir().unwrap();
    let path = folder.path().join("gatus.yaml");
    fs::write(&path, text).unwrap();
    let environment = |name: &str| {
        let known = [("API_KEY", "k3y-of-api"), ("PW", "s3cr"), ("PREFIX", "s3cr-longer")];
        known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let import = aloft_import::read(Peer::Gatus, &path, &environment).unwrap();
    let written = import.write(SecretStyle::Named);
    assert_applies(&written);
    written
}

/// Imports an endpoint with conditions. Returns its part of the configuration and the preview.
fn conditions(endpoint: &str, conditions: &[&str]) -> (String, String) {
    let listed: Vec<String> = conditions.iter().map(|one| format!("'{one}'")).collect();
    let written = import(&format!(
        "endpoints:\n  - name: a\n    {endpoint}\n    conditions: [{}]\n",
        listed.join(", ")
    ));
    (written.text, written.preview.to_text())
}

#[test]
fn variables_inside_texts_stay_secret() {
    let written = import(
        "endpoints:\n  - name: shop\n    url: 'https://example.com/${API_KEY}/health'\n    method: POST\n    \
         body: 'user=a&word=${PW}'\n    conditions:\n      - '[STATUS] == 200'\n      - '[BODY] == pat(*${PREFIX}*)'\n      \
         - '[BODY].x == ${PREFIX}'\n  - name: graph\n    url: https://example.com/g\n    graphql: true\n    \
         body: '{ user(word: \"${PW}\") }'\n    conditions: ['[STATUS] == 200']\n",
    );
    let preview = written.preview.to_text();
    for secret in ["k3y-of-api", "s3cr"] {
        assert!(!written.text.contains(secret), "{}", written.text);
        assert!(!preview.contains(secret), "{preview}");
    }
    assert!(written.text.contains("url: {env: MONITOR_SHOP_URL}"), "{}", written.text);
    assert!(written.text.contains("body: {env: MONITOR_SHOP_BODY}"), "{}", written.text);
    assert!(written.text.contains("target: {env: MONITOR_SHOP_TARGET}"), "{}", written.text);
    assert!(written.secrets.contains("MONITOR_SHOP_URL=https://example.com/k3y-of-api/health\n"));
    assert!(written.text.contains("path: \"$.x\""), "{}", written.text);
}

// issue 20, point 8
#[test]
fn values_of_json_become_json_assertions() {
    for (condition, path, comparator, target) in [
        ("[BODY].user.name == john", "$.user.name", "eq", "john"),
        ("[body].items[0].id != 3", "$.items[0].id", "neq", "3"),
        ("5 < [BODY].queue", "$.queue", "gt", "5"),
        ("len([BODY].items) > 0", "$.items", "not_empty", ""),
        ("len([BODY].items) == 0", "$.items", "empty", ""),
        ("has([BODY].error) == false", "$.error", "not_matches", ""),
        ("has([BODY].data) == true", "$.data", "matches", ""),
        ("[BODY].status == any(UP, a.b)", "$.status", "matches", r"^(UP|a\.b)$"),
        ("[BODY].name == pat(jo*n)", "$.name", "matches", "(?s)^jo.*n$"),
        ("[BODY].name != pat(j?n)", "$.name", "not_matches", "(?s)^j.n$"),
    ] {
        let (text, preview) = conditions("url: https://a.example", &[condition]);
        let lines: Vec<_> = text.lines().map(|line| line.trim().trim_start_matches("- ")).collect();
        for (name, value) in [("path", path), ("comparator", comparator), ("target", target)] {
            let has = |line: &&str| {
                line.strip_prefix(name)
                    .and_then(|rest| rest.strip_prefix(": "))
                    .is_some_and(|it| it.trim_matches(['"', '\'']).replace(r"\\", r"\") == value)
            };
            assert!(lines.iter().any(has), "{condition}: {name}\n{text}");
        }
        assert!(!preview.contains("impossible:"), "{preview}");
    }
    for condition in ["len([BODY].items) == 5", "[BODY].a == [BODY].b", "[BODY].a == pat([a-z])"] {
        let (text, preview) = conditions("url: https://a.example", &[condition]);
        assert!(!text.contains("json_assertions"), "{text}");
        assert!(preview.contains(&format!("impossible: the condition `{condition}`")), "{preview}");
    }
}

#[test]
fn absent_values_that_pass_are_named() {
    for (condition, expected) in [
        ("[BODY].id != 3", "JSON $.id neq 3 (a value that is absent satisfies it)"),
        ("len([BODY].a) == 0", "JSON $.a empty (a value that is absent or null satisfies it)"),
        ("has([BODY].error) == false", ""),
        ("has([BODY].data) == true", ""),
    ] {
        let (_, preview) = conditions("url: https://a.example", &[condition]);
        assert_eq!(preview.contains("absent"), !expected.is_empty(), "{preview}");
        assert!(preview.contains(expected), "{preview}");
    }
}

#[test]
fn certificate_and_network_become_arguments() {
    let endpoint = "url: https://a.example\n    client: {network: ip6}";
    let (text, preview) = conditions(endpoint, &["[CERTIFICATE_EXPIRATION] > 49h"]);
    assert!(
        text.contains("certificate_warn_days: 3") && text.contains("ip_version: ipv6"),
        "{text}"
    );
    assert!(
        preview.contains("[CERTIFICATE_EXPIRATION] > 49h -> certificate_warn_days 3"),
        "{preview}"
    );
}

#[test]
fn variable_in_an_expression_is_refused() {
    let written = import(
        "endpoints:\n  - name: shop\n    url: https://a.example\n    conditions:\n      - '[BODY] == pat(a*${PW}?)'\n      \
         - '[BODY].${PW} == 1'\n      - '[BODY].x == any(a, ${PW})'\n",
    );
    let preview = written.preview.to_text();
    assert!(!written.text.contains("s3cr") && !preview.contains("s3cr"), "{preview}");
    assert_eq!(preview.matches("impossible: the condition").count(), 3, "{preview}");
}

#[test]
fn required_failures_are_refused() {
    for condition in [
        "[CONNECTED] == false",
        "[CONNECTED] != true",
        "false == [CONNECTED]",
        "[STATUS] == 0",
        "[STATUS] < 100",
        "[status] == 0",
    ] {
        let (text, preview) = conditions("url: https://example.com", &[condition]);
        assert!(!text.contains("monitors:"), "{condition}: {text}");
        assert!(preview.contains(&format!("impossible: the condition `{condition}`")), "{preview}");
    }
    for condition in ["[DNS_RCODE] == NXDOMAIN", "[DNS_RCODE] != NOERROR"] {
        let dns = "url: 8.8.8.8\n    dns: {query-name: example.com, query-type: A}";
        let (text, _) = conditions(dns, &[condition]);
        assert!(!text.contains("monitors:"), "{condition}: {text}");
    }
    let (text, _) = conditions("url: tcp://example.com:1", &["[CONNECTED] != false"]);
    assert!(text.contains("kind: tcp"), "{text}");
}

#[test]
fn placeholders_match_in_any_case_and_place() {
    for (condition, expected) in [
        ("[status] == 201", "target: 201\n        comparator: eq"),
        ("201 == [STATUS]", "target: 201\n        comparator: eq"),
        ("300 > [Status]", "target: 300\n        comparator: lt"),
    ] {
        let (text, _) = conditions("url: https://example.com", &[condition]);
        assert!(text.contains(expected), "{condition}: {text}");
        assert_eq!(text.matches("comparator").count(), 1, "{condition}: {text}");
    }
    let (text, _) = conditions("url: https://example.com", &["0 < len([BODY])"]);
    assert!(text.contains("comparator: not_empty"), "{text}");
    let (text, _) = conditions("url: https://example.com", &["[STATUS] == has(1)"]);
    assert!(!text.contains("comparator"), "{text}");
}

#[test]
fn names_of_mail_servers_are_contained() {
    let dns = "url: 8.8.8.8\n    dns: {query-name: example.com, query-type: MX}";
    for (condition, expected) in [
        ("[BODY] == mail.example.com.", "target: mail.example.com\n        comparator: contains"),
        (
            "[BODY] != mail.example.com",
            "target: mail.example.com\n        comparator: not_contains",
        ),
    ] {
        let (text, preview) = conditions(dns, &[condition]);
        assert!(text.contains(expected), "{text}");
        assert!(preview.contains("MX records have their priority before the name"), "{preview}");
    }
}

#[test]
fn plain_numbers_keep_all_digits() {
    let written = import(
        "endpoints:\n  - name: 0012\n    url: https://example.com\n    headers: {X-Requested-With: 1.10}\n    \
         conditions: ['[STATUS] == 200']\nalerting:\n  twilio: {sid: a, token: b, from: +1, to: +491701234567}\n",
    );
    for expected in ["name: \"0012\"", "value: \"1.10\"", "phone_number: \"+491701234567\""] {
        assert!(written.text.contains(expected), "{expected}: {}", written.text);
    }
}

#[test]
fn preview_hides_credentials_of_addresses() {
    let (_, preview) =
        conditions("url: 'ssh://ada:hidden@example.com:22?x=1'", &["[CONNECTED] == true"]);
    assert!(preview.contains("`ssh://example.com:22`") && !preview.contains("hidden"), "{preview}");
}

#[test]
fn unknown_field_makes_an_object_changed() {
    let (_, preview) = conditions(
        "url: https://example.com\n    interval: 1m\n    brand-new: 1",
        &["[STATUS] < 300"],
    );
    assert!(preview.starts_with("changed    monitor `a` as a\n"), "{preview}");
}

#[test]
fn group_and_endpoint_of_one_name_stay_apart() {
    let written = import(
        "alerting:\n  slack: {webhook-url: 'https://hooks.slack.com/base'}\n  discord: text\nendpoints:\n  \
         - name: core\n    url: https://example.com/a\n    conditions: ['[STATUS] == 200']\n    alerts:\n      \
         - {type: slack, provider-override: {webhook-url: 'https://hooks.slack.com/own'}}\n  \
         - name: b\n    group: core\n    url: https://example.com/b\n    conditions: ['[STATUS] == 200']\n    \
         alerts: [{type: slack}]\n",
    );
    let base =
        written.text.split("  slack:\n").nth(1).unwrap().split("  slack-core:").next().unwrap();
    assert!(base.contains("- b\n"), "{}", written.text);
    let preview = written.preview.to_text();
    assert!(preview.contains("`discord` must be an object, but is another text"), "{preview}");
}

#[test]
fn folders_of_kubernetes_are_read_once() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("..2026_01");
    fs::create_dir(&data).unwrap();
    let text = "endpoints:\n  - name: a\n    url: https://example.com\n    conditions: ['[STATUS] == 200']\n";
    fs::write(data.join("config.yaml"), text).unwrap();
    std::os::unix::fs::symlink("..2026_01", folder.path().join("..data")).unwrap();
    std::os::unix::fs::symlink("..2026_01", folder.path().join("linked")).unwrap();
    std::os::unix::fs::symlink("..data/config.yaml", folder.path().join("config.yaml")).unwrap();
    let import = aloft_import::read(Peer::Gatus, folder.path(), &|_| None).unwrap();
    let text = import.write(SecretStyle::Named).text;
    assert_eq!(text.matches("kind: http").count(), 1, "{text}");
}

#[test]
fn settings_of_suites_and_windows_are_named() {
    let written = import(
        "endpoints:\n  - name: a\n    url: https://example.com\n    conditions: ['[STATUS] == 200']\n    \
         maintenance-windows: [{start: '01:00', duration: 1h}]\n    ui: {hide-url: true}\nsuites:\n  - name: login\n    \
         interval: 5m\n    endpoints: [{name: first, url: 'https://example.com/1'}]\nmaintenance: {start: '23:00', every: [Monday]}\n",
    );
    let preview = written.preview.to_text();
    for expected in [
        "the request `first` to https://example.com/1",
        "its field `interval`",
        "the maintenance window {",
        "the setting `ui`",
        "its fields ",
    ] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
}

// decision 0085
#[test]
fn client_certificate_is_read_from_its_files() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("gatus.yaml");
    let endpoint = |name: &str, tls: &str| {
        format!("  - name: {name}\n    url: https://example.com\n    client:\n      tls: {tls}\n")
    };
    let config = [
        endpoint("full", "{ certificate-file: tls/a.pem, private-key-file: tls/a.key }"),
        endpoint("gone", "{ certificate-file: tls/a.pem, private-key-file: tls/b.key }"),
        endpoint("swapped", "{ certificate-file: tls/a.key, private-key-file: tls/a.pem }"),
        endpoint("half", "{ certificate-file: tls/a.pem, renegotiation: once }"),
    ];
    fs::create_dir(folder.path().join("tls")).unwrap();
    fs::write(&path, format!("endpoints:\n{}", config.concat())).unwrap();
    fs::write(folder.path().join("tls/a.pem"), CERTIFICATE).unwrap();
    fs::write(folder.path().join("tls/a.key"), KEY).unwrap();
    let import = aloft_import::read(Peer::Gatus, &path, &|_| None).unwrap();
    let written = import.write(SecretStyle::Named);
    assert_applies(&written);
    assert_eq!(written.text.matches("client_certificate:").count(), 1, "{}", written.text);
    assert!(
        written.text.contains("client_key: {env: MONITOR_FULL_CLIENT_KEY}"),
        "{}",
        written.text
    );
    let preview = written.preview.to_text();
    assert!(!written.text.contains("hunter2") && !preview.contains("hunter2"), "{preview}");
    assert!(written.secrets.contains("hunter2"), "{}", written.secrets);
    for expected in [
        "impossible: the client certificate in the unreadable file `tls/b.key`",
        "impossible: the client certificate; `client_certificate` must have certificates only",
        "impossible: the client certificate without its two files",
    ] {
        assert!(preview.contains(expected), "{preview}");
    }
}
