//! Retention: expired data is deleted in bounded steps, and newer data stays.

use std::time::Duration;

use domain::check::Outcome;
use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::MonitorStatus::{Active, Error};
use rules::plan::Plans;
use rules::{IncidentId, MonitorId, Region, Scope, limits};
use store::{ApiKey, Batch, KeyHash, PrunedRecords, RetentionPolicy, WorkspaceEdit};

use crate::harness::{Home, a_result, at, for_each_engine, instant, key_id, with_evidence};

const KEEP: RetentionPolicy = RetentionPolicy {
    results: Duration::from_secs(10),
    evidence: Duration::from_secs(5),
    idempotency_keys: Duration::from_secs(1),
};

const TEN_MINUTES: i64 = 600_000;

#[tokio::test]
async fn expired_results_are_deleted_in_steps() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        // Each is in its own ten minutes, and none is compacted.
        let results = (0..2_500).map(|part| a_result(monitor, Region::FlyAms, part * TEN_MINUTES));
        home.commit(Batch { results: results.collect(), ..Batch::default() }).await.unwrap();
        // Those before the 2,400th are older than ten seconds.
        let now = instant(2_400 * TEN_MINUTES + 10_000);
        let mut steps = Vec::new();
        loop {
            let pruned = home.store.retention().step(KEEP, now).await.unwrap();
            steps.push(pruned.results);
            if !pruned.has_more() {
                break;
            }
        }
        assert_eq!(steps, [2_000, 400]);
        let left = home.store.results().newest(home.workspace, monitor, instant(0), 1_000).await;
        assert_eq!(left.unwrap().len(), 100);
    })
    .await;
}

#[tokio::test]
async fn evidence_expires_or_goes_with_its_monitor() {
    for_each_engine(async |home| {
        let (kept, deleted) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let results = [(kept, 0), (kept, 6_000), (deleted, 6_000)]
            .map(|(monitor, slot)| a_result(monitor, Region::FlyAms, slot))
            .map(|result| with_evidence(result, Outcome::Failure, "broken"));
        home.commit(Batch { results: results.into(), ..Batch::default() }).await.unwrap();
        home.store.monitors().delete(home.workspace, deleted, at(6_500)).await.unwrap();
        let pruned = home.store.retention().step(KEEP, instant(7_000)).await.unwrap();
        assert_eq!((pruned.evidence, pruned.results), (2, 0));
        let left = home
            .store
            .evidence()
            .between(home.workspace, kept, (instant(0), instant(9_000)), 10)
            .await
            .unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].identity.slot, instant(6_000));
    })
    .await;
}

#[tokio::test]
async fn evidence_expires_with_shorter_workspace_retention() {
    for_each_engine(async |home| {
        const DAY: i64 = 86_400_000;
        let monitor = home.monitor(1).await.id;
        let results = [0, 30 * DAY, 60 * DAY]
            .map(|slot| a_result(monitor, Region::FlyAms, slot))
            .map(|result| with_evidence(result, Outcome::Failure, "broken"));
        home.commit(Batch { results: results.into(), ..Batch::default() }).await.unwrap();
        let long = Duration::from_hours(24 * 1_000);
        let keep = RetentionPolicy { results: long, evidence: long, idempotency_keys: long };
        let now = instant(61 * DAY);
        let pruned = async || home.store.retention().step(keep, now).await.unwrap().evidence;
        assert_eq!(pruned().await, 0);
        for (days, goes) in [(Some(40), 1), (None, 0), (Some(1), 1)] {
            home.store.history().set_retention(home.workspace, days, at(0)).await.unwrap();
            assert_eq!(pruned().await, goes, "{days:?}");
        }
        assert_eq!(home.count("evidence").await, 1);
    })
    .await;
}

