//! Actions of people on an incident: acknowledge, comment, and resolve. Resolving is only requested
//! here. The judge owns the incident and closes it, so that its state always matches the database.

use rules::{IncidentId, Violation, WorkspaceId, limits};

/// Selects the name of the key or the user with the ID in a parameter. NULL for other actors.
macro_rules! actor_name {
    ($id:literal) => {
        concat!(
            "COALESCE((SELECT name FROM keys WHERE id = ",
            $id,
            "), (SELECT name FROM users WHERE id = ",
            $id,
            "))"
        )
    };
}

use super::{Incident, Incidents, TimelineEntry, load, timeline};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::{AuditContext, Created, Idempotency, StoreError, idempotency};

/// Comment to write.
#[derive(Clone, Debug)]
pub struct NewComment {
    pub workspace: WorkspaceId,
    pub incident: IncidentId,
    /// Text from the user.
    pub text: String,
    /// Key that identifies retries of the request.
    pub idempotency: Option<Idempotency>,
}

impl Incidents<'_> {
    /// Acknowledges an incident. Has no effect on an acknowledged or closed one.
    pub async fn acknowledge(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
        change: AuditContext,
    ) -> Result<Incident, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    let done = query(concat!(
                        "UPDATE incidents SET acknowledged_at = $1, acknowledged_by = $2, \
                             acknowledged_name = ",
                        actor_name!("$2"),
                        " WHERE workspace_id = $3 AND id = $4 \
                             AND acknowledged_at IS NULL AND closed_at IS NULL"
                    ))
                    .bind(change.at.as_millis())
                    .bind(change.actor.to_string())
                    .bind(workspace.to_string())
                    .bind(id.to_string())
                    .execute(db)
                    .await?;
                    if done > 0 {
                        add_entry(db, id, change, ("acknowledged", "")).await?;
                        record_change(db, workspace, id, change, "incident.acknowledge").await?;
                    }
                    load(db, workspace, id).await
                })
            })
            .await
    }

    /// Adds a comment. An incident has a limited number of comments. Closed incidents accept
    /// comments too.
    pub async fn comment(
        &self,
        new: NewComment,
        change: AuditContext,
    ) -> Result<Created<TimelineEntry>, StoreError> {
        self.store
            .write_in(new.workspace, move |session| {
                Box::pin(async move {
                    let (db, call) = (&mut session.db, new.idempotency.as_ref());
                    let (workspace, id) = (new.workspace, new.incident);
                    if let Some(number) = idempotency::created_before(db, workspace, call).await? {
                        let number = number.parse().unwrap_or_default();
                        let entry = timeline::comment(db, number).await;
                        return entry.map(Created::Before).map_err(idempotency::gone);
                    }
                    load(db, workspace, id).await?;
                    check_comment_limit(db, id).await?;
                    let number = add_entry(db, id, change, ("commented", &new.text)).await?;
                    let made = (number.to_string(), change.at);
                    idempotency::record(db, workspace, call, (&made.0, made.1)).await?;
                    record_change(db, workspace, id, change, "incident.comment").await?;
                    timeline::comment(db, number).await.map(Created::Now)
                })
            })
            .await
    }

    /// Records who asks to resolve an incident. If several people ask before it closes, the last
    /// one counts. Has no effect on a closed incident.
    pub async fn request_resolution(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
        change: AuditContext,
    ) -> Result<Incident, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    query(concat!(
                        "UPDATE incidents SET resolving_by = $1, resolving_name = ",
                        actor_name!("$1"),
                        " WHERE workspace_id = $2 AND id = $3 AND closed_at IS NULL"
                    ))
                    .bind(change.actor.to_string())
                    .bind(workspace.to_string())
                    .bind(id.to_string())
                    .execute(&mut session.db)
                    .await?;
                    load(&mut session.db, workspace, id).await
                })
            })
            .await
    }
}

async fn check_comment_limit(db: &mut Connection, id: IncidentId) -> Result<(), StoreError> {
    let max = limits::INCIDENT_COMMENTS_MAX;
    let written: Option<i64> =
        query("SELECT COUNT(*) FROM incident_entries WHERE incident = $1 AND kind = 'commented'")
            .bind(id.to_string())
            .scalar(db)
            .await?;
    if written.unwrap_or_default() < i64::from(max) {
        return Ok(());
    }
    let allowed = format!("cannot be added: an incident has at most {max} comments");
    Err(StoreError::Refused(Violation::without_value("text", allowed)))
}

/// Adds an entry to the timeline and returns its row ID.
async fn add_entry(
    db: &mut Connection,
    id: IncidentId,
    change: AuditContext,
    (kind, text): (&'static str, &str),
) -> Result<i64, StoreError> {
    let row = query(concat!(
        "INSERT INTO incident_entries (incident, at, kind, actor, actor_name, text) \
             VALUES ($1, $2, $3, $4, ",
        actor_name!("$4"),
        ", $5) RETURNING number"
    ))
    .bind(id.to_string())
    .bind(change.at.as_millis())
    .bind(kind)
    .bind(change.actor.to_string())
    .bind(text)
    .fetch_one(db)
    .await?;
    Ok(row.try_get("number")?)
}

async fn record_change(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: IncidentId,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let note = NewAuditEntry { workspace, change, action, resource_id: id.to_string(), detail: "" };
    audit::record(db, note).await
}
