//! Queue of a recipient: the due deliveries in order. It has the first waiting delivery of each
//! monitor, if it is due, and all deliveries of a digest. Deliveries held for a minimum duration or a
//! maintenance do not block later ones; those held for quiet hours do. Held deliveries are rescheduled
//! before they are handed out, because the situation may have changed.

use domain::notify::{
    ChannelState, DIGEST_EVENTS_MAX, DueTime, Event, HoldReason, reschedule_held,
};
use rules::{ChannelId, DeliveryId, Timestamp};

use super::alert_inputs::read_channel_state;
use super::corrupt::{Unreadable, mark_dead};
use super::enqueue::cancel;
use super::rows::{self, digest_key, select_due};
use super::{DueDeliveries, DueDelivery, Outbox};
use crate::db::{Connection, query};
use crate::quarantine::is_unreadable;
use crate::recipient::Recipient;
use crate::row::{optional, optional_instant};
use crate::writer::Session;
use crate::{StoreError, maintenances};

/// Maximum number of held deliveries that one transaction reschedules.
const RESCHEDULED_MAX: i64 = 1_000;

/// Single deliveries that are due, and wait for no other of their monitor or thread.
const HEADS: &str = select_due!(
    "WHERE d.recipient_id = $1 AND d.state = 'waiting' AND d.due_at <= $2 AND d.digest_key IS NULL \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient_id = $1 \
     AND w.monitor = d.monitor AND w.state = 'waiting' AND w.number < d.number \
     AND (w.hold_reason IS NULL OR w.hold_reason NOT IN ('min_duration', 'maintenance'))) \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient_id = $1 AND w.thread = d.thread \
     AND w.state = 'waiting' AND w.number < d.number) \
     ORDER BY d.due_at, d.number LIMIT $3"
);
/// Deliveries of a digest that is not fixed yet, except those that must wait for another delivery
/// of their monitor. The query uses the digest column, because the due time is less selective.
const OPEN_DIGEST: &str = select_due!(
    "WHERE d.recipient_id = $1 AND d.state = 'waiting' AND d.digest_key = '' \
     AND d.due_at + 0 <= $2 \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient_id = $1 \
     AND w.monitor = d.monitor \
     AND w.state = 'waiting' AND w.number < d.number AND (w.digest_key IS NULL \
     OR w.digest_key <> '') \
     AND (w.hold_reason IS NULL OR w.hold_reason NOT IN ('min_duration', 'maintenance'))) \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient_id = $1 AND w.thread = d.thread \
     AND w.state = 'waiting' AND w.number < d.number AND (w.digest_key IS NULL \
     OR w.digest_key <> '')) ORDER BY d.number LIMIT $3"
);
/// All deliveries of one fixed digest.
const FIXED_DIGEST: &str = select_due!(
    "WHERE d.recipient_id = $1 AND d.state = 'waiting' AND d.digest_key = \
     (SELECT MIN(s.digest_key) FROM deliveries s WHERE s.recipient_id = $1 AND s.state = 'waiting' \
     AND s.digest_key > '' AND s.due_at <= $2) ORDER BY d.number LIMIT $3"
);

/// Next later due time, and whether a delivery waits for a digest.
const REST: &str = "SELECT (SELECT MIN(due_at) FROM deliveries \
    WHERE recipient_id = $1 AND state = 'waiting' AND due_at > $2) AS next_at, \
    (SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE recipient_id = $1 AND state = 'waiting' \
    AND digest_key IS NOT NULL LIMIT 1) AS s) AS in_digest";

