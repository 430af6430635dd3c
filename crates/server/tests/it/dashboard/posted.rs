//! Every screen that is the answer to a form: with errors, with a result, with a secret that is shown
//! once. axe-core finds no violation in light and dark, nothing overflows, and no script fails.

mod forms;

use std::collections::BTreeSet;

use dashboard::{Access, RouteRule};
use http::Method;
use serde_json::json;
use testkit::browser::{Browser, Tab, View};
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

use self::forms::{INSIDE, OUTSIDE, WITHOUT_SCREEN};
use super::account::with_mail;
use super::authenticator::enrol_person;
use super::sample::{Sample, add_person};
use super::settings::between;
use crate::screen::{commit_picture, fits, take_picture};

const PHONE: View = View { width: 390, height: 844, ..View::PHONE };
const LONG: &str = "aVeryLongWordWithoutAnyPlaceToBreakItThatSomebodyPastedIntoAFieldByMistake";

/// Answer to the form of a person whose session has ended.
const SIGNED_OUT: &str = "signed-out";
/// Screens whose pictures are committed.
const PICTURES: &[&str] = &[
    "bulk-delete",
    "bulk-undo",
    "channel-tested",
    "invited",
    "key",
    "monitor-conflict",
    "monitor-new",
    "monitor-test",
    "recovery-codes",
    SIGNED_OUT,
];

/// Complaint of the browser about the status of a screen with errors.
const STATUS_COMPLAINT: &str = "Failed to load resource: the server responded with a status of 4";

/// A tab in which forms are posted, and what is wrong with their answers.
struct Checker {
    tab: Tab,
    view: View,
    wrong: Vec<String>,
}

impl Checker {
    /// Posts fields to a path from a screen, and checks the answer.
    async fn post(
        &mut self,
        from: &str,
        (name, path): (&str, &str),
        fields: &[(&str, &str)],
    ) -> u64 {
        self.tab.visit(from).await;
        let script = format!(
            "((path, fields) => {{
              const form = document.createElement('form');
              form.method = 'post';
              form.action = path;
              for (const [name, value] of fields) {{
                const field = document.createElement('input');
                field.name = name;
                field.value = value;
                form.append(field);
              }}
              const button = document.createElement('button');
              button.id = 'posted';
              form.append(button);
              document.body.prepend(form);
              window.isBefore = true;
            }})({}, {})",
            json!(path),
            json!(fields)
        );
        self.tab.evaluate(&script).await;
        self.tab.click("#posted").await;
        self.tab.until("!window.isBefore && document.readyState === 'complete'").await;
        self.check(name).await
    }

    /// Checks the visible screen and returns its status.
    async fn check(&mut self, name: &str) -> u64 {
        let picture = format!("dashboard-posted-{name}");
        if PICTURES.contains(&name) {
            commit_picture(&self.tab, &picture, self.view).await;
        } else {
            take_picture(&self.tab, &picture, self.view).await;
        }
        fits(&self.tab, name).await;
        let mut found = self.tab.audit().await;
        found.extend(
            self.tab.errors().await.into_iter().filter(|it| !it.contains(STATUS_COMPLAINT)),
        );
        self.wrong.extend(found.into_iter().map(|it| format!("{name}: {it}")));
        let status = "performance.getEntriesByType('navigation')[0].responseStatus";
        self.tab.evaluate(status).await.as_u64().unwrap()
    }

    fn expect(&mut self, name: &str, (status, expected): (u64, u16)) {
        if status != u64::from(expected) {
            self.wrong.push(format!("{name} is answered with {status}, not {expected}"));
        }
    }

    async fn end(self) {
        assert!(self.wrong.is_empty(), "{:?}: {:#?}", self.view, self.wrong);
        self.tab.close().await;
    }
}

/// Checks the answers to signed-in people.
async fn check_inside(browser: &Browser, sample: &Sample, view: View) {
    let cookie = sample.trouble.ada.cookie("aloft_session").unwrap();
    let origin = format!("http://{}", sample.server().address());
    let tab = browser.open(&origin, view, Some(&format!("aloft_session={cookie}"))).await;
    let mut checker = Checker { tab, view, wrong: Vec::new() };
    for (name, route, fields, expected) in INSIDE {
        let (path, query) = route.split_once('?').unwrap_or((route, ""));
        let path = format!("{}?{query}", sample.values.path(path));
        let fields: Vec<(&str, String)> =
            fields.iter().map(|(name, value)| (*name, sample.values.path_part(value))).collect();
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let status = checker.post("/account", (name, &path), &fields).await;
        checker.expect(name, (status, *expected));
    }
    checker.end().await;
}

