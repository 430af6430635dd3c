//! Status pages are created, arranged, previewed, published and deleted, with domain and subscribers.

use rules::Scope;
use serde_json::{Value, json};
use testkit::browser::{Browser, Tab, View};
use testkit::person::Person;
use testkit::server::{STATUS_PAGES, TestServer};

use crate::pipeline::until;

const NOTHING: [String; 0] = [];

/// Creates a page and returns its path.
async fn a_page(ada: &Person, title: &str) -> String {
    let created = ada.post("/w/acme/pages/new", &[("title", title)]).await;
    assert_eq!(created.status, 303, "{created}");
    created.location().unwrap()
}

async fn a_monitor(server: &TestServer, name: &str) -> String {
    let monitor = json!({ "name": name, "url": "https://example.com", "periodicity": "1m" });
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    created.json()["monitor"]["id"].as_str().unwrap().to_owned()
}

async fn a_component(ada: &Person, page: &str, name: &str, group: Option<&str>) {
    let fields = [("name", name), ("group_id", group.unwrap_or_default())];
    let added = ada.post(&format!("{page}/components/new"), &fields).await;
    assert_eq!(added.location().as_deref(), Some(page), "{added}");
}

/// Creates a group and returns its ID.
async fn a_group(server: &TestServer, ada: &Person, page: &str, name: &str) -> String {
    let added = ada.post(&format!("{page}/groups/new"), &[("name", name)]).await;
    assert_eq!(added.location().as_deref(), Some(page), "{added}");
    let listed = call(server, "ListComponentGroups", json!({ "pageId": id_of(page) })).await;
    listed["componentGroups"][0]["id"].as_str().unwrap().to_owned()
}

fn id_of(page: &str) -> &str {
    page.rsplit('/').next().unwrap()
}

async fn call(server: &TestServer, method: &str, request: Value) -> Value {
    server.caller(Scope::Write).call(STATUS_PAGES, method, request).await.json()
}

/// Returns the names of the components as visitors see them, each with its ID.
async fn components(server: &TestServer, page: &str) -> Vec<(String, String)> {
    let found = call(server, "GetStatusPageOverview", json!({ "id": id_of(page) })).await;
    let all = found["overview"]["components"].as_array().unwrap();
    let text = |it: &Value, field: &str| it[field].as_str().unwrap().to_owned();
    all.iter().map(|it| (text(it, "name"), text(it, "id"))).collect()
}

/// Posts a layout as the browser does after a drag.
async fn post_layout(ada: &Person, page: &str, layout: &[String]) {
    let fields: Vec<(&str, &str)> = layout.iter().map(|it| ("entry", it.as_str())).collect();
    let reply = ada.post(&format!("{page}/order"), &fields).await;
    assert_eq!(reply.location().as_deref(), Some(page), "{reply}");
}

/// Returns the names in their order.
async fn order(server: &TestServer, page: &str) -> String {
    let all = components(server, page).await;
    all.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn title_is_enough_for_a_page() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let invalid = ada.post("/w/acme/pages/new", &[("title", ""), ("slug", "A B")]).await;
    let text = invalid.text();
    assert_eq!(invalid.status, 422);
    assert!(text.contains("id=\"title-error\"") && text.contains("value=\"A B\""), "{text}");

    let page = a_page(&ada, "Acme Status").await;
    let [shop, api] = [a_monitor(&server, "Shop").await, a_monitor(&server, "API").await];
    let list = ada.get(&format!("{page}/monitors?q=shop")).await.text();
    assert!(list.contains(&shop) && !list.contains(&api), "{list}");
    let added =
        ada.post(&format!("{page}/monitors"), &[("monitor", &shop), ("monitor", &api)]).await;
    assert_eq!(added.location().as_deref(), Some(page.as_str()), "{added}");
    let left = ada.get(&format!("{page}/monitors")).await.text();
    assert!(!left.contains(&shop) && !left.contains(&api), "{left}");
    let visitor = ada.get("/status/acme-status").await;
    assert!(visitor.status == 200 && visitor.text().contains("Shop"), "{visitor}");
    assert!(ada.get("/w/acme/pages").await.text().contains("/status/acme-status"));
}

