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
