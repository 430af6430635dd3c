//! Replays dead letters on request: at once, before deliveries that wait behind them, and with the
//! full number of attempts. If the event of an opening is over meanwhile, its end follows, so that
//! nothing stays open at the receiver.

use std::sync::Arc;

use domain::notify::{
    ChannelState, CloseReason, DueTime, Event, EventKind, FilterDecision, NewDelivery,
    PriorDelivery, delivery_key, end_event, filter, is_stateful,
};
use rules::{DeliveryId, MonitorStatus, Timestamp, Violation, WorkspaceId};

use super::alert_inputs::read_channel_state;
use super::rows::{self, Address, Events};
use super::{Delivery, DeliveryState, Outbox, deliveries};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::incidents::parse_close_reason;
use crate::row::{id, instant, optional, optional_instant};
use crate::writer::Session;
use crate::{AuditContext, StoreError};

/// Field that names a delivery.
pub(super) const FIELD: &str = "id";

impl Outbox<'_> {
    /// Replays a dead letter. Rejects a delivery that is not dead, or whose channel was deleted.
    pub async fn replay(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
        change: AuditContext,
    ) -> Result<Delivery, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let vault = Arc::clone(&session.vault);
                    let delivery = deliveries::one(&mut session.db, &vault, workspace, id).await?;
                    replay(session, &delivery, change.at).await?;
                    record_change(session, (workspace, id), change).await?;
                    deliveries::one(&mut session.db, &vault, workspace, id).await
                })
            })
            .await
    }
}

/// Records in the audit log who replayed a delivery.
pub(super) async fn record_change(
    session: &mut Session,
    (workspace, id): (WorkspaceId, DeliveryId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let (action, resource_id) = ("delivery.replay", id.to_string());
    let note = NewAuditEntry { workspace, change, action, resource_id, detail: "" };
    audit::record(&mut session.db, note).await
}

async fn replay(
    session: &mut Session,
    delivery: &Delivery,
    now: Timestamp,
) -> Result<(), StoreError> {
    let alert = &delivery.about;
    let refused =
        |allowed| StoreError::Refused(Violation::new(FIELD, delivery.id.to_string(), allowed));
    if delivery.state != DeliveryState::Dead {
        return Err(refused("must be a dead letter"));
    }
    let row = query(
        "SELECT d.monitor, d.is_open, c.kind AS channel_kind, c.provider_sealed, c.preferences \
         FROM deliveries d JOIN channels c ON c.id = d.recipient_id WHERE d.number = $1",
    )
    .bind(rows::row_id(delivery.id))
    .fetch_optional(&mut session.db)
    .await?
    .ok_or_else(|| refused("must be a dead letter of an existing channel"))?;
    let (monitor, is_open): (Option<i64>, bool) =
        (row.try_get("monitor")?, row.try_get("is_open")?);
    let channel_state =
        read_channel_state((&session.vault, &session.quarantine), &row, alert.channel)?;
    let key = delivery_key(alert.channel, &alert.event);
    requeue(session, &key, now).await?;
    session.outbox.wake(alert.channel);
    let opens = match alert.event.kind {
        EventKind::Error | EventKind::Degraded | EventKind::StillDegraded => true,
        EventKind::Recovered | EventKind::Test => false,
    };
    if opens && !is_open && alert.event.reminder == 0 {
        let ended = find_end(&mut session.db, monitor, &alert.event, &channel_state, now).await?;
        if let Some(end) = ended {
            enqueue_following_end(session, (delivery, monitor), end, &channel_state, now).await?;
        }
    }
    Ok(())
}

/// Makes a completed delivery wait like a new one. It leaves its digest, because a receiver would
/// take two deliveries under the digest's key for one.
pub(super) async fn requeue(
    session: &mut Session,
    key: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE deliveries SET state = 'waiting', hold_reason = NULL, digest_key = NULL, \
         due_at = $1, \
         first_attempt_at = NULL, attempts = 0, completed_at = NULL WHERE key = $2 \
         AND state <> 'waiting'",
    )
    .bind(now.as_millis())
    .bind(key)
    .execute(&mut session.db)
    .await?;
    Ok(())
}

async fn is_enqueued(db: &mut Connection, key: &str) -> Result<bool, StoreError> {
    let found = query("SELECT 1 FROM deliveries WHERE key = $1").bind(key);
    Ok(found.fetch_optional(db).await?.is_some())
}

/// Returns the end of the event that an opening announced. `None` if another event closes it.
async fn find_end(
    db: &mut Connection,
    monitor: Option<i64>,
    opening: &Event,
    channel_state: &ChannelState,
    now: Timestamp,
) -> Result<Option<Event>, StoreError> {
    let is_tail = opening.kind == EventKind::StillDegraded;
    if let Some(incident) = opening.incident.filter(|_| !is_tail) {
        let row = query("SELECT closed_at, close_reason FROM incidents WHERE id = $1")
            .bind(incident.to_string())
            .fetch_optional(db)
            .await?;
        let (at, how) = match &row {
            Some(row) => (
                optional_instant(row, "closed_at")?,
                optional(row, "close_reason", parse_close_reason)?,
            ),
            None => (None, None),
        };
        let how = how.unwrap_or(CloseReason::Recovered);
        return Ok(Some(end_event(opening, at.unwrap_or(now), how)));
    }
    let change = query(
        "SELECT at, to_status FROM status_changes WHERE monitor = $1 AND at > $2 \
         ORDER BY number LIMIT 1",
    )
    .bind(monitor)
    // A degradation after an incident began later than the incident, and changes of the incident do
    // not end it.
    .bind(if is_tail { opening.at } else { opening.began_at }.as_millis())
    .fetch_optional(db)
    .await?;
    let Some(change) = change else {
        return Ok(Some(end_event(opening, now, CloseReason::Recovered)));
    };
    let to = id(&change, "to_status", MonitorStatus::parse)?;
    // A receiver that tracks alert states treats the following error as a separate alert
    let goes_on = to == MonitorStatus::Error && !is_stateful(channel_state.kind);
    let end = end_event(opening, instant(&change, "at")?, CloseReason::Recovered);
    Ok(Some(end).filter(|_| !goes_on))
}

/// Enqueues the end after the opening, again if it was sent before. An end that waits stays
/// unchanged, because it may be in flight, alone or in a digest.
async fn enqueue_following_end(
    session: &mut Session,
    (opening, monitor): (&Delivery, Option<i64>),
    end: Event,
    channel_state: &ChannelState,
    now: Timestamp,
) -> Result<(), StoreError> {
    let key = delivery_key(opening.about.channel, &end);
    if is_enqueued(&mut session.db, &key).await? {
        return requeue(session, &key, now).await;
    }
    if filter(&channel_state.preferences, &end, PriorDelivery::Sent) != FilterDecision::Send {
        return Ok(());
    }
    let Delivery { workspace, kind, .. } = *opening;
    let address = Address { workspace, channel: opening.about.channel, kind, monitor };
    let due_time = DueTime { due_at: now, hold_reason: None };
    let written = NewDelivery { event: end, due: due_time, opens: false };
    rows::write(session, &mut Events::default(), address, &written, now).await
}
