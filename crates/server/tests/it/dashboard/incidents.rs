//! Incidents are listed, worked on, and written up.

use serde_json::json;
use testkit::server::{INCIDENTS, STATUS_REPORTS};

use super::settings::between;
use super::trouble::Trouble;

#[tokio::test]
async fn incident_is_acknowledged_commented_and_resolved() {
    let trouble = Trouble::start().await;
    let (ada, path) = (&trouble.ada, trouble.incident_path());
    let list = ada.get("/w/acme/incidents").await.text();
    assert!(list.contains(&path) && list.contains("Acknowledge"), "{list}");
    let shown = ada.get(&path).await.text();
    assert!(shown.contains("fly-ams") && shown.contains("503"), "{shown}");

    let done = ada.post(&format!("{path}/acknowledge"), &[]).await;
    assert_eq!(done.location().as_deref(), Some(path.as_str()), "{done}");
    let done = ada.post(&format!("{path}/comment"), &[("text", "The *disk* is full.")]).await;
    assert_eq!(done.status, 303, "{done}");
    let empty = ada.post(&format!("{path}/comment"), &[("text", "")]).await;
    assert!(empty.status == 422 && empty.text().contains("text-error"), "{empty}");
    let done = ada.post(&format!("{path}/resolve"), &[]).await;
    assert_eq!(done.status, 303, "{done}");

    let shown = ada.get(&path).await.text();
    for expected in [
        "Ada acknowledged the incident.",
        "Ada commented",
        "The <em>disk</em> is full.",
        "Ada resolved the incident.",
        "resolved by a person",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("usr_"), "{shown}");
    let owner = trouble.watched.server.caller(rules::Scope::Write);
    let stored = owner.call(INCIDENTS, "GetIncident", json!({ "id": trouble.incident })).await;
    assert_eq!(stored.json()["incident"]["state"], "closed");
}

// issue 18, point 5: "incidents (timeline, evidence, …)"
#[tokio::test]
async fn incident_shows_the_evidence_of_each_region() {
    let trouble = Trouble::start().await;
    let shown = trouble.ada.get(&trouble.incident_path()).await.text();
    let evidence = between(&shown, "<h2 id=\"evidence\">", "<h2 id=\"timeline\">");
    let url = trouble.target.url("/");
    for expected in [
        "Amsterdam (fly-ams)",
        "2026-11-21 00:00:30 UTC",
        "scheduled check, 1 attempt",
        "<ul class=\"reasons\"><li>",
        &format!("<code>{url}</code>"),
        "HTTP/1.1 · 503 · 127.0.0.1",
        "Duration of each phase",
        "First byte",
        "<dt>content-length</dt>",
        "<pre class=\"code\" tabindex=\"0\">The disk is full.</pre>",
    ] {
        assert!(evidence.contains(expected), "{expected} is not in {evidence}");
    }
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn past_incidents_are_filtered_by_the_url() {
    let trouble = Trouble::start().await;
    let ada = &trouble.ada;
    assert_eq!(ada.post(&format!("{}/resolve", trouble.incident_path()), &[]).await.status, 303);
    let link = format!("/incidents/{}", trouble.incident);
    for (query, is_listed, text) in [
        ("", true, "No open incident"),
        ("?monitor=LOCAL", true, "value=\"local\""),
        (&format!("?monitor={}", trouble.monitor), true, "value=\"local\""),
        ("?monitor=nothing", true, "No monitor has “nothing” in its name"),
        ("?from=2026-11-21&to=2026-11-21", true, "value=\"2026-11-21\""),
        ("?to=2026-11-20", false, "No incident matches"),
        ("?from=2026-11-22", false, "No incident matches"),
        ("?page=2", false, "No past incidents"),
        ("?from=soon", true, "id=\"from-error\""),
        ("?to=2026-13-01", true, "id=\"to-error\""),
    ] {
        let list = ada.get(&format!("/w/acme/incidents{query}")).await.text();
        assert_eq!(list.contains(&link), is_listed, "{query}: {list}");
        assert!(list.contains(text), "{query}: {list}");
    }
}

// issue 18, point 5: "a Markdown write-up that can be published"
#[tokio::test]
async fn write_up_becomes_a_report() {
    let trouble = Trouble::start().await;
    let (page, component) = trouble.page().await;
    let (ada, path) = (&trouble.ada, format!("{}/write-up", trouble.incident_path()));
    let draft = ada.get(&path).await.text();
    assert!(draft.contains("has been down since 2026-11-21 00:00 UTC"), "{draft}");
    let save = [("action", "save"), ("text", "We **broke** it.")];
    assert_eq!(ada.post(&path, &save).await.location().as_deref(), Some(path.as_str()));
    let saved = ada.get(&path).await.text();
    assert!(saved.contains("We **broke** it.") && saved.contains("<strong>broke</strong>"));

    let publish = |title: &'static str| {
        [
            ("action", "publish"),
            ("text", "We **broke** it."),
            ("page", page.as_str()),
            ("status", "identified"),
            ("title", title),
            ("notify", "true"),
        ]
    };
    let untitled = ada.post(&path, &publish("")).await;
    let text = untitled.text();
    assert!(untitled.status == 422 && text.contains("title-error"), "{untitled}");
    assert!(text.contains("We **broke** it."), "the input stays: {text}");
    let published = ada.post(&path, &publish("The API was down")).await;
    let report = published.location().unwrap();
    assert!(report.starts_with("/w/acme/status-reports/rpt_"), "{published}");
    assert!(ada.get(&trouble.incident_path()).await.text().contains(&report));

    let owner = trouble.watched.server.caller(rules::Scope::Write);
    let id = report.rsplit_once('/').unwrap().1;
    let stored = owner.call(STATUS_REPORTS, "GetStatusReport", json!({ "id": id })).await.json();
    let stored = &stored["statusReport"];
    assert_eq!(stored["status"], "identified");
    assert_eq!(stored["components"], json!([{ "componentId": component, "impact": "down" }]));
    assert_eq!(stored["updates"][0]["text"], "We **broke** it.");
}

#[tokio::test]
async fn incident_of_another_workspace_is_not_found() {
    let trouble = Trouble::start().await;
    let path = trouble.incident_path().replace("/acme/", "/other/");
    assert_eq!(trouble.ada.get(&path).await.status, 404);
    assert_eq!(trouble.ada.get(&format!("{path}/write-up")).await.status, 404);
    let save = [("action", "save"), ("text", "Mine")];
    assert_eq!(trouble.ada.post(&format!("{path}/write-up"), &save).await.status, 404);
}
