//! HTTP checks with one hop: requests, measurements, and invalid responses.

use std::time::Duration;

use domain::check::{FailureKind, Outcome};
use rules::{IpVersion, Method, RecordKind};
use testkit::target::{Code, DnsReply, DnsTarget, HttpTarget, ScriptedResponse, TcpTarget};

use crate::checking::{get, portless};

#[tokio::test]
async fn every_phase_is_measured() {
    // design: §5 "every phase is measured"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("hello").chunked().pausing(Duration::from_millis(20)));
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "127.0.0.1");
    let outcome = get(target.url_as("api.test", "/")).asking(&dns).run().await;
    outcome.assert_success();
    let hop = &outcome.http().hops[0];
    assert_eq!((hop.status, hop.address), (Some(200), Some(target.address())));
    let phases = hop.phases;
    assert_eq!(phases.tls_us, None);
    let measured = [phases.dns_us, phases.connect_us, phases.first_byte_us, phases.transfer_us];
    let sum: u32 = measured.into_iter().map(|phase| phase.expect("the phase ended")).sum();
    assert!(sum <= outcome.latency_us(), "{phases:?} in {}", outcome.latency_us());
    assert!(phases.transfer_us >= Some(20_000), "the last byte came after a pause: {phases:?}");
}

#[tokio::test]
async fn address_needs_no_lookup() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    let outcome = get(target.url("/")).run().await;
    outcome.assert_success();
    assert_eq!(outcome.http().hops[0].phases.dns_us, None);
}

#[tokio::test]
async fn slow_response_is_degraded() {
    // design: §5 "slow means above degraded_at"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("late").after(Duration::from_millis(200)));
    let outcome = get(target.url("/")).degraded_at_ms(50).run().await;
    assert_eq!(outcome.outcome(), Outcome::Degraded);
    assert!(outcome.http().hops[0].phases.first_byte_us >= Some(200_000));
}

#[tokio::test]
async fn slow_body_is_degraded() {
    // design: §5 "latency is the whole exchange to the last byte"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("late").pausing(Duration::from_millis(200)));
    let outcome = get(target.url("/")).degraded_at_ms(150).run().await;
    assert_eq!(outcome.outcome(), Outcome::Degraded);
}

#[tokio::test]
async fn connection_is_never_reused() {
    // design: §5 "one connection per check and hop, no reuse"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    get(target.url("/")).run().await.assert_success();
    assert_eq!(target.received()[0].header("connection"), Some("close"));
}

#[tokio::test]
async fn configured_request_is_sent() {
    // design: §5 "HTTP"
    let target = HttpTarget::start().await;
    target.on("/v1/things?a=b%20c", ScriptedResponse::ok(""));
    get(target.url("/v1/things?a=b%20c"))
        .method(Method::Post, r#"{"ping":1}"#)
        .header("X-Team", "core")
        .header("X-Empty", "")
        .run()
        .await
        .assert_success();
    let received = &target.received()[0];
    let head = format!("{} {} {}", received.method, received.target, received.version);
    assert_eq!(head, "POST /v1/things?a=b%20c HTTP/1.1");
    assert_eq!(received.body, r#"{"ping":1}"#);
    assert_eq!(received.header("x-team"), Some("core"));
    assert_eq!(received.header("x-empty"), Some(""));
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("content-length"), Some("10"));
    assert_eq!(received.header("accept-encoding"), Some("gzip, deflate, br"));
    assert_eq!(received.header("host"), Some(target.address().to_string().as_str()));
    assert_eq!(received.headers[0].0, "host");
}

#[tokio::test]
async fn configured_host_is_the_authority() {
    // design: §5 "`Host` sets the authority"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    get(target.url("/")).header("Host", "shop.example").run().await.assert_success();
    let hosts: Vec<_> = target.received()[0]
        .headers
        .iter()
        .filter(|(name, _)| name == "host")
        .map(|(_, value)| value.clone())
        .collect();
    assert_eq!(hosts, ["shop.example"]);
}

#[tokio::test]
async fn every_method_is_sent() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(200));
    for method in Method::ALL {
        get(target.url("/")).method(*method, "payload").run().await.assert_success();
    }
    let sent: Vec<_> = target
        .received()
        .iter()
        .map(|received| format!("{} {:?}", received.method, received.body))
        .collect();
    insta::assert_snapshot!(sent.join("\n"), @r#"
    GET ""
    POST "payload"
    HEAD ""
    PUT "payload"
    PATCH "payload"
    DELETE ""
    OPTIONS ""
    "#);
}

