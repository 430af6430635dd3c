//! Pages in a real browser, without violations found by axe-core. Pages are complete without
//! scripts and live with them.
//!
//! The tests cover desktop and phone, light and dark, keyboard, right-to-left and print. They keep
//! screenshots in `target/tmp/pages`.

use http::StatusCode;
use serde_json::{Value, json};
use testkit::browser::{Browser, Tab, View};
use testkit::server::{INCIDENTS, MAINTENANCES};
use testkit::target::ScriptedResponse;

use super::report::opened;
use super::{Site, well};
use crate::screen::{fits, keeps_every_rule, take_picture};

/// Page with trouble of every kind, and a browser.
struct PageBrowser {
    site: Site,
    browser: Browser,
    origin: String,
    incident: String,
    report: String,
    component: String,
}

impl PageBrowser {
    async fn open() -> Self {
        let target = well().await;
        let site = Site::open(&target).await;
        site.results(1).await;
        let report = opened(&site).await["id"].as_str().unwrap().to_owned();
        let monitor = site.monitor.unwrap().to_string();
        target.on("/", ScriptedResponse::status(503));
        site.results(1).await;
        site.watched.server.advance(crate::pipeline::PERIOD);
        site.results(2).await;
        let reply = site.owner.call(INCIDENTS, "ListIncidents", json!({})).await;
        let incident = reply.json()["incidents"][0]["id"].as_str().unwrap().to_owned();
        let window = json!({
            "title": "New <disks>", "startsAt": "2026-11-23T02:00:00Z", "duration": "2h",
            "monitorIds": [monitor],
        });
        let reply = site
            .owner
            .call(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": window }))
            .await;
        assert_eq!(reply.status, 200, "{reply}");
        let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
        let component = json["sections"][0]["component"]["id"].as_str().unwrap().to_owned();
        let origin = format!("http://{}", site.watched.server.running().address());
        Self { site, browser: Browser::start().await, origin, incident, report, component }
    }

    /// Returns the path of every HTML page, each with a name for its screenshot.
    fn pages(&self) -> Vec<(&'static str, String)> {
        let at = |rest: &str| format!("/status/acme{rest}");
        vec![
            ("home", at("")),
            ("component", at(&format!("/component/{}", self.component))),
            ("day", at("/day/2026-11-21")),
            ("history", at("/history")),
            ("incident", at(&format!("/incident/{}", self.incident))),
            ("report", at(&format!("/report/{}", self.report))),
            ("widget", at("/widget")),
        ]
    }

    async fn tab(&self, view: View) -> Tab {
        self.browser.open(&self.origin, view, None).await
    }
}

// issue 7: "axe-core finds no violation, light and dark", "Tests in real Chromium …, phone and desktop
// width, with screenshots kept as test artefacts"
#[tokio::test]
async fn every_page_can_be_read_by_everybody() {
    let page_browser = PageBrowser::open().await;
    for view in [View::DESKTOP, View::PHONE, View::DESKTOP.dark(), View::PHONE.dark()] {
        let tab = page_browser.tab(view).await;
        for (name, path) in page_browser.pages() {
            assert_eq!(tab.visit(&path).await, 200, "{name}");
            assert_eq!(tab.audit().await, Vec::<String>::new(), "{name} {view:?}");
            fits(&tab, name).await;
            take_picture(&tab, name, view).await;
        }
        assert_eq!(tab.errors().await, Vec::<String>::new(), "{view:?}");
        let foreign: Vec<String> = tab.asked().await;
        assert!(foreign.iter().all(|url| url.starts_with(&page_browser.origin)), "{foreign:?}");
        tab.close().await;
    }
}

#[tokio::test]
async fn minified_style_keeps_every_rule() {
    let page_browser = PageBrowser::open().await;
    let tab = page_browser.tab(View::DESKTOP).await;
    tab.visit("/status/acme").await;
    keeps_every_rule(&tab, "pages").await;
}

#[tokio::test]
async fn login_and_not_found_pages_are_accessible() {
    let page_browser = PageBrowser::open().await;
    let members = json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] });
    let password = json!({ "accessType": "password", "password": "open sesame" });
    for (name, access, status) in [
        ("password", password, StatusCode::UNAUTHORIZED),
        ("members", members, StatusCode::FORBIDDEN),
    ] {
        page_browser.site.update(access).await;
        for view in [View::PHONE, View::DESKTOP.dark()] {
            let tab = page_browser.tab(view).await;
            assert_eq!(tab.visit("/status/acme").await, status.as_u16());
            assert_eq!(tab.audit().await, Vec::<String>::new(), "{name} {view:?}");
            take_picture(&tab, name, view).await;
            assert_eq!(tab.visit("/status/nobody").await, 404);
            assert_eq!(tab.audit().await, Vec::<String>::new(), "not there, {view:?}");
            tab.close().await;
        }
    }
}

