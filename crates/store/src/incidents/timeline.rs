//! The timeline of an incident: what happened in it, and whom it was told. What people and the judge
//! did is written down as it happens; what was told is read of the outbox.

use domain::judge::ClosedAs;
use rules::{ChannelId, DeliveryId, IncidentId, ProviderType, Region, Timestamp};

use super::{Person, closed_as, person};
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::row::{id, instant};

/// Deliveries that a timeline shows, the newest; comments and regions are bounded by themselves.
const TOLD_MAX: i64 = 500;

/// One thing that happened in an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// Who did it, where somebody did.
    pub by: Option<Person>,
    /// What.
    pub what: Happened,
}

/// What may happen in an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It opened.
    Opened,
    /// Somebody took it up.
    Acknowledged,
    /// Somebody wrote this.
    Commented(String),
    /// Another region began to fail.
    Joined(Region),
    /// A channel was told of it, or will be.
    Told(Told),
    /// Somebody resolved it, which closed it.
    Resolved,
    /// It closed by itself, or with its monitor.
    Closed(ClosedAs),
}

/// What a channel was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The delivery, whose attempts stand in the delivery log.
    pub delivery: DeliveryId,
    /// Which channel; it may be deleted since.
    pub channel: ChannelId,
    /// What kind of channel.
    pub kind: ProviderType,
    /// What it was told: the word of an event.
    pub event: String,
    /// What became of it: the word of a delivery's state.
    pub state: String,
}

impl Happened {
    /// The word that is stored and shown.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Acknowledged => "acknowledged",
            Self::Commented(_) => "commented",
            Self::Joined(_) => "joined",
            Self::Told(_) => "told",
            Self::Resolved => "resolved",
            Self::Closed(_) => "closed",
        }
    }
}

/// What happened in an incident, in the order of time.
pub(super) async fn of(
    db: &mut Connection,
    incident: IncidentId,
) -> Result<Vec<Entry>, StoreError> {
    let rows = query(
        "SELECT at, kind, text, actor, actor_name FROM incident_entries \
         WHERE incident = $1 ORDER BY number",
    )
    .bind(incident.to_string())
    .fetch_all(db)
    .await?;
    let mut entries: Vec<Entry> = rows.iter().map(read).collect::<Result<_, _>>()?;
    let rows = query(
        "SELECT COALESCE(d.done_at, d.created_at), d.number, d.channel, d.kind, e.kind, d.state \
         FROM events e JOIN deliveries d ON d.event = e.number \
         WHERE e.incident = $1 AND d.state <> 'cancelled' ORDER BY d.number DESC LIMIT $2",
    )
    .bind(incident.to_string())
    .bind(TOLD_MAX)
    .fetch_all(db)
    .await?;
    for row in rows.iter().rev() {
        entries.push(told(row)?);
    }
    // Stable: what happened in one millisecond stays in its order, what was told after it.
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

/// The entry of a comment, by its number.
pub(super) async fn comment(db: &mut Connection, number: i64) -> Result<Entry, StoreError> {
    let row = query(
        "SELECT at, kind, text, actor, actor_name FROM incident_entries \
         WHERE number = $1 AND kind = 'commented'",
    )
    .bind(number)
    .fetch_optional(db)
    .await?
    .ok_or_else(|| StoreError::not_found("comment", &number))?;
    read(&row)
}

fn read(row: &Row) -> Result<Entry, StoreError> {
    let (kind, text): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
    let unreadable = |why: String| StoreError::corrupt("an entry of an incident", why);
    let what = match kind {
        "opened" => Happened::Opened,
        "acknowledged" => Happened::Acknowledged,
        "commented" => Happened::Commented(text.to_owned()),
        "joined" => {
            Happened::Joined(Region::parse(text).map_err(|why| unreadable(why.to_string()))?)
        }
        "resolved" => Happened::Resolved,
        "closed" => Happened::Closed(closed_as(text).map_err(unreadable)?),
        other => return Err(unreadable(format!("`{other}` is nothing that happens in one"))),
    };
    Ok(Entry { at: instant(row, 0)?, by: person(row, 3)?, what })
}

fn told(row: &Row) -> Result<Entry, StoreError> {
    let number: i64 = row.try_get(1)?;
    let told = Told {
        delivery: DeliveryId::from_bits(number as u64),
        channel: id(row, 2, ChannelId::parse)?,
        kind: id(row, 3, ProviderType::parse)?,
        event: row.try_get(4)?,
        state: row.try_get(5)?,
    };
    Ok(Entry { at: instant(row, 0)?, by: None, what: Happened::Told(told) })
}
