//! Rows of the outbox: events sealed and opened, deliveries written and read.

use std::collections::HashMap;

use domain::notify::{
    Content, Event, Holds, News, Placed, Written, event_key, event_name, news_key,
};
use rules::{ChannelId, DeliveryId, ProviderType, Timestamp, WorkspaceId};
use serde::de::DeserializeOwned;

use super::{Addressee, Due, Follows};
use crate::StoreError;
use crate::db::{Row, query};
use crate::row::{id, instant, maybe_instant, narrow, optional};
use crate::vault::{Place, Vault};
use crate::writer::Session;

/// The storm of what goes with others that are not fixed yet.
pub(super) const LOOSE: &str = "";

/// One event is one row, however often it is written.
const INSERT_EVENT: &str = "INSERT INTO events \
    (key, workspace_id, monitor, incident, kind, reminder, began_at, at, sealed) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
    ON CONFLICT (key) DO UPDATE SET key = excluded.key RETURNING number";

/// For whom, and of which monitor's events.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) workspace: WorkspaceId,
    pub(super) channel: ChannelId,
    pub(super) kind: ProviderType,
    /// The number of the monitor; `None` for tests.
    pub(super) monitor: Option<i64>,
}

/// To whom news go.
#[derive(Clone, Copy)]
pub(crate) struct Posted {
    pub(crate) workspace: WorkspaceId,
    pub(crate) addressee: Addressee,
    /// What kind of subscriber, or that it is a page.
    pub(crate) kind: &'static str,
}

/// The numbers of events that this piece of work wrote, so that an event that many hear is written once.
#[derive(Default)]
pub(crate) struct Events(HashMap<String, i64>);

/// Selects deliveries as [`due`] reads them; what follows says which.
macro_rules! select_due {
    ($which:literal) => {
        concat!(
            "SELECT d.number, d.workspace_id, d.channel, m.id, d.key, e.key, e.sealed, d.holds, ",
            "d.storm, d.due_at, d.first_try_at, d.tries, (SELECT COALESCE(MAX(a.number), 0) ",
            "FROM delivery_attempts a WHERE a.delivery = d.number), d.thread FROM deliveries d ",
            "JOIN events e ON e.number = d.event LEFT JOIN monitors m ON m.number = d.monitor ",
            $which
        )
    };
}
pub(super) use select_due;

impl Events {
    /// The event's number, given to it when it is first written.
    async fn number(
        &mut self,
        session: &mut Session,
        address: Address,
        event: &Event,
    ) -> Result<i64, StoreError> {
        let name = event_name(event);
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
            .bind(session.vault.seal(sealed(&name), event)?)
            .fetch_one(&mut session.db)
            .await?
            .try_get(0)?;
        self.0.insert(name, number);
        Ok(number)
    }

    /// The number of news, given to them when they are first written. They belong to no monitor, so
    /// that nobody who looks for its alerts finds them.
    async fn news_number(
        &mut self,
        session: &mut Session,
        workspace: WorkspaceId,
        news: &News,
    ) -> Result<i64, StoreError> {
        let name = news.name();
        if let Some(number) = self.0.get(&name) {
            return Ok(*number);
        }
        let number = query(INSERT_EVENT)
            .bind(&name)
            .bind(workspace.to_string())
            .bind(None::<i64>)
            .bind(None::<String>)
            .bind(news.word())
            .bind(0_i64)
            .bind(news.began_at().as_millis())
            .bind(news.at.as_millis())
            .bind(session.vault.seal(sealed(&name), news)?)
            .fetch_one(&mut session.db)
            .await?
            .try_get(0)?;
        self.0.insert(name, number);
        Ok(number)
    }
}

