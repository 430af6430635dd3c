//! Evidence: all results that are not successes, and the latest success of each region.

use domain::check::{Outcome, Trigger};
use rules::plan::Plans;
use rules::{MonitorId, Region, Timestamp};
use sqlx::Connection as _;
use store::{Batch, LogCursor, LogFilter, RetentionPolicy, Store};

use crate::harness::{
    Engine, Home, a_result, for_each_engine, instant, with_evidence, workspace_id,
};

/// The database keeps one success of each period of this length.
const BUCKET: i64 = 600_000;
/// Selects the statements that wait for the table with the details in this database of PostgreSQL.
const WAITING: &str = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'evidence'::regclass \
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
const EVER: (Timestamp, Timestamp) = (instant(0), instant(100_000_000));

async fn stored_evidence(home: &Home, monitor: rules::MonitorId) -> Vec<String> {
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
            let result = with_evidence(a_result(monitor, region, slot * BUCKET), outcome, body);
            home.commit(Batch { results: vec![result], ..Batch::default() }).await.unwrap();
        }
        assert_eq!(
            stored_evidence(home, monitor).await,
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
        assert_eq!(stored_evidence(home, monitor).await, ["fly-ams Failure first"]);
    })
    .await;
}

#[tokio::test]
async fn evidence_of_one_batch_equals_separate_batches() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (ams, arn) = (Region::FlyAms, Region::FlyArn);
        let before = with_evidence(a_result(monitor, ams, BUCKET), Outcome::Success, "before");
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
                with_evidence(a_result(monitor, region, slot * BUCKET), outcome, body)
            })
            .to_vec();
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        assert_eq!(
            stored_evidence(home, monitor).await,
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
        assert!(
            stored_evidence(home, monitor).await.contains(&"fly-ams Failure broken".to_owned())
        );
    })
    .await;
}

/// The body that is kept of the scheduled check of a slot.
async fn body(store: &Store, home: &Home, monitor: MonitorId, slot: i64) -> Option<String> {
    let (region, trigger) = (Region::FlyAms, Trigger::Scheduled);
    let place = LogCursor { slot: instant(slot), region, trigger, revision: 1 };
    let log = store.logs().get(home.workspace, monitor, place).await.unwrap();
    log.evidence.and_then(|evidence| evidence.attempts[0].body.clone())
}

async fn succeed(home: &Home, monitor: MonitorId, slots: &[i64]) {
    for slot in slots {
        let result = a_result(monitor, Region::FlyAms, *slot);
        let results = vec![with_evidence(result, Outcome::Success, &format!("slot {slot}"))];
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
    }
}

// issue 16: "Keep details of the latest success per region"
#[tokio::test]
async fn latest_success_keeps_its_details_over_a_restart() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        succeed(home, monitor, &[130_000, 160_000, 190_000]).await;
        let failed =
            with_evidence(a_result(monitor, Region::FlyAms, 220_000), Outcome::Failure, "broken");
        home.commit(Batch { results: vec![failed], ..Batch::default() }).await.unwrap();
        // The database has the first one; a later one is in the file alone.
        assert_eq!(
            stored_evidence(home, monitor).await,
            ["fly-ams Failure broken", "fly-ams Success slot 130000"]
        );
        assert_eq!(body(&home.store, home, monitor, 160_000).await, None);
        assert_eq!(body(&home.store, home, monitor, 190_000).await.as_deref(), Some("slot 190000"));

        let all = LogFilter { with_details: true, ..LogFilter::default() };
        let logs = home.store.logs();
        let page = logs.list(home.workspace, monitor, &all, None, 10).await.unwrap();
        let slots = |page: &store::LogPage| -> Vec<u128> {
            page.logs.iter().map(|log| log.identity.slot.since(instant(0)).as_millis()).collect()
        };
        assert_eq!(slots(&page), [220_000, 190_000, 130_000]);
        assert!(page.logs.iter().all(|log| page.details.contains(&log.identity)));
        let first = logs.list(home.workspace, monitor, &all, None, 2).await.unwrap();
        let rest = logs.list(home.workspace, monitor, &all, first.next, 2).await.unwrap();
        assert_eq!(
            (slots(&first), slots(&rest), rest.next),
            (vec![220_000, 190_000], vec![130_000], None)
        );
        let whole =
            logs.list(home.workspace, monitor, &LogFilter::default(), None, 10).await.unwrap();
        let detailed = whole.logs.iter().filter(|log| whole.details.contains(&log.identity));
        assert_eq!((whole.logs.len(), detailed.count()), (4, 3));

        home.store.clone().close().await.unwrap();
        let again = Store::open(home.settings()).await.unwrap();
        assert_eq!(body(&again, home, monitor, 190_000).await.as_deref(), Some("slot 190000"));
        again.close().await.unwrap();
    })
    .await;
}

