//! Parts of larger objects: one unreadable row takes neither a status page nor an incident, a
//! summary, a webhook or other maintenance away.

use std::time::Duration;

use domain::check::Outcome;
use domain::history::StatusFrom;
use rules::{ComponentId, IncidentId, MaintenanceId, MonitorStatus, Region, SigningSecretId};
use store::{Batch, StoreError};

use super::{bytes, named};
use crate::commit::{closed, opened};
use crate::components::{a_full_page_with_one, create, settings};
use crate::harness::{Home, a_result, at, for_each_engine, instant, with_evidence};
use crate::{maintenances, pages};

const DAY: Duration = Duration::from_hours(24);

/// Opens the incident with the number of each monitor, at ten times this number.
async fn open_incidents(home: &Home, numbers: &[u64]) {
    for number in numbers {
        let monitor = home.monitor(*number).await.id;
        let transitions = vec![(monitor, opened(*number, 10 * *number as i64))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
    }
}

// issue 16, point 7: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn page_omits_unreadable_rows() {
    for_each_engine(async |home| {
        open_incidents(home, &[1, 2, 3]).await;
        let [first, _, third] = [1, 2, 3].map(crate::harness::monitor_id);
        let whole = a_full_page_with_one(home, first).await;
        let page = whole.settings.page_id;
        create(home, 2, settings(page, None, |_| ())).await.unwrap();
        create(home, 3, settings(page, Some(third), |_| ())).await.unwrap();
        for damage in [
            "UPDATE components SET kind = 'lost' WHERE monitor IS NULL",
            "UPDATE monitors SET periodicity = '7w' WHERE number = 3",
            "UPDATE incidents SET close_reason = 'lost' WHERE monitor = 3",
            "UPDATE status_changes SET to_status = 'lost' WHERE monitor = 1",
            "INSERT INTO component_groups (id, workspace_id, page_id, name, created_at, updated_at) \
             SELECT 'x', workspace_id, page_id, name, created_at, updated_at FROM component_groups",
        ] {
            home.execute(damage).await;
        }
        let page = home.store.pages().get(home.workspace, page).await.unwrap();
        let facts = home.store.public_pages().facts(page.clone(), instant(100)).await.unwrap();
        let ids: Vec<_> = facts.components.iter().map(|it| it.component.id).collect();
        assert_eq!(ids, [whole.id], "no component stands for an unreadable monitor");
        let changes = &facts.components[0].monitor.as_ref().unwrap().changes;
        assert_eq!(changes.iter().map(|it| it.status).collect::<Vec<_>>(), [MonitorStatus::Unknown]);
        assert_eq!((facts.groups.len(), facts.incidents.len()), (1, 1));
        assert_eq!(facts.incidents[0].id, IncidentId::from_bits(1));
        let [component, incident] =
            [ComponentId::from_bits(2).to_string(), IncidentId::from_bits(3).to_string()];
        let expected = [
            "component_groups/x".to_owned(),
            format!("components/{component}"),
            format!("incidents/{incident}"),
            format!("monitors/{third}"),
            "status_changes/1".to_owned(),
        ];
        assert_eq!(named(home), expected);
        let later = home.store.public_pages().facts(page, instant(100) + 100 * DAY).await.unwrap();
        let monitor = later.components[0].monitor.as_ref().unwrap();
        assert_eq!(monitor.before, MonitorStatus::Unknown);
    })
    .await;
}

#[tokio::test]
async fn incident_omits_unreadable_parts() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let page = pages::a_page(home, 1).await.id;
        create(home, 1, settings(page, Some(monitor), |_| ())).await.unwrap();
        let failed =
            |region| with_evidence(a_result(monitor, region, 9), Outcome::Failure, "secret");
        let results = vec![failed(Region::FlyAms), failed(Region::KoyebSin)];
        for (results, transition) in [(results, opened(1, 10)), (vec![], closed(1, 40))] {
            let transitions = vec![(monitor, transition)];
            home.commit(Batch { results, transitions, ..Batch::default() }).await.unwrap();
        }
        home.execute(
            "UPDATE incident_entries SET kind = 'lost' WHERE kind = 'opened'; \
             UPDATE incident_evidence SET region = 99 \
             WHERE region = (SELECT MIN(region) FROM incident_evidence)",
        )
        .await;
        let incident = IncidentId::from_bits(1);
        let whole = home.store.incidents().get(home.workspace, incident).await.unwrap();
        let events: Vec<_> = whole.timeline.iter().map(|entry| entry.what.as_str()).collect();
        assert_eq!((events, whole.evidence.len()), (vec!["closed"], 1));
        let shown = home.store.public_pages().incident(page, incident).await.unwrap().unwrap();
        assert_eq!(shown.1, [whole.evidence[0].identity.region]);
        let expected =
            ["incident_entries/1".to_owned(), format!("incident_evidence/{incident}/99")];
        assert_eq!(named(home), expected);
    })
    .await;
}

#[tokio::test]
async fn incident_lists_omit_unreadable_rows() {
    for_each_engine(async |home| {
        open_incidents(home, &[1, 2]).await;
        home.execute("UPDATE incidents SET close_reason = 'lost' WHERE monitor = 1").await;
        let (incidents, monitor) = (home.store.incidents(), crate::harness::monitor_id(1));
        let open = incidents.open(home.workspace).await.unwrap();
        let ids: Vec<_> = open.iter().map(|incident| incident.id.bits()).collect();
        let own = incidents.list_by_monitor(home.workspace, monitor, 10).await.unwrap();
        assert_eq!((ids, own), (vec![2], vec![]));
        assert_eq!(named(home), [format!("incidents/{}", IncidentId::from_bits(1))]);
    })
    .await;
}