// decision 0049: "a workspace keeps results for the plan's time at most"
#[tokio::test]
async fn plan_caps_retention_while_it_lasts() {
    for_each_engine(async |home| {
        const DAY: i64 = 86_400_000;
        let store = &home.store;
        store.set_plans(
            Plans::parse("small retention_days=7, large retention_days=90").unwrap(),
            30,
        );
        let monitor = home.monitor(1).await.id;
        // Days that the operator set, plan, and the days after which evidence goes.
        let cases = [
            (None, "large", 120),
            (None, "small", 7),
            (Some(3), "small", 3),
            (Some(3), "free", 3),
            (Some(10), "small", 7),
            // The operator's setting applies again without the cap.
            (Some(10), "free", 10),
            (Some(100), "large", 90),
            (None, "free", 120),
        ];
        for ((kept, plan, goes), now) in cases.into_iter().zip((400..).step_by(100)) {
            home.execute("DELETE FROM evidence").await;
            let results = [now - goes + 1, now - goes - 1]
                .map(|day| a_result(monitor, Region::FlyAms, day * DAY))
                .map(|result| with_evidence(result, Outcome::Failure, "broken"));
            home.commit(Batch { results: results.into(), ..Batch::default() }).await.unwrap();
            store.history().set_retention(home.workspace, kept, at(1)).await.unwrap();
            let edit = WorkspaceEdit::Plan(plan.to_owned());
            store.workspaces().edit(home.workspace, edit, at(1)).await.unwrap();
            let keep = RetentionPolicy {
                evidence: Duration::from_hours(24 * 120),
                ..RetentionPolicy::default()
            };
            store.retention().step(keep, instant(now * DAY)).await.unwrap();
            assert_eq!(home.count("evidence").await, 1, "{kept:?} on {plan}");
        }
    })
    .await;
}

/// Commits an outage of one minute.
async fn an_outage(home: &Home, monitor: MonitorId, number: u64, millis: i64) {
    let id = IncidentId::from_bits(number);
    let down = Transition {
        from: Active,
        to: Error,
        at: instant(millis),
        incident: IncidentChange::Opened(id),
        why: StatusReason::NoVotes,
    };
    let up = Transition {
        from: Error,
        to: Active,
        at: instant(millis + 60_000),
        incident: IncidentChange::Closed { id, reason: CloseReason::Recovered },
        why: StatusReason::NoVotes,
    };
    let transitions = vec![(monitor, down), (monitor, up)];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
}

async fn a_key(home: &Home, number: u64, expires: Option<i64>) {
    let key = ApiKey {
        id: key_id(number),
        workspace: home.workspace,
        name: "ci".to_owned(),
        scope: Some(Scope::Read),
        created_at: instant(0),
        expires_at: expires.map(instant),
        last_used_at: None,
        revoked_at: None,
    };
    let hash = KeyHash::new(&number.to_string());
    home.store.keys().create(key, hash, at(0)).await.unwrap();
}

#[tokio::test]
async fn expired_records_are_deleted_current_ones_stay() {
    for_each_engine(async |home| {
        let (kept, deleted) = (home.monitor(1).await.id, home.monitor(2).await.id);
        an_outage(home, kept, 1, 0).await;
        an_outage(home, deleted, 2, 0).await;
        home.store.monitors().delete(home.workspace, deleted, at(100_000)).await.unwrap();
        a_key(home, 1, None).await;
        a_key(home, 2, Some(50_000)).await;
        a_key(home, 3, None).await;
        home.store.keys().revoke(home.workspace, key_id(3), at(50_000)).await.unwrap();

        let now = instant(200_000) + limits::ENDED_KEYS_KEPT;
        let pruned = home.store.retention().records(now).await.unwrap();
        assert_eq!(pruned, PrunedRecords { keys: 2, ..PrunedRecords::default() });
        let keys = home.store.keys().list(home.workspace).await.unwrap();
        assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [key_id(1)]);

        let now = instant(200_000) + limits::AUDIT_KEPT;
        let audit = home.count("audit").await as u64;
        let pruned = home.store.retention().records(now).await.unwrap();
        // Two changes of each monitor. The deletion of one added a third.
        let expected =
            PrunedRecords { status_changes: 4, incidents: 2, audit, ..PrunedRecords::default() };
        assert_eq!(pruned, expected, "the last change of an existing monitor stays");
        let changes = home.store.judge_states();
        let left = changes.changes(home.workspace, kept, instant(0), 10).await.unwrap();
        assert_eq!(left.iter().map(|change| change.to).collect::<Vec<_>>(), [Active]);
        assert_eq!(
            home.count("incident_entries").await,
            0,
            "the timeline expires with its incident"
        );
        let again = home.store.retention().records(now).await.unwrap();
        assert_eq!(again, PrunedRecords::default());
    })
    .await;
}

#[tokio::test]
async fn open_incident_never_expires() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let transitions = vec![(monitor, crate::commit::opened(1, 0))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let now = instant(0) + 10 * limits::INCIDENTS_KEPT;
        home.store.retention().records(now).await.unwrap();
        assert_eq!(home.store.incidents().open(home.workspace).await.unwrap().len(), 1);
    })
    .await;
}
