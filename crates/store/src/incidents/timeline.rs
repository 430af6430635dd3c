//! Timeline of an incident: its events and its notifications. Actions of people and of the judge
//! are recorded as they happen. Notifications are read from the outbox.

use domain::judge::CloseReason;
use rules::{ChannelId, DeliveryId, IncidentId, ProviderType, Region, Timestamp};

use super::{Person, parse_close_reason, person};
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::{id, instant};

/// Maximum number of deliveries in a timeline; the newest are shown. Comments and regions have
/// their own limits.
const DELIVERIES_MAX: i64 = 500;

/// Entry of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    pub at: Timestamp,
    /// Actor, if a person caused it.
    pub by: Option<Person>,
    pub what: TimelineEvent,
}

/// Kind of a timeline entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineEvent {
    Opened,
    Acknowledged,
    Commented(String),
    /// Another region started to fail.
    RegionFailed(Region),
    /// A channel was notified, or will be.
    Notified(Notified),
    /// A person resolved and thereby closed it.
    Resolved,
    /// It closed by itself, or with its monitor.
    Closed(CloseReason),
}

/// Notification of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    /// Delivery. The delivery log lists its attempts.
    pub delivery: DeliveryId,
    /// Channel, which may be deleted.
    pub channel: ChannelId,
    pub kind: ProviderType,
    /// Name of the event.
    pub event: String,
    /// Name of the delivery's state.
    pub state: String,
}

impl TimelineEvent {
    /// Returns the stored and published name.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Acknowledged => "acknowledged",
            Self::Commented(_) => "commented",
            Self::RegionFailed(_) => "region_failed",
            Self::Notified(_) => "notified",
            Self::Resolved => "resolved",
            Self::Closed(_) => "closed",
        }
    }
}

/// Returns the readable entries of the timeline of an incident, in order of time.
pub(super) async fn load(
    db: &mut Connection,
    quarantine: &Quarantine,
    incident: IncidentId,
) -> Result<Vec<TimelineEntry>, StoreError> {
    let rows = query(
        "SELECT number, at, kind, text, actor, actor_name FROM incident_entries \
         WHERE incident = $1 ORDER BY number",
    )
    .bind(incident.to_string())
    .fetch_all(db)
    .await?;
    let mut entries = quarantine.readable_rows("incident_entries", &rows, read)?;
    let rows = query(
        "SELECT d.number, COALESCE(d.completed_at, d.created_at) AS at, d.recipient_id, d.kind, \
         e.kind AS event_kind, d.state \
         FROM events e JOIN deliveries d ON d.event = e.number \
         WHERE e.incident = $1 AND d.state <> 'cancelled' ORDER BY d.number DESC LIMIT $2",
    )
    .bind(incident.to_string())
    .bind(DELIVERIES_MAX)
    .fetch_all(db)
    .await?;
    entries.extend(quarantine.readable_rows("deliveries", rows.iter().rev(), read_notified)?);
    // The sort is stable: entries of one millisecond keep their order, with notifications last.
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

/// Returns a comment by its row ID.
pub(super) async fn comment(db: &mut Connection, number: i64) -> Result<TimelineEntry, StoreError> {
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

pub(crate) fn read(row: &Row) -> Result<TimelineEntry, StoreError> {
    let (kind, text): (&str, &str) = (row.try_get("kind")?, row.try_get("text")?);
    let unreadable = |why: String| StoreError::corrupt("an entry of an incident", why);
    let what = match kind {
        "opened" => TimelineEvent::Opened,
        "acknowledged" => TimelineEvent::Acknowledged,
        "commented" => TimelineEvent::Commented(text.to_owned()),
        "region_failed" => TimelineEvent::RegionFailed(
            Region::parse(text).map_err(|why| unreadable(why.to_string()))?,
        ),
        "resolved" => TimelineEvent::Resolved,
        "closed" => TimelineEvent::Closed(parse_close_reason(text).map_err(unreadable)?),
        other => return Err(unreadable(format!("unknown kind `{other}`"))),
    };
    Ok(TimelineEntry { at: instant(row, "at")?, by: person(row, ["actor", "actor_name"])?, what })
}

fn read_notified(row: &Row) -> Result<TimelineEntry, StoreError> {
    let number: i64 = row.try_get("number")?;
    let notified = Notified {
        delivery: DeliveryId::from_bits(number as u64),
        channel: id(row, "recipient_id", ChannelId::parse)?,
        kind: id(row, "kind", ProviderType::parse)?,
        event: row.try_get("event_kind")?,
        state: row.try_get("state")?,
    };
    Ok(TimelineEntry { at: instant(row, "at")?, by: None, what: TimelineEvent::Notified(notified) })
}
