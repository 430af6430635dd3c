//! Rows of the outbox: seals and opens events, and writes and reads deliveries.

use std::collections::HashMap;

use domain::notify::{
    DueTime, Event, HoldReason, NewDelivery, PageEvent, Payload, delivery_key, event_key,
    page_event_key,
};
use rules::{ChannelId, DeliveryId, ProviderType, Timestamp, WorkspaceId};
use serde::de::DeserializeOwned;

use super::DueDelivery;
use crate::StoreError;
use crate::db::{Row, query};
use crate::recipient::{OrderingKey, Recipient};
use crate::row::{id, instant, narrow, optional, optional_instant};
use crate::vault::{EncryptionContext, Vault};
use crate::writer::Session;

/// Time of the event and time of its storage, which is later if storing was delayed.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) at: Timestamp,
    pub(super) now: Timestamp,
}

/// Digest key of deliveries whose digest is not fixed yet.
pub(super) const UNFIXED_DIGEST: &str = "";

/// Inserts an event. Writing the same event again returns the existing row.
const INSERT_EVENT: &str = "INSERT INTO events \
    (key, workspace_id, monitor, incident, kind, reminder, began_at, at, sealed) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
    ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING number";

/// Recipient channel of an alert, and its monitor.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) workspace: WorkspaceId,
    pub(super) channel: ChannelId,
    pub(super) kind: ProviderType,
    /// Row ID of the monitor. `None` for tests.
    pub(super) monitor: Option<i64>,
}

/// Target of a page event.
#[derive(Clone, Copy)]
pub(crate) struct DeliveryTarget {
    pub(crate) workspace: WorkspaceId,
    pub(crate) recipient: Recipient,
    /// Kind of the subscriber, or `page`.
    pub(crate) kind: &'static str,
}

/// Row IDs of the events that this piece of work wrote, so that an event with many recipients is
/// written once.
#[derive(Default)]
pub(crate) struct Events(HashMap<String, i64>);

/// Selects deliveries for [`read_due`]. The argument is the `WHERE` clause.
macro_rules! select_due {
    ($which:literal) => {
        concat!(
            "SELECT e.key AS event_key, e.sealed, d.recipient_kind, d.recipient_id, d.thread, ",
            "m.id AS monitor_id, d.number, d.workspace_id, d.key, d.hold_reason, d.digest_key, d.due_at, ",
            "d.first_attempt_at, d.attempts, (SELECT COALESCE(MAX(a.number), 0) ",
            "FROM delivery_attempts a WHERE a.delivery = d.number) AS total_attempts \
             FROM deliveries d ",
            "JOIN events e ON e.number = d.event LEFT JOIN monitors m ON m.number = d.monitor ",
            $which
        )
    };
}
pub(super) use select_due;

impl Events {
    /// Returns the row ID of an event, and inserts a new event.
    async fn row_id(
        &mut self,
        session: &mut Session,
        address: Address,
        event: &Event,
    ) -> Result<i64, StoreError> {
        let name = event_key(event);
        if let Some(number) = self.0.get(&name) {
            return Ok(*number);
        }
        let number = query(INSERT_EVENT)
            .bind(&name)
            .bind(address.workspace.to_string())
            .bind(address.monitor)
            .bind(event.incident.map(|incident| incident.to_string()))
            .bind(event.kind.as_str())
            .bind(i64::from(event.reminder))
            .bind(event.began_at.as_millis())
            .bind(event.at.as_millis())
            .bind(session.vault.seal(event_context(&name), event)?)
            .fetch_one(&mut session.db)
            .await?
            .try_get("number")?;
        self.0.insert(name, number);
        Ok(number)
    }

    /// Returns the row ID of a page event, and inserts a new event. Page events have no monitor, so
    /// queries for a monitor's alerts do not find them.
    async fn page_event_row_id(
        &mut self,
        session: &mut Session,
        workspace: WorkspaceId,
        event: &PageEvent,
    ) -> Result<i64, StoreError> {
        let name = event.name();
        if let Some(number) = self.0.get(&name) {
            return Ok(*number);
        }
        let number = query(INSERT_EVENT)
            .bind(&name)
            .bind(workspace.to_string())
            .bind(None::<i64>)
            .bind(None::<String>)
            .bind(event.word())
            .bind(0_i64)
            .bind(event.began_at().as_millis())
            .bind(event.at.as_millis())
            .bind(session.vault.seal(event_context(&name), event)?)
            .fetch_one(&mut session.db)
            .await?
            .try_get("number")?;
        self.0.insert(name, number);
        Ok(number)
    }
}

