//! Templates: defaults for new reports, and fields of the caller beside a template.

use serde_json::{Value, json};
use testkit::server::STATUS_REPORTS;

use super::{ReportFixture, component, impacts, page, paths};

async fn a_template(fixture: &ReportFixture, fields: Value) -> Value {
    let mut template = json!({ "name": "Disks" });
    template.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let reply = fixture.call("CreateReportTemplate", json!({ "template": template })).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["template"].clone()
}

#[tokio::test]
async fn report_takes_missing_fields_from_its_template() {
    // issue 7 point 3: "templates"
    let fixture = ReportFixture::start().await;
    let other = page(&fixture.caller, "other").await;
    let elsewhere = component(&fixture.caller, &other, "Elsewhere").await;
    let components = json!([impacts(&fixture.first, "down")[0], impacts(&elsewhere, "down")[0]]);
    let full = json!({
        "title": "Disks fail", "status": "identified", "text": "We *know*.", "components": components,
    });
    let template = a_template(&fixture, full).await;
    let report = |fields: Value, update: Option<Value>| {
        let mut request = json!({ "statusReport": fields, "templateId": template["id"] });
        if let Some(update) = update {
            request["update"] = update;
        }
        request
    };
    let taken = report(json!({ "pageId": fixture.page }), None);
    let taken = fixture.done("CreateStatusReport", taken).await;
    assert_eq!((&taken["title"], &taken["status"]), (&json!("Disks fail"), &json!("identified")));
    assert_eq!(taken["updates"][0]["text"], "We *know*.");
    assert_eq!(taken["components"], impacts(&fixture.first, "down"), "of its own page");
    let own = json!({ "pageId": fixture.page, "title": "Mine", "components": impacts(&fixture.second, "degraded") });
    let own = report(own, Some(json!({ "text": "Mine." })));
    let own = fixture.done("CreateStatusReport", own).await;
    assert_eq!((&own["title"], &own["status"]), (&json!("Mine"), &json!("identified")));
    assert_eq!(
        (&own["updates"][0]["text"], &own["components"]),
        (&json!("Mine."), &impacts(&fixture.second, "degraded"))
    );
    let bare = a_template(&fixture, json!({})).await;
    let lacking = json!({ "statusReport": { "pageId": fixture.page }, "templateId": bare["id"] });
    let refused = fixture.call("CreateStatusReport", lacking).await;
    assert_eq!(paths(&refused), ["status_report.title", "update.status", "update.text"]);
    for unknown in ["tpl_0000000000001", "x"] {
        let mut request = fixture.opening();
        request["templateId"] = json!(unknown);
        let refused = fixture.call("CreateStatusReport", request).await;
        assert_eq!(
            (refused.status.as_u16(), paths(&refused)),
            (400, vec!["template_id".to_owned()])
        );
    }
}

#[tokio::test]
async fn templates_are_read_changed_and_deleted() {
    let fixture = ReportFixture::start().await;
    let template =
        a_template(&fixture, json!({ "text": "x", "components": impacts(&fixture.first, "down") }))
            .await;
    let list = fixture.call("ListReportTemplates", json!({})).await.json();
    assert_eq!(list, json!({ "templates": [template], "totalSize": 1, "nextPageToken": "" }));
    let theirs =
        fixture.server.stranger().call(STATUS_REPORTS, "ListReportTemplates", json!({})).await;
    assert_eq!(theirs.json()["totalSize"], 0);
    let update = async |mut fields: Value, mask: &str| {
        fields["id"] = template["id"].clone();
        let request = json!({ "template": fields, "updateMask": mask });
        fixture.call("UpdateReportTemplate", request).await
    };
    let changed = update(json!({ "name": "More" }), "name,text").await.json()["template"].clone();
    assert_eq!((&changed["name"], changed.get("text")), (&json!("More"), None));
    assert_eq!(changed["components"], impacts(&fixture.first, "down"));
    for (fields, mask, path) in [
        (json!({}), "name", "template.name"),
        (json!({ "status": "over" }), "status", "template.status"),
        (json!({}), "id", "update_mask"),
        (
            json!({ "components": impacts(&json!("cmp_0000000000001"), "down") }),
            "components",
            "template.components",
        ),
    ] {
        let refused = update(fields, mask).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let id = json!({ "id": template["id"] });
    assert_eq!(fixture.call("DeleteReportTemplate", id.clone()).await.to_string(), "200 {}");
    assert_eq!(fixture.call("DeleteReportTemplate", id).await.status, 404);
    assert_eq!(update(json!({ "name": "x" }), "name").await.status, 404);
    let noted = ["report_template.delete", "report_template.update", "report_template.create"];
    assert_eq!(fixture.audited(3).await, noted);
}
