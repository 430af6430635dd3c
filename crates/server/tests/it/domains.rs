//! Custom domains: which are accepted, whose page is answered there and what else is not, and the
//! certificates of these names from a real ACME server.

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

/// The domain that most pages here have.
const DOMAIN: &str = "status.acme.test";
/// Where domains must lead.
const HOST: &str = "pages.aloft.test";

/// Lets the server ask this name server, and pages lead to [`HOST`], which is 127.0.0.1.
fn asks(dns: &DnsTarget, settings: &mut Settings) {
    dns.address_of(HOST, "127.0.0.1");
    settings.nameservers = vec![dns.address()];
    let name = rules::DomainName::parse(HOST).unwrap();
    settings.domains.hosts = vec![PageHost::Name(name)];
    settings.domains.are_hosts_named = true;
}

/// Lets the domain name a page as its owner: what [`TestServer::ownership`] says of it.
fn owns(dns: &DnsTarget, domain: &str, ownership: &str) {
    let name = rules::DomainName::parse(domain).unwrap();
    dns.record(&format!("_aloft.{name}"), RecordKind::Txt, ownership);
}

/// Certificates from this server, shown by these means.
fn tls(acme: &AcmeServer, challenge: ChallengeChoice) -> TlsSettings {
    let loopback: SocketAddr = ([127, 0, 0, 1], 0).into();
    let acme = AcmeSettings {
        directory: acme.directory(),
        email: Some("ops@example.com".to_owned()),
        challenge,
    };
    TlsSettings { listen: loopback, redirect: Some(loopback), covers_own: false, acme }
}

/// Creates a page at `slug` with this domain, however that ends.
async fn create(owner: &Caller, slug: &str, domain: &str) -> Reply {
    let page = json!({ "title": "Acme", "slug": slug, "customDomain": domain });
    owner.call(STATUS_PAGES, "CreateStatusPage", json!({ "statusPage": page })).await
}

/// A page with this domain, which leads here.
async fn a_page(dns: &DnsTarget, server: &TestServer, slug: &str, domain: &str) -> Value {
    let owner = server.caller(Scope::Write);
    owns(dns, domain, &server.ownership(slug));
    let reply = create(&owner, slug, domain).await;
    assert_eq!(reply.status, 200, "{reply}");
    let page = reply.json()["statusPage"].clone();
    // The table of domains follows the answer; from then on nothing of the service is answered there.
    until(async || {
        let reply = visit(server.address(), domain, "/healthz", &[]).await;
        (reply.status == 404).then_some(())
    })
    .await;
    page
}

/// Asks `host` at this address in the clear.
async fn visit(at: SocketAddr, host: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::get(path).header("host", host);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::default()).unwrap();
    Caller::at(at, None).request(request).await
}

/// What a look finds, as soon as it finds something.
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
