//! Enqueues alerts in the transaction of their event. `domain::notify::plan_deliveries` decides
//! which channels are notified, when, and which deliveries are cancelled. `alert_inputs` loads its
//! inputs, and this module stores its outputs.

use std::collections::BTreeMap;

use domain::judge::{CloseReason, IncidentChange, Transition};
use domain::notify::{
    AlertChange, AlertContext, AlertSubject, Cause, ChannelState, DeliveryPlan, plan_deliveries,
};
use rules::{ChannelId, PageId, Timestamp};

use super::alert_inputs::{add_linked, load_context, open_deliveries};
use super::page_events;
use super::rows::{self, Address, Events, Time};
use crate::db::{Connection, query};
use crate::recipient::Recipient;
use crate::row::id;
use crate::writer::Session;
use crate::{StoreError, maintenances};

/// End of a monitor's checks.
#[derive(Clone, Copy)]
pub(crate) struct Ending {
    /// Row ID of the monitor.
    pub(crate) monitor: i64,
    pub(crate) at: Timestamp,
    /// Reason of the end.
    pub(crate) how: CloseReason,
}

/// Enqueues the deliveries of a status change that is stored at `now`.
pub(crate) async fn enqueue_transition(
    session: &mut Session,
    monitor: i64,
    transition: &Transition,
    cause: Option<&Cause>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let time = Time { at: transition.at, now: now.max(transition.at) };
    match transition.incident {
        IncidentChange::Opened(incident) => {
            page_events::enqueue_opened(session, monitor, incident, time).await?;
        }
        IncidentChange::Closed { .. } => {
            page_events::enqueue_closed(session, monitor, time).await?;
        }
        IncidentChange::None | IncidentChange::Suspended(_) | IncidentChange::Resumed(_) => {}
    }
    let Some(change) = AlertChange::from_transition(transition) else { return Ok(()) };
    let mut channels = open_deliveries(session, monitor).await?;
    if can_begin(change) {
        add_linked(session, monitor, &mut channels).await?;
    }
    let cause = cause.cloned().unwrap_or_default();
    enqueue(session, monitor, (change, time), channels, cause).await
}

/// Enqueues the alerts that a monitor was paused or deleted, for channels that were alerted about
/// it. Must run before the monitor leaves its channels.
pub(crate) async fn enqueue_end(session: &mut Session, ending: Ending) -> Result<(), StoreError> {
    let time = Time { at: ending.at, now: ending.at };
    page_events::enqueue_closed(session, ending.monitor, time).await?;
    let channels = open_deliveries(session, ending.monitor).await?;
    let open = channels.values().flat_map(|channel_state| &channel_state.open_deliveries);
    let incident = open.filter_map(|delivery| match delivery.subject {
        AlertSubject::Incident(id) => Some(id),
        AlertSubject::TrailingDegradation(_) | AlertSubject::Degradation => None,
    });
    let change = AlertChange::Ended { incident: incident.max(), reason: ending.how };
    enqueue(session, ending.monitor, (change, time), channels, Cause::default()).await
}

/// Reschedules deliveries that wait for quiet hours, after their channel was edited.
pub(crate) async fn channel_changed(
    session: &mut Session,
    channel: ChannelId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let moved = query(
        "UPDATE deliveries SET due_at = $1 WHERE recipient_id = $2 AND state = 'waiting' \
         AND hold_reason = 'quiet_hours' AND due_at > $1",
    )
    .bind(at.as_millis())
    .bind(channel.to_string())
    .execute(&mut session.db)
    .await?;
    if moved > 0 {
        session.outbox.wake(channel);
    }
    Ok(())
}

/// Cancels the waiting deliveries of a recipient that was deleted.
pub(crate) async fn cancel_for(
    db: &mut Connection,
    recipient: impl Into<Recipient>,
    at: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE deliveries SET is_open = $1, \
         completed_at = CASE WHEN state = 'waiting' THEN $2 ELSE completed_at END, \
         state = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END \
         WHERE recipient_id = $3 AND (is_open OR state = 'waiting')",
    )
    .bind(false)
    .bind(at.as_millis())
    .bind(recipient.into().id())
    .execute(db)
    .await?;
    Ok(())
}

