//! Batches of the pipeline: results, verdicts and incidents are stored together or not at all.

use std::sync::Arc;

use domain::cadence::{Missed, MissedReason};
use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::{IncidentId, MonitorStatus, Region};
use store::{Batch, MissedFilter, MissedPage, StatusChange, StoreError};

use crate::harness::{a_history, a_result, for_each_engine, instant, monitor_id};

pub(crate) fn opened(incident: u64, at: i64) -> Transition {
    Transition {
        from: MonitorStatus::Active,
        to: MonitorStatus::Error,
        at: instant(at),
        incident: IncidentChange::Opened(IncidentId::from_bits(incident)),
        why: StatusReason::NoVotes,
    }
}

pub(crate) fn closed(incident: u64, at: i64) -> Transition {
    let id = IncidentId::from_bits(incident);
    Transition {
        from: MonitorStatus::Error,
        to: MonitorStatus::Active,
        at: instant(at),
        incident: IncidentChange::Closed { id, reason: CloseReason::Recovered },
        why: StatusReason::NoVotes,
    }
}

// design: §2 "One transaction writes result, region state, monitor status, incident"
#[tokio::test]
async fn batch_with_failing_incident_stores_nothing() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let batch = Arc::new(Batch {
            results: vec![a_result(monitor, Region::FlyAms, 10)],
            judge_states: vec![(monitor, a_history(MonitorStatus::Error, 10))],
            transitions: vec![(monitor, opened(1, 10))],
            ..Batch::default()
        });
        let incidents = home.store.incidents();
        let history = async || home.store.judge_states().get(monitor).await.unwrap();
        home.execute("ALTER TABLE incidents RENAME TO elsewhere").await;
        home.store.commit(Arc::clone(&batch)).await.unwrap_err();
        assert_eq!(home.store.results().count().await.unwrap(), 0);
        assert_eq!(history().await, None);

        home.execute("ALTER TABLE elsewhere RENAME TO incidents").await;
        home.store.commit(batch).await.unwrap();
        assert_eq!(home.store.results().count().await.unwrap(), 1);
        assert_eq!(history().await, Some(a_history(MonitorStatus::Error, 10)));
        assert_eq!(incidents.open(home.workspace).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn commit_on_calling_thread_equals_writer_commit() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let batch = |slot| {
            let results = vec![a_result(monitor, Region::FlyAms, slot)];
            Arc::new(Batch { results, ..Batch::default() })
        };
        let stored = async || home.store.results().count().await.unwrap();
        let alone = home.store.commit_inline(batch(10)).await.unwrap();
        assert_eq!((alone.stored, stored().await), (1, 1));
        let (_, here, _, again) = tokio::join!(
            home.store.commit(batch(20)),
            home.store.commit_inline(batch(30)),
            home.store.commit(batch(40)),
            home.store.commit_inline(batch(30)),
        );
        assert_eq!((here.unwrap().stored, again.unwrap().stored), (1, 1), "readers see it once");
        assert_eq!(stored().await, 4);

        home.execute("ALTER TABLE recent_results RENAME TO elsewhere").await;
        home.store.commit_inline(batch(50)).await.unwrap_err();
        home.execute("ALTER TABLE elsewhere RENAME TO recent_results").await;
        assert_eq!(home.store.commit_inline(batch(50)).await.unwrap().stored, 1);
        home.store.clone().close().await.unwrap();
        let late = home.store.commit_inline(batch(60)).await;
        assert!(matches!(late, Err(StoreError::Closed)));
    })
    .await;
}

#[tokio::test]
async fn retried_batch_changes_nothing() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let batch = Arc::new(Batch {
            results: vec![a_result(monitor, Region::FlyAms, 10)],
            judge_states: vec![(monitor, a_history(MonitorStatus::Active, 20))],
            transitions: vec![
                (monitor, opened(1, 10)),
                (monitor, closed(1, 20)),
                (monitor, opened(2, 30)),
            ],
            ..Batch::default()
        });
        for _ in 0..2 {
            home.store.commit(Arc::clone(&batch)).await.unwrap();
            let (incidents, states) = (home.store.incidents(), home.store.judge_states());
            assert_eq!(home.store.results().count().await.unwrap(), 1);
            let all = incidents.list_by_monitor(home.workspace, monitor, 10).await.unwrap();
            assert_eq!(all.iter().map(|it| it.closed.is_some()).collect::<Vec<_>>(), [false, true]);
            let changes = states.changes(home.workspace, monitor, instant(0), 10).await.unwrap();
            assert_eq!(changes.len(), 3);
        }
    })
    .await;
}

#[tokio::test]
async fn status_changes_are_stored_in_order() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let silent = Transition {
            from: MonitorStatus::Unknown,
            to: MonitorStatus::Unknown,
            ..closed(1, 30)
        };
        let batch = Batch {
            transitions: vec![
                (monitor, opened(1, 10)),
                (monitor, closed(1, 20)),
                (monitor, silent),
                (monitor_id(9), opened(2, 10)),
            ],
            ..Batch::default()
        };
        home.commit(batch).await.unwrap();
        let changes =
            home.store.judge_states().changes(home.workspace, monitor, instant(0), 10).await;
        let (active, error) = (MonitorStatus::Active, MonitorStatus::Error);
        assert_eq!(
            changes.unwrap(),
            [
                StatusChange { at: instant(10), from: active, to: error },
                StatusChange { at: instant(20), from: error, to: active },
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn latest_judge_state_is_stored() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for since in 1..=2 {
            let judge_states = vec![(monitor, a_history(MonitorStatus::Active, since))];
            home.commit(Batch { judge_states, ..Batch::default() }).await.unwrap();
        }
        let history = home.store.judge_states().get(monitor).await.unwrap();
        assert_eq!(history, Some(a_history(MonitorStatus::Active, 2)));
        let deferred_states = vec![(monitor, a_history(MonitorStatus::Degraded, 3))];
        home.commit(Batch { deferred_states, ..Batch::default() }).await.unwrap();
        let history = home.store.judge_states().get(monitor).await.unwrap();
        assert_eq!(
            history,
            Some(a_history(MonitorStatus::Degraded, 3)),
            "deferred states count too"
        );
        assert_eq!(home.store.judge_states().get(monitor_id(9)).await.unwrap(), None);
    })
    .await;
}

// design: §5 "No slot is silently lost"
#[tokio::test]
async fn repeated_missed_range_is_counted_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let range = |count: u32| Missed {
            monitor,
            region: Region::FlyAms,
            first_slot: instant(0),
            last_slot: instant(30_000 * (i64::from(count) - 1)),
            count,
            reason: MissedReason::Overloaded,
        };
        for count in [1, 4] {
            let missed = vec![range(count), Missed { monitor: monitor_id(9), ..range(count) }];
            home.commit(Batch { missed, ..Batch::default() }).await.unwrap();
        }
        let missed = home.store.missed();
        for (from, expected) in [(90_000, vec![range(4)]), (90_001, Vec::new())] {
            let filter = MissedFilter { from: Some(instant(from)), ..MissedFilter::default() };
            let found = missed.list(home.workspace, monitor, &filter, None, 10).await.unwrap();
            assert_eq!(found, MissedPage { ranges: expected, next: None });
        }
    })
    .await;
}
