//! Transitions of incidents that the judge decides. An incident opens or closes in the transaction
//! of its batch; another region that starts to fail in it is recorded after the batch. A retried
//! batch adds nothing.

use std::time::Duration;

use domain::judge::CloseReason;
use rules::{IncidentId, MonitorId, Periodicity, Region, Timestamp, WorkspaceId, limits, tables};

use super::{Incidents, evidence};
use crate::db::{Connection, Row, query};
use crate::row::{id, narrow};
use crate::subject_watches::Subject;
use crate::writer::Session;
use crate::{StoreError, codes};

/// Region that started to fail while an incident was open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRegion {
    pub workspace: WorkspaceId,
    pub monitor: MonitorId,
    pub incident: IncidentId,
    pub region: Region,
    /// Completion time of the region's check.
    pub at: Timestamp,
}

impl Incidents<'_> {
    /// Records regions that started to fail in open incidents, with their observations. Each region
    /// is recorded once per incident. Call it after the batch with the results.
    pub async fn record_failed_regions(
        &self,
        regions: Vec<FailedRegion>,
    ) -> Result<(), StoreError> {
        let changed: Vec<Subject> =
            regions.iter().map(|joined| Subject::Status(joined.monitor)).collect();
        self.store
            .write(move |session| {
                Box::pin(async move {
                    session.declare_no_change();
                    for joined in &regions {
                        session.declare_status_change(joined.workspace);
                        record_failed_region(session, joined).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        self.store.signal_change(changed);
        Ok(())
    }
}

/// Opens an incident. Has no effect if it exists, so that a batch can be retried. An older incident
/// that is still open was left by a judge that lost its state, and is closed.
pub(crate) async fn open(
    session: &mut Session,
    incident: IncidentId,
    monitor: i64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let db = &mut session.db;
    let known = query(
        "SELECT m.id, m.workspace_id, m.periodicity, m.timeout_ms, \
         (SELECT COUNT(*) FROM incidents WHERE id = $1) AS same, \
         (SELECT COUNT(*) FROM incidents WHERE monitor = m.number AND closed_at IS NULL) AS others \
         FROM monitors m WHERE m.number = $2",
    )
    .bind(incident.to_string())
    .bind(monitor)
    .fetch_one(&mut *db)
    .await?;
    let (same, others): (i64, i64) = (known.try_get("same")?, known.try_get("others")?);
    if same > 0 {
        return Ok(());
    }
    if others > 0 {
        close_open(db, monitor, at, CloseReason::Recovered).await?;
        tracing::warn!(incident.id = %incident, "closed an older incident that was still open when `{incident}` opened");
    }
    query("INSERT INTO incidents (id, workspace_id, monitor, opened_at) VALUES ($1, $2, $3, $4)")
        .bind(incident.to_string())
        .bind(known.try_get::<String>("workspace_id")?)
        .bind(monitor)
        .bind(at.as_millis())
        .execute(&mut *db)
        .await?;
    query("INSERT INTO incident_entries (incident, at, kind, text) VALUES ($1, $2, 'opened', '')")
        .bind(incident.to_string())
        .bind(at.as_millis())
        .execute(&mut *db)
        .await?;
    let lookback = session.quarantine.readable_rows("monitors", [&known], read_lookback)?.pop();
    let since = at - lookback.unwrap_or_else(|| lookback_of(Periodicity::OneHour, 0));
    evidence::copy_failing(db, incident, monitor, since).await
}

/// Closes an incident if it is open.
pub(crate) async fn close(
    db: &mut Connection,
    incident: IncidentId,
    at: Timestamp,
    how: CloseReason,
) -> Result<(), StoreError> {
    let row = query("SELECT monitor FROM incidents WHERE id = $1 AND closed_at IS NULL")
        .bind(incident.to_string())
        .fetch_optional(&mut *db)
        .await?;
    let Some(row) = row else { return Ok(()) };
    end(db, &incident.to_string(), row.try_get("monitor")?, at, how).await
}

/// Closes the open incident of a monitor. Returns the number of closed incidents: one or zero.
pub(crate) async fn close_open(
    db: &mut Connection,
    monitor: i64,
    at: Timestamp,
    how: CloseReason,
) -> Result<u64, StoreError> {
    let row = query("SELECT id FROM incidents WHERE monitor = $1 AND closed_at IS NULL")
        .bind(monitor)
        .fetch_optional(&mut *db)
        .await?;
    let Some(row) = row else { return Ok(0) };
    end(db, row.try_get("id")?, monitor, at, how).await?;
    Ok(1)
}

/// Deletes the timeline and evidence of an incident, before the incident itself is deleted.
pub(crate) async fn delete_contents(db: &mut Connection, incident: &str) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM incident_entries WHERE incident = $1",
        "DELETE FROM incident_evidence WHERE incident = $1",
        "DELETE FROM incident_write_ups WHERE incident = $1",
    ] {
        query(statement).bind(incident).execute(&mut *db).await?;
    }
    Ok(())
}

async fn end(
    db: &mut Connection,
    incident: &str,
    monitor: i64,
    at: Timestamp,
    how: CloseReason,
) -> Result<(), StoreError> {
    query("UPDATE incidents SET closed_at = $1, close_reason = $2 WHERE id = $3")
        .bind(at.as_millis())
        .bind(how.as_str())
        .bind(incident)
        .execute(&mut *db)
        .await?;
    match how {
        CloseReason::Recovered
        | CloseReason::Degraded
        | CloseReason::Paused
        | CloseReason::Deleted => {
            query(
                "INSERT INTO incident_entries (incident, at, kind, text) \
                 VALUES ($1, $2, 'closed', $3)",
            )
            .bind(incident)
            .bind(at.as_millis())
            .bind(how.as_str())
            .execute(&mut *db)
            .await?;
        }
        CloseReason::Resolved => record_resolver(db, incident, at).await?,
    }
    evidence::copy_missing(db, incident, monitor, at).await
}

/// Records who resolved the incident: the last person who asked for it.
async fn record_resolver(
    db: &mut Connection,
    incident: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    for statement in [
        "INSERT INTO incident_entries (incident, at, kind, actor, actor_name, text) \
         SELECT id, $1, 'resolved', resolving_by, resolving_name, '' FROM incidents WHERE id = $2",
        "INSERT INTO audit (workspace_id, at, actor, action, resource_id, detail) \
         SELECT workspace_id, $1, COALESCE(resolving_by, 'server'), 'incident.resolve', id, '' \
         FROM incidents WHERE id = $2",
    ] {
        query(statement).bind(at.as_millis()).bind(incident).execute(&mut *db).await?;
    }
    Ok(())
}

async fn record_failed_region(
    session: &mut Session,
    failed: &FailedRegion,
) -> Result<(), StoreError> {
    let number = session.row_ids.monitor(&mut session.db, failed.monitor).await?;
    let Some(monitor) = number else { return Ok(()) };
    let (incident, region) = (failed.incident, codes::region_code(failed.region));
    let new = query(
        "INSERT INTO incident_entries (incident, at, kind, text) \
         SELECT i.id, $1, 'region_failed', $2 FROM incidents i \
         WHERE i.id = $3 AND i.monitor = $4 AND i.closed_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM incident_evidence e WHERE e.incident = i.id AND e.region = $5) \
         AND NOT EXISTS (SELECT 1 FROM incident_entries o \
         WHERE o.incident = i.id AND o.kind = 'region_failed' AND o.text = $2)",
    )
    .bind(failed.at.as_millis())
    .bind(failed.region.as_str())
    .bind(incident.to_string())
    .bind(monitor)
    .bind(region)
    .execute(&mut session.db)
    .await?;
    if new == 0 {
        return Ok(());
    }
    evidence::copy_newest(&mut session.db, incident, (monitor, region), failed.at).await
}

fn read_lookback(row: &Row) -> Result<Duration, StoreError> {
    let periodicity = id(row, "periodicity", Periodicity::parse)?;
    Ok(lookback_of(periodicity, narrow(row, "timeout_ms")?))
}

/// Returns how long before an incident opens a check that led to it may have been due. A vote is at
/// most two periods old, or one period and the longest check. The longest check takes at most one
/// period and one attempt.
fn lookback_of(periodicity: Periodicity, timeout_ms: u32) -> Duration {
    let attempt = match timeout_ms {
        0 => tables::TIMEOUT_MS_MAX,
        given => given,
    };
    3 * periodicity.period() + Duration::from_millis(u64::from(attempt)) + limits::COMMIT_WITHIN
}
