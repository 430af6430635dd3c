//! Changes channels. Repeated creates have no effect, and an edit must be based on the latest
//! version. A deleted channel disappears with its secrets. Its monitors must belong to its
//! workspace. A deleted monitor is removed from its channels in the same transaction.

use std::collections::BTreeSet;

use rules::notification::{Channel, ChannelSettings, MONITORS, MONITORS_ALLOWED};
use rules::{ChannelId, MonitorId, Timestamp, Violation, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::{Channels, load, preferences_json, provider_context};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Query, query};
use crate::plans::{self, LimitedKind};
use crate::writer::Session;
use crate::{AuditContext, Created, Idempotency, StoreError, UpdateContext, idempotency, outbox};

/// Number of monitors per statement.
const MONITORS_AT_ONCE: usize = 500;

/// Channel to create.
#[derive(Clone, Debug)]
pub struct NewChannel {
    pub id: ChannelId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: ChannelSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

/// Monitor that is being deleted.
pub(crate) struct DeletedMonitor {
    pub(crate) workspace: WorkspaceId,
    pub(crate) monitor: MonitorId,
    pub(crate) number: i64,
}

impl Channels<'_> {
    /// Creates a channel. Rejects monitors that the workspace does not have, naming the field.
    pub async fn create(
        &self,
        new: NewChannel,
        change: AuditContext,
    ) -> Result<Created<Channel>, StoreError> {
        let plans = self.store.plans();
        self.store
            .write_in(new.workspace, move |session| {
                Box::pin(async move {
                    let (workspace, call) = (new.workspace, new.idempotency.as_ref());
                    let db = &mut session.db;
                    if let Some(id) = idempotency::created_before(db, workspace, call).await? {
                        let channel = load(db, &session.vault, workspace, &id).await;
                        return channel.map(Created::Before).map_err(idempotency::gone);
                    }
                    plans::check_limit(db, &plans, workspace, LimitedKind::Channels).await?;
                    let channel = Channel {
                        id: new.id,
                        workspace,
                        settings: new.settings,
                        created_at: change.at,
                        updated_at: change.at,
                    };
                    insert(session, &channel).await?;
                    link(&mut session.db, &channel).await?;
                    let id = channel.id.to_string();
                    idempotency::record(&mut session.db, workspace, call, (&id, change.at)).await?;
                    record_change(session, &channel, change, "channel.create").await?;
                    Ok(Created::Now(channel))
                })
            })
            .await
    }

    /// Replaces the settings of a channel that was read as `seen`. Fails with a conflict if it was
    /// changed since. The removal of a deleted monitor is a change too.
    pub async fn update(
        &self,
        seen: Channel,
        settings: ChannelSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<Channel, StoreError> {
        let UpdateContext { change, changes } = change.into();
        self.store
            .write_in(seen.workspace, move |session| {
                Box::pin(async move {
                    let relinked = seen.settings.monitor_ids != settings.monitor_ids;
                    let seen_at = seen.updated_at;
                    let channel = Channel { settings, updated_at: change.after(seen_at), ..seen };
                    replace(session, &channel, seen_at).await?;
                    if relinked {
                        query("DELETE FROM channel_monitors WHERE channel = $1")
                            .bind(channel.id.to_string())
                            .execute(&mut session.db)
                            .await?;
                        link(&mut session.db, &channel).await?;
                    }
                    outbox::channel_changed(session, channel.id, change.at).await?;
                    record_change(session, &channel, change, "channel.update").await?;
                    audit::attach_changes(
                        session,
                        (channel.workspace, &channel.id.to_string()),
                        &changes,
                    )
                    .await?;
                    Ok(channel)
                })
            })
            .await
    }

    /// Deletes a channel with its secrets.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: ChannelId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let of_channel = |statement| {
                        query(statement).bind(workspace.to_string()).bind(id.to_string())
                    };
                    of_channel(
                        "DELETE FROM channel_monitors WHERE channel IN \
                         (SELECT id FROM channels WHERE workspace_id = $1 AND id = $2)",
                    )
                    .execute(&mut session.db)
                    .await?;
                    let deleted =
                        of_channel("DELETE FROM channels WHERE workspace_id = $1 AND id = $2")
                            .execute(&mut session.db)
                            .await?;
                    if deleted == 0 {
                        return Err(StoreError::not_found("channel", &id));
                    }
                    outbox::cancel_for(&mut session.db, id, change.at).await?;
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action: "channel.delete",
                        resource_id: id.to_string(),
                        detail: "",
                    };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }
}

