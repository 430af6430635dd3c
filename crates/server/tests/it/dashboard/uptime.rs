//! Uptime reports show the same numbers in each format, freeze past months, and are sent by email.

use std::time::Duration;

use domain::judge::{CloseReason, IncidentChange, Share, StatusReason, Transition};
use rules::MonitorStatus::{Active, Error, Unknown};
use rules::{IncidentId, MonitorId, Timestamp};
use serde_json::{Value, json};
use store::Batch;
use testkit::mail::MailServer;
use testkit::person::Person;
use testkit::server::{START, TestServer};

use crate::pipeline::until;

const HOUR: Duration = Duration::from_hours(1);
/// From START, 2026-11-21, to the second hour of December.
const TO_DECEMBER: Duration = Duration::from_hours(10 * 24 + 2);

/// Creates a paused monitor that was up for ten hours from START, except for one.
async fn outage(server: &TestServer, name: &str) -> MonitorId {
    tagged_outage(server, name, &[]).await
}

async fn tagged_outage(server: &TestServer, name: &str, tags: &[&str]) -> MonitorId {
    let monitor = json!({
        "name": name, "url": "https://example.com", "periodicity": "1h", "active": false, "tags": tags,
    });
    let owner = server.caller(rules::Scope::Write);
    let reply = owner.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let id = MonitorId::parse(reply["monitor"]["id"].as_str().unwrap()).unwrap();
    let why = StatusReason::Fine(Share { votes: 0, of_votes: 1, regions: 0, of_regions: 1 });
    let incident = IncidentId::at(START, id.bits());
    let change = |hours, from, to, incident| {
        (id, Transition { from, to, at: START + HOUR * hours, incident, why })
    };
    let closed = IncidentChange::Closed { id: incident, reason: CloseReason::Recovered };
    let transitions = vec![
        change(0, Unknown, Active, IncidentChange::None),
        change(2, Active, Error, IncidentChange::Opened(incident)),
        change(3, Error, Active, closed),
        change(10, Active, Unknown, IncidentChange::None),
    ];
    let batch = Batch { transitions, ..Batch::default() };
    server.running().app().store.commit(batch.into()).await.unwrap();
    id
}

#[tokio::test]
async fn page_and_downloads_have_the_same_numbers() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = outage(&server, "API").await;
    server.advance(HOUR * 12);
    let query = "period=this-month&target=95";
    let page = ada.get(&format!("/w/acme/uptime?{query}")).await.text();
    let json: Value =
        serde_json::from_str(&ada.get(&format!("/w/acme/uptime.json?{query}")).await.text())
            .unwrap();
    let row = &json["rows"][0];
    assert_eq!(
        (row["id"].as_str(), row["incidents"].as_u64()),
        (Some(&*monitor.to_string()), Some(1))
    );
    assert_eq!((&row["uptimePercent"], &row["downMs"]), (&json!("90.000"), &json!(3_600_000)));
    // 5 % of the ten known hours and of the 228 hours that are left.
    assert_eq!(row["budgetMs"], 42_840_000);
    let csv = ada.get(&format!("/w/acme/uptime.csv?{query}")).await;
    let line = csv.text().lines().nth(1).unwrap().to_owned();
    assert!(line.contains("\"API\"") && line.contains(",90.000,36000000,3600000,1,"), "{line}");
    assert!(line.ends_with(",95,42840000,39240000,654,91,9,false"), "{line}");
    assert_eq!((&row["budgetLeftMinutes"], &row["budgetLeftPercent"]), (&json!(654.0), &json!(91)));
    for expected in ["90.000 %", "654 min left (91 %)", "of 714 min", "0 of 1"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

// issue 18, point 6: "per monitor, tag, page and period"
#[tokio::test]
async fn tags_sum_up_their_monitors() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    tagged_outage(&server, "API", &["Prod", "web"]).await;
    tagged_outage(&server, "Shop", &["prod"]).await;
    tagged_outage(&server, "Test", &[]).await;
    server.advance(HOUR * 12);
    let json = ada.get("/w/acme/uptime.json?by=tag&sort=name&period=7d").await.text();
    let json: Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap().iter();
    let rows: Vec<Value> =
        rows.map(|row| json!([row["kind"], row["id"], row["name"], row["knownMs"]])).collect();
    let hours = |hours: u64| hours * 3_600_000;
    let expected = [
        json!(["untagged", "", "No tag", hours(10)]),
        json!(["tag", "prod", "Prod", hours(20)]),
        json!(["tag", "web", "web", hours(10)]),
    ];
    assert_eq!(rows, expected);
    let page = ada.get("/w/acme/uptime?by=tag&period=7d").await.text();
    assert!(page.contains("href=\"/w/acme/uptime?period=7d&#38;tag=Prod\""), "{page}");
    // Each monitor counts once in the sum.
    assert!(page.contains("<dt>Incidents</dt><dd>3</dd>"), "{page}");
    let page = ada.get("/w/acme/uptime?tag=PROD").await.text();
    assert!(page.contains(">API</a>") && page.contains(">Shop</a>"), "{page}");
    assert!(!page.contains(">Test</a>") && page.contains("<option selected>"), "{page}");
}

