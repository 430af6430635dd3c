//! Updates of a report. An update applies from its time on, and the latest determines the status.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::STATUS_REPORTS;

use super::{ReportFixture, at, impacts, paths};

fn statuses(report: &Value) -> Vec<&str> {
    let updates = report["updates"].as_array().unwrap();
    updates.iter().map(|update| update["status"].as_str().unwrap()).collect()
}

async fn add(fixture: &ReportFixture, report: &Value, update: Value) -> Value {
    let request = json!({ "id": report["id"], "update": update });
    fixture.done("AddStatusReportUpdate", request).await
}

#[tokio::test]
async fn a_report_is_as_its_latest_update_says() {
    // issue 7 point 3: "investigating, identified, monitoring, resolved"
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    fixture.server.advance(Duration::from_mins(10));
    let known = json!({ "status": "identified", "text": "A disk.", "components": impacts(&fixture.second, "degraded") });
    let identified = add(&fixture, &report, known).await;
    assert_eq!(statuses(&identified), ["identified", "investigating"]);
    assert_eq!(identified["components"], impacts(&fixture.second, "degraded"));
    fixture.server.advance(Duration::from_mins(10));
    let resolved = add(&fixture, &report, json!({ "status": "resolved", "text": "Over." })).await;
    assert_eq!(
        (&resolved["status"], &resolved["resolvedAt"]),
        (&json!("resolved"), &json!(at(20)))
    );
    assert_eq!(resolved["components"], impacts(&fixture.second, "degraded"), "what it was about");
    // An update added later for an earlier time does not change the current status.
    let earlier = json!({ "status": "monitoring", "text": "We wait.", "at": at(5) });
    let report_after = add(&fixture, &report, earlier).await;
    assert_eq!(statuses(&report_after), ["resolved", "identified", "monitoring", "investigating"]);
    assert_eq!(
        report_after["updates"][2]["components"],
        impacts(&fixture.first, "down"),
        "as of that update"
    );
    assert_eq!(report_after["status"], "resolved");
    fixture.server.advance(Duration::from_mins(10));
    let again =
        add(&fixture, &report, json!({ "status": "investigating", "text": "Again." })).await;
    assert_eq!((&again["status"], again.get("resolvedAt")), (&json!("investigating"), None));
    assert_eq!(fixture.audited(5).await[..4], ["report.add_update"; 4]);
}

#[tokio::test]
async fn update_edit_changes_masked_fields_without_notifying() {
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    fixture.server.advance(Duration::from_mins(10));
    let id = &report["updates"][0]["id"];
    let edit = async |mut fields: Value, mask: Option<&str>| {
        fields["id"] = id.clone();
        let mut request = json!({ "update": fields });
        if let Some(mask) = mask {
            request["updateMask"] = json!(mask);
        }
        fixture.call("EditStatusReportUpdate", request).await
    };
    let moved = edit(json!({ "at": at(-5), "text": "*We* look." }), Some("at,text")).await.json();
    let moved = &moved["statusReport"];
    let update = &moved["updates"][0];
    assert_eq!((&update["text"], &update["at"]), (&json!("*We* look."), &json!(at(-5))));
    assert_eq!((&update["status"], &update["notified"]), (&json!("investigating"), &json!(true)));
    assert_eq!((&moved["startedAt"], &update["updatedAt"]), (&json!(at(-5)), &json!(at(10))));
    let whole = edit(json!({ "status": "identified", "text": "Known." }), None).await.json();
    let update = &whole["statusReport"]["updates"][0];
    assert_eq!(
        (&update["at"], &update["components"]),
        (&json!(at(-5)), &json!([])),
        "its time stays"
    );
    assert_eq!(whole["statusReport"]["status"], "identified");
    for (fields, mask, path) in [
        (json!({ "at": at(11) }), Some("at"), "update.at"),
        (json!({}), Some("text"), "update.text"),
        (json!({ "notified": false }), Some("notified"), "update_mask"),
    ] {
        let refused = edit(fields, mask).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let unknown =
        json!({ "update": { "id": "upd_0000000000001", "text": "x" }, "updateMask": "text" });
    assert_eq!(fixture.call("EditStatusReportUpdate", unknown).await.status, 404);
    assert_eq!(fixture.audited(3).await[..2], ["report.edit_update"; 2]);
}

#[tokio::test]
async fn only_update_of_a_report_cannot_be_deleted() {
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    let first = json!({ "id": report["updates"][0]["id"] });
    let refused = fixture.call("DeleteStatusReportUpdate", first.clone()).await;
    assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["id".to_owned()]));
    let resolved = add(&fixture, &report, json!({ "status": "resolved", "text": "Over." })).await;
    let last = json!({ "id": resolved["updates"][0]["id"] });
    let open = fixture.done("DeleteStatusReportUpdate", last.clone()).await;
    assert_eq!((&open["status"], open.get("resolvedAt")), (&json!("investigating"), None));
    assert_eq!(fixture.call("DeleteStatusReportUpdate", last).await.status, 404);
    let stranger = fixture.server.stranger();
    let theirs = stranger.call(STATUS_REPORTS, "DeleteStatusReportUpdate", first).await;
    assert_eq!(theirs.status, 404);
    assert_eq!(fixture.audited(1).await, ["report.delete_update"]);
}

#[tokio::test]
async fn a_repeated_update_is_added_once() {
    // design: §4, idempotency
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    let update = json!({ "status": "monitoring", "text": "We wait." });
    let body = json!({ "id": report["id"], "update": update }).to_string();
    let add = async || {
        let request = http::Request::post(format!("/rpc/{STATUS_REPORTS}/AddStatusReportUpdate"))
            .header("host", fixture.server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(bytes::Bytes::from(body.clone()).into());
        fixture.caller.request(request.unwrap()).await
    };
    let first = add().await.json();
    assert_eq!(first["statusReport"]["updates"].as_array().unwrap().len(), 2);
    assert_eq!(add().await.json(), first);
    let id = json!({ "id": first["statusReport"]["updates"][0]["id"] });
    fixture.done("DeleteStatusReportUpdate", id).await;
    assert_eq!(add().await.status, 409);
}
