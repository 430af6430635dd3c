//! Live updates in a real browser: open screens of a monitor, an incident, a channel and regions change
//! without a reload, and lose nothing that a person opened or is writing.

use rules::Scope;
use serde_json::json;
use testkit::browser::{Browser, Tab, View};
use testkit::server::{NOTIFICATIONS, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::trouble::Trouble;
use crate::pipeline::PERIOD;

/// Script of a page without reloads at intervals, so that only events remain.
const ONLY_EVENTS: &str = "window.setInterval = () => 0;";
/// Script that marks the document, which a reload of the page would replace.
const KEEP: &str = "window.kept = true";
/// Script that returns whether the page is loaded again in the background, as it is when the stream opens.
const IS_LIVE: &str =
    "performance.getEntriesByType('resource').some((it) => it.initiatorType === 'fetch')";

/// A workspace in trouble, and a browser.
struct Open {
    trouble: Trouble,
    browser: Browser,
}

impl Open {
    async fn new() -> Self {
        Self { trouble: Trouble::start().await, browser: Browser::start().await }
    }

    fn server(&self) -> &TestServer {
        &self.trouble.watched.server
    }

    /// Opens a screen, with whether scripts run.
    async fn tab(&self, view: View, path: &str) -> Tab {
        let cookie = self.trouble.ada.cookie("aloft_session").unwrap();
        let origin = format!("http://{}", self.server().address());
        let tab = self.browser.open(&origin, view, Some(&format!("aloft_session={cookie}"))).await;
        tab.prepare(ONLY_EVENTS).await;
        assert_eq!(tab.visit(path).await, 200, "{path}");
        tab
    }

    /// Opens a screen and waits until it is live.
    async fn live(&self, path: &str) -> Tab {
        let tab = self.tab(View::DESKTOP, path).await;
        tab.until(IS_LIVE).await;
        tab.evaluate(KEEP).await;
        tab
    }

    /// Lets the monitor recover or fail.
    fn answer(&self, status: u16) {
        self.trouble.target.on("/", ScriptedResponse::status(status));
        self.server().advance(PERIOD);
    }
}

/// Waits until the page has this text, without a reload.
async fn shows(tab: &Tab, selector: &str, text: &str) {
    let is_shown = format!(
        "window.kept && document.querySelector(\"{selector}\")?.textContent.includes('{text}')"
    );
    tab.until(&is_shown).await;
}

// issue 18, point 7: "live updates over one stream"
#[tokio::test]
async fn open_monitor_page_shows_recovery_and_outage() {
    let open = Open::new().await;
    open.answer(503);
    open.trouble.watched.stored.at_least(3, open.trouble.monitor).await;
    let path = format!("/w/acme/monitors/{}", open.trouble.monitor);
    let tab = open.live(&path).await;
    shows(&tab, ".monitor-line", "Down").await;
    tab.click("section[aria-labelledby='days'] details summary").await;
    tab.click(".actions details.menu summary").await;
    open.answer(200);
    shows(&tab, ".monitor-line", "Up").await;
    shows(&tab, "#incidents ~ table", "Closed").await;
    let opened =
        tab.evaluate("document.querySelectorAll('#live-monitor details[open]').length").await;
    assert_eq!(opened, 2, "menu and details stay open");
    open.answer(503);
    shows(&tab, ".monitor-line", "Down").await;
    shows(&tab, "dl.figures", "Not acknowledged").await;
    assert_eq!(tab.errors().await, [""; 0]);
    let streams = tab.asked().await.into_iter().filter(|it| it.contains("/events")).count();
    assert_eq!(streams, 1);
}

#[tokio::test]
async fn open_log_shows_new_checks() {
    let open = Open::new().await;
    let tab = open.live(&format!("/w/acme/monitors/{}/log", open.trouble.monitor)).await;
    let rows = "window.kept && document.querySelectorAll('.log-list tbody tr').length";
    let before = tab.evaluate(rows).await.as_u64().unwrap();
    open.answer(503);
    tab.until(&format!("{rows} > {before}")).await;
    assert_eq!(tab.errors().await, [""; 0]);
}

#[tokio::test]
async fn open_incident_keeps_the_comment_being_written() {
    let open = Open::new().await;
    let tab = open.live(&open.trouble.incident_path()).await;
    tab.fill("#text", "The disk is full.").await;
    tab.evaluate("document.activeElement.blur()").await;
    let path = format!("{}/acknowledge", open.trouble.incident_path());
    assert_eq!(open.trouble.ada.post(&path, &[]).await.status, 303);
    shows(&tab, "dl.figures", "Ada").await;
    open.answer(200);
    shows(&tab, ".titled", "Closed").await;
    let draft = tab.text("document.querySelector('#text').value").await;
    assert_eq!(draft, "The disk is full.");
    assert_eq!(tab.errors().await, [""; 0]);
}

#[tokio::test]
async fn open_channel_shows_the_outcome_of_deliveries() {
    let open = Open::new().await;
    let receiver = HttpTarget::start().await;
    receiver.on("/hook", ScriptedResponse::status(204));
    let channel = json!({ "name": "Ops", "providerType": "webhook",
        "webhook": { "endpoint": receiver.url("/hook") },
        "monitorIds": [open.trouble.monitor.to_string()] });
    let made = open
        .server()
        .caller(Scope::Write)
        .call(NOTIFICATIONS, "CreateNotification", json!({ "notification": channel }))
        .await
        .json();
    let path = format!("/w/acme/channels/{}", made["notification"]["id"].as_str().unwrap());
    let (list, channel) = (open.live("/w/acme/channels").await, open.live(&path).await);
    shows(&channel, "[aria-labelledby=log]", "Nothing was sent yet").await;
    open.answer(200);
    let (stored, monitor) = (&open.trouble.watched.stored, open.trouble.monitor);
    stored.incident(monitor, |it| it.closed.is_some()).await;
    open.answer(503);
    for tab in [&list, &channel] {
        shows(tab, "table.list .badge.up", "Accepted").await;
        assert_eq!(tab.errors().await, [""; 0]);
    }
}

#[tokio::test]
async fn open_regions_show_the_last_check() {
    let open = Open::new().await;
    let tab = open.live("/w/acme/regions").await;
    let seen = "document.querySelector('#live-regions tbody time').dateTime";
    let before = tab.text(seen).await;
    open.answer(503);
    tab.until(&format!("window.kept && {seen} !== '{before}'")).await;
    assert_eq!(tab.errors().await, [""; 0]);
}

#[tokio::test]
async fn monitor_page_without_scripts_opens_no_stream() {
    let open = Open::new().await;
    let path = format!("/w/acme/monitors/{}", open.trouble.monitor);
    let tab = open.tab(View::DESKTOP.without_scripts(), &path).await;
    let asked = tab.asked().await;
    assert!(asked.iter().any(|it| it.ends_with(&path)), "{asked:?}");
    assert!(!asked.iter().any(|it| it.contains("/events")), "{asked:?}");
    open.answer(200);
    open.trouble.watched.stored.incident(open.trouble.monitor, |it| it.closed.is_some()).await;
    let page = open.trouble.ada.get(&path).await.text();
    assert!(page.contains("Monitor recovered") || page.contains("Closed"), "{page}");
}
