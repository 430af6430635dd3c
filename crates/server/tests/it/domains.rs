//! Custom domains: acceptance, the page served at a domain, and certificates from a real ACME
//! server.

mod certificates;
mod front;
mod limited;
mod pointing;

use std::net::SocketAddr;
use std::time::Duration;

use http::Request;
use http_body_util::Full;
use rules::{RecordKind, Scope};
use serde_json::{Value, json};
use server::config::{AcmeSettings, ChallengeChoice, PageHost, Settings, TlsSettings};
use testkit::acme::AcmeServer;
use testkit::server::{Caller, Reply, STATUS_PAGES, TestServer};
use testkit::target::DnsTarget;

/// Custom domain of most pages in these tests.
const DOMAIN: &str = "status.acme.test";
/// Host that custom domains must point to.
const HOST: &str = "pages.aloft.test";

/// Configures the server to use this name server and [`HOST`], which resolves to 127.0.0.1.
fn asks(dns: &DnsTarget, settings: &mut Settings) {
    dns.address_of(HOST, "127.0.0.1");
    settings.nameservers = vec![dns.address()];
    let name = rules::DomainName::parse(HOST).unwrap();
    settings.domains.hosts = vec![PageHost::Name(name)];
    settings.domains.are_hosts_named = true;
}

/// Adds the TXT record that proves ownership. [`TestServer::ownership`] returns its value.
fn owns(dns: &DnsTarget, domain: &str, ownership: &str) {
    let name = rules::DomainName::parse(domain).unwrap();
    dns.record(&format!("_aloft.{name}"), RecordKind::Txt, ownership);
}

/// Returns settings for certificates from this ACME server by this challenge.
fn tls(acme: &AcmeServer, challenge: ChallengeChoice) -> TlsSettings {
    let loopback: SocketAddr = ([127, 0, 0, 1], 0).into();
    let acme = AcmeSettings {
        directory: acme.directory(),
        email: Some("ops@example.com".to_owned()),
        challenge,
    };
    TlsSettings { listen: loopback, redirect: Some(loopback), covers_own: false, acme }
}

/// Tries to create a page at `slug` with this domain.
async fn create(owner: &Caller, slug: &str, domain: &str) -> Reply {
    let page = json!({ "title": "Acme", "slug": slug, "customDomain": domain });
    owner.call(STATUS_PAGES, "CreateStatusPage", json!({ "statusPage": page })).await
}

/// Creates a page with this domain and waits until the server serves it there.
async fn a_page(dns: &DnsTarget, server: &TestServer, slug: &str, domain: &str) -> Value {
    let owner = server.caller(Scope::Write);
    owns(dns, domain, &server.ownership(slug));
    let reply = create(&owner, slug, domain).await;
    assert_eq!(reply.status, 200, "{reply}");
    let page = reply.json()["statusPage"].clone();
    // The domain table updates after the reply. The service then stops responding at this domain.
    until(async || {
        let reply = visit(server.address(), domain, "/healthz", &[]).await;
        (reply.status == 404).then_some(())
    })
    .await;
    page
}

/// Sends a plain HTTP request for `host` to this address.
async fn visit(at: SocketAddr, host: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::get(path).header("host", host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::default()).unwrap();
    Caller::at(at, None).request(request).await
}

/// Calls `look` until it returns a value.
async fn until<T>(look: impl AsyncFn() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(2), looking).await;
    found.expect("what is waited for comes")
}
