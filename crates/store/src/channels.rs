//! Reads notification channels: one, or a page of them. Recipients and their credentials are
//! encrypted (design §6). `change` modifies channels.

mod change;

use std::collections::BTreeMap;

use rules::notification::{Channel, ChannelSettings, NotificationPreferences, Provider};
use rules::{ChannelId, MonitorId, ProviderType, WorkspaceId};

use crate::db::{Connection, Query, Row, query};
use crate::list::Listed;
use crate::quarantine::Quarantine;
use crate::row::{id, instant, to_count};
use crate::vault::{EncryptionContext, Vault};
use crate::{Page, Store, StoreError};

pub use change::NewChannel;
pub(crate) use change::{DeletedMonitor, unlink_monitor};

/// Handle of the channels.
#[derive(Clone, Copy, Debug)]
pub struct Channels<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the notification channels.
    pub const fn channels(&self) -> Channels<'_> {
        Channels { store: self }
    }
}

/// Selects channels for [`read`]: a row for each channel, and one for each of its monitors. It is
/// one statement, so that both are from one snapshot. The argument is a subquery of identifiers.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT c.id, NULL AS monitor, c.workspace_id, c.name, c.provider_sealed, \
             c.created_at, ",
            "c.updated_at, c.preferences FROM channels c WHERE c.id IN (",
            $which,
            ") UNION ALL SELECT cm.channel, m.id, NULL, NULL, NULL, NULL, NULL, NULL ",
            "FROM channel_monitors cm JOIN monitors m ON m.number = cm.monitor ",
            "WHERE cm.channel IN (",
            $which,
            ")"
        )
    };
}

impl Channels<'_> {
    /// Returns a channel of the workspace.
    pub async fn get(&self, workspace: WorkspaceId, id: ChannelId) -> Result<Channel, StoreError> {
        let mut db = self.store.read().await?;
        load(&mut db, self.store.vault(), workspace, &id.to_string()).await
    }

    /// Returns a channel of any workspace without its monitors, for the delivery workers. `None` if
    /// it was deleted.
    pub async fn get_for_sending(&self, id: ChannelId) -> Result<Option<Channel>, StoreError> {
        let row = query(
            "SELECT c.id, c.workspace_id, c.name, c.provider_sealed, c.created_at, \
             c.updated_at, c.preferences FROM channels c WHERE c.id = $1",
        )
        .bind(id.to_string())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let quarantine = self.store.quarantine();
        let preferences = readable_preferences(quarantine, &row, id)?;
        let channel = read_with(self.store.vault(), &row, (Vec::new(), preferences));
        quarantine.recorded("channels", || id.to_string(), channel).map(Some)
    }

    /// Returns the IDs of the workspace's channels, in any order.
    pub async fn ids(&self, workspace: WorkspaceId) -> Result<Vec<ChannelId>, StoreError> {
        let rows = query("SELECT id FROM channels WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let read = |row| id(row, "id", ChannelId::parse);
        self.store.quarantine().readable_rows("channels", &rows, read)
    }

    /// Returns a part of the workspace's channels, newest first, and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page<ChannelId>,
    ) -> Result<Listed<Channel>, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> = query("SELECT COUNT(*) FROM channels WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .scalar(&mut db)
            .await?;
        let part = query(select!(
            "SELECT id FROM channels WHERE workspace_id = $1 AND id < $2 \
             ORDER BY id DESC LIMIT $3 OFFSET $4"
        ))
        .bind(workspace.to_string())
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset));
        let found = all(&mut db, self.store.vault(), part).await?;
        let (mut rows, mut omitted) = (Vec::with_capacity(found.len()), Vec::new());
        for (id, read) in found {
            match self.store.quarantine().readable("channels", || id.clone(), read)? {
                Some(channel) => rows.push(channel),
                None => omitted.push(id),
            }
        }
        Ok(Listed { rows, omitted, total: to_count(total) })
    }
}

