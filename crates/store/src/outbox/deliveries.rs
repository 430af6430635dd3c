//! Delivery log: deliveries of a channel and their attempts, newest first, and their number.
//! `replay` replays dead letters.

use std::fmt::Write as _;
use std::time::Duration;

use domain::notify::HoldReason;
use rules::{ChannelId, DeliveryId, MonitorId, ProviderType, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::corrupt::outline;
use super::rows;
use super::{Delivery, DeliveryAttempt, DeliveryFilter, DeliveryState, Outbox, OutboxCounts};
use crate::db::{Connection, Query, Row, Value, query};
use crate::quarantine::{Quarantine, is_unreadable, row_key};
use crate::row::{Listed, id, instant, narrow, optional, optional_instant, to_count};
use crate::vault::Vault;
use crate::{Page, StoreError};

/// The row includes the number of the newest attempt, so that attempts read afterwards are from the
/// same snapshot.
const COLUMNS: &str = "SELECT d.number, d.workspace_id, d.recipient, d.kind, m.id, e.key, e.sealed, \
    d.state, d.hold_reason, d.created_at, d.due_at, d.attempts, d.completed_at, \
    (SELECT MAX(a.number) FROM delivery_attempts a WHERE a.delivery = d.number), \
    e.kind, e.incident, e.reminder, e.began_at, e.at FROM deliveries d \
    JOIN events e ON e.number = d.event LEFT JOIN monitors m ON m.number = d.monitor";

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
        let part = conditions.to_query(COLUMNS, &part);
        let rows = part.fetch_all(&mut db).await?;
        let (quarantine, vault) = (self.store.quarantine(), self.store.vault());
        let read = |row: &Row, attempts| read(vault, row, attempts);
        listed((&mut db, quarantine), &rows, (13, total), read).await
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
            "SELECT COUNT(*), MIN(CASE WHEN hold_reason IS NULL THEN COALESCE(first_attempt_at, due_at) END) \
             FROM deliveries WHERE state = 'waiting'",
        )
        .fetch_one(&mut db)
        .await?;
        let dead: Option<i64> =
            query("SELECT COUNT(*) FROM deliveries WHERE state = 'dead'").scalar(&mut db).await?;
        Ok(OutboxCounts {
            waiting: narrow(&waiting, 0)?,
            dead: dead.and_then(|dead| u64::try_from(dead).ok()).unwrap_or_default(),
            oldest_due_at: optional_instant(&waiting, 1)?,
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
            condition: "d.workspace_id = $1 AND d.thread IS NULL".to_owned(),
            values: vec![workspace.to_string()],
        };
        let channel = filter.channel.map(|it| it.to_string());
        conditions.and(channel, |parameter| format!("d.recipient = {parameter}"));
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
    let conditions = conditions.to_query(COLUMNS, &format!("AND d.number = {}", rows::row_id(id)));
    let row = conditions.fetch_optional(db).await?;
    let row = row.ok_or_else(|| StoreError::not_found("delivery", &id))?;
    let attempts = newest_attempts(db, &row, 13).await?;
    read(vault, &row, attempts)
}

/// Reads a page of deliveries, without those that cannot be read. Their number is in the first column, that of the
/// newest attempt in column `newest`.
pub(super) async fn listed<T>(
    (db, quarantine): (&mut Connection, &Quarantine),
    rows: &[Row],
    (newest, total): (usize, Option<i64>),
    read: impl Fn(&Row, Vec<DeliveryAttempt>) -> Result<T, StoreError>,
) -> Result<Listed<T>, StoreError> {
    let (mut found, mut omitted) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        let attempts = newest_attempts(db, row, newest).await;
        let delivery = attempts.and_then(|attempts| read(row, attempts));
        match quarantine.readable("deliveries", || row_key(row), delivery)? {
            Some(delivery) => found.push(delivery),
            // A page token is an identifier, not a number.
            None => omitted.push(rows::delivery_id(row, 0)?.to_string()),
        }
    }
    Ok(Listed { rows: found, omitted, total: to_count(total) })
}

/// Returns the latest attempts of a delivery, up to the newest that its row has.
pub(super) async fn newest_attempts(
    db: &mut Connection,
    row: &Row,
    newest: usize,
) -> Result<Vec<DeliveryAttempt>, StoreError> {
    match row.try_get(newest)? {
        Some(newest) => attempts(db, rows::delivery_id(row, 0)?, newest).await,
        None => Ok(Vec::new()),
    }
}

fn read(vault: &Vault, row: &Row, attempts: Vec<DeliveryAttempt>) -> Result<Delivery, StoreError> {
    let key = row.try_get(5)?;
    let event = match rows::open(vault, key, row.try_get(6)?) {
        Err(why) if is_unreadable(&why) => outline(row, key, 14)?,
        event => event?,
    };
    Ok(Delivery {
        id: rows::delivery_id(row, 0)?,
        workspace: id(row, 1, WorkspaceId::parse)?,
        channel: id(row, 2, ChannelId::parse)?,
        kind: id(row, 3, ProviderType::parse)?,
        monitor: optional(row, 4, MonitorId::parse)?,
        event,
        state: id(row, 7, DeliveryState::parse)?,
        hold_reason: optional(row, 8, HoldReason::parse)?,
        created_at: instant(row, 9)?,
        due_at: instant(row, 10)?,
        attempt_count: narrow(row, 11)?,
        completed_at: optional_instant(row, 12)?,
        attempts,
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
    .bind(i64::from(Delivery::ATTEMPTS_MAX))
    .fetch_all(db)
    .await?;
    rows.iter().rev().map(attempt).collect()
}

fn attempt(row: &Row) -> Result<DeliveryAttempt, StoreError> {
    Ok(DeliveryAttempt {
        number: narrow(row, 0)?,
        at: instant(row, 1)?,
        duration: Duration::from_millis(narrow(row, 2)?),
        status: row.try_get::<Option<i64>>(3)?.map(|_| narrow(row, 3)).transpose()?,
        response: row.try_get(4)?,
    })
}
