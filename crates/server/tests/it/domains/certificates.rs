//! Certificates of custom domains from Pebble: both challenges, renewal, restarts, retries after
//! failures, and removal with the page.

use std::time::Duration;

use http::Request;
use http_body_util::Full;
use rules::{RecordKind, Scope};
use serde_json::{Value, json};
use server::config::{ChallengeChoice, Settings};
use testkit::acme::{AcmeBehaviour, AcmeServer};
use testkit::server::{Caller, STATUS_PAGES, TestServer};
use testkit::target::DnsTarget;
use testkit::tls::TlsCaller;

use super::{DOMAIN, HOST, a_page, asks, create, owns, tls, until, visit};

/// Duration that exceeds the pause after the first failed attempt.
const PAUSE: Duration = Duration::from_mins(6);
const DAY: Duration = Duration::from_hours(24);

/// A server that requests certificates, with its ACME server and name server.
struct Site {
    dns: DnsTarget,
    acme: AcmeServer,
    server: TestServer,
}

impl Site {
    async fn start(challenge: ChallengeChoice) -> Self {
        Self::start_with(challenge, AcmeBehaviour::default(), |_| {}).await
    }

    async fn start_with(
        challenge: ChallengeChoice,
        manners: AcmeBehaviour,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let dns = DnsTarget::start().await;
        dns.record(DOMAIN, RecordKind::Cname, HOST);
        let acme = AcmeServer::start_with(dns.address(), manners).await;
        let server = TestServer::start_with(|settings| {
            asks(&dns, settings);
            settings.extra_ca_file = Some(acme.authority_file());
            settings.domains.tls = Some(tls(&acme, challenge));
            change(settings);
        })
        .await;
        let site = Self { dns, acme, server };
        site.lead();
        site
    }

    /// Points the ACME server to the addresses of the server.
    fn lead(&self) {
        let running = self.server.running();
        self.acme.set_targets(running.redirecting_address(), running.tls_address());
    }

    /// Returns the domain status of a page.
    async fn status(&self, page: &Value) -> Value {
        let owner = self.server.caller(Scope::Read);
        let reply = owner.call(STATUS_PAGES, "GetStatusPage", json!({ "id": page["id"] })).await;
        reply.json()["customDomainStatus"].clone()
    }

    /// Waits until the domain of a page has this state.
    async fn becomes(&self, page: &Value, state: &str) -> Value {
        until(async || {
            let status = self.status(page).await;
            (status["state"] == state).then_some(status)
        })
        .await
    }

    /// Returns a TLS client that trusts the roots of Pebble.
    async fn visitor(&self, protocols: &[&str]) -> TlsCaller {
        TlsCaller::new(self.acme.roots().await, protocols)
    }

    fn tls(&self) -> std::net::SocketAddr {
        self.server.running().tls_address().unwrap()
    }
}

// issue 7: "certificates by ACME (HTTP-01 and TLS-ALPN-01) …, tested against a real ACME server process"
#[tokio::test]
async fn domain_gets_a_certificate_by_either_challenge() {
    for challenge in [ChallengeChoice::Http, ChallengeChoice::TlsAlpn] {
        let site = Site::start(challenge).await;
        let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
        let status = site.becomes(&page, "active").await;
        assert_eq!((&status["domain"], &status["reason"]), (&json!(DOMAIN), &Value::Null));
        assert!(status["expiresAt"].is_string(), "{status}");
        for protocols in [&["h2", "http/1.1"][..], &["http/1.1"]] {
            let visitor = site.visitor(protocols).await;
            let reply = visitor.get(site.tls(), DOMAIN, "/status.json").await.unwrap();
            assert_eq!(reply.status, 200, "{reply}");
            assert_eq!(reply.headers["strict-transport-security"], "max-age=86400");
            assert_eq!(visitor.get(site.tls(), DOMAIN, "/healthz").await.unwrap().status, 404);
        }
        let (http, tls) = site.acme.validations();
        assert_eq!(
            (http > 0, tls > 0),
            (challenge == ChallengeChoice::Http, challenge == ChallengeChoice::TlsAlpn)
        );
    }
}

