//! Status reports on a page: above open incidents, on a page of their own, in daily history and in
//! every format for programs.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use testkit::server::STATUS_REPORTS;
use testkit::target::ScriptedResponse;

use super::{Site, well};

/// Returns the ID of the component with this name.
async fn component(site: &Site, name: &str) -> Value {
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let sections = json["sections"].as_array().unwrap().clone();
    let all = sections.iter().flat_map(|section| match section.get("group") {
        Some(group) => group["components"].as_array().unwrap().clone(),
        None => vec![section["component"].clone()],
    });
    let found = all.into_iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {json}"))["id"].clone()
}

async fn done(site: &Site, method: &str, request: Value) -> Value {
    let reply = site.owner.call(STATUS_REPORTS, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()["statusReport"].clone()
}

/// Opens a report with Mail down.
pub(super) async fn opened(site: &Site) -> Value {
    let mail = component(site, "Mail").await;
    let request = json!({
        "statusReport": {
            "pageId": site.page["id"], "title": "Post <stuck>",
            "components": [{ "componentId": mail, "impact": "down" }],
        },
        "update": {
            "status": "investigating",
            "text": "We **look**: <script>alert(1)</script> [here](javascript:alert(1)).",
        },
    });
    done(site, "CreateStatusReport", request).await
}

async fn add(site: &Site, report: &Value, status: &str, text: &str) -> Value {
    let request = json!({ "id": report["id"], "update": { "status": status, "text": text } });
    done(site, "AddStatusReportUpdate", request).await
}

fn path(report: &Value) -> String {
    format!("/report/{}", report["id"].as_str().unwrap())
}

// issue 7 point 3: "Reports … on the page: investigating, identified, monitoring, resolved; Markdown
// updates (sanitised), impact per component"
#[tokio::test]
async fn open_report_is_shown_and_sets_page_status() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(site.text("").await.contains("All systems operational"));
    let report = opened(&site).await;
    let page = site.text("").await;
    for there in [
        "<h1>Mail is down</h1>",
        "Post &#60;stuck&#62;</a></h3>",
        "Affects Mail",
        "<b>Investigating</b> · <time datetime=\"2026-11-21T00:00:00.000Z\">",
        "We <strong>look</strong>: &lt;script&gt;alert(1)&lt;/script&gt; here.",
    ] {
        assert!(page.contains(there), "{there} is not in {page}");
    }
    assert!(!page.contains("<script>alert") && !page.contains("javascript:"), "{page}");
    site.watched.server.advance(Duration::from_mins(10));
    add(&site, &report, "identified", "A queue.").await;
    let whole = site.text(&path(&report)).await;
    let places =
        ["Identified", "A queue.", "Investigating", "We <strong>look"].map(|it| whole.find(it));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "newest first: {whole}");
    let german = site.visit(&path(&report), &[("accept-language", "de")]).await;
    let german = String::from_utf8(german.body.to_vec()).unwrap();
    assert!(german.contains("Ursache gefunden") && german.contains("Betrifft Mail"), "{german}");
    add(&site, &report, "resolved", "It is over.").await;
    let page = site.text("").await;
    assert!(page.contains("All systems operational") && page.contains("It is over."), "{page}");
    assert!(page.contains(&format!("/status/acme{}\"", path(&report))), "the history leads to it");
    assert!(page.contains("All 3 updates"), "{page}");
}

#[tokio::test]
async fn a_report_is_in_every_form_for_programs() {
    // issue 7 points 3 and 5
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let report = opened(&site).await;
    let mail = component(&site, "Mail").await;
    site.watched.server.advance(Duration::from_mins(10));
    add(&site, &report, "monitoring", "We *wait*.").await;
    let id = report["id"].as_str().unwrap();
    let read =
        async |form: &str| -> Value { serde_json::from_str(&site.text(form).await).unwrap() };

    let ours = read("/status.json").await;
    assert_eq!((&ours["status"], &ours["about"]), (&json!("down"), &json!(["Mail"])));
    let listed = &ours["reports"][0];
    assert_eq!((&listed["id"], &listed["status"]), (&json!(id), &json!("monitoring")));
    assert_eq!(listed["components"], json!([{ "id": mail, "name": "Mail", "impact": "down" }]));
    assert_eq!(listed["updates"][0]["html"], "<p>We <em>wait</em>.</p>");
    assert_eq!(listed["updates"][0]["text"], "We wait.");

    for form in ["/api/v2/summary.json", "/api/v2/incidents.json"] {
        let incident = read(form).await["incidents"][0].clone();
        assert_eq!(
            (&incident["id"], &incident["status"]),
            (&json!(id), &json!("monitoring")),
            "{form}"
        );
        assert_eq!(
            (&incident["name"], &incident["impact"]),
            (&json!("Post <stuck>"), &json!("major"))
        );
        assert_eq!(incident["components"][0]["status"], "major_outage", "{form}");
        let updates = incident["incident_updates"].as_array().unwrap();
        assert_eq!((updates.len(), &updates[0]["body"]), (2, &json!("We wait.")), "{form}");
        let affected = &updates[1]["affected_components"][0];
        assert_eq!(
            *affected,
            json!({ "code": mail, "name": "Behind - Mail", "old_status": "operational", "new_status": "major_outage" })
        );
    }

    for form in ["/feed.atom", "/feed.rss"] {
        let feed = feed_rs::parser::parse(site.text(form).await.as_bytes()).unwrap();
        let entry = feed.entries.iter().find(|it| it.id.contains(id)).unwrap();
        assert_eq!(entry.title.as_ref().unwrap().content, "Post <stuck>", "{form}");
        assert!(entry.links[0].href.ends_with(&path(&report)), "{form}: {entry:?}");
    }
    let atom = feed_rs::parser::parse(site.text("/feed.atom").await.as_bytes()).unwrap();
    let updated = atom.entries[0].updated.unwrap().to_rfc3339();
    assert_eq!(updated, "2026-11-21T00:10:00+00:00", "as of its last update");

    let markdown = site.text("/status.md").await;
    let listed =
        r"- **Post \<stuck\>**: Monitoring · Affects Mail · 21 Nov 2026, 00:10 UTC. We wait\.";
    assert!(markdown.contains(listed), "{markdown}");

    add(&site, &report, "resolved", "Over.").await;
    assert_eq!(read("/api/v2/summary.json").await["incidents"], json!([]), "it is open no more");
    let incident = read("/api/v2/incidents.json").await["incidents"][0].clone();
    assert_eq!(
        (&incident["status"], &incident["resolved_at"]),
        (&json!("resolved"), &json!("2026-11-21T00:10:00.000Z"))
    );
}

