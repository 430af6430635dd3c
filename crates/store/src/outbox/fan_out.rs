//! Fan-out from a page to its subscribers: an event of the page becomes a delivery for each
//! subscriber who wants it. Steps are small, so that they do not delay verdicts. A repeated step
//! writes nothing twice, so a step may be interrupted at any point. `domain::notify` decides
//! whether an event is passed on and selects its audience, and `domain::page` decides which
//! subscribers may receive events of the page. This module loads the inputs and stores the outputs.

use std::fmt::Write as _;
use std::time::Duration;

use domain::notify::{
    Audience, FanOutDecision, OpeningState, PageEvent, decide_fan_out, schedule_page_event,
};
use domain::page::suppression_reason;
use rules::status_page::{StatusPage, SubscriberKind, Topic};
use rules::{AccessType, IncidentId, PageId, SubscriberId, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::corrupt::{Unreadable, mark_dead};
use super::rows::{self, DeliveryTarget, Events};
use super::{DeliveryState, Outbox};
use crate::db::{Connection, Query, Row, Value, query};
use crate::outbox_cache::FanOutCursor;
use crate::quarantine::is_unreadable;
use crate::recipient::Recipient;
use crate::row::{id, instant, optional_instant};
use crate::vault::Vault;
use crate::writer::Session;
use crate::{StoreError, maintenances, pages, subscribers};

/// Maximum number of subscribers that one step checks and enqueues.
const STEP_SUBSCRIBERS: i64 = 500;
/// Number of due events among which one step looks for a readable one.
const DUE_READ: i64 = 100;
/// Time after which an unreadable event becomes a dead letter.
const REPAIRED_WITHIN: Duration = Duration::from_hours(24);

/// Remaining work after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanOutProgress {
    /// More is due.
    More,
    /// Nothing is due before this time.
    Later(Timestamp),
    /// Nothing remains.
    Done,
}

/// Page event that was not fanned out yet.
struct Waiting {
    number: i64,
    workspace: WorkspaceId,
    event: PageEvent,
    created_at: Timestamp,
}

impl Outbox<'_> {
    /// Fans out one step of a page's events, oldest first.
    pub async fn fan_out(
        &self,
        page: PageId,
        now: Timestamp,
    ) -> Result<FanOutProgress, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(step(session, page, now))
            })
            .await
    }
}

async fn step(
    session: &mut Session,
    page: PageId,
    now: Timestamp,
) -> Result<FanOutProgress, StoreError> {
    let Some(waiting) = first_readable(session, page, now).await? else {
        return remaining(&mut session.db, page, now).await;
    };
    let found = pages::by_id(&mut session.db, &session.vault, page).await;
    let page = session.quarantine.recorded("pages", || page.to_string(), found)?;
    let opening = match waiting.event.opened_incident() {
        Some(incident) => Some(opening_state(&mut session.db, incident, now).await?),
        None => None,
    };
    match decide_fan_out(page.as_ref(), opening) {
        FanOutDecision::Now(page) => enqueue_step(session, page, &waiting, now).await?,
        FanOutDecision::Drop => {
            finish(&mut session.db, waiting.number, DeliveryState::Cancelled, now).await?;
        }
        FanOutDecision::Later(at) => {
            query("UPDATE deliveries SET due_at = $1 WHERE number = $2")
                .bind(at.as_millis())
                .bind(waiting.number)
                .execute(&mut session.db)
                .await?;
        }
    }
    Ok(FanOutProgress::More)
}

/// Returns the oldest due event of the page that is readable. Unreadable ones hold no later one back. They
/// wait a day for their repair, and then become dead letters.
async fn first_readable(
    session: &mut Session,
    page: PageId,
    now: Timestamp,
) -> Result<Option<Waiting>, StoreError> {
    // Nearly always, the oldest one is readable.
    for limit in [1, DUE_READ] {
        let rows = query(
            "SELECT d.number, d.workspace_id, e.number AS event, e.key, e.sealed, d.created_at \
             FROM deliveries d JOIN events e ON e.number = d.event WHERE d.recipient_id = $1 \
             AND d.state = 'waiting' AND d.due_at <= $2 ORDER BY d.number LIMIT $3",
        )
        .bind(page.to_string())
        .bind(now.as_millis())
        .bind(limit)
        .fetch_all(&mut session.db)
        .await?;
        for row in &rows {
            match read_waiting(&session.vault, row) {
                Err(why) if is_unreadable(&why) => {
                    record_unreadable(session, row, &why, now).await?;
                }
                waiting => return waiting.map(Some),
            }
        }
        if rows.is_empty() {
            break;
        }
    }
    Ok(None)
}

