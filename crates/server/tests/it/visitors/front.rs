//! Screenshot in the README: a status page with a history of 90 days, in light and dark.
//!
//! Every run renders it to `target/tmp/pages`. `ALOFT_TEST_PICTURES=write` also updates the
//! committed files of the README.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rules::MonitorId;
use serde_json::json;
use store::Batch;
use testkit::browser::{Browser, View};
use testkit::server::{STATUS_REPORTS, TestServer};
use testkit::target::HttpTarget;
use tiny_skia::{IntRect, Pixmap};

use super::{made, size, well};
use crate::pipeline::Watched;
use crate::screen::{self, committed};

/// Names of the components on the page.
const COMPONENTS: [&str; 4] = ["Website", "API", "Payments", "Search"];
/// Window that shows the whole page, readable in a README.
const WINDOW: View = View { width: 1_000, height: 860, ..View::DESKTOP };

/// Creates a published page. Its monitors are up, and a report says that mail is degraded.
async fn a_page(target: &HttpTarget) -> Watched {
    let watched = Watched::on(TestServer::start().await).await;
    let owner = watched.server.caller(rules::Scope::Write);
    let page = json!({ "title": "Acme", "slug": "acme", "description": "What we run for you" });
    let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
    let mut monitors = Vec::new();
    for (name, order) in COMPONENTS.into_iter().zip(1..) {
        let monitor = watched.monitor(&target.url("/")).await;
        monitors.push(monitor);
        let component = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": monitor.to_string(), "name": name,
            "order": order,
        });
        made(&owner, "CreateComponent", "component", component).await;
    }
    has_a_past(&watched, &monitors).await;
    let mail = json!({ "pageId": page["id"], "type": "static", "name": "Mail" });
    let mail = made(&owner, "CreateComponent", "component", mail).await;
    let report = json!({
        "statusReport": { "pageId": page["id"], "title": "Mail is slow" },
        "update": {
            "status": "identified",
            "text": "Messages take some **minutes** to arrive. None is lost.",
            "components": [{ "componentId": mail["id"], "impact": "degraded" }],
        },
    });
    let reply = owner.call(STATUS_REPORTS, "CreateStatusReport", report).await;
    assert_eq!(reply.status, 200, "{reply}");
    watched
}

/// Waits for the first results of the monitors and stores a history for each.
async fn has_a_past(watched: &Watched, monitors: &[MonitorId]) {
    for monitor in monitors {
        watched.stored.at_least(1, *monitor).await;
    }
    let past = monitors.iter().zip(0..);
    let transitions =
        past.flat_map(|(monitor, number)| size::past(number).into_iter().map(|it| (*monitor, it)));
    let batch = Batch { transitions: transitions.collect(), ..Batch::default() };
    watched.server.running().app().store.commit(Arc::new(batch)).await.unwrap();
}

/// Returns the part of a screenshot that fits into the window.
fn beginning(picture: &Path) -> Pixmap {
    let whole = Pixmap::load_png(picture).unwrap();
    let window = IntRect::from_xywh(0, 0, WINDOW.width, WINDOW.height).unwrap();
    whole.clone_rect(window).unwrap()
}

// issue 8, point 4: "a picture (a screenshot made by the tests)"
#[tokio::test]
async fn the_picture_of_the_readme_is_made() {
    let target = well().await;
    let watched = a_page(&target).await;
    let origin = format!("http://{}", watched.server.running().address());
    let browser = Browser::start().await;
    let writes = screen::writes_pictures();
    for (name, view) in [("status-page-light.png", WINDOW), ("status-page-dark.png", WINDOW.dark())]
    {
        let tab = browser.open(&origin, view, None).await;
        assert_eq!(tab.visit("/status/acme").await, 200);
        let page_text = tab.text("document.body.innerText").await;
        assert!(page_text.contains("Mail is slow") && page_text.contains("Website"), "{page_text}");
        let picture = screen::file(name);
        tab.picture(&picture).await;
        let picture = beginning(&picture);
        if writes {
            fs::create_dir_all(committed("")).unwrap();
            picture.save_png(committed(name)).unwrap();
        }
        // Text rendering differs between machines, so compare only the size and the background.
        let shown = Pixmap::load_png(committed(name)).unwrap();
        assert_eq!((shown.width(), shown.height()), (picture.width(), picture.height()), "{name}");
        assert_eq!(shown.pixel(0, 0), picture.pixel(0, 0), "the ground of {name}");
        tab.close().await;
    }
}
