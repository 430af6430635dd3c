//! Reports as they are changed: opened once however often the call is repeated, edited only by who saw
//! the last edit, deleted with their updates. What they name must be there, in the same transaction.

use rules::report::{Report, ReportSettings, UpdateSettings};
use rules::status_page::A_PAGE;
use rules::{ReportId, Timestamp, UpdateId, Violation, WorkspaceId};

use super::{Reports, impacts, one, tell, updates};
use crate::audit::{self, Note};
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{Change, Created, Idempotency, StoreError, idempotency, pages};

/// A report to open, at the time of the change.
#[derive(Clone, Debug)]
pub struct NewReport {
    /// Its identifier.
    pub id: ReportId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// What the user wrote; what it says of components, its first update says.
    pub settings: ReportSettings,
    /// Identifier of its first update.
    pub update: UpdateId,
    /// What that says.
    pub first: UpdateSettings,
    /// Whether subscribers are told.
    pub notify: bool,
    /// What makes a repetition of the call one with it.
    pub idempotency: Option<Idempotency>,
}

impl Reports<'_> {
    /// Opens a report. Its page and components must be there.
    pub async fn create(
        &self,
        new: NewReport,
        change: Change,
    ) -> Result<Created<Report>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(session, new, change)))
            .await
    }

    /// Gives a report that was read as `seen` other settings. Where it was changed since, nothing
    /// happens and the answer is a conflict. What it says of components, its latest update says.
    pub async fn update(
        &self,
        seen: Report,
        settings: ReportSettings,
        change: Change,
    ) -> Result<Report, StoreError> {
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    refuse_changed(db, &seen).await?;
                    let said = seen.settings().components != settings.components;
                    if let Some(latest) = seen.updates.first().filter(|_| said) {
                        let page = (seen.workspace, seen.page);
                        impacts::say(db, page, latest.id, &settings.components).await?;
                    }
                    query("UPDATE reports SET title = $1 WHERE id = $2")
                        .bind(&settings.title)
                        .bind(seen.id.to_string())
                        .execute(db)
                        .await?;
                    finish(db, &seen, change, ("report.update", "")).await
                })
            })
            .await
    }

    /// Deletes a report with its updates.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: ReportId,
        change: Change,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let seen = one(db, workspace, &id.to_string()).await?;
                    remove(db, &id.to_string()).await?;
                    note(db, &seen, change, ("report.delete", "")).await
                })
            })
            .await
    }
}

async fn create(
    session: &mut Session,
    new: NewReport,
    change: Change,
) -> Result<Created<Report>, StoreError> {
    let NewReport { id, workspace, settings, update, first, notify, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        return one(db, workspace, &id).await.map(Created::Before).map_err(idempotency::gone);
    }
    let page = settings.page_id;
    if !pages::is_there(db, workspace, page).await? {
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
    updates::insert(db, (id, update), (&first, notify), change.at).await?;
    impacts::say(db, (workspace, page), update, &first.components).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::remember(db, workspace, call.as_ref(), created).await?;
    let report = one(db, workspace, &id.to_string()).await?;
    note(db, &report, change, ("report.create", "")).await?;
    tell::tell(session, &report, update, change).await?;
    Ok(Created::Now(report))
}

/// What was seen must be what is there before anything is made of it.
pub(super) async fn refuse_changed(db: &mut Connection, seen: &Report) -> Result<(), StoreError> {
    let id = seen.id.to_string();
    if one(db, seen.workspace, &id).await?.updated_at == seen.updated_at {
        return Ok(());
    }
    Err(StoreError::Conflict { what: "status report", id })
}

/// Writes again what the report has of its updates, notes the change, and reads what came of it.
pub(super) async fn finish(
    db: &mut Connection,
    seen: &Report,
    change: Change,
    (action, detail): (&'static str, &str),
) -> Result<Report, StoreError> {
    settle(db, seen.id, change.after(seen.updated_at)).await?;
    note(db, seen, change, (action, detail)).await?;
    one(db, seen.workspace, &seen.id.to_string()).await
}

async fn settle(db: &mut Connection, id: ReportId, at: Timestamp) -> Result<(), StoreError> {
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

async fn note(
    db: &mut Connection,
    report: &Report,
    change: Change,
    (action, detail): (&'static str, &str),
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (report.workspace, report.id.to_string());
    audit::note(db, Note { workspace, change, action, resource_id, detail }).await
}
