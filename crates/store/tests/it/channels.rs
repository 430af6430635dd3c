//! Channels: stored values read back equal, concurrent edits conflict, workspaces are isolated, and
//! monitors must exist.

use rules::notification::{
    Channel, ChannelSettings, IncomingWebhook, NotificationPreferences,
    NotificationPreferencesDraft, Ntfy, Opsgenie, Provider, QuietHoursDraft, Webhook,
    WebhookHeader,
};
use rules::{ChannelId, MonitorId, OpsgenieRegion, Secret, WorkspaceId};
use store::{Created, Idempotency, NewChannel, Page, StoreError};

use crate::harness::{
    Engine, Home, a_workspace, at, for_each_engine, instant, monitor_id, workspace_id,
};

const SECRET: &str = "correct-horse-battery-staple";

fn channel_id(number: u64) -> ChannelId {
    ChannelId::from_bits(number)
}

pub(crate) fn settings(monitors: &[MonitorId]) -> ChannelSettings {
    let webhook_url = Secret::new(format!("https://hooks.example/{SECRET}"));
    ChannelSettings {
        name: Some("On call".to_owned()),
        monitor_ids: monitors.to_vec(),
        provider: Provider::Slack(IncomingWebhook { webhook_url }),
        preferences: NotificationPreferences::default(),
    }
}

fn a_channel(number: u64, settings: ChannelSettings) -> NewChannel {
    let (id, workspace) = (channel_id(number), workspace_id(1));
    NewChannel { id, workspace, settings, idempotency: None }
}

pub(crate) async fn create(home: &Home, number: u64, monitors: &[MonitorId]) -> Channel {
    made(home, a_channel(number, settings(monitors))).await
}

/// Creates a channel at the time of its number.
async fn made(home: &Home, new: NewChannel) -> Channel {
    let change = at(new.id.bits() as i64);
    match home.store.channels().create(new, change).await.unwrap() {
        Created::Now(channel) => channel,
        Created::Before(channel) => panic!("{} was created before", channel.id),
    }
}

async fn read(home: &Home, number: u64) -> Result<Channel, StoreError> {
    home.store.channels().get(home.workspace, channel_id(number)).await
}

fn preferences() -> NotificationPreferences {
    let text = |text: &str| Some(text.to_owned());
    let quiet_hours = QuietHoursDraft {
        from: text("22:00"),
        until: text("07:00"),
        time_zone: text("Europe/Berlin"),
        applies_to: text("all_but_errors"),
    };
    let draft = NotificationPreferencesDraft {
        events: vec!["recovered".to_owned(), "error".to_owned()],
        remind_every: text("60m"),
        quiet_hours: Some(quiet_hours),
    };
    draft.parse().unwrap()
}

#[tokio::test]
async fn preferences_read_back_equal_and_can_be_removed() {
    for_each_engine(async |home| {
        let wished = ChannelSettings { preferences: preferences(), ..settings(&[]) };
        let channel = made(home, a_channel(1, wished.clone())).await;
        assert_eq!(read(home, 1).await.unwrap(), channel);
        assert_eq!(channel.settings, wished);
        let without = ChannelSettings { preferences: NotificationPreferences::default(), ..wished };
        let channel = home.store.channels().update(channel, without.clone(), at(5)).await.unwrap();
        assert_eq!(channel.settings, without);
        assert_eq!(home.count("channels WHERE preferences IS NULL").await, 1);
        let wished = ChannelSettings { preferences: preferences(), ..without };
        home.store.channels().update(channel, wished.clone(), at(6)).await.unwrap();
        assert_eq!(read(home, 1).await.unwrap().settings, wished);
    })
    .await;
}

#[tokio::test]
async fn created_channel_reads_back_equal() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let secret = || Secret::new(SECRET.to_owned());
        let header = WebhookHeader { key: "X-Token".to_owned(), value: secret() };
        let providers = [
            Provider::Opsgenie(Opsgenie { api_key: secret(), region: OpsgenieRegion::Us }),
            Provider::Webhook(Webhook {
                endpoint: format!("https://a:{SECRET}@example.com"),
                headers: vec![header.clone(), header],
            }),
            Provider::Ntfy(Ntfy { topic: "ops".to_owned(), server_url: None, token: None }),
        ];
        let names = [None, Some(String::new()), Some("☂".to_owned())];
        let all = providers.iter().flat_map(|provider| names.iter().map(move |it| (provider, it)));
        for (number, (provider, name)) in (1..).zip(all) {
            let (name, provider) = (name.clone(), provider.clone());
            let new = ChannelSettings { name, provider, ..settings(&monitors) };
            let created = made(home, a_channel(number, new.clone())).await;
            assert_eq!((&created.settings, created.created_at), (&new, instant(number as i64)));
            assert_eq!(read(home, number).await.unwrap(), created);
        }
    })
    .await;
}

