//! Evidence: content, redaction and size.

use std::net::SocketAddr;

use ::http::{HeaderMap, HeaderName, HeaderValue, Version};
use bytes::Bytes;
use proptest::prelude::*;
use rules::monitor::{CheckDraft, HeaderDraft, HttpDraft, Monitor, MonitorDraft};
use rules::{MonitorId, RecordKind, Timestamp, WorkspaceId};

use super::*;
use crate::check::{
    DnsObservation, DnsRecord, FailureKind, Hop, HttpObservation, Observation, ObservedBody,
    Outcome, TcpObservation,
};

const ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 443);

/// Returns a plan without secrets.
fn plan() -> CheckPlan {
    plan_of("https://example.com/", &[], "")
}

fn plan_of(url: &str, headers: &[(&str, &str)], body: &str) -> CheckPlan {
    let text = |text: &str| Some(text.to_owned());
    let header = |(key, value): &(&str, &str)| HeaderDraft { key: text(key), value: text(value) };
    let mut draft = MonitorDraft::new(CheckDraft::Http(HttpDraft {
        url: text(url),
        method: text("POST"),
        body: text(body),
        headers: headers.iter().map(header).collect(),
        ..HttpDraft::default()
    }));
    (draft.name, draft.periodicity) = (text("a monitor"), text("30s"));
    let at = Timestamp::from_millis(0);
    CheckPlan::new(&Monitor {
        id: MonitorId::from_bits(1),
        workspace: WorkspaceId::from_bits(1),
        revision: 1,
        settings: draft.parse().unwrap(),
        created_at: at,
        updated_at: at,
    })
    .unwrap()
}

fn attempt(seen: Observation) -> (Attempt, Assessment) {
    let attempt = Attempt {
        started_at: Timestamp::from_millis(1_700_000_000_000),
        latency_us: 1_234,
        observation: seen,
        failure: None,
    };
    let assessment = Assessment {
        outcome: Outcome::Failure,
        reasons: vec!["status is 500, expected 2xx".to_owned()],
        assertions: vec![AssertionResult {
            assertion: "body contains `ok`".to_owned(),
            passed: false,
            actual: "sorry".to_owned(),
        }],
        lacks_memory: false,
    };
    (attempt, assessment)
}

fn hop(url: &str, status: u16, headers: &[(&str, &str)]) -> Hop {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    Hop {
        url: url.parse().unwrap(),
        address: Some(ADDRESS),
        phases: Phases { dns_us: Some(1), connect_us: Some(2), ..Phases::default() },
        version: Version::HTTP_2,
        status: Some(status),
        headers: map,
        certificate: None,
    }
}

fn certificate() -> Certificate {
    Certificate {
        subject: "CN=example.com".to_owned(),
        issuer: "CN=Some CA".to_owned(),
        not_before: Timestamp::from_millis(1),
        not_after: Timestamp::from_millis(2),
        chain_not_after: Timestamp::from_millis(2),
        chain: vec!["CN=example.com".to_owned()],
        fingerprint: "ab".repeat(32),
    }
}

/// Formats one attempt as JSON, with a line for each field and each hop.
fn one_field_a_line(evidence: &Evidence) -> String {
    let json = serde_json::to_value(evidence).unwrap();
    let attempt = json["attempts"][0].as_object().unwrap().clone();
    let mut lines = Vec::new();
    for (name, value) in attempt {
        match (&*name, value) {
            ("hops", serde_json::Value::Array(hops)) => {
                lines.extend(hops.iter().map(|hop| format!("hop: {hop}")));
            }
            (name, value) => lines.push(format!("{name}: {value}")),
        }
    }
    lines.join("\n")
}

