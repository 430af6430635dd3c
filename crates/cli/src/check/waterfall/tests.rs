//! Drawings of checks: on a wide terminal, on a narrow one, and after a failure.

use domain::check::{DnsRecord, Failure, Phases};
use rules::RecordKind;

use super::*;

const FILE: Paper = Paper { colours: false, columns: 64, folds: false };

fn hop(url: &str, status: Option<u16>, phases: Phases) -> HopEvidence {
    HopEvidence {
        url: Some(url.to_owned()),
        address: Some("192.0.2.1:443".to_owned()),
        phases,
        version: status.map(|_| "HTTP/2.0".to_owned()),
        status,
        headers: Vec::new(),
        certificate: None,
    }
}

fn attempt(latency_us: u32, hops: Vec<HopEvidence>) -> AttemptEvidence {
    AttemptEvidence {
        started_at: Timestamp::from_millis(0),
        latency_us,
        failure: None,
        reasons: Vec::new(),
        assertions: Vec::new(),
        hops,
        body: None,
        body_truncated: false,
        body_cut: false,
        answers: Vec::new(),
    }
}

fn phases(times: [Option<u32>; 5]) -> Phases {
    let [dns_us, connect_us, tls_us, first_byte_us, transfer_us] = times;
    Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us }
}

fn certificate(ends_in_days: i64) -> Certificate {
    Certificate {
        subject: "C=NL, O=Example, CN=example.com".to_owned(),
        issuer: "CN=Example Authority".to_owned(),
        not_before: Timestamp::from_millis(-DAY_MS),
        not_after: Timestamp::from_millis(ends_in_days * DAY_MS),
        chain_not_after: Timestamp::from_millis(ends_in_days * DAY_MS),
        chain: Vec::new(),
        fingerprint: String::new(),
    }
}

fn redirected() -> AttemptEvidence {
    let first = hop(
        "http://example.com/",
        Some(301),
        phases([Some(500), Some(500), None, Some(1_000), None]),
    );
    let mut second = hop(
        "https://example.com/",
        Some(200),
        phases([Some(10), Some(1_000), Some(2_000), Some(4_000), Some(990)]),
    );
    second.certificate = Some(certificate(34));
    attempt(10_000, vec![first, second])
}