#[tokio::test]
async fn challenge_falls_back_to_http() {
    let site = Site::start(ChallengeChoice::Any).await;
    site.acme.set_targets(site.server.running().redirecting_address(), None);
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let (http, tls) = site.acme.validations();
    assert!(http > 0 && tls > 0);
}

#[tokio::test]
async fn http_redirects_to_tls_with_certificate() {
    let site = Site::start(ChallengeChoice::Http).await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let clear = [site.server.address(), site.server.running().redirecting_address().unwrap()];
    for address in clear {
        let reply = visit(address, DOMAIN, "/history?month=1", &[]).await;
        assert_eq!(reply.status, 308, "{reply}");
        assert_eq!(reply.headers["location"], format!("https://{DOMAIN}/history?month=1"));
        assert!(!reply.headers.contains_key("strict-transport-security"));
    }
    // The public listener serves nothing else.
    assert_eq!(visit(clear[1], "127.0.0.1", "/healthz", &[]).await.status, 404);
    assert_eq!(visit(clear[0], "127.0.0.1", "/healthz", &[]).await.status, 200);
}

// issue 7: "or behind a trusted proxy"
#[tokio::test]
async fn trusted_proxy_is_not_redirected() {
    let trusted = |settings: &mut Settings| {
        settings.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    };
    let site = Site::start_with(ChallengeChoice::Http, AcmeBehaviour::default(), trusted).await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let forwarded = [("x-forwarded-host", DOMAIN), ("x-forwarded-proto", "https")];
    for headers in [&forwarded[..], &[]] {
        let host = if headers.is_empty() { DOMAIN } else { "inner" };
        let reply = visit(site.server.address(), host, "/status.json", headers).await;
        assert_eq!(reply.status, 200, "{host}: {reply}");
    }
}

#[tokio::test]
async fn handshake_fails_for_names_without_a_certificate() {
    let site = Site::start(ChallengeChoice::Http).await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let visitor = site.visitor(&["http/1.1"]).await;
    assert!(visitor.connect(site.tls(), "other.test").await.is_err());
    // Without a pending challenge, the ACME handshake fails.
    let looking = site.visitor(&["acme-tls/1"]).await;
    assert!(looking.connect(site.tls(), DOMAIN).await.is_err());
}

// issue 7: "stored, renewed certificates"
#[tokio::test]
async fn certificate_survives_restart_and_is_renewed_in_time() {
    let mut site = Site::start(ChallengeChoice::TlsAlpn).await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let visitor = site.visitor(&["http/1.1"]).await;
    let first = visitor.certificate(site.tls(), DOMAIN).await.unwrap();
    // The server needs no ACME server until the renewal.
    site.acme.set_targets(None, None);
    site.server = site.server.restart(DAY).await;
    assert_eq!(visitor.certificate(site.tls(), DOMAIN).await.unwrap(), first);
    site.lead();
    site.server.advance(58 * DAY);
    assert_eq!(visitor.certificate(site.tls(), DOMAIN).await.unwrap(), first);
    site.server.advance(2 * DAY);
    until(async || {
        let now = visitor.certificate(site.tls(), DOMAIN).await.unwrap();
        (now != first).then_some(())
    })
    .await;
    assert_eq!(site.status(&page).await["state"], "active");
}

// issue 7: a name that no longer points to the server
#[tokio::test]
async fn failed_order_is_reported_and_retried() {
    let site = Site::start(ChallengeChoice::Http).await;
    site.acme.set_targets(None, None);
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    let failed = site.becomes(&page, "failed").await;
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.starts_with("the ACME server says: "), "{reason}");
    assert_eq!(failed["nextAttemptAt"], "2026-11-21T00:05:00Z");
    // Without a certificate, the server serves the page over HTTP.
    let redirecting = site.server.running().redirecting_address().unwrap();
    for address in [site.server.address(), redirecting] {
        assert_eq!(visit(address, DOMAIN, "/", &[]).await.status, 200);
    }
    // The public listener accepts no password in plain text.
    let unlock = Request::post("/unlock").header("host", DOMAIN).body(Full::default()).unwrap();
    let reply = Caller::at(redirecting, None).request(unlock).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.headers["retry-after"]),
        (503, &"30".parse().unwrap())
    );
    site.lead();
    site.server.advance(PAUSE);
    site.becomes(&page, "active").await;
}

