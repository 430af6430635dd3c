//! Retention: what is old goes in bounded steps, what is young stays.

use std::time::Duration;

use domain::check::Outcome;
use rules::Region;
use store::{Batch, KeepFor};

use crate::harness::{a_result, at, for_each_engine, instant, with_evidence};

const KEEP: KeepFor = KeepFor {
    results: Duration::from_secs(10),
    evidence: Duration::from_secs(5),
    idempotency_keys: Duration::from_secs(1),
};

#[tokio::test]
async fn old_results_go_in_steps_until_only_young_ones_are_left() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let results = (0..5_000).map(|slot| a_result(monitor, Region::FlyAms, slot)).collect();
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        // Of the 5,000 milliseconds those before 4,500 are older than ten seconds.
        let now = instant(14_500);
        let mut steps = Vec::new();
        loop {
            let pruned = home.store.retention().step(KEEP, now).await.unwrap();
            steps.push(pruned.results);
            if !pruned.is_there_more() {
                break;
            }
        }
        assert_eq!(steps, [2_000, 2_000, 500]);
        let left = home.store.results().newest(home.workspace, monitor, instant(0), 1_000).await;
        assert_eq!(left.unwrap().len(), 500);
    })
    .await;
}

#[tokio::test]
async fn evidence_goes_when_it_is_old_or_its_monitor_deleted() {
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