/// Returns a channel of the workspace, as this connection sees it.
async fn load(
    db: &mut Connection,
    vault: &Vault,
    workspace: WorkspaceId,
    id: &str,
) -> Result<Channel, StoreError> {
    let which = query(select!("SELECT id FROM channels WHERE workspace_id = $1 AND id = $2"))
        .bind(workspace.to_string())
        .bind(id);
    let found = all(db, vault, which).await?.pop();
    found.ok_or_else(|| StoreError::not_found("channel", id))?.1
}

/// Identifier of a channel, and the result of reading it.
type ChannelRow = (String, Result<Channel, StoreError>);

/// Returns the channels, newest first.
async fn all(
    db: &mut Connection,
    vault: &Vault,
    which: Query,
) -> Result<Vec<ChannelRow>, StoreError> {
    let rows = which.fetch_all(db).await?;
    let mut monitors: BTreeMap<&str, Vec<MonitorId>> = BTreeMap::new();
    for row in &rows {
        let monitor: Option<&str> = row.try_get("monitor")?;
        if monitor.is_some() {
            monitors.entry(row.try_get("id")?).or_default().push(id(
                row,
                "monitor",
                MonitorId::parse,
            )?);
        }
    }
    let mut channels = Vec::new();
    for row in &rows {
        let monitor: Option<&str> = row.try_get("monitor")?;
        if monitor.is_none() {
            let id: &str = row.try_get("id")?;
            let mut monitor_ids = monitors.remove(id).unwrap_or_default();
            monitor_ids.sort_unstable();
            channels.push((id.to_owned(), read(vault, row, monitor_ids)));
        }
    }
    channels.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
    Ok(channels)
}

fn read(vault: &Vault, row: &Row, monitor_ids: Vec<MonitorId>) -> Result<Channel, StoreError> {
    let preferences = read_preferences(row, id(row, "id", ChannelId::parse)?)?;
    read_with(vault, row, (monitor_ids, preferences))
}

/// Reads the columns of a channel beside its preferences.
fn read_with(
    vault: &Vault,
    row: &Row,
    (monitor_ids, preferences): (Vec<MonitorId>, NotificationPreferences),
) -> Result<Channel, StoreError> {
    let channel_id: ChannelId = id(row, "id", ChannelId::parse)?;
    let settings = ChannelSettings {
        name: row.try_get("name")?,
        monitor_ids,
        provider: vault
            .open(provider_context(&channel_id.to_string()), row.try_get("provider_sealed")?)?,
        preferences,
    };
    Ok(Channel {
        id: channel_id,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

/// Returns the kind of a channel's provider, which is sealed.
pub(crate) fn provider_kind(
    vault: &Vault,
    row: &Row,
    id: ChannelId,
) -> Result<ProviderType, StoreError> {
    let provider: Provider =
        vault.open(provider_context(&id.to_string()), row.try_get("provider_sealed")?)?;
    Ok(provider.kind())
}

/// Reads the preferences of a channel: none if they are unreadable, because an alert too many is
/// better than no alert.
pub(crate) fn readable_preferences(
    quarantine: &Quarantine,
    row: &Row,
    id: ChannelId,
) -> Result<NotificationPreferences, StoreError> {
    let preferences = read_preferences(row, id);
    Ok(quarantine.readable("channels", || id.to_string(), preferences)?.unwrap_or_default())
}

/// Reads the preferences of a channel. Null means no preferences.
fn read_preferences(row: &Row, id: ChannelId) -> Result<NotificationPreferences, StoreError> {
    let json: Option<String> = row.try_get("preferences")?;
    let Some(json) = json else { return Ok(NotificationPreferences::default()) };
    serde_json::from_str(&json).map_err(|error| {
        StoreError::corrupt(format!("preferences of channel `{id}`"), error.to_string())
    })
}

/// Encodes the preferences. Null means no preferences.
fn preferences_json(preferences: &NotificationPreferences) -> Option<String> {
    (!preferences.is_empty())
        .then(|| serde_json::to_string(preferences).expect("preferences serialize to JSON"))
}

/// Returns the location for which the provider of a channel is sealed.
const fn provider_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "channels.provider_sealed", row: id }
}
