//! Messages of violations: path, given value, and rule.

use aloft_rules::monitor::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, TcpDraft};
use insta::assert_snapshot;

use crate::drafts::{body, dns, header, http, record, status, tcp, text};

fn lines(draft: MonitorDraft) -> String {
    let violations = draft.parse().expect_err("the draft is wrong").0;
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_missing_required_fields_are_reported() {
    // spec: §2.1–2.3
    assert_snapshot!(lines(MonitorDraft::new(CheckDraft::Http(HttpDraft::default()))), @r"
    `name` must be given
    `periodicity` must be given
    `url` must be given
    ");
    assert_snapshot!(lines(MonitorDraft::new(CheckDraft::Tcp(TcpDraft::default()))), @r"
    `name` must be given
    `periodicity` must be given
    `uri` must be given
    ");
    assert_snapshot!(lines(MonitorDraft::new(CheckDraft::Dns(DnsDraft::default()))), @r"
    `name` must be given
    `periodicity` must be given
    `uri` must be given
    ");
}

#[test]
fn all_violations_are_reported_at_once() {
    // design: §4 errors
    let draft = http(|draft, http| {
        draft.name = text("");
        draft.periodicity = text("7s");
        draft.timeout = Some(120_001);
        draft.regions = vec!["mars".to_owned(), "fly-ams".to_owned()];
        http.url = text("ftp://user:hunter2@example.com");
        http.headers = vec![header("Upgrade", "h2c"), header("A", "hunter2\r\n"), header("", "")];
        http.status_code_assertions = vec![status(600, "contains")];
        http.body_assertions = vec![body("x", "like")];
    });
    assert_snapshot!(lines(draft), @r"
    `name` must not be empty
    `periodicity` must be one of 30s, 1m, 5m, 10m, 30m, 1h (given: `7s`)
    `timeout` must be a whole number from 0 to 120000 (given: `120001`)
    `regions` may only hold the 44 values fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw, fly-ewr, fly-fra, fly-gru, fly-iad, fly-jnb, fly-lax, fly-lhr, fly-nrt, fly-ord, fly-sjc, fly-sin, fly-syd, fly-yyz, koyeb-fra, koyeb-par, koyeb-sfo, koyeb-sin, koyeb-tyo, koyeb-was, railway-us-west2, railway-us-east4, railway-europe-west4, railway-asia-southeast1, private-1, private-2, private-3, private-4, private-5, private-6, private-7, private-8, private-9, private-10, private-11, private-12, private-13, private-14, private-15, private-16 (given: `mars`)
    `url` must be an absolute URL that begins with http:// or https:// (given: `ftp://…@example.com`)
    `headers[0].key` must not be a header of the connection's own: connection, content-length, http2-settings, keep-alive, proxy-authenticate, proxy-authorization, proxy-connection, te, trailer, trailers, transfer-encoding, upgrade (given: `Upgrade`)
    `headers[1].value` must not contain CR, LF or other control characters but the tab
    `headers[2].key` must not be empty
    `status_code_assertions[0].target` must be a whole number from 100 to 599 (given: `600`)
    `status_code_assertions[0].comparator` must be one of eq, neq, gt, gte, lt, lte (given: `contains`)
    `body_assertions[0].comparator` must be one of contains, not_contains, eq, neq, empty, not_empty, gt, gte, lt, lte, matches, not_matches (given: `like`)
    ");
}

#[test]
fn invalid_targets_are_rejected_with_a_hint() {
    assert_snapshot!(lines(tcp("tcp://example.com:80")), @"`uri` must be host:port without a scheme, such as example.com:443 (given: `tcp://example.com:80`)");
    assert_snapshot!(lines(tcp("2001:db8::1")), @"`uri` must have an IPv6 address in brackets and a port, such as [2001:db8::1]:443 (given: `2001:db8::1`)");
    assert_snapshot!(lines(dns("https://example.com/", vec![])), @"`uri` must be a domain name without scheme and path, such as example.com (given: `https://example.com/`)");
    assert_snapshot!(lines(dns("example.com", vec![record("A", "localhost", "eq")])), @"`record_assertions[0].target` must be an IPv4 address, such as 192.0.2.1, to be compared with A records (given: `localhost`)");
}

#[test]
fn messages_never_repeat_secrets() {
    let draft = http(|_, http| {
        http.url = text("https://user:hunter2@example.com:0/");
        http.headers = vec![header("A", "hunter2\n"), header("Host", "hunter2 ")];
        http.body = text("hunter2\0");
    });
    let lines = lines(draft);
    assert!(!lines.contains("hunter2"), "{lines}");
}

#[test]
fn messages_contain_no_control_characters() {
    let lines = lines(tcp("a\r\nb\u{1b}[31m:80"));
    assert!(!lines.contains(char::is_control), "{lines}");
}
