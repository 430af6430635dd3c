//! Records attempts and their consequences. If a channel accepted the opening of an incident and
//! wants reminders, the next reminder is enqueued.

use domain::notify::{DueTime, Event, EventKind, NewDelivery, next_reminder};
use rules::{ChannelId, Timestamp, WorkspaceId};

use super::alert_inputs::read_channel_state;
use super::rows::{self, Address, Events};
use super::{AttemptResult, DeliveryState, NextStep, Outbox, TestDelivery};
use crate::StoreError;
use crate::db::{Connection, query};
use crate::quarantine::is_unreadable;
use crate::recipient::Recipient;
use crate::row::id;
use crate::subject_watches::Subject;
use crate::writer::Session;

/// Attempt as it is stored.
pub(super) struct Attempt<'t> {
    /// Row ID of the delivery.
    pub(super) row_id: i64,
    /// Number within the delivery, from 1.
    pub(super) number: u32,
    pub(super) at: Timestamp,
    pub(super) duration_ms: i64,
    pub(super) status: Option<u16>,
    pub(super) response: &'t str,
}

impl Outbox<'_> {
    /// Records attempts and applies their consequences. Recording an attempt again has no effect.
    pub async fn record_attempts(&self, results: Vec<AttemptResult>) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    for tried in &results {
                        record_attempt(session, tried).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Tells open views that deliveries of this recipient changed.
    pub fn signal_deliveries(&self, recipient: Recipient) {
        if let Recipient::Channel(channel) = recipient {
            self.store.signal_change([Subject::Deliveries(channel)]);
        }
    }

    /// Records a test of a saved channel in the delivery log.
    pub async fn record_test(&self, test: TestDelivery) -> Result<(), StoreError> {
        let channel = test.channel;
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { record_test(session, &test).await })
            })
            .await?;
        self.signal_deliveries(Recipient::Channel(channel));
        Ok(())
    }
}

impl AttemptResult {
    fn completed_at(&self) -> Timestamp {
        self.at + self.duration
    }
}

async fn record_attempt(session: &mut Session, result: &AttemptResult) -> Result<(), StoreError> {
    let row_id = rows::row_id(result.id);
    let attempt = Attempt {
        row_id,
        number: result.number,
        at: result.at,
        duration_ms: millis(result.duration),
        status: result.status,
        response: &result.response,
    };
    if !insert(&mut session.db, attempt).await? {
        return Ok(());
    }
    match result.next_step {
        NextStep::Accepted => {
            complete(&mut session.db, row_id, result, DeliveryState::Accepted).await?;
            enqueue_reminder(session, row_id, result.completed_at()).await
        }
        NextStep::Dead => complete(&mut session.db, row_id, result, DeliveryState::Dead).await,
        NextStep::Again(at) => retry(session, row_id, result, at).await,
    }
}

/// Deletes the attempts of a completed delivery, before the delivery itself is deleted.
pub(crate) async fn delete_attempts(db: &mut Connection, number: i64) -> Result<(), StoreError> {
    query(
        "DELETE FROM delivery_attempts WHERE delivery IN \
         (SELECT number FROM deliveries WHERE number = $1 AND completed_at IS NOT NULL)",
    )
    .bind(number)
    .execute(db)
    .await?;
    Ok(())
}

/// Inserts an attempt and returns whether it is new. Its number identifies it, because two attempts
/// may start at the same time. An attempt of an expired delivery is ignored.
pub(super) async fn insert(db: &mut Connection, attempt: Attempt<'_>) -> Result<bool, StoreError> {
    let inserted = query(
        "INSERT INTO delivery_attempts (delivery, number, at, duration_ms, status, response) \
         SELECT d.number, $1, $2, $3, $4, $5 FROM deliveries d WHERE d.number = $6 \
         ON CONFLICT (delivery, number) DO NOTHING",
    )
    .bind(i64::from(attempt.number))
    .bind(attempt.at.as_millis())
    .bind(attempt.duration_ms)
    .bind(attempt.status.map(i64::from))
    .bind(attempt.response)
    .bind(attempt.row_id)
    .execute(db)
    .await?;
    Ok(inserted > 0)
}

