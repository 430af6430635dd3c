//! Repairs for operators: finds unreadable rows, copies them, restores those that have become
//! readable, and removes single ones. `parts` reads rows that no list shows, and knows the keys of
//! tables. `status_changes` repairs those.

mod parts;
mod status_changes;

use std::fmt::Write as _;

use rules::{DeliveryId, Role, Timestamp, WorkspaceId};
use serde_json::{Map, Value, json};
use sqlx::AssertSqlSafe;

use self::parts::{key_expression, remove_dependents};
use crate::buckets::BucketSize;
use crate::db::{Connection, query};
use crate::history::{days, read_block};
use crate::incidents::IncidentFilter;
use crate::list::{Listed, Page};
use crate::maintenances::MaintenanceFilter;
use crate::outbox::{DeliveryFilter, SubscriberDeliveryFilter};
use crate::reports::ReportFilter;
use crate::result_rows::{self, TABLE as RECENT};
use crate::subscribers::SubscriberFilter;
use crate::writer::Session;
use crate::{AuditFilter, Store, StoreError, probes};

/// Number of rows per query.
const AT_ONCE: i64 = 256;
/// Number of deliveries or entries of the audit log per query. Each query of deliveries counts them
/// all.
const RECORDS_AT_ONCE: u32 = 10_000;
/// Table of unreadable rows that were moved out of their tables.
const UNREADABLE_TABLE: &str = "unreadable_rows";

/// Row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRow {
    pub table: String,
    /// Key in its table.
    pub key: String,
    /// Reason why it cannot be read.
    pub why: String,
    /// All of its columns. Bytes are hexadecimal.
    pub columns: Value,
}

/// Handle of the repairs.
#[derive(Clone, Copy, Debug)]
pub struct Doctor<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle for repairing unreadable rows.
    pub const fn doctor(&self) -> Doctor<'_> {
        Doctor { store: self }
    }
}

