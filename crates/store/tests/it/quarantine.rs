//! Unreadable rows: list queries omit and log them, they stay in the database, and an operator
//! lists, copies, repairs and removes them.

mod doctor;
mod figures;
mod parts;
mod writes;

use domain::check::CheckResult;
use domain::history::Rollup;
use rules::{Region, Role};
use store::{
    Batch, DeliveryFilter, MaintenanceFilter, Page, ReportFilter, StoreError, SubscriberFilter,
};

use crate::harness::{Home, a_result, for_each_engine, instant, open};
use crate::users::user_id;

const MINUTE: i64 = 60_000;
const FIRST: Page = Page { limit: 10, offset: 0, after: None };

fn batch_of(results: Vec<CheckResult>) -> Batch {
    Batch { results, ..Batch::default() }
}

fn bytes(home: &Home, digits: &str) -> String {
    if home.is_embedded() { format!("x'{digits}'") } else { format!("'\\x{digits}'::bytea") }
}

fn named(home: &Home) -> Vec<String> {
    let rows = home.store.quarantine().rows();
    rows.iter().map(|row| format!("{}/{}", row.table, row.key)).collect()
}

// issue 16: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn unreadable_monitor_does_not_affect_others() {
    for_each_engine(async |home| {
        let (damaged, sound) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let results =
            vec![a_result(damaged, Region::FlyAms, 1), a_result(sound, Region::FlyAms, 1)];
        home.commit(batch_of(results)).await.unwrap();
        home.execute_owned(format!(
            "UPDATE monitors SET periodicity = '7w' WHERE id = '{damaged}'"
        ))
        .await;
        let mut boot = home.store.monitors().all_for_boot();
        let booted = boot.next_batch().await.unwrap().unwrap();
        assert_eq!(booted.iter().map(|row| row.monitor.id).collect::<Vec<_>>(), [sound]);
        let page = home.store.monitors().list(home.workspace, FIRST).await.unwrap();
        assert_eq!((page.rows.len(), page.total), (1, 2));
        assert_eq!(page.omitted, [damaged.to_string()]);
        let alone = home.store.monitors().get(home.workspace, damaged).await;
        assert!(matches!(alone, Err(StoreError::Corrupt { .. })), "{alone:?}");
        assert_eq!(home.store.results().since_for_boot(instant(0)).await.unwrap().len(), 2);
        assert_eq!(named(home), [format!("monitors/{damaged}")]);

        let found = home.store.doctor().examine().await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].columns["periodicity"], "7w");
        let refused = home.store.doctor().remove("monitors", &sound.to_string()).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        home.store.doctor().remove("monitors", &damaged.to_string()).await.unwrap();
        assert_eq!(home.store.doctor().examine().await.unwrap(), []);
        assert_eq!(home.store.monitors().list(home.workspace, FIRST).await.unwrap().total, 1);
    })
    .await;
}

#[tokio::test]
async fn damaged_results_are_kept_and_restored() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for minute in 0..40 {
            let result = a_result(monitor, Region::FlyAms, minute * MINUTE);
            home.commit(batch_of(vec![result])).await.unwrap();
        }
        home.execute_owned(format!(
            "CREATE TABLE sound AS SELECT * FROM recent_results; \
             UPDATE recent_results SET body = {} WHERE key = (SELECT MIN(key) FROM recent_results)",
            bytes(home, "00")
        ))
        .await;
        let store = &home.store;
        let newest = store.results().newest(home.workspace, monitor, instant(0), 100).await.unwrap();
        assert_eq!(newest.len(), 39);
        assert!(store.results().latest_slot().await.unwrap().is_some());
        while store.history().compact().await.unwrap().results > 0 {}
        assert_eq!(home.count("unreadable_rows").await, 1);
        let found = store.doctor().examine().await.unwrap();
        assert_eq!((found.len(), found[0].table.as_str()), (1, "recent_results"));
        assert_eq!(found[0].columns["body"], "00");
        assert_eq!(store.doctor().repair().await.unwrap(), 0);

        home.execute(
            "UPDATE unreadable_rows SET body = (SELECT body FROM sound WHERE sound.key = unreadable_rows.key)",
        )
        .await;
        assert_eq!(store.doctor().repair().await.unwrap(), 1);
        assert_eq!(store.doctor().examine().await.unwrap(), []);
        while store.history().compact().await.unwrap().results > 0 {}
        let rollups = store.history().rollups(home.workspace, monitor, instant(0)).await.unwrap();
        assert_eq!(rollups.values().map(Rollup::checks).sum::<u32>(), 40);
    })
    .await;
}