/// Removes a monitor that is being deleted from its channels. This counts as a change of the
/// channels.
pub(crate) async fn unlink_monitor(
    db: &mut Connection,
    deleted: DeletedMonitor,
    change: AuditContext,
) -> Result<(), StoreError> {
    let left = query("SELECT channel FROM channel_monitors WHERE monitor = $1 ORDER BY channel")
        .bind(deleted.number)
        .fetch_all(&mut *db)
        .await?;
    if left.is_empty() {
        return Ok(());
    }
    query(
        "UPDATE channels SET updated_at = CASE WHEN updated_at < $1 THEN $1 \
         ELSE updated_at + 1 END WHERE workspace_id = $2 \
         AND id IN (SELECT channel FROM channel_monitors WHERE monitor = $3)",
    )
    .bind(change.at.as_millis())
    .bind(deleted.workspace.to_string())
    .bind(deleted.number)
    .execute(&mut *db)
    .await?;
    query("DELETE FROM channel_monitors WHERE monitor = $1")
        .bind(deleted.number)
        .execute(&mut *db)
        .await?;
    let detail = format!("without {}, which was deleted", deleted.monitor);
    for row in &left {
        let resource_id = row.try_get("channel")?;
        let (workspace, action) = (deleted.workspace, "channel.update");
        audit::record(
            db,
            NewAuditEntry { workspace, change, action, resource_id, detail: &detail },
        )
        .await?;
    }
    Ok(())
}

async fn insert(session: &mut Session, channel: &Channel) -> Result<(), StoreError> {
    let settings = &channel.settings;
    let id = channel.id.to_string();
    query(
        "INSERT INTO channels (id, workspace_id, kind, name, provider_sealed, created_at, \
         updated_at, preferences) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(&id)
    .bind(channel.workspace.to_string())
    .bind(settings.provider.kind().as_str())
    .bind(&settings.name)
    .bind(session.vault.seal(provider_context(&id), &settings.provider)?)
    .bind(channel.created_at.as_millis())
    .bind(channel.updated_at.as_millis())
    .bind(preferences_json(&settings.preferences))
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "channel", name: id };
        StoreError::from_insert(error, taken, Some(channel.workspace))
    })?;
    Ok(())
}

async fn replace(
    session: &mut Session,
    channel: &Channel,
    seen_at: Timestamp,
) -> Result<(), StoreError> {
    let settings = &channel.settings;
    let id = channel.id.to_string();
    let replaced = query(
        "UPDATE channels SET kind = $1, name = $2, provider_sealed = $3, updated_at = $4, \
         preferences = $5 WHERE workspace_id = $6 AND id = $7 AND updated_at = $8",
    )
    .bind(settings.provider.kind().as_str())
    .bind(&settings.name)
    .bind(session.vault.seal(provider_context(&id), &settings.provider)?)
    .bind(channel.updated_at.as_millis())
    .bind(preferences_json(&settings.preferences))
    .bind(channel.workspace.to_string())
    .bind(&id)
    .bind(seen_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if replaced == 1 {
        return Ok(());
    }
    // The channel was changed since, or does not exist.
    load(&mut session.db, &session.vault, channel.workspace, &id).await?;
    Err(StoreError::Conflict { what: "channel", id })
}

/// Links the channel to its monitors, which must exist.
async fn link(db: &mut Connection, channel: &Channel) -> Result<(), StoreError> {
    let workspace = channel.workspace.to_string();
    for monitors in channel.settings.monitor_ids.chunks(MONITORS_AT_ONCE) {
        let linking = "INSERT INTO channel_monitors (channel, monitor) SELECT $1, number \
                       FROM monitors WHERE workspace_id = $2 AND deleted_at IS NULL AND id IN ";
        let first = [channel.id.to_string(), workspace.clone()];
        let linked = monitor_list_query(linking, first, monitors).execute(&mut *db).await?;
        if linked != monitors.len() as u64 {
            return Err(unknown_monitors_error(db, &workspace, monitors).await?);
        }
    }
    Ok(())
}

/// Returns the error for the monitors that the workspace does not have.
async fn unknown_monitors_error(
    db: &mut Connection,
    workspace: &str,
    monitors: &[MonitorId],
) -> Result<StoreError, StoreError> {
    let known = "SELECT id FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL AND id IN ";
    let rows = monitor_list_query(known, [workspace.to_owned()], monitors).fetch_all(db).await?;
    let known =
        rows.iter().map(|row| row.try_get("id")).collect::<Result<BTreeSet<String>, _>>()?;
    let asked = monitors.iter().map(ToString::to_string);
    let unknown: Vec<_> = asked.filter(|id| !known.contains(id)).collect();
    Ok(StoreError::Refused(Violation::new(MONITORS, unknown.join(", "), MONITORS_ALLOWED)))
}

/// Builds a statement that ends with a list of monitors, after its `first` values.
fn monitor_list_query<const N: usize>(
    statement: &str,
    first: [String; N],
    monitors: &[MonitorId],
) -> Query {
    let placeholders: Vec<_> =
        (N + 1..=N + monitors.len()).map(|index| format!("${index}")).collect();
    let statement = format!("{statement}({})", placeholders.join(", "));
    let values = first.into_iter().chain(monitors.iter().map(ToString::to_string));
    values.fold(query(AssertSqlSafe(statement)), Query::bind)
}

async fn record_change(
    session: &mut Session,
    channel: &Channel,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let note = NewAuditEntry {
        workspace: channel.workspace,
        change,
        action,
        resource_id: channel.id.to_string(),
        detail: channel.settings.provider.kind().as_str(),
    };
    audit::record(&mut session.db, note).await
}
