//! Home, the fleet and the palette in a real browser: desktop and phone, light and dark.

use rules::Scope;
use serde_json::json;
use testkit::browser::{Browser, Tab, View};
use testkit::person::Person;
use testkit::server::MAINTENANCES;
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::{PERIOD, Watched, until};
use crate::screen::{fits, take_picture};

const VIEWS: [View; 4] = [View::DESKTOP, View::DESKTOP.dark(), View::PHONE, View::PHONE.dark()];

/// A workspace with monitors in every state, and a browser that is signed in.
struct Screen {
    watched: Watched,
    target: HttpTarget,
    browser: Browser,
    origin: String,
    cookie: String,
}

impl Screen {
    async fn open() -> Self {
        let target = HttpTarget::start().await;
        target.on("/", ScriptedResponse::status(200));
        target.on("/broken", ScriptedResponse::status(503));
        let watched = Watched::start().await;
        let server = &watched.server;
        let ada = Person::set_up(server).await;
        let caller = server.caller(Scope::Write);
        let mut ids = Vec::new();
        for (name, path, active) in [
            ("Shop", "/", true),
            ("Checkout of the shop in Europe", "/broken", true),
            ("Search", "/", true),
            ("Old warehouse", "/", false),
            ("Mail", "/", true),
        ] {
            let monitor = json!({ "name": name, "url": target.url(path), "periodicity": "30s",
                "regions": ["fly-ams"], "retry": 0, "active": active });
            let made = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
            ids.push(made["monitor"]["id"].clone());
        }
        let window = json!({ "title": "New disks", "startsAt": "2026-11-21T00:00:00Z",
            "duration": "2h", "monitorIds": [ids[4]] });
        let made =
            caller.call(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": window })).await;
        assert_eq!(made.status, 200, "{made}");
        until(async || {
            let home = ada.get("/w/acme").await.text();
            let is_judged = home.contains("1 monitor is down") && !home.contains("word unknown");
            is_judged.then_some(())
        })
        .await;
        let origin = format!("http://{}", server.address());
        let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
        Self { watched, target, browser: Browser::start().await, origin, cookie }
    }

    async fn tab(&self, view: View) -> Tab {
        self.browser.open(&self.origin, view, Some(&self.cookie)).await
    }
}

/// Checks the visible screen and takes its picture.
async fn check(tab: &Tab, name: &str, view: View) {
    take_picture(tab, name, view).await;
    fits(tab, name).await;
    assert_eq!(tab.audit().await, [""; 0], "{name} {view:?}");
    assert_eq!(tab.errors().await, [""; 0], "{name} {view:?}");
}

#[tokio::test]
async fn dialogs_are_accessible_in_every_view() {
    let screen = Screen::open().await;
    for view in VIEWS {
        let tab = screen.tab(view).await;
        assert_eq!(tab.visit("/w/acme/monitors?q=none").await, 200);
        check(&tab, "dashboard-fleet-none", view).await;
        tab.evaluate("document.querySelector('[data-palette]').click()").await;
        tab.until("document.querySelector('.palette[open] .hits')").await;
        tab.fill(".palette-input", "sh").await;
        tab.until("document.querySelector('.palette .hit-title')?.textContent.includes('hop')")
            .await;
        check(&tab, "dashboard-palette", view).await;
        tab.press("Escape").await;
        tab.until("!document.querySelector('dialog[open]')").await;
        tab.press("?").await;
        tab.until("document.querySelector('.help[open]')").await;
        check(&tab, "dashboard-keys", view).await;
        tab.close().await;
    }
}

#[tokio::test]
async fn search_as_you_type_is_in_the_url() {
    let screen = Screen::open().await;
    let tab = screen.tab(View::DESKTOP).await;
    tab.visit("/w/acme/monitors").await;
    tab.fill("#q", "shop").await;
    tab.until("document.querySelectorAll('tbody tr').length === 2").await;
    tab.until("location.search === '?q=shop'").await;
    tab.evaluate("document.querySelector('[data-check-all]').click()").await;
    tab.until("document.querySelector('.bulk-count').textContent === '2 selected'").await;
    check(&tab, "dashboard-bulk", View::DESKTOP).await;
    tab.click("[name=action][value=delete]").await;
    tab.until("document.querySelectorAll('tr.leaving').length === 2").await;
    check(&tab, "dashboard-undo", View::DESKTOP).await;
    tab.click(".undos button").await;
    tab.until("document.querySelectorAll('tr.leaving').length === 0").await;
    tab.close().await;
}

// issue 18: "live changes within 1 s", and the browser says when the connection is lost
#[tokio::test]
async fn home_changes_while_it_is_open() {
    let screen = Screen::open().await;
    let tab = screen.tab(View::DESKTOP).await;
    tab.visit("/w/acme").await;
    tab.until("document.querySelector('h1').textContent === '1 monitor is down'").await;
    screen.target.on("/", ScriptedResponse::status(500));
    screen.watched.server.advance(PERIOD);
    tab.until("document.querySelector('h1').textContent === '4 monitors are down'").await;
    screen.target.on("/", ScriptedResponse::status(200));
    screen.target.on("/broken", ScriptedResponse::status(200));
    screen.watched.server.advance(PERIOD);
    tab.until("document.querySelector('h1').textContent === 'Everything is up'").await;
    assert_eq!(tab.errors().await, [""; 0]);
    check(&tab, "dashboard-home-up", View::DESKTOP).await;
    screen.watched.server.stop().await;
    tab.until("document.querySelector('.lost')?.textContent.includes('connection is lost')").await;
    tab.close().await;
}

#[tokio::test]
async fn keys_lead_to_screens() {
    let screen = Screen::open().await;
    let tab = screen.tab(View::DESKTOP).await;
    tab.visit("/w/acme").await;
    tab.press("g").await;
    tab.press("m").await;
    tab.until("location.pathname === '/w/acme/monitors'").await;
    tab.until("document.readyState === 'complete'").await;
    tab.press("Control+k").await;
    tab.until("document.querySelector('.palette[open]')").await;
    tab.fill(".palette-input", "home").await;
    tab.until("document.querySelector('.palette .hit-title')?.textContent === 'Home'").await;
    tab.press("Enter").await;
    tab.until("location.pathname === '/w/acme'").await;
    tab.close().await;
}
