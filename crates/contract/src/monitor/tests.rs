//! Tests that wire and `rules` agree: an encoded monitor decodes to itself.

use std::collections::BTreeSet;

use rules::monitor::{
    Check, ClientKey, DnsCheck, Header, HeaderAssertion, HeartbeatCheck, HttpCheck, JsonAssertion,
    Monitor, MonitorDraft, MonitorSettings, RecordAssertion, StatusCodeAssertion, TcpCheck,
    TextAssertion,
};
use rules::{
    IpVersion, Method, MonitorId, MonitorStatus, NumberComparator, Periodicity, RecordComparator,
    RecordKind, Region, Secret, Tag, TextComparator, Timestamp, WorkspaceId,
};

use super::wire::{self, Kind};
use super::{HeartbeatDetails, StoredMonitor, decode};
use crate::IntoDraft as _;
use crate::fields::SecretVisibility;

/// Returns an object in PEM.
fn object(label: &str) -> String {
    format!("-----BEGIN {label}-----\nAA==\n-----END {label}-----\n")
}

fn http() -> Check {
    let text = |target: &str| TextAssertion {
        target: target.to_owned(),
        comparator: TextComparator::Contains,
    };
    Check::Http(HttpCheck {
        url: "https://example.com/health".to_owned(),
        method: Method::Post,
        body: "ping".to_owned(),
        follow_redirects: false,
        ip_version: IpVersion::V4,
        certificate_warn_days: 14,
        client_certificate: Some(object("CERTIFICATE")),
        client_key: Some(ClientKey(Secret::new(object("PRIVATE KEY")))),
        headers: vec![
            Header { key: "X-Token".to_owned(), value: "secret".to_owned() },
            Header { key: "X-Empty".to_owned(), value: String::new() },
        ],
        status_code_assertions: vec![StatusCodeAssertion {
            target: 204,
            comparator: NumberComparator::Eq,
        }],
        body_assertions: vec![text("second"), text("first")],
        json_assertions: vec![JsonAssertion {
            path: "$.status".to_owned(),
            target: "^ok$".to_owned(),
            comparator: TextComparator::Matches,
        }],
        header_assertions: vec![HeaderAssertion {
            key: "Server".to_owned(),
            target: String::new(),
            comparator: TextComparator::NotEmpty,
        }],
    })
}

fn tcp() -> Check {
    Check::Tcp(TcpCheck::new("[::1]:5432"))
}

fn dns() -> Check {
    Check::Dns(DnsCheck {
        uri: "example.com".to_owned(),
        record_assertions: vec![RecordAssertion {
            record: RecordKind::Mx,
            target: "10 mail.example.com".to_owned(),
            comparator: RecordComparator::Eq,
        }],
    })
}

/// Creates a monitor whose arguments all differ from their defaults.
fn monitor(check: Check) -> Monitor {
    Monitor {
        id: MonitorId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        revision: 3,
        settings: MonitorSettings {
            name: "API".to_owned(),
            periodicity: Periodicity::ThirtySeconds,
            timeout_ms: 0,
            degraded_at_ms: Some(0),
            retry: 0,
            active: true,
            public: true,
            description: Some(String::new()),
            tags: vec![Tag::parse("Prod").unwrap()],
            regions: vec![Region::FlyAms, Region::KoyebFra],
            check,
        },
        created_at: Timestamp::from_millis(1_500),
        updated_at: Timestamp::from_millis(-1),
    }
}

fn stored(monitor: &Monitor, secrets: SecretVisibility) -> StoredMonitor<'_> {
    StoredMonitor {
        monitor,
        status: MonitorStatus::Degraded,
        default_regions: &[Region::FlyFra],
        heartbeat: None,
        secrets,
    }
}

fn draft(kind: Kind) -> MonitorDraft {
    match kind {
        Kind::Http(message) => (*message).into_draft(),
        Kind::Tcp(message) => (*message).into_draft(),
        Kind::Dns(message) => (*message).into_draft(),
        Kind::Heartbeat(message) => (*message).into_draft(),
    }
}

#[test]
fn encoded_monitor_decodes_equal() {
    // design: §4, conversions change no value
    for check in [http(), tcp(), dns()] {
        let monitor = monitor(check);
        let kind = stored(&monitor, SecretVisibility::Visible).kind();
        assert_eq!(draft(kind), MonitorDraft::from(&monitor.settings));
    }
}