/// Records an unreadable event, or its delivery if the event is readable. A late one becomes a dead letter.
async fn record_unreadable(
    session: &mut Session,
    row: &Row,
    why: &StoreError,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (table, column) = match read_event(&session.vault, row) {
        Ok(_) => ("deliveries", "number"),
        Err(_) => ("events", "event"),
    };
    session.quarantine.record(table, row.try_get::<i64>(column)?.to_string(), &why.to_string());
    if instant(row, "created_at").is_ok_and(|at| at + REPAIRED_WITHIN <= now) {
        let late = Unreadable::new(rows::delivery_id(row)?, why);
        mark_dead(&mut session.db, &[late], now).await?;
    }
    Ok(())
}

fn read_event(vault: &Vault, row: &Row) -> Result<PageEvent, StoreError> {
    rows::open(vault, row.try_get("key")?, row.try_get("sealed")?)
}

fn read_waiting(vault: &Vault, row: &Row) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        number: row.try_get("number")?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        event: read_event(vault, row)?,
        created_at: instant(row, "created_at")?,
    })
}

/// Returns when the next event is due. Events that are due now are unreadable.
async fn remaining(
    db: &mut Connection,
    page: PageId,
    now: Timestamp,
) -> Result<FanOutProgress, StoreError> {
    let row = query(
        "SELECT MIN(due_at) AS due_at FROM deliveries WHERE recipient_id = $1 \
         AND state = 'waiting' AND due_at > $2",
    )
    .bind(page.to_string())
    .bind(now.as_millis())
    .fetch_one(db)
    .await?;
    Ok(optional_instant(&row, "due_at")?.map_or(FanOutProgress::Done, FanOutProgress::Later))
}

/// Returns the state of the incident whose opening is due.
async fn opening_state(
    db: &mut Connection,
    incident: IncidentId,
    now: Timestamp,
) -> Result<OpeningState, StoreError> {
    let row = query("SELECT monitor FROM incidents WHERE id = $1 AND closed_at IS NULL")
        .bind(incident.to_string())
        .fetch_optional(&mut *db)
        .await?;
    let Some(row) = row else { return Ok(OpeningState::Over) };
    let muted_until = maintenances::muted_until(db, row.try_get("monitor")?, now).await?;
    Ok(OpeningState::Open { muted_until })
}

async fn enqueue_step(
    session: &mut Session,
    page: &StatusPage,
    waiting: &Waiting,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = &waiting.event;
    let window = session.outbox.window(page.id);
    let (window, due_time) = schedule_page_event(event, window, now);
    let step = find_recipients(session, page, waiting).await?;
    let mut events = Events::default();
    for (subscriber, kind) in step.recipients {
        let recipient = Recipient::Subscriber(subscriber);
        let target =
            DeliveryTarget { workspace: waiting.workspace, recipient, kind: kind.as_str() };
        rows::enqueue_page_event(session, &mut events, target, event, due_time, now).await?;
    }
    if step.next.is_none() {
        // All steps of one event use the window as it was before.
        session.outbox.set_window(page.id, window);
        finish(&mut session.db, waiting.number, DeliveryState::Accepted, now).await?;
    }
    session.outbox.set_cursor(page.id, step.next);
    Ok(())
}

/// Recipient of the event.
type FanOutRecipient = (SubscriberId, SubscriberKind);

/// Result of one step.
struct Step {
    recipients: Vec<FanOutRecipient>,
    /// Start of the next step. `None` if no subscribers remain.
    next: Option<FanOutCursor>,
}

/// Returns the recipients among the next subscribers. Suppressed subscribers are skipped, and not
/// checked again until a restart.
async fn find_recipients(
    session: &mut Session,
    page: &StatusPage,
    waiting: &Waiting,
) -> Result<Step, StoreError> {
    let cursor = session.outbox.cursor(page.id, waiting.number);
    let after = cursor.map_or_else(String::new, |cursor| cursor.after.clone());
    let rows = next_subscribers(&mut session.db, waiting, &after).await?;
    let password_hash = subscribers::hash_password(&session.vault, page);
    let read = |row| read_recipient(&session.vault, page, password_hash.as_deref(), row);
    let recipients = session.quarantine.readable_rows("subscribers", &rows, read)?;
    let recipients = recipients.into_iter().flatten().collect();
    let is_full = rows.len() as i64 >= STEP_SUBSCRIBERS;
    let rest = match rows.last().filter(|_| is_full) {
        Some(row) => Some(FanOutCursor { delivery: waiting.number, after: row.try_get("id")? }),
        None => None,
    };
    Ok(Step { recipients, next: rest })
}

