//! Acceptance of custom domains: a new domain must point to the server. An unchanged domain is not
//! looked up again.

use std::time::Duration;

use insta::assert_snapshot;
use rules::{RecordKind, Scope};
use serde_json::json;
use server::config::PageHost;
use testkit::server::{STATUS_PAGES, TestServer};
use testkit::target::{Code, DnsReply, DnsTarget};

use super::{DOMAIN, HOST, asks, create, owns, visit};

async fn a_server(dns: &DnsTarget) -> TestServer {
    TestServer::start_with(|settings| asks(dns, settings)).await
}

// spec: §2.5 "DNS must already point to the service"; issue 7: "CNAME or address of the configured
// host, with a message that says what was found and what is needed"
#[tokio::test]
async fn domain_with_matching_cname_or_address_is_accepted() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    let owner = server.caller(Scope::Write);
    dns.record(DOMAIN, RecordKind::Cname, HOST)
        .address_of("status.xn--bcher-kva.test", "127.0.0.1");
    for (slug, domain) in [("alias", DOMAIN), ("address", "Status.Bücher.test")] {
        let reply = create(&owner, slug, domain).await;
        assert_eq!(reply.status, 400, "{reply}");
        owns(&dns, domain, &server.ownership(slug));
        let reply = create(&owner, slug, domain).await;
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(reply.json()["statusPage"]["customDomain"], domain);
    }
}

