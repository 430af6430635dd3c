//! `aloft doctor`: finds, exports and removes rows of every kind of record.

use domain::check::Outcome;
use rules::{IncidentId, MonitorStatus, Region, Role};
use store::{Batch, StoreError};

use super::bytes;
use crate::harness::{Home, a_history, a_result, for_each_engine, monitor_id, with_evidence};
use crate::users::user_id;

/// Writes an alert with its incident and evidence, users, and figures of a month, and damages a row
/// of each table.
async fn damage_records(home: &Home) {
    crate::users::a_full_one(home).await;
    crate::members::add(home, 2, Role::Viewer).await;
    let monitor = home.monitor(1).await.id;
    let failed = with_evidence(a_result(monitor, Region::FlyAms, 9), Outcome::Failure, "secret");
    let judge_states = vec![(monitor, a_history(MonitorStatus::Error, 10))];
    let batch = Batch { results: vec![failed], judge_states, ..Batch::default() };
    home.commit(batch).await.unwrap();
    crate::outbox::delivered(home, &[monitor]).await;
    let (sealed, workspace) = (bytes(home, "00"), home.workspace);
    home.execute_owned(format!(
        "UPDATE evidence SET sealed = {sealed}; \
         UPDATE incident_evidence SET sealed = {sealed}; \
         UPDATE events SET sealed = {sealed}; \
         UPDATE second_factors SET secret_sealed = {sealed}; \
         UPDATE signing_secrets SET sealed = {sealed} WHERE workspace_id = '{workspace}'; \
         UPDATE incident_entries SET kind = 'lost'; \
         UPDATE judge_states SET state = 'lost'; \
         UPDATE members SET role = 'king' WHERE role = 'viewer'; \
         UPDATE status_changes SET to_status = 'lost'; \
         INSERT INTO frozen_months (workspace_id, month, frozen_at) \
         VALUES ('{workspace}', '2026-01', 0); \
         INSERT INTO month_figures (workspace_id, month, subject_id, name, known_ms, error_ms, \
         incidents, latency) VALUES ('{workspace}', '2026-01', 'lost', 'API', 1, 0, 0, {sealed})"
    ))
    .await;
}

// issue 16, point 7: "Treat unreadable data the same way everywhere"
#[tokio::test]
async fn doctor_exports_and_removes_every_record() {
    for_each_engine(async |home| {
        damage_records(home).await;
        let (doctor, workspace) = (home.store.doctor(), home.workspace);
        let found = doctor.examine().await.unwrap();
        let of = |table: &str| found.iter().find(|row| row.table == table).unwrap();
        let region = of("incident_evidence").columns["region"].as_str().unwrap();
        let expected = [
            "events/1".to_owned(),
            "evidence/1".to_owned(),
            "incident_entries/1".to_owned(),
            format!("incident_evidence/{}/{region}", IncidentId::from_bits(1)),
            format!("judge_states/{}", monitor_id(1)),
            format!("members/{workspace}/{}", user_id(2)),
            format!("month_figures/{workspace}/2026-01/lost"),
            format!("second_factors/{}", user_id(1)),
            format!("signing_secrets/{}", of("signing_secrets").key),
            "status_changes/1".to_owned(),
        ];
        let names: Vec<_> = found.iter().map(|row| format!("{}/{}", row.table, row.key)).collect();
        assert_eq!(names, expected);
        for (table, column, value) in [
            ("judge_states", "state", "lost"),
            ("members", "role", "king"),
            ("month_figures", "name", "API"),
            ("evidence", "sealed", "00"),
        ] {
            let exported = of(table).columns[column].as_str().unwrap();
            assert_eq!(exported.trim_start_matches("\\x"), value, "{table}");
        }
        for row in &found {
            let removed = doctor.remove(&row.table, &row.key).await;
            if row.table == "signing_secrets" {
                assert!(matches!(removed, Err(StoreError::Corrupt { .. })), "{removed:?}");
            } else {
                removed.unwrap();
            }
        }
        let left = doctor.examine().await.unwrap();
        let left: Vec<_> = left.iter().map(|row| row.table.as_str()).collect();
        assert_eq!(left, ["signing_secrets"], "a rotation replaces it");
        assert_eq!(home.count("recovery_codes").await, 0);
        let kept = format!("members WHERE user_id = '{}'", user_id(1));
        assert!(home.count(&kept).await > 0, "sound memberships stay");
    })
    .await;
}
