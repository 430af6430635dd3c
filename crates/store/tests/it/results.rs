//! Results: committed results read back equal, in the order of slots, and once per key.

use std::sync::Arc;

use domain::check::{CheckResult, Outcome, Phases, ProbeName, Trigger};
use rules::Region;
use store::{Batch, Committed};

use crate::harness::{a_result, at, for_each_engine, instant, monitor_id, workspace_id};

fn batch_of(results: Vec<CheckResult>) -> Batch {
    Batch { results, ..Batch::default() }
}

fn described(results: &[CheckResult]) -> Vec<String> {
    results.iter().map(|result| format!("{result:?}")).collect()
}

#[tokio::test]
async fn committed_results_read_back_equal() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let plain = a_result(monitor, Region::FlyAms, 1);
        let mut odd = a_result(monitor, Region::RailwayAsiaSoutheast1, 2);
        odd.identity.revision = 70_000;
        odd.identity.trigger = Trigger::Manual;
        odd.outcome = Outcome::Failure;
        odd.finished_at = instant(-5);
        odd.latency_us = u32::MAX;
        odd.phases = Phases::default();
        odd.status = None;
        odd.attempts = 11;
        odd.probe = ProbeName(Arc::from("probe of the cellar"));
        home.commit(batch_of(vec![odd.clone(), plain.clone()])).await.unwrap();
        let results = home.store.results();
        let read = results.newest(home.workspace, monitor, instant(0), 10).await.unwrap();
        assert_eq!(described(&read), described(&[odd, plain]));
        assert_eq!(results.latest_slot().await.unwrap(), Some(instant(2)));
    })
    .await;
}

#[tokio::test]
async fn newest_results_come_first_within_limits() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let mut batch = Vec::new();
        for slot in 0..100 {
            batch.push(a_result(monitor, Region::FlyAms, slot));
            batch.push(a_result(other, Region::FlyAms, slot));
        }
        home.commit(batch_of(batch)).await.unwrap();
        let results = home.store.results();
        let slots = async |since, limit| -> Vec<i64> {
            let read =
                results.newest(home.workspace, monitor, instant(since), limit).await.unwrap();
            assert!(read.iter().all(|result| result.identity.monitor == monitor));
            read.iter()
                .map(|result| result.identity.slot.as_millis() - instant(0).as_millis())
                .collect()
        };
        assert_eq!(slots(0, 3).await, [99, 98, 97]);
        assert_eq!(slots(98, 10).await, [99, 98]);
        let foreign = results.newest(workspace_id(2), monitor, instant(0), 3).await.unwrap();
        assert!(foreign.is_empty());
    })
    .await;
}

// design: §5 "The second result of one identity is dropped"
#[tokio::test]
async fn second_result_of_a_key_is_dropped() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let first = a_result(monitor, Region::FlyAms, 1);
        let mut second = first.clone();
        second.outcome = Outcome::Failure;
        let committed = home.commit(batch_of(vec![first.clone(), second.clone()])).await.unwrap();
        assert_eq!(committed, Committed { stored: 1, duplicates: 1, ownerless: 0 });
        // If it is stored later, readers drop it.
        home.commit(batch_of(vec![second])).await.unwrap();
        let results = home.store.results();
        let read = results.newest(home.workspace, monitor, instant(0), 10).await.unwrap();
        assert_eq!(described(&read), described(std::slice::from_ref(&first)));
        assert_eq!(results.count().await.unwrap(), 1);
        let at_boot = results.since_for_boot(instant(0)).await.unwrap();
        assert_eq!(at_boot.iter().map(|it| it.outcome).collect::<Vec<_>>(), [Outcome::Success]);

        let mut others = vec![first.clone(); 4];
        others[0].identity.revision = 2;
        others[1].identity.region = Region::FlyArn;
        others[2].identity.slot = instant(2);
        others[3].identity.trigger = Trigger::Confirmation;
        let committed = home.commit(batch_of(others)).await.unwrap();
        assert_eq!(committed, Committed { stored: 4, duplicates: 0, ownerless: 0 });
        assert_eq!(results.count().await.unwrap(), 5);
    })
    .await;
}

#[tokio::test]
async fn result_without_vote_is_marked_at_boot() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let [votes, void] = [1, 2].map(|slot| a_result(monitor, Region::FlyAms, slot));
        let without_vote = vec![void.identity];
        let results = vec![votes, void];
        home.commit(Batch { results, without_vote, ..Batch::default() }).await.unwrap();
        let at_boot = home.store.results().since_for_boot(instant(0)).await.unwrap();
        assert_eq!(at_boot.iter().map(|it| it.votes).collect::<Vec<_>>(), [true, false]);
        let read = home.store.results().newest(home.workspace, monitor, instant(0), 9).await;
        assert_eq!(read.unwrap().len(), 2, "people see both");
    })
    .await;
}

#[tokio::test]
async fn batches_of_any_size_are_stored_completely() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let mut from = 0;
        for size in [1, 7, 8, 9, 63, 64, 65, 200, 1_000] {
            let batch = (from..from + size).map(|slot| a_result(monitor, Region::FlyAms, slot));
            let committed = home.commit(batch_of(batch.collect())).await.unwrap();
            assert_eq!(committed.stored, size as u64);
            from += size;
        }
        assert_eq!(home.store.results().count().await.unwrap(), from as u64);
    })
    .await;
}

// Such as after the clock was set back.
#[tokio::test]
async fn results_of_earlier_buckets_are_stored_completely() {
    const STRETCH: i64 = 600_000;
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let mut stored = 0;
        for stretch in [5, 6, 7, 8, 9, 0, 3, 0, 9, 1, 0] {
            let slots = (0..700).map(|slot| stretch * STRETCH + stored + slot);
            let batch = slots.map(|slot| a_result(monitor, Region::FlyAms, slot));
            home.commit(batch_of(batch.collect())).await.unwrap();
            stored += 700;
            let count = home.store.results().count().await.unwrap();
            assert_eq!(count, stored as u64, "after bucket {stretch}");
        }
    })
    .await;
}

#[tokio::test]
async fn results_of_deleted_monitor_are_dropped() {
    for_each_engine(async |home| {
        let (kept, deleted) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let batch = |slot| {
            batch_of(
                [kept, deleted, monitor_id(99)]
                    .into_iter()
                    .map(|monitor| a_result(monitor, Region::FlyAms, slot))
                    .collect(),
            )
        };
        let before = home.commit(batch(1)).await.unwrap();
        assert_eq!(before, Committed { stored: 2, duplicates: 0, ownerless: 1 });
        home.store.monitors().delete(home.workspace, deleted, at(5)).await.unwrap();
        let after = home.commit(batch(2)).await.unwrap();
        assert_eq!(after, Committed { stored: 1, duplicates: 0, ownerless: 2 });
        // Design §4: its history stays.
        let history = home.store.results().newest(home.workspace, deleted, instant(0), 9).await;
        assert_eq!(history.unwrap().len(), 1);
    })
    .await;
}