#[test]
fn minimal_monitor_decodes_equal() {
    for check in [http(), tcp(), dns()] {
        let mut monitor = monitor(check);
        monitor.settings.degraded_at_ms = None;
        monitor.settings.description = None;
        monitor.settings.regions = Vec::new();
        let kind = stored(&monitor, SecretVisibility::Visible).kind();
        assert_eq!(draft(kind), MonitorDraft::from(&monitor.settings));
    }
}

#[test]
fn missing_monitor_is_required() {
    let refused = decode(None::<super::wire::TcpMonitor>).unwrap_err();
    assert_eq!(refused.to_string(), "`monitor` is required");
}

#[test]
fn violation_path_starts_at_the_request() {
    // spec: §8.1; issue 3: bad input
    let given = super::wire::TcpMonitor { retry: Some(11), ..super::wire::TcpMonitor::default() };
    let refused = decode(Some(given)).unwrap().parse().unwrap_err().under("monitor");
    let fields: Vec<&str> = refused.0.iter().map(|it| it.field.as_str()).collect();
    assert!(fields.contains(&"monitor.retry"), "{refused}");
    assert!(fields.contains(&"monitor.name"), "{refused}");
}

#[test]
fn read_key_gets_header_names_only() {
    // design: §4, secrets are left out of answers to read keys
    let monitor = monitor(http());
    let answer =
        stored(&monitor, SecretVisibility::Redacted).message::<wire::HttpMonitor>().unwrap();
    let json = serde_json::to_value(&answer).unwrap();
    insta::assert_snapshot!(json["headers"], @r#"[{"key":"X-Token"},{"key":"X-Empty"}]"#);
}

#[test]
fn read_key_gets_url_without_credentials() {
    // design: §5, credentials in the URL are redacted everywhere
    let url = |written: &str, secrets| {
        let mut monitor = monitor(http());
        if let Check::Http(check) = &mut monitor.settings.check {
            written.clone_into(&mut check.url);
        }
        stored(&monitor, secrets).message::<wire::HttpMonitor>().unwrap().url.unwrap()
    };
    for (written, seen) in [
        ("https://ada:pw@example.com/a?b#c", "https://example.com/a?…"),
        ("https://ada@example.com", "https://example.com/"),
        ("https://:pw@example.com:8443/", "https://example.com:8443/"),
        ("https:ada:pw@example.com/", "https://example.com/"),
        ("https://EXAMPLE.com/@a", "https://EXAMPLE.com/@a"),
    ] {
        assert_eq!(url(written, SecretVisibility::Redacted), seen);
        assert_eq!(url(written, SecretVisibility::Visible), written);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "most lines are the response")]
fn json_response_has_every_field() {
    let monitor = monitor(http());
    let answer = stored(&monitor, SecretVisibility::Visible).any();
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "http": {
        "id": "mon_0000000000007",
        "name": "API",
        "url": "https://example.com/health",
        "periodicity": "30s",
        "method": "POST",
        "body": "ping",
        "timeout": 0,
        "degradedAt": 0,
        "retry": 0,
        "followRedirects": false,
        "ipVersion": "ipv4",
        "certificateWarnDays": 14,
        "clientCertificate": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n",
        "clientKey": "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n",
        "active": true,
        "public": true,
        "description": "",
        "tags": [
          "Prod"
        ],
        "regions": [
          "fly-ams",
          "koyeb-fra"
        ],
        "headers": [
          {
            "key": "X-Token",
            "value": "secret"
          },
          {
            "key": "X-Empty",
            "value": ""
          }
        ],
        "statusCodeAssertions": [
          {
            "target": 204,
            "comparator": "eq"
          }
        ],
        "bodyAssertions": [
          {
            "target": "second",
            "comparator": "contains"
          },
          {
            "target": "first",
            "comparator": "contains"
          }
        ],
        "jsonAssertions": [
          {
            "path": "$.status",
            "target": "^ok$",
            "comparator": "matches"
          }
        ],
        "headerAssertions": [
          {
            "key": "Server",
            "target": "",
            "comparator": "not_empty"
          }
        ],
        "status": "degraded",
        "effectiveDegradedAt": 0,
        "resolvedRegions": [
          "fly-ams",
          "koyeb-fra"
        ],
        "createdAt": "1970-01-01T00:00:01.500Z",
        "updatedAt": "1969-12-31T23:59:59.999Z",
        "revision": "-1"
      }
    }
    "#);
}

