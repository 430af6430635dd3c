//! Coverage of maintenance: the monitors that it names and those that its components show, each
//! with the time of its coverage. Coverage follows changes and deletions, in the same transaction.

use rules::{ComponentId, PageId, Timestamp, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::channels::DeletedMonitor;
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{AuditContext, StoreError, outbox};

/// Selects the monitors that maintenance `$1` applies to: those it names, and those that its
/// components show.
macro_rules! wanted {
    () => {
        "SELECT monitor FROM maintenance_monitors WHERE maintenance = $1 \
         UNION SELECT s.monitor FROM maintenance_components l JOIN components s \
         ON s.id = l.component WHERE l.maintenance = $1 AND s.monitor IS NOT NULL"
    };
}

/// Updates the coverage to the current links, and reschedules deliveries that wait for the end of
/// the maintenance.
pub(super) async fn update_coverage(
    session: &mut Session,
    maintenance: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let db = &mut session.db;
    let now = at.as_millis();
    query(concat!(
        "UPDATE maintenance_covers SET until = $2 WHERE maintenance = $1 AND until IS NULL ",
        "AND monitor NOT IN (",
        wanted!(),
        ")"
    ))
    .bind(maintenance)
    .bind(now)
    .execute(db)
    .await?;
    query(concat!(
        "INSERT INTO maintenance_covers (maintenance, monitor, since) SELECT $1, w.monitor, $2 \
         FROM (",
        wanted!(),
        ") AS w WHERE NOT EXISTS (SELECT 1 FROM maintenance_covers c WHERE c.maintenance = $1 ",
        "AND c.monitor = w.monitor AND c.until IS NULL) ",
        "ON CONFLICT (maintenance, monitor, since) DO UPDATE SET until = NULL"
    ))
    .bind(maintenance)
    .bind(now)
    .execute(db)
    .await?;
    reschedule_waiting(session, maintenance, at).await
}

/// Ends all coverage, and reschedules deliveries that wait for the end of the maintenance.
pub(super) async fn end(
    session: &mut Session,
    maintenance: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    query("UPDATE maintenance_covers SET until = $1 WHERE maintenance = $2 AND until IS NULL")
        .bind(at.as_millis())
        .bind(maintenance)
        .execute(&mut session.db)
        .await?;
    reschedule_waiting(session, maintenance, at).await
}

/// Removes a monitor that is being deleted from its maintenance.
pub(crate) async fn unlink_monitor(
    db: &mut Connection,
    deleted: &DeletedMonitor,
    change: AuditContext,
) -> Result<(), StoreError> {
    let left = ids(
        db,
        "SELECT maintenance FROM maintenance_monitors WHERE monitor = $1 ORDER BY maintenance",
        deleted.number,
    )
    .await?;
    query("DELETE FROM maintenance_monitors WHERE monitor = $1")
        .bind(deleted.number)
        .execute(&mut *db)
        .await?;
    query("UPDATE maintenance_covers SET until = $1 WHERE monitor = $2 AND until IS NULL")
        .bind(change.at.as_millis())
        .bind(deleted.number)
        .execute(&mut *db)
        .await?;
    let detail = format!("without {}, which was deleted", deleted.monitor);
    record_each(db, &left, (deleted.workspace, change), &detail).await
}

/// Removes a component that is being deleted from its maintenance.
pub(crate) async fn unlink_component(
    session: &mut Session,
    (workspace, component): (WorkspaceId, ComponentId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let component = component.to_string();
    let left = by_component(&mut session.db, &component).await?;
    query("DELETE FROM maintenance_components WHERE component = $1")
        .bind(&component)
        .execute(&mut session.db)
        .await?;
    let detail = format!("without {component}, which was deleted");
    record_each(&mut session.db, &left, (workspace, change), &detail).await?;
    update_each(session, &left, change.at).await
}

/// Removes the components of a page that is being deleted from their maintenance.
pub(crate) async fn unlink_page(
    session: &mut Session,
    (workspace, page): (WorkspaceId, PageId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let page = page.to_string();
    let left = ids(
        &mut session.db,
        "SELECT DISTINCT l.maintenance FROM maintenance_components l \
         JOIN components s ON s.id = l.component WHERE s.page_id = $1 ORDER BY l.maintenance",
        page.as_str(),
    )
    .await?;
    query(
        "DELETE FROM maintenance_components \
         WHERE component IN (SELECT id FROM components WHERE page_id = $1)",
    )
    .bind(&page)
    .execute(&mut session.db)
    .await?;
    let detail = format!("without the components of {page}, which was deleted");
    record_each(&mut session.db, &left, (workspace, change), &detail).await?;
    update_each(session, &left, change.at).await
}

/// Updates the coverage after a component was given another monitor.
pub(crate) async fn component_changed(
    session: &mut Session,
    component: ComponentId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let concerned = by_component(&mut session.db, &component.to_string()).await?;
    update_each(session, &concerned, at).await
}

async fn by_component(db: &mut Connection, component: &str) -> Result<Vec<String>, StoreError> {
    let of = "SELECT maintenance FROM maintenance_components WHERE component = $1 \
              ORDER BY maintenance";
    ids(db, of, component).await
}

async fn ids(
    db: &mut Connection,
    statement: &'static str,
    of: impl Into<crate::db::Value>,
) -> Result<Vec<String>, StoreError> {
    let rows = query(statement).bind(of).fetch_all(db).await?;
    rows.iter().map(|row| Ok(row.try_get("maintenance")?)).collect()
}

async fn update_each(
    session: &mut Session,
    maintenances: &[String],
    at: Timestamp,
) -> Result<(), StoreError> {
    for maintenance in maintenances {
        update_coverage(session, maintenance, at).await?;
    }
    Ok(())
}

/// Records a change of each of these maintenances.
async fn record_each(
    db: &mut Connection,
    maintenances: &[String],
    (workspace, change): (WorkspaceId, AuditContext),
    detail: &str,
) -> Result<(), StoreError> {
    for maintenance in maintenances {
        query(
            "UPDATE maintenances \
             SET updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
             WHERE workspace_id = $2 AND id = $3",
        )
        .bind(change.at.as_millis())
        .bind(workspace.to_string())
        .bind(maintenance)
        .execute(&mut *db)
        .await?;
        let (resource_id, action) = (maintenance.clone(), "maintenance.update");
        audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail }).await?;
    }
    Ok(())
}

/// Reschedules the alerts that wait for the end of a maintenance.
async fn reschedule_waiting(
    session: &mut Session,
    maintenance: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT DISTINCT c.monitor FROM maintenance_covers c WHERE c.maintenance = $1 AND EXISTS \
         (SELECT 1 FROM deliveries d WHERE d.monitor = c.monitor AND d.is_open \
         AND d.hold_reason = 'maintenance')",
    )
    .bind(maintenance)
    .fetch_all(&mut session.db)
    .await?;
    let monitors: Vec<i64> =
        rows.iter().map(|row| row.try_get("monitor")).collect::<Result<_, sqlx::Error>>()?;
    outbox::maintenance_changed(session, &monitors, at).await
}