/// Enqueues a page event and wakes its delivery worker. Writing it again has no effect.
pub(crate) async fn enqueue_page_event(
    session: &mut Session,
    events: &mut Events,
    target: DeliveryTarget,
    page_event: &PageEvent,
    due_time: DueTime,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = events.page_event_row_id(session, target.workspace, page_event).await?;
    let key = match target.recipient {
        Recipient::Subscriber(subscriber) => page_event_key(subscriber, page_event),
        Recipient::Page(_) | Recipient::Channel(_) => page_event.name(),
    };
    let is_new = query(
        "INSERT INTO deliveries (key, workspace_id, recipient_kind, recipient_id, kind, event, \
         thread, state, hold_reason, digest_key, is_open, created_at, due_at, attempts) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8, $9, $10, $11, $12, 0) \
         ON CONFLICT (key) DO NOTHING",
    )
    .bind(key)
    .bind(target.workspace.to_string())
    .bind(target.recipient.kind())
    .bind(target.recipient.id())
    .bind(target.kind)
    .bind(event)
    .bind(page_event.thread())
    .bind(due_time.hold_reason.map(HoldReason::as_str))
    .bind(digest_key(due_time.hold_reason))
    .bind(false)
    .bind(now.as_millis())
    .bind(due_time.due_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if is_new > 0 {
        session.outbox.wake(target.recipient);
    }
    Ok(())
}

/// Enqueues an alert and wakes its delivery worker. Writing it again has no effect.
pub(super) async fn write(
    session: &mut Session,
    events: &mut Events,
    address: Address,
    written: &NewDelivery,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = events.row_id(session, address, &written.event).await?;
    let is_new = query(
        "INSERT INTO deliveries (key, workspace_id, recipient_kind, recipient_id, kind, monitor, \
         event, state, hold_reason, digest_key, is_open, created_at, due_at, attempts) \
         VALUES ($1, $2, 'channel', $3, $4, $5, $6, 'waiting', $7, $8, $9, $10, $11, 0) \
         ON CONFLICT (key) DO NOTHING",
    )
    .bind(delivery_key(address.channel, &written.event))
    .bind(address.workspace.to_string())
    .bind(address.channel.to_string())
    .bind(address.kind.as_str())
    .bind(address.monitor)
    .bind(event)
    .bind(written.due.hold_reason.map(HoldReason::as_str))
    .bind(digest_key(written.due.hold_reason))
    .bind(written.opens)
    .bind(now.as_millis())
    .bind(written.due.due_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if is_new > 0 {
        session.outbox.wake(address.channel);
    }
    Ok(())
}

/// Reads a row of [`select_due`].
pub(super) fn read_due(vault: &Vault, row: &Row) -> Result<DueDelivery, StoreError> {
    let (key, envelope): (&str, &[u8]) = (row.try_get("event_key")?, row.try_get("sealed")?);
    let recipient = Recipient::read(row)?;
    let (ordering_key, content) = match recipient {
        Recipient::Channel(_) => {
            let alert = Payload::Alert(Box::new(open(vault, key, envelope)?));
            let monitor = optional(row, "monitor_id", rules::MonitorId::parse)?;
            (monitor.map_or(OrderingKey::Unordered, OrderingKey::Monitor), alert)
        }
        Recipient::Page(_) | Recipient::Subscriber(_) => {
            let event = Payload::PageEvent(Box::new(open(vault, key, envelope)?));
            (OrderingKey::Thread(row.try_get("thread")?), event)
        }
    };
    Ok(DueDelivery {
        id: delivery_id(row)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        recipient,
        ordering_key,
        key: row.try_get("key")?,
        content,
        hold_reason: optional(row, "hold_reason", HoldReason::parse)?,
        digest_key: row.try_get::<Option<String>>("digest_key")?.filter(|key| !key.is_empty()),
        due_at: instant(row, "due_at")?,
        first_attempt_at: optional_instant(row, "first_attempt_at")?,
        attempt_count: narrow(row, "attempts")?,
        total_attempts: narrow(row, "total_attempts")?,
    })
}

/// Opens an alert or a page event with this key.
pub(crate) fn open<T: DeserializeOwned>(
    vault: &Vault,
    key: &str,
    envelope: &[u8],
) -> Result<T, StoreError> {
    vault.open(event_context(key), envelope)
}

/// Reads the identifier of a delivery, which is its row ID.
pub(super) fn delivery_id(row: &Row) -> Result<DeliveryId, StoreError> {
    Ok(DeliveryId::from_bits(narrow(row, "number")?))
}

/// Returns the row ID of a delivery. Returns 0, which no row has, for an identifier out of range.
pub(super) fn row_id(delivery: DeliveryId) -> i64 {
    i64::try_from(delivery.bits()).unwrap_or(0)
}

/// Returns the location for which an event is sealed.
pub(super) const fn event_context(key: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "events.sealed", row: key }
}

/// Returns the digest key of a delivery that is held for this reason.
pub(super) fn digest_key(hold_reason: Option<HoldReason>) -> Option<&'static str> {
    (hold_reason == Some(HoldReason::Digest)).then_some(UNFIXED_DIGEST)
}