#[tokio::test]
async fn refused_monitor_of_many_is_counted() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let shop = a_monitor(&server, "Shop").await;
    let path = format!("{page}/monitors");
    let fields = [("monitor", shop.as_str()), ("monitor", "mon_unknown")];
    let added = ada.post(&path, &fields).await;
    assert_eq!(added.location().as_deref(), Some(path.as_str()), "{added}");
    let list = ada.get(&path).await.text();
    assert!(list.contains("1 of 2 monitors were added. "), "{list}");
    assert!(list.contains("class=\"toast refusal\""), "{list}");
    assert_eq!(order(&server, &page).await, "Shop");
}

// issue 18, point 5: "order components and groups by drag and by keyboard"
#[tokio::test]
async fn buttons_and_layouts_order_the_page() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    for name in ["a", "b"] {
        a_component(&ada, &page, name, None).await;
    }
    let group = a_group(&server, &ada, &page, "Group").await;
    for name in ["c", "d"] {
        a_component(&ada, &page, name, Some(&group)).await;
    }
    let all = components(&server, &page).await;
    let id = |name: &str| all.iter().find(|(known, _)| known == name).unwrap().1.clone();
    let inside = |name: &str| format!("{group}/{}", id(name));
    post_layout(&ada, &page, &[id("a"), id("b"), group.clone(), inside("c"), inside("d")]).await;
    assert_eq!(order(&server, &page).await, "a b c d");
    for (step, expected) in [
        (format!("{}:down", id("a")), "b a c d"),
        (format!("{group}:up"), "b c d a"),
        (format!("{}:up", id("d")), "b d c a"),
        (format!("{}:up", id("b")), "b d c a"),
    ] {
        let moved = ada.post(&format!("{page}/order"), &[("move", &step)]).await;
        let (moved_id, direction) = step.rsplit_once(':').unwrap();
        let button = format!("{page}#{direction}-{moved_id}");
        assert_eq!(moved.location(), Some(button), "{moved}");
        assert_eq!(order(&server, &page).await, expected, "{step}");
    }
    let layout = [id("d"), group.clone(), inside("b"), id("a"), id("c")];
    post_layout(&ada, &page, &layout).await;
    assert_eq!(order(&server, &page).await, "d b a c");
    // A layout of a page that changed meanwhile moves nothing.
    post_layout(&ada, &page, &layout[1..]).await;
    assert_eq!(order(&server, &page).await, "d b a c");
}

// issue 18, point 5: "live preview"
#[tokio::test]
async fn hidden_page_is_previewed_by_members_only() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    a_component(&ada, &page, "Warehouse", None).await;
    ada.post(&format!("{page}/publication"), &[("published", "false")]).await;
    assert_eq!(ada.get("/status/acme").await.status, 404);
    ada.post(&format!("{page}/theme"), &[("theme", "dark")]).await;
    let preview = ada.get(&format!("{page}/preview")).await;
    let (text, policy) = (preview.text(), preview.headers["content-security-policy"].clone());
    assert!(text.contains("Warehouse") && text.contains("data-theme=\"dark\""), "{text}");
    assert!(!text.contains("<script") && text.contains("<base target=\"_blank\">"), "{text}");
    assert!(policy.to_str().unwrap().contains("frame-ancestors 'self'"), "{policy:?}");
    assert_eq!(preview.headers["x-frame-options"], "SAMEORIGIN");
    assert_eq!(preview.headers["cache-control"], "private, no-store");

    let other = json!({ "statusPage": { "title": "Other", "slug": "other" } });
    let created = server.stranger().call(STATUS_PAGES, "CreateStatusPage", other).await;
    let other = created.json()["statusPage"]["id"].as_str().unwrap().to_owned();
    for path in ["", "/preview", "/edit", "/domain", "/subscribers", "/monitors"] {
        assert_eq!(ada.get(&format!("/w/acme/pages/{other}{path}")).await.status, 404, "{path}");
    }
    ada.post(&format!("{page}/publication"), &[("published", "true")]).await;
    assert_eq!(ada.get("/status/acme").await.status, 200);
}

#[tokio::test]
async fn settings_and_access_of_a_page_are_edited() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let edit = [("title", "Acme Shop"), ("slug", "acme"), ("access_type", "password")];
    let missing = ada.post(&format!("{page}/edit"), &edit).await;
    assert!(missing.status == 422 && missing.text().contains("password-error"), "{missing}");
    let with_password: Vec<_> = edit.into_iter().chain([("password", "open sesame")]).collect();
    let saved = ada.post(&format!("{page}/edit"), &with_password).await;
    assert_eq!(saved.location().as_deref(), Some(page.as_str()), "{saved}");
    assert_eq!(ada.get("/status/acme").await.status, 401);
    ada.post(&format!("{page}/theme"), &[("theme", "dark")]).await;
    ada.post(&format!("{page}/indexing"), &[("allow", "false")]).await;
    let stored = call(&server, "GetStatusPage", json!({ "id": id_of(&page) })).await;
    let stored = &stored["statusPage"];
    assert_eq!(
        [&stored["title"], &stored["theme"], &stored["allowIndexing"]],
        [&json!("Acme Shop"), &json!("dark"), &json!(false)]
    );
    ada.post(&format!("{page}/delete"), &[]).await;
    assert_eq!(ada.get(&page).await.status, 404);
}