// design: §6 "Secrets (channel settings …) are encrypted at rest"
#[tokio::test]
async fn channel_secrets_are_encrypted() {
    for_each_engine(async |home| {
        create(home, 1, &[]).await;
        let plain = "channels WHERE name = 'On call' AND kind = 'slack'";
        assert_eq!(home.count(plain).await, 1, "the search finds plain text");
        let written = |part: &str| match home.engine {
            Engine::Sqlite => {
                format!("channels WHERE instr(provider_sealed, CAST('{part}' AS BLOB)) > 0")
            }
            Engine::Postgres => {
                format!("channels WHERE position(CAST('{part}' AS BYTEA) IN provider_sealed) > 0")
            }
        };
        for part in [SECRET, "hooks.example"] {
            assert_eq!(home.count(&written(part)).await, 0, "{part}");
        }
    })
    .await;
}

#[tokio::test]
async fn stale_edit_is_a_conflict() {
    for_each_engine(async |home| {
        let seen = create(home, 1, &[]).await;
        let renamed = |name: &str| ChannelSettings { name: Some(name.to_owned()), ..settings(&[]) };
        let channels = home.store.channels();
        // The edit has the same time as the create, but counts as later.
        let first = channels.update(seen.clone(), renamed("first"), at(1)).await.unwrap();
        assert_eq!(first.updated_at, instant(2));
        let second = channels.update(seen.clone(), renamed("second"), at(9)).await;
        assert!(matches!(second, Err(StoreError::Conflict { .. })), "{second:?}");
        assert_eq!(read(home, 1).await.unwrap(), first);
        channels.delete(home.workspace, seen.id, at(10)).await.unwrap();
        let third = channels.update(first, renamed("third"), at(11)).await;
        assert!(matches!(third, Err(StoreError::NotFound { .. })), "{third:?}");
    })
    .await;
}

#[tokio::test]
async fn unknown_monitors_are_rejected_and_nothing_is_stored() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let own = home.monitor(1).await.id;
        let seen = create(home, 1, &[own]).await;
        let unknown = monitor_id(77);
        let new = a_channel(2, settings(&[own, unknown]));
        let refused = home.store.channels().create(new, at(2)).await.unwrap_err().to_string();
        let allowed = "may only name monitors of this workspace";
        assert_eq!(refused, format!("`monitor_ids` {allowed} (given: `{unknown}`)"));
        let foreign = NewChannel { workspace: workspace_id(2), ..a_channel(3, settings(&[own])) };
        let refused = home.store.channels().create(foreign, at(3)).await.unwrap_err().to_string();
        assert_eq!(refused, format!("`monitor_ids` {allowed} (given: `{own}`)"));
        let update = home.store.channels().update(seen.clone(), settings(&[unknown]), at(4)).await;
        assert!(matches!(update, Err(StoreError::Refused(_))), "{update:?}");
        assert_eq!(read(home, 1).await.unwrap(), seen);
        assert_eq!(home.count("channels").await, 1);
    })
    .await;
}

#[tokio::test]
async fn deleted_monitor_is_removed_from_its_channels() {
    // issue 5
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let seen = create(home, 1, &monitors).await;
        let untouched = create(home, 2, &monitors[..1]).await;
        home.store.monitors().delete(home.workspace, monitors[1], at(50)).await.unwrap();
        let left = read(home, 1).await.unwrap();
        assert_eq!(left.settings.monitor_ids, monitors[..1]);
        assert_eq!(left.updated_at, instant(50));
        assert_eq!(read(home, 2).await.unwrap(), untouched);
        // An edit based on the old version is a conflict, not an error about the deleted monitor.
        let renamed = ChannelSettings { name: None, ..seen.settings.clone() };
        let stale = home.store.channels().update(seen, renamed, at(51)).await;
        assert!(matches!(stale, Err(StoreError::Conflict { .. })), "{stale:?}");
        let audit = home.store.audit().newest(home.workspace, 2).await.unwrap();
        let shown: Vec<_> = audit
            .iter()
            .rev()
            .map(|entry| format!("{} {} {}", entry.action, entry.resource_id, entry.detail))
            .collect();
        let due = [
            format!("channel.update {} without {}, which was deleted", left.id, monitors[1]),
            format!("monitor.delete {} ", monitors[1]),
        ];
        assert_eq!(shown, due);
    })
    .await;
}

