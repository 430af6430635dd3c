//! Changes monitors. Repeated creates have no effect, and an edit must be based on the latest
//! version. A deleted monitor and its secrets disappear at once, while its history stays.

use domain::judge::CloseReason;
use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, MonitorKind, WorkspaceId};

use super::columns::{self, check_context, regions_text, select, tag_keys, tags_text};
use super::{Monitors, exists};
use crate::audit::{self, NewAuditEntry};
use crate::channels::{self, DeletedMonitor};
use crate::db::{Connection, query};
use crate::outbox::Ending;
use crate::plans::{self, LimitedKind};
use crate::writer::Session;
use crate::{
    AuditContext, Created, Idempotency, StoreError, UpdateContext, components, heartbeats,
    idempotency, judge_states, maintenances,
};

/// Monitor to create.
#[derive(Clone, Debug)]
pub struct NewMonitor {
    pub id: MonitorId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: MonitorSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

impl Monitors<'_> {
    /// Creates a monitor with revision 1.
    pub async fn create(
        &self,
        new: NewMonitor,
        change: AuditContext,
    ) -> Result<Created<Monitor>, StoreError> {
        let plans = self.store.plans();
        self.store
            .write_in(new.workspace, move |session| {
                Box::pin(async move {
                    if let Some(monitor) = created_before(session, &new).await? {
                        return Ok(Created::Before(monitor));
                    }
                    let (db, period) = (&mut session.db, new.settings.periodicity);
                    plans::check_limit(db, &plans, new.workspace, LimitedKind::Monitors).await?;
                    if new.settings.check.is_probed() {
                        plans::check_period(db, &plans, new.workspace, period).await?;
                    }
                    let monitor = Monitor {
                        id: new.id,
                        workspace: new.workspace,
                        revision: 1,
                        settings: new.settings,
                        created_at: change.at,
                        updated_at: change.at,
                    };
                    insert(session, &monitor).await?;
                    if monitor.settings.check.kind() == MonitorKind::Heartbeat {
                        heartbeats::insert(session, monitor.id, change.at).await?;
                    }
                    let (db, call) = (&mut session.db, new.idempotency.as_ref());
                    let id = monitor.id.to_string();
                    idempotency::record(db, new.workspace, call, (&id, change.at)).await?;
                    record_change(session, &monitor, change, "monitor.create").await?;
                    Ok(Created::Now(monitor))
                })
            })
            .await
    }

    /// Replaces the settings of a monitor that was read as `seen`. Fails with a conflict if it was
    /// changed since. The check revision grows unless only `name`, `description`, `public` or `tags`
    /// change, because results of earlier settings no longer count. A pause also closes the open incident,
    /// so that the incident does not stay open if the server stops.
    pub async fn update(
        &self,
        seen: Monitor,
        settings: MonitorSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<Monitor, StoreError> {
        let UpdateContext { change, changes } = change.into();
        let plans = self.store.plans();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    // Other edits stay possible if the period was valid before the plan changed.
                    if seen.settings.periodicity != settings.periodicity {
                        let (db, period) = (&mut session.db, settings.periodicity);
                        plans::check_period(db, &plans, seen.workspace, period).await?;
                    }
                    let revised = is_revised(&seen.settings, &settings);
                    let paused = seen.settings.active && !settings.active;
                    let resumes = !seen.settings.active && settings.active;
                    let monitor = Monitor {
                        revision: seen.revision + u32::from(revised),
                        settings,
                        updated_at: change.after(seen.updated_at),
                        ..seen
                    };
                    replace(session, &monitor, seen.updated_at).await?;
                    if paused {
                        pause(session, &monitor).await?;
                    } else if resumes {
                        heartbeats::resume(session, monitor.id, change.at).await?;
                    } else if revised {
                        heartbeats::restart(session, monitor.id, change.at).await?;
                    }
                    record_change(session, &monitor, change, "monitor.update").await?;
                    audit::attach_changes(
                        session,
                        (monitor.workspace, &monitor.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(monitor)
                })
            })
            .await
    }

    /// Deletes a monitor. It disappears from every list at once, its settings are wiped, its open
    /// incident is closed, and it is removed from its channels. Its components stay without it.
    /// Results and incidents stay for the pages that showed it, until they expire.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: MonitorId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let number: i64 = query(
                        "SELECT number FROM monitors \
                         WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL",
                    )
                    .bind(workspace.to_string())
                    .bind(id.to_string())
                    .scalar(&mut session.db)
                    .await?
                    .ok_or_else(|| StoreError::not_found("monitor", &id))?;
                    // Channels that were alerted about the monitor are notified before it is
                    // removed from them.
                    let (at, how) = (change.at, CloseReason::Deleted);
                    judge_states::end(session, Ending { monitor: number, at, how }).await?;
                    let leaving = DeletedMonitor { workspace, monitor: id, number };
                    maintenances::unlink_monitor(&mut session.db, &leaving, change).await?;
                    channels::unlink_monitor(&mut session.db, leaving, change).await?;
                    let shown = (workspace, number);
                    components::mark_monitor_deleted(&mut session.db, shown, change).await?;
                    heartbeats::delete(&mut session.db, number).await?;
                    wipe(&mut session.db, number, change).await?;
                    session.row_ids.remove_monitor(id);
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action: "monitor.delete",
                        resource_id: id.to_string(),
                        detail: "",
                    };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }
}