// issue 7: "complete without JavaScript"
#[tokio::test]
async fn without_scripts_a_page_says_all_of_it() {
    let page_browser = PageBrowser::open().await;
    let view = View::PHONE.without_scripts();
    let tab = page_browser.tab(view).await;
    for (name, path) in page_browser.pages() {
        assert_eq!(tab.visit(&path).await, 200, "{name}");
        fits(&tab, name).await;
        take_picture(&tab, name, view).await;
    }
    tab.visit("/status/acme").await;
    let text = tab.text("document.body.innerText").await;
    for there in ["API & more", "Mail", "Post <stuck>", "New <disks>", "Down"] {
        assert!(text.contains(there), "{there} is not in {text}");
    }
    // A collapsed section opens and closes without scripts.
    let is_open = "document.querySelector('details').open";
    let before = tab.evaluate(is_open).await;
    tab.click("summary").await;
    assert_ne!(tab.evaluate(is_open).await, before);
    page_browser.site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    assert_eq!(tab.visit("/status/acme").await, 401);
    tab.fill("#password", "open sesame").await;
    tab.click("main button").await;
    assert!(tab.text("document.body.innerText").await.contains("API & more"));
    let url = tab.text("location.href").await;
    assert!(!url.contains("sesame"), "{url}");
}

// issue 7: "A change of verdict is on the page and on open browsers within 1 s"
#[tokio::test]
async fn open_page_updates_live() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let origin = format!("http://{}", site.watched.server.running().address());
    let browser = Browser::start().await;
    let tab = browser.open(&origin, View::DESKTOP, None).await;
    tab.visit("/status/acme").await;
    assert!(
        tab.text("document.querySelector('h1').innerText")
            .await
            .contains("All systems operational")
    );
    // The focused element keeps the focus when the page changes.
    tab.evaluate("document.querySelector('.bars a[tabindex=\"0\"]').focus()").await;
    let focused = tab.text("document.activeElement.href").await;
    let report = opened(&site).await;
    tab.until("document.querySelector('h1').innerText.includes('Mail is down')").await;
    assert!(tab.text("document.body.innerText").await.contains("Post <stuck>"), "{report}");
    assert_eq!(tab.text("document.activeElement.href").await, focused);
    assert_eq!(tab.errors().await, Vec::<String>::new());
}

// An open page kept the last status after its visitor had lost access.
#[tokio::test]
async fn open_page_reloads_after_access_is_lost() {
    let page_browser = PageBrowser::open().await;
    let tab = page_browser.tab(View::DESKTOP).await;
    tab.visit("/status/acme").await;
    tab.until("document.querySelector('.walk')").await;
    let access = json!({ "accessType": "password", "password": "open sesame" });
    page_browser.site.update(access).await;
    tab.until("document.querySelector('#password')").await;
    assert!(!tab.text("document.body.innerText").await.contains("API & more"));
}

#[tokio::test]
async fn open_page_that_cannot_update_says_so() {
    let page_browser = PageBrowser::open().await;
    let tab = page_browser.tab(View::DESKTOP).await;
    tab.visit("/status/acme").await;
    tab.until("document.querySelector('.walk')").await;
    let note = "document.querySelector('.note')?.innerText.includes('Live data is unavailable')";
    let renew = "document.dispatchEvent(new Event('visibilitychange'))";
    tab.evaluate("window.working = window.fetch; window.fetch = () => Promise.reject(1)").await;
    tab.evaluate(renew).await;
    tab.until(note).await;
    assert_eq!(tab.audit().await, Vec::<String>::new());
    tab.evaluate("window.fetch = window.working").await;
    tab.evaluate(renew).await;
    tab.until(&format!("!{note}")).await;
}

