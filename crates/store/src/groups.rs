//! Component groups of status pages. Repeated creates have no effect, and an edit must be based on
//! the latest version. Deleting a group keeps its components.

use rules::status_page::{A_PAGE, ComponentGroup, GroupSettings};
use rules::{GroupId, PageId, Violation, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Row, query};
use crate::list::Listed;
use crate::quarantine::Quarantine;
use crate::row::{id, instant};
use crate::{
    AuditContext, Created, Idempotency, Page, Store, StoreError, UpdateContext, components,
    idempotency, pages,
};

/// Selects groups for [`read`]. The argument is the `WHERE` clause.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT id, workspace_id, page_id, name, created_at, updated_at FROM component_groups ",
            $which
        )
    };
}

/// Handle of the component groups.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the component groups of status pages.
    pub const fn groups(&self) -> Groups<'_> {
        Groups { store: self }
    }
}

/// Component group to create.
#[derive(Clone, Debug)]
pub struct NewGroup {
    pub id: GroupId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: GroupSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

/// Returns all readable groups of a status page of any workspace.
pub(crate) async fn by_page(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
) -> Result<Vec<ComponentGroup>, StoreError> {
    let rows = query(select!("WHERE page_id = $1 ORDER BY id"))
        .bind(page.to_string())
        .fetch_all(db)
        .await?;
    quarantine.readable_rows("component_groups", &rows, read)
}

impl Groups<'_> {
    /// Returns a group of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: GroupId,
    ) -> Result<ComponentGroup, StoreError> {
        find(&mut self.store.read().await?, workspace, &id.to_string()).await
    }

    /// Returns a part of the groups of a page of the workspace, or of all its pages, newest first,
    /// and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        of: Option<PageId>,
        page: Page<GroupId>,
    ) -> Result<Listed<ComponentGroup>, StoreError> {
        let mut db = self.store.read().await?;
        pages::require_filter(&mut db, workspace, of).await?;
        let of = of.map(|page| page.to_string()).unwrap_or_default();
        let total: Option<i64> = query(
            "SELECT COUNT(*) FROM component_groups \
             WHERE workspace_id = $1 AND ($2 = '' OR page_id = $2)",
        )
        .bind(workspace.to_string())
        .bind(&of)
        .scalar(&mut db)
        .await?;
        let rows = query(select!(
            "WHERE workspace_id = $1 AND ($2 = '' OR page_id = $2) AND id < $3 \
             ORDER BY id DESC LIMIT $4 OFFSET $5"
        ))
        .bind(workspace.to_string())
        .bind(of)
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        Listed::from_rows((self.store.quarantine(), "component_groups"), &rows, total, read)
    }

    /// Creates a group.
    pub async fn create(
        &self,
        new: NewGroup,
        change: AuditContext,
    ) -> Result<Created<ComponentGroup>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(&mut session.db, new, change)))
            .await
    }

    /// Replaces the settings of a group that was read as `seen`. Fails with a conflict if it was
    /// changed since.
    pub async fn update(
        &self,
        seen: ComponentGroup,
        settings: GroupSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<ComponentGroup, StoreError> {
        let UpdateContext { change, changes } = change.into();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let id = seen.id.to_string();
                    let seen_at = seen.updated_at;
                    if find(db, seen.workspace, &id).await?.updated_at != seen_at {
                        return Err(StoreError::Conflict { what: "component group", id });
                    }
                    let updated_at = change.after(seen_at);
                    let group = ComponentGroup { settings, updated_at, ..seen };
                    query(
                        "UPDATE component_groups SET name = $1, updated_at = $2 \
                         WHERE workspace_id = $3 AND id = $4",
                    )
                    .bind(&group.settings.name)
                    .bind(group.updated_at.as_millis())
                    .bind(group.workspace.to_string())
                    .bind(id)
                    .execute(db)
                    .await?;
                    record_change(db, (group.workspace, group.id), change, "group.update").await?;
                    audit::attach_changes(
                        session,
                        (group.workspace, &group.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(group)
                })
            })
            .await
    }

    /// Deletes a group. Its components stay on the page, without a group.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: GroupId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    find(db, workspace, &id.to_string()).await?;
                    components::unlink_group(db, (workspace, id), change).await?;
                    query("DELETE FROM component_groups WHERE workspace_id = $1 AND id = $2")
                        .bind(workspace.to_string())
                        .bind(id.to_string())
                        .execute(db)
                        .await?;
                    record_change(db, (workspace, id), change, "group.delete").await
                })
            })
            .await
    }
}

/// Deletes the groups of a page that is being deleted. Its components must be deleted before.
pub(crate) async fn delete_with_page(
    db: &mut Connection,
    (workspace, page): (WorkspaceId, PageId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let of_page = |statement| query(statement).bind(workspace.to_string()).bind(page.to_string());
    let concerned = of_page(
        "SELECT id FROM component_groups WHERE workspace_id = $1 AND page_id = $2 ORDER BY id",
    );
    for row in concerned.fetch_all(db).await? {
        let (action, detail) = ("group.delete", "with its page");
        let resource_id = row.try_get("id")?;
        audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail }).await?;
    }
    of_page("DELETE FROM component_groups WHERE workspace_id = $1 AND page_id = $2")
        .execute(db)
        .await?;
    Ok(())
}

async fn create(
    db: &mut Connection,
    new: NewGroup,
    change: AuditContext,
) -> Result<Created<ComponentGroup>, StoreError> {
    let NewGroup { id, workspace, settings, idempotency: call } = new;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        return find(db, workspace, &id).await.map(Created::Before).map_err(idempotency::gone);
    }
    let page = settings.page_id;
    if !pages::exists(db, workspace, page).await? {
        return Err(StoreError::Refused(Violation::new("page_id", page, A_PAGE)));
    }
    query(
        "INSERT INTO component_groups (id, workspace_id, page_id, name, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(id.to_string())
    .bind(workspace.to_string())
    .bind(page.to_string())
    .bind(&settings.name)
    .bind(change.at.as_millis())
    .bind(change.at.as_millis())
    .execute(db)
    .await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(db, workspace, call.as_ref(), created).await?;
    record_change(db, (workspace, id), change, "group.create").await?;
    let (created_at, updated_at) = (change.at, change.at);
    Ok(Created::Now(ComponentGroup { id, workspace, settings, created_at, updated_at }))
}

async fn find(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: &str,
) -> Result<ComponentGroup, StoreError> {
    let row = query(select!("WHERE workspace_id = $1 AND id = $2"))
        .bind(workspace.to_string())
        .bind(id)
        .fetch_optional(db)
        .await?
        .ok_or_else(|| StoreError::not_found("component group", id))?;
    read(&row)
}

fn read(row: &Row) -> Result<ComponentGroup, StoreError> {
    Ok(ComponentGroup {
        id: id(row, "id", GroupId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings: GroupSettings {
            page_id: id(row, "page_id", PageId::parse)?,
            name: row.try_get("name")?,
        },
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

async fn record_change(
    db: &mut Connection,
    (workspace, id): (WorkspaceId, GroupId),
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let resource_id = id.to_string();
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail: "" }).await
}
