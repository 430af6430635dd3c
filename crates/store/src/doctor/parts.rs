//! Rows that belong to larger objects, such as entries of incidents: finds unreadable ones, and
//! knows the key of each table and the rows that depend on one.

use rules::{MonitorId, Timestamp, UserId, WorkspaceId};
use serde::de::IgnoredAny;
use sqlx::AssertSqlSafe;

use super::{AT_ONCE, DamagedRow, Doctor};
use crate::db::{Connection, Row, query};
use crate::quarantine::is_unreadable;
use crate::result_rows::TABLE as RECENT;
use crate::{StoreError, evidence, incidents, judge_states, missed_slots, outbox};

/// Expressions of keys with several columns, as reads record them.
const EVIDENCE_OF_INCIDENT: &str = "incident || '/' || CAST(region AS TEXT)";
const MEMBER: &str = "workspace_id || '/' || user_id";
const FROZEN: &str = "workspace_id || '/' || month";
const FIGURES: &str = "workspace_id || '/' || month || '/' || subject_id";
const HEARTBEAT: &str = "(SELECT m.id FROM monitors m WHERE m.number = heartbeats.monitor)";
const MONITOR: &str = "(SELECT m.id FROM monitors m WHERE m.number = judge_states.monitor)";

/// Returns the expression of the key of a table. `None` for tables whose rows cannot be addressed.
pub(super) fn key_expression(table: &str) -> Option<&'static str> {
    Some(match table {
        "certificates" => "domain",
        "probe_suspicions" => "probe",
        "deliveries"
        | "audit"
        | "evidence"
        | "incident_entries"
        | "status_changes"
        | "events"
        | "configured_resources" => "number",
        "missed_slots" => missed_slots::KEY,
        "members" => MEMBER,
        "judge_states" => MONITOR,
        "heartbeats" => HEARTBEAT,
        "month_figures" => FIGURES,
        "frozen_months" => FROZEN,
        "incident_evidence" => EVIDENCE_OF_INCIDENT,
        "second_factors" => "user_id",
        RECENT | "result_blocks" | "hour_rollups" | "day_rollups" => "key",
        "workspaces" | "keys" | "monitors" | "channels" | "pages" | "components"
        | "component_groups" | "incidents" | "reports" | "report_templates" | "maintenances"
        | "subscribers" | "users" | "sessions" | "invitations" | "passkeys" | "probes"
        | "signing_secrets" => "id",
        _ => return None,
    })
}

/// Deletes the rows that would have no object without this one. Rejects a row that another command
/// must replace.
pub(super) async fn remove_dependents(
    db: &mut Connection,
    row: &DamagedRow,
) -> Result<(), StoreError> {
    let statements: &[&str] = match row.table.as_str() {
        "deliveries" => &["DELETE FROM delivery_attempts WHERE CAST(delivery AS TEXT) = $1"],
        "events" => &[
            "DELETE FROM delivery_attempts WHERE delivery IN \
             (SELECT d.number FROM deliveries d WHERE CAST(d.event AS TEXT) = $1)",
            "DELETE FROM deliveries WHERE CAST(event AS TEXT) = $1",
        ],
        "second_factors" => &["DELETE FROM recovery_codes WHERE user_id = $1"],
        "signing_secrets" => {
            let why =
                "rotate the secret of its workspace without an overlap, which deletes this one";
            return Err(StoreError::corrupt(format!("signing secret `{}`", row.key), why));
        }
        _ => &[],
    };
    for statement in statements {
        query(AssertSqlSafe((*statement).to_owned()))
            .bind(row.key.clone())
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

impl Doctor<'_> {
    /// Reads the records of checks, incidents and alerts of all workspaces.
    pub(super) async fn examine_records(&self) -> Result<(), StoreError> {
        let vault = self.store.vault();
        // The monitor is a part of the result only.
        let of = MonitorId::from_bits(0);
        let columns = "slot, region, trigger, revision, outcome, monitor, sealed";
        self.examine_numbered("evidence", columns, |row| evidence::read(vault, of, row).map(drop))
            .await?;
        self.examine_numbered("status_changes", "at, from_status, to_status", |row| {
            judge_states::read_change(row).map(drop)
        })
        .await?;
        self.examine_numbered("incident_entries", "at, kind, text, actor, actor_name", |row| {
            incidents::read_entry(row).map(drop)
        })
        .await?;
        self.examine_numbered("events", "key, sealed", |row| {
            let (key, sealed): (&str, &[u8]) = (row.try_get("key")?, row.try_get("sealed")?);
            outbox::open_event::<IgnoredAny>(vault, key, sealed).map(drop)
        })
        .await?;
        self.examine_evidence_of_incidents(of).await
    }

    /// Reads a table in parts by its column `number`.
    async fn examine_numbered(
        &self,
        table: &'static str,
        columns: &str,
        read: impl Fn(&Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = format!(
            "SELECT number, {columns} FROM {table} WHERE number > $1 ORDER BY number LIMIT $2"
        );
        let mut after = i64::MIN;
        loop {
            let rows = query(AssertSqlSafe(statement.clone()))
                .bind(after)
                .bind(AT_ONCE)
                .fetch_all(&mut self.store.read().await?)
                .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.try_get("number")?;
            self.store.quarantine().readable_rows(table, &rows, &read)?;
        }
    }

    async fn examine_evidence_of_incidents(&self, of: MonitorId) -> Result<(), StoreError> {
        let statement = format!(
            "SELECT {EVIDENCE_OF_INCIDENT} AS key, incident, slot, region, trigger, revision, \
             outcome, monitor, sealed FROM incident_evidence \
             WHERE (incident, region) > ($1, $2) ORDER BY incident, region LIMIT $3"
        );
        let (mut incident, mut region) = (String::new(), 0_i64);
        loop {
            let rows = query(AssertSqlSafe(statement.clone()))
                .bind(incident)
                .bind(region)
                .bind(AT_ONCE)
                .fetch_all(&mut self.store.read().await?)
                .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            (incident, region) = (last.try_get("incident")?, last.try_get("region")?);
            let read = |row: &Row| evidence::read(self.store.vault(), of, row);
            self.store.quarantine().readable_rows("incident_evidence", &rows, read)?;
        }
    }

    /// Reads the figures of past months and the statuses of monitors.
    pub(super) async fn examine_figures(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let reports = self.store.uptime_reports();
        for month in reports.frozen_months(workspace).await? {
            reports.frozen(workspace, month).await?;
        }
        self.store.fleets().statuses(workspace, Timestamp::from_millis(0)).await.map(drop)
    }

    /// Reads the secrets of webhooks.
    pub(super) async fn examine_secrets(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let (secrets, epoch) = (self.store.signing_secrets(), Timestamp::from_millis(0));
        secrets.list(workspace, epoch).await?;
        match secrets.active(workspace, epoch).await {
            // The read recorded each of them.
            Err(error) if is_unreadable(&error) => Ok(()),
            read => read.map(drop),
        }
    }

    pub(super) async fn examine_second_factor(&self, user: UserId) -> Result<(), StoreError> {
        let read = self.store.second_factors().find(user).await;
        let quarantine = self.store.quarantine();
        quarantine.readable("second_factors", || user.to_string(), read).map(drop)
    }
}
