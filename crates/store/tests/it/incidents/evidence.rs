//! Evidence of incidents: copied from the evidence of the regions, and kept longer.

use std::time::Duration;

use domain::check::{CheckResult, Outcome};
use rules::{IncidentId, MonitorId, Region, limits};
use store::{Batch, FailedRegion, RetentionPolicy};

use crate::commit::{closed, opened};
use crate::harness::{Home, a_result, for_each_engine, instant, monitor_id, with_evidence};

const INCIDENT: IncidentId = IncidentId::from_bits(1);
const MINUTE: i64 = 60_000;

fn failed(region: Region, slot: i64, body: &str) -> CheckResult {
    with_evidence(a_result(monitor_id(1), region, slot), Outcome::Failure, body)
}

/// Returns the regions with stored evidence, and their bodies.
async fn stored_evidence(home: &Home) -> Vec<(Region, String)> {
    let whole = home.store.incidents().get(home.workspace, INCIDENT).await.unwrap();
    let body = |entry: &store::EvidenceEntry| entry.evidence.attempts[0].body.clone().unwrap();
    whole.evidence.iter().map(|entry| (entry.identity.region, body(entry))).collect()
}

fn failed_region(home: &Home, region: Region, at: i64) -> FailedRegion {
    let (workspace, monitor) = (home.workspace, monitor_id(1));
    FailedRegion { workspace, monitor, incident: INCIDENT, region, at: instant(at) }
}

async fn commit(home: &Home, results: Vec<CheckResult>, then: Option<domain::judge::Transition>) {
    let transitions = then.map(|transition| (monitor_id(1), transition)).into_iter().collect();
    home.commit(Batch { results, transitions, ..Batch::default() }).await.unwrap();
}

// design: §5 "Incidents keep evidence per region"
#[tokio::test]
async fn incident_keeps_first_evidence_of_failing_regions() {
    for_each_engine(async |home| {
        let monitor: MonitorId = home.monitor(1).await.id;
        let fine = a_result(monitor, Region::FlyCdg, 2);
        let results = vec![
            failed(Region::FlyJnb, -60 * MINUTE, "of another time"),
            failed(Region::FlyCdg, 0, "over"),
            with_evidence(fine, Outcome::Success, "well again"),
            failed(Region::FlyArn, 1, "older"),
            failed(Region::FlyArn, 8, "stockholm"),
        ];
        commit(home, results, None).await;
        commit(home, vec![failed(Region::FlyAms, 9, "amsterdam")], Some(opened(1, 10))).await;
        let first = vec![
            (Region::FlyAms, "amsterdam".to_owned()),
            (Region::FlyArn, "stockholm".to_owned()),
        ];
        assert_eq!(stored_evidence(home).await, first);

        let later =
            vec![failed(Region::FlyAms, 30, "again"), failed(Region::FlySin, 30, "singapore")];
        commit(home, later, None).await;
        assert_eq!(stored_evidence(home).await, first, "evidence of the opening stays");
        let joins = [Region::FlySin, Region::FlyAms].map(|region| failed_region(home, region, 31));
        home.store.incidents().record_failed_regions(joins.into()).await.unwrap();
        let mut all = first;
        all.push((Region::FlySin, "singapore".to_owned()));
        assert_eq!(stored_evidence(home).await, all);
        let joined = home.count("incident_entries WHERE kind = 'region_failed'").await;
        assert_eq!(joined, 1, "amsterdam failed from the start");
    })
    .await;
}

#[tokio::test]
async fn closing_incident_copies_missing_evidence() {
    for_each_engine(async |home| {
        home.monitor(1).await;
        commit(home, vec![failed(Region::FlyAms, 9, "amsterdam")], Some(opened(1, 10))).await;
        let results = vec![failed(Region::FlySin, 20, "first"), failed(Region::FlySin, 30, "last")];
        commit(home, results, Some(closed(1, 40))).await;
        let after = vec![failed(Region::FlyBom, 50, "too late")];
        commit(home, after, None).await;
        home.store
            .incidents()
            .record_failed_regions(vec![failed_region(home, Region::FlyBom, 51)])
            .await
            .unwrap();
        let expected =
            vec![(Region::FlyAms, "amsterdam".to_owned()), (Region::FlySin, "last".to_owned())];
        assert_eq!(stored_evidence(home).await, expected);
    })
    .await;
}

// design: §5 "Incidents keep evidence"
#[tokio::test]
async fn incident_evidence_expires_with_the_incident() {
    for_each_engine(async |home| {
        home.monitor(1).await;
        commit(home, vec![failed(Region::FlyAms, 9, "amsterdam")], Some(opened(1, 10))).await;
        commit(home, vec![], Some(closed(1, 40))).await;
        let retention = home.store.retention();
        let now = instant(0) + Duration::from_hours(24 * 30);
        retention.step(RetentionPolicy::default(), now).await.unwrap();
        assert_eq!(home.count("evidence").await, 0);
        assert_eq!(stored_evidence(home).await, [(Region::FlyAms, "amsterdam".to_owned())]);

        let pruned = retention.records(instant(41) + limits::INCIDENTS_KEPT).await.unwrap();
        assert_eq!(pruned.incidents, 1);
        for table in ["incidents", "incident_entries", "incident_evidence"] {
            assert_eq!(home.count(table).await, 0, "{table}");
        }
    })
    .await;
}
