//! Configurations: which resources the files of `aloft apply` own. Entries name resources and hold no
//! reference, so they may outlive them.

use rules::configuration::{ConfigurationRecord, ConfiguredKey, ConfiguredResource, kinds};
use rules::{Timestamp, Violation, WorkspaceId, limits};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Row, query};
use crate::list::Listed;
use crate::row::{id, instant, narrow, to_count};
use crate::{AuditContext, Page, Store, StoreError};

/// Table of the entries.
const TABLE: &str = "configured_resources";

/// A configuration with entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub name: String,
    /// Number of its entries.
    pub resource_count: u32,
    /// Time of the last change of an entry that still exists.
    pub updated_at: Timestamp,
}

/// Entry with its position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedEntry {
    /// Position in the order in which entries were added.
    pub number: i64,
    pub entry: ConfiguredResource,
}

/// Handle of the configurations.
#[derive(Clone, Copy, Debug)]
pub struct Configurations<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the configurations.
    pub const fn configurations(&self) -> Configurations<'_> {
        Configurations { store: self }
    }
}

impl Configurations<'_> {
    /// Returns the configurations of a workspace, by name.
    pub async fn list(&self, workspace: WorkspaceId) -> Result<Vec<Configuration>, StoreError> {
        let rows = query(
            "SELECT configuration, COUNT(*) AS entries, MAX(recorded_at) AS recorded_at \
             FROM configured_resources WHERE workspace_id = $1 \
             GROUP BY configuration ORDER BY configuration",
        )
        .bind(workspace.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            Ok(Configuration {
                name: row.try_get("configuration")?,
                resource_count: narrow(row, "entries")?,
                updated_at: instant(row, "recorded_at")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Returns a part of the entries of a configuration, newest first. The total is not counted.
    pub async fn entries(
        &self,
        workspace: WorkspaceId,
        name: &str,
        page: Page<i64>,
    ) -> Result<Listed<NumberedEntry>, StoreError> {
        let rows = query(
            "SELECT number, kind, key, id FROM configured_resources \
             WHERE workspace_id = $1 AND configuration = $2 AND number < $3 \
             ORDER BY number DESC LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(name)
        .bind(page.after.unwrap_or(i64::MAX))
        .bind(i64::from(page.limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        Listed::from_rows((self.store.quarantine(), TABLE), &rows, None, read)
    }

    /// Removes entries, then adds others or gives them their resources. Fails with [`StoreError::Taken`]
    /// if another entry has the resource of an added one, or if the entry has another resource.
    pub async fn record(
        &self,
        workspace: WorkspaceId,
        record: ConfigurationRecord,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let db = &mut session.db;
                    for key in &record.remove {
                        remove(db, workspace, &record.name, key).await?;
                    }
                    for entry in &record.put {
                        put(db, workspace, &record.name, entry, change.at).await?;
                    }
                    if !record.put.is_empty() {
                        check_limits(db, workspace).await?;
                    }
                    let [put, removed] = [record.put.len(), record.remove.len()];
                    let detail = format!("{put} recorded, {removed} removed");
                    let resource_id = record.name;
                    let action = "configuration.record";
                    let note =
                        NewAuditEntry { workspace, change, action, resource_id, detail: &detail };
                    audit::record(db, note).await
                })
            })
            .await
    }

    /// Forgets a configuration and returns whether it had entries. Its resources stay.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        name: String,
        change: AuditContext,
    ) -> Result<bool, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let removed = query(
                        "DELETE FROM configured_resources \
                         WHERE workspace_id = $1 AND configuration = $2",
                    )
                    .bind(workspace.to_string())
                    .bind(&name)
                    .execute(&mut session.db)
                    .await?;
                    if removed == 0 {
                        return Ok(false);
                    }
                    let (action, resource_id) = ("configuration.delete", name);
                    let note = NewAuditEntry { workspace, change, action, resource_id, detail: "" };
                    audit::record(&mut session.db, note).await?;
                    Ok(true)
                })
            })
            .await
    }
}

async fn remove(
    db: &mut Connection,
    workspace: WorkspaceId,
    name: &str,
    removed: &ConfiguredKey,
) -> Result<(), StoreError> {
    query(
        "DELETE FROM configured_resources \
         WHERE workspace_id = $1 AND configuration = $2 AND kind = $3 AND key = $4",
    )
    .bind(workspace.to_string())
    .bind(name)
    .bind(removed.kind)
    .bind(&removed.key)
    .execute(db)
    .await?;
    Ok(())
}

async fn put(
    db: &mut Connection,
    workspace: WorkspaceId,
    name: &str,
    entry: &ConfiguredResource,
    at: Timestamp,
) -> Result<(), StoreError> {
    let allowed = "must not have a resource that another entry owns; remove that entry first";
    let given = entry.id.as_deref().unwrap_or_default();
    let stored = query(
        "INSERT INTO configured_resources \
         (workspace_id, configuration, kind, key, id, recorded_at) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (workspace_id, configuration, kind, key) \
         DO UPDATE SET id = excluded.id, recorded_at = excluded.recorded_at \
         WHERE configured_resources.id IS NULL OR configured_resources.id = excluded.id",
    )
    .bind(workspace.to_string())
    .bind(name)
    .bind(entry.key.kind)
    .bind(&entry.key.key)
    .bind(entry.id.as_deref())
    .bind(at.as_millis())
    .execute(db)
    .await
    .map_err(|error| {
        let taken = StoreError::Taken(Violation::new("put", given, allowed));
        StoreError::from_insert(error, taken, Some(workspace))
    })?;
    if stored == 0 {
        // A creation by another run, which this one must not forget.
        let allowed =
            "must not replace the resource of an entry; remove the entry in the same call";
        return Err(StoreError::Taken(Violation::new("put", given, allowed)));
    }
    Ok(())
}

/// Rejects a change after which the workspace has too many configurations or entries.
async fn check_limits(db: &mut Connection, workspace: WorkspaceId) -> Result<(), StoreError> {
    let row = query(
        "SELECT COUNT(*) AS entries, COUNT(DISTINCT configuration) AS configurations \
         FROM configured_resources WHERE workspace_id = $1",
    )
    .bind(workspace.to_string())
    .fetch_optional(db)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let (entries, names): (Option<i64>, Option<i64>) =
        (row.try_get("entries")?, row.try_get("configurations")?);
    let most = limits::CONFIGURED_RESOURCES_MAX;
    if to_count(entries) > most {
        let allowed =
            format!("cannot be added: configurations own at most {most} resources of a workspace");
        return Err(StoreError::Refused(Violation::without_value("put", allowed)));
    }
    let most = limits::CONFIGURATIONS_MAX;
    if to_count(names) > most {
        let allowed = format!("cannot be added: a workspace has at most {most} configurations");
        return Err(StoreError::Refused(Violation::without_value("name", allowed)));
    }
    Ok(())
}

fn read(row: &Row) -> Result<NumberedEntry, StoreError> {
    let known = |given: &str| {
        kinds().find(|kind| *kind == given).ok_or("no kind of resources has this name")
    };
    let key = ConfiguredKey { kind: id(row, "kind", known)?, key: row.try_get("key")? };
    let entry = ConfiguredResource { key, id: row.try_get("id")? };
    Ok(NumberedEntry { number: row.try_get("number")?, entry })
}
