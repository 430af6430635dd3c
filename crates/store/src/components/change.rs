//! Changes components. Repeated creates have no effect, and an edit must be based on the latest
//! version. Objects that a component names must exist, which is checked in the same transaction.

use rules::status_page::{A_GROUP, A_MONITOR, A_PAGE, Component, ComponentSettings};
use rules::{ComponentId, Timestamp, Violation, WorkspaceId};

use super::{Components, find};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{
    AuditContext, Created, Idempotency, StoreError, UpdateContext, idempotency, maintenances,
    pages, reports,
};

/// Component to create.
#[derive(Clone, Debug)]
pub struct NewComponent {
    pub id: ComponentId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: ComponentSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

impl Components<'_> {
    /// Creates a component.
    pub async fn create(
        &self,
        new: NewComponent,
        change: AuditContext,
    ) -> Result<Created<Component>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(session, new, change)))
            .await
    }

    /// Replaces the settings of a component that was read as `seen`. Fails with a conflict if it
    /// was changed since.
    pub async fn update(
        &self,
        seen: Component,
        settings: ComponentSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<Component, StoreError> {
        let UpdateContext { change, changes } = change.into();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let seen_at = seen.updated_at;
                    refuse_changed(db, &seen).await?;
                    let component =
                        Component { settings, updated_at: change.after(seen_at), ..seen };
                    let monitor = check_references(db, &component).await?;
                    replace(db, &component, monitor, seen_at).await?;
                    record_change(db, &component, change, "component.update").await?;
                    maintenances::component_changed(session, component.id, change.at).await?;
                    audit::attach_changes(
                        session,
                        (component.workspace, &component.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(component)
                })
            })
            .await
    }

    /// Deletes a component.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: ComponentId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let component = find(&mut session.db, workspace, &id.to_string()).await?;
                    maintenances::unlink_component(session, (workspace, id), change).await?;
                    let db = &mut session.db;
                    reports::unlink_component(db, (workspace, id), change).await?;
                    query("DELETE FROM components WHERE workspace_id = $1 AND id = $2")
                        .bind(workspace.to_string())
                        .bind(id.to_string())
                        .execute(db)
                        .await?;
                    record_change(db, &component, change, "component.delete").await
                })
            })
            .await
    }
}

async fn create(
    session: &mut Session,
    new: NewComponent,
    change: AuditContext,
) -> Result<Created<Component>, StoreError> {
    let db = &mut session.db;
    let NewComponent { id, workspace, settings, idempotency: call } = new;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        return find(db, workspace, &id).await.map(Created::Before).map_err(idempotency::gone);
    }
    let (created_at, updated_at) = (change.at, change.at);
    let component = Component { id, workspace, settings, created_at, updated_at };
    let monitor = check_references(db, &component).await?;
    insert(db, &component, monitor).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(db, workspace, call.as_ref(), created).await?;
    record_change(db, &component, change, "component.create").await?;
    Ok(Created::Now(component))
}

/// Fails with a conflict if the component was changed since it was read. Runs before the new
/// settings are checked.
async fn refuse_changed(db: &mut Connection, seen: &Component) -> Result<(), StoreError> {
    let id = seen.id.to_string();
    if find(db, seen.workspace, &id).await?.updated_at == seen.updated_at {
        return Ok(());
    }
    Err(StoreError::Conflict { what: "component", id })
}

/// Rejects a page, group or monitor that does not exist. Returns the row ID of the monitor.
async fn check_references(
    db: &mut Connection,
    component: &Component,
) -> Result<Option<i64>, StoreError> {
    let settings = &component.settings;
    let page = settings.page_id;
    if !pages::exists(db, component.workspace, page).await? {
        return Err(StoreError::Refused(Violation::new("page_id", page, A_PAGE)));
    }
    let monitor = monitor_row_id(db, component).await?;
    if let Some(group) = settings.group_id {
        let row = query(
            "SELECT 1 FROM component_groups \
             WHERE workspace_id = $1 AND id = $2 AND page_id = $3",
        )
        .bind(component.workspace.to_string())
        .bind(group.to_string())
        .bind(page.to_string())
        .fetch_optional(db)
        .await?;
        if row.is_none() {
            return Err(StoreError::Refused(Violation::new("group_id", group, A_GROUP)));
        }
    }
    Ok(monitor)
}

async fn monitor_row_id(
    db: &mut Connection,
    component: &Component,
) -> Result<Option<i64>, StoreError> {
    let Some(monitor) = component.settings.monitor_id else { return Ok(None) };
    let number: Option<i64> = query(
        "SELECT number FROM monitors WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL",
    )
    .bind(component.workspace.to_string())
    .bind(monitor.to_string())
    .scalar(db)
    .await?;
    let Some(number) = number else {
        return Err(StoreError::Refused(Violation::new("monitor_id", monitor, A_MONITOR)));
    };
    let shown = query(
        "SELECT 1 FROM components \
         WHERE workspace_id = $1 AND page_id = $2 AND monitor = $3 AND id <> $4",
    )
    .bind(component.workspace.to_string())
    .bind(component.settings.page_id.to_string())
    .bind(number)
    .bind(component.id.to_string())
    .fetch_optional(db)
    .await?;
    if shown.is_some() {
        let allowed = "is already shown by another component of this status page";
        return Err(StoreError::Taken(Violation::new("monitor_id", monitor, allowed)));
    }
    Ok(Some(number))
}

async fn insert(
    db: &mut Connection,
    component: &Component,
    monitor: Option<i64>,
) -> Result<(), StoreError> {
    let settings = &component.settings;
    query(
        "INSERT INTO components (id, workspace_id, page_id, kind, monitor, name, description, \
         position, group_id, position_in_group, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(component.id.to_string())
    .bind(component.workspace.to_string())
    .bind(settings.page_id.to_string())
    .bind(settings.kind.as_str())
    .bind(monitor)
    .bind(&settings.name)
    .bind(&settings.description)
    .bind(settings.order.map(i64::from))
    .bind(settings.group_id.map(|id| id.to_string()))
    .bind(settings.group_order.map(i64::from))
    .bind(component.created_at.as_millis())
    .bind(component.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Stores the mutable columns. If no monitor is given, the row ID of a deleted one stays, for its
/// history.
async fn replace(
    db: &mut Connection,
    component: &Component,
    monitor: Option<i64>,
    seen_at: Timestamp,
) -> Result<(), StoreError> {
    let settings = &component.settings;
    query(
        "UPDATE components SET monitor = COALESCE($1, monitor), name = $2, description = $3, \
         position = $4, group_id = $5, position_in_group = $6, updated_at = $7 \
         WHERE workspace_id = $8 AND id = $9 AND updated_at = $10",
    )
    .bind(monitor)
    .bind(&settings.name)
    .bind(&settings.description)
    .bind(settings.order.map(i64::from))
    .bind(settings.group_id.map(|id| id.to_string()))
    .bind(settings.group_order.map(i64::from))
    .bind(component.updated_at.as_millis())
    .bind(component.workspace.to_string())
    .bind(component.id.to_string())
    .bind(seen_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn record_change(
    db: &mut Connection,
    component: &Component,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (component.workspace, component.id.to_string());
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail: "" }).await
}
