//! Subscribers over RPC: creation, filtered lists, removal, fields hidden from read keys, and
//! limits.

use insta::assert_snapshot;
use rules::limits;

use super::*;

async fn add(caller: &Caller, fields: Value) -> Reply {
    call(caller, "AddSubscriber", json!({ "subscriber": fields, "confirm": false })).await
}

async fn listed(caller: &Caller, request: Value) -> Vec<String> {
    let reply = call(caller, "ListSubscribers", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let all = reply.json()["subscribers"].as_array().unwrap().clone();
    assert_eq!(reply.json()["totalSize"], all.len());
    all.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
}

// design: §4 `ListSubscribers`, `AddSubscriber`, `RemoveSubscriber`
#[tokio::test]
async fn subscribers_are_added_listed_and_ended() {
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let request = json!({ "subscriber": {
        "pageId": page["id"], "email": "Ada@example.com", "language": "fr", "topics": ["incidents"],
    } });
    let asked = done(&caller, "AddSubscriber", "subscriber", request.clone()).await;
    assert_eq!((&asked["state"], &asked["kind"]), (&json!("pending"), &json!("email")));
    assert_eq!((&asked["email"], &asked["language"]), (&json!("Ada@example.com"), &json!("fr")));
    assert_eq!(asked["confirmedAt"], Value::Null);
    let twice = call(&caller, "AddSubscriber", request).await;
    assert_eq!(twice.status, 409, "{twice}");
    let hook = json!({ "pageId": page["id"], "webhookUrl": "https://hooks.example/secret" });
    let hook = add(&caller, hook).await.json()["subscriber"].clone();
    assert_eq!(hook["state"], "active");
    assert_eq!(hook["topics"], json!(["reports", "maintenance"]));
    assert_eq!(hook["webhookUrl"], "https://hooks.example/secret");

    assert_eq!(listed(&caller, json!({})).await, ["webhook", "email"]);
    assert_eq!(listed(&caller, json!({ "state": "active" })).await, ["webhook"]);
    assert_eq!(listed(&caller, json!({ "kind": "email", "pageId": page["id"] })).await, ["email"]);
    let part = call(&caller, "ListSubscribers", json!({ "limit": 1 })).await.json();
    let rest = json!({ "limit": 1, "pageToken": part["nextPageToken"] });
    let rest = call(&caller, "ListSubscribers", rest).await.json();
    assert_eq!(rest["subscribers"][0]["id"], asked["id"]);
    let wrong = call(&caller, "ListSubscribers", json!({ "state": "gone" })).await;
    assert_snapshot!(wrong.json()["message"].as_str().unwrap(), @"`state` must be one of pending, active (given: `gone`)");

    let reader = server.caller(Scope::Read);
    let seen = call(&reader, "ListSubscribers", json!({ "kind": "webhook" })).await.json();
    assert_eq!(seen["subscribers"][0]["webhookUrl"], Value::Null, "a secret is left out");
    let refused = call(&reader, "RemoveSubscriber", json!({ "id": hook["id"] })).await;
    assert_eq!(refused.status, 403, "{refused}");

    let end = json!({ "id": hook["id"] });
    assert_eq!(call(&caller, "RemoveSubscriber", end.clone()).await.status, 200);
    assert_eq!(call(&caller, "RemoveSubscriber", end).await.status, 404);
    assert_eq!(listed(&caller, json!({})).await, ["email"]);
    let entries = audited(&server).await;
    let actions: Vec<_> = entries.iter().map(|entry| entry.0.as_str()).collect();
    assert_eq!(actions[..3], ["subscriber.remove", "subscriber.add", "subscriber.add"]);
}

#[tokio::test]
async fn subscriber_fields_beyond_their_limits_are_rejected() {
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await["id"].clone();
    let email = |left: usize| format!("{}@{}.example", "a".repeat(left), "b".repeat(60));
    let with = |fields: Value| {
        let mut subscriber = json!({ "pageId": page });
        subscriber.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        subscriber
    };
    let url = |length: usize| format!("https://hooks.example/{}", "a".repeat(length - 22));
    let ids = |count: usize| vec!["cmp_0000000000001".to_owned(); count];
    for (fields, taken) in [
        (with(json!({ "email": email(64) })), true),
        (with(json!({ "email": email(65) })), false),
        (with(json!({ "email": "nobody" })), false),
        (with(json!({ "webhookUrl": url(2_048) })), true),
        (with(json!({ "webhookUrl": url(2_049) })), false),
        (with(json!({ "webhookUrl": "ftp://hooks.example/" })), false),
        (with(json!({ "email": "x@example.com", "webhookUrl": url(100) })), false),
        (with(json!({})), false),
        (with(json!({ "email": "l@example.com", "language": "tlh" })), false),
        (with(json!({ "email": "t@example.com", "topics": ["weather"] })), false),
        (
            with(
                json!({ "email": "c@example.com", "componentIds": ids(limits::SUBSCRIBER_COMPONENTS_MAX + 1) }),
            ),
            false,
        ),
        (json!({ "pageId": "page_0000000000000", "email": "p@example.com" }), false),
    ] {
        let reply = add(&caller, fields.clone()).await;
        assert_eq!(reply.status, if taken { 200 } else { 400 }, "{fields}: {reply}");
    }
}

// design: §6 "goes through one egress client"
#[tokio::test]
async fn private_webhook_address_is_rejected_with_field_name() {
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let caller = server.caller(Scope::Write);
    let page = a_page(&caller, "acme").await;
    let hook = json!({ "pageId": page["id"], "webhookUrl": "http://169.254.169.254/latest" });
    let reply = add(&caller, hook).await;
    assert_eq!(reply.status, 400, "{reply}");
    assert!(
        reply.json()["message"].as_str().unwrap().contains("subscriber.webhook_url"),
        "{reply}"
    );
}
