//! Enqueues alerts in the transaction of their event. `domain::notify::plan_deliveries` decides
//! which channels are notified, when, and which deliveries are cancelled. This module loads its
//! inputs and stores its outputs.

use std::collections::BTreeMap;

use domain::judge::{CloseReason, IncidentChange, Transition};
use domain::notify::{
    AlertChange, AlertContext, AlertSubject, Cause, ChannelState, DeliveryPlan, DeliveryProgress,
    EventKind, HoldReason, MonitorSnapshot, OpenDelivery, plan_deliveries,
};
use rules::{
    ChannelId, IncidentId, MonitorId, PageId, Periodicity, ProviderType, Timestamp, WorkspaceId,
};

use super::rows::{self, Address, Events, Time};
use super::{DeliveryState, page_events};
use crate::db::{Connection, Row, query};
use crate::recipient::Recipient;
use crate::row::{id, instant, narrow, optional};
use crate::writer::Session;
use crate::{StoreError, channels, maintenances, monitors};

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
    let mut channels = open_deliveries(&mut session.db, monitor).await?;
    if can_begin(change) {
        add_linked(&mut session.db, monitor, &mut channels).await?;
    }
    let cause = cause.cloned().unwrap_or_default();
    enqueue(session, monitor, (change, time), channels, cause).await
}

/// Enqueues the alerts that a monitor was paused or deleted, for channels that were alerted about
/// it. Must run before the monitor leaves its channels.
pub(crate) async fn enqueue_end(session: &mut Session, ending: Ending) -> Result<(), StoreError> {
    let time = Time { at: ending.at, now: ending.at };
    page_events::enqueue_closed(session, ending.monitor, time).await?;
    let channels = open_deliveries(&mut session.db, ending.monitor).await?;
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
    let (workspace, context) = load_context(session, monitor, time, cause).await?;
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

/// Returns the workspace of the monitor and the context of the alert.
async fn load_context(
    session: &mut Session,
    monitor: i64,
    Time { at, now }: Time,
    cause: Cause,
) -> Result<(WorkspaceId, AlertContext), StoreError> {
    let row = query(
        "SELECT m.id, m.check_sealed, w.name AS workspace, m.name, m.periodicity, m.workspace_id \
         FROM monitors m \
         JOIN workspaces w ON w.id = m.workspace_id WHERE m.number = $1",
    )
    .bind(monitor)
    .fetch_one(&mut session.db)
    .await?;
    let monitor_id: MonitorId = id(&row, "id", MonitorId::parse)?;
    let context = monitors::check_context(row.try_get("id")?);
    let check = session.vault.open(context, row.try_get("check_sealed")?)?;
    let context = AlertContext {
        at,
        now,
        workspace: row.try_get("workspace")?,
        monitor: MonitorSnapshot::new(monitor_id, row.try_get("name")?, &check),
        period: id(&row, "periodicity", Periodicity::parse)?.period(),
        cause,
        muted_until: None,
    };
    Ok((id(&row, "workspace_id", WorkspaceId::parse)?, context))
}

/// Returns the channels with an open delivery for the monitor.
async fn open_deliveries(
    db: &mut Connection,
    monitor: i64,
) -> Result<BTreeMap<ChannelId, ChannelState>, StoreError> {
    let rows = query(
        "SELECT d.recipient_id, c.kind AS channel_kind, c.preferences, d.number, e.incident, \
         e.kind AS event_kind, e.began_at, e.reminder, d.state, d.attempts, d.hold_reason, d.due_at \
         FROM deliveries d JOIN events e ON e.number = d.event JOIN channels c \
         ON c.id = d.recipient_id WHERE d.monitor = $1 AND d.is_open ORDER BY d.number",
    )
    .bind(monitor)
    .fetch_all(db)
    .await?;
    let mut channels = BTreeMap::new();
    for row in &rows {
        let channel = id(row, "recipient_id", ChannelId::parse)?;
        let channel_state = match channels.entry(channel) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(read_channel_state(row, channel)?)
            }
        };
        channel_state.open_deliveries.push(read_open_delivery(row)?);
    }
    Ok(channels)
}

/// Adds the channels that are linked to the monitor.
async fn add_linked(
    db: &mut Connection,
    monitor: i64,
    channels: &mut BTreeMap<ChannelId, ChannelState>,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT c.id, c.kind AS channel_kind, c.preferences FROM channel_monitors l \
         JOIN channels c ON c.id = l.channel WHERE l.monitor = $1",
    )
    .bind(monitor)
    .fetch_all(db)
    .await?;
    for row in &rows {
        let channel = id(row, "id", ChannelId::parse)?;
        let open_deliveries =
            channels.remove(&channel).map(|known| known.open_deliveries).unwrap_or_default();
        channels.insert(
            channel,
            ChannelState { is_linked: true, open_deliveries, ..read_channel_state(row, channel)? },
        );
    }
    Ok(())
}

/// Reads the columns `channel_kind` and `preferences` of a channel.
pub(super) fn read_channel_state(
    row: &Row,
    channel: ChannelId,
) -> Result<ChannelState, StoreError> {
    Ok(ChannelState {
        kind: id(row, "channel_kind", ProviderType::parse)?,
        preferences: channels::read_preferences(row.try_get("preferences")?, channel)?,
        is_linked: false,
        window: None,
        open_deliveries: Vec::new(),
    })
}

fn read_open_delivery(row: &Row) -> Result<OpenDelivery, StoreError> {
    let incident = optional(row, "incident", IncidentId::parse)?;
    Ok(OpenDelivery {
        delivery: row.try_get("number")?,
        subject: AlertSubject::new(id(row, "event_kind", EventKind::parse)?, incident),
        since: instant(row, "began_at")?,
        reminder: narrow(row, "reminder")?,
        progress: read_progress(row)?,
    })
}

fn read_progress(row: &Row) -> Result<DeliveryProgress, StoreError> {
    let (state, attempts) =
        (id(row, "state", DeliveryState::parse)?, narrow::<u32>(row, "attempts")?);
    let (hold_reason, due_at) =
        (optional(row, "hold_reason", HoldReason::parse)?, instant(row, "due_at")?);
    Ok(match (state, hold_reason) {
        (DeliveryState::Waiting, Some(hold_reason)) if attempts == 0 => {
            DeliveryProgress::Held(hold_reason, due_at)
        }
        (DeliveryState::Waiting | DeliveryState::Accepted, _) => {
            DeliveryProgress::AcceptedOrPending
        }
        (DeliveryState::Dead | DeliveryState::Cancelled, _) => DeliveryProgress::Dead,
    })
}
