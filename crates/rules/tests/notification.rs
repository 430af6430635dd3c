//! Drafts of channels through the public interface: parsing, masks, secrets, addresses. `validator`
//! tests limits, and the RPC tests messages.

use std::net::IpAddr;

use aloft_rules::field::{Field, Presence, Shape};
use aloft_rules::notification::{
    ChannelDraft, NotificationPreferences, NotificationPreferencesDraft, Provider, QuietHoursDraft,
};
use aloft_rules::{ProviderType, Violations, tables};

const HIDDEN: &str = "hunter2";

#[expect(clippy::unnecessary_wraps, reason = "fields of drafts are optional")]
fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn mask(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Returns the block of this name with every field set.
fn block(name: &str) -> Provider {
    let block = tables::NOTIFICATION.block(name);
    let fields = block.fields.iter();
    let mut fields: serde_json::Map<String, serde_json::Value> = fields
        .map(|field| {
            (
                field.name.to_owned(),
                field.example(if field.sensitive { HIDDEN } else { "ada" }).into(),
            )
        })
        .collect();
    for list in block.blocks {
        let header = serde_json::json!({ "key": "X-Token", "value": HIDDEN });
        fields.insert(list.name.to_owned(), [header].as_slice().into());
    }
    serde_json::from_value(serde_json::json!({ name: fields })).expect("the block is valid")
}

/// A draft with every field and every block, which is not a valid channel.
fn full() -> ChannelDraft {
    let mut draft = ChannelDraft {
        name: text("On call"),
        provider_type: text("slack"),
        monitor_ids: vec!["mon_0000000000001".to_owned()],
        preferences: NotificationPreferencesDraft {
            events: vec!["recovered".to_owned(), "error".to_owned()],
            remind_every: text("90m"),
            quiet_hours: Some(QuietHoursDraft {
                from: text("22:00"),
                until: text("07:00"),
                time_zone: text("Europe/Berlin"),
                applies_to: text("all_but_errors"),
            }),
        },
        ..ChannelDraft::default()
    };
    for kind in ProviderType::WORDS {
        let one = ChannelDraft { blocks: (&block(kind)).into(), ..ChannelDraft::default() };
        draft.apply_mask(one, &mask(&[kind])).expect("the table has this name");
    }
    draft
}

/// A valid draft of this kind.
fn draft(kind: ProviderType) -> ChannelDraft {
    let mut draft = ChannelDraft::default();
    let mut wanted = full();
    wanted.provider_type = text(kind.as_str());
    let named = mask(&["name", "provider_type", "monitor_ids", kind.as_str()]);
    draft.apply_mask(wanted, &named).expect("the table has these names");
    draft
}

fn provider(kind: ProviderType) -> Provider {
    draft(kind).parse().expect("the draft is valid").provider
}

#[test]
fn draft_of_every_kind_round_trips() {
    // spec: §2.4
    for kind in ProviderType::ALL {
        let draft = draft(*kind);
        let settings = draft.clone().parse().unwrap();
        assert_eq!(settings.provider.kind(), *kind);
        assert_eq!(ChannelDraft::from(&settings), draft, "{kind}");
    }
}

#[test]
fn mask_copies_exactly_the_named_fields() {
    // design: §4 update_mask
    let bare = ChannelDraft::default();
    let preferences = tables::NOTIFICATION_PREFERENCES.writable();
    let names: Vec<_> = tables::NOTIFICATION.writable().chain(preferences).collect();
    assert_eq!(names.len(), 6 + ProviderType::ALL.len());
    for name in &names {
        let mut one = bare.clone();
        one.apply_mask(full(), &mask(&[name])).unwrap();
        assert_ne!(one, bare, "`{name}` is copied");
        let others: Vec<_> = names.iter().filter(|other| *other != name).copied().collect();
        let mut all_but_one = bare.clone();
        all_but_one.apply_mask(full(), &mask(&others)).unwrap();
        assert_ne!(all_but_one, full(), "`{name}` is copied by no other name");
        all_but_one.apply_mask(full(), &mask(&[name])).unwrap();
        assert_eq!(all_but_one, full(), "all but `{name}` are copied by the other names");
    }
}

#[test]
fn update_without_mask_keeps_preferences() {
    // design: §4 "leaves everything else (theme, published, later additions) alone"
    let mut channel = full();
    channel.apply_arguments(ChannelDraft { name: text("renamed"), ..ChannelDraft::default() });
    let renamed = ChannelDraft { name: text("renamed"), ..ChannelDraft::default() };
    assert_eq!(channel, ChannelDraft { preferences: full().preferences, ..renamed });
}

#[test]
fn preferences_round_trip_through_draft() {
    let mut written = full().preferences;
    let preferences = written.clone().parse().unwrap();
    written.events.sort();
    assert_eq!(NotificationPreferencesDraft::from(&preferences), written);
    let json = serde_json::to_string(&preferences).unwrap();
    assert_eq!(serde_json::from_str::<NotificationPreferences>(&json).unwrap(), preferences);
    assert_eq!(
        serde_json::from_str::<NotificationPreferences>("{}").unwrap(),
        NotificationPreferences::default()
    );
}

#[test]
fn invalid_preferences_are_reported_with_paths() {
    // issue 6, point 4
    let wrong = |change: fn(&mut NotificationPreferencesDraft, &mut QuietHoursDraft)| {
        let mut draft = draft(ProviderType::Email);
        let mut hours = full().preferences.quiet_hours.unwrap();
        change(&mut draft.preferences, &mut hours);
        draft.preferences.quiet_hours = Some(hours);
        draft.parse().unwrap_err().to_string()
    };
    let violations = [
        wrong(|preferences, _| preferences.events = vec!["test".to_owned()]),
        wrong(|preferences, _| preferences.remind_every = text("4m")),
        wrong(|preferences, _| preferences.remind_every = text("25h")),
        wrong(|preferences, _| preferences.remind_every = text("hourly")),
        wrong(|_, hours| hours.from = text("22")),
        wrong(|_, hours| hours.until = text("22:00")),
        wrong(|_, hours| hours.time_zone = text("Mars/Olympus")),
        wrong(|_, hours| hours.applies_to = text("none")),
        wrong(|_, hours| *hours = QuietHoursDraft::default()),
    ];
    insta::assert_snapshot!(violations.join("\n"), @"
    `events` may only hold the 3 values error, degraded, recovered (given: `test`)
    `remind_every` must be from 5m to 24h (given: `4m`)
    `remind_every` must be from 5m to 24h (given: `25h`)
    `remind_every` must be whole minutes or hours, such as 30m or 1h (given: `hourly`)
    `quiet_hours.from` must be a time of the day from 00:00 to 23:59 (given: `22`)
    `quiet_hours.until` must be another time than `from` (given: `22:00`)
    `quiet_hours.time_zone` must be a name of the IANA time zones, such as Europe/Berlin (given: `Mars/Olympus`)
    `quiet_hours.applies_to` must be one of all, all_but_errors (given: `none`)
    `quiet_hours.from` must be given; `quiet_hours.until` must be given; `quiet_hours.time_zone` must be given
    ");
}

#[test]
fn changed_kind_clears_the_previous_block() {
    // spec: §2.4, design: §4
    for before in ProviderType::ALL {
        for after in ProviderType::ALL {
            let mut channel = draft(*before);
            let change = mask(&["provider_type", after.as_str()]);
            channel.apply_mask(draft(*after), &change).unwrap();
            assert_eq!(channel, draft(*after), "{before} to {after}");
        }
    }
    // A named block is not cleared automatically.
    let mut both = draft(ProviderType::Slack);
    both.apply_mask(full(), &mask(&["provider_type", "slack"])).unwrap();
    assert_eq!(both, draft(ProviderType::Slack));
    let wanted = ChannelDraft { provider_type: text("email"), ..full() };
    both.apply_mask(wanted, &mask(&["provider_type", "email", "slack"])).unwrap();
    assert_eq!(fields(both.parse().unwrap_err()), ["slack"]);
}

#[test]
fn unknown_name_in_mask_copies_nothing() {
    let outputs = tables::NOTIFICATION.fields.iter();
    let outputs = outputs.filter(|field| field.presence == Presence::Output);
    for name in outputs.map(|field| field.name).chain(["webhook.endpoint", "providerType", ""]) {
        let mut channel = ChannelDraft::default();
        let refused = channel.apply_mask(full(), &mask(&["name", name])).unwrap_err();
        assert_eq!((fields(refused), &channel), (mask(&["update_mask"]), &ChannelDraft::default()));
    }
}

#[test]
fn violations_in_all_given_blocks_are_reported() {
    let mut spoilt = full();
    spoilt.blocks.webhook.as_mut().unwrap().headers[0].key = text("not fine");
    spoilt.blocks.opsgenie.as_mut().unwrap().region = text("mars");
    spoilt.monitor_ids = vec!["mon_zzz".to_owned(), "chn_1".to_owned()];
    let refused = fields(spoilt.parse().unwrap_err());
    for field in ["webhook", "webhook.headers[0].key", "opsgenie.region", "monitor_ids"] {
        assert!(refused.iter().any(|refused| refused == field), "{field}: {refused:?}");
    }
}

#[test]
fn debug_of_draft_hides_secrets() {
    // Header drafts are shared with monitors, where `Debug` shows values.
    let mut draft = full();
    draft.blocks.webhook = None;
    let shown = format!("{draft:?}");
    assert!(shown.contains("ops@example.com") && !shown.contains(HIDDEN), "{shown}");
}

#[test]
fn debug_of_settings_hides_secrets() {
    // design: §6
    for kind in ProviderType::ALL {
        let provider = provider(*kind);
        assert!(!format!("{provider:?}").contains(HIDDEN), "{provider:?}");
        let json = serde_json::to_string(&provider).unwrap();
        assert!(json.starts_with(&format!("{{\"{kind}\"")), "{json}");
        assert_eq!(serde_json::from_str::<Provider>(&json).unwrap(), provider);
    }
}

#[test]
fn address_in_url_is_found_in_any_notation() {
    // design: §6
    let of = |url: &str| {
        let mut ntfy = draft(ProviderType::Ntfy);
        ntfy.blocks.ntfy.as_mut().unwrap().server_url = text(url);
        ntfy.parse().unwrap().provider.literal_address()
    };
    let four: IpAddr = "127.0.0.1".parse().unwrap();
    for url in ["http://127.0.0.1/", "http://2130706433:80/", "http://0x7f.1/", "http://a@127.1/"] {
        assert_eq!(of(url), Some(("server_url", four)), "{url}");
    }
    assert_eq!(of("http://[::1]/"), Some(("server_url", "::1".parse().unwrap())));
    assert_eq!(of("http://127.0.0.1.example/"), None);
    let with_url = ProviderType::ALL.iter().filter(|kind| {
        let mut stored = serde_json::to_value(provider(**kind)).unwrap();
        for field in stored[kind.as_str()].as_object_mut().unwrap().values_mut() {
            if field.as_str().is_some_and(|text| text.starts_with("https://")) {
                *field = "http://10.0.0.1/".into();
            }
        }
        let provider: Provider = serde_json::from_value(stored).unwrap();
        provider.literal_address().is_some()
    });
    let is_url = |field: &Field| matches!(field.shape, Shape::HttpUrl { .. });
    let expected = tables::NOTIFICATION.blocks.iter().filter(|it| it.fields.iter().any(is_url));
    assert_eq!(with_url.count(), expected.count());
}

/// Returns the paths of the rejected fields.
fn fields(Violations(violations): Violations) -> Vec<String> {
    violations.into_iter().map(|violation| violation.field).collect()
}
