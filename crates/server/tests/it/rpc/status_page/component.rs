//! Components: content, fixed fields, and the effect of deleting a monitor, a group or a page.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{a_component, a_group, a_page, audited, call, done, monitor, paths, start};

#[tokio::test]
async fn created_component_reads_back_equal() {
    // spec: §2.6; design: §4
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let group = a_group(&caller, &page).await;
    let written = json!({
        "pageId": page["id"],
        "type": "monitor",
        "monitorId": monitor(&caller).await,
        "name": "",
        "description": "d",
        "order": 0,
        "groupId": group["id"],
        "groupOrder": -2_147_483_648_i64,
    });
    let request = json!({ "component": written });
    let created = done(&caller, "CreateComponent", "component", request).await;
    let read = done(&caller, "GetComponent", "component", json!({ "id": created["id"] })).await;
    assert_eq!(read, created);
    for (field, value) in written.as_object().unwrap() {
        assert_eq!(read[field], *value, "{field}");
    }
    assert_eq!(audited(&server).await[0].0, "component.create");
    let bare = a_component(&caller, &page, json!({})).await;
    let mut fields: Vec<_> = bare.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields.join(" "), "createdAt id name pageId revision type updatedAt");
}

#[tokio::test]
async fn component_references_must_exist_in_the_workspace() {
    // spec: §2.6; design: §4
    let (server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let stranger = server.stranger();
    let strangers_page = a_page(&stranger, "c").await;
    let elsewhere = a_group(&caller, &other).await;
    let component = |fields: Value| {
        let mut component = json!({ "pageId": page["id"], "type": "static", "name": "Mail" });
        super::merge(&mut component, fields);
        json!({ "component": component })
    };
    let monitors = json!({ "type": "monitor", "monitorId": monitor(&stranger).await });
    let cases = [
        component(json!({ "pageId": strangers_page["id"] })),
        component(json!({ "pageId": "page_x" })),
        component(monitors),
        component(json!({ "type": "monitor", "monitorId": "mon_0000000000001" })),
        component(json!({ "type": "monitor" })),
        component(json!({ "monitorId": monitor(&caller).await })),
        component(json!({ "groupId": elsewhere["id"] })),
        component(json!({ "pageId": null })),
        component(json!({ "type": null })),
        json!({}),
    ];
    let mut refused_paths = Vec::new();
    for request in cases {
        let refused = call(&caller, "CreateComponent", request).await;
        refused_paths.push(format!("{} {}", refused.status.as_u16(), paths(&refused).join(", ")));
    }
    assert_snapshot!(refused_paths.join("\n"), @"
    400 component.page_id
    400 component.page_id
    400 component.monitor_id
    400 component.monitor_id
    400 component.monitor_id
    400 component.monitor_id
    400 component.group_id
    400 component.page_id
    400 component.type
    400 component
    ");
    let list = call(&caller, "ListComponents", json!({})).await;
    assert_snapshot!(list, @r#"200 {"components":[],"totalSize":0,"nextPageToken":""}"#);
}

#[tokio::test]
async fn a_monitor_is_on_a_page_once() {
    // issue 5
    let (_server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let monitor = monitor(&caller).await;
    let shown = json!({ "type": "monitor", "monitorId": monitor });
    a_component(&caller, &page, shown.clone()).await;
    a_component(&caller, &other, shown).await;
    let again = json!({ "pageId": page["id"], "type": "monitor", "monitorId": monitor });
    let refused = call(&caller, "CreateComponent", json!({ "component": again })).await;
    assert_eq!(refused.reason().as_deref(), Some("ALREADY_EXISTS"), "{refused}");
    assert_eq!(
        (refused.status.as_u16(), paths(&refused)),
        (409, vec!["component.monitor_id".to_owned()])
    );
}

#[tokio::test]
async fn component_page_and_type_cannot_be_changed() {
    // spec: §2.6
    let (_server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let shown = json!({ "type": "monitor", "monitorId": monitor(&caller).await, "name": "API" });
    let before = a_component(&caller, &page, shown).await;
    let next = monitor(&caller).await;
    let update = async |mut change: Value, mask: Option<&str>| {
        change["id"] = before["id"].clone();
        let mut request = json!({ "component": change });
        if let Some(mask) = mask {
            request["updateMask"] = json!(mask);
        }
        call(&caller, "UpdateComponent", request).await
    };
    let refusals = [
        update(json!({ "pageId": other["id"] }), Some("pageId")).await,
        update(json!({ "type": "static" }), Some("type")).await,
        update(json!({ "pageId": other["id"], "type": "static" }), None).await,
        update(json!({}), Some("pageId")).await,
        update(json!({}), Some("monitorId")).await,
        update(json!({ "monitorId": "mon_0000000000001" }), Some("monitorId")).await,
    ];
    let refused_paths: Vec<_> = refusals
        .iter()
        .map(|it| format!("{} {}", it.status.as_u16(), paths(it).join(", ")))
        .collect();
    assert_snapshot!(refused_paths.join("\n"), @"
    400 component.page_id
    400 component.type, component.monitor_id
    400 component.page_id, component.type, component.name
    400 component.page_id
    400 component.monitor_id
    400 component.monitor_id
    ");
    let same = json!({ "pageId": page["id"], "type": "monitor" });
    let unchanged = update(same, Some("pageId,type")).await.json();
    assert_eq!(unchanged["component"], before, "the same values change nothing");
    let repointed = update(json!({ "monitorId": next }), Some("monitorId")).await.json();
    let after = &repointed["component"];
    assert_eq!((&after["monitorId"], &after["name"]), (&next, &json!("API")));
    let replaced = update(json!({ "monitorId": next, "order": 1 }), None).await.json();
    let after = &replaced["component"];
    assert!(after.get("name").is_none() && after["order"] == 1, "{after}");
    assert_eq!(after["pageId"], page["id"], "what is fixed may be left out");
}

#[tokio::test]
async fn component_of_a_deleted_monitor_stays_editable() {
    // design: §4
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let gone = monitor(&caller).await;
    let shown = json!({ "type": "monitor", "monitorId": gone, "name": "API" });
    let before = a_component(&caller, &page, shown).await;
    server.advance(Duration::from_secs(1));
    assert_eq!(caller.rpc("DeleteMonitor", json!({ "id": gone })).await.status, 200);
    let id = &before["id"];
    let mut due = before.clone();
    due.as_object_mut().unwrap().remove("monitorId");
    due["updatedAt"] = json!("2026-11-21T00:00:01Z");
    due["revision"] = json!("1795219201000");
    let left = done(&caller, "GetComponent", "component", json!({ "id": id })).await;
    assert_eq!(left, due);
    let update = async |change: Value, mask: &str| {
        let request = json!({ "component": change, "updateMask": mask });
        call(&caller, "UpdateComponent", request).await
    };
    let renamed = update(json!({ "id": id, "name": "Old" }), "name").await.json();
    assert_eq!(renamed["component"]["name"], "Old");
    let request = json!({ "component": { "id": id, "order": 2 } });
    let replaced = done(&caller, "UpdateComponent", "component", request).await;
    assert_eq!((&replaced["order"], replaced.get("monitorId")), (&json!(2), None));
    let dangling = update(json!({ "id": id, "monitorId": gone }), "monitorId").await;
    assert_eq!(paths(&dangling), ["component.monitor_id"]);
    let next = monitor(&caller).await;
    let repointed = update(json!({ "id": id, "monitorId": next }), "monitorId").await.json();
    assert_eq!(repointed["component"]["monitorId"], next);
    let deleted = call(&caller, "DeleteComponent", json!({ "id": id })).await;
    assert_eq!(deleted.to_string(), "200 {}");
    assert_eq!(audited(&server).await[0].0, "component.delete");
}

#[tokio::test]
async fn component_is_found_only_on_its_own_page() {
    // spec: §2.6: import by <page_id>/<component_id>
    let (_server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let component = a_component(&caller, &page, json!({})).await;
    let get = async |page: Value| {
        let request = json!({ "id": component["id"], "pageId": page });
        call(&caller, "GetComponent", request).await.status.as_u16()
    };
    assert_eq!(get(page["id"].clone()).await, 200);
    assert_eq!(get(Value::Null).await, 200);
    for wrong in [other["id"].clone(), json!("page_x"), component["id"].clone()] {
        assert_eq!(get(wrong.clone()).await, 404, "{wrong}");
    }
}

#[tokio::test]
async fn components_are_listed_by_page_or_all() {
    let (server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let mut ids = Vec::new();
    for (number, of) in [&page, &other, &page, &page].into_iter().enumerate() {
        let component = a_component(&caller, of, json!({ "order": -(number as i32) })).await;
        if of == &page {
            ids.push(component["id"].clone());
        }
        server.advance(Duration::from_secs(1));
    }
    let list = async |request: Value| call(&caller, "ListComponents", request).await.json();
    assert_eq!(list(json!({})).await["totalSize"], 4);
    let mut found = Vec::new();
    let mut token = String::new();
    loop {
        let request = json!({ "pageId": page["id"], "limit": 2, "pageToken": token });
        let part = list(request).await;
        assert_eq!(part["totalSize"], 3);
        found.extend(part["components"].as_array().unwrap().iter().map(|it| it["id"].clone()));
        token = part["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    ids.reverse();
    assert_eq!(found, ids, "newest first, each once");
    for (request, status) in [
        (json!({ "pageId": "page_x" }), 404),
        (json!({ "limit": 0 }), 400),
        (json!({ "limit": 101 }), 400),
        (json!({ "offset": -1 }), 400),
        (json!({ "pageToken": "made up" }), 400),
    ] {
        let refused = call(&caller, "ListComponents", request.clone()).await;
        assert_eq!(refused.status, status, "{request}: {refused}");
    }
}