// issue 16, point 28: "show an ongoing report and its incident once"
#[tokio::test]
async fn markdown_lists_reported_incident_once() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    target.on("/", ScriptedResponse::status(503));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let api = component(&site, "API & more").await;
    let request = json!({
        "statusReport": {
            "pageId": site.page["id"], "title": "Disk full",
            "components": [{ "componentId": api, "impact": "down" }],
        },
        "update": { "status": "identified", "text": "We clean up." },
    });
    let report = done(&site, "CreateStatusReport", request).await;
    let markdown = site.text("/status.md").await;
    let (_, ongoing) = markdown.split_once("\n## Ongoing\n").unwrap();
    let (ongoing, rest) = ongoing.split_once("\n## Components\n").unwrap();
    insta::assert_snapshot!(ongoing, @r"
    - **Disk full**: Identified · Affects API \& more · 21 Nov 2026, 00:00 UTC. We clean up\.
      - **API \& more is down**: Since 21 Nov 2026, 00:00 UTC
    ");
    assert!(!rest.contains("Disk full") && !rest.contains("Since"), "{rest}");
    add(&site, &report, "resolved", "Over.").await;
    let markdown = site.text("/status.md").await;
    let (before, history) = markdown.split_once("\n## The last 14 days\n").unwrap();
    assert!(before.contains("more is down**: Since"), "the incident goes on: {before}");
    assert!(history.contains("Disk full") && !history.contains("Since"), "{history}");
}

#[tokio::test]
async fn days_of_static_component_come_from_reports() {
    let target = well().await;
    let site = Site::open(&target).await;
    let days = async || {
        let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
        let sections = json["sections"].as_array().unwrap().clone();
        let group = sections.iter().find_map(|section| section.get("group")).unwrap();
        group["components"][0]["days"].clone()
    };
    assert_eq!(days().await, Value::Null);
    let report = opened(&site).await;
    site.watched.server.advance(Duration::from_mins(30));
    add(&site, &report, "resolved", "Over.").await;
    let today = days().await[89].clone();
    assert_eq!((&today["date"], &today["downMs"]), (&json!("2026-11-21"), &json!(1_800_000)));
    assert!(site.text("/day/2026-11-21").await.contains("Post &#60;stuck&#62;"));
}

#[tokio::test]
async fn unknown_or_deleted_report_is_404() {
    let target = well().await;
    let site = Site::open(&target).await;
    for rest in ["/report/rpt_0000000000001", "/report/x", "/report/"] {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
    let report = opened(&site).await;
    let id = json!({ "id": report["id"] });
    let deleted = site.owner.call(STATUS_REPORTS, "DeleteStatusReport", id).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    assert_eq!(site.visit(&path(&report), &[]).await.status, StatusCode::NOT_FOUND);
}

// issue 16 point 28: "show an ongoing report and its incident once"
#[tokio::test]
async fn ongoing_report_and_its_incident_are_shown_once() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    target.on("/", ScriptedResponse::status(503));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let incident = json["openIncidents"][0]["id"].as_str().unwrap().to_owned();
    let link = format!("/incident/{incident}\"");
    let alone = site.text("").await;
    assert_eq!(alone.matches(&link).count(), 1, "{alone}");
    let api = component(&site, "API & more").await;
    let request = json!({
        "statusReport": {
            "pageId": site.page["id"], "title": "API trouble",
            "components": [{ "componentId": api, "impact": "down" }],
        },
        "update": { "status": "investigating", "text": "We are looking into it." },
    });
    let report = done(&site, "CreateStatusReport", request).await;
    let page = site.text("").await;
    assert_eq!(page.matches(&path(&report)).count(), 1, "{page}");
    assert_eq!(page.matches(&link).count(), 1, "{page}");
    assert!(!page.contains("<h3><a href=\"/status/acme/incident/"), "in the report's card: {page}");
}
