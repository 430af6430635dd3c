//! Component groups: round trips, renames, lookup on their own page, and deletion that keeps
//! components.

use serde_json::{Value, json};

use super::{a_component, a_group, a_page, audited, call, done, paths, start};

#[tokio::test]
async fn created_group_reads_back_equal() {
    // spec: §2.7
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let group = json!({ "pageId": page["id"], "name": " Core ☂ " });
    let request = json!({ "componentGroup": group });
    let created = done(&caller, "CreateComponentGroup", "componentGroup", request).await;
    assert_eq!((&created["pageId"], &created["name"]), (&page["id"], &json!(" Core ☂ ")));
    let id = json!({ "id": created["id"] });
    let read = done(&caller, "GetComponentGroup", "componentGroup", id).await;
    assert_eq!(read, created);
    let request = json!({ "pageId": page["id"] });
    let list = call(&caller, "ListComponentGroups", request).await.json();
    assert_eq!(list, json!({ "componentGroups": [read], "totalSize": 1, "nextPageToken": "" }));
    assert_eq!(audited(&server).await[0].0, "group.create");
}

#[tokio::test]
async fn group_can_be_renamed_but_not_moved() {
    // spec: §2.7: changing the page forces replacement
    let (server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let before = a_group(&caller, &page).await;
    let update = async |change: Value| {
        call(&caller, "UpdateComponentGroup", json!({ "componentGroup": change })).await
    };
    let renamed = update(json!({ "id": before["id"], "name": "Edge" })).await.json();
    let after = &renamed["componentGroup"];
    assert_eq!((&after["name"], &after["pageId"]), (&json!("Edge"), &page["id"]));
    assert_eq!(audited(&server).await[0].0, "group.update");
    let moved = json!({ "id": before["id"], "name": "Edge", "pageId": other["id"] });
    let refused = update(moved).await;
    assert_eq!(
        (refused.status.as_u16(), paths(&refused)),
        (400, vec!["component_group.page_id".to_owned()])
    );
    let nameless = update(json!({ "id": before["id"] })).await;
    assert_eq!(paths(&nameless), ["component_group.name"]);
    let nowhere = json!({ "pageId": "page_0000000000001", "name": "x" });
    let request = json!({ "componentGroup": nowhere });
    let refused = call(&caller, "CreateComponentGroup", request).await;
    assert_eq!(paths(&refused), ["component_group.page_id"]);
}

#[tokio::test]
async fn group_is_found_only_on_its_own_page() {
    // spec: §2.7: import by <page_id>/<group_id>
    let (_server, caller) = start().await;
    let (page, other) = (a_page(&caller, "a").await, a_page(&caller, "b").await);
    let group = a_group(&caller, &page).await;
    for (page, status) in [(&page, 200), (&other, 404)] {
        let request = json!({ "id": group["id"], "pageId": page["id"] });
        let reply = call(&caller, "GetComponentGroup", request).await;
        assert_eq!(reply.status, status, "{reply}");
    }
}

#[tokio::test]
async fn a_deleted_group_leaves_its_components_without_one() {
    // issue 5
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let group = a_group(&caller, &page).await;
    let fields = json!({ "groupId": group["id"], "groupOrder": 3 });
    let component = a_component(&caller, &page, fields).await;
    let deleted = call(&caller, "DeleteComponentGroup", json!({ "id": group["id"] })).await;
    assert_eq!(deleted.to_string(), "200 {}");
    let id = json!({ "id": component["id"] });
    let left = done(&caller, "GetComponent", "component", id).await;
    assert_eq!((left.get("groupId"), &left["groupOrder"]), (None, &json!(3)));
}
