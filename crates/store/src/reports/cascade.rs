//! Effects on reports and templates when their page or a component is deleted: in the same
//! transaction, with an audit entry for each.

use rules::{ComponentId, PageId, WorkspaceId};

use super::change::remove;
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::{AuditContext, StoreError};

/// Deletes the reports of a page that is being deleted, and removes its components from templates.
pub(crate) async fn delete_with_page(
    db: &mut Connection,
    (workspace, page): (WorkspaceId, PageId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let page = page.to_string();
    let gone = ids(db, "SELECT id FROM reports WHERE page_id = $1 ORDER BY id", &page).await?;
    for id in gone {
        remove(db, &id).await?;
        record_change(db, (workspace, change), "report.delete", (id, "with its page")).await?;
    }
    let left = ids(
        db,
        "SELECT DISTINCT t.template AS id FROM report_template_impacts t \
         JOIN components c ON c.id = t.component WHERE c.page_id = $1 ORDER BY t.template",
        &page,
    )
    .await?;
    query(
        "DELETE FROM report_template_impacts \
         WHERE component IN (SELECT id FROM components WHERE page_id = $1)",
    )
    .bind(&page)
    .execute(db)
    .await?;
    let detail = format!("without the components of {page}, which was deleted");
    unlink_templates(db, left, (workspace, change), &detail).await
}

/// Removes a component that is being deleted from reports and templates.
pub(crate) async fn unlink_component(
    db: &mut Connection,
    (workspace, component): (WorkspaceId, ComponentId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let component = component.to_string();
    let reports = ids(
        db,
        "SELECT DISTINCT u.report AS id FROM report_impacts i JOIN report_updates u \
         ON u.id = i.report_update WHERE i.component = $1 ORDER BY u.report",
        &component,
    )
    .await?;
    let templates = ids(
        db,
        "SELECT template AS id FROM report_template_impacts WHERE component = $1 ORDER BY template",
        &component,
    )
    .await?;
    for statement in [
        "DELETE FROM report_impacts WHERE component = $1",
        "DELETE FROM report_template_impacts WHERE component = $1",
    ] {
        query(statement).bind(&component).execute(db).await?;
    }
    let detail = format!("without {component}, which was deleted");
    for id in reports {
        query(
            "UPDATE reports \
             SET updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
             WHERE id = $2",
        )
        .bind(change.at.as_millis())
        .bind(&id)
        .execute(db)
        .await?;
        record_change(db, (workspace, change), "report.update", (id, &detail)).await?;
    }
    unlink_templates(db, templates, (workspace, change), &detail).await
}

async fn unlink_templates(
    db: &mut Connection,
    templates: Vec<String>,
    (workspace, change): (WorkspaceId, AuditContext),
    detail: &str,
) -> Result<(), StoreError> {
    for id in templates {
        query(
            "UPDATE report_templates \
             SET updated_at = CASE WHEN updated_at < $1 THEN $1 ELSE updated_at + 1 END \
             WHERE id = $2",
        )
        .bind(change.at.as_millis())
        .bind(&id)
        .execute(db)
        .await?;
        record_change(db, (workspace, change), "report_template.update", (id, detail)).await?;
    }
    Ok(())
}

async fn ids(
    db: &mut Connection,
    statement: &'static str,
    of: &str,
) -> Result<Vec<String>, StoreError> {
    let rows = query(statement).bind(of).fetch_all(db).await?;
    rows.iter().map(|row| Ok(row.try_get("id")?)).collect()
}

async fn record_change(
    db: &mut Connection,
    (workspace, change): (WorkspaceId, AuditContext),
    action: &'static str,
    (resource_id, detail): (String, &str),
) -> Result<(), StoreError> {
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail }).await
}