/// Writes a delivery of news, once however often it is tried, and wakes who sends it.
pub(crate) async fn write_news(
    session: &mut Session,
    events: &mut Events,
    posted: Posted,
    news: &News,
    place: Placed,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = events.news_number(session, posted.workspace, news).await?;
    let key = match posted.addressee {
        Addressee::Subscriber(subscriber) => news_key(subscriber, news),
        Addressee::Page(_) | Addressee::Channel(_) => news.name(),
    };
    let is_new = query(
        "INSERT INTO deliveries (key, workspace_id, channel, kind, event, thread, state, holds, \
         storm, open, created_at, due_at, tries) \
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8, $9, $10, $11, 0) \
         ON CONFLICT (key) DO NOTHING",
    )
    .bind(key)
    .bind(posted.workspace.to_string())
    .bind(posted.addressee.to_string())
    .bind(posted.kind)
    .bind(event)
    .bind(news.thread())
    .bind(place.holds.map(Holds::as_str))
    .bind(loose(place.holds))
    .bind(false)
    .bind(now.as_millis())
    .bind(place.due_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if is_new > 0 {
        session.outbox.wake(posted.addressee, place.due_at);
    }
    Ok(())
}

/// Writes a delivery, once however often it is tried, and wakes who sends it.
pub(super) async fn write(
    session: &mut Session,
    events: &mut Events,
    address: Address,
    written: &Written,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = events.number(session, address, &written.event).await?;
    let is_new = query(
        "INSERT INTO deliveries (key, workspace_id, channel, kind, monitor, event, state, holds, \
         storm, open, created_at, due_at, tries) \
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8, $9, $10, $11, 0) \
         ON CONFLICT (key) DO NOTHING",
    )
    .bind(event_key(address.channel, &written.event))
    .bind(address.workspace.to_string())
    .bind(address.channel.to_string())
    .bind(address.kind.as_str())
    .bind(address.monitor)
    .bind(event)
    .bind(written.place.holds.map(Holds::as_str))
    .bind(loose(written.place.holds))
    .bind(written.opens)
    .bind(now.as_millis())
    .bind(written.place.due_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if is_new > 0 {
        session.outbox.wake(address.channel, written.place.due_at);
    }
    Ok(())
}

/// Reads a row of [`select_due`].
pub(super) fn due(vault: &Vault, row: &Row) -> Result<Due, StoreError> {
    let (key, envelope): (&str, &[u8]) = (row.try_get(5)?, row.try_get(6)?);
    let (follows, content) = if let Some(thread) = row.try_get::<Option<String>>(13)? {
        (Follows::Thread(thread), Content::News(Box::new(open(vault, key, envelope)?)))
    } else {
        let monitor = optional(row, 3, rules::MonitorId::parse)?;
        let follows = monitor.map_or(Follows::Nothing, Follows::Monitor);
        (follows, Content::Alert(Box::new(open(vault, key, envelope)?)))
    };
    Ok(Due {
        id: delivery_id(row, 0)?,
        workspace: id(row, 1, WorkspaceId::parse)?,
        addressee: id(row, 2, Addressee::parse)?,
        follows,
        key: row.try_get(4)?,
        content,
        holds: optional(row, 7, Holds::parse)?,
        storm: row.try_get::<Option<String>>(8)?.filter(|key| !key.is_empty()),
        due_at: instant(row, 9)?,
        first_try_at: maybe_instant(row, 10)?,
        tries: narrow(row, 11)?,
        attempts: narrow(row, 12)?,
    })
}

/// Opens an event with this key, or news. The vault's key was right at the start: what names another one was
/// changed.
pub(super) fn open<T: DeserializeOwned>(
    vault: &Vault,
    key: &str,
    envelope: &[u8],
) -> Result<T, StoreError> {
    vault.open(sealed(key), envelope).map_err(|error| {
        if matches!(error, StoreError::WrongMasterKey) {
            StoreError::corrupt(format!("events.sealed of `{key}`"), error.to_string())
        } else {
            error
        }
    })
}

/// The identifier of the delivery whose number is in a column.
pub(super) fn delivery_id(row: &Row, column: usize) -> Result<DeliveryId, StoreError> {
    Ok(DeliveryId::from_bits(narrow(row, column)?))
}

/// The number of a delivery; one that no row can have where the identifier is none of ours.
pub(super) fn number(delivery: DeliveryId) -> i64 {
    i64::try_from(delivery.bits()).unwrap_or(0)
}

/// Where an event is sealed.
pub(super) const fn sealed(key: &str) -> Place<'_> {
    Place { column: "events.sealed", row: key }
}

/// What stands in `storm` of a delivery that waits for this.
pub(super) fn loose(holds: Option<Holds>) -> Option<&'static str> {
    (holds == Some(Holds::Storm)).then_some(LOOSE)
}