#[tokio::test]
async fn quarter_adds_frozen_months_and_the_rest() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    tagged_outage(&server, "API", &["prod"]).await;
    server.advance(TO_DECEMBER);
    let november = "/w/acme/uptime.json?period=2026-11";
    let frozen = until(async || {
        let json: Value = serde_json::from_str(&ada.get(november).await.text()).unwrap();
        (json["frozen"] == true).then_some(json)
    })
    .await;
    for by in ["monitor", "tag"] {
        let quarter = ada.get(&format!("/w/acme/uptime.json?period=this-quarter&by={by}")).await;
        let quarter: Value = serde_json::from_str(&quarter.text()).unwrap();
        assert_eq!(
            (&quarter["frozen"], &quarter["from"]),
            (&json!(false), &json!("2026-10-01T00:00:00.000Z"))
        );
        let (row, month) = (&quarter["rows"][0], &frozen["rows"][0]);
        assert_eq!((&row["downMs"], &row["incidents"]), (&month["downMs"], &month["incidents"]));
    }
}

// issue 18, point 6: "against a target such as 99.9 %"
#[tokio::test]
async fn target_of_the_workspace_is_stored() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    outage(&server, "API").await;
    server.advance(HOUR * 12);
    let form = |target| [("name", "Acme"), ("slug", "acme"), ("uptime_target", target)];
    let refused = ada.post("/w/acme/settings", &form("101")).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("value=\"101\"") && refused.text().contains("percentage"));
    ada.post("/w/acme/settings", &form("89,5")).await;
    let page = ada.get("/w/acme/uptime").await.text();
    assert!(page.contains("Target of 89.5 % met by</dt><dd>1 of 1"), "{page}");
    let other = ada.get("/w/acme/uptime?target=99").await.text();
    assert!(other.contains("Target of 99 % (the workspace has 89.5 %) met by"), "{other}");
    let audit = ada.get("/w/acme/settings/audit").await.text();
    assert!(audit.contains("workspace.uptime_target"), "{audit}");
}

#[tokio::test]
async fn invalid_target_is_explained() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let page = ada.get("/w/acme/uptime?target=120").await.text();
    assert!(page.contains("“120” is not a target") && page.contains("value=\"120\""), "{page}");
}

// issue 18, point 6: "Past months are frozen"
#[tokio::test]
async fn past_month_keeps_its_figures() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = outage(&server, "API").await;
    server.advance(TO_DECEMBER);
    let november = "/w/acme/uptime.json?period=2026-11";
    let frozen = until(async || {
        let json: Value = serde_json::from_str(&ada.get(november).await.text()).unwrap();
        (json["frozen"] == true).then_some(json)
    })
    .await;
    assert_eq!(frozen["rows"][0]["uptimePercent"], "90.000");
    let owner = server.caller(rules::Scope::Write);
    let deleted = owner.rpc("DeleteMonitor", json!({ "id": monitor.to_string() })).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    let later: Value = serde_json::from_str(&ada.get(november).await.text()).unwrap();
    assert_eq!(later, frozen);
    let page = ada.get("/w/acme/uptime?period=last-month").await.text();
    assert!(page.contains("final figures") && page.contains("November 2026"), "{page}");
}

// issue 18, point 6: "A monthly summary by email for those who want it"
#[tokio::test]
async fn summary_is_sent_once_over_restarts() {
    let mail = MailServer::start().await;
    let server = TestServer::start_with(|settings| mail.set_up(settings)).await;
    let ada = Person::set_up(&server).await;
    outage(&server, "API <1>").await;
    let wanted = ada.post("/w/acme/uptime/summary", &[("wanted", "true")]).await;
    assert_eq!(wanted.location().as_deref(), Some("/w/acme/uptime"), "{wanted}");
    assert!(ada.get("/w/acme/uptime").await.text().contains("You get it"));
    server.advance(TO_DECEMBER);
    let sent = mail.takes(1).await;
    assert_eq!(sent[0].to, ["ada@example.com"]);
    assert!(sent[0].subject.contains("uptime in November 2026"), "{}", sent[0].subject);
    assert!(sent[0].text.contains("API <1>: 90.000 %"), "{}", sent[0].text);
    assert!(sent[0].html.contains("API &#60;1&#62;"), "{}", sent[0].html);

    let server = server.restart(HOUR * 2).await;
    let november = domain::page::Month::containing(START);
    let due = server.running().app().store.summaries().due(november).await.unwrap();
    assert_eq!(due, []);
    // The summary of December follows, so the one of November would have come before it.
    server.advance(Duration::from_hours(31 * 24));
    let all = until(async || {
        server.advance(Duration::from_secs(1));
        Some(mail.taken()).filter(|taken| taken.len() > 1)
    })
    .await;
    assert!(all[1].subject.contains("December 2026"), "{}", all[1].subject);
    assert_eq!(all.len(), 2);
    let now = server.running().app().ctx.now();
    assert!(now > Timestamp::from_millis(1_798_761_600_000), "it is January: {now}");
}
