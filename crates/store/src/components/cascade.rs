//! Effects on components when their page, group or monitor is deleted: in the same transaction,
//! with an audit entry for each.

use rules::{GroupId, PageId, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Query, query};
use crate::{AuditContext, StoreError};

/// Deletes the components of a page that is being deleted.
pub(crate) async fn delete_with_page(
    db: &mut Connection,
    (workspace, page): (WorkspaceId, PageId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let of_page = |statement| query(statement).bind(workspace.to_string()).bind(page.to_string());
    let concerned =
        of_page("SELECT id FROM components WHERE workspace_id = $1 AND page_id = $2 ORDER BY id");
    let deleted = ("component.delete", "with its page");
    record_each(db, concerned, (workspace, change), deleted).await?;
    of_page("DELETE FROM components WHERE workspace_id = $1 AND page_id = $2").execute(db).await?;
    Ok(())
}

/// Removes the components of a group that is being deleted from the group.
pub(crate) async fn unlink_group(
    db: &mut Connection,
    (workspace, group): (WorkspaceId, GroupId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let group = group.to_string();
    let concerned =
        query("SELECT id FROM components WHERE workspace_id = $1 AND group_id = $2 ORDER BY id")
            .bind(workspace.to_string())
            .bind(&group);
    let left = ("component.update", "its group was deleted");
    record_each(db, concerned, (workspace, change), left).await?;
    query(
        "UPDATE components SET group_id = NULL, \
         updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
         WHERE workspace_id = $2 AND group_id = $3",
    )
    .bind(change.at.as_millis())
    .bind(workspace.to_string())
    .bind(&group)
    .execute(db)
    .await?;
    Ok(())
}

/// Marks the components of a monitor that is being deleted as changed. They keep its row ID, so
/// that its history can be shown. The monitor's own row says that it was deleted.
pub(crate) async fn mark_monitor_deleted(
    db: &mut Connection,
    (workspace, monitor): (WorkspaceId, i64),
    change: AuditContext,
) -> Result<(), StoreError> {
    let concerned =
        query("SELECT id FROM components WHERE workspace_id = $1 AND monitor = $2 ORDER BY id")
            .bind(workspace.to_string())
            .bind(monitor);
    let lost = ("component.update", "its monitor was deleted");
    record_each(db, concerned, (workspace, change), lost).await?;
    query(
        "UPDATE components \
         SET updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
         WHERE workspace_id = $2 AND monitor = $3",
    )
    .bind(change.at.as_millis())
    .bind(workspace.to_string())
    .bind(monitor)
    .execute(db)
    .await?;
    Ok(())
}

async fn record_each(
    db: &mut Connection,
    affected: Query,
    (workspace, change): (WorkspaceId, AuditContext),
    (action, detail): (&'static str, &str),
) -> Result<(), StoreError> {
    for row in affected.fetch_all(db).await? {
        let resource_id = row.try_get("id")?;
        audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail }).await?;
    }
    Ok(())
}
