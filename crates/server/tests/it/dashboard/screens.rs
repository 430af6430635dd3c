//! Every screen of the router's list, on a desktop and a phone, in light and dark: axe-core finds no
//! violation, nothing overflows, and no script fails.
//!
//! `ALOFT_TEST_PICTURES=write` also updates the pictures in `docs/pictures/`.

use std::collections::BTreeSet;

use http::Method;
use testkit::browser::{Browser, Tab, View};
use testkit::person::PASSWORD;
use testkit::server::TestServer;

use super::device::Program;
use super::showcase::Showcase;
use crate::screen::{commit_picture, fits, take_picture};

const PHONE: View = View { width: 390, height: 844, ..View::PHONE };

/// The page of a heartbeat monitor. Its picture would have another URL each time.
const HEARTBEAT: &str = "monitor-heartbeat";

/// Screens: the name of the picture, the route, and the query. `{heartbeat}` is the `{monitor}` of a heartbeat
/// monitor.
const SCREENS: &[(&str, &str, &str)] = &[
    ("account", "/account", ""),
    ("account-email", "/account/email/{token}", ""),
    ("authenticator", "/account/authenticator", ""),
    ("workspace-new", "/workspaces/new", ""),
    ("home", "/w/{workspace}", ""),
    ("start", "/w/{workspace}/start", ""),
    ("search", "/w/{workspace}/search", "q=ch"),
    ("monitors", "/w/{workspace}/monitors", ""),
    ("monitors-by-tag", "/w/{workspace}/monitors", "group=tag"),
    ("monitor", "/w/{workspace}/monitors/{monitor}", "range=7d"),
    ("monitor-new", "/w/{workspace}/monitors/new", ""),
    ("monitor-edit", "/w/{workspace}/monitors/{monitor}/edit", ""),
    ("monitor-log", "/w/{workspace}/monitors/{monitor}/log", ""),
    ("monitor-check", "/w/{workspace}/monitors/{monitor}/log/{result}", ""),
    ("monitor-delete", "/w/{workspace}/monitors/{monitor}/delete", ""),
    (HEARTBEAT, "/w/{workspace}/monitors/{heartbeat}", ""),
    ("monitor-rotate-url", "/w/{workspace}/monitors/{heartbeat}/rotate-url", ""),
    ("monitor-terraform", "/w/{workspace}/monitors/{monitor}/terraform", ""),
    ("monitor-curl", "/w/{workspace}/monitors/{monitor}/curl", ""),
    ("incidents", "/w/{workspace}/incidents", ""),
    ("incident", "/w/{workspace}/incidents/{incident}", ""),
    ("incident-write-up", "/w/{workspace}/incidents/{incident}/write-up", ""),
    ("reports", "/w/{workspace}/status-reports", ""),
    ("report", "/w/{workspace}/status-reports/{report}", ""),
    ("report-new", "/w/{workspace}/status-reports/new", ""),
    ("report-update", "/w/{workspace}/status-reports/{report}/updates/{update}/edit", ""),
    ("templates", "/w/{workspace}/status-reports/templates", ""),
    ("template", "/w/{workspace}/status-reports/templates/{template}/edit", ""),
    ("template-new", "/w/{workspace}/status-reports/templates/new", ""),
    ("maintenance", "/w/{workspace}/maintenance", ""),
    ("maintenance-new", "/w/{workspace}/maintenance/new", ""),
    ("maintenance-planned", "/w/{workspace}/maintenance/{maintenance}", ""),
    ("maintenance-edit", "/w/{workspace}/maintenance/{maintenance}/edit", ""),
    ("regions", "/w/{workspace}/regions", ""),
    ("uptime", "/w/{workspace}/uptime", "period=30d"),
    ("uptime-pages", "/w/{workspace}/uptime", "by=page&period=30d"),
    ("channels", "/w/{workspace}/channels", ""),
    ("channel-kinds", "/w/{workspace}/channels/new", ""),
    ("channel-new", "/w/{workspace}/channels/new", "kind=slack"),
    ("channel", "/w/{workspace}/channels/{channel}", ""),
    ("channel-edit", "/w/{workspace}/channels/{channel}/edit", ""),
    ("channel-monitors", "/w/{workspace}/channels/{channel}/monitors", ""),
    ("channel-delivery", "/w/{workspace}/channels/{channel}/deliveries/{delivery}", ""),
    ("channel-delete", "/w/{workspace}/channels/{channel}/delete", ""),
    ("channel-signing", "/w/{workspace}/channels/signing", ""),
    ("pages", "/w/{workspace}/pages", ""),
    ("page-new", "/w/{workspace}/pages/new", ""),
    ("page", "/w/{workspace}/pages/{page}", ""),
    ("page-preview", "/w/{workspace}/pages/{page}/preview", ""),
    ("page-edit", "/w/{workspace}/pages/{page}/edit", ""),
    ("page-monitors", "/w/{workspace}/pages/{page}/monitors", ""),
    ("page-component-new", "/w/{workspace}/pages/{page}/components/new", ""),
    ("page-component", "/w/{workspace}/pages/{page}/components/{component}", ""),
    ("page-group-new", "/w/{workspace}/pages/{page}/groups/new", ""),
    ("page-group", "/w/{workspace}/pages/{page}/groups/{group}", ""),
    ("page-domain", "/w/{workspace}/pages/{page}/domain", "domain=status.acme.example"),
    ("page-subscribers", "/w/{workspace}/pages/{page}/subscribers", ""),
    ("page-delete", "/w/{workspace}/pages/{page}/delete", ""),
    ("probes", "/w/{workspace}/probes", ""),
    ("device", "/login/device", ""),
    ("settings", "/w/{workspace}/settings", ""),
    ("keys", "/w/{workspace}/settings/keys", ""),
    ("members", "/w/{workspace}/settings/members", ""),
    ("audit", "/w/{workspace}/settings/audit", ""),
];

