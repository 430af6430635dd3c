//! Queue of a recipient: the due deliveries in order. It has the first waiting delivery of each
//! monitor, unless that is held, and all deliveries of a digest. Held deliveries are rescheduled
//! before they are handed out, because the situation may have changed.

use domain::notify::{ChannelState, DueTime, Event, HoldReason, DIGEST_EVENTS_MAX, reschedule_held};
use rules::{ChannelId, DeliveryId, Timestamp};

use super::corrupt::{Unreadable, mark_dead};
use super::enqueue::{cancel, read_channel_state};
use super::rows::{self, digest_key, select_due};
use super::{DueDeliveries, DueDelivery, Outbox, Recipient, Wakeup};
use crate::db::{Connection, query};
use crate::quarantine::is_unreadable;
use crate::row::{id, instant, optional, optional_instant};
use crate::vault::Vault;
use crate::writer::Session;
use crate::{StoreError, maintenances};

/// Maximum number of held deliveries that one transaction reschedules.
const RESCHEDULED_MAX: i64 = 1_000;

/// Single deliveries that are due, and wait for no other of their monitor.
const HEADS: &str = select_due!(
    "WHERE d.recipient = $1 AND d.state = 'waiting' AND d.due_at <= $2 AND d.digest_key IS NULL \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient = $1 AND w.monitor = d.monitor \
     AND w.state = 'waiting' AND w.number < d.number \
     AND (w.hold_reason IS NULL OR w.hold_reason NOT IN ('min_duration', 'maintenance'))) \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient = $1 AND w.thread = d.thread \
     AND w.state = 'waiting' AND w.number < d.number) \
     ORDER BY d.due_at, d.number LIMIT $3"
);
/// Deliveries of a digest that is not fixed yet, except those that must wait for another delivery
/// of their monitor. The query uses the digest column, because the due time is less selective.
const OPEN_DIGEST: &str = select_due!(
    "WHERE d.recipient = $1 AND d.state = 'waiting' AND d.digest_key = '' AND d.due_at + 0 <= $2 \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient = $1 AND w.monitor = d.monitor \
     AND w.state = 'waiting' AND w.number < d.number AND (w.digest_key IS NULL OR w.digest_key <> '') \
     AND (w.hold_reason IS NULL OR w.hold_reason NOT IN ('min_duration', 'maintenance'))) \
     AND NOT EXISTS (SELECT 1 FROM deliveries w WHERE w.recipient = $1 AND w.thread = d.thread \
     AND w.state = 'waiting' AND w.number < d.number AND (w.digest_key IS NULL OR w.digest_key <> '')) \
     ORDER BY d.number LIMIT $3"
);
/// All deliveries of one fixed digest.
const FIXED_DIGEST: &str = select_due!(
    "WHERE d.recipient = $1 AND d.state = 'waiting' AND d.digest_key = \
     (SELECT MIN(s.digest_key) FROM deliveries s WHERE s.recipient = $1 AND s.state = 'waiting' \
     AND s.digest_key > '' AND s.due_at <= $2) ORDER BY d.number LIMIT $3"
);

/// Next later due time, and whether a delivery waits for a digest.
const REST: &str = "SELECT (SELECT MIN(due_at) FROM deliveries \
    WHERE recipient = $1 AND state = 'waiting' AND due_at > $2), \
    (SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE recipient = $1 AND state = 'waiting' \
    AND digest_key IS NOT NULL LIMIT 1) AS s)";

