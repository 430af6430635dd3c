//! Status reports over RPC: creation, updates by mask, lists, and deletion with their page.
//!
//! Modules of their own cover report updates, templates and limits.

mod limits;
mod template;
mod update;

use std::time::Duration;

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, START, STATUS_PAGES, STATUS_REPORTS, TestServer};

/// Server, write caller, and a page with two components.
struct ReportFixture {
    server: TestServer,
    caller: Caller,
    page: Value,
    first: Value,
    second: Value,
}

impl ReportFixture {
    async fn start() -> Self {
        let server = TestServer::start().await;
        let caller = server.caller(Scope::Write);
        let page = page(&caller, "acme").await;
        let (first, second) =
            (component(&caller, &page, "API").await, component(&caller, &page, "Mail").await);
        Self { server, caller, page, first, second }
    }

    async fn call(&self, method: &str, request: Value) -> Reply {
        self.caller.call(STATUS_REPORTS, method, request).await
    }

    /// Calls a method that must succeed and returns the report from its response.
    async fn done(&self, method: &str, request: Value) -> Value {
        let reply = self.call(method, request).await;
        assert_eq!(reply.status, 200, "{method}: {reply}");
        reply.json()["statusReport"].clone()
    }

    /// Returns a request that opens a report with the first component down.
    fn opening(&self) -> Value {
        json!({
            "statusReport": {
                "pageId": self.page, "title": "Disks",
                "components": [{ "componentId": self.first, "impact": "down" }],
            },
            "update": { "status": "investigating", "text": "We look." },
        })
    }

    async fn opened(&self) -> Value {
        self.done("CreateStatusReport", self.opening()).await
    }

    /// Returns the newest audited actions of the workspace, newest first.
    async fn audited(&self, count: usize) -> Vec<String> {
        let store = &self.server.running().app().store;
        let acme = store.workspaces().by_slug("acme").await.unwrap().id;
        let entries = store.audit().newest(acme, 50).await.unwrap();
        entries.into_iter().map(|entry| entry.action).take(count).collect()
    }
}