#[tokio::test]
async fn repeated_create_returns_current_channel() {
    for_each_engine(async |home| {
        let call = || {
            let idempotency = Idempotency {
                method: "CreateNotification",
                key: "random".to_owned(),
                request: [7; 32],
            };
            let new = a_channel(1, settings(&[]));
            NewChannel { idempotency: Some(idempotency), ..new }
        };
        let channels = home.store.channels();
        let Created::Now(first) = channels.create(call(), at(1)).await.unwrap() else {
            panic!("the create is not repeated")
        };
        let renamed = ChannelSettings { name: None, ..settings(&[]) };
        let today = channels.update(first, renamed, at(2)).await.unwrap();
        let again = channels.create(NewChannel { id: channel_id(2), ..call() }, at(3)).await;
        assert_eq!(again.unwrap(), Created::Before(today));
        channels.delete(home.workspace, channel_id(1), at(4)).await.unwrap();
        let gone = channels.create(NewChannel { id: channel_id(3), ..call() }, at(5)).await;
        assert!(matches!(gone, Err(StoreError::Gone { what: "channel", .. })), "{gone:?}");
        assert_eq!(home.count("channels").await, 0);
    })
    .await;
}

#[tokio::test]
async fn another_workspace_sees_and_changes_nothing() {
    for_each_engine(async |home| {
        let theirs = WorkspaceId::from_bits(2);
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let monitor = home.monitor(1).await.id;
        let channel = create(home, 1, &[monitor]).await;
        let channels = home.store.channels();
        let page = Page { limit: 10, offset: 0, after: None };
        assert_eq!(channels.list(theirs, page).await.unwrap().total, 0);
        assert!(channels.list(theirs, page).await.unwrap().rows.is_empty());
        let found = channels.get(theirs, channel.id).await;
        assert!(matches!(found, Err(StoreError::NotFound { .. })));
        let deleted = channels.delete(theirs, channel.id, at(5)).await;
        assert!(matches!(deleted, Err(StoreError::NotFound { .. })));
        let as_theirs = Channel { workspace: theirs, ..channel.clone() };
        let updated = channels.update(as_theirs, settings(&[]), at(6)).await;
        assert!(matches!(updated, Err(StoreError::NotFound { .. })));
        assert_eq!(read(home, 1).await.unwrap(), channel);
    })
    .await;
}

#[tokio::test]
async fn pages_cover_all_channels_newest_first() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let mut all = Vec::new();
        for number in 1..=7 {
            all.push(create(home, number, &monitors[..(number % 3) as usize]).await);
        }
        all.reverse();
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = Page { limit: 3, offset: 0, after };
            let part = home.store.channels().list(home.workspace, page).await.unwrap();
            assert_eq!(part.total, 7);
            let Some(last) = part.rows.last() else { break };
            after = Some(last.id);
            seen.extend(part.rows);
        }
        assert_eq!(seen, all);
        let page = Page { limit: 2, offset: 5, after: None };
        let part = home.store.channels().list(home.workspace, page).await.unwrap();
        assert_eq!(part.rows, all[5..]);
    })
    .await;
}

#[tokio::test]
async fn ids_are_those_of_the_workspace() {
    for_each_engine(async |home| {
        for number in [1, 2] {
            create(home, number, &[]).await;
        }
        let channels = home.store.channels();
        let mut ids = channels.ids(home.workspace).await.unwrap();
        ids.sort_unstable();
        assert_eq!(ids, [channel_id(1), channel_id(2)]);
        assert_eq!(channels.ids(workspace_id(2)).await.unwrap(), []);
    })
    .await;
}