/// Returns whether results of the earlier settings no longer count.
fn is_revised(before: &MonitorSettings, after: &MonitorSettings) -> bool {
    let same = MonitorSettings {
        name: before.name.clone(),
        description: before.description.clone(),
        public: before.public,
        tags: before.tags.clone(),
        ..after.clone()
    };
    same != *before
}

/// Returns the monitor that an earlier request created.
async fn created_before(
    session: &mut Session,
    new: &NewMonitor,
) -> Result<Option<Monitor>, StoreError> {
    let idempotency = new.idempotency.as_ref();
    let before = idempotency::created_before(&mut session.db, new.workspace, idempotency).await?;
    let Some(id) = before else { return Ok(None) };
    let row = query(select!("WHERE m.workspace_id = $1 AND m.id = $2 AND m.deleted_at IS NULL"))
        .bind(new.workspace.to_string())
        .bind(&id)
        .fetch_optional(&mut session.db)
        .await?
        // It was created and deleted since. The caller does not want a new one.
        .ok_or(StoreError::Gone { what: "monitor", id })?;
    columns::read(&session.vault, &row).map(Some)
}

async fn insert(session: &mut Session, monitor: &Monitor) -> Result<(), StoreError> {
    let settings = &monitor.settings;
    let id = monitor.id.to_string();
    query(
        "INSERT INTO monitors (id, workspace_id, revision, kind, name, periodicity, timeout_ms, \
         degraded_at_ms, retry, active, public, description, regions, check_sealed, created_at, \
         updated_at, tags, tag_keys) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
    )
    .bind(&id)
    .bind(monitor.workspace.to_string())
    .bind(i64::from(monitor.revision))
    .bind(settings.check.kind().as_str())
    .bind(&settings.name)
    .bind(settings.periodicity.as_str())
    .bind(i64::from(settings.timeout_ms))
    .bind(settings.degraded_at_ms.map(i64::from))
    .bind(i64::from(settings.retry))
    .bind(settings.active)
    .bind(settings.public)
    .bind(&settings.description)
    .bind(regions_text(&settings.regions))
    .bind(session.vault.seal(check_context(&id), &settings.check)?)
    .bind(monitor.created_at.as_millis())
    .bind(monitor.updated_at.as_millis())
    .bind(tags_text(&settings.tags))
    .bind(tag_keys(&settings.tags))
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "monitor", name: id };
        StoreError::from_insert(error, taken, Some(monitor.workspace))
    })?;
    Ok(())
}

async fn replace(
    session: &mut Session,
    monitor: &Monitor,
    seen_at: rules::Timestamp,
) -> Result<(), StoreError> {
    let settings = &monitor.settings;
    let id = monitor.id.to_string();
    let replaced = query(
        "UPDATE monitors SET revision = $1, name = $2, periodicity = $3, timeout_ms = $4, \
         degraded_at_ms = $5, retry = $6, active = $7, public = $8, description = $9, \
         regions = $10, check_sealed = $11, updated_at = $12, kind = $13, tags = $14, \
         tag_keys = $15 \
         WHERE workspace_id = $16 AND id = $17 AND updated_at = $18 AND deleted_at IS NULL",
    )
    .bind(i64::from(monitor.revision))
    .bind(&settings.name)
    .bind(settings.periodicity.as_str())
    .bind(i64::from(settings.timeout_ms))
    .bind(settings.degraded_at_ms.map(i64::from))
    .bind(i64::from(settings.retry))
    .bind(settings.active)
    .bind(settings.public)
    .bind(&settings.description)
    .bind(regions_text(&settings.regions))
    .bind(session.vault.seal(check_context(&id), &settings.check)?)
    .bind(monitor.updated_at.as_millis())
    .bind(settings.check.kind().as_str())
    .bind(tags_text(&settings.tags))
    .bind(tag_keys(&settings.tags))
    .bind(monitor.workspace.to_string())
    .bind(&id)
    .bind(seen_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if replaced == 1 {
        return Ok(());
    }
    Err(if exists(&mut session.db, monitor.workspace, monitor.id).await? {
        StoreError::Conflict { what: "monitor", id }
    } else {
        StoreError::not_found("monitor", &id)
    })
}

async fn pause(session: &mut Session, monitor: &Monitor) -> Result<(), StoreError> {
    let Some(number) = session.row_ids.monitor(&mut session.db, monitor.id).await? else {
        return Ok(());
    };
    let (at, how) = (monitor.updated_at, CloseReason::Paused);
    judge_states::end(session, Ending { monitor: number, at, how }).await
}

async fn wipe(db: &mut Connection, number: i64, change: AuditContext) -> Result<(), StoreError> {
    query(
        "UPDATE monitors SET deleted_at = $1, active = $2, description = NULL, tags = '', \
         tag_keys = '', regions = '', check_sealed = NULL WHERE number = $3",
    )
    .bind(change.at.as_millis())
    .bind(false)
    .bind(number)
    .execute(db)
    .await?;
    Ok(())
}

async fn record_change(
    session: &mut Session,
    monitor: &Monitor,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let note = NewAuditEntry {
        workspace: monitor.workspace,
        change,
        action,
        resource_id: monitor.id.to_string(),
        detail: &format!("revision {}", monitor.revision),
    };
    audit::record(&mut session.db, note).await
}