#[test]
fn phases_are_drawn_at_their_time_per_hop() {
    insta::assert_snapshot!(draw("http://example.com/", &[redirected()], Outcome::Success, FILE), @"
    http://example.com/
      301 Moved Permanently  HTTP/2  192.0.2.1:443
      dns             0.50 ms  █▊
      connect         0.50 ms   █▊
      first byte      1.00 ms     ███▌

    ↳ https://example.com/
      200 OK  HTTP/2  192.0.2.1:443
      dns             0.01 ms         ▏
      connect         1.00 ms         ███▌
      tls             2.00 ms            ███████
      first byte      4.00 ms                   ██████████████
      transfer        0.99 ms                                 ███▌
      certificate  example.com, by Example Authority, 34 days left, until 1970-02-04
      total          10.00 ms  ───────────────────────────────────

    ✓ success
    ");
}

#[test]
fn narrow_terminal_gets_numbers_without_bars() {
    let paper = Paper { columns: 34, folds: true, ..FILE };
    insta::assert_snapshot!(draw("http://example.com/", &[redirected()], Outcome::Success, paper), @"
    http://example.com/
      301 Moved Permanently
      HTTP/2  192.0.2.1:443
      dns             0.50 ms
      connect         0.50 ms
      first byte      1.00 ms

    ↳ https://example.com/
      200 OK  HTTP/2  192.0.2.1:443
      dns             0.01 ms
      connect         1.00 ms
      tls             2.00 ms
      first byte      4.00 ms
      transfer        0.99 ms
      certificate  example.com, by
                   Example Authority,
                   34 days left, until
                   1970-02-04
      total          10.00 ms

    ✓ success
    ");
}

#[test]
fn lines_fit_the_terminal() {
    for columns in 37..120 {
        let paper = Paper { columns, folds: true, ..FILE };
        let drawn = draw("http://example.com/", &[redirected()], Outcome::Success, paper);
        for line in drawn.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn failed_phase_is_drawn_and_marked() {
    let shown = |target: &str, kind: FailureKind, times: [Option<u32>; 5]| {
        let mut attempt = attempt(1_000, vec![hop(target, None, phases(times))]);
        attempt.failure = Some(Failure::new(kind, "it broke"));
        let drawn = draw(target, &[attempt], Outcome::Failure, FILE);
        let mut marked = drawn.lines().filter(|line| line.contains(BROKEN));
        let line = marked.next().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>());
        line.unwrap_or_default().join(" ").replace(BROKEN, "")
    };
    let none = [None; 5];
    let connected = [Some(100), Some(200), None, None, None];
    let (name, address) = ("https://example.com/", "http://[::1]:80/");
    for (target, kind, times, expected) in [
        (name, FailureKind::NameNotFound, none, "✗ dns 1.00 ms"),
        (name, FailureKind::Timeout, none, "✗ dns 1.00 ms"),
        (address, FailureKind::Timeout, none, "✗ connect 1.00 ms"),
        (name, FailureKind::ConnectionRefused, none, "✗ connect 1.00 ms"),
        (name, FailureKind::Timeout, connected, "✗ tls 0.70 ms"),
        (name, FailureKind::CertificateInvalid, connected, "✗ tls 0.70 ms"),
        (address, FailureKind::Timeout, connected, "✗ first byte 0.70"),
        (name, FailureKind::AddressRefused, none, ""),
        (name, FailureKind::RedirectsExhausted, connected, ""),
    ] {
        assert_eq!(shown(target, kind, times), expected, "{target} {kind:?} {times:?}");
    }
}

#[test]
fn certificate_lifetime_is_shown_in_colour() {
    let paper = Paper { colours: true, ..FILE };
    let drawn = [-3, 5, 90].map(|days| {
        let mut hop = hop("https://example.com/", None, Phases::default());
        hop.certificate = Some(certificate(days));
        let drawn = draw("", &[attempt(1, vec![hop])], Outcome::Success, paper);
        drawn.lines().find(|line| line.contains("certificate")).unwrap().replace('\u{1b}', "^")
    });
    insta::assert_snapshot!(drawn.join("\n"), @"
    certificate  ^[31mexample.com, by Example Authority, expired on 1969-12-29^[0m
    certificate  ^[33mexample.com, by Example Authority, only 5 days left, until 1970-01-06^[0m
    certificate  ^[2mexample.com, by Example Authority, 90 days left, until 1970-04-01^[0m
    ");
}

#[test]
fn dns_answers_follow_their_concurrent_queries() {
    let answer = |kind, rcode: &str, records: &[&str]| DnsAnswer {
        kind,
        rcode: rcode.to_owned(),
        server: Some("192.0.2.53:53".parse().unwrap()),
        over_tcp: records.len() > 1,
        aliases: if records.is_empty() { Vec::new() } else { vec!["www.example.com".to_owned()] },
        records: records.iter().map(|it| DnsRecord { value: (*it).to_owned(), ttl: 60 }).collect(),
        latency_us: 500,
    };
    let mut attempt = attempt(1_000, vec![hop("example.com", None, Phases::default())]);
    attempt.hops[0].address = None;
    attempt.answers = vec![
        answer(RecordKind::A, "NOERROR", &["192.0.2.1", "192.0.2.100"]),
        answer(RecordKind::Mx, "SERVFAIL", &[]),
    ];
    attempt.assertions = vec![
        AssertionResult {
            assertion: "A eq `192.0.2.1`".to_owned(),
            passed: true,
            actual: String::new(),
        },
        AssertionResult {
            assertion: "MX contains `a`".to_owned(),
            passed: false,
            actual: "none".to_owned(),
        },
    ];
    attempt.reasons = vec!["no record of type MX contains `a`".to_owned()];
    insta::assert_snapshot!(draw("example.com", &[attempt], Outcome::Failure, FILE), @"
    example.com
      A               0.50 ms  █████████████████▌
      MX              0.50 ms  █████████████████▌
      total           1.00 ms  ───────────────────────────────────

      A          NOERROR  from 192.0.2.53:53 over TCP
                 alias of www.example.com
                 192.0.2.1    ttl 60
                 192.0.2.100  ttl 60

      MX         SERVFAIL  from 192.0.2.53:53

    ✓ A eq `192.0.2.1`
    ✗ MX contains `a`; actual: none

    ✗ failure: no record of type MX contains `a`
    ");
}

#[test]
fn multiple_attempts_are_numbered() {
    let mut failed = attempt(1_000, vec![hop("http://a/", Some(500), Phases::default())]);
    failed.reasons = vec!["status is 500, expected 2xx".to_owned()];
    let mut slow = attempt(9_000, vec![hop("http://a/", Some(200), Phases::default())]);
    slow.reasons = vec!["took 9 ms, more than 5 ms".to_owned()];
    insta::assert_snapshot!(draw("http://a/", &[failed, slow], Outcome::Degraded, FILE), @"
    attempt 1 of 2
    http://a/
      500 Internal Server Error  HTTP/2  192.0.2.1:443
      total           1.00 ms  ───────────────────────────────────

    ✗ failure: status is 500, expected 2xx

    attempt 2 of 2
    http://a/
      200 OK  HTTP/2  192.0.2.1:443
      total           9.00 ms  ───────────────────────────────────

    ! degraded: took 9 ms, more than 5 ms
    ");
}