/// Cancels the waiting deliveries of a page and its subscribers, after the page was hidden or
/// deleted.
pub(crate) async fn cancel_for_page(
    db: &mut Connection,
    page: PageId,
    at: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE deliveries SET state = 'cancelled', completed_at = $1 WHERE state = 'waiting' \
         AND (recipient_id = $2 OR recipient_id IN (SELECT id FROM subscribers \
         WHERE page_id = $2))",
    )
    .bind(at.as_millis())
    .bind(page.to_string())
    .execute(db)
    .await?;
    Ok(())
}

/// Reschedules deliveries that wait for the end of maintenance of these monitors, after it changed.
pub(crate) async fn maintenance_changed(
    session: &mut Session,
    monitors: &[i64],
    at: Timestamp,
) -> Result<(), StoreError> {
    for monitor in monitors {
        let moved = query(
            "UPDATE deliveries SET due_at = $1 WHERE monitor = $2 AND is_open \
             AND state = 'waiting' \
             AND hold_reason = 'maintenance' AND due_at > $1 RETURNING recipient_id",
        )
        .bind(at.as_millis())
        .bind(*monitor)
        .fetch_all(&mut session.db)
        .await?;
        for row in &moved {
            session.outbox.wake(id(row, "recipient_id", ChannelId::parse)?);
        }
    }
    Ok(())
}

/// Returns whether channels that were not alerted before may be notified.
fn can_begin(change: AlertChange) -> bool {
    match change {
        AlertChange::Down(_) | AlertChange::Degraded => true,
        AlertChange::Ended { reason: how, .. } => how == CloseReason::Degraded,
        AlertChange::Unknown => false,
    }
}

async fn enqueue(
    session: &mut Session,
    monitor: i64,
    (change, time): (AlertChange, Time),
    channels: BTreeMap<ChannelId, ChannelState>,
    cause: Cause,
) -> Result<(), StoreError> {
    if channels.is_empty() {
        return Ok(());
    }
    let Some((workspace, context)) = load_context(session, monitor, time, cause).await? else {
        return Ok(());
    };
    let muted_until = match change {
        AlertChange::Down(_) => {
            maintenances::muted_until(&mut session.db, monitor, time.at).await?
        }
        AlertChange::Degraded | AlertChange::Ended { .. } | AlertChange::Unknown => None,
    };
    let context = AlertContext { muted_until, ..context };
    let (mut events, mut cancelled, mut over) = (Events::default(), Vec::new(), Vec::new());
    for (channel, channel_state) in channels {
        let channel_state =
            ChannelState { window: session.outbox.window(channel), ..channel_state };
        let plan = plan_deliveries(change, &context, &channel_state);
        let DeliveryPlan { written, window, .. } = &plan;
        session.outbox.set_window(channel, *window);
        let address =
            Address { workspace, channel, kind: channel_state.kind, monitor: Some(monitor) };
        for written in written {
            rows::write(session, &mut events, address, written, time.now).await?;
        }
        cancelled.extend(plan.cancelled);
        over.extend(plan.over);
    }
    mark_ended(&mut session.db, &over).await?;
    cancel(&mut session.db, &cancelled, time.now).await
}

/// Marks the alerts of these deliveries as over.
async fn mark_ended(db: &mut Connection, ended: &[i64]) -> Result<(), StoreError> {
    for number in ended {
        query("UPDATE deliveries SET is_open = $1 WHERE number = $2")
            .bind(false)
            .bind(*number)
            .execute(db)
            .await?;
    }
    Ok(())
}

/// Cancels these deliveries.
pub(super) async fn cancel(
    db: &mut Connection,
    cancelled: &[i64],
    at: Timestamp,
) -> Result<(), StoreError> {
    for number in cancelled {
        query(
            "UPDATE deliveries SET is_open = $1, state = 'cancelled', completed_at = $2 \
             WHERE number = $3 AND state = 'waiting'",
        )
        .bind(false)
        .bind(at.as_millis())
        .bind(*number)
        .execute(db)
        .await?;
    }
    Ok(())
}
