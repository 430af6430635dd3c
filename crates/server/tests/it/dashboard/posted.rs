//! Every screen that is the answer to a form: with errors, with a result, with a secret that is shown
//! once. axe-core finds no violation in light and dark, nothing overflows, and no script fails.

use std::collections::BTreeSet;

use dashboard::{Access, RouteRule};
use http::Method;
use serde_json::json;
use testkit::browser::{Browser, Tab, View};
use testkit::person::{PASSWORD, Person};
use testkit::server::TestServer;

use super::account::with_mail;
use super::authenticator::enrol_person;
use super::sample::{Sample, add_person};
use super::settings::between;
use crate::screen::{commit_picture, fits, take_picture};

const PHONE: View = View { width: 390, height: 844, ..View::PHONE };
const LONG: &str = "aVeryLongWordWithoutAnyPlaceToBreakItThatSomebodyPastedIntoAFieldByMistake";

/// Answer to a form: the name of its picture, the route with a query, the fields, and the status.
type PostedScreen = (&'static str, &'static str, &'static [(&'static str, &'static str)], u16);

/// Answers to signed-in people. `{…}` in fields are values of the sample.
const INSIDE: &[PostedScreen] = &[
    ("account-name", "/account/name", &[("name", "")], 422),
    ("account-email", "/account/email", &[("email", LONG), ("password", "wrong password")], 422),
    ("account-email-used", "/account/email/{token}", &[], 410),
    ("account-password", "/account/password", &[("current", PASSWORD), ("password", "short")], 422),
    (
        "authenticator",
        "/account/authenticator",
        &[("enrolment", "{enrolment}"), ("code", "000000")],
        422,
    ),
    ("authenticator-remove", "/account/authenticator/remove", &[("password", "wrong")], 422),
    ("recovery-codes", "/account/recovery-codes", &[("password", PASSWORD)], 200),
    ("device-unknown", "/login/device", &[("code", "BCDF-GHJK")], 422),
    ("workspace-new", "/workspaces/new", &[("name", " ")], 422),
    ("start", "/w/{workspace}/start", &[("url", LONG)], 422),
    (
        "bulk-delete",
        "/w/{workspace}/monitors/bulk",
        &[("action", "delete"), ("monitor", "{monitor}")],
        200,
    ),
    (
        "bulk-undo",
        "/w/{workspace}/monitors/bulk",
        &[("action", "add_tag"), ("new_tag", "shop"), ("monitor", "{monitor}")],
        200,
    ),
    ("monitor-new", "/w/{workspace}/monitors/new", &[("url", LONG), ("timeout", "-1")], 422),
    (
        "monitor-test",
        "/w/{workspace}/monitors/test?kind=http",
        &[("url", "{target}"), ("name", "Draft"), ("periodicity", "1m")],
        200,
    ),
    ("monitor-edit", "/w/{workspace}/monitors/{monitor}/edit", &[("name", ""), ("url", LONG)], 422),
    (
        "monitor-conflict",
        "/w/{workspace}/monitors/{monitor}/edit",
        &[("name", "Mine"), ("url", "{target}"), ("periodicity", "1m"), ("revision", "1")],
        409,
    ),
    ("incident-comment", "/w/{workspace}/incidents/{incident}/comment", &[("text", " ")], 422),
    (
        "write-up",
        "/w/{workspace}/incidents/{incident}/write-up",
        &[("action", "publish"), ("text", "We fixed it."), ("page", ""), ("title", "")],
        422,
    ),
    ("report-new", "/w/{workspace}/status-reports/new", &[("page_id", "{page}")], 422),
    ("report-title", "/w/{workspace}/status-reports/{report}/title", &[("title", " ")], 422),
    ("report-add", "/w/{workspace}/status-reports/{report}/updates", &[("text", "")], 422),
    (
        "report-update",
        "/w/{workspace}/status-reports/{report}/updates/{update}/edit",
        &[("text", ""), ("status", "solved")],
        422,
    ),
    ("template-new", "/w/{workspace}/status-reports/templates/new", &[("name", "")], 422),
    ("template", "/w/{workspace}/status-reports/templates/{template}/edit", &[("name", "")], 422),
    (
        "maintenance-new",
        "/w/{workspace}/maintenance/new",
        &[("title", ""), ("duration", "soon"), ("recurrence", "FREQ=NEVER")],
        422,
    ),
    (
        "maintenance-edit",
        "/w/{workspace}/maintenance/{maintenance}/edit",
        &[("title", ""), ("duration", "soon")],
        422,
    ),
    ("channel-new", "/w/{workspace}/channels/new?kind=slack", &[("action", "create")], 422),
    (
        "channel-tested",
        "/w/{workspace}/channels/new?kind=webhook",
        &[("webhook.endpoint", "{target}"), ("name", "Ops"), ("action", "test")],
        200,
    ),
    ("channel-edit", "/w/{workspace}/channels/{channel}/edit", &[("webhook.endpoint", LONG)], 422),
    ("channel-test", "/w/{workspace}/channels/{channel}/test", &[], 200),
    ("channel-signing", "/w/{workspace}/channels/signing", &[("overlap_hours", "24")], 200),
    ("page-new", "/w/{workspace}/pages/new", &[("title", ""), ("slug", "Not a slug")], 422),
    ("page-edit", "/w/{workspace}/pages/{page}/edit", &[("title", ""), ("contact_url", LONG)], 422),
    ("page-component-new", "/w/{workspace}/pages/{page}/components/new", &[("name", "")], 422),
    (
        "page-component",
        "/w/{workspace}/pages/{page}/components/{component}",
        &[("name", "{too_long}")],
        422,
    ),
    ("page-group-new", "/w/{workspace}/pages/{page}/groups/new", &[("name", "")], 422),
    ("page-group", "/w/{workspace}/pages/{page}/groups/{group}", &[("name", "")], 422),
    ("page-domain", "/w/{workspace}/pages/{page}/domain", &[("domain", LONG)], 422),
    ("page-subscribers", "/w/{workspace}/pages/{page}/subscribers", &[("email", LONG)], 422),
    ("settings", "/w/{workspace}/settings", &[("name", ""), ("slug", "Not a slug")], 422),
    (
        "key",
        "/w/{workspace}/settings/keys",
        &[("name", "terraform"), ("scope", "write"), ("days", "0")],
        200,
    ),
    (
        "key-unnamed",
        "/w/{workspace}/settings/keys",
        &[("name", ""), ("scope", "write"), ("days", "0")],
        422,
    ),
    (
        "invited",
        "/w/{workspace}/settings/invitations",
        &[("email", "new@acme.example"), ("role", "viewer")],
        200,
    ),
    (
        "invitation-refused",
        "/w/{workspace}/settings/invitations",
        &[("email", LONG), ("role", "viewer")],
        422,
    ),
    ("probe-nowhere", "/w/{workspace}/probes", &[("name", LONG)], 422),
    ("probe-new", "/w/{workspace}/probes", &[("name", "bombay"), ("regions", "fly-bom")], 200),
    ("probe-rotated", "/w/{workspace}/probes/{probe}/rotate", &[], 200),
];

/// Forms of people who are not signed in. `check_outside` fills them in.
const OUTSIDE: &[&str] = &[
    "/setup/{token}",
    "/login",
    "/login/code",
    "/forgot",
    "/reset/{token}",
    "/invite/{token}/account",
];

/// Forms that always lead to a screen of `screens`, perhaps with a notice, and requests of scripts.
const WITHOUT_SCREEN: &[&str] = &[
    "/logout",
    "/login/passkey",
    "/login/passkey/options",
    "/account/passkeys",
    "/account/passkeys/options",
    "/account/passkeys/{passkey}/name",
    "/account/passkeys/{passkey}/remove",
    "/account/sessions/end-others",
    "/account/sessions/{session}/end",
    "/invite/{token}",
    "/w/{workspace}/channels/{channel}/delete",
    "/w/{workspace}/channels/{channel}/deliveries/{delivery}/replay",
    "/w/{workspace}/channels/{channel}/monitors",
    "/w/{workspace}/incidents/{incident}/acknowledge",
    "/w/{workspace}/incidents/{incident}/resolve",
    "/w/{workspace}/maintenance/components",
    "/w/{workspace}/maintenance/monitors",
    "/w/{workspace}/maintenance/preview",
    "/w/{workspace}/maintenance/{maintenance}/delete",
    "/w/{workspace}/maintenance/{maintenance}/end",
    "/w/{workspace}/monitors/undo",
    "/w/{workspace}/monitors/{monitor}/check",
    "/w/{workspace}/monitors/{monitor}/delete",
    "/w/{workspace}/monitors/{monitor}/pause",
    "/w/{workspace}/monitors/{monitor}/resume",
    "/w/{workspace}/pages/{page}/components/{component}/delete",
    "/w/{workspace}/pages/{page}/delete",
    "/w/{workspace}/pages/{page}/groups/{group}/delete",
    "/w/{workspace}/pages/{page}/indexing",
    "/w/{workspace}/pages/{page}/monitors",
    "/w/{workspace}/pages/{page}/order",
    "/w/{workspace}/pages/{page}/preview",
    "/w/{workspace}/pages/{page}/publication",
    "/w/{workspace}/pages/{page}/subscribers/{subscriber}/remove",
    "/w/{workspace}/pages/{page}/theme",
    "/w/{workspace}/probes/{probe}/delete",
    "/w/{workspace}/settings/delete",
    "/w/{workspace}/settings/invitations/{invitation}/revoke",
    "/w/{workspace}/settings/keys/{key}/revoke",
    "/w/{workspace}/settings/members/{user}/remove",
    "/w/{workspace}/settings/members/{user}/role",
    "/w/{workspace}/settings/restore",
    "/w/{workspace}/status-reports/templates/{template}/delete",
    "/w/{workspace}/status-reports/{report}/delete",
    "/w/{workspace}/status-reports/{report}/updates/{update}/delete",
    "/w/{workspace}/uptime/summary",
];

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