/// Returns the subscriber, unless it is suppressed.
fn read_recipient(
    vault: &Vault,
    page: &StatusPage,
    password_hash: Option<&[u8]>,
    row: &Row,
) -> Result<Option<FanOutRecipient>, StoreError> {
    let (subscriber, kind) =
        (id(row, "id", SubscriberId::parse)?, id(row, "kind", SubscriberKind::parse)?);
    if page.settings.effective_access() != AccessType::Public {
        let text: &str = row.try_get("id")?;
        let destination = subscribers::destination(vault, text, kind, row.try_get("sealed")?)?;
        let admission =
            subscribers::access_proof(row.try_get("by_owner")?, row.try_get("password_hash")?);
        if suppression_reason(page, password_hash, (&destination, &admission)).is_some() {
            return Ok(None);
        }
    }
    Ok(Some((subscriber, kind)))
}

/// Returns the next subscribers who wanted this event before it happened and have no delivery of it
/// yet. The end of an event goes to those who received its start.
async fn next_subscribers(
    db: &mut Connection,
    waiting: &Waiting,
    after: &str,
) -> Result<Vec<Row>, StoreError> {
    match waiting.event.audience() {
        Some(audience) => {
            Ok(audience_query(&waiting.event, &audience, waiting, after).fetch_all(db).await?)
        }
        None => Ok(Vec::new()),
    }
}

/// Selects the next subscribers of an audience. Statements differ in the number of components, so
/// that number is rounded up to a power of two, with the last component repeated.
fn audience_query(event: &PageEvent, audience: &Audience, waiting: &Waiting, after: &str) -> Query {
    let topic = match audience.topic {
        Topic::Reports => "topic_reports",
        Topic::Maintenance => "topic_maintenance",
        Topic::Incidents => "topic_incidents",
    };
    let mut statement = format!(
        "SELECT s.id, s.kind, s.sealed, s.by_owner, s.password_hash FROM subscribers s \
         WHERE s.page_id = $1 AND s.id > $2 AND s.{topic} AND s.confirmed_at <= $3 \
         AND NOT EXISTS (SELECT 1 FROM deliveries k WHERE k.key = $4 || '-' || s.id)"
    );
    let mut values: Vec<Value> = vec![
        event.page.id.to_string().into(),
        after.into(),
        waiting.created_at.as_millis().into(),
        event.name().into(),
    ];
    if audience.is_end {
        values.push(event.thread().into());
        statement.push_str(
            " AND EXISTS (SELECT 1 FROM deliveries o WHERE o.recipient_id = s.id \
             AND o.thread = $5 AND o.state IN ('waiting', 'accepted'))",
        );
    }
    if let Some(last) = audience.components.last() {
        statement.push_str(
            " AND (s.all_components OR EXISTS (SELECT 1 FROM subscriber_components c \
             WHERE c.subscriber = s.id AND c.component IN (",
        );
        for index in 0..audience.components.len().next_power_of_two() {
            let component = audience.components.get(index).unwrap_or(last);
            values.push(component.to_string().into());
            let comma = if index == 0 { "" } else { ", " };
            let _ = write!(statement, "{comma}${}", values.len());
        }
        statement.push_str(")))");
    }
    let _ = write!(statement, " ORDER BY s.id LIMIT {STEP_SUBSCRIBERS}");
    values.into_iter().fold(query(AssertSqlSafe(statement)), Query::bind)
}

async fn finish(
    db: &mut Connection,
    number: i64,
    state: DeliveryState,
    now: Timestamp,
) -> Result<(), StoreError> {
    query(
        "UPDATE deliveries SET state = $1, completed_at = $2 WHERE number = $3 \
         AND state = 'waiting'",
    )
    .bind(state.as_str())
    .bind(now.as_millis())
    .bind(number)
    .execute(db)
    .await?;
    Ok(())
}