impl Outbox<'_> {
    /// Returns all readable recipients with waiting deliveries.
    pub async fn waiting(&self) -> Result<Vec<Recipient>, StoreError> {
        let rows = query(
            "SELECT MIN(number) AS number, MIN(recipient_kind) AS recipient_kind, recipient_id \
             FROM deliveries WHERE state = 'waiting' GROUP BY recipient_id",
        )
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("deliveries", &rows, Recipient::read)
    }

    /// Returns the due deliveries of a recipient: at most `limit` single ones, one fixed digest,
    /// and the candidates of a new digest. Deliveries in flight count
    /// towards `limit`, so add their number to it.
    pub async fn due(
        &self,
        recipient: impl Into<Recipient>,
        now: Timestamp,
        limit: u32,
    ) -> Result<DueDeliveries, StoreError> {
        let recipient = recipient.into();
        loop {
            let (queue, unreadable) = self.query_due(recipient, now, limit).await?;
            if !unreadable.is_empty() {
                self.mark_dead(unreadable, now).await?;
                continue;
            }
            let is_hold_over = |due: &DueDelivery| {
                due.hold_reason.is_some_and(|hold_reason| hold_reason != HoldReason::Digest)
            };
            if !queue.due.iter().any(is_hold_over) {
                return Ok(queue);
            }
            let rescheduled = self
                .store
                .write(move |session| {
                    session.declare_no_change();
                    Box::pin(reschedule_due(session, recipient, now))
                })
                .await?;
            if rescheduled == 0 {
                let due = queue.due.into_iter().filter(|due| !is_hold_over(due)).collect();
                return Ok(DueDeliveries { due, ..queue });
            }
        }
    }

    /// Fixes the deliveries of a digest before the first attempt. Returns those that still wait;
    /// only they may be sent.
    pub async fn fix_digest(
        &self,
        deliveries: &[DeliveryId],
        digest_key: String,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        let deliveries = deliveries.to_vec();
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let mut fixed = Vec::with_capacity(deliveries.len());
                    for delivery in deliveries {
                        let is_fixed = query(
                            "UPDATE deliveries SET digest_key = $1, hold_reason = NULL \
                             WHERE number = $2 AND state = 'waiting' AND digest_key IN ('', $1)",
                        )
                        .bind(&digest_key)
                        .bind(rows::row_id(delivery))
                        .execute(&mut session.db)
                        .await?;
                        fixed.extend((is_fixed > 0).then_some(delivery));
                    }
                    Ok(fixed)
                })
            })
            .await
    }

    /// Fixes that a delivery is sent singly under its own key, before the first attempt. It does
    /// not join a digest again, and leaves the one it was in. Returns whether it was still in a
    /// digest; only then may it be sent.
    pub async fn fix_single(&self, delivery: DeliveryId) -> Result<bool, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let is_fixed = query(
                        "UPDATE deliveries SET digest_key = NULL, hold_reason = NULL \
                         WHERE number = $1 AND state = 'waiting' AND digest_key IS NOT NULL",
                    )
                    .bind(rows::row_id(delivery))
                    .execute(&mut session.db)
                    .await?;
                    Ok(is_fixed > 0)
                })
            })
            .await
    }

    async fn mark_dead(
        &self,
        unreadable: Vec<Unreadable>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { mark_dead(&mut session.db, &unreadable, now).await })
            })
            .await
    }

    async fn query_due(
        &self,
        recipient: Recipient,
        now: Timestamp,
        limit: u32,
    ) -> Result<(DueDeliveries, Vec<Unreadable>), StoreError> {
        let mut db = self.store.read().await?;
        let vault = self.store.vault();
        let rest =
            query(REST).bind(recipient.id()).bind(now.as_millis()).fetch_one(&mut db).await?;
        let next_at = optional_instant(&rest, "next_at")?;
        let in_digest: i64 = rest.try_get("in_digest")?;
        let digest_max = i64::try_from(DIGEST_EVENTS_MAX).unwrap_or(i64::MAX);
        let parts =
            [(HEADS, i64::from(limit)), (FIXED_DIGEST, digest_max), (OPEN_DIGEST, digest_max)];
        let parts = if in_digest > 0 { &parts[..] } else { &parts[..1] };
        let (mut due, mut unreadable) = (Vec::new(), Vec::new());
        for (which, limit) in parts {
            let rows = query(*which)
                .bind(recipient.id())
                .bind(now.as_millis())
                .bind(*limit)
                .fetch_all(&mut db)
                .await?;
            for row in &rows {
                match rows::read_due(vault, row) {
                    Ok(read) => due.push(read),
                    Err(why) if is_unreadable(&why) => {
                        unreadable.push(Unreadable::new(rows::delivery_id(row)?, &why));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok((DueDeliveries { due, next_at }, unreadable))
    }
}

/// Held delivery whose time has come.
struct HeldDelivery {
    number: i64,
    monitor: Option<i64>,
    hold_reason: HoldReason,
    event: Event,
    /// Whether it reminds of an acknowledged incident.
    is_acknowledged_reminder: bool,
    channel_state: ChannelState,
}

/// Reschedules held deliveries and returns their number. Only channels have held deliveries.
async fn reschedule_due(
    session: &mut Session,
    recipient: Recipient,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let Recipient::Channel(channel) = recipient else { return Ok(0) };
    let (held, unreadable) = load_held(session, channel, now).await?;
    mark_dead(&mut session.db, &unreadable, now).await?;
    let count = held.len() + unreadable.len();
    for held in held {
        let muted_until = match held.monitor {
            Some(monitor) => maintenances::muted_until(&mut session.db, monitor, now).await?,
            None => None,
        };
        let channel_state =
            ChannelState { window: session.outbox.window(channel), ..held.channel_state };
        let (due_time, window) =
            reschedule_held(&held.event, held.hold_reason, now, muted_until, &channel_state);
        match due_time.filter(|_| !held.is_acknowledged_reminder) {
            None => cancel(&mut session.db, &[held.number], now).await?,
            Some(due_time) => {
                session.outbox.set_window(channel, window);
                store_due_time(&mut session.db, held.number, due_time).await?;
            }
        }
    }
    Ok(count)
}

async fn load_held(
    session: &mut Session,
    channel: ChannelId,
    now: Timestamp,
) -> Result<(Vec<HeldDelivery>, Vec<Unreadable>), StoreError> {
    let rows = query(
        "SELECT e.key, e.sealed, i.acknowledged_at, l.channel AS linked_channel, \
         c.kind AS channel_kind, c.provider_sealed, c.preferences, \
         d.number, d.monitor, d.hold_reason FROM deliveries d JOIN events e ON e.number = d.event \
         JOIN channels c ON c.id = d.recipient_id LEFT JOIN incidents i ON i.id = e.incident \
         LEFT JOIN channel_monitors l ON l.channel = d.recipient_id AND l.monitor = d.monitor \
         WHERE d.recipient_id = $1 AND d.state = 'waiting' AND d.due_at <= $2 \
         AND d.hold_reason IN ('min_duration', 'maintenance', 'quiet_hours') ORDER BY d.number \
         LIMIT $3",
    )
    .bind(channel.to_string())
    .bind(now.as_millis())
    .bind(RESCHEDULED_MAX)
    .fetch_all(&mut session.db)
    .await?;
    let (vault, quarantine) = (&*session.vault, &*session.quarantine);
    let (mut held, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in &rows {
        let event: Event = match rows::open(vault, row.try_get("key")?, row.try_get("sealed")?) {
            Ok(event) => event,
            Err(why) if is_unreadable(&why) => {
                unreadable.push(Unreadable::new(rows::delivery_id(row)?, &why));
                continue;
            }
            Err(error) => return Err(error),
        };
        let is_acknowledged_reminder =
            event.reminder > 0 && optional_instant(row, "acknowledged_at")?.is_some();
        let is_linked = row.try_get::<Option<&str>>("linked_channel")?.is_some();
        let channel_state =
            ChannelState { is_linked, ..read_channel_state((vault, quarantine), row, channel)? };
        held.push(HeldDelivery {
            number: row.try_get("number")?,
            monitor: row.try_get("monitor")?,
            hold_reason: optional(row, "hold_reason", HoldReason::parse)?
                .unwrap_or(HoldReason::MinDuration),
            event,
            is_acknowledged_reminder,
            channel_state,
        });
    }
    Ok((held, unreadable))
}

async fn store_due_time(
    db: &mut Connection,
    number: i64,
    due_time: DueTime,
) -> Result<(), StoreError> {
    query("UPDATE deliveries SET hold_reason = $1, digest_key = $2, due_at = $3 WHERE number = $4")
        .bind(due_time.hold_reason.map(HoldReason::as_str))
        .bind(digest_key(due_time.hold_reason))
        .bind(due_time.due_at.as_millis())
        .bind(number)
        .execute(db)
        .await?;
    Ok(())
}
