//! Writes meet unreadable rows too: the judge's batches, alerts, announcements and housekeeping go on
//! without them.

use domain::cadence::{Missed, MissedReason};
use domain::judge::{IncidentChange, StatusReason, Transition};
use rules::{MonitorId, MonitorStatus, Region};
use store::Batch;

use super::{MINUTE, bytes, named};
use crate::commit::{closed, opened};
use crate::harness::{Home, a_history, a_result, at, for_each_engine, instant};
use crate::outbox::{channel_id, deliver, slack};

async fn turn(home: &Home, monitor: MonitorId, transition: Transition) {
    let transitions = vec![(monitor, transition)];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
}

async fn changes(home: &Home, monitor: MonitorId) -> Vec<(MonitorStatus, MonitorStatus)> {
    let states = home.store.judge_states();
    let changes = states.changes(home.workspace, monitor, instant(0), 10).await.unwrap();
    changes.iter().map(|change| (change.from, change.to)).collect()
}

// issue 16, point 7: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn damaged_channels_are_alerted() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let damaged = slack(home, 1, &[monitor]).await;
        let other_kind = slack(home, 2, &[monitor]).await;
        slack(home, 3, &[other]).await;
        home.execute_owned(format!(
            "UPDATE channels SET preferences = '{{' WHERE id = '{damaged}'; \
             UPDATE channels SET kind = 'pigeon' WHERE id = '{other_kind}'"
        ))
        .await;
        let transitions = vec![(monitor, opened(1, 10)), (other, opened(2, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        assert_eq!(deliver(home, damaged, 20).await, ["error 1"]);
        assert_eq!(deliver(home, other_kind, 20).await, ["error 1"]);
        assert_eq!(deliver(home, channel_id(3), 20).await, ["error 2"]);
        home.execute("UPDATE deliveries SET hold_reason = 'lost', state = 'lost'").await;
        turn(home, monitor, closed(1, 30)).await;
        assert_eq!(deliver(home, damaged, 40).await, ["recovered 1"]);
        assert_eq!(deliver(home, other_kind, 40).await, ["recovered 1"]);
        let sent = home.store.channels().get_for_sending(damaged).await.unwrap();
        assert!(sent.unwrap().settings.preferences.is_empty());
        let channels = [damaged, other_kind].map(|channel| format!("channels/{channel}"));
        assert_eq!(named(home)[..2], channels);
    })
    .await;
}

#[tokio::test]
async fn unreadable_monitor_still_alerts() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let damage = "UPDATE monitors SET periodicity = '7w', check_sealed = $";
        // The head of an envelope that names another key.
        home.execute_owned(damage.replace('$', &bytes(home, &format!("01{}", "00".repeat(64)))))
            .await;
        turn(home, monitor, opened(1, 10)).await;
        let due = home.store.outbox().due(channel, instant(20), 10).await.unwrap().due;
        let alert = due[0].content.alert().unwrap();
        assert_eq!((&*alert.monitor.name, &*alert.monitor.target), ("API", "unreadable"));
        assert_eq!(home.count("incidents WHERE closed_at IS NULL").await, 1);
        assert_eq!(named(home), [format!("monitors/{monitor}")]);
    })
    .await;
}

#[tokio::test]
async fn unreadable_last_change_allows_the_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let unknown = |at, from| Transition {
            from,
            to: MonitorStatus::Unknown,
            at: instant(at),
            incident: IncidentChange::None,
            why: StatusReason::NoVotes,
        };
        turn(home, monitor, opened(1, 10)).await;
        turn(home, monitor, closed(1, 20)).await;
        home.execute("UPDATE status_changes SET to_status = 'lost' WHERE from_status = 'error'")
            .await;
        turn(home, monitor, unknown(30, MonitorStatus::Active)).await;
        let first = (MonitorStatus::Active, MonitorStatus::Error);
        let last = (MonitorStatus::Active, MonitorStatus::Unknown);
        assert_eq!(changes(home, monitor).await, [first, last]);
        home.execute("UPDATE status_changes SET to_status = 'lost' WHERE to_status = 'unknown'")
            .await;
        home.store.monitors().delete(home.workspace, monitor, at(40)).await.unwrap();
        assert_eq!(changes(home, monitor).await, [first, (MonitorStatus::Error, last.1)]);
        assert_eq!(home.count("status_changes").await, 4);
    })
    .await;
}

