//! Limits of reports, updates and templates over RPC, at each bound and one past it.

use rules::field::{Field, Presence, Resource, Shape};
use rules::limits::{REPORT_AT_MIN, REPORT_TEMPLATES_MAX, REPORT_UPDATES_MAX};
use rules::tables::{REPORT_TEMPLATE, REPORT_UPDATE, STATUS_REPORT};
use serde_json::{Value, json};

use super::{ReportFixture, at, component, paths};
use crate::rpc::camel;

/// Returns valid and invalid values of a field.
fn bounds(field: &Field) -> Option<(Vec<Value>, Vec<Value>)> {
    let text = |characters: u32| json!("☂".repeat(characters as usize));
    if let Shape::Id(_) = field.shape {
        // Other tests cover references to existing resources.
        return None;
    }
    if let Shape::Text { min, max } | Shape::Line { min, max } = field.shape {
        let shorter = min.checked_sub(1).map(text);
        let past = shorter.into_iter().chain([text(max + 1)]).collect();
        return Some((vec![text(min), text(max)], past));
    }
    if let Some(words) = field.shape.names() {
        let hold = words.iter().map(|word| json!(word)).collect();
        return Some((hold, vec![json!(""), json!("Over")]));
    }
    assert_eq!(field.shape, Shape::Instant, "no bounds are known of `{}`", field.name);
    let before = REPORT_AT_MIN - std::time::Duration::from_millis(1);
    let hold = vec![json!(REPORT_AT_MIN.to_string()), json!(at(0))];
    Some((hold, vec![json!(before.to_string()), json!(at(1))]))
}

/// Creates resources of this table with each bounded field at its bounds and past them. Returns the
/// number of stored resources.
async fn walk(
    fixture: &ReportFixture,
    (table, method, under): (&'static Resource, &str, &str),
    least: impl Fn() -> Value,
) -> usize {
    let (mut walked, mut stored) = (0, 0);
    for field in table.fields.iter().filter(|field| field.presence != Presence::Output) {
        let Some((hold, refused)) = bounds(field) else { continue };
        let with = |value: Value| {
            let mut request = least();
            request[camel(under)][camel(field.name)] = value;
            request
        };
        for value in hold {
            let reply = fixture.call(method, with(value)).await;
            assert_eq!(reply.status, 200, "{}: {reply}", field.name);
            stored += 1;
        }
        for value in refused {
            let reply = fixture.call(method, with(value)).await;
            assert_eq!(reply.status, 400, "{}: {reply}", field.name);
            assert_eq!(paths(&reply), [format!("{under}.{}", field.name)], "{reply}");
        }
        walked += 1;
    }
    assert!(walked > 0, "{}", table.name);
    stored
}

#[tokio::test]
async fn values_beyond_a_limit_are_rejected() {
    // issue 7 point 3
    let fixture = ReportFixture::start().await;
    let create = "CreateStatusReport";
    let reports =
        walk(&fixture, (&STATUS_REPORT, create, "status_report"), || fixture.opening()).await;
    let updates = walk(&fixture, (&REPORT_UPDATE, create, "update"), || fixture.opening()).await;
    let found = fixture.call("ListStatusReports", json!({ "limit": 1 })).await.json();
    assert_eq!(found["totalSize"], reports + updates, "what is refused is not stored");
    let least = || json!({ "template": { "name": "Disks" } });
    let table = (&REPORT_TEMPLATE, "CreateReportTemplate", "template");
    let templates = walk(&fixture, table, least).await;
    let found = fixture.call("ListReportTemplates", json!({ "limit": 1 })).await.json();
    assert_eq!(found["totalSize"], templates);
}

#[tokio::test]
async fn report_with_too_many_components_is_rejected() {
    let fixture = ReportFixture::start().await;
    let most = STATUS_REPORT.block("components").max.unwrap() as usize;
    let mut all = vec![fixture.first.clone(), fixture.second.clone()];
    for number in all.len()..=most {
        all.push(component(&fixture.caller, &fixture.page, &format!("{number}")).await);
    }
    for (count, status) in [(most, 200), (most + 1, 400)] {
        let mut opening = fixture.opening();
        let affected = all[..count].iter().map(|id| json!({ "componentId": id, "impact": "down" }));
        opening["statusReport"]["components"] = affected.collect();
        let reply = fixture.call("CreateStatusReport", opening).await;
        assert_eq!(reply.status, status, "{count}: {reply}");
    }
}

#[tokio::test]
async fn updates_and_templates_beyond_maximum_are_rejected() {
    let fixture = ReportFixture::start().await;
    let report = fixture.opened().await;
    let update = json!({ "status": "monitoring", "text": "We wait." });
    let add =
        || fixture.call("AddStatusReportUpdate", json!({ "id": report["id"], "update": update }));
    for _ in 1..REPORT_UPDATES_MAX {
        assert_eq!(add().await.status, 200);
    }
    let refused = add().await;
    assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["update.text".to_owned()]));
    let create =
        || fixture.call("CreateReportTemplate", json!({ "template": { "name": "Disks" } }));
    for _ in 0..REPORT_TEMPLATES_MAX {
        assert_eq!(create().await.status, 200);
    }
    let refused = create().await;
    assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["template.name".to_owned()]));
}