#[tokio::test]
async fn groups_and_components_are_renamed_and_removed() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let group = a_group(&server, &ada, &page, "Shop").await;
    a_component(&ada, &page, "Warehouse", Some(&group)).await;
    let component = components(&server, &page).await[0].1.clone();
    let path = format!("{page}/components/{component}");
    assert!(ada.get(&path).await.text().contains("value=\"Warehouse\""));
    ada.post(&path, &[("name", "Depot"), ("description", "In Bremen"), ("group_id", &group)]).await;
    ada.post(&format!("{page}/groups/{group}"), &[("name", "Logistics")]).await;
    let shown = ada.get(&page).await.text();
    assert!(shown.contains("Depot") && shown.contains("In Bremen"), "{shown}");
    assert!(shown.contains("Logistics"), "{shown}");
    ada.post(&format!("{page}/groups/{group}/delete"), &[]).await;
    assert_eq!(order(&server, &page).await, "Depot");
    ada.post(&format!("{path}/delete"), &[]).await;
    assert_eq!(order(&server, &page).await, "");
}

// issue 18, point 5: "domain set-up with its checks"
#[tokio::test]
async fn domain_shows_its_records_and_their_state() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let check =
        async |domain: &str| ada.get(&format!("{page}/domain?domain={domain}")).await.text();
    let found = check("status.acme.example").await;
    assert!(found.contains("_aloft.status.acme.example") && found.contains("Use this domain"));
    assert!(found.contains("127.0.0.1") && !found.contains("Missing"), "{found}");
    let own = check("localhost").await;
    assert!(own.contains("Must not be a name of this service itself."), "{own}");
    let stored = ada.post(&format!("{page}/domain"), &[("domain", "status.acme.example")]).await;
    assert!(stored.location().is_some(), "{stored}");
    let stored = ada.get(&format!("{page}/domain")).await.text();
    assert!(stored.contains("Unmanaged") && stored.contains("Remove the domain"), "{stored}");
    ada.post(&format!("{page}/domain"), &[("domain", "")]).await;
    assert!(!ada.get(&format!("{page}/domain")).await.text().contains("status.acme.example"));
}

#[tokio::test]
async fn subscriber_is_added_and_removed() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let path = format!("{}/subscribers", a_page(&ada, "Acme").await);
    let wrong = ada.post(&path, &[("email", "nobody")]).await;
    let text = wrong.text();
    assert!(wrong.status == 422 && text.contains("id=\"email-error\""), "{text}");
    assert!(text.contains("value=\"nobody\""), "{text}");
    ada.post(&path, &[("email", "bob@example.com"), ("topics", "reports")]).await;
    let listed = ada.get(&path).await.text();
    assert!(listed.contains("bob@example.com") && listed.contains("Confirmed"), "{listed}");
    ada.post(&path, &[("email", "eve@example.com"), ("confirm", "true")]).await;
    let invited = ada.get(&format!("{path}?state=pending")).await.text();
    assert!(invited.contains("eve@example.com") && !invited.contains("bob@"), "{invited}");
    let remove = listed.split("/subscribers/").nth(1).unwrap().split('"').next().unwrap();
    ada.post(&format!("{path}/{remove}"), &[]).await;
    assert!(!ada.get(&path).await.text().contains("bob@example.com"));
}

async fn tab(server: &TestServer, ada: &Person, browser: &Browser, view: View) -> Tab {
    let origin = format!("http://{}", server.address());
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    browser.open(&origin, view, Some(&cookie)).await
}

