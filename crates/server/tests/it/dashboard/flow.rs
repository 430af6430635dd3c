//! The main flow as a person goes through it: the set-up link, a key for programs, a monitor that
//! breaks, alerts, is acknowledged, recovers and is reported. On a desktop and a phone, with and without
//! scripts.

use testkit::browser::{Browser, Tab, View};
use testkit::person::PASSWORD;
use testkit::server::{Caller, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::{PERIOD, until};

const PHONE: View = View { width: 390, height: 844, ..View::PHONE };
/// Width of windows in which the navigation is behind a button, in CSS pixels.
const DRAWER_BELOW: u32 = 800;

/// A server, a site that it checks, and a browser.
struct Flow {
    server: TestServer,
    /// The site at `/` and the receiver of alerts at `/hook`.
    site: HttpTarget,
    view: View,
    tab: Tab,
    _browser: Browser,
}

impl Flow {
    async fn start(view: View) -> Self {
        let (server, site) = (TestServer::start().await, HttpTarget::start().await);
        site.on("/", ScriptedResponse::ok("fine")).on("/hook", ScriptedResponse::status(204));
        let browser = Browser::start().await;
        let tab = browser.open(&format!("http://{}", server.address()), view, None).await;
        Self { server, site, view, tab, _browser: browser }
    }

    /// Opens a section with the navigation.
    async fn go(&self, section: &str) {
        if self.view.width < DRAWER_BELOW {
            self.tab.click("#drawer").await;
        }
        self.tab.click(&format!(".side-nav a[href='/w/acme{section}']")).await;
    }

    async fn fill(&self, fields: &[(&str, &str)]) {
        for (name, value) in fields {
            self.tab.fill(&format!("main [name='{name}']"), value).await;
        }
    }

    async fn heading(&self) -> String {
        self.tab.text("document.querySelector('h1').innerText").await
    }

    async fn shown(&self) -> String {
        self.tab.text("document.querySelector('main').innerText").await
    }

    /// Returns the number of alerts that arrived.
    fn alerts(&self) -> usize {
        let received = self.site.received();
        received.iter().filter(|it| it.header("webhook-signature").is_some()).count()
    }

    /// Waits for this number of alerts.
    async fn alerted(&self, count: usize) {
        until(async || (self.alerts() >= count).then_some(())).await;
    }

    /// Creates the owner with the set-up link.
    async fn set_up(&self) {
        let link = self.server.running().setup_link().await.unwrap().unwrap();
        let path = link.expose().split_once("/setup/").unwrap().1;
        self.tab.visit(&format!("/setup/{path}")).await;
        let owner = [
            ("name", "Ada"),
            ("email", "ada@example.com"),
            ("password", PASSWORD),
            ("workspace", "Acme"),
        ];
        self.fill(&owner).await;
        self.tab.click("main button.primary").await;
        assert_eq!(self.heading().await, "Watch your first site");
        self.tab.click("main form a.button").await;
        assert_eq!(self.heading().await, "Welcome to Acme");
    }

    /// Issues a key, with which a program signs in.
    async fn issue_key(&self) {
        self.go("/settings").await;
        self.tab.click("main a[href$='/settings/keys']").await;
        self.fill(&[("name", "ci")]).await;
        self.tab.click("main button.primary").await;
        let key = self.tab.text("document.querySelector('#the-key').textContent").await;
        let program = Caller::at(self.server.address(), Some(key));
        let answer = program.get("/v1/whoami").await;
        assert_eq!(answer.status, 200, "{answer}");
    }

    /// Creates a monitor of one region without retries, and a channel for it.
    async fn create(&self) {
        self.go("/monitors").await;
        self.tab.click("main a[href$='/monitors/new']").await;
        self.fill(&[("url", &self.site.url("/")), ("name", "Shop")]).await;
        self.tab.click("details.section:has([name='retry']) > summary").await;
        self.fill(&[("retry", "0")]).await;
        self.tab.click("details.section:has([name='regions']) > summary").await;
        self.tab.click("[name='region_choice'][value='chosen']").await;
        self.tab.click("[name='regions'][value='fly-ams']").await;
        self.tab.click("#monitor-form button.primary").await;
        assert_eq!(self.heading().await, "Shop");
        self.go("/channels").await;
        self.tab.click("main a[href$='kind=webhook']").await;
        self.fill(&[("webhook.endpoint", &self.site.url("/hook")), ("name", "Ops")]).await;
        self.tab.click("button[value='create_and_test']").await;
        assert_eq!(self.alerts(), 1, "the test alert");
    }

    /// Lets the site fail until its alert arrives, and acknowledges the incident.
    async fn break_and_acknowledge(&self) {
        self.site.on("/", ScriptedResponse::status(503));
        self.server.advance(PERIOD * 2);
        self.alerted(2).await;
        self.go("").await;
        assert_eq!(self.heading().await, "1 monitor is down");
        let home = self.shown().await;
        assert!(home.contains("Shop") && home.contains("503"), "{home}");
        self.tab.click("form[action$='/acknowledge'] button").await;
        self.go("/incidents").await;
        self.tab.click("main .list a").await;
        let incident = self.shown().await;
        assert!(incident.contains("Ada acknowledged the incident."), "{incident}");
    }

    /// Lets the site recover, and finds the outage in the incident and in the report.
    async fn recover_and_report(&self) {
        self.site.on("/", ScriptedResponse::ok("fine"));
        self.server.advance(PERIOD * 2);
        self.alerted(3).await;
        self.go("").await;
        assert_eq!(self.heading().await, "Everything is up");
        self.go("/uptime").await;
        let incidents = self.tab.text("document.querySelector('[data-label=Incidents]').innerText");
        assert_eq!(incidents.await.trim(), "1", "{}", self.shown().await);
    }
}

/// Goes through the whole flow.
async fn main_flow(view: View) {
    let flow = Flow::start(view).await;
    flow.set_up().await;
    flow.issue_key().await;
    flow.create().await;
    flow.break_and_acknowledge().await;
    flow.recover_and_report().await;
    assert_eq!(flow.tab.errors().await, Vec::<String>::new());
}

// issue 18, tests: "Real Chromium for each flow, phone and desktop: set-up link, issued key accepted by
// `/v1/whoami`, monitor created, broken, alerted, acknowledged, recovered, reported; the main flows
// also without scripts"
#[tokio::test]
async fn main_flow_works_on_a_desktop() {
    main_flow(View::DESKTOP).await;
}

#[tokio::test]
async fn main_flow_works_on_a_phone() {
    main_flow(PHONE).await;
}

#[tokio::test]
async fn main_flow_works_without_scripts() {
    main_flow(View::DESKTOP.without_scripts()).await;
}

#[tokio::test]
async fn main_flow_works_on_a_phone_without_scripts() {
    main_flow(PHONE.without_scripts()).await;
}
