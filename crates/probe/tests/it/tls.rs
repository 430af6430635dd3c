//! HTTPS: certificates, and the protocol inside.

use std::time::Duration;

use domain::check::{Certificate, FailureKind, Outcome};
use rules::{Method, Timestamp};
use testkit::target::{
    Authority, DnsTarget, HttpTarget, Identity, Protocol, Received, ScriptedResponse, Validity,
};

use crate::checking::{Outcomes, get};

async fn check(authority: &Authority, identity: Identity, protocol: Protocol) -> Outcomes {
    let target = HttpTarget::start_tls(identity, protocol).await;
    target.on("/", ScriptedResponse::ok("secret"));
    let dns = DnsTarget::start().await;
    dns.address_of("shop.test", "127.0.0.1");
    get(target.url_as("shop.test", "/")).asking(&dns).trusting(&authority.pem()).run().await
}

fn certificate(outcome: &Outcomes) -> &Certificate {
    outcome.http().hops[0].certificate.as_ref().expect("the certificate was recorded")
}

#[tokio::test]
async fn alpn_selects_the_http_version() {
    // design: §5 "HTTP/1.1 and HTTP/2 by ALPN"
    for (protocol, version) in [(Protocol::Http1, "HTTP/1.1"), (Protocol::Http2, "HTTP/2.0")] {
        let authority = Authority::new("Test CA");
        let identity = authority.issue(&["shop.test"], Validity::Valid);
        let outcome = check(&authority, identity, protocol).await;
        outcome.assert_success();
        let seen = outcome.http();
        assert_eq!(format!("{:?}", seen.hops[0].version), version);
        assert_eq!(seen.body.bytes, "secret");
        let phases = seen.hops[0].phases;
        let sum = [phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us]
            .into_iter()
            .chain([phases.transfer_us])
            .map(|phase| phase.expect("the phase ended"))
            .sum::<u32>();
        assert!(sum <= outcome.latency_us(), "{phases:?}");
    }
}

#[tokio::test]
async fn http_2_sends_no_connection_headers() {
    let authority = Authority::new("Test CA");
    let identity = authority.issue(&["127.0.0.1"], Validity::Valid);
    let target = HttpTarget::start_tls(identity, Protocol::Http2).await;
    target
        .on("/things?a=b", ScriptedResponse::redirect(307, "/next"))
        .on("/next", ScriptedResponse::ok("ok"));
    get(target.url("/things?a=b"))
        .method(Method::Put, "payload")
        .header("X-Team", "core")
        .trusting(&authority.pem())
        .run()
        .await
        .assert_success();
    let Received { method, target: uri, version, headers, body } = target.received().remove(1);
    let authority = target.address();
    assert_eq!(uri, format!("https://{authority}/next"));
    assert_eq!((&*method, &*version, &*body), ("PUT", "HTTP/2.0", "payload"));
    let mut names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    insta::assert_snapshot!(
        names.join(" "),
        @"accept accept-encoding content-length content-type user-agent x-team"
    );
}

#[tokio::test]
async fn configured_host_does_not_change_tls_name() {
    // design: §5 "`Host` sets the authority, not the TLS name"
    let authority = Authority::new("Test CA");
    let identity = authority.issue(&["127.0.0.1"], Validity::Valid);
    let target = HttpTarget::start_tls(identity, Protocol::Http2).await;
    target.on("/", ScriptedResponse::ok("ok"));
    get(target.url("/"))
        .header("Host", "front.test")
        .trusting(&authority.pem())
        .run()
        .await
        .assert_success();
    assert_eq!(target.received()[0].target, "https://front.test/");
}

