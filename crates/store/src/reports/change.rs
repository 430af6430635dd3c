//! Changes reports. Repeated creates have no effect, and an edit must be based on the latest
//! version. Deleting a report deletes its updates. Objects that a report names must exist, which is
//! checked in the same transaction.

use rules::report::{Report, ReportSettings, UpdateSettings};
use rules::status_page::A_PAGE;
use rules::{ReportId, Timestamp, UpdateId, Violation, WorkspaceId};

use super::{Reports, announce, impacts, load};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{AuditContext, Created, Idempotency, StoreError, UpdateContext, idempotency, pages};

/// Report to create.
#[derive(Clone, Debug)]
pub struct NewReport {
    pub id: ReportId,
    pub workspace: WorkspaceId,
    /// Settings from the user. The first update holds the impacts on components.
    pub settings: ReportSettings,
    pub update: UpdateId,
    pub first: UpdateSettings,
    /// Whether to notify subscribers.
    pub notify: bool,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

impl Reports<'_> {
    /// Creates a report. Its page and components must exist.
    pub async fn create(
        &self,
        new: NewReport,
        change: AuditContext,
    ) -> Result<Created<Report>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(session, new, change)))
            .await
    }

    /// Replaces the settings of a report that was read as `seen`. Fails with a conflict if it was
    /// changed since. The latest update holds the impacts on components.
    pub async fn update(
        &self,
        seen: Report,
        settings: ReportSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<Report, StoreError> {
        let UpdateContext { change, changes } = change.into();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    refuse_changed(db, &seen).await?;
                    let has_changed = seen.settings().components != settings.components;
                    if let Some(latest) = seen.updates.first().filter(|_| has_changed) {
                        let page = (seen.workspace, seen.page);
                        impacts::replace(db, page, latest.id, &settings.components).await?;
                    }
                    query("UPDATE reports SET title = $1 WHERE id = $2")
                        .bind(&settings.title)
                        .bind(seen.id.to_string())
                        .execute(db)
                        .await?;
                    let report = finish(db, &seen, change, ("report.update", "")).await?;
                    audit::attach_changes(
                        session,
                        (report.workspace, &report.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(report)
                })
            })
            .await
    }

    /// Deletes a report with its updates.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: ReportId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let seen = load(db, workspace, &id.to_string()).await?;
                    remove(db, &id.to_string()).await?;
                    record_change(db, &seen, change, ("report.delete", "")).await
                })
            })
            .await
    }
}

async fn create(
    session: &mut Session,
    new: NewReport,
    change: AuditContext,
) -> Result<Created<Report>, StoreError> {
    let NewReport { id, workspace, settings, update, first, notify, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        return load(db, workspace, &id).await.map(Created::Before).map_err(idempotency::gone);
    }
    let page = settings.page_id;
    if !pages::exists(db, workspace, page).await? {
        return Err(StoreError::Refused(Violation::new("page_id", page, A_PAGE)));
    }
    query(
        "INSERT INTO reports (id, workspace_id, page_id, title, status, started_at, latest_at, \
         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $7)",
    )
    .bind(id.to_string())
    .bind(workspace.to_string())
    .bind(page.to_string())
    .bind(&settings.title)
    .bind(first.status.as_str())
    .bind(first.at.as_millis())
    .bind(change.at.as_millis())
    .execute(db)
    .await?;
    insert_update(db, (id, update), (&first, notify), change.at).await?;
    impacts::replace(db, (workspace, page), update, &first.components).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(db, workspace, call.as_ref(), created).await?;
    let report = load(db, workspace, &id.to_string()).await?;
    record_change(db, &report, change, ("report.create", "")).await?;
    announce::announce(session, &report, update, change).await?;
    Ok(Created::Now(report))
}

/// Inserts an update without its impacts on components.
pub(super) async fn insert_update(
    db: &mut Connection,
    (report, id): (ReportId, UpdateId),
    (settings, notify): (&UpdateSettings, bool),
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO report_updates (id, report, status, text, at, notified, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)",
    )
    .bind(id.to_string())
    .bind(report.to_string())
    .bind(settings.status.as_str())
    .bind(&settings.text)
    .bind(settings.at.as_millis())
    .bind(notify)
    .bind(now.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

/// Fails with a conflict if the report was changed since it was read.
pub(super) async fn refuse_changed(db: &mut Connection, seen: &Report) -> Result<(), StoreError> {
    let id = seen.id.to_string();
    if load(db, seen.workspace, &id).await?.updated_at == seen.updated_at {
        return Ok(());
    }
    Err(StoreError::Conflict { what: "status report", id })
}

/// Recomputes the columns derived from updates, records the change, and returns the report.
pub(super) async fn finish(
    db: &mut Connection,
    seen: &Report,
    change: AuditContext,
    (action, detail): (&'static str, &str),
) -> Result<Report, StoreError> {
    update_derived(db, seen.id, change.after(seen.updated_at)).await?;
    record_change(db, seen, change, (action, detail)).await?;
    load(db, seen.workspace, &seen.id.to_string()).await
}

async fn update_derived(
    db: &mut Connection,
    id: ReportId,
    at: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE reports SET updated_at = $1, \
         status = (SELECT u.status FROM report_updates u WHERE u.report = $2 \
         ORDER BY u.at DESC, u.id DESC LIMIT 1), \
         started_at = (SELECT MIN(u.at) FROM report_updates u WHERE u.report = $2), \
         latest_at = (SELECT MAX(u.at) FROM report_updates u WHERE u.report = $2) WHERE id = $2",
    )
    .bind(at.as_millis())
    .bind(id.to_string())
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes a report with its updates.
pub(super) async fn remove(db: &mut Connection, id: &str) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM report_impacts WHERE report_update IN \
         (SELECT id FROM report_updates WHERE report = $1)",
        "DELETE FROM report_updates WHERE report = $1",
        "DELETE FROM reports WHERE id = $1",
    ] {
        query(statement).bind(id).execute(db).await?;
    }
    Ok(())
}

async fn record_change(
    db: &mut Connection,
    report: &Report,
    change: AuditContext,
    (action, detail): (&'static str, &str),
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (report.workspace, report.id.to_string());
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail }).await
}