// issue 16: "A target that echoes requests exposes configured `Authorization` values"
#[test]
fn echoed_secrets_are_redacted() {
    let plan = plan_of(
        "https://ada:hunter22@example.com/a?token=tok-12345&page=7",
        &[
            ("Authorization", "Bearer abc.def.ghi"),
            ("X-Tenant", "tenant-4711"),
            ("Accept", "text/html"),
        ],
        r#"{"user":"ada","password":"pw-98765"}"#,
    );
    let echo =
        r#"you sent Bearer abc.def.ghi, tenant-4711, {\"password\":\"pw-98765\"}, text/html"#;
    let answer = hop(
        "https://example.com/a?token=tok-12345&page=7",
        500,
        &[("x-echo", "abc.def.ghi"), ("location", "/b?t=tok-12345"), ("x-b64", "YWJjLmRlZi5naGk=")],
    );
    let body = ObservedBody {
        bytes: Bytes::from_static(echo.as_bytes()),
        truncated: false,
        ..ObservedBody::default()
    };
    let (mut attempt, mut assessment) =
        attempt(Observation::Http(HttpObservation { hops: vec![answer], body }));
    assessment.reasons = vec!["body `Bearer abc.d…` does not contain `ok`".to_owned()];
    assessment.assertions[0].actual = "tenant-4711 and abc.d…".to_owned();
    attempt.failure = Some(Failure::new(FailureKind::ProtocolBroken, "bad pw-98765".to_owned()));
    let kept = Evidence::new(&plan, vec![(attempt, assessment)]);
    insta::assert_snapshot!(one_field_a_line(&kept), @r#"
    started_at: 1700000000000
    latency_us: 1234
    failure: {"kind":"protocol_broken","detail":"bad …"}
    reasons: ["body `…` does not contain `ok`"]
    assertions: [{"assertion":"body contains `ok`","holds":false,"seen":"… and …"}]
    hop: {"url":"https://example.com/a?token=…&page=7","address":"127.0.0.1:443","phases":{"dns_us":1,"connect_us":2,"tls_us":null,"first_byte_us":null,"transfer_us":null},"version":"HTTP/2.0","status":500,"headers":[["x-echo","…"],["location","/b?t=…"],["x-b64","…k="]],"certificate":null}
    body: "you sent …, …, {\\\"password\\\":\\\"…\\\"}, text/html"
    body_truncated: false
    answers: []
    "#);
}

// issue 16, point 9: "in redirect Location, in certificate or error texts, in URL userinfo"
#[test]
fn secrets_hide_wherever_a_hostile_server_echoes_them() {
    let plan = plan_of("https://ada:hunter22@example.com/", &[("X-Tenant", "tenant-4711")], "");
    let location = "https://x:hunter22@evil.example/?a=tenant%2D4711&b=dGVuYW50LTQ3MTE%3D";
    let mut answer = hop(
        "https://evil.example/?t=tenant%2d4711",
        302,
        &[("location", location), ("tenant-4711", "x")],
    );
    answer.certificate = Some(Certificate {
        subject: "CN=tenant-4711".to_owned(),
        issuer: "CN=hunter22".to_owned(),
        chain: vec!["CN=tenant-4711".to_owned()],
        ..certificate()
    });
    let half = |body: &'static str| {
        let body = ObservedBody {
            bytes: Bytes::from_static(body.as_bytes()),
            truncated: true,
            ..ObservedBody::default()
        };
        attempt(Observation::Http(HttpObservation {
            hops: vec![hop("https://example.com/", 500, &[])],
            body,
        }))
    };
    let first = attempt(Observation::Http(HttpObservation {
        hops: vec![answer],
        body: ObservedBody::default(),
    }));
    let attempts = vec![first, half("begins tenant-4"), half("enant-4711 ends")];
    let kept = serde_json::to_string(&Evidence::new(&plan, attempts)).unwrap();
    for part in ["4711", "hunter22", "dGVuYW50", "tenant-4"] {
        assert!(!kept.contains(part), "{part}: {kept}");
    }
    assert!(kept.contains("begins …") && kept.contains("… ends"), "{kept}");
}

