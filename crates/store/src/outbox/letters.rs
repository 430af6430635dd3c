//! Letters: what subscribers of status pages were told and what came of it, newest first, for the owners
//! of a page; and dead ones told again. Of who ended, nothing is listed.

use std::fmt::Write as _;

use domain::notify::Holds;
use rules::status_page::SubscriberState;
use rules::{
    DeliveryId, IncidentId, PageId, ProviderType, SubscriberId, Timestamp, Violation, WorkspaceId,
};
use sqlx::AssertSqlSafe;

use super::log::attempts;
use super::replay::{self, FIELD, wait_anew};
use super::{DeliveryAttempt, DeliveryState, Outbox, rows};
use crate::db::{Connection, Query, Row, Value, query};
use crate::row::{Listed, counted, id, instant, maybe_instant, narrow, optional};
use crate::writer::Session;
use crate::{Change, Page, StoreError, subscribers};

const COLUMNS: &str = "SELECT d.number, d.channel, s.page_id, d.kind, e.kind, d.key, d.state, d.holds, \
    d.created_at, d.due_at, d.tries, d.done_at, (SELECT MAX(a.number) FROM delivery_attempts a \
    WHERE a.delivery = d.number), d.thread";
const FROM: &str = "FROM deliveries d JOIN events e ON e.number = d.event \
    JOIN subscribers s ON s.id = d.channel";

/// What one subscriber is told at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its identifier among all deliveries; later ones are greater.
    pub id: DeliveryId,
    /// Who is told.
    pub subscriber: SubscriberId,
    /// Of which page.
    pub page: PageId,
    /// In which way.
    pub kind: ProviderType,
    /// What is told, as a word of [`domain::notify::News::word`].
    pub word: String,
    /// The same in every try.
    pub key: String,
    /// What became of it.
    pub state: DeliveryState,
    /// Why it waits untried, where it does.
    pub holds: Option<Holds>,
    /// When it was written down.
    pub created_at: Timestamp,
    /// When it is tried next, while it waits.
    pub due_at: Timestamp,
    /// Tries since it was written down or replayed.
    pub tries: u32,
    /// When it came to its end.
    pub done_at: Option<Timestamp>,
    /// The newest of its attempts, oldest first, as many as are shown of a delivery.
    pub attempts: Vec<DeliveryAttempt>,
    /// What it stays in order with.
    thread: String,
}

/// Which letters are listed; `None` is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterFilter {
    /// To this subscriber.
    pub subscriber: Option<SubscriberId>,
    /// To the subscribers of this page.
    pub page: Option<PageId>,
    /// In this state.
    pub state: Option<DeliveryState>,
}

impl Outbox<'_> {
    /// A part of the letters to the workspace's subscribers, newest first, and how many the filter lets
    /// through.
    pub async fn letters(
        &self,
        workspace: WorkspaceId,
        filter: LetterFilter,
        page: Page<DeliveryId>,
    ) -> Result<Listed<Letter>, StoreError> {
        let mut db = self.store.read().await?;
        let count = which(workspace, filter, "SELECT COUNT(*)", "");
        let total: Option<i64> = count.scalar(&mut db).await?;
        let before = page.after.map_or(i64::MAX, rows::number);
        let rest = format!(
            "AND d.number < {before} ORDER BY d.number DESC LIMIT {} OFFSET {}",
            page.limit, page.offset
        );
        let rows = all(&mut db, which(workspace, filter, COLUMNS, &rest)).await?;
        Ok(Listed { rows, left_out: 0, total: counted(total) })
    }

    /// The letter with this identifier in the workspace.
    pub async fn letter(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
    ) -> Result<Letter, StoreError> {
        one(&mut self.store.read().await?, workspace, id).await
    }

    /// Tells a dead letter again. What is none, what is over, and what its subscriber may not hear is
    /// refused.
    pub async fn replay_letter(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
        change: Change,
    ) -> Result<Letter, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let letter = one(&mut session.db, workspace, id).await?;
                    tell_again(session, &letter, change.at).await?;
                    replay::note(session, (workspace, id), change).await?;
                    one(&mut session.db, workspace, id).await
                })
            })
            .await
    }
}

