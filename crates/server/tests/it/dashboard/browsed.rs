//! Incidents, maintenance and printed reports in a real browser.

use testkit::browser::{Browser, Tab, View};

use super::trouble::Trouble;
use crate::screen::{fits, take_picture};

/// A workspace in trouble, and a browser in which Ada is signed in.
struct Open {
    trouble: Trouble,
    browser: Browser,
    origin: String,
}

impl Open {
    async fn new() -> Self {
        let trouble = Trouble::start().await;
        let origin = format!("http://{}", trouble.watched.server.running().address());
        Self { trouble, browser: Browser::start().await, origin }
    }

    async fn tab(&self, view: View) -> Tab {
        let cookie = self.trouble.ada.cookie("aloft_session").unwrap();
        let cookie = format!("aloft_session={cookie}");
        self.browser.open(&self.origin, view, Some(&cookie)).await
    }
}

#[tokio::test]
async fn incident_is_written_up_in_a_browser() {
    let open = Open::new().await;
    open.trouble.page().await;
    let tab = open.tab(View::DESKTOP).await;
    tab.visit("/w/acme/incidents").await;
    tab.click(".list a").await;
    tab.click("form[action$='/acknowledge'] button").await;
    tab.fill("#text", "The disk is full.").await;
    tab.click("form[action$='/comment'] button").await;
    tab.click("a[href$='/write-up']").await;
    let draft = tab.text("document.querySelector('#text').value").await;
    assert!(draft.contains("The disk is full.") && draft.contains("We began to work"), "{draft}");
    tab.click("button[value='publish']").await;
    let title = tab.text("document.querySelector('h1').textContent").await;
    assert_eq!(title, "local was down");
    assert_eq!(tab.errors().await, Vec::<String>::new());
}

#[tokio::test]
async fn maintenance_is_planned_in_a_browser() {
    let open = Open::new().await;
    let tab = open.tab(View::DESKTOP).await;
    tab.visit("/w/acme/maintenance").await;
    tab.click("a[href='/w/acme/maintenance/new?day=2026-11-24']").await;
    tab.fill("#title", "New disks").await;
    tab.fill("#duration", "2h").await;
    tab.fill("#recurrence", "FREQ=WEEKLY").await;
    tab.evaluate("document.querySelector('#recurrence').dispatchEvent(new Event('change', { bubbles: true }))")
        .await;
    tab.until("document.querySelectorAll('.windows li').length === 6").await;
    tab.fill("[name='monitor_search']", "loc").await;
    tab.until("document.querySelector('#options-monitors .picks')?.textContent.trim() === 'local'")
        .await;
    tab.evaluate("document.querySelector('#options-monitors input').click()").await;
    tab.click("form#maintenance button.primary").await;
    let title = tab.text("document.querySelector('h1').textContent").await;
    assert_eq!(title, "New disks");
    tab.visit("/w/acme/maintenance").await;
    let shown = tab.text("document.querySelector('.calendar .window').textContent").await;
    assert!(shown.contains("00:00–02:00") && shown.contains("New disks"), "{shown}");
    assert_eq!(tab.errors().await, Vec::<String>::new());
}

// issue 18, point 6: "printable HTML"
#[tokio::test]
async fn printed_report_has_no_violations() {
    let open = Open::new().await;
    let view = View::DESKTOP.printed();
    let tab = open.tab(view).await;
    for (name, path) in
        [("uptime", "/w/acme/uptime"), ("uptime-pages", "/w/acme/uptime?by=page&period=30d")]
    {
        assert_eq!(tab.visit(path).await, 200, "{name}");
        take_picture(&tab, name, view).await;
        assert_eq!(tab.audit().await, Vec::<String>::new(), "{name}");
        fits(&tab, name).await;
        let shown = "getComputedStyle(document.querySelector('.side')).display";
        assert_eq!(tab.text(shown).await, "none", "{name} has no navigation");
    }
}

// issue 18, point 7: "local times with UTC on hover"
#[tokio::test]
async fn times_are_local_with_utc_on_hover() {
    let open = Open::new().await;
    let view = View { time_zone: "Pacific/Kiritimati", ..View::DESKTOP };
    let tab = open.tab(view).await;
    tab.visit(&open.trouble.incident_path()).await;
    let time = "document.querySelector('dl.figures time')";
    // The clock of the server is at 2026-11-21 00:00:30 UTC. Kiritimati is 14 hours ahead.
    assert_eq!(tab.text(&format!("{time}.title")).await, "2026-11-21 00:00 UTC");
    assert_eq!(tab.text(&format!("{time}.dateTime")).await, "2026-11-21T00:00:30Z");
    let local = tab.text(&format!("{time}.textContent")).await;
    assert!(local.contains("Nov 21, 2026") && local.contains("2:00"), "{local}");
    let page = open.trouble.ada.get(&open.trouble.incident_path()).await.text();
    assert!(page.contains(">2026-11-21 00:00 UTC</time>"), "{page}");
}
