//! Loads what decides about the alerts of a status change: the monitor, its channels and their open
//! deliveries. The judge's batch waits for it, so unreadable rows do not make it fail: they are
//! logged, and the alerts are planned with what is readable.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::notify::{
    AlertContext, AlertSubject, Cause, ChannelState, DeliveryProgress, EventKind, HoldReason,
    MonitorSnapshot, OpenDelivery,
};
use rules::{
    ChannelId, IncidentId, MonitorId, MonitorKind, Periodicity, ProviderType, WorkspaceId,
};

use super::DeliveryState;
use super::rows::Time;
use crate::db::{Row, query};
use crate::quarantine::{Quarantine, row_key};
use crate::row::{id, instant, narrow, optional};
use crate::vault::Vault;
use crate::writer::Session;
use crate::{StoreError, channels, monitors};

/// Target in the alerts of a monitor whose check is unreadable.
const UNREADABLE_TARGET: &str = "unreadable";

/// Returns the workspace of the monitor and the context of the alert. `None` if the monitor is
/// unreadable.
pub(super) async fn load_context(
    session: &mut Session,
    monitor: i64,
    time: Time,
    cause: Cause,
) -> Result<Option<(WorkspaceId, AlertContext)>, StoreError> {
    let row = query(
        "SELECT m.id, m.check_sealed, w.name AS workspace, m.name, m.kind, m.periodicity, \
         m.workspace_id FROM monitors m \
         JOIN workspaces w ON w.id = m.workspace_id WHERE m.number = $1",
    )
    .bind(monitor)
    .fetch_one(&mut session.db)
    .await?;
    let context = read_context(session, &row, time, cause);
    session.quarantine.readable("monitors", || row_key(&row), context)
}

fn read_context(
    session: &Session,
    row: &Row,
    Time { at, now }: Time,
    cause: Cause,
) -> Result<(WorkspaceId, AlertContext), StoreError> {
    let context = AlertContext {
        at,
        now,
        workspace: row.try_get("workspace")?,
        monitor: snapshot(session, row)?,
        period: period(session, row)?,
        cause,
        muted_until: None,
    };
    Ok((id(row, "workspace_id", WorkspaceId::parse)?, context))
}

/// Returns the monitor as messages show it. An unreadable check does not hold an alert back.
fn snapshot(session: &Session, row: &Row) -> Result<MonitorSnapshot, StoreError> {
    let monitor = id(row, "id", MonitorId::parse)?;
    let name: String = row.try_get("name")?;
    let context = monitors::check_context(row.try_get("id")?);
    let check = row
        .try_get("check_sealed")
        .map_err(StoreError::from)
        .and_then(|sealed| session.vault.open(context, sealed));
    Ok(match session.quarantine.readable("monitors", || row_key(row), check)? {
        Some(check) => MonitorSnapshot::new(monitor, name, &check),
        None => MonitorSnapshot {
            id: monitor,
            name,
            kind: id(row, "kind", MonitorKind::parse)?,
            target: UNREADABLE_TARGET.to_owned(),
            method: None,
        },
    })
}

/// Returns the period, or the shortest if it is unreadable: an alert too early is better than none.
fn period(session: &Session, row: &Row) -> Result<Duration, StoreError> {
    let period = id(row, "periodicity", Periodicity::parse);
    let period = session.quarantine.readable("monitors", || row_key(row), period)?;
    Ok(period.unwrap_or(Periodicity::ThirtySeconds).period())
}

/// Returns the channels with an open delivery for the monitor.
pub(super) async fn open_deliveries(
    session: &mut Session,
    monitor: i64,
) -> Result<BTreeMap<ChannelId, ChannelState>, StoreError> {
    let rows = query(
        "SELECT d.number, d.recipient_id, c.kind AS channel_kind, c.provider_sealed, \
         c.preferences, e.incident, e.kind AS event_kind, e.began_at, e.reminder, d.state, d.attempts, d.hold_reason, d.due_at \
         FROM deliveries d JOIN events e ON e.number = d.event JOIN channels c \
         ON c.id = d.recipient_id WHERE d.monitor = $1 AND d.is_open ORDER BY d.number",
    )
    .bind(monitor)
    .fetch_all(&mut session.db)
    .await?;
    let (vault, quarantine) = (&*session.vault, &*session.quarantine);
    let read = |row| {
        let channel = id(row, "recipient_id", ChannelId::parse)?;
        let channel_state = read_channel_state((vault, quarantine), row, channel);
        let channel_state =
            quarantine.readable("channels", || channel.to_string(), channel_state)?;
        Ok((channel, channel_state, read_open_delivery(quarantine, row)?))
    };
    let mut channels: BTreeMap<ChannelId, ChannelState> = BTreeMap::new();
    for (channel, channel_state, delivery) in quarantine.readable_rows("deliveries", &rows, read)? {
        if let Some(channel_state) = channel_state {
            channels.entry(channel).or_insert(channel_state).open_deliveries.push(delivery);
        }
    }
    Ok(channels)
}

/// Adds the channels that are linked to the monitor.
pub(super) async fn add_linked(
    session: &mut Session,
    monitor: i64,
    channels: &mut BTreeMap<ChannelId, ChannelState>,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT c.id, c.kind AS channel_kind, c.provider_sealed, c.preferences \
         FROM channel_monitors l JOIN channels c ON c.id = l.channel WHERE l.monitor = $1",
    )
    .bind(monitor)
    .fetch_all(&mut session.db)
    .await?;
    let (vault, quarantine) = (&*session.vault, &*session.quarantine);
    let read = |row| {
        let channel = id(row, "id", ChannelId::parse)?;
        Ok((channel, read_channel_state((vault, quarantine), row, channel)?))
    };
    for (channel, linked) in quarantine.readable_rows("channels", &rows, read)? {
        let known = channels.remove(&channel);
        let open_deliveries = known.map(|known| known.open_deliveries).unwrap_or_default();
        channels.insert(channel, ChannelState { is_linked: true, open_deliveries, ..linked });
    }
    Ok(())
}

/// Reads the columns `channel_kind`, `provider_sealed` and `preferences` of a channel. The kind is that of
/// the provider if it is unreadable. A channel with unreadable preferences is alerted as one without.
pub(super) fn read_channel_state(
    (vault, quarantine): (&Vault, &Quarantine),
    row: &Row,
    channel: ChannelId,
) -> Result<ChannelState, StoreError> {
    let kind = id(row, "channel_kind", ProviderType::parse);
    let kind = quarantine.readable("channels", || channel.to_string(), kind)?;
    Ok(ChannelState {
        kind: kind.map_or_else(|| channels::provider_kind(vault, row, channel), Ok)?,
        preferences: channels::readable_preferences(quarantine, row, channel)?,
        is_linked: false,
        window: None,
        open_deliveries: Vec::new(),
    })
}

/// Reads an open delivery. If its progress is unreadable, it counts as accepted, so that the end of the
/// alert is announced.
fn read_open_delivery(quarantine: &Quarantine, row: &Row) -> Result<OpenDelivery, StoreError> {
    let progress = quarantine.readable("deliveries", || row_key(row), read_progress(row))?;
    let incident = optional(row, "incident", IncidentId::parse)?;
    Ok(OpenDelivery {
        delivery: row.try_get("number")?,
        subject: AlertSubject::new(id(row, "event_kind", EventKind::parse)?, incident),
        since: instant(row, "began_at")?,
        reminder: narrow(row, "reminder")?,
        progress: progress.unwrap_or(DeliveryProgress::AcceptedOrPending),
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