/// Checks the answers to people who are not signed in.
async fn check_outside(browser: &Browser, (sample, reset): (&Sample, &str), view: View) {
    let origin = |server: &TestServer| format!("http://{}", server.address());
    let tab = browser.open(&origin(sample.server()), view, None).await;
    let mut checker = Checker { tab, view, wrong: Vec::new() };
    let ada = ("email", "ada@example.com");
    let invitation = sample.values.path("/invite/{invitation_token}/account");
    let short = [("name", ""), ("email", LONG), ("password", "short")];
    for (name, path, fields, expected) in [
        ("login", "/login", &[ada, ("password", "wrong password")][..], 401),
        ("forgot", "/forgot", &[ada][..], 200),
        ("reset", reset, &[("password", "password123")][..], 422),
        ("invitation", &invitation, &short[..], 422),
        ("login-code", "/login", &[ada, ("password", PASSWORD)][..], 200),
        ("login-code-wrong", "/login/code", &[("code", "000000")][..], 401),
    ] {
        let status = checker.post("/forgot", (name, path), fields).await;
        checker.expect(name, (status, expected));
    }
    let fields = [("title", "Status of Acme"), ("slug", LONG)];
    let status = checker.post("/forgot", (SIGNED_OUT, "/w/acme/pages/new"), &fields).await;
    checker.expect(SIGNED_OUT, (status, 401));
    checker.end().await;
    let new = TestServer::start().await;
    let link = new.running().setup_link().await.unwrap().unwrap();
    let tab = browser.open(&origin(&new), view, None).await;
    let mut checker = Checker { tab, view, wrong: Vec::new() };
    let path = link.expose().strip_prefix(&origin(&new)).unwrap();
    let fields = [&short[..], &[("workspace", "")]].concat();
    let status = checker.post(path, ("setup", path), &fields).await;
    checker.expect("setup", (status, 422));
    checker.end().await;
}

/// Checks all answers in a view.
async fn check_answers(view: View) {
    let (server, mail) = with_mail().await;
    let mut sample = Box::pin(Sample::on(server)).await;
    add_person(&sample.trouble.watched.server, "ada@example.com", &mut sample.values).await;
    let ada = &sample.trouble.ada;
    let page = ada.get("/account/authenticator").await.text();
    sample.values.set("enrolment", between(&page, "name=\"enrolment\" value=\"", "\""));
    sample.values.set("too_long", "x".repeat(300));
    sample.values.set("target", sample.trouble.target.url("/"));
    let invite = [("email", "new@example.com"), ("role", "viewer")];
    let page = ada.post("/w/acme/settings/invitations", &invite).await.text();
    sample.values.set("invitation_token", between(&page, "/invite/", "<"));
    let before = mail.taken().len();
    ada.post("/forgot", &[("email", "ada@example.com")]).await;
    let mut count = before + 1;
    let reset = loop {
        let sent = mail.takes(count).await;
        let mut links = sent.iter().skip(before).flat_map(|it| it.text.lines());
        let link = links.find_map(|it| it.strip_prefix("https://aloft.example"));
        if let Some(link) = link.filter(|it| it.starts_with("/reset/")) {
            break link.to_owned();
        }
        count += 1;
    };
    let again = Person::sign_in(sample.server(), "ada@example.com").await;
    enrol_person(sample.server(), again).await;
    let browser = Browser::start().await;
    check_inside(&browser, &sample, view).await;
    Box::pin(check_outside(&browser, (&sample, &reset), view)).await;
}

#[test]
fn every_post_is_listed() {
    // Programs get JSON.
    let is_form = |rule: &RouteRule| rule.method == Method::POST && rule.access != Access::Program;
    let posts = dashboard::route_rules().filter(is_form);
    let routes: BTreeSet<&str> = posts.map(|rule| rule.path).collect();
    let inside = INSIDE.iter().map(|(_, route, ..)| route.split('?').next().unwrap());
    let others = OUTSIDE.iter().chain(WITHOUT_SCREEN).copied();
    let listed: BTreeSet<&str> = inside.chain(others).collect();
    assert_eq!(listed, routes);
    let mut names: BTreeSet<&str> = INSIDE.iter().map(|(name, ..)| *name).collect();
    names.insert(SIGNED_OUT);
    assert!(PICTURES.iter().all(|name| names.contains(name)));
}

// issue 18, targets: "no axe violation on any screen, light or dark"
#[tokio::test]
async fn answers_on_a_phone_have_no_violations() {
    Box::pin(check_answers(PHONE)).await;
}

#[tokio::test]
async fn dark_answers_on_a_desktop_have_no_violations() {
    Box::pin(check_answers(View::DESKTOP.dark())).await;
}
