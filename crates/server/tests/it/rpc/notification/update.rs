//! Updates of channels, with and without a mask.

use std::time::Duration;

use insta::assert_snapshot;
use rules::notification::{BlockDrafts, ChannelDraft, NtfyDraft};
use rules::{ProviderType, Scope};
use serde_json::{Value, json};
use store::{Actor, AuditContext, NewChannel};
use testkit::server::{Caller, Reply, TestServer};

use super::{a_channel, call, created, get};

async fn update(caller: &Caller, channel: &Value, mask: Option<&str>) -> Reply {
    let mut request = json!({ "notification": channel });
    if let Some(mask) = mask {
        request["updateMask"] = json!(mask);
    }
    call(caller, "UpdateNotification", request).await
}

/// Starts a server and creates a webhook channel with every field set. Returns them with the write
/// caller.
///
/// The clock has advanced since the creation.
async fn with_channel() -> (TestServer, Caller, Value) {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let monitor = json!({ "name": "db", "uri": "db.example.com:5432", "periodicity": "1m" });
    let monitor = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let mut channel = a_channel(ProviderType::Webhook);
    channel["name"] = json!("On call");
    channel["monitorIds"] = json!([monitor["monitor"]["id"]]);
    let channel = created(&caller, &channel).await;
    server.advance(Duration::from_mins(1));
    (server, caller, channel)
}

#[tokio::test]
async fn update_mask_changes_only_named_fields() {
    // design: §4
    let (_server, caller, before) = with_channel().await;
    let change = json!({ "id": before["id"], "name": "Renamed", "providerType": "email" });
    let after = update(&caller, &change, Some("name")).await.json()["notification"].clone();
    let mut due = before.clone();
    due["name"] = json!("Renamed");
    for output in ["updatedAt", "revision"] {
        due[output] = after[output].clone();
        assert!(after[output].as_str() > before[output].as_str(), "{after}");
    }
    assert_eq!(after, due);
    assert_eq!(get(&caller, &before["id"]).await.json()["notification"], due);
}

#[tokio::test]
async fn masked_field_without_value_is_cleared() {
    // design: §4
    let (_server, caller, before) = with_channel().await;
    let change = json!({ "id": before["id"] });
    let after = update(&caller, &change, Some("name,monitorIds")).await.json();
    let after = &after["notification"];
    assert!(after.get("name").is_none(), "{after}");
    assert_eq!((&after["monitorIds"], &after["webhook"]), (&json!([]), &before["webhook"]));
    let change = json!({ "id": before["id"], "webhook": { "endpoint": "https://b.example/" } });
    let after = update(&caller, &change, Some("webhook")).await.json();
    let block = &after["notification"]["webhook"];
    assert_eq!(block, &json!({ "endpoint": "https://b.example/", "headers": [] }));
}

#[tokio::test]
async fn updating_a_block_replaces_its_optional_fields() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let ntfy = created(&caller, &a_channel(ProviderType::Ntfy)).await;
    for block in [json!({ "topic": "a" }), json!({ "topic": "a", "token": "t" })] {
        let change = json!({ "id": ntfy["id"], "ntfy": block });
        assert_eq!(update(&caller, &change, Some("ntfy")).await.status, 200);
        assert_eq!(get(&caller, &ntfy["id"]).await.json()["notification"]["ntfy"], block);
    }
}

#[tokio::test]
async fn without_a_mask_all_arguments_are_replaced() {
    // design: §4
    let (_server, caller, before) = with_channel().await;
    let mut change = a_channel(ProviderType::Opsgenie);
    change["id"] = before["id"].clone();
    let after = update(&caller, &change, None).await.json()["notification"].clone();
    change["createdAt"] = before["createdAt"].clone();
    for output in ["updatedAt", "revision"] {
        change[output] = after[output].clone();
    }
    assert_eq!(after, change);
    assert_eq!(get(&caller, &before["id"]).await.json()["notification"], change);
}

#[tokio::test]
async fn the_kind_changes_together_with_its_block() {
    // spec: §2.4
    let (_server, caller, before) = with_channel().await;
    let mut due = before.clone();
    let mut last = "webhook".to_owned();
    for kind in ProviderType::ALL {
        let mut change = a_channel(*kind);
        let block = super::camel(kind.as_str());
        change["id"] = before["id"].clone();
        let reply = update(&caller, &change, Some(&format!("providerType,{block}"))).await;
        due.as_object_mut().unwrap().remove(&last);
        due["providerType"] = json!(kind.as_str());
        due[&block] = change[&block].clone();
        for output in ["updatedAt", "revision"] {
            due[output] = reply.json()["notification"][output].clone();
        }
        assert_eq!(reply.json()["notification"], due, "{kind}");
        last = block;
    }
}

