//! Updates of a report. Repeated requests have no effect, and an edit must be based on the latest
//! version. The only update of a report cannot be deleted.

use rules::report::{Report, ReportUpdate, UpdateSettings};
use rules::{ReportId, Timestamp, UpdateId, Violation, WorkspaceId, limits};

use super::change::{finish, insert_update, refuse_changed};
use super::{Reports, announce, impacts, load, load_by_update};
use crate::db::query;
use crate::writer::Session;
use crate::{AuditContext, Created, Idempotency, StoreError, idempotency};

/// Update to add.
#[derive(Clone, Debug)]
pub struct NewUpdate {
    /// Identifier. If another update of the report has a later one, the next one after that is
    /// used.
    pub id: UpdateId,
    pub workspace: WorkspaceId,
    pub report: ReportId,
    /// Settings from the user. Without components, the update inherits the impacts that the report
    /// had at its time.
    pub settings: UpdateSettings,
    /// Whether to notify subscribers.
    pub notify: bool,
    /// Key that identifies retries of the request.
    pub idempotency: Option<Idempotency>,
}

impl Reports<'_> {
    /// Adds an update. A report has a limited number of updates.
    pub async fn add(
        &self,
        new: NewUpdate,
        change: AuditContext,
    ) -> Result<Created<Report>, StoreError> {
        self.store.write_in(new.workspace, move |session| Box::pin(add(session, new, change))).await
    }

    /// Replaces the settings of an update of a report that was read as `seen`. Fails with a
    /// conflict if the report was changed since.
    pub async fn edit(
        &self,
        seen: Report,
        id: UpdateId,
        settings: UpdateSettings,
        change: AuditContext,
    ) -> Result<Report, StoreError> {
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    refuse_changed(db, &seen).await?;
                    let edited = query(
                        "UPDATE report_updates SET status = $1, text = $2, at = $3, \
                         updated_at = $4 WHERE id = $5 AND report = $6",
                    )
                    .bind(settings.status.as_str())
                    .bind(&settings.text)
                    .bind(settings.at.as_millis())
                    .bind(change.at.as_millis())
                    .bind(id.to_string())
                    .bind(seen.id.to_string())
                    .execute(db)
                    .await?;
                    if edited == 0 {
                        return Err(not_found(id));
                    }
                    impacts::replace(db, (seen.workspace, seen.page), id, &settings.components)
                        .await?;
                    finish(db, &seen, change, ("report.edit_update", &id.to_string())).await
                })
            })
            .await
    }

    /// Deletes an update. Rejects the only update of a report.
    pub async fn delete_update(
        &self,
        workspace: WorkspaceId,
        id: UpdateId,
        change: AuditContext,
    ) -> Result<Report, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let seen = load_by_update(db, workspace, id).await?;
                    if seen.updates.len() == 1 {
                        let allowed =
                            "must not be the only update of its report: delete the report";
                        return Err(StoreError::Refused(Violation::new("id", id, allowed)));
                    }
                    for statement in [
                        "DELETE FROM report_impacts WHERE report_update = $1",
                        "DELETE FROM report_updates WHERE id = $1",
                    ] {
                        query(statement).bind(id.to_string()).execute(db).await?;
                    }
                    finish(db, &seen, change, ("report.delete_update", &id.to_string())).await
                })
            })
            .await
    }
}

async fn add(
    session: &mut Session,
    new: NewUpdate,
    change: AuditContext,
) -> Result<Created<Report>, StoreError> {
    let NewUpdate { id, workspace, report, mut settings, notify, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        let id = UpdateId::parse(&id)
            .map_err(|why| StoreError::corrupt("an update", why.to_string()))?;
        let before = load_by_update(db, workspace, id).await;
        return before.map(Created::Before).map_err(idempotency::gone);
    }
    let seen = load(db, workspace, &report.to_string()).await?;
    if seen.updates.len() >= limits::REPORT_UPDATES_MAX as usize {
        let max = limits::REPORT_UPDATES_MAX;
        let allowed = format!("cannot be added: a report has at most {max} updates");
        return Err(StoreError::Refused(Violation::without_value("text", allowed)));
    }
    let id = next_id(&seen, id);
    if settings.components.is_empty() {
        settings.components = impacts_at(&seen, settings.at);
    }
    insert_update(db, (report, id), (&settings, notify), change.at).await?;
    impacts::replace(db, (workspace, seen.page), id, &settings.components).await?;
    idempotency::record(db, workspace, call.as_ref(), (&id.to_string(), change.at)).await?;
    let report = finish(db, &seen, change, ("report.add_update", &id.to_string())).await?;
    announce::announce(session, &report, id, change).await?;
    Ok(Created::Now(report))
}

/// Returns an identifier after those of all updates, so that of two updates with the same time the
/// later written one counts.
fn next_id(report: &Report, id: UpdateId) -> UpdateId {
    let last = report.updates.iter().map(|update| update.id).max();
    last.filter(|last| *last >= id).map_or(id, |last| UpdateId::from_bits(last.bits() + 1))
}

/// Returns the impacts that a report had at a time, or its first ones if the time is earlier.
fn impacts_at(report: &Report, at: Timestamp) -> Vec<rules::report::ComponentImpact> {
    let until = report.updates.iter().find(|update| update.at <= at);
    let latest: Option<&ReportUpdate> = until.or(report.updates.last());
    latest.map(|update| update.components.clone()).unwrap_or_default()
}

fn not_found(id: UpdateId) -> StoreError {
    StoreError::not_found("update of a report", &id)
}
