//! Corrupt events, whose stored data was altered. Their deliveries become dead letters with the
//! reason, so that they do not block later ones. The log lists them with the remaining data.

use domain::notify::{Cause, Event, EventKind, MonitorSnapshot};
use rules::{DeliveryId, IncidentId, MonitorId, MonitorKind, Timestamp};

use super::DeliveryState;
use super::attempts::{Attempt, insert};
use super::rows;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::row::{id, instant, narrow, optional};

/// Delivery whose event cannot be read.
pub(super) struct Unreadable {
    delivery: DeliveryId,
    reason: String,
}

impl Unreadable {
    pub(super) fn new(delivery: DeliveryId, why: &StoreError) -> Self {
        Self { delivery, reason: format!("unreadable event: {why}") }
    }
}

/// Marks the waiting deliveries as dead letters.
pub(super) async fn mark_dead(
    db: &mut Connection,
    unreadable: &[Unreadable],
    now: Timestamp,
) -> Result<(), StoreError> {
    for Unreadable { delivery, reason: why } in unreadable {
        tracing::error!(delivery.id = %delivery, "delivery {delivery} is a dead letter: {why}");
        let number = rows::row_id(*delivery);
        let tried: Option<Option<i64>> =
            query("SELECT MAX(number) FROM delivery_attempts WHERE delivery = $1")
                .bind(number)
                .scalar(db)
                .await?;
        let attempt = Attempt {
            row_id: number,
            number: tried.flatten().and_then(|number| u32::try_from(number).ok()).unwrap_or(0) + 1,
            at: now,
            duration_ms: 0,
            status: None,
            response: why,
        };
        insert(db, attempt).await?;
        query(
            "UPDATE deliveries SET state = $1, completed_at = $2, hold_reason = NULL, \
             digest_key = NULL, \
             first_attempt_at = COALESCE(first_attempt_at, $2), attempts = attempts + 1 \
             WHERE number = $3 AND state = 'waiting'",
        )
        .bind(DeliveryState::Dead.as_str())
        .bind(now.as_millis())
        .bind(number)
        .execute(db)
        .await?;
    }
    Ok(())
}

/// Returns an event from its unsealed data: its key, and the other columns of its row.
pub(super) fn outline(row: &Row, key: &str) -> Result<Event, StoreError> {
    // The key of an event without an incident begins with its monitor.
    let monitor = key.split('-').next().and_then(|monitor| MonitorId::parse(monitor).ok());
    let monitor = MonitorSnapshot {
        id: monitor.unwrap_or(MonitorId::from_bits(0)),
        name: String::new(),
        kind: MonitorKind::Http,
        target: String::new(),
        method: None,
    };
    Ok(Event {
        kind: id(row, "event_kind", EventKind::parse)?,
        at: instant(row, "at")?,
        workspace: String::new(),
        monitor,
        incident: optional(row, "incident", IncidentId::parse)?,
        began_at: instant(row, "began_at")?,
        closed: None,
        cause: Cause::default(),
        reminder: narrow(row, "reminder")?,
    })
}