#[test]
fn monitor_without_regions_lists_the_defaults() {
    let mut monitor = monitor(tcp());
    monitor.settings.regions = Vec::new();
    monitor.settings.degraded_at_ms = None;
    let answer = stored(&monitor, SecretVisibility::Visible).message::<wire::TcpMonitor>().unwrap();
    assert!(answer.regions.is_empty());
    assert_eq!(answer.resolved_regions, ["fly-fra"]);
    assert_eq!(answer.degraded_at, None);
    assert_eq!(answer.effective_degraded_at, Some(80_000));
}

#[test]
fn monitor_encodes_as_its_own_kind_only() {
    let (http, tcp, dns) = (monitor(http()), monitor(tcp()), monitor(dns()));
    for (monitor, kinds) in
        [(&http, [true, false, false]), (&tcp, [false, true, false]), (&dns, [false, false, true])]
    {
        let shown = stored(monitor, SecretVisibility::Visible);
        let found = [
            shown.message::<wire::HttpMonitor>().is_some(),
            shown.message::<wire::TcpMonitor>().is_some(),
            shown.message::<wire::DnsMonitor>().is_some(),
        ];
        assert_eq!(found, kinds);
    }
}

#[test]
fn heartbeat_url_is_absent_for_read_keys() {
    let check = Check::Heartbeat(HeartbeatCheck::new(60));
    let monitor = monitor(check);
    let url = Secret::new("https://aloft.example.com/heartbeat/token".to_owned());
    let outputs = HeartbeatDetails { url, last_at: Some(Timestamp::from_millis(0)) };
    for (secrets, shown) in [
        (SecretVisibility::Visible, Some("https://aloft.example.com/heartbeat/token")),
        (SecretVisibility::Redacted, None),
    ] {
        let stored = StoredMonitor { heartbeat: Some(&outputs), ..stored(&monitor, secrets) };
        let message = stored.message::<wire::HeartbeatMonitor>().unwrap();
        assert_eq!(message.url.as_deref(), shown);
        assert!(message.last_heartbeat_at.is_set());
    }
}

#[test]
fn wire_fields_match_the_tables() {
    // spec: §2.1–2.3: fails if only one side has a new field
    for (message, table) in [
        ("HttpMonitor", &rules::tables::HTTP_MONITOR),
        ("TcpMonitor", &rules::tables::TCP_MONITOR),
        ("DnsMonitor", &rules::tables::DNS_MONITOR),
        ("HeartbeatMonitor", &rules::tables::HEARTBEAT_MONITOR),
    ] {
        let own = table.fields.iter().chain(table.beyond).map(|field| field.name);
        let blocks = table.blocks.iter().map(|block| block.name);
        let expected: BTreeSet<&str> = own.chain(blocks).collect();
        assert_eq!(wire_fields(message), expected, "{message}");
    }
}

#[test]
fn wire_blocks_match_the_tables() {
    // spec: §2.1, §2.3
    for (message, table, block) in [
        ("Header", &rules::tables::HTTP_MONITOR, "headers"),
        ("StatusCodeAssertion", &rules::tables::HTTP_MONITOR, "status_code_assertions"),
        ("BodyAssertion", &rules::tables::HTTP_MONITOR, "body_assertions"),
        ("JsonAssertion", &rules::tables::HTTP_MONITOR, "json_assertions"),
        ("HeaderAssertion", &rules::tables::HTTP_MONITOR, "header_assertions"),
        ("RecordAssertion", &rules::tables::DNS_MONITOR, "record_assertions"),
    ] {
        let block = table.blocks.iter().find(|it| it.name == block).unwrap();
        let expected: BTreeSet<&str> = block.fields.iter().map(|field| field.name).collect();
        assert_eq!(wire_fields(message), expected, "{message}");
    }
}

/// Returns the names of a message's fields.
fn wire_fields(message: &str) -> BTreeSet<&'static str> {
    crate::rpc::field_names(&format!("monitor.v1.{message}")).unwrap().collect()
}
