//! Partial updates by `update_mask`.

use aloft_rules::field::Presence;
use aloft_rules::monitor::{CheckDraft, DnsDraft, HeartbeatDraft, MonitorDraft, TcpDraft};
use aloft_rules::{MonitorKind, Secret, tables};

use crate::drafts::{
    CERTIFICATE, KEY, body, dns, header, header_assertion, http, json_assertion, record, status,
    tcp, text,
};

fn mask(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Drafts of this kind: a minimal one, and one in which every field differs from it.
fn bare_and_full(kind: MonitorKind) -> (MonitorDraft, MonitorDraft) {
    let full = |check| MonitorDraft {
        name: text("other"),
        periodicity: text("1h"),
        timeout: Some(1),
        degraded_at: Some(2),
        retry: Some(3),
        active: Some(true),
        public: Some(true),
        description: text("d"),
        tags: vec!["prod".to_owned()],
        regions: vec!["fly-ams".to_owned()],
        check,
    };
    match kind {
        MonitorKind::Http => {
            let filled = http(|_, http| {
                http.url = text("http://other.example");
                http.method = text("PUT");
                http.body = text("b");
                http.follow_redirects = Some(false);
                http.ip_version = text("ipv4");
                http.certificate_warn_days = Some(14);
                http.client_certificate = text(CERTIFICATE);
                http.client_key = Some(Secret::new(KEY.to_owned()));
                http.headers = vec![header("A", "b")];
                http.status_code_assertions = vec![status(204, "eq")];
                http.body_assertions = vec![body("a", "eq")];
                http.json_assertions = vec![json_assertion("$.a", "b", "eq")];
                http.header_assertions = vec![header_assertion("A", "b", "eq")];
            });
            (http(|_, _| ()), full(filled.check))
        }
        MonitorKind::Tcp => (
            tcp("a.example:1"),
            full(CheckDraft::Tcp(TcpDraft { uri: text("b.example:2"), ip_version: text("ipv4") })),
        ),
        MonitorKind::Dns => {
            let dns_full = dns("b.example", vec![record("A", "192.0.2.1", "eq")]);
            (dns("a.example", vec![]), full(dns_full.check))
        }
        MonitorKind::Heartbeat => {
            let check = |interval, grace| CheckDraft::Heartbeat(HeartbeatDraft { interval, grace });
            let filled = MonitorDraft {
                name: text("other"),
                active: Some(true),
                public: Some(true),
                description: text("d"),
                tags: vec!["prod".to_owned()],
                ..MonitorDraft::new(check(Some(60), Some(1)))
            };
            (MonitorDraft::new(check(Some(30), None)), filled)
        }
    }
}

#[test]
fn mask_copies_exactly_the_named_fields() {
    // design: §4 update_mask
    for kind in MonitorKind::ALL {
        let (bare, full) = bare_and_full(*kind);
        let names: Vec<_> = tables::monitor(*kind).writable().collect();
        for name in &names {
            let mut one = bare.clone();
            one.apply_mask(full.clone(), &mask(&[name])).unwrap();
            assert_ne!(one, bare, "{kind} `{name}` is copied");
            let others: Vec<_> = names.iter().filter(|other| *other != name).copied().collect();
            one.apply_mask(full.clone(), &mask(&others)).unwrap();
            assert_eq!(one, full, "{kind}: all but `{name}` are copied by the other names");
            let mut all_but_one = bare.clone();
            all_but_one.apply_mask(full.clone(), &mask(&others)).unwrap();
            assert_ne!(all_but_one, full, "{kind} `{name}` is copied by no other name");
        }
    }
}

#[test]
fn masked_but_omitted_field_is_cleared() {
    // design: §4 update_mask
    let (bare, mut full) = bare_and_full(MonitorKind::Dns);
    let empty = MonitorDraft::new(CheckDraft::Dns(DnsDraft::default()));
    full.apply_mask(empty, &mask(&["description", "regions", "record_assertions", "timeout"]))
        .unwrap();
    let settings = full.parse().unwrap();
    assert_eq!((settings.description, settings.timeout_ms), (None, 45_000));
    assert!(settings.regions.is_empty());
    assert_eq!(settings.check.kind(), bare.check.kind());
}

#[test]
fn empty_mask_copies_nothing() {
    let (bare, full) = bare_and_full(MonitorKind::Http);
    let mut draft = bare.clone();
    draft.apply_mask(full, &[]).unwrap();
    assert_eq!(draft, bare);
}

#[test]
fn unknown_name_in_mask_copies_nothing() {
    let (bare, full) = bare_and_full(MonitorKind::Tcp);
    let mut draft = bare.clone();
    let violations =
        draft.apply_mask(full, &mask(&["name", "url", "followRedirects"])).unwrap_err();
    assert_eq!(draft, bare);
    insta::assert_snapshot!(violations, @"`update_mask` may only name name, uri, periodicity, timeout, degraded_at, retry, ip_version, active, public, description, tags, regions (given: `url, followRedirects`)");
}

#[test]
fn outputs_in_mask_are_rejected() {
    for kind in MonitorKind::ALL {
        let table = tables::monitor(*kind);
        let outputs = table.fields.iter().filter(|field| field.presence == Presence::Output);
        for field in outputs.chain(table.beyond) {
            let (mut bare, full) = bare_and_full(*kind);
            assert!(
                bare.apply_mask(full, &mask(&[field.name])).is_err(),
                "{kind} `{}`",
                field.name
            );
        }
    }
}

#[test]
fn kind_of_monitor_is_fixed() {
    let (mut tcp, _) = bare_and_full(MonitorKind::Tcp);
    let (dns, _) = bare_and_full(MonitorKind::Dns);
    let violations = tcp.apply_mask(dns, &mask(&["uri"])).unwrap_err();
    insta::assert_snapshot!(violations, @"`type` must stay tcp: a monitor keeps its kind (given: `dns`)");
}