// issue 18, point 5: "order components and groups by drag and by keyboard, live preview"
#[tokio::test]
async fn components_are_ordered_by_drag_and_by_keyboard() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    for name in ["a", "b", "c"] {
        a_component(&ada, &page, name, None).await;
    }
    let group = a_group(&server, &ada, &page, "Group").await;
    a_component(&ada, &page, "d", Some(&group)).await;
    let all = components(&server, &page).await;
    let id = |name: &str| all.iter().find(|(known, _)| known == name).unwrap().1.clone();
    let last = format!("{group}/{}", id("d"));
    post_layout(&ada, &page, &[id("a"), id("b"), id("c"), group, last]).await;
    let row = |name: &str| format!("[data-entry='{}'] > .order-row", id(name));
    let browser = Browser::start().await;
    let tab = tab(&server, &ada, &browser, View::DESKTOP).await;
    tab.visit(&page).await;
    let is_first =
        |name: &str| format!("document.querySelector('.order .order-name').innerText == '{name}'");
    // The button keeps the focus, so the next press moves the same component.
    tab.evaluate(&format!("document.getElementById('up-{}').focus()", id("c"))).await;
    for expected in ["a c b", "c a b"] {
        tab.press("Enter").await;
        let names = "[...document.querySelectorAll('.order > li > .order-row > .order-name')]";
        let shown = format!("{names}.map((it) => it.innerText).join(' ').startsWith('{expected}')");
        let focused = format!("document.activeElement.id === 'up-{}'", id("c"));
        let loaded = "document.readyState === 'complete'";
        tab.until(&format!("{loaded} && {shown} && {focused}")).await;
    }
    assert_eq!(order(&server, &page).await, "c a b d");
    tab.drag(&row("b"), &row("c")).await;
    tab.until(&is_first("b")).await;
    tab.until("!document.querySelector('.htmx-request')").await;
    assert_eq!(order(&server, &page).await, "b c a d");
    // Into the group, before its component.
    tab.drag(&row("a"), &row("d")).await;
    tab.until("document.querySelectorAll('[data-members] > li').length == 2").await;
    tab.until("!document.querySelector('.htmx-request, .dragged')").await;
    assert_eq!(order(&server, &page).await, "b c a d");
    assert_eq!(tab.errors().await, NOTHING);
}

#[tokio::test]
async fn preview_shows_texts_that_are_not_stored() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let path = format!("{page}/preview");
    let fields = [
        ("title", "New <title>"),
        ("description", "All **systems**"),
        ("contact_url", "javascript:1"),
    ];
    let posted = ada.post(&path, &fields).await;
    assert_eq!(posted.status, 200, "{posted}");
    assert_eq!(posted.headers["x-frame-options"], "SAMEORIGIN");
    let shown = ada.get(&format!("{path}?title=New+%3Ctitle%3E&description=All+**systems**")).await;
    for text in [posted.text(), shown.text()] {
        assert!(text.contains("New &#60;title&#62;") && text.contains("systems"), "{text}");
        assert!(!text.contains("javascript:") && !text.contains(">Acme<"), "{text}");
    }
    let stored = call(&server, "GetStatusPage", json!({ "id": id_of(&page) })).await;
    assert_eq!(stored["statusPage"]["title"], "Acme");
}

// issue 18, point 5: "live preview"
#[tokio::test]
async fn preview_follows_typing() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = a_page(&ada, "Acme").await;
    let browser = Browser::start().await;
    let tab = tab(&server, &ada, &browser, View::DESKTOP).await;
    tab.visit(&format!("{page}/edit")).await;
    let before = tab.evaluate("history.length").await;
    tab.fill("#title", "Typed title").await;
    tab.fill("#description", "Typed description").await;
    until(async || {
        let frames = tab.frames().await;
        let is_shown = |text: &str| frames.iter().any(|frame| frame.contains(text));
        (is_shown("Typed title") && is_shown("Typed description")).then_some(())
    })
    .await;
    assert_eq!(tab.evaluate("history.length").await, before);
    assert_eq!(tab.errors().await, NOTHING);
    let button = "getComputedStyle(document.querySelector('.without-scripts')).display";
    assert_eq!(tab.text(button).await, "none");
    tab.close().await;

    let tab = self::tab(&server, &ada, &browser, View::PHONE.without_scripts()).await;
    tab.visit(&format!("{page}/edit")).await;
    tab.fill("#title", "Other title").await;
    tab.click(".without-scripts").await;
    until(async || {
        let frames = tab.frames().await;
        frames.iter().any(|frame| frame.contains("Other title")).then_some(())
    })
    .await;
    assert!(tab.text("location.pathname").await.ends_with("/edit"));
    let stored = call(&server, "GetStatusPage", json!({ "id": id_of(&page) })).await;
    assert_eq!(stored["statusPage"]["title"], "Acme");
}
