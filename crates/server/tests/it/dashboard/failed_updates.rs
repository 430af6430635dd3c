//! Updates of parts of a page that fail, and what the browser says about them.

use rules::Scope;
use serde_json::json;
use testkit::browser::{Browser, Tab, View};
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

/// Text of the newest failure.
const FAILURE: &str = "document.querySelector('.toast.failed')?.textContent ?? ''";
/// Shortens the timers of toasts.
const FAST_TOASTS: &str = "{ const wait = window.setTimeout; \
    window.setTimeout = (run, millis, ...rest) => wait(run, millis >= 8000 ? 200 : millis, ...rest); }";

/// A workspace with monitors, and a browser in which Ada is signed in.
struct Open {
    server: TestServer,
    ada: Person,
    browser: Browser,
}

impl Open {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let ada = Person::set_up(&server).await;
        for name in ["API", "Shop"] {
            let monitor =
                json!({ "name": name, "url": "https://example.com", "periodicity": "1m" });
            let caller = server.caller(Scope::Write);
            let made = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
            assert_eq!(made.status, 200, "{made}");
        }
        Self { server, ada, browser: Browser::start().await }
    }

    async fn tab(&self, path: &str) -> Tab {
        let origin = format!("http://{}", self.server.address());
        let cookie = format!("aloft_session={}", self.ada.cookie("aloft_session").unwrap());
        let tab = self.browser.open(&origin, View::DESKTOP, Some(&cookie)).await;
        assert_eq!(tab.visit(path).await, 200, "{path}");
        tab
    }

    async fn sign_out(&self) {
        assert_eq!(self.ada.post("/logout", &[]).await.status, 303);
    }

    /// Creates a status page with components and returns its path.
    async fn page(&self) -> String {
        let page = self.ada.post("/w/acme/pages/new", &[("title", "Acme")]).await;
        let page = page.location().unwrap();
        for name in ["a", "b"] {
            self.ada.post(&format!("{page}/components/new"), &[("name", name)]).await;
        }
        page
    }
}

#[tokio::test]
async fn refused_tick_is_taken_back() {
    let open = Open::new().await;
    let fields =
        [("webhook.endpoint", "https://example.com/hook"), ("name", "Ops"), ("action", "create")];
    let channel = open.ada.post("/w/acme/channels/new?kind=webhook", &fields).await;
    let tab = open.tab(&format!("{}/monitors", channel.location().unwrap())).await;
    open.sign_out().await;
    let ticked = "document.querySelector('.choices input[type=checkbox]').checked";
    let before = tab.evaluate(ticked).await;
    tab.evaluate("document.querySelector('.choices input[type=checkbox]').click()").await;
    tab.until(&format!("({FAILURE}).includes('You are signed out')")).await;
    assert_eq!(tab.evaluate(ticked).await, before);
}

#[tokio::test]
async fn refused_order_is_taken_back() {
    let open = Open::new().await;
    let tab = open.tab(&open.page().await).await;
    open.sign_out().await;
    let names =
        "[...document.querySelectorAll('.order .order-name')].map((it) => it.innerText).join(' ')";
    let before = tab.text(names).await;
    tab.drag("[data-order] > li:last-child > .order-row", "[data-order] > li > .order-row").await;
    tab.until(&format!("({FAILURE}).includes('You are signed out')")).await;
    assert_eq!(tab.text(names).await, before);
}

#[tokio::test]
async fn search_after_the_session_keeps_the_list() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme/monitors").await;
    open.sign_out().await;
    tab.fill("#q", "shop").await;
    tab.until(&format!("({FAILURE}).includes('You are signed out')")).await;
    assert_eq!(tab.text("document.querySelectorAll('tbody tr').length").await, "2");
}

#[tokio::test]
async fn lost_server_is_reported() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme/monitors").await;
    open.server.stop().await;
    tab.fill("#q", "shop").await;
    tab.until(&format!("({FAILURE}).includes('The server does not answer')")).await;
}

// The dialog was removed with the page that had it.
#[tokio::test]
async fn palette_opens_after_going_back() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme/monitors").await;
    tab.press("Control+k").await;
    tab.until("document.querySelector('.palette[open]')").await;
    tab.press("Escape").await;
    tab.fill("#q", "shop").await;
    tab.until("location.search === '?q=shop'").await;
    tab.evaluate("history.back()").await;
    tab.until("location.search === '' && document.readyState === 'complete'").await;
    tab.until("document.querySelectorAll('tbody tr').length === 2").await;
    tab.until("!document.querySelector('.palette')").await;
    tab.evaluate("document.querySelector('[data-palette]').click()").await;
    tab.until("document.querySelector('.palette[open]')").await;
    assert_eq!(tab.errors().await, [""; 0]);
}