/// Completes a delivery. A completed reminder is not open. A delivery that was cancelled during its
/// attempt counts as accepted if the receiver accepted it.
async fn complete(
    db: &mut Connection,
    number: i64,
    result: &AttemptResult,
    state: DeliveryState,
) -> Result<(), StoreError> {
    query(
        "UPDATE deliveries SET state = $1, completed_at = $2, hold_reason = NULL, \
         first_attempt_at = COALESCE(first_attempt_at, $3), attempts = attempts + 1, \
         is_open = (is_open AND NOT EXISTS (SELECT 1 FROM events e \
         WHERE e.number = deliveries.event AND e.reminder > 0)) \
         WHERE number = $4 AND (state = 'waiting' OR (state = 'cancelled' AND $1 = 'accepted'))",
    )
    .bind(state.as_str())
    .bind(result.completed_at().as_millis())
    .bind(result.at.as_millis())
    .bind(number)
    .execute(db)
    .await?;
    Ok(())
}

async fn retry(
    session: &mut Session,
    number: i64,
    result: &AttemptResult,
    at: Timestamp,
) -> Result<(), StoreError> {
    let waiting = query(
        "UPDATE deliveries SET due_at = $1, hold_reason = NULL, \
         digest_key = CASE WHEN digest_key = '' THEN NULL ELSE digest_key END, \
         first_attempt_at = COALESCE(first_attempt_at, $2), attempts = attempts + 1 \
         WHERE number = $3 AND state = 'waiting' RETURNING recipient_kind, recipient_id",
    )
    .bind(at.as_millis())
    .bind(result.at.as_millis())
    .bind(number)
    .fetch_optional(&mut session.db)
    .await?;
    if let Some(row) = waiting {
        session.outbox.wake(Recipient::read(&row)?);
    }
    Ok(())
}

/// Enqueues a reminder, if the channel wants reminders and the incident is open and unacknowledged.
async fn enqueue_reminder(
    session: &mut Session,
    number: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    let found = query(
        "SELECT d.recipient_id, c.kind AS channel_kind, c.provider_sealed, c.preferences, \
         d.workspace_id, d.monitor, e.key, e.sealed \
         FROM deliveries d JOIN events e ON e.number = d.event \
         JOIN incidents i ON i.id = e.incident JOIN channels c ON c.id = d.recipient_id \
         WHERE d.number = $1 AND e.kind = 'error' AND c.preferences IS NOT NULL \
         AND i.closed_at IS NULL AND i.acknowledged_at IS NULL",
    )
    .bind(number)
    .fetch_optional(&mut session.db)
    .await?;
    let Some(row) = found else { return Ok(()) };
    let channel = id(&row, "recipient_id", ChannelId::parse)?;
    let channel_state = read_channel_state((&session.vault, &session.quarantine), &row, channel);
    let channel_state =
        session.quarantine.readable("channels", || channel.to_string(), channel_state)?;
    // The attempt is stored anyway.
    let Some(channel_state) = channel_state else { return Ok(()) };
    let Some(every) = channel_state.preferences.remind_every else { return Ok(()) };
    let event = match rows::open(&session.vault, row.try_get("key")?, row.try_get("sealed")?) {
        Ok(event) => event,
        // Delivered, but undecodable: skip the reminder.
        Err(why) if is_unreadable(&why) => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(reminder) = next_reminder(&event, every, now) else { return Ok(()) };
    let address = Address {
        workspace: id(&row, "workspace_id", WorkspaceId::parse)?,
        channel,
        kind: channel_state.kind,
        monitor: row.try_get("monitor")?,
    };
    rows::write(session, &mut Events::default(), address, &reminder, now).await
}

async fn record_test(session: &mut Session, test: &TestDelivery) -> Result<(), StoreError> {
    let address = Address {
        workspace: test.workspace,
        channel: test.channel,
        kind: test.kind,
        monitor: None,
    };
    let event = Event { kind: EventKind::Test, ..test.event.clone() };
    let key = domain::notify::delivery_key(test.channel, &event);
    let due_time = DueTime { due_at: test.at, hold_reason: None };
    let written = NewDelivery { event, due: due_time, opens: false };
    rows::write(session, &mut Events::default(), address, &written, test.at).await?;
    let state = if test.arrived { DeliveryState::Accepted } else { DeliveryState::Dead };
    let row = query(
        "UPDATE deliveries SET state = $1, first_attempt_at = $2, attempts = 1, completed_at = $3 \
         WHERE key = $4 RETURNING number",
    )
    .bind(state.as_str())
    .bind(test.at.as_millis())
    .bind((test.at + test.duration).as_millis())
    .bind(key)
    .fetch_one(&mut session.db)
    .await?;
    let attempt = Attempt {
        row_id: row.try_get("number")?,
        number: 1,
        at: test.at,
        duration_ms: millis(test.duration),
        status: test.status,
        response: &test.response,
    };
    insert(&mut session.db, attempt).await?;
    Ok(())
}

fn millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
