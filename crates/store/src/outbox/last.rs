//! The last delivery of each of many channels, without its event and attempts.

use rules::{ChannelId, DeliveryId, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::{DeliveryState, Outbox, rows};
use crate::StoreError;
use crate::db::{Query, Row, query};
use crate::row::{id, instant};

/// The newest delivery of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDelivery {
    pub channel: ChannelId,
    pub id: DeliveryId,
    pub state: DeliveryState,
    pub created_at: Timestamp,
}

impl Outbox<'_> {
    /// Returns the newest delivery of each of these channels, in any order. Omits channels without one,
    /// and those of other workspaces.
    pub async fn last_of_channels(
        &self,
        workspace: WorkspaceId,
        channels: &[ChannelId],
    ) -> Result<Vec<LastDelivery>, StoreError> {
        if channels.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<String> =
            (0..channels.len()).map(|index| format!("${}", index + 2)).collect();
        let statement = format!(
            "SELECT d.number, d.recipient_id, d.state, d.created_at FROM channels c \
             JOIN deliveries d ON d.number = (SELECT MAX(l.number) FROM deliveries l \
             WHERE l.recipient_id = c.id) WHERE c.workspace_id = $1 AND c.id IN ({})",
            places.join(", ")
        );
        let select = query(AssertSqlSafe(statement)).bind(workspace.to_string());
        let select = channels.iter().fold(select, |select: Query, it| select.bind(it.to_string()));
        let rows = select.fetch_all(&mut self.store.read().await?).await?;
        self.store.quarantine().readable_rows("deliveries", &rows, read)
    }
}

fn read(row: &Row) -> Result<LastDelivery, StoreError> {
    Ok(LastDelivery {
        channel: id(row, "recipient_id", ChannelId::parse)?,
        id: rows::delivery_id(row)?,
        state: id(row, "state", DeliveryState::parse)?,
        created_at: instant(row, "created_at")?,
    })
}
