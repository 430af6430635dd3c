//! Evidence: all results that are not successes, and the latest success of each region.

use domain::check::Outcome;
use rules::{Region, Timestamp};
use store::Batch;

use crate::harness::{Home, a_result, for_each_engine, instant, with_evidence, workspace_id};

const EVER: (Timestamp, Timestamp) = (instant(0), instant(1_000_000));

async fn kept(home: &Home, monitor: rules::MonitorId) -> Vec<String> {
    let entries = home.store.evidence().between(home.workspace, monitor, EVER, 100).await.unwrap();
    entries
        .iter()
        .map(|entry| {
            let body = entry.evidence.attempts[0].body.as_deref().unwrap_or_default();
            format!("{} {:?} {body}", entry.identity.region, entry.outcome)
        })
        .collect()
}

// design: §5 "kept for results that are not successes, and for the latest success of each region"
#[tokio::test]
async fn evidence_keeps_failures_and_latest_successes() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (ams, arn) = (Region::FlyAms, Region::FlyArn);
        let steps = [
            (ams, 1, Outcome::Success, "first"),
            (ams, 2, Outcome::Failure, "broken"),
            (arn, 3, Outcome::Success, "elsewhere"),
            (ams, 4, Outcome::Degraded, "slow"),
            (ams, 6, Outcome::Success, "latest"),
            (ams, 5, Outcome::Success, "late to arrive"),
        ];
        for (region, slot, outcome, body) in steps {
            let result = with_evidence(a_result(monitor, region, slot), outcome, body);
            home.commit(Batch { results: vec![result], ..Batch::default() }).await.unwrap();
        }
        assert_eq!(
            kept(home, monitor).await,
            [
                "fly-ams Success latest",
                "fly-ams Degraded slow",
                "fly-arn Success elsewhere",
                "fly-ams Failure broken",
            ]
        );
        let foreign = home.store.evidence().between(workspace_id(2), monitor, EVER, 100).await;
        assert_eq!(foreign.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn evidence_of_a_repeated_result_changes_nothing() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for body in ["first", "second"] {
            let result = a_result(monitor, Region::FlyAms, 1);
            let results = vec![with_evidence(result, Outcome::Failure, body)];
            home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        }
        assert_eq!(kept(home, monitor).await, ["fly-ams Failure first"]);
    })
    .await;
}

#[tokio::test]
async fn evidence_of_one_batch_equals_separate_batches() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (ams, arn) = (Region::FlyAms, Region::FlyArn);
        let before = with_evidence(a_result(monitor, ams, 1), Outcome::Success, "before");
        home.commit(Batch { results: vec![before], ..Batch::default() }).await.unwrap();
        let results = [
            (ams, 3, Outcome::Success, "latest"),
            (arn, 2, Outcome::Failure, "broken"),
            (ams, 2, Outcome::Success, "earlier"),
            (arn, 3, Outcome::Failure, "still broken"),
            (arn, 4, Outcome::Success, "well again"),
        ];
        let results = results
            .map(|(region, slot, outcome, body)| {
                with_evidence(a_result(monitor, region, slot), outcome, body)
            })
            .to_vec();
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        assert_eq!(
            kept(home, monitor).await,
            [
                "fly-arn Success well again",
                "fly-ams Success latest",
                "fly-arn Failure still broken",
                "fly-arn Failure broken",
            ]
        );
    })
    .await;
}

// If the clock is set back, slots repeat, and may have another outcome.
#[tokio::test]
async fn success_in_slot_of_failure_keeps_its_evidence() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for (slot, outcome, body) in [
            (1, Outcome::Success, "well"),
            (2, Outcome::Failure, "broken"),
            (2, Outcome::Success, "the same slot"),
        ] {
            let result = with_evidence(a_result(monitor, Region::FlyAms, slot), outcome, body);
            home.commit(Batch { results: vec![result], ..Batch::default() }).await.unwrap();
        }
        assert!(kept(home, monitor).await.contains(&"fly-ams Failure broken".to_owned()));
    })
    .await;
}
