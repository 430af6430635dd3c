//! Missed slots: listed by pages with the reason, and counted by region.

use domain::cadence::{Missed, MissedReason};
use rules::{MonitorId, Region};
use store::{Batch, MissedFilter, StoreError};

use crate::harness::{Home, for_each_engine, instant, workspace_id};

const MINUTE: i64 = 60_000;
const AMS: Region = Region::FlyAms;
const SIN: Region = Region::FlySin;

/// Slots of a minute each, of which the first is so many minutes after the start.
fn range(
    monitor: MonitorId,
    region: Region,
    (from, count): (i64, u32),
    reason: MissedReason,
) -> Missed {
    let last_slot = instant((from + i64::from(count) - 1) * MINUTE);
    Missed { last_slot, count, ..Missed::slot(monitor, region, instant(from * MINUTE), reason) }
}

/// A monitor with four ranges.
async fn with_missed(home: &Home) -> MonitorId {
    let monitor = home.monitor(1).await.id;
    let missed = vec![
        range(monitor, AMS, (0, 10), MissedReason::Down),
        range(monitor, SIN, (0, 10), MissedReason::Down),
        range(monitor, SIN, (30, 1), MissedReason::Overloaded),
        range(monitor, AMS, (40, 2), MissedReason::Changed),
    ];
    home.commit(Batch { missed, ..Batch::default() }).await.unwrap();
    monitor
}

async fn listed(home: &Home, monitor: MonitorId, filter: &MissedFilter, limit: u32) -> Vec<String> {
    let (mut after, mut found) = (None, Vec::new());
    loop {
        let missed = home.store.missed();
        let page = missed.list(home.workspace, monitor, filter, after, limit).await.unwrap();
        found.extend(page.ranges.iter().map(|it| {
            let minutes = it.first_slot.since(instant(0)).as_secs() / 60;
            format!("{} {minutes} {} {}", it.region, it.count, it.reason.as_str())
        }));
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

#[tokio::test]
async fn missed_slots_are_listed_newest_first() {
    for_each_engine(async |home| {
        let monitor = with_missed(home).await;
        for limit in [1, 3, 4, 100] {
            let all = listed(home, monitor, &MissedFilter::default(), limit).await;
            assert_eq!(
                all,
                [
                    "fly-ams 40 2 changed",
                    "fly-sin 30 1 overloaded",
                    "fly-sin 0 10 down",
                    "fly-ams 0 10 down"
                ],
                "{limit}"
            );
        }
        let down = MissedFilter {
            reasons: vec![MissedReason::Down],
            regions: vec![AMS],
            ..MissedFilter::default()
        };
        assert_eq!(listed(home, monitor, &down, 10).await, ["fly-ams 0 10 down"]);
        let between = MissedFilter {
            from: Some(instant(9 * MINUTE)),
            to: Some(instant(40 * MINUTE)),
            ..MissedFilter::default()
        };
        let found = listed(home, monitor, &between, 10).await;
        assert_eq!(found, ["fly-sin 30 1 overloaded", "fly-sin 0 10 down", "fly-ams 0 10 down"]);
        let foreign = home.store.missed().list(workspace_id(2), monitor, &down, None, 10).await;
        assert!(matches!(foreign, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn missed_slots_are_counted_from_an_instant() {
    for_each_engine(async |home| {
        let monitor = with_missed(home).await;
        for (from, ams, sin) in [(-5, 12, 11), (0, 12, 11), (4, 8, 7), (10, 2, 1), (41, 1, 0)] {
            let since = instant(from * MINUTE);
            let counts = home.store.missed().counts(home.workspace, monitor, since).await.unwrap();
            let count = |region| counts.get(&region).copied().unwrap_or(0);
            assert_eq!((count(AMS), count(SIN)), (ams, sin), "{from}");
        }
    })
    .await;
}

// issue 16 point 7: "Treat unreadable data the same way everywhere"
#[tokio::test]
async fn damaged_ranges_are_left_out_and_named() {
    for_each_engine(async |home| {
        let monitor = with_missed(home).await;
        home.execute("UPDATE missed_slots SET region = 99 WHERE reason = 2").await;
        home.execute("UPDATE missed_slots SET slots = -1 WHERE reason = 3").await;
        let begun = home.store.missed().counts(home.workspace, monitor, instant(5 * MINUTE)).await;
        assert_eq!(begun.unwrap().into_iter().collect::<Vec<_>>(), [(AMS, 5), (SIN, 5)]);
        for limit in [1, 2, 100] {
            let all = listed(home, monitor, &MissedFilter::default(), limit).await;
            assert_eq!(all, ["fly-sin 0 10 down", "fly-ams 0 10 down"], "{limit}");
        }
        let found = home.store.doctor().examine().await.unwrap();
        let mut codes: Vec<_> = found
            .iter()
            .map(|row| format!("{} {} {}", row.table, row.columns["region"], row.columns["slots"]))
            .collect();
        codes.sort_unstable();
        assert_eq!(codes, [r#"missed_slots "0" "-1""#, r#"missed_slots "99" "1""#]);
        for row in found {
            home.store.doctor().remove("missed_slots", &row.key).await.unwrap();
        }
        assert_eq!(home.count("missed_slots").await, 2);
    })
    .await;
}