#[tokio::test]
async fn new_results_replace_a_damaged_block() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let at = |minute: i64| a_result(monitor, Region::FlyAms, minute * MINUTE);
        home.commit(batch_of(vec![at(0), at(20)])).await.unwrap();
        while home.store.history().compact().await.unwrap().results > 0 {}
        let damaged = bytes(home, "ffffff");
        home.execute_owned(format!(
            "UPDATE result_blocks SET body = {damaged}; UPDATE hour_rollups SET body = {damaged}"
        ))
        .await;
        home.commit(batch_of(vec![at(1), at(40)])).await.unwrap();
        while home.store.history().compact().await.unwrap().results > 0 {}
        assert_eq!(home.count("unreadable_rows").await, 2);
        let logs = home.store.results().newest(home.workspace, monitor, instant(0), 10).await;
        assert!(logs.is_ok(), "{logs:?}");
    })
    .await;
}

#[tokio::test]
async fn store_with_damaged_rows_opens_again() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(batch_of(vec![a_result(monitor, Region::FlyAms, 1)])).await.unwrap();
        home.execute_owned(format!("UPDATE recent_results SET body = {}", bytes(home, "0102")))
            .await;
        home.store.clone().close().await.unwrap();
        let store = open(home.settings()).await;
        assert_eq!(store.results().since_for_boot(instant(0)).await.unwrap(), []);
        assert_eq!(store.quarantine().count(), 1);
        assert!(store.results().latest_slot().await.unwrap().is_none());
    })
    .await;
}

// issue 16 point 7: "Treat unreadable data the same way everywhere"
#[tokio::test]
async fn lists_omit_unreadable_rows() {
    for_each_engine(async |home| {
        let (page, monitor) = (crate::pages::a_page(home, 1).await.id, home.monitor(1).await.id);
        let component =
            crate::components::create(home, 1, crate::components::settings(page, None, |_| ()));
        let component = component.await.unwrap().id;
        crate::reports::a_full_one(home, page, component).await;
        crate::maintenances::a_full_one(home, monitor, component).await;
        crate::subscribers::a_full_one(home, page, component).await;
        for damage in [
            "UPDATE report_updates SET status = 'lost'",
            "UPDATE maintenances SET duration = 'long'",
            "UPDATE subscribers SET language = 'xx'",
        ] {
            home.execute(damage).await;
        }
        let (store, workspace, now) = (&home.store, home.workspace, instant(0));
        let all = Page { limit: 10, offset: 0, after: None };
        let reports = store.reports().list(workspace, ReportFilter::default(), all).await.unwrap();
        assert_eq!((reports.rows.len(), reports.omitted.len()), (0, 1));
        let all = Page { limit: 10, offset: 0, after: None };
        let filter = MaintenanceFilter::default();
        let planned = store.maintenances().list(workspace, filter, all, now).await.unwrap();
        assert_eq!((planned.rows.len(), planned.omitted.len()), (0, 1));
        let all = Page { limit: 10, offset: 0, after: None };
        let filter = SubscriberFilter::default();
        let subscribers = store.subscribers().list(workspace, filter, all).await.unwrap();
        assert_eq!((subscribers.rows.len(), subscribers.omitted.len()), (0, 1));
        let found = store.doctor().examine().await.unwrap();
        let tables: Vec<_> = found.iter().map(|row| row.table.as_str()).collect();
        assert_eq!(tables, ["maintenances", "reports", "subscribers"]);
        let page = store.pages().get(workspace, page).await.unwrap();
        assert!(
            store.public_pages().facts(page, now).await.is_ok(),
            "the page is readable without them"
        );
    })
    .await;
}