#[tokio::test]
async fn chain_and_expiry_are_recorded() {
    // design: §5 "Certificate chain and expiry are recorded"
    let authority = Authority::new("Test CA");
    let identity = authority.issue(&["shop.test"], Validity::Valid);
    let outcome = check(&authority, identity, Protocol::Http1).await;
    outcome.assert_success();
    let mut certificate = certificate(&outcome).clone();
    assert_eq!(certificate.fingerprint.len(), 64);
    certificate.fingerprint = "…".to_owned();
    insta::assert_json_snapshot!(certificate, @r#"
    {
      "subject": "CN=shop.test",
      "issuer": "CN=Test CA",
      "not_before": 1577836800000,
      "not_after": 3786912000000,
      "chain_not_after": 3786912000000,
      "chain": [
        "CN=shop.test"
      ],
      "fingerprint": "…"
    }
    "#);
}

#[tokio::test]
async fn earliest_expiry_in_the_chain_counts() {
    let authority = Authority::new("Test CA");
    let holds = authority.intermediate("Intermediate", Validity::Valid);
    let outcome =
        check(&authority, holds.issue(&["shop.test"], Validity::Valid), Protocol::Http1).await;
    outcome.assert_success();
    assert_eq!(certificate(&outcome).chain, ["CN=shop.test", "CN=Intermediate"]);
    let expired = authority.intermediate("Intermediate", Validity::Expired);
    let outcome =
        check(&authority, expired.issue(&["shop.test"], Validity::Valid), Protocol::Http1).await;
    assert_eq!(outcome.failure_kind(), FailureKind::CertificateInvalid);
    let certificate = certificate(&outcome);
    assert!(certificate.chain_not_after < certificate.not_after);
    assert!(outcome.failure().detail.ends_with("expired at 2022-01-01T00:00:00.000Z"));
}

#[tokio::test]
async fn invalid_certificates_fail_and_are_recorded() {
    let trusted = Authority::new("Test CA");
    let other = Authority::new("Other CA");
    let cases = [
        ("expired", trusted.issue(&["shop.test"], Validity::Expired)),
        ("not yet", trusted.issue(&["shop.test"], Validity::NotYet)),
        ("wrong name", trusted.issue(&["mail.test", "www.test"], Validity::Valid)),
        ("unknown issuer", other.issue(&["shop.test"], Validity::Valid)),
        ("self-signed", Identity::self_signed(&["shop.test"])),
    ];
    let mut details = Vec::new();
    for (what, identity) in cases {
        let outcome = check(&trusted, identity, Protocol::Http1).await;
        assert_eq!(outcome.failure_kind(), FailureKind::CertificateInvalid, "{what}");
        assert_eq!(outcome.http().hops[0].phases.tls_us, None, "{what}");
        let subject = &certificate(&outcome).subject;
        details.push(format!("{what}: {} [{subject}]", outcome.failure().detail));
    }
    insta::assert_snapshot!(details.join("\n"), @"
    expired: the certificate of `shop.test` expired at 2022-01-01T00:00:00.000Z [CN=shop.test]
    not yet: the certificate of `shop.test` holds only from 2090-01-01T00:00:00.000Z [CN=shop.test]
    wrong name: the certificate is not for `shop.test` but for mail.test, www.test [CN=mail.test]
    unknown issuer: the certificate of `shop.test` is from `CN=Other CA`, which is not trusted [CN=shop.test]
    self-signed: the certificate of `shop.test` is self-signed and not trusted [CN=shop.test]
    ");
}

#[tokio::test]
async fn certificate_for_an_address_is_accepted() {
    let authority = Authority::new("Test CA");
    let identity = authority.issue(&["127.0.0.1"], Validity::Valid);
    let target = HttpTarget::start_tls(identity, Protocol::Http1).await;
    target.on("/", ScriptedResponse::ok(""));
    get(target.url("/")).trusting(&authority.pem()).run().await.assert_success();
}

#[tokio::test]
async fn plain_server_fails_the_handshake() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(""));
    let url = target.url("/").replace("http://", "https://");
    let outcome = get(url).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::TlsFailed);
    assert_eq!(target.hits(), 0);
}

#[test]
fn invalid_roots_are_rejected() {
    let refused = |pem: &str| aloft_probe::read_roots(pem.as_bytes()).unwrap_err().to_string();
    let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    insta::assert_snapshot!([refused("none"), refused(bad)].join("\n"), @"
    no certificate found; give PEM with `BEGIN CERTIFICATE`
    certificate number 1 is not a usable authority: invalid peer certificate: BadEncoding
    ");
}

#[tokio::test]
async fn certificate_that_expires_soon_is_degraded() {
    let authority = Authority::new("Test CA");
    let identity = authority.issue(&["127.0.0.1"], Validity::Valid);
    // The end of its validity, 2090-01-01.
    let end = Timestamp::from_millis(3_786_912_000_000);
    let now = end - Duration::from_hours(24 * 9 - 1);
    let target = HttpTarget::start_tls(identity, Protocol::Http1).await;
    target.on("/", ScriptedResponse::ok(""));
    let check = |days| {
        get(target.url("/"))
            .trusting(&authority.pem())
            .http(|http| http.certificate_warn_days = days)
    };
    check(0).run_at(now).await.assert_success();
    check(5).run_at(now).await.assert_success();
    let outcome = check(14).run_at(now).await;
    assert_eq!(outcome.outcome(), Outcome::Degraded);
    let why = "the certificate of `127.0.0.1` expires in 8 days, sooner than 14 days";
    assert_eq!(outcome.reasons(), [why]);
}
