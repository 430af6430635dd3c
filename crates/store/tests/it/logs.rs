//! Response logs: one monitor's results in pages, filtered, from both storages.

use domain::check::{CheckResult, Outcome, Trigger};
use rules::{MonitorId, Region};
use store::{Batch, LogCursor, LogFilter, StoreError};

use crate::harness::{Home, a_result, for_each_engine, instant, with_evidence, workspace_id};

const MINUTE: i64 = 60_000;

/// Commits a check each minute in two regions. Every tenth fails.
async fn filled(home: &Home, minutes: i64) -> MonitorId {
    let monitor = home.monitor(1).await.id;
    let mut results = Vec::new();
    for minute in 0..minutes {
        for region in [Region::FlyAms, Region::KoyebSin] {
            let result = a_result(monitor, region, minute * MINUTE);
            let outcome = if minute % 10 == 0 { Outcome::Failure } else { Outcome::Success };
            results.push(CheckResult { outcome, ..result });
        }
    }
    home.commit(Batch { results, ..Batch::default() }).await.unwrap();
    monitor
}

/// Returns all pages of a list, as minutes and regions.
async fn pages(
    home: &Home,
    monitor: MonitorId,
    filter: &LogFilter,
    limit: u32,
) -> Vec<(i64, Region)> {
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let logs = home.store.logs();
        let page = logs.list(home.workspace, monitor, filter, after, limit).await.unwrap();
        assert!(page.logs.len() <= limit as usize);
        listed.extend(page.logs.iter().map(|log| {
            let since = log.identity.slot.as_millis() - instant(0).as_millis();
            (since / MINUTE, log.identity.region)
        }));
        after = page.next;
        if after.is_none() {
            return listed;
        }
    }
}

#[tokio::test]
async fn log_pages_cover_all_results_newest_first() {
    for_each_engine(async |home| {
        let monitor = filled(home, 60).await;
        let mut expected = Vec::new();
        for minute in (0..60).rev() {
            expected.extend([(minute, Region::KoyebSin), (minute, Region::FlyAms)]);
        }
        for gathered in [0, 1, 9] {
            for _ in 0..gathered {
                home.store.history().compact().await.unwrap();
            }
            for limit in [1, 7, 25, 100, 1_000] {
                let listed = pages(home, monitor, &LogFilter::default(), limit).await;
                assert_eq!(listed, expected, "{gathered} {limit}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn each_filter_selects_matching_logs() {
    for_each_engine(async |home| {
        let monitor = filled(home, 40).await;
        home.store.history().compact().await.unwrap();
        let mut manual = a_result(monitor, Region::FlyArn, 40 * MINUTE);
        manual.identity.trigger = Trigger::Manual;
        home.commit(Batch { results: vec![manual], ..Batch::default() }).await.unwrap();
        let all = LogFilter::default;
        let count = async |filter: LogFilter| pages(home, monitor, &filter, 9).await.len();
        assert_eq!(count(all()).await, 81);
        assert_eq!(count(LogFilter { outcomes: vec![Outcome::Failure], ..all() }).await, 8);
        assert_eq!(count(LogFilter { regions: vec![Region::KoyebSin], ..all() }).await, 40);
        assert_eq!(count(LogFilter { triggers: vec![Trigger::Manual], ..all() }).await, 1);
        let from = Some(instant(5 * MINUTE));
        let to = Some(instant(15 * MINUTE));
        assert_eq!(count(LogFilter { from, to, ..all() }).await, 20);
        let outcomes = vec![Outcome::Failure, Outcome::Success];
        assert_eq!(count(LogFilter { outcomes, from, ..all() }).await, 71);
        assert_eq!(count(LogFilter { outcomes: vec![Outcome::Skipped], ..all() }).await, 0);
    })
    .await;
}

#[tokio::test]
async fn log_is_read_with_its_evidence() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let failed = with_evidence(
            a_result(monitor, Region::FlyAms, 0),
            Outcome::Failure,
            "the body of a failure",
        );
        let place = LogCursor {
            slot: failed.identity.slot,
            region: Region::FlyAms,
            trigger: Trigger::Scheduled,
            revision: 1,
        };
        let late = a_result(monitor, Region::FlyAms, 60 * MINUTE);
        home.commit(Batch { results: vec![failed, late], ..Batch::default() }).await.unwrap();
        for gathered in [false, true] {
            if gathered {
                assert_eq!(home.store.history().compact().await.unwrap().added, 1);
            }
            let log = home.store.logs().get(home.workspace, monitor, place).await.unwrap();
            let body = log.evidence.unwrap().attempts[0].body.clone();
            assert_eq!(body.as_deref(), Some("the body of a failure"));
        }
        let other = LogCursor { revision: 2, ..place };
        let missing = home.store.logs().get(home.workspace, monitor, other).await;
        assert!(matches!(missing, Err(StoreError::NotFound { .. })));
        let foreign = home.store.logs().get(workspace_id(2), monitor, place).await;
        assert!(matches!(foreign, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn long_gap_ends_a_page_early() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let day = 24 * 60 * MINUTE;
        let results =
            [0, 40 * day, 41 * day].map(|slot| a_result(monitor, Region::FlyAms, slot)).to_vec();
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        while home.store.history().compact().await.unwrap().results > 0 {}
        let all = LogFilter::default();
        let first = home.store.logs().list(home.workspace, monitor, &all, None, 10).await.unwrap();
        assert_eq!(first.logs.len(), 2);
        assert!(first.next.is_some());
        assert_eq!(pages(home, monitor, &all, 10).await.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn damaged_details_do_not_hide_the_list() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let failed =
            with_evidence(a_result(monitor, Region::FlyAms, MINUTE), Outcome::Failure, "broken");
        home.commit(Batch { results: vec![failed], ..Batch::default() }).await.unwrap();
        home.execute("UPDATE evidence SET region = 99").await;
        let logs = home.store.logs();
        let page = logs.list(home.workspace, monitor, &LogFilter::default(), None, 10).await;
        let page = page.unwrap();
        assert_eq!((page.logs.len(), page.details.len()), (1, 0));
        assert_eq!(home.store.quarantine().count(), 1);
    })
    .await;
}