impl Doctor<'_> {
    /// Reads the whole database and returns the unreadable rows.
    pub async fn examine(&self) -> Result<Vec<DamagedRow>, StoreError> {
        let quarantine = self.store.quarantine();
        quarantine.clear();
        let mut boot = self.store.monitors().all_for_boot();
        while boot.next_batch().await?.is_some() {}
        for workspace in self.store.workspaces().list().await? {
            self.examine_workspace(workspace.id).await?;
        }
        self.examine_users().await?;
        self.store.certificates().all().await?;
        self.store.probes().list().await?;
        self.store.probe_suspicions().all().await?;
        self.store.missed().examine().await?;
        self.store.results().count().await?;
        self.examine_records().await?;
        for size in [BucketSize::TenMinutes, BucketSize::Hour, BucketSize::Day] {
            self.examine_history(size).await?;
        }
        let mut found = Vec::new();
        let mut db = self.store.read().await?;
        for row in quarantine.rows() {
            let columns = columns(&mut db, row.table, &row.key).await?;
            let table = row.table.to_owned();
            found.push(DamagedRow { table, key: row.key, why: row.why, columns });
        }
        let rows = query("SELECT source, key, why, body FROM unreadable_rows ORDER BY source, key")
            .fetch_all(&mut db)
            .await?;
        for row in &rows {
            found.push(DamagedRow {
                table: row.try_get("source")?,
                key: row.try_get::<i64>("key")?.to_string(),
                why: row.try_get("why")?,
                columns: json!({ "body": hex(&row.try_get::<Vec<u8>>("body")?) }),
            });
        }
        Ok(found)
    }

    /// Restores moved rows that this program can read, and statuses that other rows tell. Returns the
    /// number of restored rows.
    pub async fn repair(&self) -> Result<u64, StoreError> {
        let restored = self
            .store
            .write(|session| {
                Box::pin(async move {
                    // Statuses of any workspace change, so nothing is declared.
                    Ok(status_changes::restore(&mut session.db).await?
                        + restore_rows(session).await?)
                })
            })
            .await?;
        self.store.quarantine().clear();
        Ok(restored)
    }

    /// Removes an unreadable row, so that its name becomes free. Monitors are marked as deleted, status
    /// changes become changes to `unknown`, and other rows are deleted. Rejects a row that is readable.
    pub async fn remove(&self, table: &str, key: &str) -> Result<(), StoreError> {
        let found = self.examine().await?;
        let row = found.into_iter().find(|row| row.table == table && row.key == key);
        let row =
            row.ok_or_else(|| StoreError::not_found("unreadable row", &format!("{table}/{key}")))?;
        let is_probe = row.table == probes::TABLE;
        let removed = self.store.write(move |session| Box::pin(remove(session, row))).await;
        if is_probe && removed.as_ref().err().is_none_or(StoreError::may_be_stored) {
            self.store.record_probe_change();
        }
        removed?;
        self.store.quarantine().clear();
        Ok(())
    }

    async fn examine_workspace(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let store = self.store;
        store.keys().list(workspace).await?;
        store.members().list(workspace, Page::all()).await?;
        store.invitations().list(workspace, Page::all(), Timestamp::from_millis(0)).await?;
        store.channels().list(workspace, Page::all()).await?;
        store.pages().list(workspace, Page::all()).await?;
        store.components().list(workspace, None, Page::all()).await?;
        store.groups().list(workspace, None, Page::all()).await?;
        store.incidents().list(workspace, IncidentFilter::default(), Page::all()).await?;
        store.reports().list(workspace, ReportFilter::default(), Page::all()).await?;
        store.report_templates().list(workspace, Page::all()).await?;
        let (filter, epoch) = (MaintenanceFilter::default(), Timestamp::from_millis(0));
        store.maintenances().list(workspace, filter, Page::all(), epoch).await?;
        store.subscribers().list(workspace, SubscriberFilter::default(), Page::all()).await?;
        self.examine_deliveries(workspace).await?;
        self.examine_figures(workspace).await?;
        self.examine_secrets(workspace).await?;
        let mut page = Page { limit: RECORDS_AT_ONCE, offset: 0, after: None };
        loop {
            let found = store.audit().list(workspace, &AuditFilter::default(), page).await?;
            let omitted = found.omitted.iter().filter_map(|key| key.parse().ok());
            page.after = found.rows.iter().map(|entry| entry.number).chain(omitted).min();
            if page.after.is_none() {
                return Ok(());
            }
        }
    }

    async fn examine_users(&self) -> Result<(), StoreError> {
        for user in self.store.users().list().await? {
            self.store.sessions().list(user.id, Timestamp::from_millis(0)).await?;
            self.store.passkeys().list(user.id).await?;
            self.examine_second_factor(user.id).await?;
        }
        Ok(())
    }

    async fn examine_deliveries(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let outbox = self.store.outbox();
        let mut page = Page { limit: RECORDS_AT_ONCE, offset: 0, after: None };
        loop {
            let found = outbox.list(workspace, DeliveryFilter::default(), page).await?;
            let Some(last) = last(&found, |delivery| delivery.id) else { break };
            page.after = Some(last);
        }
        page.after = None;
        loop {
            let found = outbox
                .subscriber_deliveries(workspace, SubscriberDeliveryFilter::default(), page)
                .await?;
            let Some(last) = last(&found, |delivery| delivery.id) else { return Ok(()) };
            page.after = Some(last);
        }
    }

    async fn examine_history(&self, size: BucketSize) -> Result<(), StoreError> {
        let table = size.table();
        let statement =
            format!("SELECT key, body FROM {table} WHERE key > $1 ORDER BY key LIMIT $2");
        let mut after = i64::MIN;
        loop {
            let rows = query(AssertSqlSafe(statement.clone()))
                .bind(after)
                .bind(AT_ONCE)
                .fetch_all(&mut self.store.read().await?)
                .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.try_get("key")?;
            self.store.quarantine().readable_rows(table, &rows, |row| {
                let body: Vec<u8> = row.try_get("body")?;
                read_block(size, row.try_get("key")?, &body)
            })?;
        }
    }
}

/// Returns the last delivery of a page, readable or not.
fn last<T>(page: &Listed<T>, id: impl Fn(&T) -> DeliveryId) -> Option<DeliveryId> {
    let omitted = page.omitted.iter().filter_map(|key| key.parse().ok());
    page.rows.iter().map(id).chain(omitted).min()
}

/// Returns the columns of a row, or null for tables without a key.
async fn columns(db: &mut Connection, table: &str, key: &str) -> Result<Value, StoreError> {
    let Some(column) = key_expression(table) else { return Ok(Value::Null) };
    let statement = if db.is_embedded() {
        "SELECT name FROM pragma_table_info($1)"
    } else {
        "SELECT column_name::TEXT AS name FROM information_schema.columns \
         WHERE table_schema = 'aloft' AND table_name = $1 ORDER BY ordinal_position"
    };
    let names = query(statement).bind(table).fetch_all(db).await?;
    let mut names =
        names.iter().map(|row| row.try_get("name")).collect::<Result<Vec<String>, _>>()?;
    names.retain(|name| !name.is_empty());
    let texts: Vec<String> = names
        .iter()
        .map(|name| {
            if db.is_embedded() {
                format!(
                    "CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"
                )
            } else {
                format!("CAST({name} AS TEXT)")
            }
        })
        .collect();
    let statement =
        format!("SELECT {} FROM {table} WHERE CAST({column} AS TEXT) = $1", texts.join(", "));
    let row = query(AssertSqlSafe(statement)).bind(key).fetch_optional(db).await?;
    let Some(row) = row else { return Ok(Value::Null) };
    let mut columns = Map::new();
    for (index, name) in names.into_iter().enumerate() {
        let text = if let Ok(text) = row.at::<Option<String>>(index) {
            text
        } else {
            // Text that is not UTF-8, which only SQLite stores.
            let bytes = format!(
                "SELECT hex(CAST({name} AS BLOB)) FROM {table} WHERE CAST({column} AS TEXT) = $1"
            );
            query(AssertSqlSafe(bytes)).bind(key).scalar(db).await?
        };
        columns.insert(name, text.map_or(Value::Null, Value::String));
    }
    Ok(Value::Object(columns))
}

fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(digits, "{byte:02x}").expect("writing to a String never fails");
    }
    digits
}

/// Returns whether this program can read a body.
fn is_readable(source: &str, key: i64, body: &[u8]) -> bool {
    let sizes = [BucketSize::TenMinutes, BucketSize::Hour, BucketSize::Day];
    match sizes.into_iter().find(|size| size.table() == source) {
        Some(size) => read_block(size, key, body).is_ok(),
        None => source == RECENT && result_rows::each_of(key, body, |_, _| ()).is_none(),
    }
}

async fn restore_rows(session: &mut Session) -> Result<u64, StoreError> {
    let rows =
        query("SELECT source, key, body FROM unreadable_rows").fetch_all(&mut session.db).await?;
    let mut done = 0;
    for row in rows {
        let (source, key): (String, i64) = (row.try_get("source")?, row.try_get("key")?);
        let body: Vec<u8> = row.try_get("body")?;
        if key_expression(&source).is_none() || !is_readable(&source, key, &body) {
            continue;
        }
        let insert = format!(
            "INSERT INTO {source} (key, body) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING"
        );
        let db = &mut session.db;
        if source == BucketSize::TenMinutes.table() {
            days::create(db, std::iter::once(key)).await?;
        }
        let is_back = query(AssertSqlSafe(insert)).bind(key).bind(body).execute(db).await? == 1;
        // A newer row in its place stays. The moved row remains, so that an operator can merge
        // them.
        if is_back {
            query("DELETE FROM unreadable_rows WHERE source = $1 AND key = $2")
                .bind(source)
                .bind(key)
                .execute(&mut session.db)
                .await?;
            done += 1;
        }
    }
    Ok(done)
}

async fn remove(session: &mut Session, row: DamagedRow) -> Result<(), StoreError> {
    let db = &mut session.db;
    let moved = query(AssertSqlSafe(format!(
        "DELETE FROM {UNREADABLE_TABLE} WHERE source = $1 AND CAST(key AS TEXT) = $2"
    )));
    if moved.bind(row.table.clone()).bind(row.key.clone()).execute(db).await? > 0 {
        return Ok(());
    }
    let Some(column) = key_expression(&row.table) else {
        let why = "its rows cannot be removed alone".to_owned();
        return Err(StoreError::corrupt(format!("table `{}`", row.table), why));
    };
    if row.table == "status_changes" {
        return status_changes::forget(db, &row.key).await;
    }
    remove_dependents(db, &row).await?;
    if row.table == "users" {
        require_other_owners(db, &row.key).await?;
    }
    let statement = if row.table == "monitors" {
        "UPDATE monitors SET deleted_at = updated_at WHERE id = $1".to_owned()
    } else {
        format!("DELETE FROM {} WHERE CAST({column} AS TEXT) = $1", row.table)
    };
    query(AssertSqlSafe(statement)).bind(row.key).execute(db).await?;
    Ok(())
}

/// Rejects the removal of a user without whom a workspace would have no owner.
async fn require_other_owners(db: &mut Connection, user: &str) -> Result<(), StoreError> {
    let owned_alone = query(
        "SELECT 1 FROM members m JOIN workspaces w ON w.id = m.workspace_id \
         WHERE w.deleted_at IS NULL AND m.user_id = $1 AND m.role = $2 AND NOT EXISTS (\
         SELECT 1 FROM members o WHERE o.workspace_id = m.workspace_id \
         AND o.user_id <> m.user_id AND o.role = m.role) LIMIT 1",
    )
    .bind(user.to_owned())
    .bind(Role::Owner.as_str())
    .fetch_optional(db)
    .await?;
    owned_alone.map_or(Ok(()), |_| Err(StoreError::LastOwner))
}