#[tokio::test]
async fn domain_pointing_elsewhere_is_refused_with_details() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    let owner = server.caller(Scope::Write);
    dns.address_of("elsewhere.test", "192.0.2.9")
        .record("alias.test", RecordKind::Cname, "host.elsewhere.test")
        .address_of("host.elsewhere.test", "192.0.2.9")
        .address_of("half.test", "127.0.0.1")
        .address_of("half.test", "192.0.2.9");
    dns.reply_addresses("ill.test", &DnsReply::Code(Code::ServFail));
    let mut replies = Vec::new();
    for domain in ["elsewhere.test", "alias.test", "half.test", "nowhere.test", "ill.test"] {
        let reply = create(&owner, "acme", domain).await.to_string();
        replies.push(reply.replace(&dns.address().to_string(), "NAMESERVER"));
    }
    assert_snapshot!(replies.join("\n"), @r#"
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must point to this service in DNS already, by a CNAME to `pages.aloft.test` or the address 127.0.0.1; found the address 192.0.2.9 (given: `elsewhere.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must point to this service in DNS already, by a CNAME to `pages.aloft.test` or the address 127.0.0.1; found a CNAME to `host.elsewhere.test` with the address 192.0.2.9 (given: `alias.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must point to this service in DNS already, by a CNAME to `pages.aloft.test` or the address 127.0.0.1; found 192.0.2.9 too, which is not this service (given: `half.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must point to this service in DNS already, by a CNAME to `pages.aloft.test` or the address 127.0.0.1; found nothing: `nowhere.test` does not exist (NXDOMAIN from NAMESERVER) (given: `nowhere.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` could not be looked up: failed to look up `ill.test`: NAMESERVER responded with SERVFAIL (given: `ill.test`)"}
    "#);
}

#[tokio::test]
async fn only_a_changed_domain_is_looked_up() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    let owner = server.caller(Scope::Write);
    dns.record(DOMAIN, RecordKind::Cname, HOST);
    owns(&dns, DOMAIN, &server.ownership("acme"));
    let page = create(&owner, "acme", DOMAIN).await.json()["statusPage"].clone();
    let asked = dns.asked().len();
    let update = async |fields: serde_json::Value| {
        let mut change = json!({ "id": page["id"] });
        let names: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        change.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let request = json!({ "statusPage": change, "updateMask": names.join(",") });
        owner.call(STATUS_PAGES, "UpdateStatusPage", request).await
    };
    for fields in [json!({ "title": "Other" }), json!({ "customDomain": "STATUS.Acme.test." })] {
        assert_eq!(update(fields).await.status, 200);
    }
    assert_eq!(dns.asked().len(), asked, "nothing was looked up");
    assert_eq!(update(json!({ "customDomain": "nowhere.test" })).await.status, 400);
    assert!(dns.asked().len() > asked);
    let stored =
        owner.call(STATUS_PAGES, "GetStatusPage", json!({ "id": page["id"] })).await.json();
    assert_eq!(stored["statusPage"]["customDomain"], "STATUS.Acme.test.");
    assert_eq!(stored["customDomainStatus"]["state"], "unmanaged");
}

// decision 0033: a page at a name of the service would shadow the service
#[tokio::test]
async fn service_names_are_refused_as_custom_domains() {
    let dns = DnsTarget::start().await;
    let server = TestServer::start_with(|settings| {
        asks(&dns, settings);
        settings.domains.own = Some(rules::DomainName::parse("aloft.test").unwrap());
    })
    .await;
    dns.address_of("aloft.test", "127.0.0.1");
    let owner = server.caller(Scope::Write);
    let mut replies = Vec::new();
    for domain in ["Aloft.test", "Pages.Aloft.test", "localhost"] {
        replies.push(create(&owner, "acme", domain).await.to_string());
    }
    assert_snapshot!(replies.join("\n"), @r#"
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must not be a name of this service itself (given: `Aloft.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must not be a name of this service itself (given: `Pages.Aloft.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must not be a name of this service itself (given: `localhost`)"}
    "#);
}

// issue 16: "Require `public_url` or `pages_hosts` before custom domains work"
#[tokio::test]
async fn a_server_without_names_accepts_no_domain() {
    let dns = DnsTarget::start().await;
    let mut server = a_server(&dns).await;
    let owner = server.caller(Scope::Write);
    dns.record(DOMAIN, RecordKind::Cname, HOST);
    owns(&dns, DOMAIN, &server.ownership("acme"));
    assert_eq!(create(&owner, "acme", DOMAIN).await.status, 200);
    // A domain accepted earlier no longer shadows the service.
    server = server.restart_with(Duration::ZERO, |settings| settings.domains.hosts.clear()).await;
    let reply = visit(server.address(), DOMAIN, "/healthz", &[]).await;
    assert_eq!(reply.status, 200, "{reply}");
    let refused = create(&server.caller(Scope::Write), "other", "status.localhost").await;
    assert_snapshot!(refused, @r#"400 {"code":"invalid_argument","message":"`status_page.custom_domain` needs a server that knows its own names: ask its operator to set `public_url` or `pages_hosts` (given: `status.localhost`)"}"#);
}

// issue 16: "verify ownership by a TXT record bound to the page"
#[tokio::test]
async fn domain_is_refused_without_matching_ownership_record() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    let owner = server.caller(Scope::Write);
    dns.record(DOMAIN, RecordKind::Cname, HOST);
    let missing = create(&owner, "acme", DOMAIN).await;
    owns(&dns, DOMAIN, &server.ownership("another"));
    owns(&dns, DOMAIN, &server.stranger_ownership("acme"));
    let others = create(&owner, "acme", DOMAIN).await;
    dns.reply(&format!("_aloft.{DOMAIN}"), RecordKind::Txt, DnsReply::Code(Code::ServFail));
    let silent = create(&owner, "acme", DOMAIN).await;
    let errors = format!("{missing}\n{others}\n{silent}");
    assert_snapshot!(errors.replace(&dns.address().to_string(), "NAMESERVER"), @r#"
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must be yours: add the TXT record `_aloft.status.acme.test` with the value `aloft-page=ws_1jkm03001vkdf/acme`; found none (given: `status.acme.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` must be yours: add the TXT record `_aloft.status.acme.test` with the value `aloft-page=ws_1jkm03001vkdf/acme`; found `aloft-page=ws_1jkm03001vkdf/another`, `aloft-page=ws_1jkm03003jsfm/acme` (given: `status.acme.test`)"}
    400 {"code":"invalid_argument","message":"`status_page.custom_domain` could not be verified: failed to look up `_aloft.status.acme.test`: NAMESERVER responded with SERVFAIL (given: `status.acme.test`)"}
    "#);
}

#[tokio::test]
async fn domain_with_the_server_address_is_accepted() {
    let dns = DnsTarget::start().await;
    let server = TestServer::start_with(|settings| {
        settings.nameservers = vec![dns.address()];
        settings.domains.hosts = vec![PageHost::Address("192.0.2.7".parse().unwrap())];
    })
    .await;
    let owner = server.caller(Scope::Write);
    dns.address_of("status.test", "192.0.2.7").address_of("other.test", "192.0.2.8");
    owns(&dns, "status.test", &server.ownership("here"));
    assert_eq!(create(&owner, "here", "status.test").await.status, 200);
    assert_eq!(create(&owner, "there", "other.test").await.status, 400);
}