#[tokio::test]
async fn unreadable_missed_slots_do_not_stop_batches() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (region, slot) = (Region::FlyAms, instant(MINUTE));
        let missed = Missed {
            monitor,
            region,
            first_slot: slot,
            last_slot: slot,
            count: 1,
            reason: MissedReason::Down,
        };
        home.commit(Batch { missed: vec![missed], ..Batch::default() }).await.unwrap();
        home.execute("UPDATE missed_slots SET reason = 99").await;
        let result = a_result(monitor, region, MINUTE);
        let (late, results) = (vec![result.identity], vec![result]);
        let committed = home.commit(Batch { late, results, ..Batch::default() }).await.unwrap();
        assert_eq!((committed.stored, home.count("missed_slots").await), (1, 1));
        assert_eq!(named(home).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn damage_leaves_one_transition_out() {
    for_each_engine(async |home| {
        let (damaged, sound) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let channel = slack(home, 1, &[damaged, sound]).await;
        home.execute("UPDATE monitors SET active = FALSE, revision = -1 WHERE number = 1").await;
        let transitions = vec![(damaged, opened(1, 10)), (sound, opened(2, 10))];
        let results = vec![a_result(sound, Region::FlyAms, 1)];
        let down = a_history(MonitorStatus::Error, 10);
        let judge_states = vec![(damaged, down.clone()), (sound, down)];
        let batch = Batch { transitions, results, judge_states, ..Batch::default() };
        assert_eq!(home.commit(batch).await.unwrap().stored, 1);
        // After a restart, the judge decides again about the other one.
        assert_eq!(home.store.judge_states().get(damaged).await.unwrap(), None);
        assert!(home.store.judge_states().get(sound).await.unwrap().is_some());
        assert_eq!(deliver(home, channel, 20).await, ["error 2"]);
        assert_eq!((home.count("incidents").await, home.count("status_changes").await), (1, 1));
        let unreadable = home.store.quarantine().rows();
        assert_eq!(unreadable[0].key, damaged.to_string());
        assert!(unreadable[0].why.starts_with("a change of its status was not stored: "));
        home.store
            .commit_inline(std::sync::Arc::new(Batch {
                transitions: vec![(damaged, closed(1, 30)), (sound, closed(2, 30))],
                ..Batch::default()
            }))
            .await
            .unwrap();
        assert_eq!(deliver(home, channel, 40).await, ["recovered 2"]);
    })
    .await;
}

// SQLite stores any bytes as text; PostgreSQL refuses them.
#[tokio::test]
async fn text_of_other_bytes_is_damage() {
    for_each_engine(async |home| {
        if !home.is_embedded() {
            let refused = sqlx::query("SELECT convert_from('\\x7bff'::bytea, 'UTF8')");
            assert!(refused.execute(&mut home.beside().await).await.is_err());
            return;
        }
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        home.execute("UPDATE channels SET preferences = CAST(x'7bff' AS TEXT)").await;
        turn(home, monitor, opened(1, 10)).await;
        assert_eq!(deliver(home, channel, 20).await, ["error 1"]);
        assert_eq!(named(home), [format!("channels/{channel}")]);
        let found = home.store.doctor().examine().await.unwrap();
        assert_eq!(found[0].columns["preferences"], "7BFF");
    })
    .await;
}

#[tokio::test]
async fn attempt_is_stored_for_unreadable_channel() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        home.execute("UPDATE channels SET preferences = '{\"remindEvery\":\"1h\"}'").await;
        turn(home, monitor, opened(1, 10)).await;
        let damage = "UPDATE channels SET kind = 'pigeon', provider_sealed = $";
        home.execute_owned(damage.replace('$', &bytes(home, "00"))).await;
        assert_eq!(deliver(home, channel, 20).await, ["error 1"]);
        assert_eq!(home.count("deliveries WHERE state = 'accepted'").await, 1);
    })
    .await;
}
