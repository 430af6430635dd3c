//! Delivery log: deliveries of a channel and their attempts, newest first, and their number.
//! `replay` replays dead letters.

use std::fmt::Write as _;
use std::time::Duration;

use domain::notify::HoldReason;
use rules::{ChannelId, DeliveryId, MonitorId, ProviderType, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::corrupt::outline;
use super::rows;
use super::{
    AlertToChannel, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryState, Outbox, OutboxCounts,
};
use crate::db::{Connection, Query, Row, Value, query};
use crate::list::Listed;
use crate::quarantine::{Quarantine, is_unreadable, row_key};
use crate::row::{id, instant, narrow, optional, optional_instant, optional_narrow, to_count};
use crate::vault::Vault;
use crate::{Page, StoreError};

/// Selects deliveries `d` for [`read`], with more columns. The row includes the number of the newest
/// attempt, so that attempts read afterwards are from the same snapshot.
macro_rules! select_deliveries {
    ($more:literal) => {
        concat!(
            "SELECT d.number, d.workspace_id, d.kind, d.state, d.hold_reason, d.created_at, \
             d.due_at, ",
            "d.attempts, d.completed_at, (SELECT MAX(a.number) FROM delivery_attempts a ",
            "WHERE a.delivery = d.number) AS newest_attempt, d.recipient_id, ",
            $more
        )
    };
}
pub(super) use select_deliveries;

const SELECT: &str = select_deliveries!(
    "m.id AS monitor_id, e.key AS event_key, e.sealed, e.kind AS event_kind, e.incident, e.reminder, \
     e.began_at, e.at FROM deliveries d JOIN events e ON e.number = d.event \
     LEFT JOIN monitors m ON m.number = d.monitor"
);

impl Outbox<'_> {
    /// Returns a page of the workspace's deliveries, newest first, and the total number that match
    /// the filter.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: DeliveryFilter,
        page: Page<DeliveryId>,
    ) -> Result<Listed<Delivery>, StoreError> {
        let mut db = self.store.read().await?;
        let conditions = Conditions::new(workspace, filter);
        let total: Option<i64> =
            conditions.to_query("SELECT COUNT(*) FROM deliveries d", "").scalar(&mut db).await?;
        let before = page.after.map_or(i64::MAX, rows::row_id);
        let part = format!(
            "AND d.number < {before} ORDER BY d.number DESC LIMIT {} OFFSET {}",
            page.limit, page.offset
        );
        let part = conditions.to_query(SELECT, &part);
        let rows = part.fetch_all(&mut db).await?;
        let (quarantine, vault) = (self.store.quarantine(), self.store.vault());
        let about = |row: &Row| about(vault, row);
        listed((&mut db, quarantine), &rows, total, about).await
    }

    /// Returns a delivery of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
    ) -> Result<Delivery, StoreError> {
        one(&mut self.store.read().await?, self.store.vault(), workspace, id).await
    }

    /// Returns the size of the outbox.
    pub async fn counts(&self) -> Result<OutboxCounts, StoreError> {
        let mut db = self.store.read().await?;
        let waiting = query(
            "SELECT COUNT(*) AS waiting, MIN(CASE WHEN hold_reason IS NULL \
             THEN COALESCE(first_attempt_at, due_at) END) AS oldest_due_at \
             FROM deliveries WHERE state = 'waiting'",
        )
        .fetch_one(&mut db)
        .await?;
        let dead: Option<i64> =
            query("SELECT COUNT(*) FROM deliveries WHERE state = 'dead'").scalar(&mut db).await?;
        Ok(OutboxCounts {
            waiting: narrow(&waiting, "waiting")?,
            dead: dead.and_then(|dead| u64::try_from(dead).ok()).unwrap_or_default(),
            oldest_due_at: optional_instant(&waiting, "oldest_due_at")?,
        })
    }
}

/// Condition of a statement, with its values.
struct Conditions {
    condition: String,
    values: Vec<String>,
}

impl Conditions {
    fn new(workspace: WorkspaceId, filter: DeliveryFilter) -> Self {
        let mut conditions = Self {
            condition: "d.workspace_id = $1 AND d.recipient_kind = 'channel'".to_owned(),
            values: vec![workspace.to_string()],
        };
        let channel = filter.channel.map(|it| it.to_string());
        conditions.and(channel, |parameter| format!("d.recipient_id = {parameter}"));
        conditions.and(filter.monitor.map(|it| it.to_string()), |parameter| {
            format!(
                "d.monitor = (SELECT n.number FROM monitors n \
                 WHERE n.workspace_id = $1 AND n.id = {parameter})"
            )
        });
        if let Some(state) = filter.state {
            // Written as in the conditions of the indexes.
            let _ = write!(conditions.condition, " AND d.state = '{}'", state.as_str());
        }
        conditions
    }