#[tokio::test]
async fn delivery_lists_omit_unreadable_rows() {
    for_each_engine(async |home| {
        let mut monitors = Vec::new();
        for number in 1..=3 {
            monitors.push(home.monitor(number).await.id);
        }
        let ids = crate::outbox::delivered(home, &monitors).await;
        let keys: Vec<_> = ids.iter().map(|id| id.bits().to_string()).collect();
        home.execute_owned(format!(
            "UPDATE deliveries SET state = 'lost' WHERE number = {}; \
             UPDATE delivery_attempts SET duration_ms = -1 WHERE delivery = {}",
            keys[0], keys[1]
        ))
        .await;
        let (store, workspace) = (&home.store, home.workspace);
        let list = async |after| {
            let page = Page { limit: 2, offset: 0, after };
            let found = store.outbox().list(workspace, DeliveryFilter::default(), page).await;
            let found = found.unwrap();
            (found.rows.iter().map(|row| row.id).collect::<Vec<_>>(), found.omitted)
        };
        assert_eq!(list(None).await, (vec![ids[2]], vec![ids[1].to_string()]));
        assert_eq!(list(Some(ids[1])).await, (vec![], vec![ids[0].to_string()]));
        assert_eq!(list(Some(ids[0])).await, (vec![], vec![]));
        assert!(store.outbox().get(workspace, ids[0]).await.is_err());
        let found = store.doctor().examine().await.unwrap();
        let names: Vec<_> = found.iter().map(|row| (row.table.as_str(), &*row.key)).collect();
        assert_eq!(names, [("deliveries", &*keys[0]), ("deliveries", &*keys[1])]);
        assert_eq!(found[0].columns["state"], "lost");
        store.doctor().remove("deliveries", &keys[1]).await.unwrap();
        assert_eq!(list(None).await, (vec![ids[2]], vec![ids[0].to_string()]));
    })
    .await;
}

// issue 16, point 7: "Treat unreadable data the same way everywhere"
#[tokio::test]
async fn damaged_user_does_not_affect_others() {
    for_each_engine(async |home| {
        crate::users::a_full_one(home).await;
        crate::members::add(home, 2, Role::Owner).await;
        crate::members::add(home, 3, Role::Viewer).await;
        let (store, [first, damaged, third]) = (&home.store, [1, 2, 3].map(user_id));
        let damage = "UPDATE users SET email_sealed = $ WHERE id = '%'";
        let damage = damage.replace('$', &bytes(home, "00")).replace('%', &damaged.to_string());
        home.execute_owned(damage).await;
        let page = Page { limit: 10, offset: 0, after: None };
        let listed = store.members().list(home.workspace, page).await.unwrap();
        let ids: Vec<_> = listed.rows.iter().map(|member| member.user.id).collect();
        assert_eq!((ids, listed.omitted), (vec![third, first], vec![damaged.to_string()]));
        let owners = store.members().owners(home.workspace).await.unwrap();
        assert_eq!(owners.iter().map(|user| user.id).collect::<Vec<_>>(), [first]);
        let users = store.users().list().await.unwrap();
        assert_eq!(users.iter().map(|user| user.id).collect::<Vec<_>>(), [third, first]);
        let other = store.users().find_for_sign_in("user3@example.com").await.unwrap();
        assert_eq!(other.map(|(user, _)| user.id), Some(third));
        let alone = store.users().find_for_sign_in("user2@example.com").await;
        assert!(matches!(alone, Err(StoreError::Corrupt { .. })), "{alone:?}");

        let found = store.doctor().examine().await.unwrap();
        let names: Vec<_> = found.iter().map(|row| (row.table.as_str(), &*row.key)).collect();
        assert_eq!(names, [("users", &*damaged.to_string())]);
        store.doctor().remove("users", &damaged.to_string()).await.unwrap();
        assert_eq!(store.doctor().examine().await.unwrap(), []);
        assert_eq!(store.members().list(home.workspace, page).await.unwrap().total, 2);
        let damage = "UPDATE users SET email_sealed = $ WHERE id = '%'";
        let damage = damage.replace('$', &bytes(home, "00")).replace('%', &first.to_string());
        home.execute_owned(damage).await;
        let refused = store.doctor().remove("users", &first.to_string()).await;
        assert!(matches!(refused, Err(StoreError::LastOwner)), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn doctor_reads_sessions_invitations_and_memberships() {
    for_each_engine(async |home| {
        crate::users::a_full_one(home).await;
        crate::members::add(home, 2, Role::Viewer).await;
        crate::invitations::a_full_one(home).await;
        home.execute("UPDATE sessions SET user_id = user_id, id = 'x'").await;
        home.execute("UPDATE invitations SET role = 'king'").await;
        home.execute("UPDATE members SET role = 'king' WHERE role = 'viewer'").await;
        let found = home.store.doctor().examine().await.unwrap();
        let mut tables: Vec<_> = found.iter().map(|row| row.table.as_str()).collect();
        tables.dedup();
        assert_eq!(tables, ["invitations", "members", "sessions"]);
    })
    .await;
}
