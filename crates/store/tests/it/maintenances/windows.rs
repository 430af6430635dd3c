//! Windows over time: extended ahead, and deleted after their retention.

use super::*;

const DAY: i64 = 24 * HOUR;

/// Runs all housekeeping that is due at this time.
async fn extend_and_prune(home: &Home, now: i64) {
    while home.store.maintenances().extend(instant(now)).await.unwrap() {}
    while home.store.maintenances().prune(instant(now)).await.unwrap() {}
}

async fn windows(home: &Home) -> i64 {
    home.count("maintenance_windows").await
}

#[tokio::test]
async fn windows_are_extended_as_time_passes() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let recurring = |rule: &str| {
            with(HOUR, |draft| {
                draft.monitor_ids = vec![monitor.to_string()];
                draft.duration = Some("1h".to_owned());
                draft.recurrence = Some(rule.to_owned());
            })
        };
        create(home, 1, recurring("FREQ=DAILY")).await.unwrap();
        assert_eq!(windows(home).await, 400);
        extend_and_prune(home, 20 * DAY).await;
        assert_eq!(windows(home).await, 400, "enough windows are ahead");
        extend_and_prune(home, 40 * DAY).await;
        assert_eq!(windows(home).await, 440);
        let next = read(home, 1, 439 * DAY).await.unwrap().next.unwrap();
        assert_eq!(next, span(439 * DAY + HOUR, 439 * DAY + 2 * HOUR));
        // A server catches up after a long downtime.
        extend_and_prune(home, 600 * DAY).await;
        let seen = read(home, 1, 600 * DAY + HOUR).await.unwrap();
        assert_eq!(seen.current, Some(span(600 * DAY + HOUR, 600 * DAY + 2 * HOUR)));
        assert_eq!(seen.status(), MaintenanceStatus::Active);
    })
    .await;
}

#[tokio::test]
async fn adjacent_windows_are_extended_as_one() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let always = with(HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.duration = Some("24h".to_owned());
            draft.recurrence = Some("FREQ=DAILY".to_owned());
        });
        create(home, 1, always).await.unwrap();
        extend_and_prune(home, 50 * DAY).await;
        assert_eq!(windows(home).await, 1);
        let current = read(home, 1, 50 * DAY).await.unwrap().current;
        assert_eq!(current, Some(span(HOUR, 450 * DAY + HOUR)));
    })
    .await;
}

#[tokio::test]
async fn dense_windows_are_bounded_and_extended_when_needed() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let dense = with(HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.duration = Some("1m".to_owned());
            draft.recurrence = Some("FREQ=HOURLY".to_owned());
        });
        create(home, 1, dense).await.unwrap();
        assert_eq!(windows(home).await, 1_000);
        extend_and_prune(home, 0).await;
        assert_eq!(windows(home).await, 1_000, "half of them is enough");
        extend_and_prune(home, 600 * HOUR).await;
        assert_eq!(windows(home).await, 2_000);
    })
    .await;
}

#[tokio::test]
async fn expired_windows_are_deleted() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        create(home, 1, from(HOUR, monitor)).await.unwrap();
        create(home, 2, from(HOUR, monitor)).await.unwrap();
        home.store
            .maintenances()
            .delete(home.workspace, maintenance_id(2), at(2 * HOUR))
            .await
            .unwrap();
        extend_and_prune(home, 400 * DAY + 2 * HOUR).await;
        assert_eq!(windows(home).await, 2);
        extend_and_prune(home, 400 * DAY + 4 * HOUR).await;
        assert_eq!(windows(home).await, 0);
        assert_eq!(home.count("maintenances").await, 1, "existing maintenance stays");
        assert_eq!(home.count("maintenance_covers").await, 1);
        assert_eq!(read(home, 1, 500 * DAY).await.unwrap().status(), MaintenanceStatus::Completed);
    })
    .await;
}

#[tokio::test]
async fn next_boundary_is_the_next_begin_or_end() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        create(home, 1, from(HOUR, monitor)).await.unwrap();
        create(home, 2, from(2 * HOUR, other)).await.unwrap();
        let maintenances = home.store.maintenances();
        for (workspace, now, expected) in [
            (home.workspace, 0, Some(HOUR)),
            (home.workspace, HOUR, Some(2 * HOUR)),
            (home.workspace, 2 * HOUR, Some(3 * HOUR)),
            (home.workspace, 3 * HOUR, Some(4 * HOUR)),
            (home.workspace, 4 * HOUR, None),
            (workspace_id(2), 0, None),
        ] {
            let next = maintenances.next_boundary(workspace, instant(now)).await.unwrap();
            assert_eq!(next, expected.map(instant), "{workspace} {now}");
        }
    })
    .await;
}

// issue 16, point 7: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn unreadable_maintenances_block_no_other() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let daily = || {
            with(HOUR, |draft| {
                draft.monitor_ids = vec![monitor.to_string()];
                draft.recurrence = Some("FREQ=DAILY".to_owned());
            })
        };
        for number in 1..=25 {
            create(home, number, daily()).await.unwrap();
        }
        let sound = maintenance_id(25);
        home.execute_owned(format!(
            "UPDATE maintenances SET duration = 'long' WHERE id <> '{sound}'; \
             DELETE FROM maintenance_windows WHERE maintenance <> '{sound}'"
        ))
        .await;
        assert_eq!(windows(home).await, 400);
        extend_and_prune(home, 40 * DAY).await;
        assert_eq!(windows(home).await, 440);
        let unreadable = home.store.quarantine().rows();
        assert_eq!(unreadable.len(), 24, "{unreadable:?}");
    })
    .await;
}