// issue 7: "keyboard-walkable bars with hover, focus and tap details"
#[tokio::test]
async fn bars_are_keyboard_navigable_and_labelled() {
    let page_browser = PageBrowser::open().await;
    let tab = page_browser.tab(View::DESKTOP).await;
    tab.visit("/status/acme").await;
    let today = "document.querySelector('.bars a[tabindex=\"0\"]')";
    tab.evaluate(&format!("{today}.focus()")).await;
    let last = tab.text("document.activeElement.href").await;
    assert!(last.ends_with("/day/2026-11-21"), "{last}");
    tab.press("ArrowLeft").await;
    let before = tab.text("document.activeElement.href").await;
    assert!(before.ends_with("/day/2026-11-20"), "{before}");
    tab.press("Home").await;
    assert_ne!(tab.text("document.activeElement.href").await, before);
    tab.press("End").await;
    assert_eq!(tab.text("document.activeElement.href").await, last);
    // One tab stop for each row: Tab moves to a bar of another component.
    let stops = "document.querySelectorAll('.bars a[tabindex=\"0\"]').length";
    let rows = "document.querySelectorAll('.bars:has(a)').length";
    assert_eq!(tab.evaluate(stops).await, tab.evaluate(rows).await);
    let titles = tab.text("document.activeElement.title").await;
    assert!(titles.contains("Nov") || titles.contains("2026"), "{titles}");
    tab.press("Enter").await;
    tab.until("location.pathname.endsWith('/day/2026-11-21')").await;
}

// issue 7: "print style, right-to-left safe"
#[tokio::test]
async fn pages_support_print_and_right_to_left_layout() {
    let page_browser = PageBrowser::open().await;
    let view = View::DESKTOP.printed();
    let paper = page_browser.tab(view).await;
    paper.visit("/status/acme").await;
    take_picture(&paper, "home", view).await;
    let shown = "[...document.querySelectorAll('footer nav, a.skip')].filter((it) => it.offsetParent).length";
    assert_eq!(paper.evaluate(shown).await, 0, "what cannot be clicked on paper is not there");
    // Paper is white even with the dark color scheme.
    let dark = page_browser.tab(view.dark()).await;
    dark.visit("/status/acme").await;
    for tab in [&paper, &dark] {
        let background = tab.text("getComputedStyle(document.body).backgroundColor").await;
        assert_eq!(background, "rgb(255, 255, 255)");
    }
    for view in [View::PHONE, View::DESKTOP] {
        let tab = page_browser.tab(view).await;
        for (name, path) in page_browser.pages() {
            tab.visit(&path).await;
            tab.evaluate("document.documentElement.dir = 'rtl'").await;
            fits(&tab, name).await;
            assert_eq!(tab.audit().await, Vec::<String>::new(), "{name} from right to left");
        }
        tab.close().await;
    }
}

// issue 7: "hover, focus and tap details", "complete without JavaScript"
#[tokio::test]
async fn tapping_a_bar_opens_its_day_without_scripts() {
    let page_browser = PageBrowser::open().await;
    let plain = page_browser.tab(View::PHONE.without_scripts()).await;
    plain.visit("/status/acme").await;
    plain.click(".bars svg a rect").await;
    plain.until("location.pathname.endsWith('/day/2026-11-21')").await;
    plain.visit(&format!("/status/acme/component/{}", page_browser.component)).await;
    plain.click("tbody a[href$='/day/2026-11-20']").await;
    plain.until("location.pathname.endsWith('/day/2026-11-20')").await;
    let tab = page_browser.tab(View::DESKTOP).await;
    tab.visit("/status/acme").await;
    // One script, because an update of the page between two would take the links away again.
    let script = "document.querySelector('.c').dispatchEvent(new PointerEvent('pointerover', { bubbles: true })), \
                  [...document.querySelector('.walk').children].filter((it) => it.title.includes(': ')).length";
    assert_eq!(tab.evaluate(script).await, 90, "each day is a link with its words");
}