#[tokio::test]
async fn identical_update_changes_nothing() {
    let (_server, caller, before) = with_channel().await;
    let all = "name,providerType,monitorIds,webhook";
    for mask in [None, Some(""), Some(all)] {
        let reply = update(&caller, &before, mask).await;
        assert_eq!(reply.json()["notification"], before, "{mask:?}: {reply}");
    }
    let renamed = json!({ "id": before["id"], "name": "No" });
    assert_eq!(update(&caller, &renamed, Some("")).await.json()["notification"], before);
}

#[tokio::test]
async fn a_refused_update_changes_nothing() {
    let (_server, caller, before) = with_channel().await;
    let id = &before["id"];
    let refusals = [
        (json!({ "id": id, "providerType": "slack" }), Some("providerType")),
        (json!({ "id": id, "slack": { "webhookUrl": "https://a.example" } }), Some("slack")),
        (json!({ "id": id }), Some("webhook")),
        (json!({ "id": id }), Some("providerType")),
        (json!({ "id": id, "webhook": {} }), Some("webhook")),
        (json!({ "id": id, "monitorIds": ["mon_0000000000000"] }), Some("monitorIds")),
        (json!({ "id": id }), Some("createdAt")),
        (json!({ "id": id, "name": "x" }), None),
        (json!({ "name": "x" }), Some("name")),
        (json!({ "id": "", "name": "x" }), Some("name")),
        (Value::Null, Some("name")),
    ];
    let mut shown = Vec::new();
    for (channel, mask) in refusals {
        let reply = update(&caller, &channel, mask).await;
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        shown.push(format!("{} {message}", reply.status.as_u16()));
    }
    assert_snapshot!(shown.join("\n"), @"
    400 `notification.slack` must be given when `provider_type` is `slack`
    400 `notification.slack` must not be given when `provider_type` is `webhook`
    400 `notification.webhook` must be given when `provider_type` is `webhook`
    400 `notification.provider_type` must be given
    400 `notification.webhook.endpoint` must be given
    400 `notification.monitor_ids` may only name monitors of this workspace (given: `mon_0000000000000`)
    400 `update_mask` may only name name, provider_type, monitor_ids, discord, email, slack, pagerduty, opsgenie, webhook, telegram, sms, whatsapp, google_chat, grafana_oncall, ntfy, ms_teams, events, remind_every, quiet_hours (given: `created_at`)
    400 `notification.provider_type` must be given
    400 `notification.id` must be given
    400 `notification.id` must be given
    400 `notification` must be given
    ");
    assert_eq!(get(&caller, id).await.json()["notification"], before);
}

#[tokio::test]
async fn edits_at_the_same_time_all_hold() {
    let (_server, caller, before) = with_channel().await;
    let edit = async |field: &str, value: Value| {
        update(&caller, &json!({ "id": before["id"], field: value }), Some(field)).await
    };
    let (a, b, c) = tokio::join!(
        edit("name", json!("Both")),
        edit("monitorIds", json!([])),
        edit("webhook", json!({ "endpoint": "https://b.example/" })),
    );
    for reply in [a, b, c] {
        assert_eq!(reply.status, 200, "{reply}");
    }
    let after = get(&caller, &before["id"]).await.json()["notification"].clone();
    assert_eq!((&after["name"], &after["monitorIds"]), (&json!("Both"), &json!([])));
    assert_eq!(after["webhook"]["endpoint"], "https://b.example/");
}

#[tokio::test]
async fn channel_with_newly_forbidden_address_can_be_renamed() {
    // design: §6
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let ntfy = json!({ "topic": "ops", "serverUrl": "http://10.0.0.1/" });
    let id = stored_before(&server, "http://10.0.0.1/").await;
    let caller = server.caller(Scope::Write);
    let rename = json!({ "id": id, "name": "x", "ntfy": ntfy });
    assert_eq!(update(&caller, &rename, Some("name,ntfy")).await.status, 200);
    let mut moved = rename.clone();
    moved["ntfy"]["topic"] = json!("others");
    assert_eq!(update(&caller, &moved, Some("ntfy")).await.status, 400);
}

/// Stores a channel of the workspace directly, without the checks of the server.
async fn stored_before(server: &TestServer, url: &str) -> String {
    let app = server.running().app();
    let ntfy = NtfyDraft {
        topic: Some("ops".to_owned()),
        server_url: Some(url.to_owned()),
        ..NtfyDraft::default()
    };
    let draft = ChannelDraft {
        provider_type: Some("ntfy".to_owned()),
        blocks: BlockDrafts { ntfy: Some(ntfy), ..BlockDrafts::default() },
        ..ChannelDraft::default()
    };
    let new = NewChannel {
        id: app.ctx.new_id(),
        workspace: app.store.workspaces().by_slug("acme").await.unwrap().id,
        settings: draft.parse().unwrap(),
        idempotency: None,
    };
    let (id, change) = (new.id, AuditContext::new(Actor::CommandLine, app.ctx.now()));
    app.store.channels().create(new, change).await.unwrap();
    id.to_string()
}
