//! The first minutes of a new user: from `aloft serve` in an empty folder to a test alert, in a
//! browser.

use testkit::browser::{Browser, Tab, View};
use testkit::person::PASSWORD;
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::process::{Home, PATIENCE, Server};

/// Steps that a newcomer may need: each is a page that is opened or a form that is sent.
const STEPS_MAX: usize = 4;
const PHONE: View = View { width: 390, height: 844, ..View::PHONE };

/// A newcomer's browser, which counts steps.
struct Newcomer {
    tab: Tab,
    steps: usize,
}

impl Newcomer {
    async fn open(&mut self, path: &str) {
        self.steps += 1;
        assert_eq!(self.tab.visit(path).await, 200, "{path}");
    }

    /// Fills in the form of the page and sends it with its main button.
    async fn send(&mut self, fields: &[(&str, &str)]) {
        self.steps += 1;
        for (id, value) in fields {
            self.tab.fill(&format!("#{id}"), value).await;
        }
        self.tab.click("main form button.primary").await;
    }
}

/// Returns the path of the set-up link that a server printed.
pub(crate) fn setup_path(server: &Server) -> String {
    let lines = std::iter::from_fn(|| server.out.recv_timeout(PATIENCE).ok());
    let link = lines.map(|line| line.trim().to_owned()).find(|line| line.starts_with("http"));
    let link = link.expect("a new server prints its set-up link");
    let origin = format!("http://{}", server.address);
    link.strip_prefix(&origin).expect("the link leads to the server").to_owned()
}

async fn begin(view: View) {
    let site = HttpTarget::start().await;
    site.on("/", ScriptedResponse::ok("fine")).on("/hook", ScriptedResponse::status(204));
    let home = Home::new();
    let server = home.serve();
    let browser = Browser::start().await;
    let tab = browser.open(&format!("http://{}", server.address), view, None).await;
    let mut newcomer = Newcomer { tab, steps: 0 };

    newcomer.open(&setup_path(&server)).await;
    newcomer
        .send(&[
            ("name", "Ada"),
            ("email", "ada@example.com"),
            ("password", PASSWORD),
            ("workspace", "Acme"),
        ])
        .await;
    newcomer.send(&[("url", &site.url("/")), ("alerts", &site.url("/hook"))]).await;

    assert!(newcomer.steps <= STEPS_MAX, "{} steps", newcomer.steps);
    let messages: Vec<_> =
        site.received().into_iter().filter(|it| it.header("webhook-signature").is_some()).collect();
    assert_eq!(messages.len(), 1, "the test alert arrived");
    let shown = newcomer.tab.text("document.querySelector('main').innerText").await;
    assert!(shown.contains("The receiver accepted the test alert: 204"), "{shown}");
    let path = newcomer.tab.text("location.pathname").await;
    assert!(path.starts_with("/w/acme/monitors/mon_"), "{path}");
    assert_eq!(newcomer.tab.errors().await, Vec::<String>::new());
    newcomer.tab.close().await;
}

// issue 18, targets: "At most four browser steps from `aloft serve` in an empty folder to a test alert
// in a webhook"
#[tokio::test(flavor = "multi_thread")]
async fn four_steps_lead_to_a_test_alert() {
    begin(View::DESKTOP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn four_steps_suffice_on_a_phone_without_scripts() {
    begin(PHONE.without_scripts()).await;
}