async fn tell_again(
    session: &mut Session,
    letter: &Letter,
    now: Timestamp,
) -> Result<(), StoreError> {
    let refused =
        |allowed: &str| StoreError::Refused(Violation::new(FIELD, letter.id.to_string(), allowed));
    if letter.state != DeliveryState::Dead {
        return Err(refused("may only name a dead letter"));
    }
    let receiving = subscribers::one(&mut session.db, &session.vault, letter.subscriber).await?;
    let Some(receiving) = receiving.filter(|receiving| !receiving.is_shut_out()) else {
        return Err(refused("may only name a dead letter to who may hear of the status page"));
    };
    let is_confirmed = receiving.subscriber.state() == SubscriberState::Active;
    if letter.word == "subscriber.asked" && is_confirmed {
        return Err(refused("may only name a dead letter that asks who did not confirm"));
    }
    if letter.word == "page.incident.opened" && is_over(&mut session.db, &letter.thread).await? {
        return Err(refused("may only name a dead letter of an incident that goes on"));
    }
    wait_anew(session, &letter.key, now).await?;
    session.outbox.wake(letter.subscriber, now);
    Ok(())
}

/// Whether the incident of a letter is over, so that nobody is told any more that it began.
async fn is_over(db: &mut Connection, thread: &str) -> Result<bool, StoreError> {
    let Ok(incident) = IncidentId::parse(thread) else { return Ok(false) };
    let row = query("SELECT 1 FROM incidents WHERE id = $1 AND closed_at IS NULL")
        .bind(incident.to_string())
        .fetch_optional(db)
        .await?;
    Ok(row.is_none())
}

fn which(workspace: WorkspaceId, filter: LetterFilter, select: &str, rest: &str) -> Query {
    let mut condition = "s.workspace_id = $1 AND d.thread IS NOT NULL".to_owned();
    let mut values = vec![workspace.to_string()];
    let subscriber = filter.subscriber.map(|it| ("s.id", it.to_string()));
    let page = filter.page.map(|it| ("s.page_id", it.to_string()));
    for (column, value) in subscriber.into_iter().chain(page) {
        values.push(value);
        let _ = write!(condition, " AND {column} = ${}", values.len());
    }
    if let Some(state) = filter.state {
        // As it stands in the conditions of the indexes.
        let _ = write!(condition, " AND d.state = '{}'", state.as_str());
    }
    let first = query(AssertSqlSafe(format!("{select} {FROM} WHERE {condition} {rest}")));
    values.iter().fold(first, |query, value| query.bind(Value::from(value)))
}

async fn one(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: DeliveryId,
) -> Result<Letter, StoreError> {
    let rest = format!("AND d.number = {}", rows::number(id));
    let found = all(db, which(workspace, LetterFilter::default(), COLUMNS, &rest)).await?.pop();
    found.ok_or_else(|| StoreError::not_found("delivery", &id))
}

async fn all(db: &mut Connection, which: Query) -> Result<Vec<Letter>, StoreError> {
    let rows = which.fetch_all(db).await?;
    let mut letters = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (row, letter) in rows.iter().zip(&mut letters) {
        if let Some(newest) = row.try_get(12)? {
            letter.attempts = attempts(db, letter.id, newest).await?;
        }
    }
    Ok(letters)
}

fn read(row: &Row) -> Result<Letter, StoreError> {
    Ok(Letter {
        id: rows::delivery_id(row, 0)?,
        subscriber: id(row, 1, SubscriberId::parse)?,
        page: id(row, 2, PageId::parse)?,
        kind: id(row, 3, ProviderType::parse)?,
        word: row.try_get(4)?,
        key: row.try_get(5)?,
        state: id(row, 6, DeliveryState::parse)?,
        holds: optional(row, 7, Holds::parse)?,
        created_at: instant(row, 8)?,
        due_at: instant(row, 9)?,
        tries: narrow(row, 10)?,
        done_at: maybe_instant(row, 11)?,
        attempts: Vec::new(),
        thread: row.try_get(13)?,
    })
}