    fn and(&mut self, value: Option<String>, condition: impl FnOnce(&str) -> String) {
        let Some(value) = value else { return };
        self.values.push(value);
        let parameter = format!("${}", self.values.len());
        let _ = write!(self.condition, " AND {}", condition(&parameter));
    }

    fn to_query(&self, select: &str, rest: &str) -> Query {
        let statement = format!("{select} WHERE {} {rest}", self.condition);
        let first = query(AssertSqlSafe(statement));
        self.values.iter().fold(first, |query, value| query.bind(Value::from(value)))
    }
}

/// Returns a delivery of the workspace, as this connection sees it.
pub(super) async fn one(
    db: &mut Connection,
    vault: &Vault,
    workspace: WorkspaceId,
    id: DeliveryId,
) -> Result<Delivery, StoreError> {
    let conditions = Conditions::new(workspace, DeliveryFilter::default());
    let conditions = conditions.to_query(SELECT, &format!("AND d.number = {}", rows::row_id(id)));
    let row = conditions.fetch_optional(db).await?;
    let row = row.ok_or_else(|| StoreError::not_found("delivery", &id))?;
    read(db, &row, about(vault, &row)).await
}

/// Reads a page of deliveries, without those that cannot be read.
pub(super) async fn listed<A>(
    (db, quarantine): (&mut Connection, &Quarantine),
    rows: &[Row],
    total: Option<i64>,
    about: impl Fn(&Row) -> Result<A, StoreError>,
) -> Result<Listed<Delivery<A>>, StoreError> {
    let (mut found, mut omitted) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        let delivery = read(db, row, about(row)).await;
        match quarantine.readable("deliveries", || row_key(row), delivery)? {
            Some(delivery) => found.push(delivery),
            // A page token is an identifier, not a number.
            None => omitted.push(rows::delivery_id(row)?.to_string()),
        }
    }
    Ok(Listed { rows: found, omitted, total: to_count(total) })
}

/// Reads a delivery, with its latest attempts up to the newest that its row has.
pub(super) async fn read<A>(
    db: &mut Connection,
    row: &Row,
    about: Result<A, StoreError>,
) -> Result<Delivery<A>, StoreError> {
    let delivery = rows::delivery_id(row)?;
    Ok(Delivery {
        id: delivery,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        about: about?,
        kind: id(row, "kind", ProviderType::parse)?,
        state: id(row, "state", DeliveryState::parse)?,
        hold_reason: optional(row, "hold_reason", HoldReason::parse)?,
        created_at: instant(row, "created_at")?,
        due_at: instant(row, "due_at")?,
        attempt_count: narrow(row, "attempts")?,
        completed_at: optional_instant(row, "completed_at")?,
        attempts: match row.try_get("newest_attempt")? {
            Some(newest) => attempts(db, delivery, newest).await?,
            None => Vec::new(),
        },
    })
}

/// Reads the channel and the event of an alert.
fn about(vault: &Vault, row: &Row) -> Result<AlertToChannel, StoreError> {
    let key = row.try_get("event_key")?;
    let event = match rows::open(vault, key, row.try_get("sealed")?) {
        Err(why) if is_unreadable(&why) => outline(row, key)?,
        event => event?,
    };
    Ok(AlertToChannel {
        channel: id(row, "recipient_id", ChannelId::parse)?,
        monitor: optional(row, "monitor_id", MonitorId::parse)?,
        event,
    })
}

/// Returns the attempts up to the newest, as many as a delivery lists.
async fn attempts(
    db: &mut Connection,
    delivery: DeliveryId,
    newest: i64,
) -> Result<Vec<DeliveryAttempt>, StoreError> {
    let rows = query(
        "SELECT number, at, duration_ms, status, response FROM delivery_attempts \
         WHERE delivery = $1 AND number <= $2 ORDER BY number DESC LIMIT $3",
    )
    .bind(rows::row_id(delivery))
    .bind(newest)
    .bind(i64::from(<Delivery>::ATTEMPTS_MAX))
    .fetch_all(db)
    .await?;
    rows.iter().rev().map(attempt).collect()
}

fn attempt(row: &Row) -> Result<DeliveryAttempt, StoreError> {
    Ok(DeliveryAttempt {
        number: narrow(row, "number")?,
        at: instant(row, "at")?,
        duration: Duration::from_millis(narrow(row, "duration_ms")?),
        status: optional_narrow(row, "status")?,
        response: row.try_get("response")?,
    })
}
