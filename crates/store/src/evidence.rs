//! Evidence of checks, for people who investigate: of each result that is not a success, and of the
//! latest success of each region. It is encrypted, because responses may contain private data.
//! `insert` writes it to the database, `latest_successes` keeps successes in a file.

mod insert;

use std::collections::HashSet;
use std::sync::Arc;

use domain::check::{Evidence, Outcome, ResultKey};
use rules::{MonitorId, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Query, Row, query};
use crate::quarantine::{Quarantine, row_key};
use crate::row::narrow;
use crate::vault::{EncryptionContext, Vault};
use crate::{Store, StoreError, codes};

pub(crate) use insert::{insert, is_stored};

const COLUMN: &str = "evidence.sealed";
/// Slots that one statement looks for.
const SLOTS_AT_ONCE: usize = 32;

/// Handle of the evidence.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceStore<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the stored evidence.
    pub const fn evidence(&self) -> EvidenceStore<'_> {
        EvidenceStore { store: self }
    }
}

/// Evidence of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceEntry {
    /// Key of the result.
    pub identity: ResultKey,
    pub outcome: Outcome,
    pub evidence: Arc<Evidence>,
}

impl EvidenceStore<'_> {
    /// Returns the evidence of a monitor with slots in `[since, until]`, newest first, at most
    /// `limit`.
    pub async fn between(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        (since, until): (Timestamp, Timestamp),
        limit: u32,
    ) -> Result<Vec<EvidenceEntry>, StoreError> {
        let rows = query(
            "SELECT e.number, e.slot, e.region, e.trigger, e.revision, e.outcome, e.monitor, e.sealed \
             FROM evidence e JOIN monitors m ON m.number = e.monitor \
             WHERE m.workspace_id = $1 AND m.id = $2 AND e.slot BETWEEN $3 AND $4 \
             ORDER BY e.slot DESC, e.region LIMIT $5",
        )
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(since.as_millis())
        .bind(until.as_millis())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let vault = self.store.vault();
        self.store.quarantine().readable_rows("evidence", &rows, |row| read(vault, monitor, row))
    }
}

/// Returns the checks of a monitor in these slots whose details are in the database.
pub(crate) async fn of_slots(
    (quarantine, db): (&Quarantine, &mut Connection),
    monitor: (MonitorId, i64),
    slots: &[i64],
) -> Result<HashSet<ResultKey>, StoreError> {
    let mut found = HashSet::new();
    for chunk in slots.chunks(SLOTS_AT_ONCE) {
        let last = chunk.last().copied().unwrap_or_default();
        let list: Vec<String> = (2..2 + SLOTS_AT_ONCE).map(|index| format!("${index}")).collect();
        let statement = format!(
            "SELECT number, slot, region, trigger, revision FROM evidence \
             WHERE monitor = $1 AND slot IN ({})",
            list.join(",")
        );
        // A list that is too short is filled with what it has.
        let slots = (0..SLOTS_AT_ONCE).map(|index| *chunk.get(index).unwrap_or(&last));
        let query = slots.fold(query(AssertSqlSafe(statement)).bind(monitor.1), Query::bind);
        for row in query.fetch_all(&mut *db).await? {
            let read = identity(monitor.0, &row);
            found.extend(quarantine.readable("evidence", || row_key(&row), read)?);
        }
    }
    Ok(found)
}

/// Reads slot, region, trigger and revision.
pub(crate) fn identity(monitor: MonitorId, row: &Row) -> Result<ResultKey, StoreError> {
    Ok(ResultKey {
        monitor,
        revision: narrow(row, "revision")?,
        region: codes::region(row.try_get("region")?)?,
        slot: Timestamp::from_millis(row.try_get("slot")?),
        trigger: codes::trigger(row.try_get("trigger")?)?,
    })
}

/// Reads slot, region, trigger, revision, outcome, row ID of the monitor, and the sealed evidence.
pub(crate) fn read(
    vault: &Vault,
    monitor: MonitorId,
    row: &Row,
) -> Result<EvidenceEntry, StoreError> {
    let identity = identity(monitor, row)?;
    let name = row_name(row.try_get("monitor")?, &identity);
    let evidence =
        vault.open(EncryptionContext { column: COLUMN, row: &name }, row.try_get("sealed")?)?;
    Ok(EvidenceEntry {
        identity,
        outcome: codes::outcome(row.try_get("outcome")?)?,
        evidence: Arc::new(evidence),
    })
}

/// Returns the unique name of a row of evidence, for sealing.
fn row_name(monitor: i64, identity: &ResultKey) -> String {
    format!(
        "{monitor}/{}/{}/{}/{}",
        identity.slot.as_millis(),
        codes::region_code(identity.region),
        codes::trigger_code(identity.trigger),
        identity.revision
    )
}
