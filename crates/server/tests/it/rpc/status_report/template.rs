//! Templates: defaults for new reports, and fields of the caller beside a template.

use serde_json::{Value, json};
use testkit::server::STATUS_REPORTS;

use super::{Scene, component, page, paths, said};

async fn a_template(scene: &Scene, fields: Value) -> Value {
    let mut template = json!({ "name": "Disks" });
    template.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let reply = scene.call("CreateReportTemplate", json!({ "template": template })).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["template"].clone()
}

#[tokio::test]
async fn report_takes_missing_fields_from_its_template() {
    // issue 7 point 3: "templates"
    let scene = Scene::start().await;
    let other = page(&scene.caller, "other").await;
    let elsewhere = component(&scene.caller, &other, "Elsewhere").await;
    let components = json!([said(&scene.first, "down")[0], said(&elsewhere, "down")[0]]);
    let full = json!({
        "title": "Disks fail", "status": "identified", "text": "We *know*.", "components": components,
    });
    let template = a_template(&scene, full).await;
    let report = |fields: Value, update: Option<Value>| {
        let mut request = json!({ "statusReport": fields, "templateId": template["id"] });
        if let Some(update) = update {
            request["update"] = update;
        }
        request
    };
    let taken = report(json!({ "pageId": scene.page }), None);
    let taken = scene.done("CreateStatusReport", taken).await;
    assert_eq!((&taken["title"], &taken["status"]), (&json!("Disks fail"), &json!("identified")));
    assert_eq!(taken["updates"][0]["text"], "We *know*.");
    assert_eq!(taken["components"], said(&scene.first, "down"), "of its own page");
    let own = json!({ "pageId": scene.page, "title": "Mine", "components": said(&scene.second, "degraded") });
    let own = report(own, Some(json!({ "text": "Mine." })));
    let own = scene.done("CreateStatusReport", own).await;
    assert_eq!((&own["title"], &own["status"]), (&json!("Mine"), &json!("identified")));
    assert_eq!(
        (&own["updates"][0]["text"], &own["components"]),
        (&json!("Mine."), &said(&scene.second, "degraded"))
    );
    let bare = a_template(&scene, json!({})).await;
    let lacking = json!({ "statusReport": { "pageId": scene.page }, "templateId": bare["id"] });
    let refused = scene.call("CreateStatusReport", lacking).await;
    assert_eq!(paths(&refused), ["status_report.title", "update.status", "update.text"]);
    for unknown in ["tpl_0000000000001", "x"] {
        let mut request = scene.opening();
        request["templateId"] = json!(unknown);
        let refused = scene.call("CreateStatusReport", request).await;
        assert_eq!(
            (refused.status.as_u16(), paths(&refused)),
            (400, vec!["template_id".to_owned()])
        );
    }
}

#[tokio::test]
async fn templates_are_read_changed_and_deleted() {
    let scene = Scene::start().await;
    let template =
        a_template(&scene, json!({ "text": "x", "components": said(&scene.first, "down") })).await;
    let list = scene.call("ListReportTemplates", json!({})).await.json();
    assert_eq!(list, json!({ "templates": [template], "totalSize": 1, "nextPageToken": "" }));
    let theirs =
        scene.server.stranger().call(STATUS_REPORTS, "ListReportTemplates", json!({})).await;
    assert_eq!(theirs.json()["totalSize"], 0);
    let update = async |mut fields: Value, mask: &str| {
        fields["id"] = template["id"].clone();
        let request = json!({ "template": fields, "updateMask": mask });
        scene.call("UpdateReportTemplate", request).await
    };
    let changed = update(json!({ "name": "More" }), "name,text").await.json()["template"].clone();
    assert_eq!((&changed["name"], changed.get("text")), (&json!("More"), None));
    assert_eq!(changed["components"], said(&scene.first, "down"));
    for (fields, mask, path) in [
        (json!({}), "name", "template.name"),
        (json!({ "status": "over" }), "status", "template.status"),
        (json!({}), "id", "update_mask"),
        (
            json!({ "components": said(&json!("cmp_0000000000001"), "down") }),
            "components",
            "template.components",
        ),
    ] {
        let refused = update(fields, mask).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let id = json!({ "id": template["id"] });
    assert_eq!(scene.call("DeleteReportTemplate", id.clone()).await.to_string(), "200 {}");
    assert_eq!(scene.call("DeleteReportTemplate", id).await.status, 404);
    assert_eq!(update(json!({ "name": "x" }), "name").await.status, 404);
    let noted = ["report_template.delete", "report_template.update", "report_template.create"];
    assert_eq!(scene.audited(3).await, noted);
}