// The list read results, then the file with the details of a later result, and found neither.
#[tokio::test]
async fn success_during_listing_hides_no_details() {
    let home = Home::new(Engine::Postgres).await;
    let monitor = home.monitor(1).await.id;
    succeed(&home, monitor, &[130_000, 160_000]).await;
    let mut beside = home.beside().await;
    let mut locked = beside.begin().await.unwrap();
    sqlx::query("LOCK TABLE evidence").execute(&mut *locked).await.unwrap();
    let (store, workspace) = (home.store.clone(), home.workspace);
    let listing = tokio::spawn(async move {
        let filter = LogFilter { with_details: true, ..LogFilter::default() };
        store.logs().list(workspace, monitor, &filter, None, 10).await.unwrap()
    });
    // The list has read the results and waits for the table with the details of others.
    let mut observer = home.beside().await;
    while sqlx::query(WAITING).fetch_all(&mut observer).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    succeed(&home, monitor, &[190_000]).await;
    locked.commit().await.unwrap();
    let page = listing.await.unwrap();
    let slots: Vec<_> = page.logs.iter().map(|log| log.identity.slot).collect();
    assert_eq!(slots, [instant(160_000), instant(130_000)]);
    assert!(page.logs.iter().all(|log| page.details.contains(&log.identity)));
}

#[tokio::test]
async fn database_keeps_one_success_in_ten_minutes() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let mut stored = Vec::new();
        for minute in 0..40 {
            succeed(home, monitor, &[minute * 60_000]).await;
            let entries = home.store.evidence().between(home.workspace, monitor, EVER, 9).await;
            stored.extend(entries.unwrap().iter().map(|entry| entry.identity.slot));
        }
        stored.dedup();
        assert!((4..=5).contains(&stored.len()), "{stored:?}");
        assert_eq!(
            body(&home.store, home, monitor, 39 * 60_000).await.as_deref(),
            Some("slot 2340000")
        );
    })
    .await;
}

/// Erases details of successes that are kept no longer; returns the number of steps.
async fn erase_expired(home: &Home, now: Timestamp) -> u32 {
    let (retention, keep) = (home.store.retention(), RetentionPolicy::default());
    let (mut steps, mut after) = (1, None);
    while let Some(last) = retention.successes(keep, now, after).await.unwrap() {
        (steps, after) = (steps + 1, Some(last));
    }
    steps
}

/// Number of bytes in the file of successes that are not zero.
fn sealed(home: &Home) -> usize {
    let bytes = std::fs::read(home.folder.path().join("aloft.successes")).unwrap();
    bytes.iter().filter(|byte| **byte != 0).count()
}

#[tokio::test]
async fn retention_erases_old_successes_and_deleted_monitors() {
    for_each_engine(async |home| {
        let (old, gone) = (home.monitor(1).await.id, home.monitor(2).await.id);
        succeed(home, old, &[0, 30_000]).await;
        succeed(home, gone, &[0, 30_000]).await;
        let both = sealed(home);
        home.store
            .monitors()
            .delete(home.workspace, gone, crate::harness::at(40_000))
            .await
            .unwrap();
        erase_expired(home, instant(60_000)).await;
        let before = sealed(home);
        assert!(before < both * 2 / 3, "{before} of {both} bytes are left");
        assert_eq!(body(&home.store, home, old, 30_000).await.as_deref(), Some("slot 30000"));
        erase_expired(home, instant(60_000) + 15 * std::time::Duration::from_hours(24)).await;
        assert!(sealed(home) < before / 4, "{} of {before} bytes are left", sealed(home));
    })
    .await;
}

