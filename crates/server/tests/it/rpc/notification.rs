//! `notification.v1.NotificationService`: round trips, access and rejected input.
//!
//! Module `update` covers updates, `limits` covers limits, `monitors` covers monitors and `sending`
//! covers deliveries.

mod limits;
mod monitors;
mod preferences;
mod sending;
mod signing;
mod update;

use std::cmp::Reverse;

use insta::assert_snapshot;
use rules::{ProviderType, Scope, tables};
use serde_json::{Value, json};
use testkit::server::{Caller, NOTIFICATIONS, Reply, TestServer};

use super::camel;

/// Secret that no read key may see in any field.
const HIDDEN: &str = "hunter2";

/// Returns a channel of this type with every field set, except the name and the monitors.
fn a_channel(kind: ProviderType) -> Value {
    let table = tables::NOTIFICATION.block(kind.as_str());
    let fields = table.fields.iter().map(|field| (camel(field.name), json!(field.example(HIDDEN))));
    let mut block: serde_json::Map<String, Value> = fields.collect();
    for list in table.blocks {
        let headers = [("X-Token", HIDDEN), ("X-Empty", "")];
        let headers = headers.map(|(key, value)| json!({ "key": key, "value": value }));
        block.insert(camel(list.name), json!(headers));
    }
    let (kind, block_name) = (kind.as_str(), camel(kind.as_str()));
    json!({ "providerType": kind, block_name: block, "monitorIds": [], "events": [] })
}

async fn call(caller: &Caller, method: &str, request: Value) -> Reply {
    caller.call(NOTIFICATIONS, method, request).await
}

async fn create(caller: &Caller, channel: &Value) -> Reply {
    call(caller, "CreateNotification", json!({ "notification": channel })).await
}

/// Creates a channel and returns it as the server does.
async fn created(caller: &Caller, channel: &Value) -> Value {
    let reply = create(caller, channel).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["notification"].clone()
}

async fn get(caller: &Caller, id: &Value) -> Reply {
    call(caller, "GetNotification", json!({ "id": id })).await
}

#[tokio::test]
async fn channel_of_any_kind_round_trips_unchanged() {
    // spec: §2.4; design: §4, no value is normalized
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut stored = Vec::new();
    for kind in ProviderType::ALL {
        let mut channel = a_channel(*kind);
        channel["name"] = json!(format!("On call by {kind} ☂"));
        let answered = created(&caller, &channel).await;
        for output in ["id", "createdAt", "updatedAt", "revision"] {
            assert!(answered[output].is_string(), "{kind} {output}: {answered}");
            channel[output] = answered[output].clone();
        }
        assert_eq!(answered, channel, "{kind}");
        assert_eq!(get(&caller, &answered["id"]).await.json()["notification"], channel, "{kind}");
        stored.push(channel);
    }
    stored.sort_by_key(|channel| Reverse(channel["id"].as_str().unwrap().to_owned()));
    let list = call(&caller, "ListNotifications", json!({})).await.json();
    assert_eq!(
        (&list["notifications"], &list["totalSize"]),
        (&json!(stored), &json!(ProviderType::ALL.len()))
    );
}

#[tokio::test]
async fn absent_fields_and_empty_names_are_preserved() {
    // design: §4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut channel = json!({ "providerType": "ntfy", "ntfy": { "topic": "ops" } });
    let bare = created(&caller, &channel).await;
    assert!(bare.get("name").is_none(), "{bare}");
    assert_eq!((&bare["ntfy"], &bare["monitorIds"]), (&json!({ "topic": "ops" }), &json!([])));
    channel["name"] = json!("");
    let named = created(&caller, &channel).await;
    assert_eq!(get(&caller, &named["id"]).await.json()["notification"]["name"], "");
}

