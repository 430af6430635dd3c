//! Tests that wire and `rules` agree: an encoded channel decodes to itself.

use std::collections::BTreeSet;

use rules::notification::{
    Channel, ChannelDraft, ChannelSettings, NotificationPreferences, NotificationPreferencesDraft,
    Ntfy, Provider, QuietHoursDraft, Webhook,
};
use rules::{ChannelId, MonitorId, ProviderType, Timestamp, WorkspaceId, tables};

use super::encode;
use crate::IntoDraft as _;
use crate::fields::SecretVisibility;

const HIDDEN: &str = "hunter2";

/// Creates a block of this kind with every argument set, and secrets wherever possible.
fn provider(kind: ProviderType) -> Provider {
    let block = tables::NOTIFICATION.block(kind.as_str());
    let fields = block.fields.iter();
    let mut fields: serde_json::Map<String, serde_json::Value> =
        fields.map(|field| (field.name.to_owned(), field.example(HIDDEN).into())).collect();
    for list in block.blocks {
        let headers = [("X-Token", HIDDEN), ("X-Empty", "")];
        let headers = headers.map(|(key, value)| serde_json::json!({ "key": key, "value": value }));
        fields.insert(list.name.to_owned(), headers.as_slice().into());
    }
    serde_json::from_value(serde_json::json!({ kind.as_str(): fields })).unwrap()
}

fn preferences() -> NotificationPreferences {
    let draft = NotificationPreferencesDraft {
        events: vec!["error".to_owned()],
        remind_every: Some("60m".to_owned()),
        quiet_hours: Some(QuietHoursDraft {
            from: Some("22:00".to_owned()),
            until: Some("07:00".to_owned()),
            time_zone: Some("Europe/Berlin".to_owned()),
            applies_to: None,
        }),
    };
    draft.parse().unwrap()
}

fn channel(provider: Provider) -> Channel {
    Channel {
        id: ChannelId::from_bits(7),
        workspace: WorkspaceId::from_bits(1),
        settings: ChannelSettings {
            name: Some("On call".to_owned()),
            monitor_ids: vec![MonitorId::from_bits(1), MonitorId::from_bits(2)],
            provider,
            preferences: preferences(),
        },
        created_at: Timestamp::from_millis(1_500),
        updated_at: Timestamp::from_millis(-1),
    }
}

#[test]
fn encoded_channel_of_any_kind_decodes_equal() {
    // design: §4, conversions change no value
    for kind in ProviderType::ALL {
        let channel = channel(provider(*kind));
        let answered = encode(&channel, SecretVisibility::Visible).into_draft();
        assert_eq!(answered, ChannelDraft::from(&channel.settings), "{kind}");
        assert_eq!(answered.parse().as_ref(), Ok(&channel.settings), "{kind}");
    }
}

#[test]
fn minimal_channel_decodes_equal() {
    let ntfy = Ntfy { topic: "ops".to_owned(), server_url: None, token: None };
    let webhook = Webhook { endpoint: "https://example.com".to_owned(), headers: Vec::new() };
    for provider in [Provider::Ntfy(ntfy), Provider::Webhook(webhook)] {
        let mut channel = channel(provider);
        channel.settings.name = None;
        channel.settings.monitor_ids = Vec::new();
        channel.settings.preferences = NotificationPreferences::default();
        let answered = encode(&channel, SecretVisibility::Visible).into_draft();
        assert_eq!(answered, ChannelDraft::from(&channel.settings));
    }
}

#[test]
fn read_key_gets_blocks_without_secrets() {
    // design: §4, secrets are left out of answers to read keys
    let blocks: Vec<String> = ProviderType::ALL
        .iter()
        .map(|kind| {
            let answer = encode(&channel(provider(*kind)), SecretVisibility::Redacted);
            let json = serde_json::to_value(&answer).unwrap();
            let name = json
                .as_object()
                .unwrap()
                .keys()
                .find(|name| json[*name].is_object() && *name != "quietHours");
            format!("{} {}", name.unwrap(), json[name.unwrap()])
        })
        .collect();
    let blocks = blocks.join("\n");
    assert!(!blocks.contains(HIDDEN), "{blocks}");
    insta::assert_snapshot!(blocks, @r#"
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
}

#[test]
fn json_response_has_every_field() {
    let answer = encode(&channel(provider(ProviderType::Webhook)), SecretVisibility::Visible);
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer).unwrap(), @r#"
    {
      "id": "chn_0000000000007",
      "name": "On call",
      "providerType": "webhook",
      "monitorIds": [
        "mon_0000000000001",
        "mon_0000000000002"
      ],
      "webhook": {
        "endpoint": "https://ada:hunter2@example.com/hook",
        "headers": [
          {
            "key": "X-Token",
            "value": "hunter2"
          },
          {
            "key": "X-Empty",
            "value": ""
          }
        ]
      },
      "events": [
        "error"
      ],
      "remindEvery": "60m",
      "quietHours": {
        "from": "22:00",
        "until": "07:00",
        "timeZone": "Europe/Berlin",
        "appliesTo": "all"
      },
      "createdAt": "1970-01-01T00:00:01.500Z",
      "updatedAt": "1969-12-31T23:59:59.999Z",
      "revision": "-1"
    }
    "#);
}

#[test]
fn wire_fields_match_the_table() {
    // spec: §2.4: fails if only one side has a new field
    let tables = [&tables::NOTIFICATION, &tables::NOTIFICATION_PREFERENCES];
    let names = tables.iter().flat_map(|table| {
        let own = table.fields.iter().chain(table.beyond).map(|field| field.name);
        own.chain(table.blocks.iter().map(|block| block.name))
    });
    assert_eq!(wire_fields("Notification"), names.collect());
    for block in tables.iter().flat_map(|table| table.blocks) {
        let own = block.fields.iter().map(|field| field.name);
        let inner = block.blocks.iter().map(|block| block.name);
        assert_eq!(wire_fields(&camel(block.name)), own.chain(inner).collect(), "{}", block.name);
    }
    let header: BTreeSet<_> =
        tables[0].block("webhook").blocks[0].fields.iter().map(|field| field.name).collect();
    assert_eq!(wire_fields("Header"), header);
}

/// Converts `google_chat` to the name of its message, `GoogleChat`.
fn camel(name: &str) -> String {
    let words = name.split('_');
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// Returns the names of a message's fields.
fn wire_fields(message: &str) -> BTreeSet<&'static str> {
    crate::rpc::field_names(&format!("notification.v1.{message}")).unwrap().collect()
}