// issue 16 point 28: "put Subscribe at the top"
#[tokio::test]
async fn subscribe_link_is_visible_without_scrolling() {
    let page_browser = PageBrowser::open().await;
    for view in [View::DESKTOP, View::PHONE, View::PHONE.without_scripts()] {
        let tab = page_browser.tab(view).await;
        for (name, path) in page_browser.pages().into_iter().filter(|(name, _)| *name != "widget") {
            tab.visit(&path).await;
            let link = "document.querySelector('header a.subscribe').getBoundingClientRect()";
            let main = "document.querySelector('main').getBoundingClientRect()";
            let is_above = format!("{link}.bottom <= {main}.top && {link}.bottom < innerHeight");
            assert_eq!(tab.evaluate(&is_above).await, true, "{name} {view:?}");
        }
        tab.click("header a.subscribe").await;
        tab.until("location.pathname === '/status/acme/subscribe'").await;
        tab.close().await;
    }
}

// issue 16 point 28: "show local times with UTC"
#[tokio::test]
async fn times_are_local_with_utc_beside_them() {
    let page_browser = PageBrowser::open().await;
    let path = format!("/status/acme/report/{}", page_browser.report);
    let mut titles = Vec::new();
    for (time_zone, language) in [
        ("America/New_York", "en-US"),
        ("Asia/Kolkata", "en-GB"),
        ("Europe/Berlin", "de"),
        ("UTC", "en-US"),
    ] {
        let tab = page_browser.tab(View { time_zone, language, ..View::DESKTOP }).await;
        tab.visit(&path).await;
        tab.until("document.querySelector('main time[title]')").await;
        let shown = tab.text("document.querySelector('main time[title]').textContent").await;
        let title = tab.text("document.querySelector('main time[title]').title").await;
        // Chromium puts a narrow space before AM and PM.
        titles.push(format!("{time_zone}: {shown} | {title}").replace('\u{202f}', " "));
        assert_eq!(tab.errors().await, Vec::<String>::new());
        tab.close().await;
    }
    insta::assert_snapshot!(titles.join("\n"), @"
    America/New_York: Nov 20, 2026, 7:00 PM (00:00 UTC) | 21 Nov 2026, 00:00 UTC
    Asia/Kolkata: 21 Nov 2026, 05:30 (00:00 UTC) | 21 Nov 2026, 00:00 UTC
    Europe/Berlin: 21.11.2026, 01:00 (00:00 UTC) | 21. November 2026, 00:00 UTC
    UTC: 21 Nov 2026, 00:00 UTC | 21 Nov 2026, 00:00 UTC
    ");
    let plain =
        page_browser.tab(View { time_zone: "Asia/Kolkata", ..View::PHONE.without_scripts() }).await;
    plain.visit(&path).await;
    let shown = plain.text("document.querySelector('main time').textContent").await;
    assert_eq!(shown, "21 Nov 2026, 00:00 UTC");
}

// issue 16 point 28: "fix … the wrap at 390 px and the 404 page"
#[tokio::test]
async fn missing_page_fits_a_phone() {
    let page_browser = PageBrowser::open().await;
    let phone = View { width: 390, height: 844, ..View::PHONE };
    for view in [phone, phone.without_scripts(), View::PHONE] {
        for language in ["en", "de", "fr", "es", "pt", "ja", "zh"] {
            let tab = page_browser.tab(View { language, ..view }).await;
            for path in ["/status/nobody", "/status/acme/report/rpt_0000000000001"] {
                assert_eq!(tab.visit(path).await, 404, "{path}");
                fits(&tab, &format!("{path} in {language}")).await;
                let card = "document.querySelector('main').getBoundingClientRect()";
                let is_inside = format!("{card}.left >= 0 && {card}.right <= innerWidth");
                assert_eq!(tab.evaluate(&is_inside).await, true, "{path} in {language}");
            }
            tab.close().await;
        }
    }
    let tab = page_browser.tab(phone).await;
    for (name, path) in page_browser.pages() {
        tab.visit(&path).await;
        fits(&tab, name).await;
    }
}