// design: §5 "Incidents keep evidence: … headers (redacted), the first 4 KiB of the body"
#[test]
fn http_failure_evidence_redacts_credentials() {
    let redirect = hop(
        "https://user:hunter2@example.com/a",
        302,
        &[("location", "https://user:hunter2@other.example/b"), ("set-cookie", "id=hunter2")],
    );
    let mut answer = hop("https://other.example/b", 500, &[("x-service-key", "hunter2")]);
    answer.certificate = Some(certificate());
    let body = ObservedBody {
        bytes: Bytes::from_static(b"sorry"),
        truncated: false,
        ..ObservedBody::default()
    };
    let seen = Observation::Http(HttpObservation { hops: vec![redirect, answer], body });
    let evidence = Evidence::new(&plan(), vec![attempt(seen)]);
    insta::assert_snapshot!(one_field_a_line(&evidence), @r#"
started_at: 1700000000000
latency_us: 1234
failure: null
reasons: ["status is 500, expected 2xx"]
assertions: [{"assertion":"body contains `ok`","holds":false,"seen":"sorry"}]
hop: {"url":"https://example.com/a","address":"127.0.0.1:443","phases":{"dns_us":1,"connect_us":2,"tls_us":null,"first_byte_us":null,"transfer_us":null},"version":"HTTP/2.0","status":302,"headers":[["location","https://other.example/b"],["set-cookie","…"]],"certificate":null}
hop: {"url":"https://other.example/b","address":"127.0.0.1:443","phases":{"dns_us":1,"connect_us":2,"tls_us":null,"first_byte_us":null,"transfer_us":null},"version":"HTTP/2.0","status":500,"headers":[["x-service-key","…"]],"certificate":{"subject":"CN=example.com","issuer":"CN=Some CA","not_before":1,"not_after":2,"chain_not_after":2,"chain":["CN=example.com"],"fingerprint":"abababababababababababababababababababababababababababababababab"}}
body: "sorry"
body_truncated: false
answers: []
"#);
}

#[test]
fn dns_failure_evidence_keeps_the_answers() {
    let answer = DnsAnswer {
        kind: RecordKind::A,
        rcode: "NOERROR".to_owned(),
        server: Some(ADDRESS),
        over_tcp: false,
        aliases: vec!["a.example".to_owned()],
        records: vec![DnsRecord { value: "192.0.2.1".to_owned(), ttl: 60 }; 100],
        latency_us: 7,
    };
    let seen = DnsObservation { answers: vec![answer.clone()], phases: Phases::default() };
    let kept = Evidence::new(&plan(), vec![attempt(Observation::Dns(seen))]).attempts.remove(0);
    assert_eq!(kept.answers.len(), 1);
    assert_eq!(kept.answers[0].records, answer.records[..RECORDS]);
    assert_eq!(kept.answers[0].aliases, answer.aliases);
}

#[test]
fn tcp_failure_evidence_keeps_address_and_failure() {
    let seen =
        Observation::Tcp(TcpObservation { phases: Phases::default(), address: Some(ADDRESS) });
    let (mut attempt, assessment) = attempt(seen);
    attempt.failure = Some(Failure::new(FailureKind::ConnectionRefused, "x".repeat(10_000)));
    let kept = Evidence::new(&plan(), vec![(attempt, assessment)]).attempts.remove(0);
    assert_eq!(kept.hops[0].address.as_deref(), Some("127.0.0.1:443"));
    let failure = kept.failure.expect("the attempt failed");
    assert_eq!(failure.kind, FailureKind::ConnectionRefused);
    assert_eq!(failure.detail.chars().count(), TEXT_CHARS);
}

#[test]
fn body_is_cut_at_4_kib_between_characters() {
    for (bytes, truncated, chars, has_more) in [
        ("é".repeat(2_048), false, 2_048, false),
        ("é".repeat(2_049), false, 2_048, true),
        (format!("a{}", "é".repeat(2_048)), false, 2_048, true),
        ("é".to_owned(), true, 1, true),
        (String::new(), false, 0, false),
    ] {
        let body = ObservedBody { bytes: bytes.into(), truncated, ..ObservedBody::default() };
        let hops = vec![hop("http://example.com/", 200, &[])];
        let kept = Evidence::new(
            &plan(),
            vec![attempt(Observation::Http(HttpObservation { hops, body }))],
        );
        let kept = &kept.attempts[0];
        let text = kept.body.as_deref().expect("a response was received");
        assert_eq!((text.chars().count(), kept.body_truncated), (chars, has_more));
        assert!(!text.contains('\u{FFFD}'));
    }
}

#[test]
fn largest_evidence_stays_below_1_mib() {
    let many: Vec<(String, String)> =
        (0..200).map(|index| (format!("x-{index}"), "\"".repeat(8_000))).collect();
    let many: Vec<(&str, &str)> =
        many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let long = format!("http://example.com/{}", "a".repeat(8_000));
    let one = || {
        let mut certificate = certificate();
        certificate.chain = vec!["x".repeat(10_000); 50];
        let hops: Vec<Hop> = (0..11)
            .map(|_| Hop { certificate: Some(certificate.clone()), ..hop(&long, 302, &many) })
            .collect();
        let body = ObservedBody {
            bytes: Bytes::from(vec![0; 1 << 20]),
            truncated: true,
            ..ObservedBody::default()
        };
        attempt(Observation::Http(HttpObservation { hops, body }))
    };
    let evidence = Evidence::new(&plan(), (0..11).map(|_| one()).collect());
    assert_eq!(evidence.attempts.len(), 11);
    assert_eq!(evidence.attempts[10].hops.len(), 11);
    let size = serde_json::to_vec(&evidence).unwrap().len();
    assert!(size < 1 << 20, "{size}");
}

proptest! {
    #[test]
    fn evidence_json_round_trips(
        body: Vec<u8>,
        truncated: bool,
        value: Vec<u8>,
        charset in "[a-z0-9-]{0,12}",
    ) {
        let mut answer = hop("http://example.com/", 200, &[]);
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            answer.headers.append("x-any", value.clone());
            answer.headers.append("location", value);
        }
        let content_type = format!("text/plain; charset={charset}").parse().unwrap();
        answer.headers.insert("content-type", content_type);
        let body = ObservedBody { bytes: body.into(), truncated, ..ObservedBody::default() };
        let evidence = Evidence::new(&plan(),vec![attempt(Observation::Http(HttpObservation { hops: vec![answer], body }))]);
        let json = serde_json::to_string(&evidence).unwrap();
        prop_assert_eq!(serde_json::from_str::<Evidence>(&json).unwrap(), evidence);
    }
}