#[tokio::test]
async fn unreadable_change_leaves_status_unknown() {
    for_each_engine(async |home| {
        open_incidents(home, &[1]).await;
        let monitor = crate::harness::monitor_id(1);
        let transitions = vec![(monitor, closed(1, 20))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        home.execute("UPDATE status_changes SET to_status = 'lost' WHERE number = 1").await;
        let history = home.store.history();
        let from = |at, status| StatusFrom { at: instant(at), status };
        let recovered = from(20, MonitorStatus::Active);
        let found = history.status_history(home.workspace, monitor, instant(0)).await.unwrap();
        let changes = vec![from(10, MonitorStatus::Unknown), recovered];
        assert_eq!(found, (MonitorStatus::Active, changes));
        let found = history.status_history(home.workspace, monitor, instant(15)).await.unwrap();
        assert_eq!(found, (MonitorStatus::Unknown, vec![recovered]));
        let states = home.store.judge_states();
        let changes = states.changes(home.workspace, monitor, instant(0), 10).await.unwrap();
        assert_eq!(changes.iter().map(|it| it.at).collect::<Vec<_>>(), [instant(20)]);
        assert_eq!(named(home), ["status_changes/1"]);
        assert_eq!(home.store.doctor().repair().await.unwrap(), 1);
        let found = history.status_history(home.workspace, monitor, instant(15)).await.unwrap();
        assert_eq!(found, (MonitorStatus::Error, vec![recovered]));
    })
    .await;
}

#[tokio::test]
async fn removed_change_becomes_unknown() {
    for_each_engine(async |home| {
        open_incidents(home, &[1]).await;
        let monitor = crate::harness::monitor_id(1);
        home.execute("UPDATE status_changes SET to_status = 'lost'").await;
        let doctor = home.store.doctor();
        assert_eq!(doctor.repair().await.unwrap(), 0, "no row tells the status");
        doctor.remove("status_changes", "1").await.unwrap();
        assert_eq!(doctor.examine().await.unwrap(), []);
        let states = home.store.judge_states();
        let changes = states.changes(home.workspace, monitor, instant(0), 9).await.unwrap();
        assert_eq!(changes[0].to, MonitorStatus::Unknown);
    })
    .await;
}

// One sealed value of another key stopped the start, and the doctor.
#[tokio::test]
async fn value_of_another_key_is_damage() {
    for_each_engine(async |home| {
        let (damaged, sound) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let sealed = bytes(home, &format!("01{}", "00".repeat(64)));
        let workspace = home.workspace;
        home.execute_owned(format!(
            "UPDATE monitors SET check_sealed = {sealed} WHERE id = '{damaged}'; \
             UPDATE signing_secrets SET sealed = {sealed} WHERE workspace_id = '{workspace}'"
        ))
        .await;
        home.store.clone().close().await.unwrap();
        let store = crate::harness::open(home.settings()).await;
        let booted = store.monitors().all_for_boot().next_batch().await.unwrap().unwrap();
        assert_eq!(booted.iter().map(|row| row.monitor.id).collect::<Vec<_>>(), [sound]);
        let found = store.doctor().examine().await.unwrap();
        let tables: Vec<_> = found.iter().map(|row| row.table.as_str()).collect();
        assert_eq!(tables, ["monitors", "signing_secrets"]);
    })
    .await;
}

#[tokio::test]
async fn webhooks_sign_with_readable_secrets() {
    for_each_engine(async |home| {
        let (secrets, new) = (home.store.signing_secrets(), SigningSecretId::from_bits(10));
        let old = secrets.list(home.workspace, instant(0)).await.unwrap()[0].id;
        let rotated = secrets.rotate(home.workspace, new, DAY, at(5)).await.unwrap();
        let damage = format!("UPDATE signing_secrets SET sealed = {}", bytes(home, "00"));
        home.execute_owned(format!("{damage} WHERE expires_at IS NOT NULL")).await;
        let active = secrets.active(home.workspace, instant(5)).await.unwrap();
        let exposed: Vec<_> = active.iter().map(rules::Secret::expose).collect();
        assert_eq!(exposed, [rotated.secret.expose()]);
        assert_eq!(named(home), [format!("signing_secrets/{old}")]);
        home.execute_owned(damage).await;
        let none = secrets.active(home.workspace, instant(5)).await;
        assert!(matches!(none, Err(StoreError::Corrupt { .. })), "a webhook is never unsigned");
    })
    .await;
}

#[tokio::test]
async fn unreadable_maintenance_does_not_stop_others() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        for number in [1, 2] {
            let settings = maintenances::with(0, |draft| {
                draft.monitor_ids = vec![monitor.to_string()];
                draft.recurrence = Some("FREQ=DAILY".to_owned());
            });
            maintenances::create(home, number, settings).await.unwrap();
        }
        let damaged = MaintenanceId::from_bits(1);
        home.execute_owned(format!(
            "UPDATE maintenances SET duration = 'long' WHERE id = '{damaged}'"
        ))
        .await;
        let before = home.count("maintenance_windows").await;
        home.store.maintenances().extend(instant(0) + 60 * DAY).await.unwrap();
        assert!(home.count("maintenance_windows").await > before, "the other one goes on");
        assert_eq!(named(home), [format!("maintenances/{damaged}")]);
    })
    .await;
}
