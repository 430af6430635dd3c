//! Retention of records that are rarely written and kept long: status changes, closed incidents,
//! audit entries, deliveries, and inactive keys. Expired records are searched beside the writer,
//! which only deletes them. Records of deleted monitors expire like any other. The row of a deleted
//! monitor stays, so that its row ID is never reused.

use rules::{Timestamp, limits};

use super::{Retention, STEP_ROWS};
use crate::db::{Connection, query};
use crate::{StoreError, incidents, outbox};

/// Outcome of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunedRecords {
    pub status_changes: u64,
    pub incidents: u64,
    /// Number of deleted audit entries.
    pub audit: u64,
    pub keys: u64,
    pub signing_secrets: u64,
    pub deliveries: u64,
    pub events: u64,
}

/// Pair of statements: `find` selects expired records, given a time and a limit; `delete` deletes one
/// of them.
struct RecordKind {
    find: &'static str,
    delete: &'static str,
}

/// The last change of a monitor gives its current status, however old it is. A deleted monitor has
/// none.
const STATUS_CHANGES: RecordKind = RecordKind {
    find: "SELECT c.number FROM status_changes c WHERE c.at < $1 AND (EXISTS \
           (SELECT 1 FROM status_changes n WHERE n.monitor = c.monitor AND n.number > c.number \
           AND n.at < $1) OR EXISTS (SELECT 1 FROM monitors m WHERE m.number = c.monitor \
           AND m.deleted_at IS NOT NULL)) ORDER BY c.number LIMIT $2",
    delete: "DELETE FROM status_changes WHERE number = $1",
};
const AUDIT: RecordKind = RecordKind {
    find: "SELECT number FROM audit WHERE at < $1 ORDER BY number LIMIT $2",
    delete: "DELETE FROM audit WHERE number = $1",
};
/// Incidents are deleted with their timelines and evidence.
const INCIDENTS: RecordKind = RecordKind {
    find: "SELECT id FROM incidents WHERE closed_at < $1 ORDER BY id LIMIT $2",
    delete: "DELETE FROM incidents WHERE id = $1",
};
const KEYS: RecordKind = RecordKind {
    find: "SELECT id FROM keys WHERE revoked_at < $1 OR expires_at < $1 ORDER BY id LIMIT $2",
    delete: "DELETE FROM keys WHERE id = $1",
};
/// A replaced secret does not sign after its expiry.
const SIGNING_SECRETS: RecordKind = RecordKind {
    find: "SELECT id FROM signing_secrets WHERE expires_at <= $1 ORDER BY id LIMIT $2",
    delete: "DELETE FROM signing_secrets WHERE id = $1",
};

/// A delivery stays while its alert is open.
const DELIVERIES: RecordKind = RecordKind {
    find: "SELECT number FROM deliveries WHERE completed_at < $1 AND NOT is_open \
        ORDER BY completed_at LIMIT $2",
    delete: "DELETE FROM deliveries WHERE number = $1 AND completed_at IS NOT NULL",
};
/// Events without deliveries.
const EVENTS: RecordKind = RecordKind {
    find: "SELECT e.number FROM events e WHERE e.at < $1 AND NOT EXISTS \
           (SELECT 1 FROM deliveries d WHERE d.event = e.number) ORDER BY e.at LIMIT $2",
    delete: "DELETE FROM events WHERE number = $1 AND NOT EXISTS \
           (SELECT 1 FROM deliveries d WHERE d.event = events.number)",
};

/// Expired records.
#[derive(Default)]
struct ExpiredRecords {
    status_changes: Vec<i64>,
    audit: Vec<i64>,
    incidents: Vec<String>,
    keys: Vec<String>,
    signing_secrets: Vec<String>,
    deliveries: Vec<i64>,
    events: Vec<i64>,
}

impl PrunedRecords {
    /// Returns whether the step reached its limit, so that more expired records may remain.
    pub const fn has_more(&self) -> bool {
        let step = STEP_ROWS as u64;
        self.status_changes >= step
            || self.incidents >= step
            || self.audit >= step
            || self.keys >= step
            || self.signing_secrets >= step
            || self.deliveries >= step
            || self.events >= step
    }
}

impl Retention<'_> {
    /// Deletes expired records of one step.
    pub async fn records(&self, now: Timestamp) -> Result<PrunedRecords, StoreError> {
        let mut db = self.store.read().await?;
        let found = ExpiredRecords {
            status_changes: numbers(&mut db, &STATUS_CHANGES, now - limits::STATUS_CHANGES_KEPT)
                .await?,
            audit: numbers(&mut db, &AUDIT, now - limits::AUDIT_KEPT).await?,
            incidents: ids(&mut db, &INCIDENTS, now - limits::INCIDENTS_KEPT).await?,
            keys: ids(&mut db, &KEYS, now - limits::ENDED_KEYS_KEPT).await?,
            signing_secrets: ids(&mut db, &SIGNING_SECRETS, now).await?,
            deliveries: numbers(&mut db, &DELIVERIES, now - limits::DELIVERIES_KEPT).await?,
            events: numbers(&mut db, &EVENTS, now - limits::DELIVERIES_KEPT).await?,
        };
        drop(db);
        if found.is_empty() {
            return Ok(PrunedRecords::default());
        }
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(delete(&mut session.db, found))
            })
            .await
    }
}

impl ExpiredRecords {
    fn is_empty(&self) -> bool {
        self.status_changes.is_empty()
            && self.audit.is_empty()
            && self.incidents.is_empty()
            && self.keys.is_empty()
            && self.signing_secrets.is_empty()
            && self.deliveries.is_empty()
            && self.events.is_empty()
    }
}

async fn delete(db: &mut Connection, found: ExpiredRecords) -> Result<PrunedRecords, StoreError> {
    let mut taken = PrunedRecords::default();
    for number in found.status_changes {
        taken.status_changes += query(STATUS_CHANGES.delete).bind(number).execute(db).await?;
    }
    for number in found.audit {
        taken.audit += query(AUDIT.delete).bind(number).execute(db).await?;
    }
    for id in found.incidents {
        incidents::delete_contents(db, &id).await?;
        taken.incidents += query(INCIDENTS.delete).bind(id).execute(db).await?;
    }
    for id in found.keys {
        taken.keys += query(KEYS.delete).bind(id).execute(db).await?;
    }
    for id in found.signing_secrets {
        taken.signing_secrets += query(SIGNING_SECRETS.delete).bind(id).execute(db).await?;
    }
    for number in found.deliveries {
        outbox::delete_attempts(db, number).await?;
        taken.deliveries += query(DELIVERIES.delete).bind(number).execute(db).await?;
    }
    for number in found.events {
        taken.events += query(EVENTS.delete).bind(number).execute(db).await?;
    }
    Ok(taken)
}

async fn numbers(
    db: &mut Connection,
    kind: &RecordKind,
    end: Timestamp,
) -> Result<Vec<i64>, StoreError> {
    let found = query(kind.find).bind(end.as_millis()).bind(STEP_ROWS).fetch_all(db).await?;
    found.iter().map(|row| Ok(row.try_get("number")?)).collect()
}

async fn ids(
    db: &mut Connection,
    kind: &RecordKind,
    end: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let found = query(kind.find).bind(end.as_millis()).bind(STEP_ROWS).fetch_all(db).await?;
    found.iter().map(|row| Ok(row.try_get("id")?)).collect()
}