#[tokio::test]
async fn read_keys_do_not_see_channel_secrets() {
    // design: §4: omit secrets instead of masking them
    let server = TestServer::start().await;
    let (write, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let mut seen = Vec::new();
    for kind in ProviderType::ALL {
        let id = created(&write, &a_channel(*kind)).await["id"].clone();
        let reply = get(&read, &id).await;
        assert!(!reply.to_string().contains(HIDDEN), "{kind}: {reply}");
        let name = camel(kind.as_str());
        seen.push(format!("{name} {}", reply.json()["notification"][&name]));
    }
    assert_snapshot!(seen.join("\n"), @r#"
    discord {}
    email {"email":"ops@example.com"}
    slack {}
    pagerduty {}
    opsgenie {"region":"eu"}
    webhook {"endpoint":"https://example.com/…","headers":[{"key":"X-Token"},{"key":"X-Empty"}]}
    telegram {"chatId":"ops"}
    sms {"phoneNumber":"+4915112345678"}
    whatsapp {"phoneNumber":"+4915112345678"}
    googleChat {}
    grafanaOncall {}
    ntfy {"topic":"ops","serverUrl":"https://example.com/hook"}
    msTeams {}
    "#);
    let list = call(&read, "ListNotifications", json!({})).await;
    assert!(!list.to_string().contains(HIDDEN), "{list}");
    let list = call(&write, "ListNotifications", json!({})).await;
    assert!(list.to_string().contains(HIDDEN), "{list}");
}

#[tokio::test]
async fn unconfigured_kind_is_stored_with_a_warning() {
    // design: §4
    let server = TestServer::start().await;
    let (write, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let mut warned = Vec::new();
    for kind in ProviderType::ALL {
        let answer = create(&write, &a_channel(*kind)).await.json();
        let id = &answer["notification"]["id"];
        assert_eq!(get(&read, id).await.json()["warnings"], answer["warnings"], "{kind}");
        let rename = json!({ "notification": { "id": id, "name": "x" }, "updateMask": "name" });
        let renamed = call(&write, "UpdateNotification", rename).await.json();
        assert_eq!(renamed["warnings"], answer["warnings"], "{kind}");
        let warnings = answer["warnings"].as_array().unwrap();
        warned.extend(warnings.iter().map(ToString::to_string));
    }
    assert_snapshot!(warned.join("\n"), @r#"
    {"field":"notification.provider_type","message":"channels of the kind `email` cannot send on this server: set `ALOFT_SMTP_URL`; until then its messages become dead letters"}
    {"field":"notification.provider_type","message":"channels of the kind `telegram` cannot send on this server: set `ALOFT_TELEGRAM_TOKEN`; until then its messages become dead letters"}
    {"field":"notification.provider_type","message":"channels of the kind `sms` cannot send on this server: set `ALOFT_TWILIO_ACCOUNT`; until then its messages become dead letters"}
    {"field":"notification.provider_type","message":"channels of the kind `whatsapp` cannot send on this server: set `ALOFT_TWILIO_ACCOUNT`; until then its messages become dead letters"}
    "#);
}

#[tokio::test]
async fn channel_requires_exactly_the_block_of_its_kind() {
    // spec: §2.4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let slack = a_channel(ProviderType::Slack);
    let mut both = slack.clone();
    both["discord"] = slack["slack"].clone();
    let refusals = [
        json!({}),
        json!({ "providerType": "slack" }),
        json!({ "providerType": "pigeon", "slack": slack["slack"] }),
        json!({ "providerType": "discord", "slack": slack["slack"] }),
        both,
        json!({ "slack": slack["slack"] }),
        json!({ "providerType": "webhook", "webhook": {} }),
        json!({ "providerType": "sms", "sms": { "phoneNumber": "0151" }, "name": "a\nb" }),
        json!({ "providerType": "discord", "discord": { "webhookUrl": format!("ftp://{HIDDEN}") } }),
    ];
    let mut shown = Vec::new();
    for channel in refusals {
        let reply = create(&caller, &channel).await;
        assert!(!reply.to_string().contains(HIDDEN), "{reply}");
        assert_eq!(reply.reason().as_deref(), Some("INVALID_ARGUMENT"), "{reply}");
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        shown.push(format!("{} {}", reply.status.as_u16(), message));
    }
    assert_snapshot!(shown.join("\n"), @"
    400 `notification.provider_type` must be given
    400 `notification.slack` must be given when `provider_type` is `slack`
    400 `notification.provider_type` must be one of discord, email, slack, pagerduty, opsgenie, webhook, telegram, sms, whatsapp, google_chat, grafana_oncall, ntfy, ms_teams (given: `pigeon`)
    400 `notification.discord` must be given when `provider_type` is `discord`; `notification.slack` must not be given when `provider_type` is `discord`
    400 `notification.discord` must not be given when `provider_type` is `slack`
    400 `notification.provider_type` must be given
    400 `notification.webhook.endpoint` must be given
    400 `notification.name` must be one line without control characters; `notification.sms.phone_number` must be a telephone number in international form, such as +4915112345678 (given: `0151`)
    400 `notification.discord.webhook_url` must be an absolute URL that begins with http:// or https://
    ");
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
}

#[tokio::test]
async fn invalid_json_fields_are_rejected_with_their_path() {
    // design: §4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut channel = a_channel(ProviderType::Webhook);
    channel["webhook"]["headers"][1]["name"] = json!("X");
    channel["webhook"]["endpoint"] = json!(["https://a.example"]);
    channel["colour"] = json!("red");
    assert_snapshot!(create(&caller, &channel).await, @r#"400 {"code":"invalid_argument","message":"`notification.webhook.endpoint` must be a string (given: `a list`); `notification.webhook.headers[1].name` is not a field of notification.v1.Header; `notification.colour` is not a field of notification.v1.Notification"}"#);
    let empty = call(&caller, "CreateNotification", json!({})).await;
    assert_snapshot!(empty, @r#"400 {"code":"invalid_argument","message":"`notification` must be given"}"#);
}

#[tokio::test]
async fn private_addresses_are_rejected_unless_allowed() {
    // design: §6
    let of_urls = |url: &str| {
        let hook = |kind: &str| json!({ "providerType": kind, camel(kind): { "webhookUrl": url } });
        [
            hook("discord"),
            hook("slack"),
            hook("google_chat"),
            hook("grafana_oncall"),
            json!({ "providerType": "webhook", "webhook": { "endpoint": url } }),
            json!({ "providerType": "ntfy", "ntfy": { "topic": "t", "serverUrl": url } }),
        ]
    };
    let closed = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let open = TestServer::start().await;
    for (url, by_closed, by_open) in [
        ("http://10.0.0.1/hook", 400, 200),
        ("http://127.0.0.1:8080/", 400, 200),
        ("http://[::1]/", 400, 200),
        ("http://2130706433/", 400, 200),
        ("http://[::ffff:192.168.0.1]/", 400, 200),
        ("http://169.254.169.254/latest/meta-data/", 400, 400),
        ("http://[fd00:ec2::254]/", 400, 400),
        ("https://8.8.8.8/", 200, 200),
        // Hostnames are resolved only on sending.
        ("https://localhost/", 200, 200),
    ] {
        for channel in of_urls(url) {
            for (server, status) in [(&closed, by_closed), (&open, by_open)] {
                let reply = create(&server.caller(Scope::Write), &channel).await;
                assert_eq!(reply.status, status, "{channel}: {reply}");
            }
        }
    }
    let refused = create(&closed.caller(Scope::Write), &of_urls("http://10.0.0.1/hook")[4]).await;
    assert_snapshot!(refused, @r#"400 {"code":"invalid_argument","message":"`notification.webhook.endpoint` must be an address that this server may send to: address 10.0.0.1 is private; `--allow-private-networks` opens private and loopback networks"}"#);
}

#[tokio::test]
async fn a_channel_of_another_workspace_is_not_found() {
    // design: §4, errors
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut channel = created(&caller, &a_channel(ProviderType::Slack)).await;
    let id = channel["id"].clone();
    channel["name"] = json!("theirs");
    for (method, request) in [
        ("GetNotification", json!({ "id": id })),
        ("DeleteNotification", json!({ "id": id })),
        ("UpdateNotification", json!({ "notification": channel })),
        ("UpdateNotification", json!({ "notification": { "id": id }, "updateMask": "name" })),
    ] {
        let reply = call(&server.stranger(), method, request).await;
        let message = format!("channel `{}` not found in this workspace", id.as_str().unwrap());
        assert_eq!((reply.status.as_u16(), &reply.json()["message"]), (404, &json!(message)));
    }
    let list = call(&server.stranger(), "ListNotifications", json!({})).await.json();
    assert_eq!((&list["notifications"], &list["totalSize"]), (&json!([]), &json!(0)));
    assert!(get(&caller, &id).await.json()["notification"].get("name").is_none());
}

#[tokio::test]
async fn empty_or_unknown_id_is_rejected() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Read);
    assert_snapshot!(get(&caller, &json!("")).await, @r#"400 {"code":"invalid_argument","message":"`id` must be given"}"#);
    for id in ["x", "chn_", "mon_0000000000001", "chn_zzzzzzzzzzzzz", "' OR 1=1", "\u{0}"] {
        let reply = get(&caller, &json!(id)).await;
        assert_eq!(reply.status, 404, "{id}: {reply}");
    }
}

#[tokio::test]
async fn deleted_channel_is_not_found() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let id = created(&caller, &a_channel(ProviderType::Ntfy)).await["id"].clone();
    let delete = async || call(&caller, "DeleteNotification", json!({ "id": id })).await;
    assert_eq!(delete().await.to_string(), "200 {}");
    assert_eq!(get(&caller, &id).await.status, 404);
    assert_eq!(delete().await.status, 404);
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
}

#[tokio::test]
async fn a_repeated_create_returns_the_first_ones_channel() {
    // design: §4: create methods accept an idempotency key
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let create = async |caller: &Caller, key: &str| {
        let body = json!({ "notification": a_channel(ProviderType::Slack) }).to_string();
        let request = http::Request::post(format!("/rpc/{NOTIFICATIONS}/CreateNotification"))
            .header("host", server.address().to_string())
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(bytes::Bytes::from(body).into())
            .unwrap();
        caller.request(request).await.json()
    };
    let first = create(&caller, "k1").await;
    assert_eq!(create(&caller, "k1").await, first);
    let second = create(&caller, "k2").await;
    let strangers = create(&server.stranger(), "k1").await;
    for other in [second, strangers] {
        assert_ne!(other["notification"]["id"], first["notification"]["id"]);
    }
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 2);
}

#[tokio::test]
async fn only_effective_changes_write_audit_rows() {
    // design: §6
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let channel = created(&caller, &a_channel(ProviderType::Slack)).await;
    let id = channel["id"].as_str().unwrap();
    call(&caller, "UpdateNotification", json!({ "notification": channel })).await;
    let rename = json!({ "notification": { "id": id, "name": "New" }, "updateMask": "name" });
    call(&caller, "UpdateNotification", rename).await;
    call(&caller, "DeleteNotification", json!({ "id": id })).await;
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let entries = store.audit().newest(acme, 10).await.unwrap();
    let of_channel = entries.iter().filter(|entry| entry.resource_id == id);
    let key = server.key_id(Scope::Write).to_string();
    let shown: Vec<_> = of_channel
        .inspect(|entry| assert_eq!(entry.actor, key))
        .map(|entry| format!("{} {}", entry.action, entry.detail))
        .collect();
    assert_eq!(shown, ["channel.delete ", "channel.update slack", "channel.create slack"]);
}

#[tokio::test]
async fn pages_cover_all_channels_once_newest_first() {
    // design: §4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut all = Vec::new();
    for kind in &ProviderType::ALL[..7] {
        all.push(created(&caller, &a_channel(*kind)).await["id"].clone());
    }
    all.sort_by_key(|id| Reverse(id.to_string()));
    let page = async |request: Value| {
        let page = call(&caller, "ListNotifications", request).await.json();
        assert_eq!(page["totalSize"], 7);
        let channels = page["notifications"].as_array().unwrap().iter();
        let ids: Vec<Value> = channels.map(|channel| channel["id"].clone()).collect();
        (ids, page["nextPageToken"].as_str().unwrap().to_owned())
    };
    let (mut by_token, mut token) = page(json!({ "limit": 3 })).await;
    while !token.is_empty() {
        let (ids, next) = page(json!({ "limit": 3, "pageToken": token })).await;
        by_token.extend(ids);
        token = next;
    }
    assert_eq!(by_token, all);
    let mut by_offset = Vec::new();
    for offset in [0, 4, 8] {
        by_offset.extend(page(json!({ "limit": 4, "offset": offset })).await.0);
    }
    assert_eq!(by_offset, all);
    for (limit, status) in [(0, 400), (1, 200), (100, 200), (101, 400)] {
        let reply = call(&caller, "ListNotifications", json!({ "limit": limit })).await;
        assert_eq!(reply.status, status, "{reply}");
    }
}
