//! Updates of a report: added once however often the call is repeated, edited only by who saw the last
//! edit, and deleted, but for the only one.

use rules::report::{Report, ReportUpdate, UpdateSettings};
use rules::{ReportId, Timestamp, UpdateId, Violation, WorkspaceId, limits};

use super::change::{finish, refuse_changed};
use super::{Reports, having, impacts, one, tell};
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{Change, Created, Idempotency, StoreError, idempotency};

/// An update to add, at the time of the change.
#[derive(Clone, Debug)]
pub struct NewUpdate {
    /// Its identifier, unless another update of the report has a later one: then it is the next after.
    pub id: UpdateId,
    /// Whose report it is of.
    pub workspace: WorkspaceId,
    /// Which report.
    pub report: ReportId,
    /// What the user wrote. Where it says nothing of components, it says what the report said at its
    /// time.
    pub settings: UpdateSettings,
    /// Whether subscribers are told.
    pub notify: bool,
    /// What makes a repetition of the call one with it.
    pub idempotency: Option<Idempotency>,
}

impl Reports<'_> {
    /// Adds an update. A report has so many at most.
    pub async fn add(&self, new: NewUpdate, change: Change) -> Result<Created<Report>, StoreError> {
        self.store.write_in(new.workspace, move |session| Box::pin(add(session, new, change))).await
    }

    /// Gives an update of a report that was read as `seen` other settings. Where the report was changed
    /// since, nothing happens and the answer is a conflict.
    pub async fn edit(
        &self,
        seen: Report,
        id: UpdateId,
        settings: UpdateSettings,
        change: Change,
    ) -> Result<Report, StoreError> {
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    refuse_changed(db, &seen).await?;
                    let edited = query(
                        "UPDATE report_updates SET status = $1, text = $2, at = $3, updated_at = $4 \
                         WHERE id = $5 AND report = $6",
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
                    impacts::say(db, (seen.workspace, seen.page), id, &settings.components).await?;
                    finish(db, &seen, change, ("report.edit_update", &id.to_string())).await
                })
            })
            .await
    }

    /// Deletes an update; the only one of its report is refused.
    pub async fn delete_update(
        &self,
        workspace: WorkspaceId,
        id: UpdateId,
        change: Change,
    ) -> Result<Report, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let seen = having(db, workspace, id).await?;
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
    change: Change,
) -> Result<Created<Report>, StoreError> {
    let NewUpdate { id, workspace, report, mut settings, notify, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        let id = UpdateId::parse(&id)
            .map_err(|why| StoreError::corrupt("an update", why.to_string()))?;
        let before = having(db, workspace, id).await;
        return before.map(Created::Before).map_err(idempotency::gone);
    }
    let seen = one(db, workspace, &report.to_string()).await?;
    if seen.updates.len() >= limits::REPORT_UPDATES_MAX as usize {
        let max = limits::REPORT_UPDATES_MAX;
        let allowed = format!("cannot be added: a report has at most {max} updates");
        return Err(StoreError::Refused(Violation::unseen("text", allowed)));
    }
    let id = after_all(&seen, id);
    if settings.components.is_empty() {
        settings.components = said_at(&seen, settings.at);
    }
    insert(db, (report, id), (&settings, notify), change.at).await?;
    impacts::say(db, (workspace, seen.page), id, &settings.components).await?;
    idempotency::remember(db, workspace, call.as_ref(), (&id.to_string(), change.at)).await?;
    let report = finish(db, &seen, change, ("report.add_update", &id.to_string())).await?;
    tell::tell(session, &report, id, change).await?;
    Ok(Created::Now(report))
}

/// An identifier after all that the report's updates have, so that of two updates of one time the one
/// that was written later counts.
fn after_all(report: &Report, id: UpdateId) -> UpdateId {
    let last = report.updates.iter().map(|update| update.id).max();
    last.filter(|last| *last >= id).map_or(id, |last| UpdateId::from_bits(last.bits() + 1))
}

/// What a report said of components at a time, or first said after it.
fn said_at(report: &Report, at: Timestamp) -> Vec<rules::report::ComponentImpact> {
    let until = report.updates.iter().find(|update| update.at <= at);
    let said: Option<&ReportUpdate> = until.or(report.updates.last());
    said.map(|update| update.components.clone()).unwrap_or_default()
}

/// Writes an update down, without what it says of components.
pub(super) async fn insert(
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

fn not_found(id: UpdateId) -> StoreError {
    StoreError::not_found("update of a report", &id)
}
