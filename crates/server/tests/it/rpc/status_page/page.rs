//! Status pages: responses, access to the password, uniqueness, publication and theme.

use std::time::Duration;

use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::STATUS_PAGES;

use super::{a_page, audited, call, done, paths, start};

/// Returns a page with every argument set.
fn everything() -> Value {
    json!({
        "title": " Äcme ☂ ",
        "slug": "acme-status",
        "description": "",
        "homepageUrl": "HTTPS://Bücher.example:443/a%2fb?q=1#top",
        "contactUrl": "mailto:ops@example.com",
        "icon": "https://example.com/i.png",
        "customDomain": "Status.Bücher.example",
        "accessType": "password",
        "password": "hunter2",
        "authEmailDomains": ["b.example", "A.example", "b.example"],
    })
}

#[tokio::test]
async fn new_page_is_published_with_the_system_theme() {
    // spec: §2.5; issue 5: pages published when created
    let (_server, caller) = start().await;
    let request = json!({ "statusPage": { "title": "Acme", "slug": "acme" } });
    let reply = call(&caller, "CreateStatusPage", request).await;
    assert_snapshot!(reply, @r#"200 {"statusPage":{"id":"page_1jkm030012kv4","title":"Acme","slug":"acme","authEmailDomains":[],"published":true,"theme":"system","createdAt":"2026-11-21T00:00:00Z","updatedAt":"2026-11-21T00:00:00Z","allowIndexing":true,"revision":"1795219200000"},"warnings":[]}"#);
}

#[tokio::test]
async fn created_page_reads_back_equal() {
    // design: §4: no value is normalized
    let (server, caller) = start().await;
    let mut written = everything();
    // Output-only fields in a request are ignored.
    written["published"] = json!(false);
    written["theme"] = json!("dark");
    let created =
        done(&caller, "CreateStatusPage", "statusPage", json!({ "statusPage": written })).await;
    let id = json!({ "id": created["id"] });
    let read = done(&caller, "GetStatusPage", "statusPage", id.clone()).await;
    assert_eq!(read, created);
    for (field, value) in everything().as_object().unwrap() {
        assert_eq!(read[field], *value, "{field}");
    }
    assert_eq!((&read["published"], &read["theme"]), (&json!(true), &json!("system")));
    let list = call(&caller, "ListStatusPages", json!({})).await.json();
    assert_eq!(list, json!({ "statusPages": [read], "totalSize": 1, "nextPageToken": "" }));
    assert_eq!(audited(&server).await[0].0, "page.create");
}

#[tokio::test]
async fn a_password_is_left_out_for_read_keys() {
    // spec: §2.8; design: §4: omit the password instead of masking it
    let (server, caller) = start().await;
    let request = json!({ "statusPage": everything() });
    let created = done(&caller, "CreateStatusPage", "statusPage", request).await;
    let reader = server.caller(Scope::Read);
    let read = done(&reader, "GetStatusPage", "statusPage", json!({ "id": created["id"] })).await;
    let mut due = created;
    due.as_object_mut().unwrap().remove("password");
    assert_eq!(read, due);
    let list = call(&reader, "ListStatusPages", json!({})).await;
    assert!(!list.to_string().contains("hunter2"), "{list}");
}

#[tokio::test]
async fn duplicate_slug_or_domain_is_rejected_across_workspaces() {
    // spec: §2.5; issue 5: a slug is unique within the server
    let (server, caller) = start().await;
    let request = json!({ "statusPage": everything() });
    done(&server.stranger(), "CreateStatusPage", "statusPage", request).await;
    let mine = a_page(&caller, "mine").await;
    let cases = [
        ("status_page.slug", "slug", "acme-status"),
        ("status_page.custom_domain", "customDomain", "STATUS.xn--bcher-kva.example"),
    ];
    for (path, field, value) in cases {
        let mut new = json!({ "title": "x", "slug": "free" });
        new[field] = json!(value);
        let created = call(&caller, "CreateStatusPage", json!({ "statusPage": new })).await;
        let change = json!({ "id": mine["id"], field: value });
        let mask = if field == "slug" { "slug" } else { "customDomain" };
        let request = json!({ "statusPage": change, "updateMask": mask });
        let updated = call(&caller, "UpdateStatusPage", request).await;
        for refused in [created, updated] {
            assert_eq!((refused.status.as_u16(), paths(&refused)), (409, vec![path.to_owned()]));
            assert_eq!(refused.reason().as_deref(), Some("ALREADY_EXISTS"));
        }
    }
    let list = call(&caller, "ListStatusPages", json!({})).await.json();
    assert_eq!(list["statusPages"], json!([mine]));
    let request = json!({ "statusPage": { "title": "x", "slug": "mine" } });
    assert_snapshot!(call(&caller, "CreateStatusPage", request).await, @r#"409 {"code":"already_exists","message":"`status_page.slug` is already used by another status page of this server (given: `mine`)"}"#);
}

#[tokio::test]
async fn update_mask_changes_or_clears_only_named_fields() {
    // design: §4
    let (server, caller) = start().await;
    let request = json!({ "statusPage": everything() });
    let before = done(&caller, "CreateStatusPage", "statusPage", request).await;
    server.advance(Duration::from_secs(1));
    let request = json!({
        "statusPage": { "id": before["id"], "title": "New", "slug": "no" },
        "updateMask": "title,description,authEmailDomains",
    });
    let after = done(&caller, "UpdateStatusPage", "statusPage", request).await;
    let mut due = before.clone();
    due["title"] = json!("New");
    due["authEmailDomains"] = json!([]);
    due.as_object_mut().unwrap().remove("description");
    due["updatedAt"] = json!("2026-11-21T00:00:01Z");
    due["revision"] = json!("1795219201000");
    assert_eq!(after, due);
    let refusals = [
        json!({ "statusPage": { "id": before["id"] }, "updateMask": "password" }),
        json!({ "statusPage": { "id": before["id"] }, "updateMask": "title" }),
        json!({ "statusPage": { "id": before["id"], "theme": "dark" }, "updateMask": "theme" }),
        json!({ "statusPage": { "id": before["id"], "title": "x" } }),
        json!({ "statusPage": { "title": "x", "slug": "x" } }),
        json!({}),
    ];
    let mut messages = Vec::new();
    for request in refusals {
        let refused = call(&caller, "UpdateStatusPage", request).await;
        let message = refused.json()["message"].as_str().unwrap_or_default().to_owned();
        messages.push(format!("{} {message}", refused.status.as_u16()));
    }
    assert_snapshot!(messages.join("\n"), @"
    400 `status_page.password` must be given when `access_type` is `password`
    400 `status_page.title` must be given
    400 `update_mask` may only name title, slug, description, homepage_url, contact_url, icon, custom_domain, access_type, password, auth_email_domains (given: `theme`)
    400 `status_page.slug` must be given
    400 `status_page.id` must be given
    400 `status_page` must be given
    ");
    let read = done(&caller, "GetStatusPage", "statusPage", json!({ "id": before["id"] })).await;
    assert_eq!(read, after);
}

#[tokio::test]
async fn update_without_mask_keeps_theme_and_published_state() {
    // design: §4: theme, published
    let (server, caller) = start().await;
    let request = json!({ "statusPage": everything() });
    let before = done(&caller, "CreateStatusPage", "statusPage", request).await;
    let id = &before["id"];
    done(&caller, "UnpublishStatusPage", "statusPage", json!({ "id": id })).await;
    let dark = json!({ "id": id, "theme": "dark" });
    done(&caller, "SetStatusPageTheme", "statusPage", dark).await;
    let request = json!({ "statusPage": { "id": id, "title": "New", "slug": "new" } });
    let after = done(&caller, "UpdateStatusPage", "statusPage", request.clone()).await;
    assert_eq!((&after["published"], &after["theme"]), (&json!(false), &json!("dark")));
    let mut fields: Vec<_> = after.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields.join(" "),
        "allowIndexing authEmailDomains createdAt id published revision slug theme title updatedAt"
    );
    let again = done(&caller, "UpdateStatusPage", "statusPage", request).await;
    assert_eq!(again, after, "what changes nothing is no change");
    let actions: Vec<_> = audited(&server).await.into_iter().map(|it| it.0).collect();
    let due = ["page.update", "page.theme", "page.unpublish", "page.create"];
    assert_eq!(actions, due);
}

#[tokio::test]
async fn publishing_twice_is_publishing_once() {
    // issue 5: Publish and Unpublish are idempotent
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let id = json!({ "id": page["id"] });
    let mut shown = Vec::new();
    for method in
        ["PublishStatusPage", "UnpublishStatusPage", "UnpublishStatusPage", "PublishStatusPage"]
    {
        server.advance(Duration::from_secs(1));
        let page = done(&caller, method, "statusPage", id.clone()).await;
        shown.push(format!("{} {}", page["published"], page["updatedAt"]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    true "2026-11-21T00:00:00Z"
    false "2026-11-21T00:00:02Z"
    false "2026-11-21T00:00:02Z"
    true "2026-11-21T00:00:04Z"
    "#);
    assert_eq!(audited(&server).await.len(), 3, "creation and two changes");
}

#[tokio::test]
async fn a_theme_is_one_of_three_words() {
    // spec: §3
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    for theme in ["light", "dark", "system"] {
        let request = json!({ "id": page["id"], "theme": theme });
        let set = done(&caller, "SetStatusPageTheme", "statusPage", request).await;
        assert_eq!(set["theme"], theme);
    }
    for theme in ["", "Dark", "blue"] {
        let request = json!({ "id": page["id"], "theme": theme });
        let refused = call(&caller, "SetStatusPageTheme", request).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["theme".to_owned()]));
    }
}

#[tokio::test]
async fn set_status_page_indexing_toggles_indexing() {
    // issue 7: "`robots` choice"
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    assert_eq!(page["allowIndexing"], true);
    for allow in [false, false, true] {
        let request = json!({ "id": page["id"], "allowIndexing": allow });
        let set = done(&caller, "SetStatusPageIndexing", "statusPage", request).await;
        let read = done(&caller, "GetStatusPage", "statusPage", json!({ "id": page["id"] })).await;
        assert_eq!((&set["allowIndexing"], &read["allowIndexing"]), (&json!(allow), &json!(allow)));
    }
    let actions: Vec<_> = audited(&server).await.into_iter().map(|it| it.0).collect();
    assert_eq!(actions, ["page.indexing", "page.indexing", "page.create"]);
    let silent = call(&caller, "SetStatusPageIndexing", json!({ "id": page["id"] })).await;
    assert_eq!(silent.status, 400, "{silent}");
    assert!(silent.to_string().contains("`allow_indexing` must be given"), "{silent}");
}

#[tokio::test]
async fn deleting_a_page_deletes_its_components_and_groups() {
    // issue 5
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let group = super::a_group(&caller, &page).await;
    let component = super::a_component(&caller, &page, json!({ "groupId": group["id"] })).await;
    let deleted = call(&caller, "DeleteStatusPage", json!({ "id": page["id"] })).await;
    assert_eq!(deleted.to_string(), "200 {}");
    for (method, id) in [
        ("GetStatusPage", &page["id"]),
        ("DeleteStatusPage", &page["id"]),
        ("PublishStatusPage", &page["id"]),
        ("GetComponent", &component["id"]),
        ("GetComponentGroup", &group["id"]),
    ] {
        let gone = call(&caller, method, json!({ "id": id })).await;
        assert_eq!(gone.reason().as_deref(), Some("NOT_FOUND"), "{method}: {gone}");
    }
    a_page(&caller, "acme").await;
}

#[tokio::test]
async fn edits_at_the_same_time_all_hold() {
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let edit = async |field: &str, value: &str| {
        let change = json!({ "id": page["id"], field: value });
        let request = json!({ "statusPage": change, "updateMask": field });
        done(&caller, "UpdateStatusPage", "statusPage", request).await
    };
    tokio::join!(edit("title", "Both"), edit("slug", "both"), edit("icon", "https://a.example"));
    let read = done(&caller, "GetStatusPage", "statusPage", json!({ "id": page["id"] })).await;
    let shown = format!("{} {} {}", read["title"], read["slug"], read["icon"]);
    assert_eq!(shown, r#""Both" "both" "https://a.example""#);
}

#[tokio::test]
async fn an_edit_among_many_others_gets_through() {
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let edit = async |number: u8| {
        let change = json!({ "id": page["id"], "description": format!("edit {number}") });
        let request = json!({ "statusPage": change, "updateMask": "description" });
        done(&caller, "UpdateStatusPage", "statusPage", request).await
    };
    futures_util::future::join_all((0..24).map(edit)).await;
}

#[tokio::test]
async fn a_repeated_create_returns_the_first_ones_page() {
    // design: §4: create methods accept an idempotency key
    let (server, caller) = start().await;
    let create = async |key: &str, slug: &str| {
        let body = json!({ "statusPage": { "title": "Acme", "slug": slug } }).to_string();
        let request = http::Request::post(format!("/rpc/{STATUS_PAGES}/CreateStatusPage"))
            .header("host", server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(bytes::Bytes::from(body).into())
            .unwrap();
        caller.request(request).await
    };
    let first = create("k1", "acme").await.json();
    assert_eq!(create("k1", "acme").await.json(), first);
    assert_eq!(create("k2", "acme").await.status, 409);
    assert_eq!(create(&"k".repeat(257), "other").await.status, 400);
    let list = call(&caller, "ListStatusPages", json!({})).await.json();
    assert_eq!(list["totalSize"], 1);
}
