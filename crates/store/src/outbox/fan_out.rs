//! Fan-out from a page to its subscribers: an event of the page becomes a delivery for each
//! subscriber who wants it. Steps are small, so that they do not delay verdicts. A repeated step
//! writes nothing twice, so a step may be interrupted at any point. `domain::notify::PageEvent` decides
//! which components an event concerns, and `domain::page` decides who may receive events of the
//! page.

use domain::notify::{DueTime, HoldReason, PageEvent, PageEventKind, SendTime, group};
use domain::page::suppression_reason;
use rules::status_page::{StatusPage, SubscriberKind, Topic};
use rules::{AccessType, IncidentId, PageId, ProviderType, SubscriberId, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::cache::FanOutCursor;
use super::rows::{self, DeliveryTarget, Events};
use super::{Outbox, Recipient};
use crate::db::{Connection, Row, query};
use crate::row::{id, instant, optional_instant};
use crate::vault::Vault;
use crate::writer::Session;
use crate::{StoreError, maintenances, pages, subscribers};

/// Maximum number of subscribers that one step checks and enqueues.
const STEP_SUBSCRIBERS: i64 = 500;

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

/// Decision about a page event.
enum FanOutDecision {
    /// Fan it out.
    Now,
    /// Wait for the end of a maintenance.
    Later(Timestamp),
    /// Drop it: the incident was over before it was announced.
    Drop,
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
    let Some(waiting) = first(session, page, now).await? else {
        return remaining(&mut session.db, page).await;
    };
    let page = pages::by_id(&mut session.db, &session.vault, page).await?;
    let Some(page) = page.filter(|page| page.published) else {
        finish(&mut session.db, waiting.number, "cancelled", now).await?;
        return Ok(FanOutProgress::More);
    };
    match decide(&mut session.db, &waiting.event, now).await? {
        FanOutDecision::Now => enqueue_step(session, &page, &waiting, now).await?,
        FanOutDecision::Drop => finish(&mut session.db, waiting.number, "cancelled", now).await?,
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

async fn first(
    session: &mut Session,
    page: PageId,
    now: Timestamp,
) -> Result<Option<Waiting>, StoreError> {
    let row = query(
        "SELECT d.number, d.workspace_id, e.key, e.sealed, d.created_at FROM deliveries d \
         JOIN events e ON e.number = d.event WHERE d.recipient = $1 AND d.state = 'waiting' \
         AND d.due_at <= $2 ORDER BY d.number LIMIT 1",
    )
    .bind(page.to_string())
    .bind(now.as_millis())
    .fetch_optional(&mut session.db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Waiting {
        number: row.try_get(0)?,
        workspace: id(&row, 1, WorkspaceId::parse)?,
        event: rows::open(&session.vault, row.try_get(2)?, row.try_get(3)?)?,
        created_at: instant(&row, 4)?,
    }))
}

async fn remaining(db: &mut Connection, page: PageId) -> Result<FanOutProgress, StoreError> {
    let row =
        query("SELECT MIN(due_at) FROM deliveries WHERE recipient = $1 AND state = 'waiting'")
            .bind(page.to_string())
            .fetch_one(db)
            .await?;
    Ok(optional_instant(&row, 0)?.map_or(FanOutProgress::Done, FanOutProgress::Later))
}

/// Decides about an event. The opening of an incident that is already over is dropped, and one of a
/// monitor under maintenance waits.
async fn decide(
    db: &mut Connection,
    event: &PageEvent,
    now: Timestamp,
) -> Result<FanOutDecision, StoreError> {
    let incident: IncidentId = match &event.about {
        PageEventKind::Incident(incident) if !incident.is_over => incident.incident,
        PageEventKind::Incident(_)
        | PageEventKind::Report(_)
        | PageEventKind::Maintenance(_)
        | PageEventKind::ConfirmationRequested(_)
        | PageEventKind::AlreadySubscribed(_) => return Ok(FanOutDecision::Now),
    };
    let row = query("SELECT monitor, closed_at FROM incidents WHERE id = $1")
        .bind(incident.to_string())
        .fetch_optional(&mut *db)
        .await?;
    let Some(row) = row else { return Ok(FanOutDecision::Drop) };
    if optional_instant(&row, 1)?.is_some() {
        return Ok(FanOutDecision::Drop);
    }
    let muted_until = maintenances::muted_until(db, row.try_get(0)?, now).await?;
    Ok(muted_until.map_or(FanOutDecision::Now, FanOutDecision::Later))
}

async fn enqueue_step(
    session: &mut Session,
    page: &StatusPage,
    waiting: &Waiting,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = &waiting.event;
    let (window, due_time) = match &event.about {
        PageEventKind::Incident(_) => {
            let (window, turn) = group(ProviderType::Email, session.outbox.window(page.id), now);
            (Some(window), due_time(turn, now))
        }
        PageEventKind::Report(_)
        | PageEventKind::Maintenance(_)
        | PageEventKind::ConfirmationRequested(_)
        | PageEventKind::AlreadySubscribed(_) => (None, DueTime { due_at: now, hold_reason: None }),
    };
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
        finish(&mut session.db, waiting.number, "accepted", now).await?;
    }
    session.outbox.set_cursor(page.id, step.next);
    Ok(())
}

const fn due_time(turn: SendTime, now: Timestamp) -> DueTime {
    match turn {
        SendTime::Now => DueTime { due_at: now, hold_reason: None },
        SendTime::Grouped(due_at) => DueTime { due_at, hold_reason: Some(HoldReason::Digest) },
    }
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
    let mut recipients = Vec::with_capacity(rows.len());
    for row in &rows {
        recipients.extend(read_recipient(&session.vault, page, password_hash.as_deref(), row)?);
    }
    let is_full = rows.len() as i64 >= STEP_SUBSCRIBERS;
    let rest = match rows.last().filter(|_| is_full) {
        Some(row) => Some(FanOutCursor { delivery: waiting.number, after: row.try_get(0)? }),
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
    let (subscriber, kind) = (id(row, 0, SubscriberId::parse)?, id(row, 1, SubscriberKind::parse)?);
    if page.settings.effective_access() != AccessType::Public {
        let text: &str = row.try_get(0)?;
        let destination = subscribers::destination(vault, text, kind, row.try_get(2)?)?;
        let admission = subscribers::access_proof(row.try_get(3)?, row.try_get(4)?);
        if suppression_reason(page, password_hash, (&destination, &admission)).is_some() {
            return Ok(None);
        }
    }
    Ok(Some((subscriber, kind)))
}

/// Returns the next subscribers who wanted this event before it happened and have no delivery of it
/// yet. The end of an event goes to those who received its start. Component identifiers have equal
/// lengths, so a substring match in their list is exact.
async fn next_subscribers(
    db: &mut Connection,
    waiting: &Waiting,
    after: &str,
) -> Result<Vec<Row>, StoreError> {
    let event = &waiting.event;
    let topic = match event.topic() {
        Some(Topic::Reports) => "topic_reports",
        Some(Topic::Maintenance) => "topic_maintenance",
        Some(Topic::Incidents) => "topic_incidents",
        None => return Ok(Vec::new()),
    };
    let has_received_start = if event.is_end() {
        "AND EXISTS (SELECT 1 FROM deliveries o WHERE o.recipient = s.id AND o.thread = $5 \
         AND o.state IN ('waiting', 'accepted'))"
    } else {
        "AND $5 = $5"
    };
    let statement = format!(
        "SELECT s.id, s.kind, s.sealed, s.by_owner, s.password_hash FROM subscribers s \
         WHERE s.page_id = $1 AND s.id > $7 AND s.{topic} \
         AND s.confirmed_at <= $2 AND ($3 = '' OR s.all_components OR EXISTS \
         (SELECT 1 FROM subscriber_components c WHERE c.subscriber = s.id \
         AND $3 LIKE '%' || c.component || '%')) \
         AND NOT EXISTS (SELECT 1 FROM deliveries k WHERE k.key = $4 || '-' || s.id) \
         {has_received_start} ORDER BY s.id LIMIT $6"
    );
    let components: Vec<String> =
        event.affected_components().iter().map(ToString::to_string).collect();
    let rows = query(AssertSqlSafe(statement))
        .bind(event.page.id.to_string())
        .bind(waiting.created_at.as_millis())
        .bind(components.join(" "))
        .bind(event.name())
        .bind(event.thread())
        .bind(STEP_SUBSCRIBERS)
        .bind(after)
        .fetch_all(db)
        .await?;
    Ok(rows)
}

async fn finish(
    db: &mut Connection,
    number: i64,
    state: &'static str,
    now: Timestamp,
) -> Result<(), StoreError> {
    query("UPDATE deliveries SET state = $1, completed_at = $2 WHERE number = $3 AND state = 'waiting'")
        .bind(state)
        .bind(now.as_millis())
        .bind(number)
        .execute(db)
        .await?;
    Ok(())
}