#[tokio::test]
async fn domain_pointing_elsewhere_gets_no_validation() {
    let site = Site::start(ChallengeChoice::Http).await;
    site.dns.address_of("moving.test", "127.0.0.1");
    site.acme.set_targets(None, None);
    let page = a_page(&site.dns, &site.server, "moving", "moving.test").await;
    site.becomes(&page, "failed").await;
    let looked = site.acme.validations();
    site.dns.reply_addresses("moving.test", &testkit::target::DnsReply::Records(vec![]));
    site.lead();
    site.server.advance(PAUSE);
    until(async || {
        let status = site.status(&page).await;
        let reason = status["reason"].as_str().unwrap_or_default();
        reason.contains("`moving.test`").then_some(())
    })
    .await;
    assert_eq!(site.acme.validations(), looked);
}

#[tokio::test]
async fn rejected_name_does_not_block_others() {
    let manners = AcmeBehaviour { bad_nonces: 15, rejected_name: "refused.test" };
    let site = Site::start_with(ChallengeChoice::Http, manners, |_| {}).await;
    site.dns.address_of("refused.test", "127.0.0.1");
    let refused = a_page(&site.dns, &site.server, "refused", "refused.test").await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    let status = site.becomes(&refused, "failed").await;
    assert!(status["reason"].as_str().unwrap().contains("rejectedIdentifier"), "{status}");
    site.becomes(&page, "active").await;
}

// issue 7: a kill between order and certificate
#[tokio::test]
async fn interrupted_certificate_order_is_retried_after_pause() {
    let mut site = Site::start(ChallengeChoice::Http).await;
    let silence = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    site.acme.set_targets(Some(silence.local_addr().unwrap()), None);
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.acme.wait_for_output("Attempting to validate w/ HTTP").await;
    site.server = site.server.restart(Duration::ZERO).await;
    site.lead();
    assert_eq!(site.status(&page).await["state"], "pending");
    site.server.advance(PAUSE);
    site.becomes(&page, "active").await;
}

#[tokio::test]
async fn the_certificate_goes_with_the_page() {
    let site = Site::start(ChallengeChoice::Http).await;
    let page = a_page(&site.dns, &site.server, "acme", DOMAIN).await;
    site.becomes(&page, "active").await;
    let visitor = site.visitor(&["http/1.1"]).await;
    let owner = site.server.caller(Scope::Write);
    owner.call(STATUS_PAGES, "DeleteStatusPage", json!({ "id": page["id"] })).await;
    until(async || visitor.connect(site.tls(), DOMAIN).await.is_err().then_some(())).await;
    let store = &site.server.running().app().store;
    until(async || store.certificates().all().await.unwrap().is_empty().then_some(())).await;
    // Another page may use the domain, with a new certificate.
    owns(&site.dns, DOMAIN, &site.server.stranger_ownership("theirs"));
    let theirs = create(&site.server.stranger(), "theirs", DOMAIN).await;
    assert_eq!(theirs.status, 200, "{theirs}");
    until(async || visitor.connect(site.tls(), DOMAIN).await.is_ok().then_some(())).await;
}

#[tokio::test]
async fn service_gets_a_certificate_for_its_own_name() {
    let dns = DnsTarget::start().await;
    let acme = AcmeServer::start(dns.address()).await;
    let server = TestServer::start_with(|settings| {
        asks(&dns, settings);
        settings.extra_ca_file = Some(acme.authority_file());
        settings.domains.own = Some(rules::DomainName::parse(HOST).unwrap());
        let mut tls = tls(&acme, ChallengeChoice::TlsAlpn);
        tls.covers_own = true;
        settings.domains.tls = Some(tls);
    })
    .await;
    let running = server.running();
    acme.set_targets(running.redirecting_address(), running.tls_address());
    let visitor = TlsCaller::new(acme.roots().await, &["h2"]);
    let address = running.tls_address().unwrap();
    let reply = until(async || visitor.get(address, HOST, "/healthz").await.ok()).await;
    assert_eq!(reply.status, 200);
    let sent = visit(running.redirecting_address().unwrap(), HOST, "/a?b", &[]).await;
    assert_eq!(
        (sent.status.as_u16(), &sent.headers["location"]),
        (308, &format!("https://{HOST}/a?b").parse().unwrap())
    );
}
