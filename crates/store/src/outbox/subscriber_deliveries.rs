//! Deliveries to subscribers of status pages, newest first, for the owners of a page, and replays
//! of their dead letters. Ended subscriptions are not listed.

use std::fmt::Write as _;

use rules::status_page::SubscriberState;
use rules::{DeliveryId, IncidentId, PageId, SubscriberId, Timestamp, Violation, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::deliveries::{listed, read, select_deliveries};
use super::replay::{self, FIELD, requeue};
use super::{DeliveryState, EventToSubscriber, Outbox, SubscriberDelivery, rows};
use crate::db::{Connection, Query, Row, Value, query};
use crate::list::Listed;
use crate::row::id;
use crate::writer::Session;
use crate::{AuditContext, Page, StoreError, subscribers};

const SELECT: &str = select_deliveries!("s.page_id, e.kind AS event_kind, d.key, d.thread ");
const FROM: &str = "FROM deliveries d JOIN events e ON e.number = d.event \
    JOIN subscribers s ON s.id = d.recipient_id";

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriberDeliveryFilter {
    pub subscriber: Option<SubscriberId>,
    /// Page of the subscriber.
    pub page: Option<PageId>,
    pub state: Option<DeliveryState>,
}

impl Outbox<'_> {
    /// Returns a page of the deliveries to the workspace's subscribers, newest first, and the total
    /// number that match the filter.
    pub async fn subscriber_deliveries(
        &self,
        workspace: WorkspaceId,
        filter: SubscriberDeliveryFilter,
        page: Page<DeliveryId>,
    ) -> Result<Listed<SubscriberDelivery>, StoreError> {
        let mut db = self.store.read().await?;
        let count = list_query(workspace, filter, "SELECT COUNT(*)", "");
        let total: Option<i64> = count.scalar(&mut db).await?;
        let before = page.after.map_or(i64::MAX, rows::row_id);
        let rest = format!(
            "AND d.number < {before} ORDER BY d.number DESC LIMIT {} OFFSET {}",
            page.limit, page.offset
        );
        let rows = list_query(workspace, filter, SELECT, &rest).fetch_all(&mut db).await?;
        listed((&mut db, self.store.quarantine()), &rows, total, about).await
    }

    /// Returns a delivery to a subscriber of the workspace.
    pub async fn subscriber_delivery(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
    ) -> Result<SubscriberDelivery, StoreError> {
        load(&mut self.store.read().await?, workspace, id).await
    }

    /// Replays a dead letter. Rejects a delivery that is not dead, whose incident is over, or whose
    /// subscriber is suppressed.
    pub async fn replay_subscriber_delivery(
        &self,
        workspace: WorkspaceId,
        id: DeliveryId,
        change: AuditContext,
    ) -> Result<SubscriberDelivery, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let delivery = load(&mut session.db, workspace, id).await?;
                    resend(session, &delivery, change.at).await?;
                    replay::record_change(session, (workspace, id), change).await?;
                    load(&mut session.db, workspace, id).await
                })
            })
            .await
    }
}

async fn resend(
    session: &mut Session,
    delivery: &SubscriberDelivery,
    now: Timestamp,
) -> Result<(), StoreError> {
    let about = &delivery.about;
    let refused = |allowed: &str| {
        StoreError::Refused(Violation::new(FIELD, delivery.id.to_string(), allowed))
    };
    if delivery.state != DeliveryState::Dead {
        return Err(refused("must be a dead letter"));
    }
    let receiving = subscribers::one(&mut session.db, &session.vault, about.subscriber).await?;
    let Some(receiving) = receiving.filter(|receiving| !receiving.is_suppressed()) else {
        return Err(refused("must be a dead letter of an active subscriber"));
    };
    let is_confirmed = receiving.subscriber.state() == SubscriberState::Active;
    if about.event_kind == "subscriber.confirmation_requested" && is_confirmed {
        return Err(refused("must be a dead letter of an unanswered confirmation"));
    }
    if about.event_kind == "page.incident.opened"
        && has_ended(&mut session.db, &about.thread).await?
    {
        return Err(refused("must be a dead letter of an open incident"));
    }
    requeue(session, &about.key, now).await?;
    session.outbox.wake(about.subscriber);
    Ok(())
}

/// Returns whether the incident of a delivery is over. Its opening is not announced any more then.
async fn has_ended(db: &mut Connection, thread: &str) -> Result<bool, StoreError> {
    let Ok(incident) = IncidentId::parse(thread) else { return Ok(false) };
    let row = query("SELECT 1 FROM incidents WHERE id = $1 AND closed_at IS NULL")
        .bind(incident.to_string())
        .fetch_optional(db)
        .await?;
    Ok(row.is_none())
}

fn list_query(
    workspace: WorkspaceId,
    filter: SubscriberDeliveryFilter,
    select: &str,
    rest: &str,
) -> Query {
    let mut condition = "s.workspace_id = $1 AND d.recipient_kind = 'subscriber'".to_owned();
    let mut values = vec![workspace.to_string()];
    let subscriber = filter.subscriber.map(|it| ("s.id", it.to_string()));
    let page = filter.page.map(|it| ("s.page_id", it.to_string()));
    for (column, value) in subscriber.into_iter().chain(page) {
        values.push(value);
        let _ = write!(condition, " AND {column} = ${}", values.len());
    }
    if let Some(state) = filter.state {
        // Written as in the conditions of the indexes.
        let _ = write!(condition, " AND d.state = '{}'", state.as_str());
    }
    let first = query(AssertSqlSafe(format!("{select} {FROM} WHERE {condition} {rest}")));
    values.iter().fold(first, |query, value| query.bind(Value::from(value)))
}

async fn load(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: DeliveryId,
) -> Result<SubscriberDelivery, StoreError> {
    let rest = format!("AND d.number = {}", rows::row_id(id));
    let which = list_query(workspace, SubscriberDeliveryFilter::default(), SELECT, &rest);
    let row = which.fetch_optional(db).await?;
    let row = row.ok_or_else(|| StoreError::not_found("delivery", &id))?;
    read(db, &row, about(&row)).await
}

/// Reads the subscriber and the event of a delivery.
fn about(row: &Row) -> Result<EventToSubscriber, StoreError> {
    Ok(EventToSubscriber {
        subscriber: id(row, "recipient_id", SubscriberId::parse)?,
        page: id(row, "page_id", PageId::parse)?,
        event_kind: row.try_get("event_kind")?,
        key: row.try_get("key")?,
        thread: row.try_get("thread")?,
    })
}