#[tokio::test]
async fn undo_and_refusals_outlast_other_notices() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme").await;
    tab.prepare(FAST_TOASTS).await;
    tab.visit("/w/acme/monitors").await;
    tab.evaluate("document.querySelector('[name=monitor]').click()").await;
    tab.click("[name=action][value=resume]").await;
    tab.until("document.querySelector('form.toast')").await;
    // The account is not updated live, which would take the notice.
    tab.visit("/account").await;
    tab.evaluate(
        "fetch('/w/acme/monitors/bulk', { method: 'POST', redirect: 'manual', \
        body: new URLSearchParams({ action: 'pause' }) })",
    )
    .await;
    tab.visit("/w/acme/monitors").await;
    tab.until("document.querySelector('p.toast.refusal')").await;
    assert_eq!(
        tab.text("document.querySelector('p.toast').textContent").await,
        "No monitor was selected."
    );
    tab.evaluate("new Promise((done) => setTimeout(done, 8000))").await;
    tab.until("document.querySelector('p.toast.refusal') && document.querySelector('form.toast')")
        .await;
    // An ordinary notice goes.
    tab.visit("/account").await;
    tab.click("form[action='/account/name'] button").await;
    tab.until("document.readyState === 'complete'").await;
    tab.until("!document.querySelector('p.toast')").await;
}

#[tokio::test]
async fn palette_works_on_the_account() {
    let open = Open::new().await;
    let tab = open.tab("/account").await;
    tab.press("Control+k").await;
    tab.until("document.querySelector('.palette[open] .hits')").await;
}

// The answer to the first tick replaced the list, and the second tick was lost.
#[tokio::test]
async fn two_fast_ticks_are_both_stored() {
    let open = Open::new().await;
    let fields =
        [("webhook.endpoint", "https://example.com/hook"), ("name", "Ops"), ("action", "create")];
    let channel = open.ada.post("/w/acme/channels/new?kind=webhook", &fields).await;
    let path = format!("{}/monitors", channel.location().unwrap());
    let tab = open.tab(&path).await;
    let boxes = "[...document.querySelectorAll('.choices input[type=checkbox]')]";
    let ticked = format!("{boxes}.map((it) => it.checked).join(' ')");
    let before = tab.text(&ticked).await;
    tab.evaluate(&format!("{boxes}.forEach((it) => it.click())")).await;
    let count = if before == "true true" { "0" } else { "2" };
    let shown = "document.querySelector('#chosen-count').textContent";
    tab.until(&format!("{shown} === '{count}'")).await;
    let after = tab.text(&ticked).await;
    assert_ne!(after, before);
    tab.visit(&path).await;
    assert_eq!(tab.text(&ticked).await, after);
    assert_eq!(tab.errors().await, [""; 0]);
}

#[tokio::test]
async fn two_failed_ticks_are_both_taken_back() {
    let open = Open::new().await;
    let fields =
        [("webhook.endpoint", "https://example.com/hook"), ("name", "Ops"), ("action", "create")];
    let channel = open.ada.post("/w/acme/channels/new?kind=webhook", &fields).await;
    let tab = open.tab(&format!("{}/monitors", channel.location().unwrap())).await;
    open.sign_out().await;
    let boxes = "[...document.querySelectorAll('.choices input[type=checkbox]')]";
    let ticked = format!("{boxes}.map((it) => it.checked).join(' ')");
    let before = tab.text(&ticked).await;
    tab.evaluate(&format!("{boxes}.forEach((it) => it.click())")).await;
    tab.until(&format!("({FAILURE}).includes('You are signed out')")).await;
    tab.until(&format!("{ticked} === '{before}'")).await;
}

// The path of the change cannot be loaded again, so the page was not live, and a reload posted it again.
#[tokio::test]
async fn refused_tag_leaves_the_address_of_the_list() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme/monitors?q=shop").await;
    tab.evaluate("document.querySelector('[name=monitor]').click()").await;
    tab.fill("#new-tag", "a,b").await;
    tab.click("[name=action][value=add_tag]").await;
    tab.until("document.querySelector('#new-tag-error')").await;
    assert_eq!(tab.text("location.pathname + location.search").await, "/w/acme/monitors?q=shop");
}

#[tokio::test]
async fn form_survives_the_end_of_its_session() {
    let open = Open::new().await;
    let tab = open.tab("/w/acme/pages/new").await;
    tab.fill("[name=title]", "Status of <Acme> & friends").await;
    open.sign_out().await;
    tab.click("main button.primary").await;
    tab.until("document.querySelector('main').innerText.includes('You are signed out')").await;
    let fields = json!({ "email": "ada@example.com", "password": PASSWORD });
    let form = format!("new URLSearchParams({fields})");
    tab.evaluate(&format!("fetch('/login', {{ method: 'POST', body: {form} }}).then(() => 0)"))
        .await;
    tab.click("main button.primary").await;
    tab.until("location.pathname.startsWith('/w/acme/pages/')").await;
    tab.until("document.querySelector('h1').textContent.includes('Status of <Acme> & friends')")
        .await;
}