#[tokio::test]
async fn url_credentials_become_basic_authorization() {
    // design: §5 "Credentials in the URL become Basic authorisation … and are redacted everywhere"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::status(500));
    let url = target.url("/").replace("http://", "http://user:s3cret@");
    let outcome = get(url).run().await;
    assert_eq!(target.received()[0].header("authorization"), Some("Basic dXNlcjpzM2NyZXQ="));
    assert!(!format!("{:?}", outcome.attempts).contains("s3cret"));
}

#[tokio::test]
async fn informational_response_is_skipped() {
    let target = HttpTarget::start().await;
    let early = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n";
    let real = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    target.on("/", ScriptedResponse::raw(format!("{early}{real}")));
    let outcome = get(target.url("/")).run().await;
    outcome.assert_success();
    assert_eq!(outcome.http().body.bytes, "ok");
}

#[tokio::test]
async fn http_1_0_is_supported() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::raw("HTTP/1.0 200 OK\r\n\r\nold but good"));
    let outcome = get(target.url("/")).run().await;
    outcome.assert_success();
    let seen = outcome.http();
    assert_eq!(format!("{:?}", seen.hops[0].version), "HTTP/1.0");
    assert_eq!((&seen.body.bytes[..], seen.body.truncated), (&b"old but good"[..], false));
}

/// Returns a response with this many header lines.
fn lines(count: usize) -> ScriptedResponse {
    ScriptedResponse::raw(format!(
        "HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n",
        "x-a: y\r\n".repeat(count - 1)
    ))
}

#[tokio::test]
async fn request_is_repeated_for_many_header_lines() {
    let target = HttpTarget::start().await;
    for (path, count) in [("/usual", 100), ("/many", 101), ("/most", 256)] {
        target.on(path, lines(count));
    }
    get(target.url("/usual")).run().await.assert_success();
    assert_eq!(target.hits(), 1);
    let outcome = get(target.url("/many")).run().await;
    outcome.assert_success();
    assert_eq!((target.hits(), outcome.http().hops.len()), (3, 1));
    assert_eq!(outcome.http().hops[0].headers.len(), 101);
    get(target.url("/most")).run().await.assert_success();
}

#[tokio::test]
async fn unsafe_request_is_repeated_only_as_retry() {
    let target = HttpTarget::start().await;
    target.on("/", lines(101));
    let mut checking = get(target.url("/")).method(Method::Post, "");
    checking.retry = 1;
    let outcome = checking.run().await;
    outcome.assert_success();
    assert_eq!((target.hits(), outcome.attempts.len()), (2, 2));
}

#[tokio::test]
async fn invalid_responses_fail_with_a_reason() {
    use FailureKind::{ConnectionFailed, ProtocolBroken};
    let many = "x-a: y\r\n".repeat(1000);
    let long = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(300_000));
    let cases = [
        ("garbage", ScriptedResponse::raw("\u{1}\u{2}garbage\r\n\r\n"), ProtocolBroken),
        ("another protocol", ScriptedResponse::raw("220 mail.test ESMTP\r\n"), ProtocolBroken),
        ("nothing", ScriptedResponse::raw(""), ConnectionFailed),
        ("half a head", ScriptedResponse::raw("HTTP/1.1 200 OK\r\nx-a: b"), ConnectionFailed),
        ("a reset", ScriptedResponse::reset_after(""), ConnectionFailed),
        (
            "too many headers",
            ScriptedResponse::raw(format!("HTTP/1.1 200 OK\r\n{many}\r\n")),
            ProtocolBroken,
        ),
        ("too long headers", ScriptedResponse::raw(long), ProtocolBroken),
        (
            "half a body",
            ScriptedResponse::raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"),
            ConnectionFailed,
        ),
        (
            "a bad chunk",
            ScriptedResponse::raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
            ProtocolBroken,
        ),
    ];
    let target = HttpTarget::start().await;
    let mut details = Vec::new();
    for (what, answer, kind) in cases {
        target.on("/", answer);
        let outcome = get(target.url("/")).run().await;
        assert_eq!(outcome.failure_kind(), kind, "{what}: {}", outcome.failure().detail);
        details.push(format!("{what}: {}", outcome.failure().detail));
    }
    insta::assert_snapshot!(portless(&details.join("\n"), target.address().port()), @"
    garbage: 127.0.0.1:PORT sent an invalid HTTP response: invalid HTTP version parsed
    another protocol: 127.0.0.1:PORT sent an invalid HTTP response: invalid HTTP version parsed
    nothing: 127.0.0.1:PORT closed the connection before the response was complete
    half a head: 127.0.0.1:PORT closed the connection before the response was complete
    a reset: 127.0.0.1:PORT reset the connection before the response was complete
    too many headers: the headers from 127.0.0.1:PORT exceed 128 KiB or 256 lines
    too long headers: the headers from 127.0.0.1:PORT exceed 128 KiB or 256 lines
    half a body: 127.0.0.1:PORT closed the connection before the response was complete
    a bad chunk: 127.0.0.1:PORT sent an invalid HTTP response: Invalid chunk size line: missing size digit
    ");
}

