//! Changes maintenance. Repeated creates have no effect, and an edit must be based on the latest
//! version. Monitors and components that it names must exist, which is checked in the same
//! transaction. Past windows stay after an early end or a deletion, because uptime was computed
//! with them.

use domain::history::Span;
use domain::maintenance::{UpcomingWindows, planning_horizon, upcoming_windows};
use domain::notify::{MaintenanceEvent, MaintenancePhase, window_to_announce};
use rules::maintenance::{A_WINDOW_AHEAD, Maintenance, MaintenanceSettings, Schedule};
use rules::{MaintenanceId, Timestamp, Violation, WorkspaceId};

use super::links::{link, unlink};
use super::{Maintenances, PlannedMaintenance, coverage, load, windows};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::outbox;
use crate::writer::Session;
use crate::{AuditContext, Created, Idempotency, StoreError, UpdateContext, idempotency};

/// Maintenance to create.
#[derive(Clone, Debug)]
pub struct NewMaintenance {
    pub id: MaintenanceId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: MaintenanceSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

impl Maintenances<'_> {
    /// Creates a maintenance. Its monitors and components must exist, and it must have a current or
    /// future window. Windows start no earlier than now.
    pub async fn create(
        &self,
        new: NewMaintenance,
        change: AuditContext,
    ) -> Result<Created<PlannedMaintenance>, StoreError> {
        let ahead = upcoming_windows(&new.settings.schedule, planning_horizon(change.at));
        self.store
            .write_in(new.workspace, move |session| Box::pin(create(session, new, ahead, change)))
            .await
    }

    /// Replaces the settings of a maintenance that was read as `seen`. Fails with a conflict if it
    /// was changed since. A new schedule starts now.
    pub async fn update(
        &self,
        seen: Maintenance,
        settings: MaintenanceSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<PlannedMaintenance, StoreError> {
        let UpdateContext { change, changes } = change.into();
        let is_moved = seen.settings.schedule != settings.schedule;
        let ahead =
            is_moved.then(|| upcoming_windows(&settings.schedule, planning_horizon(change.at)));
        let is_relinked = seen.settings.monitor_ids != settings.monitor_ids
            || seen.settings.component_ids != settings.component_ids;
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let seen_at = seen.updated_at;
                    let maintenance =
                        Maintenance { settings, updated_at: change.after(seen_at), ..seen };
                    replace(&mut session.db, &maintenance, seen_at).await?;
                    if let Some(ahead) = ahead {
                        write(&mut session.db, &maintenance, &ahead, change.at).await?;
                    }
                    if is_relinked {
                        unlink(&mut session.db, maintenance.id).await?;
                        link(&mut session.db, &maintenance).await?;
                    }
                    let planned =
                        finish(session, &maintenance, change, "maintenance.update").await?;
                    audit::attach_changes(
                        session,
                        (maintenance.workspace, &maintenance.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(planned)
                })
            })
            .await
    }

    /// Ends the current window. Later windows stay. Has no effect if no window is active.
    pub async fn end(
        &self,
        workspace: WorkspaceId,
        id: MaintenanceId,
        change: AuditContext,
    ) -> Result<PlannedMaintenance, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let text = id.to_string();
                    let seen = load(&mut session.db, workspace, &text, change.at).await?;
                    if !windows::end_current(&mut session.db, &text, change.at).await? {
                        return Ok(seen);
                    }
                    announce_end(session, &seen, change.at).await?;
                    let seen = seen.maintenance;
                    let updated_at = change.after(seen.updated_at);
                    query("UPDATE maintenances SET updated_at = $1 WHERE id = $2")
                        .bind(updated_at.as_millis())
                        .bind(&text)
                        .execute(&mut session.db)
                        .await?;
                    finish(session, &seen, change, "maintenance.end").await
                })
            })
            .await
    }

    /// Deletes a maintenance: ends the current window and removes future ones. Past windows stay
    /// excluded from uptime.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: MaintenanceId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let text = id.to_string();
                    let seen = load(&mut session.db, workspace, &text, change.at).await?;
                    announce_end(session, &seen, change.at).await?;
                    let deleted = query(
                        "UPDATE maintenances SET deleted_at = $1, windows_until = NULL \
                         WHERE workspace_id = $2 AND id = $3 AND deleted_at IS NULL",
                    )
                    .bind(change.at.as_millis())
                    .bind(workspace.to_string())
                    .bind(&text)
                    .execute(&mut session.db)
                    .await?;
                    if deleted == 0 {
                        return Err(StoreError::not_found("maintenance", &id));
                    }
                    windows::rewrite(&mut session.db, &text, &UpcomingWindows::NONE, change.at)
                        .await?;
                    unlink(&mut session.db, id).await?;
                    coverage::end(session, &text, change.at).await?;
                    record_change(&mut session.db, (workspace, id), change, "maintenance.delete")
                        .await
                })
            })
            .await
    }
}

async fn create(
    session: &mut Session,
    new: NewMaintenance,
    ahead: UpcomingWindows,
    change: AuditContext,
) -> Result<Created<PlannedMaintenance>, StoreError> {
    let NewMaintenance { id, workspace, settings, idempotency: call } = new;
    let db = &mut session.db;
    if let Some(id) = idempotency::created_before(db, workspace, call.as_ref()).await? {
        let before = load(db, workspace, &id, change.at).await;
        return before.map(Created::Before).map_err(idempotency::gone);
    }
    let (created_at, updated_at) = (change.at, change.at);
    let maintenance = Maintenance { id, workspace, settings, created_at, updated_at };
    insert(db, &maintenance).await?;
    write(db, &maintenance, &ahead, change.at).await?;
    link(db, &maintenance).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(db, workspace, call.as_ref(), created).await?;
    finish(session, &maintenance, change, "maintenance.create").await.map(Created::Now)
}

