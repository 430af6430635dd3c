//! Effect of maintenance on alerts: an opening waits for the end of the maintenance, and moves with
//! it. A recovery cancels it.

use rules::ChannelId;
use store::{Batch, DeliveryFilter};

use super::*;
use crate::channels;
use crate::commit::{closed, opened};

/// Commits that the monitor goes down at this time.
async fn take_down(home: &Home, monitor: MonitorId, now: i64) {
    let batch = Batch { transitions: vec![(monitor, opened(1, now))], ..Batch::default() };
    home.commit(batch).await.unwrap();
}

async fn recover(home: &Home, monitor: MonitorId, now: i64) {
    let batch = Batch { transitions: vec![(monitor, closed(1, now))], ..Batch::default() };
    home.commit(batch).await.unwrap();
}

/// Returns the number of due deliveries, and the next due time in hours.
async fn due(home: &Home, now: i64) -> (usize, Option<i64>) {
    let queue = home.store.outbox().due(ChannelId::from_bits(1), instant(now), 10).await.unwrap();
    let next_at = queue.next_at.map(|at| (at.as_millis() - instant(0).as_millis()) / HOUR);
    (queue.due.len(), next_at)
}

async fn a_notified_monitor(home: &Home) -> MonitorId {
    let monitor = home.monitor(1).await.id;
    channels::create(home, 1, &[monitor]).await;
    monitor
}

#[tokio::test]
async fn outage_outlasting_maintenance_is_notified_at_its_end() {
    // issue 6 point 5, design: §5 "still `error` when a maintenance ends"
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        create(home, 1, from(0, monitor)).await.unwrap();
        take_down(home, monitor, HOUR).await;
        assert_eq!(due(home, HOUR).await, (0, Some(2)));
        assert_eq!(due(home, 2 * HOUR - 1).await, (0, Some(2)));
        assert_eq!(due(home, 2 * HOUR).await, (1, None));
    })
    .await;
}

#[tokio::test]
async fn outage_within_maintenance_is_not_notified() {
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        create(home, 1, from(0, monitor)).await.unwrap();
        take_down(home, monitor, HOUR).await;
        recover(home, monitor, HOUR + 1).await;
        assert_eq!(due(home, 9 * HOUR).await, (0, None));
    })
    .await;
}

#[tokio::test]
async fn recovery_of_notified_outage_is_not_held() {
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        create(home, 1, from(HOUR, monitor)).await.unwrap();
        take_down(home, monitor, 0).await;
        assert_eq!(due(home, 0).await, (1, None));
        recover(home, monitor, 2 * HOUR).await;
        let all = Page { limit: 50, offset: 0, after: None };
        let listed = home.store.outbox().list(home.workspace, DeliveryFilter::default(), all).await;
        let deliveries = listed.unwrap().rows;
        assert_eq!(deliveries.len(), 2);
        assert!(
            deliveries.iter().all(|it| it.hold_reason.is_none() && it.due_at <= instant(2 * HOUR))
        );
    })
    .await;
}

#[tokio::test]
async fn adjacent_windows_hold_alerts_until_the_last() {
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        let component = components::a_full_page_with_one(home, monitor).await.id;
        create(home, 1, from(0, monitor)).await.unwrap();
        let touching = with(2 * HOUR, |draft| draft.component_ids = vec![component.to_string()]);
        create(home, 2, touching).await.unwrap();
        create(home, 3, from(3 * HOUR, monitor)).await.unwrap();
        create(home, 4, from(6 * HOUR, monitor)).await.unwrap();
        take_down(home, monitor, 0).await;
        assert_eq!(due(home, 0).await, (0, Some(5)));
    })
    .await;
}

#[tokio::test]
async fn held_alert_moves_with_the_maintenance_end() {
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        let seen = create(home, 1, from(0, monitor)).await.unwrap().maintenance;
        take_down(home, monitor, HOUR).await;
        let maintenances = home.store.maintenances();
        let longer = with(0, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.duration = Some("5h".to_owned());
        });
        let seen = maintenances.update(seen, longer, at(HOUR)).await.unwrap().maintenance;
        assert_eq!(due(home, HOUR).await, (0, Some(5)));
        assert_eq!(due(home, 2 * HOUR).await, (0, Some(5)));
        let shorter = with(0, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.duration = Some("4h".to_owned());
        });
        let seen = maintenances.update(seen, shorter, at(3 * HOUR)).await.unwrap().maintenance;
        assert_eq!(due(home, 3 * HOUR).await, (0, Some(4)));
        let elsewhere = MaintenanceSettings {
            monitor_ids: vec![home.monitor(2).await.id],
            ..seen.settings.clone()
        };
        maintenances.update(seen, elsewhere, at(3 * HOUR)).await.unwrap();
        assert_eq!(due(home, 3 * HOUR).await, (1, None));
    })
    .await;
}

#[tokio::test]
async fn ending_or_deleting_maintenance_releases_held_alerts() {
    for deletes in [false, true] {
        for_each_engine(async |home| {
            let monitor = a_notified_monitor(home).await;
            create(home, 1, from(0, monitor)).await.unwrap();
            take_down(home, monitor, HOUR).await;
            let mut woken = home.store.outbox().listen();
            let (maintenances, id) = (home.store.maintenances(), maintenance_id(1));
            if deletes {
                maintenances.delete(home.workspace, id, at(HOUR)).await.unwrap();
            } else {
                maintenances.end(home.workspace, id, at(HOUR)).await.unwrap();
            }
            assert!(woken.try_recv().is_ok());
            assert_eq!(due(home, HOUR).await, (1, None));
        })
        .await;
    }
}

#[tokio::test]
async fn changing_a_component_monitor_releases_held_alerts() {
    for_each_engine(async |home| {
        let monitor = a_notified_monitor(home).await;
        let other = home.monitor(2).await.id;
        let component = components::a_full_page_with_one(home, monitor).await;
        let of_component = with(0, |draft| draft.component_ids = vec![component.id.to_string()]);
        create(home, 1, of_component).await.unwrap();
        take_down(home, monitor, HOUR).await;
        assert_eq!(due(home, HOUR).await, (0, Some(2)));
        let mut repointed = component.settings.clone();
        repointed.monitor_id = Some(other);
        home.store.components().update(component, repointed, at(HOUR)).await.unwrap();
        assert_eq!(due(home, HOUR).await, (1, None));
    })
    .await;
}