impl Outbox<'_> {
    /// Returns all recipients with waiting deliveries, and the earliest due time of each.
    pub async fn waiting(&self) -> Result<Vec<Wakeup>, StoreError> {
        let rows = query(
            "SELECT recipient, MIN(due_at) FROM deliveries WHERE state = 'waiting' GROUP BY recipient",
        )
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let woken = rows.iter().map(|row| {
            Ok(Wakeup { recipient: id(row, 0, Recipient::parse)?, due_at: instant(row, 1)? })
        });
        woken.collect()
    }

    /// Returns the due deliveries of a recipient: at most `limit` single ones, one fixed digest,
    /// and the candidates of a new digest. Deliveries in flight are included, so ask for more than
    /// those.
    pub async fn due(
        &self,
        addressee: impl Into<Recipient>,
        now: Timestamp,
        limit: u32,
    ) -> Result<DueDeliveries, StoreError> {
        let addressee = addressee.into();
        loop {
            let (queue, unreadable) = self.query_due(addressee, now, limit).await?;
            if !unreadable.is_empty() {
                self.mark_dead(unreadable, now).await?;
                continue;
            }
            let is_ripe = |due: &DueDelivery| {
                due.hold_reason.is_some_and(|holds| holds != HoldReason::Digest)
            };
            if !queue.due.iter().any(is_ripe) {
                return Ok(queue);
            }
            let placed = self
                .store
                .write(move |session| {
                    session.declare_no_change();
                    Box::pin(reschedule_due(session, addressee, now))
                })
                .await?;
            if placed == 0 {
                let due = queue.due.into_iter().filter(|due| !is_ripe(due)).collect();
                return Ok(DueDeliveries { due, ..queue });
            }
        }
    }

    /// Fixes the deliveries of a digest before the first attempt. Returns those that still wait;
    /// only they may be sent.
    pub async fn fix_digest(
        &self,
        deliveries: &[DeliveryId],
        storm_key: String,
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
                        .bind(&storm_key)
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
        addressee: Recipient,
        now: Timestamp,
        limit: u32,
    ) -> Result<(DueDeliveries, Vec<Unreadable>), StoreError> {
        let mut db = self.store.read().await?;
        let vault = self.store.vault();
        let rest = query(REST)
            .bind(addressee.to_string())
            .bind(now.as_millis())
            .fetch_one(&mut db)
            .await?;
        let (next_at, in_storm): (_, i64) = (optional_instant(&rest, 0)?, rest.try_get(1)?);
        let storm = i64::try_from(DIGEST_EVENTS_MAX).unwrap_or(i64::MAX);
        let parts = [(HEADS, i64::from(limit)), (FIXED_DIGEST, storm), (OPEN_DIGEST, storm)];
        let parts = if in_storm > 0 { &parts[..] } else { &parts[..1] };
        let (mut due, mut unreadable) = (Vec::new(), Vec::new());
        for (which, limit) in parts {
            let rows = query(*which)
                .bind(addressee.to_string())
                .bind(now.as_millis())
                .bind(*limit)
                .fetch_all(&mut db)
                .await?;
            for row in &rows {
                match rows::read_due(vault, row) {
                    Ok(read) => due.push(read),
                    Err(why) if is_unreadable(&why) => {
                        unreadable.push(Unreadable::new(rows::delivery_id(row, 0)?, &why));
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
    is_taken_up: bool,
    channel_state: ChannelState,
}

/// Reschedules held deliveries and returns their number. Only channels have held deliveries.
async fn reschedule_due(
    session: &mut Session,
    addressee: Recipient,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let Recipient::Channel(channel) = addressee else { return Ok(0) };
    let vault = std::sync::Arc::clone(&session.vault);
    let (ripe, unreadable) = load_held(&mut session.db, &vault, channel, now).await?;
    mark_dead(&mut session.db, &unreadable, now).await?;
    let count = ripe.len() + unreadable.len();
    for ripe in ripe {
        let muted_until = match ripe.monitor {
            Some(monitor) => maintenances::muted_until(&mut session.db, monitor, now).await?,
            None => None,
        };
        let hearer = ChannelState { window: session.outbox.window(channel), ..ripe.channel_state };
        let (placed, window) =
            reschedule_held(&ripe.event, ripe.hold_reason, now, muted_until, &hearer);
        match placed.filter(|_| !ripe.is_taken_up) {
            None => cancel(&mut session.db, &[ripe.number], now).await?,
            Some(placed) => {
                session.outbox.set_window(channel, window);
                store_due_time(&mut session.db, ripe.number, placed).await?;
            }
        }
    }
    Ok(count)
}

async fn load_held(
    db: &mut Connection,
    vault: &Vault,
    channel: ChannelId,
    now: Timestamp,
) -> Result<(Vec<HeldDelivery>, Vec<Unreadable>), StoreError> {
    let rows = query(
        "SELECT d.number, d.monitor, d.hold_reason, e.key, e.sealed, i.acknowledged_at, c.kind, c.preferences, \
         l.channel FROM deliveries d JOIN events e ON e.number = d.event \
         JOIN channels c ON c.id = d.recipient LEFT JOIN incidents i ON i.id = e.incident \
         LEFT JOIN channel_monitors l ON l.channel = d.recipient AND l.monitor = d.monitor \
         WHERE d.recipient = $1 AND d.state = 'waiting' AND d.due_at <= $2 \
         AND d.hold_reason IN ('min_duration', 'maintenance', 'quiet_hours') ORDER BY d.number LIMIT $3",
    )
    .bind(channel.to_string())
    .bind(now.as_millis())
    .bind(RESCHEDULED_MAX)
    .fetch_all(db)
    .await?;
    let (mut ripe, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in &rows {
        let event: Event = match rows::open(vault, row.try_get(3)?, row.try_get(4)?) {
            Ok(event) => event,
            Err(why) if is_unreadable(&why) => {
                unreadable.push(Unreadable::new(rows::delivery_id(row, 0)?, &why));
                continue;
            }
            Err(error) => return Err(error),
        };
        let is_taken_up = event.reminder > 0 && optional_instant(row, 5)?.is_some();
        let is_linked = row.try_get::<Option<&str>>(8)?.is_some();
        let hearer = ChannelState { is_linked, ..read_channel_state(row, channel, 6)? };
        ripe.push(HeldDelivery {
            number: row.try_get(0)?,
            monitor: row.try_get(1)?,
            hold_reason: optional(row, 2, HoldReason::parse)?.unwrap_or(HoldReason::MinDuration),
            event,
            is_taken_up,
            channel_state: hearer,
        });
    }
    Ok((ripe, unreadable))
}

async fn store_due_time(
    db: &mut Connection,
    number: i64,
    placed: DueTime,
) -> Result<(), StoreError> {
    query("UPDATE deliveries SET hold_reason = $1, digest_key = $2, due_at = $3 WHERE number = $4")
        .bind(placed.hold_reason.map(HoldReason::as_str))
        .bind(digest_key(placed.hold_reason))
        .bind(placed.due_at.as_millis())
        .bind(number)
        .execute(db)
        .await?;
    Ok(())
}
