//! `/` leads everybody to where they belong.

use serde_json::json;
use testkit::person::Person;
use testkit::server::{STATUS_PAGES, TestServer};

// issue 18, point 7: "`/` leads to the dashboard, the login or the only public page"
#[tokio::test]
async fn root_leads_to_dashboard_login_or_page() {
    let server = TestServer::start().await;
    let anybody = Person::new(&server);
    let new = anybody.get("/").await;
    assert!(new.status == 200 && new.text().contains("set-up link"), "{new}");
    let ada = Person::set_up(&server).await;
    assert_eq!(ada.get("/").await.location().as_deref(), Some("/w/acme"));
    assert_eq!(anybody.get("/").await.location().as_deref(), Some("/login"));
    let owner = server.caller(rules::Scope::Write);
    for (slug, expected) in [("one", "/status/one"), ("two", "/login")] {
        let page = json!({ "statusPage": { "title": slug, "slug": slug } });
        let page = owner.call(STATUS_PAGES, "CreateStatusPage", page).await.json();
        let publish = json!({ "id": page["statusPage"]["id"] });
        let reply = owner.call(STATUS_PAGES, "PublishStatusPage", publish).await;
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(anybody.get("/").await.location().as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn programs_get_a_list_of_addresses() {
    let server = TestServer::start().await;
    let reply = server.caller(rules::Scope::Read).get("/").await;
    assert_eq!(reply.headers["content-type"], "text/plain; charset=utf-8");
    let text = reply.text().replace(&server.address().to_string(), "[address]");
    insta::assert_snapshot!(text, @r"
    Aloft: uptime monitoring from many regions, with alerts that arrive and status pages that stay up.

    Dashboard       http://[address]/login
    Documentation   http://[address]/docs (all pages, in Markdown: http://[address]/docs/llms.txt)
    Who am I        http://[address]/v1/whoami
    Calls           POST http://[address]/rpc/monitor.v1.MonitorService/ListMonitors
    OpenAPI         http://[address]/openapi.json
    Health          http://[address]/healthz, http://[address]/readyz, http://[address]/metrics
    ");
}
