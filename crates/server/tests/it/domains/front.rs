//! Requests to a custom domain: the server serves the page at the root, with the same access
//! control as elsewhere, and nothing else.

use rules::{RecordKind, Scope};
use serde_json::json;
use testkit::server::{STATUS_PAGES, TestServer};
use testkit::target::DnsTarget;

use super::{DOMAIN, HOST, a_page, asks, create, owns, until, visit};
use crate::heartbeats;

async fn a_server(dns: &DnsTarget) -> TestServer {
    dns.record(DOMAIN, RecordKind::Cname, HOST);
    TestServer::start_with(|settings| asks(dns, settings)).await
}

// issue 7: "at `/status/{slug}` and at the page's `custom_domain`"
#[tokio::test]
async fn domain_root_serves_the_page_without_the_service() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    a_page(&dns, &server, "acme", DOMAIN).await;
    for path in ["/", "/status.json", "/feed.atom", "/badge.svg"] {
        let reply = visit(server.address(), "Status.Acme.test:8080", path, &[]).await;
        assert_eq!(reply.status, 200, "{path}: {reply}");
    }
    for path in ["/rpc/x", "/v1/whoami", "/metrics", "/healthz", "/status/acme", "/readyz"] {
        let reply = visit(server.address(), DOMAIN, path, &[]).await;
        assert_eq!(reply.status, 404, "{path}: {reply}");
    }
    // The service still responds at all other hosts.
    for host in [HOST, "unknown.test", "127.0.0.1"] {
        assert_eq!(visit(server.address(), host, "/healthz", &[]).await.status, 200);
        assert_eq!(visit(server.address(), host, "/status/acme", &[]).await.status, 200);
    }
}

#[tokio::test]
async fn page_domain_receives_no_heartbeats() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    a_page(&dns, &server, "acme", DOMAIN).await;
    let monitor = heartbeats::monitor(&server, json!({})).await;
    let path = heartbeats::path(&monitor, "");
    assert_eq!(visit(server.address(), DOMAIN, &path, &[]).await.status, 404);
    assert_eq!(visit(server.address(), HOST, &path, &[]).await.status, 200);
}

#[tokio::test]
async fn unknown_path_of_page_domain_is_localized() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    a_page(&dns, &server, "acme", DOMAIN).await;
    for method in [http::Method::GET, http::Method::POST, http::Method::DELETE] {
        let request = http::Request::builder().method(&method).uri("/nonsense");
        let request = request.header("host", DOMAIN).header("accept-language", "de");
        let request = request.body(http_body_util::Full::from("a=b")).unwrap();
        let reply = server.nobody().request(request).await;
        let body = String::from_utf8_lossy(&reply.body);
        assert_eq!(reply.status, 404, "{method}");
        assert!(body.contains("Seite nicht gefunden"), "{method}: {body}");
    }
}

#[tokio::test]
async fn page_domain_rejects_method_calls() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    a_page(&dns, &server, "acme", DOMAIN).await;
    let owner = server.caller(Scope::Write);
    for path in ["/rpc/monitor.v1.MonitorService/ListMonitors", "/v1/api-key/key_1"] {
        let request = http::Request::post(path)
            .header("host", DOMAIN)
            .header("content-type", "application/json")
            .body(http_body_util::Full::from("{}"))
            .unwrap();
        assert_eq!(owner.request(request).await.status, 404, "{path}");
    }
}

// issue 7: "One gate before HTML, JSON, feeds, badges, images, SSE, and the custom domain alike: a test
// walks all routes × access types"
#[tokio::test]
async fn access_check_protects_every_form_on_page_domain() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    let page = a_page(&dns, &server, "acme", DOMAIN).await;
    let owner = server.caller(Scope::Write);
    for (access, expected) in [
        (json!({ "accessType": "password", "password": "hunter2" }), 401),
        (json!({ "accessType": "email-domain", "authEmailDomains": ["acme.test"] }), 403),
    ] {
        let mut change = json!({ "id": page["id"] });
        change.as_object_mut().unwrap().extend(access.as_object().unwrap().clone());
        let mask = "accessType,password,authEmailDomains";
        let request = json!({ "statusPage": change, "updateMask": mask });
        let reply = owner.call(STATUS_PAGES, "UpdateStatusPage", request).await;
        assert_eq!(reply.status, 200, "{reply}");
        // `visitors::access` tests the paths with parameters.
        let whole = |path: &&str| !path.contains('{') && *path != "/live.js";
        for path in pages::page_paths().filter(whole) {
            let path = if path.is_empty() { "/" } else { path };
            let reply = visit(server.address(), DOMAIN, path, &[]).await;
            assert_eq!(reply.status, expected, "{path}: {reply}");
        }
    }
}

// issue 7: changes apply "within a second"; here they apply immediately
#[tokio::test]
async fn domain_follows_page_changes_unpublishing_and_deletion() {
    let dns = DnsTarget::start().await;
    let server = a_server(&dns).await;
    dns.record("other.test", RecordKind::Cname, HOST);
    let page = a_page(&dns, &server, "acme", DOMAIN).await;
    let owner = server.caller(Scope::Write);
    let id = json!({ "id": page["id"] });
    let status = async |host: &str| visit(server.address(), host, "/healthz", &[]).await.status;
    assert_eq!(status(DOMAIN).await, 404);
    owner.call(STATUS_PAGES, "UnpublishStatusPage", id.clone()).await;
    until(async || (visit(server.address(), DOMAIN, "/", &[]).await.status == 404).then_some(()))
        .await;
    assert_eq!(status(DOMAIN).await, 404, "a hidden page keeps its domain to itself");
    owns(&dns, "other.test", &server.ownership("acme"));
    let change = json!({ "id": page["id"], "customDomain": "other.test" });
    let request = json!({ "statusPage": change, "updateMask": "customDomain" });
    assert_eq!(owner.call(STATUS_PAGES, "UpdateStatusPage", request).await.status, 200);
    until(async || (status(DOMAIN).await == 200).then_some(())).await;
    assert_eq!(status("other.test").await, 404);
    owner.call(STATUS_PAGES, "DeleteStatusPage", id).await;
    until(async || (status("other.test").await == 200).then_some(())).await;
    // The TXT record of the deleted page proves ownership for no other page.
    let stolen = create(&server.stranger(), "acme", "other.test").await;
    assert_eq!(stolen.status, 400, "{stolen}");
    owns(&dns, "other.test", &server.stranger_ownership("theirs"));
    let again = create(&server.stranger(), "theirs", "other.test").await;
    assert_eq!(again.status, 200, "{again}");
}

// issue 7: "or behind a trusted proxy"
#[tokio::test]
async fn forwarded_host_counts_only_from_a_trusted_proxy() {
    let dns = DnsTarget::start().await;
    dns.record(DOMAIN, RecordKind::Cname, HOST);
    let forwarded = [("x-forwarded-host", DOMAIN), ("x-forwarded-proto", "https")];
    for (trusted, expected) in [("127.0.0.0/8", 200), ("10.0.0.0/8", 404)] {
        let server = TestServer::start_with(|settings| {
            asks(&dns, settings);
            settings.trusted_proxies = vec![trusted.parse().unwrap()];
        })
        .await;
        a_page(&dns, &server, "acme", DOMAIN).await;
        let reply = visit(server.address(), "inner", "/status.json", &forwarded).await;
        assert_eq!(reply.status, expected, "{trusted}: {reply}");
    }
}