/// Updates coverage, records the change, and returns the maintenance with its status.
async fn finish(
    session: &mut Session,
    maintenance: &Maintenance,
    change: AuditContext,
    action: &'static str,
) -> Result<PlannedMaintenance, StoreError> {
    let (workspace, id) = (maintenance.workspace, maintenance.id);
    coverage::update_coverage(session, &id.to_string(), change.at).await?;
    record_change(&mut session.db, (workspace, id), change, action).await?;
    let planned = load(&mut session.db, workspace, &id.to_string(), change.at).await?;
    announce(session, &planned, change.at).await?;
    Ok(planned)
}

/// Announces the next window to subscribers who were not notified of it.
async fn announce(
    session: &mut Session,
    planned: &PlannedMaintenance,
    now: Timestamp,
) -> Result<(), StoreError> {
    let window = window_to_announce(planned.current, planned.next);
    let Some(window) = window else { return Ok(()) };
    outbox::enqueue_maintenance(
        session,
        &maintenance_phase(planned, window, MaintenancePhase::Scheduled),
        now,
    )
    .await
}

/// Announces the end of the current window, before its monitors and components are unlinked.
async fn announce_end(
    session: &mut Session,
    planned: &PlannedMaintenance,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(window) = planned.current else { return Ok(()) };
    let window = Span { to: now, ..window };
    outbox::enqueue_maintenance(
        session,
        &maintenance_phase(planned, window, MaintenancePhase::Completed),
        now,
    )
    .await
}

fn maintenance_phase(
    planned: &PlannedMaintenance,
    window: Span,
    stage: MaintenancePhase,
) -> MaintenanceEvent {
    let Maintenance { id, settings, .. } = &planned.maintenance;
    let (title, description) = (settings.title.clone(), settings.description.clone());
    let Span { from, to: until } = window;
    MaintenanceEvent { maintenance: *id, title, description, from, until, stage }
}

/// Writes the windows of a schedule. Rejects a schedule without a current or future window.
async fn write(
    db: &mut Connection,
    maintenance: &Maintenance,
    ahead: &UpcomingWindows,
    now: Timestamp,
) -> Result<(), StoreError> {
    if ahead.windows.is_empty() {
        let Schedule { starts_at, recurrence, .. } = &maintenance.settings.schedule;
        return Err(StoreError::Refused(match recurrence {
            Some(recurrence) => Violation::new("recurrence", recurrence, A_WINDOW_AHEAD),
            None => Violation::new("starts_at", starts_at, A_WINDOW_AHEAD),
        }));
    }
    let id = maintenance.id.to_string();
    query("UPDATE maintenances SET windows_until = $1 WHERE id = $2")
        .bind(ahead.until.map(Timestamp::as_millis))
        .bind(&id)
        .execute(&mut *db)
        .await?;
    windows::rewrite(db, &id, ahead, now).await
}

async fn insert(db: &mut Connection, maintenance: &Maintenance) -> Result<(), StoreError> {
    let settings = &maintenance.settings;
    let schedule = &settings.schedule;
    query(
        "INSERT INTO maintenances (id, workspace_id, title, description, starts_at, duration, \
         time_zone, recurrence, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(maintenance.id.to_string())
    .bind(maintenance.workspace.to_string())
    .bind(&settings.title)
    .bind(&settings.description)
    .bind(schedule.starts_at.as_millis())
    .bind(schedule.duration.to_string())
    .bind(schedule.time_zone.to_string())
    .bind(schedule.recurrence.as_ref().map(ToString::to_string))
    .bind(maintenance.created_at.as_millis())
    .bind(maintenance.updated_at.as_millis())
    .execute(db)
    .await?;
    Ok(())
}

async fn replace(
    db: &mut Connection,
    maintenance: &Maintenance,
    seen_at: Timestamp,
) -> Result<(), StoreError> {
    let settings = &maintenance.settings;
    let schedule = &settings.schedule;
    let id = maintenance.id.to_string();
    let replaced = query(
        "UPDATE maintenances SET title = $1, description = $2, starts_at = $3, duration = $4, \
         time_zone = $5, recurrence = $6, updated_at = $7 \
         WHERE workspace_id = $8 AND id = $9 AND updated_at = $10 AND deleted_at IS NULL",
    )
    .bind(&settings.title)
    .bind(&settings.description)
    .bind(schedule.starts_at.as_millis())
    .bind(schedule.duration.to_string())
    .bind(schedule.time_zone.to_string())
    .bind(schedule.recurrence.as_ref().map(ToString::to_string))
    .bind(maintenance.updated_at.as_millis())
    .bind(maintenance.workspace.to_string())
    .bind(&id)
    .bind(seen_at.as_millis())
    .execute(&mut *db)
    .await?;
    if replaced == 1 {
        return Ok(());
    }
    // The maintenance was changed since, or does not exist.
    load(db, maintenance.workspace, &id, maintenance.updated_at).await?;
    Err(StoreError::Conflict { what: "maintenance", id })
}

async fn record_change(
    db: &mut Connection,
    (workspace, id): (WorkspaceId, MaintenanceId),
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let resource_id = id.to_string();
    audit::record(db, NewAuditEntry { workspace, change, action, resource_id, detail: "" }).await
}