async fn page(caller: &Caller, slug: &str) -> Value {
    let request = json!({ "statusPage": { "title": "Acme", "slug": slug } });
    let reply = caller.call(STATUS_PAGES, "CreateStatusPage", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["statusPage"]["id"].clone()
}

async fn component(caller: &Caller, page: &Value, name: &str) -> Value {
    let component = json!({ "pageId": page, "type": "static", "name": name });
    let request = json!({ "component": component });
    let reply = caller.call(STATUS_PAGES, "CreateComponent", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["component"]["id"].clone()
}

/// Formats a time after the start as responses do.
fn at(minutes: i64) -> String {
    let at = if minutes < 0 {
        START - Duration::from_mins(minutes.unsigned_abs())
    } else {
        START + Duration::from_mins(minutes.unsigned_abs())
    };
    at.to_string().replace(".000Z", "Z")
}

fn impacts(component: &Value, impact: &str) -> Value {
    json!([{ "componentId": component, "impact": impact }])
}

/// Returns the paths of the fields in the violations of an error.
fn paths(reply: &Reply) -> Vec<String> {
    let violations = reply.error().map(|error| contract::rpc::field_violations(&error));
    violations.unwrap_or_default().into_iter().map(|violation| violation.field).collect()
}

#[tokio::test]
async fn created_report_reads_back_equal() {
    // issue 7 point 3; design: §4
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    assert_eq!((&report["title"], &report["pageId"]), (&json!("Disks"), &fixture.page));
    assert_eq!(report["components"], impacts(&fixture.first, "down"));
    assert_eq!((&report["status"], &report["startedAt"]), (&json!("investigating"), &json!(at(0))));
    assert!(report.get("resolvedAt").is_none());
    let update = &report["updates"][0];
    assert_eq!((&update["text"], &update["at"]), (&json!("We look."), &json!(at(0))));
    assert_eq!((&update["notified"], &update["components"]), (&json!(true), &report["components"]));
    let id = json!({ "id": report["id"] });
    assert_eq!(fixture.done("GetStatusReport", id.clone()).await, report);
    // design: §4: a read key may read resources without secrets
    let read = fixture.server.caller(Scope::Read);
    let reply = read.call(STATUS_REPORTS, "GetStatusReport", id.clone()).await;
    assert_eq!(reply.json()["statusReport"], report);
    let denied = read.call(STATUS_REPORTS, "CreateStatusReport", fixture.opening()).await;
    assert_eq!(denied.status, 403, "{denied}");
    let stranger = fixture.server.stranger().call(STATUS_REPORTS, "GetStatusReport", id).await;
    assert_eq!(stranger.status, 404);
    assert_eq!(fixture.audited(1).await, ["report.create"]);
}

#[tokio::test]
async fn backdated_report_without_notify_notifies_nobody() {
    let fixture = ReportFixture::start().await;
    let mut opening = fixture.opening();
    opening["notify"] = json!(false);
    opening["update"]["at"] = json!(at(-90));
    opening["update"]["components"] = impacts(&fixture.second, "degraded");
    let report = fixture.done("CreateStatusReport", opening).await;
    assert_eq!((&report["startedAt"], &report["createdAt"]), (&json!(at(-90)), &json!(at(0))));
    assert_eq!(report["updates"][0]["notified"], false);
    assert_eq!(report["components"], impacts(&fixture.second, "degraded"), "the update counts");
}

#[tokio::test]
async fn invalid_report_is_refused_by_path() {
    // issue 6, bad input
    let fixture = ReportFixture::start().await;
    let other = page(&fixture.caller, "other").await;
    let elsewhere = component(&fixture.caller, &other, "Elsewhere").await;
    let theirs = page(&fixture.server.stranger(), "theirs").await;
    let wrong = json!({
        "statusReport": { "pageId": "x", "title": "", "components": [{ "impact": "up" }] },
        "update": { "status": "over", "text": "", "at": "1999-12-31T23:59:59Z" },
    });
    let refused = fixture.call("CreateStatusReport", wrong).await;
    insta::assert_snapshot!(paths(&refused).join("\n"), @"
    status_report.page_id
    status_report.title
    status_report.components[0].component_id
    status_report.components[0].impact
    update.status
    update.text
    update.at
    ");
    for (change, path) in [
        (json!({ "pageId": theirs }), "status_report.page_id"),
        (json!({ "pageId": "page_0000000000001" }), "status_report.page_id"),
        (json!({ "components": impacts(&elsewhere, "down") }), "status_report.components"),
        (
            json!({ "components": [impacts(&fixture.first, "down")[0], impacts(&fixture.first, "degraded")[0]] }),
            "status_report.components",
        ),
    ] {
        let mut opening = fixture.opening();
        let report = opening["statusReport"].as_object_mut().unwrap();
        report.extend(change.as_object().unwrap().clone());
        let refused = fixture.call("CreateStatusReport", opening).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let mut opening = fixture.opening();
    opening["update"]["components"] = impacts(&elsewhere, "down");
    let refused = fixture.call("CreateStatusReport", opening.clone()).await;
    assert_eq!(paths(&refused), ["update.components"]);
    opening["update"].as_object_mut().unwrap().remove("components");
    opening["update"]["at"] = json!(at(1));
    assert_eq!(paths(&fixture.call("CreateStatusReport", opening).await), ["update.at"]);
    assert_eq!(paths(&fixture.call("CreateStatusReport", json!({})).await), ["status_report"]);
    let bare = json!({ "statusReport": { "pageId": fixture.page, "title": "x" } });
    assert_eq!(paths(&fixture.call("CreateStatusReport", bare).await), ["update"]);
    let list = json!({ "state": "closed", "limit": 101, "pageId": "x" });
    let refused = fixture.call("ListStatusReports", list).await;
    assert_eq!(paths(&refused), ["limit", "page_id", "state"]);
    assert_eq!(fixture.call("ListStatusReports", json!({})).await.json()["totalSize"], 0);
}

#[tokio::test]
async fn update_mask_changes_or_clears_only_named_fields() {
    // design: §4 update_mask
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    let update = async |mut fields: Value, mask: Option<&str>| {
        fields["id"] = report["id"].clone();
        let mut request = json!({ "statusReport": fields });
        if let Some(mask) = mask {
            request["updateMask"] = json!(mask);
        }
        fixture.call("UpdateStatusReport", request).await
    };
    let renamed = update(json!({ "title": "More disks" }), Some("title")).await.json();
    let renamed = &renamed["statusReport"];
    assert_eq!(
        (&renamed["title"], &renamed["components"]),
        (&json!("More disks"), &report["components"])
    );
    let cleared = update(json!({}), Some("components")).await.json();
    assert_eq!(cleared["statusReport"]["components"], json!([]));
    let whole = json!({ "title": "Whole", "components": impacts(&fixture.second, "degraded") });
    let whole = update(whole, None).await.json()["statusReport"].clone();
    assert_eq!(whole["updates"][0]["components"], impacts(&fixture.second, "degraded"));
    assert_eq!(whole["pageId"], fixture.page, "what is fixed may be left out");
    let same = update(json!({ "title": "Whole" }), Some("title")).await.json();
    assert_eq!(same["statusReport"], whole, "what is the same changes nothing");
    let other = page(&fixture.caller, "other").await;
    for (fields, mask, path) in [
        (json!({ "pageId": other }), Some("pageId"), "status_report.page_id"),
        (json!({}), Some("title"), "status_report.title"),
        (json!({}), Some("status"), "update_mask"),
        (
            json!({ "title": "x", "components": impacts(&json!("cmp_0000000000001"), "down") }),
            None,
            "status_report.components",
        ),
    ] {
        let refused = update(fields, mask).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec![path.to_owned()]));
    }
    let unknown = json!({ "statusReport": { "id": "rpt_0000000000001", "title": "x" }, "updateMask": "title" });
    assert_eq!(fixture.call("UpdateStatusReport", unknown).await.status, 404);
    assert_eq!(fixture.audited(5).await[1..4], ["report.update"; 3]);
}

#[tokio::test]
async fn a_repeated_create_answers_the_first_ones_report() {
    // design: §4, idempotency
    let fixture = ReportFixture::start().await;
    let create = async || {
        let request = http::Request::post(format!("/rpc/{STATUS_REPORTS}/CreateStatusReport"))
            .header("host", fixture.server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", "once")
            .body(bytes::Bytes::from(fixture.opening().to_string()).into());
        fixture.caller.request(request.unwrap()).await
    };
    let first = create().await.json();
    assert_eq!(create().await.json(), first);
    let id = json!({ "id": first["statusReport"]["id"] });
    assert_eq!(fixture.call("DeleteStatusReport", id.clone()).await.to_string(), "200 {}");
    assert_eq!(create().await.status, 409);
    assert_eq!(fixture.call("DeleteStatusReport", id).await.status, 404);
    assert_eq!(fixture.audited(2).await, ["report.delete", "report.create"]);
}

#[tokio::test]
async fn report_list_is_filtered_and_includes_latest_update() {
    let fixture = ReportFixture::start().await;
    let other = page(&fixture.caller, "other").await;
    let mut ids = Vec::new();
    for page in [&fixture.page, &fixture.page, &other] {
        let report = json!({
            "statusReport": { "pageId": page, "title": "Disks" },
            "update": { "status": "investigating", "text": "We look.", "at": at(-60) },
        });
        ids.push(fixture.done("CreateStatusReport", report).await["id"].clone());
    }
    let update = json!({ "status": "resolved", "text": "Over." });
    fixture.done("AddStatusReportUpdate", json!({ "id": ids[0], "update": update })).await;
    let listed = async |request: Value| {
        let list = fixture.call("ListStatusReports", request).await.json();
        let reports = list["statusReports"].as_array().unwrap().clone();
        assert!(reports.iter().all(|it| it["updates"].as_array().unwrap().len() == 1));
        assert_eq!(list["nextPageToken"] == "", list["totalSize"] == reports.len());
        reports.iter().map(|it| it["id"].clone()).collect::<Vec<_>>()
    };
    ids.reverse();
    assert_eq!(listed(json!({})).await, ids);
    assert_eq!(listed(json!({ "pageId": fixture.page })).await, ids[1..]);
    assert_eq!(listed(json!({ "state": "open" })).await, ids[..2]);
    assert_eq!(listed(json!({ "state": "resolved", "pageId": fixture.page })).await, ids[2..]);
    let first = fixture.call("ListStatusReports", json!({ "limit": 2 })).await.json();
    let rest = json!({ "pageToken": first["nextPageToken"] });
    let rest = fixture.call("ListStatusReports", rest).await.json();
    let resolved = &rest["statusReports"][0];
    assert_eq!(
        (&resolved["status"], &resolved["startedAt"]),
        (&json!("resolved"), &json!(at(-60)))
    );
    assert_eq!(
        (&resolved["updates"][0]["text"], &resolved["resolvedAt"]),
        (&json!("Over."), &json!(at(0)))
    );
    assert_eq!(resolved["id"], ids[2]);
}

#[tokio::test]
async fn deleted_page_and_component_leave_reports() {
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    let id = json!({ "id": report["id"] });
    let gone = json!({ "id": fixture.first });
    fixture.caller.call(STATUS_PAGES, "DeleteComponent", gone).await;
    let without = fixture.done("GetStatusReport", id.clone()).await;
    assert_eq!(without["components"], json!([]));
    assert_eq!(fixture.audited(2).await, ["component.delete", "report.update"]);
    let page = json!({ "id": fixture.page });
    let deleted = fixture.caller.call(STATUS_PAGES, "DeleteStatusPage", page).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    assert_eq!(fixture.call("GetStatusReport", id).await.status, 404);
}