#[tokio::test]
async fn plan_shortens_the_retention_of_successes() {
    for_each_engine(async |home| {
        home.store.set_plans(Plans::parse("free retention_days=1").unwrap(), 14);
        let monitor = home.monitor(1).await.id;
        succeed(home, monitor, &[0, 30_000]).await;
        let before = sealed(home);
        let day = std::time::Duration::from_hours(24);
        erase_expired(home, instant(60_000) + day / 2).await;
        assert_eq!(sealed(home), before, "half a day is within the plan");
        erase_expired(home, instant(60_000) + 2 * day).await;
        assert!(sealed(home) < before / 4, "{} of {before} bytes are left", sealed(home));
    })
    .await;
}

#[tokio::test]
async fn retention_of_successes_goes_on_where_it_stopped() {
    for_each_engine(async |home| {
        let first = home.monitor(1).await;
        let mut results = Vec::new();
        for number in 2..=300 {
            let monitor = home.monitor(number).await.id;
            let result = a_result(monitor, Region::FlyAms, 30_000);
            results.push(with_evidence(result, Outcome::Success, "details"));
        }
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        succeed(home, first.id, &[0, 30_000]).await;
        home.execute("UPDATE monitors SET deleted_at = 40000").await;
        home.execute_owned(format!(
            "UPDATE monitors SET deleted_at = NULL WHERE id = '{}'",
            first.id
        ))
        .await;
        assert_eq!(erase_expired(home, instant(60_000)).await, 2);
        assert_eq!(body(&home.store, home, first.id, 30_000).await.as_deref(), Some("slot 30000"));
        assert!(sealed(home) < 30_000, "{} bytes are left", sealed(home));
    })
    .await;
}

#[tokio::test]
async fn damaged_monitor_or_plan_stops_no_retention() {
    for_each_engine(async |home| {
        let (damaged, gone) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let kept = home.monitor(3).await.id;
        for monitor in [damaged, gone, kept] {
            succeed(home, monitor, &[0, 30_000]).await;
        }
        let all = sealed(home);
        home.execute_owned(format!("UPDATE monitors SET id = 'no id' WHERE id = '{damaged}'"))
            .await;
        home.execute_owned(format!("UPDATE monitors SET deleted_at = 1 WHERE id = '{gone}'")).await;
        for days in ["-1", "9000000000"] {
            home.execute_owned(format!(
                "UPDATE workspaces SET plan = '?', retention_days = {days}"
            ))
            .await;
            erase_expired(home, instant(60_000)).await;
        }
        assert!(sealed(home) < all / 2, "{} of {all} bytes are left", sealed(home));
        assert_eq!(body(&home.store, home, kept, 30_000).await.as_deref(), Some("slot 30000"));
    })
    .await;
}

#[tokio::test]
async fn unreadable_details_are_removed_once_read() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        succeed(home, monitor, &[130_000, 160_000]).await;
        let path = home.folder.path().join("aloft.successes");
        let mut bytes = std::fs::read(&path).unwrap();
        for part in bytes.chunks_mut(1024) {
            part[200] ^= 1;
        }
        std::fs::write(&path, bytes).unwrap();
        let detailed = async || {
            let logs = home.store.logs();
            let page = logs.list(home.workspace, monitor, &LogFilter::default(), None, 10).await;
            page.unwrap().details.len()
        };
        assert_eq!(detailed().await, 2);
        assert_eq!(body(&home.store, home, monitor, 160_000).await, None);
        assert_eq!(detailed().await, 1);
        assert!(sealed(home) < 50, "{} bytes are left", sealed(home));
    })
    .await;
}
