//! Evidence of an incident: the failed observation of each region, copied as sealed from the
//! evidence of its monitor, which expires earlier. Each region has one, from its first failure.

use std::time::Duration;

use rules::{IncidentId, Timestamp};

use super::Incident;
use crate::db::{Connection, query};
use crate::{EvidenceEntry, Store, StoreError, evidence};

/// Maximum age of evidence for regions whose failure was never recorded. They still fail when the
/// incident closes, and the longest period is an hour.
const LOOKBACK: Duration = Duration::from_hours(2);

/// Copies evidence into an incident. The argument extends the `WHERE` clause.
macro_rules! copy {
    ($which:literal) => {
        concat!(
            "INSERT INTO incident_evidence ",
            "(incident, region, monitor, slot, trigger, revision, outcome, sealed) ",
            "SELECT $1, e.region, e.monitor, e.slot, e.trigger, e.revision, e.outcome, e.sealed ",
            "FROM evidence e WHERE e.monitor = $2 AND e.outcome = 2 ",
            $which,
            " ON CONFLICT (incident, region) DO NOTHING"
        )
    };
}

/// Copies the evidence of each region whose newest evidence since `since` is a failure.
pub(super) async fn copy_failing(
    db: &mut Connection,
    incident: IncidentId,
    monitor: i64,
    since: Timestamp,
) -> Result<(), StoreError> {
    query(copy!(
        "AND e.slot >= $3 AND NOT EXISTS (SELECT 1 FROM evidence n \
         WHERE n.monitor = e.monitor AND n.region = e.region AND n.slot > e.slot)"
    ))
    .bind(incident.to_string())
    .bind(monitor)
    .bind(since.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Copies the newest failure of one region, given by the monitor's row ID and the region's code.
pub(super) async fn copy_newest(
    db: &mut Connection,
    incident: IncidentId,
    (monitor, region): (i64, i64),
    at: Timestamp,
) -> Result<(), StoreError> {
    query(copy!("AND e.region = $3 AND e.slot >= $4 ORDER BY e.slot DESC LIMIT 1"))
        .bind(incident.to_string())
        .bind(monitor)
        .bind(region)
        .bind((at - LOOKBACK).as_millis())
        .execute(db)
        .await?;
    Ok(())
}

/// Copies the evidence of regions without any, when the incident closes. An earlier process may
/// have opened it.
pub(super) async fn copy_missing(
    db: &mut Connection,
    incident: &str,
    monitor: i64,
    at: Timestamp,
) -> Result<(), StoreError> {
    query(copy!(
        "AND e.slot >= $3 AND e.slot >= (SELECT opened_at FROM incidents WHERE id = $1) \
         AND NOT EXISTS (SELECT 1 FROM evidence n WHERE n.monitor = e.monitor \
         AND n.region = e.region AND n.outcome = 2 AND n.slot > e.slot)"
    ))
    .bind(incident)
    .bind(monitor)
    .bind((at - LOOKBACK).as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Returns the readable evidence of an incident, by region.
pub(super) async fn load(
    db: &mut Connection,
    store: &Store,
    incident: &Incident,
) -> Result<Vec<EvidenceEntry>, StoreError> {
    let rows = query(
        "SELECT incident || '/' || CAST(region AS TEXT) AS key, slot, region, trigger, revision, \
         outcome, monitor, sealed FROM incident_evidence WHERE incident = $1 ORDER BY region",
    )
    .bind(incident.id.to_string())
    .fetch_all(db)
    .await?;
    let read = |row| evidence::read(store.vault(), incident.monitor, row);
    store.quarantine().readable_rows("incident_evidence", &rows, read)
}