#[tokio::test]
async fn closed_port_refuses_the_connection() {
    let target = TcpTarget::refusing();
    let outcome = get(format!("http://{}/", target.address())).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::ConnectionRefused);
    let hop = &outcome.http().hops[0];
    assert_eq!((hop.address, hop.phases.connect_us), (Some(target.address()), None));
}

#[tokio::test]
async fn next_address_is_tried_after_a_failure() {
    // Reserves the port at the first address, so that nothing listens there.
    let nobody = TcpTarget::refusing();
    let target = HttpTarget::start_at(&format!("127.0.0.3:{}", nobody.address().port())).await;
    target.on("/", ScriptedResponse::ok(""));
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "127.0.0.1").address_of("api.test", "127.0.0.3");
    let outcome = get(target.url_as("api.test", "/")).asking(&dns).run().await;
    outcome.assert_success();
    assert_eq!(outcome.http().hops[0].address, Some(target.address()));
}

#[tokio::test]
async fn silent_address_family_does_not_delay_the_other() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "127.0.0.1").reply("api.test", RecordKind::Aaaa, DnsReply::Silence);
    get(target.url_as("api.test", "/")).asking(&dns).run().await.assert_success();
}

#[tokio::test]
async fn name_without_addresses_fails() {
    let dns = DnsTarget::start().await;
    dns.record("mail.test", RecordKind::Mx, "10 mx.test");
    let outcome = get("http://mail.test/").asking(&dns).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
    assert_eq!(outcome.failure().detail, "`mail.test` has no address");
}

#[tokio::test]
async fn failing_nameserver_is_named() {
    let dns = DnsTarget::start().await;
    dns.reply_addresses("api.test", &DnsReply::Code(Code::ServFail));
    let outcome = get("http://api.test/").asking(&dns).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
    insta::assert_snapshot!(
        portless(&outcome.failure().detail, dns.address().port()),
        @"failed to look up `api.test`: 127.0.0.1:PORT responded with SERVFAIL"
    );
}

#[tokio::test]
async fn nonexistent_name_fails() {
    let dns = DnsTarget::start().await;
    let outcome = get("http://nowhere.test/").asking(&dns).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameNotFound);
    insta::assert_snapshot!(
        portless(&outcome.failure().detail, dns.address().port()),
        @"`nowhere.test` does not exist (NXDOMAIN from 127.0.0.1:PORT)"
    );
}

#[tokio::test]
async fn international_name_is_queried_as_a_labels() {
    // design: §5 "International names are stored as written and looked up as A-labels"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    let dns = DnsTarget::start().await;
    dns.address_of("xn--bcher-kva.test", "127.0.0.1");
    get(target.url_as("bücher.test", "/")).asking(&dns).run().await.assert_success();
}

#[tokio::test]
async fn localhost_needs_no_nameserver() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    get(target.url_as("localhost", "/")).run().await.assert_success();
}

#[tokio::test]
async fn only_addresses_of_the_version_are_used() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "127.0.0.1").address_of("old.test", "127.0.0.1");
    dns.record("api.test", RecordKind::Aaaa, "::1");
    let check = |name: &str, version| {
        get(target.url_as(name, "/")).asking(&dns).http(|http| http.ip_version = version)
    };
    let outcome = check("api.test", IpVersion::V4).run().await;
    outcome.assert_success();
    assert_eq!(outcome.http().hops[0].address, Some(target.address()));
    // The server listens at the other address only.
    let outcome = check("api.test", IpVersion::V6).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::ConnectionRefused);
    let outcome = check("old.test", IpVersion::V6).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
    let why = "`old.test` has no IPv6 address, and the monitor uses no other";
    assert_eq!(outcome.failure().detail, why);
}

#[tokio::test]
async fn address_of_the_other_version_fails() {
    let target = HttpTarget::start().await;
    let outcome = get(target.url("/")).http(|http| http.ip_version = IpVersion::V6).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
    let why = "`127.0.0.1` has no IPv6 address, and the monitor uses no other";
    assert_eq!(outcome.failure().detail, why);
    assert_eq!(target.hits(), 0);
}