/// Screens of people who are not signed in.
const OUTSIDE: &[(&str, &str)] = &[
    ("login", "/login"),
    ("forgot", "/forgot"),
    ("reset", "/reset/{token}"),
    ("invitation", "/invite/{token}"),
    ("setup", "/setup/{token}"),
    ("login-code", "/login/code"),
];

/// Routes for GET that show no screen: files, downloads, redirects and the stream of events.
const WITHOUT_SCREEN: &[&str] = &[
    "/",
    "/assets/{version}/{name}",
    "/login/provider",
    "/login/provider/callback",
    "/w/{workspace}/events",
    "/w/{workspace}/uptime.csv",
    "/w/{workspace}/uptime.json",
    "/w/{workspace}/settings/audit/export",
];

/// Script that returns whether the frame with the preview of a page is loaded.
const PREVIEW_IS_LOADED: &str =
    "performance.getEntriesByType('resource').some((it) => it.name.endsWith('/preview'))";

/// Checks the visible screen and takes its picture.
async fn check(tab: &Tab, name: &str, view: View) {
    commit_picture(tab, &format!("dashboard-{name}"), view).await;
    inspect(tab, name, view).await;
}

/// Checks the visible screen.
async fn inspect(tab: &Tab, name: &str, view: View) {
    fits(tab, name).await;
    assert_eq!(tab.audit().await, Vec::<String>::new(), "{name} {view:?}");
    assert_eq!(tab.errors().await, Vec::<String>::new(), "{name} {view:?}");
}

/// Returns the path of a screen.
fn path(showcase: &Showcase, route: &str, query: &str) -> String {
    let links = &showcase.links;
    let path = match route {
        "/account/email/{token}" => links.new_email.clone(),
        "/reset/{token}" => links.reset.clone(),
        "/invite/{token}" => links.invitation.clone(),
        _ => showcase.values.path(route),
    };
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// Checks all screens in a view.
async fn check_screens(view: View) {
    let showcase = Box::pin(Showcase::open()).await;
    let new = TestServer::start().await;
    let browser = Browser::start().await;
    let origin = |server: &TestServer| format!("http://{}", server.address());
    let cookie = format!("aloft_session={}", showcase.ada.cookie("aloft_session").unwrap());
    let tab = browser.open(&origin(&showcase.server), view, Some(&cookie)).await;
    for (name, route, query) in SCREENS {
        assert_eq!(tab.visit(&path(&showcase, route, query)).await, 200, "{name}");
        if *name == "page" {
            tab.evaluate("document.querySelector('iframe').loading = 'eager'").await;
            tab.until(PREVIEW_IS_LOADED).await;
        }
        if *name == HEARTBEAT {
            inspect(&tab, name, view).await;
            take_picture(&tab, name, view).await;
        } else {
            check(&tab, name, view).await;
        }
    }
    let program = Program::begin(&showcase.server).await;
    assert_eq!(tab.visit(&format!("/login/device?code={}", program.user_code())).await, 200);
    // Its picture would have another code each time.
    inspect(&tab, "device-approval", view).await;
    assert_eq!(tab.visit("/w/acme-shop/nothing").await, 404);
    tab.close().await;

    let tab = browser.open(&origin(&showcase.server), view, None).await;
    for (name, route) in OUTSIDE.iter().filter(|(name, _)| !["setup", "login-code"].contains(name))
    {
        assert_eq!(tab.visit(&path(&showcase, route, "")).await, 200, "{name}");
        check(&tab, name, view).await;
    }
    tab.visit("/login").await;
    tab.fill("#email", "grace@acme.example").await;
    tab.fill("#password", PASSWORD).await;
    tab.click("form button.primary").await;
    assert_eq!(tab.text("location.pathname").await, "/login/code");
    check(&tab, "login-code", view).await;
    assert_eq!(tab.visit("/reset/forged").await, 410);
    tab.close().await;

    let tab = browser.open(&origin(&new), view, None).await;
    let link = new.running().setup_link().await.unwrap().unwrap();
    tab.visit(link.expose().strip_prefix(&origin(&new)).unwrap()).await;
    check(&tab, "setup", view).await;
    tab.close().await;
}

#[test]
fn every_route_is_listed() {
    let gets = dashboard::route_rules().filter(|rule| rule.method == Method::GET);
    let routes: BTreeSet<&str> = gets.map(|rule| rule.path).collect();
    let inside: Vec<String> =
        SCREENS.iter().map(|(_, route, _)| route.replace("{heartbeat}", "{monitor}")).collect();
    let outside = OUTSIDE.iter().map(|(_, route)| *route);
    let listed: BTreeSet<&str> = inside
        .iter()
        .map(String::as_str)
        .chain(outside)
        .chain(WITHOUT_SCREEN.iter().copied())
        .collect();
    assert_eq!(listed, routes);
}

// issue 18, targets: "no axe violation on any screen, light or dark"
#[tokio::test]
async fn desktop_screens_have_no_violations() {
    Box::pin(check_screens(View::DESKTOP)).await;
}

#[tokio::test]
async fn dark_desktop_screens_have_no_violations() {
    Box::pin(check_screens(View::DESKTOP.dark())).await;
}

#[tokio::test]
async fn phone_screens_have_no_violations() {
    Box::pin(check_screens(PHONE)).await;
}

#[tokio::test]
async fn dark_phone_screens_have_no_violations() {
    Box::pin(check_screens(PHONE.dark())).await;
}
