//! Reads subscribers of status pages with their pages: one, or a page of a list. `change` adds and
//! removes them, `signup` handles visitors, `pending` limits unconfirmed ones, and
//! `maintenance_events` announces maintenance when its time comes. The outbox holds their
//! deliveries.

mod address_hash;
mod change;
mod maintenance_events;
mod pending;
mod signup;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use domain::page::suppression_reason;
use rules::status_page::{
    AccessProof, ComponentScope, Destination, Language, StatusPage, Subscriber, SubscriberKind,
    SubscriberSettings, SubscriberState, SuppressionReason, Topic,
};
use rules::{ComponentId, PageId, Secret, SubscriberId, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Query, Row, Value, query};
use crate::list::Listed;
use crate::quarantine::row_key;
use crate::row::{id, instant, optional_instant, to_count};
use crate::vault::{EncryptionContext, Vault};
use crate::{Page, Store, StoreError, pages};

pub(crate) use address_hash::hash_password;
pub(crate) use change::delete_with_page;
pub use change::{InitialState, NewSubscriber};
pub use signup::{SignupOutcome, SignupSource, SubscriptionChoice};

/// Handle of the subscribers.
#[derive(Clone, Copy, Debug)]
pub struct Subscribers<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the subscribers of status pages.
    pub const fn subscribers(&self) -> Subscribers<'_> {
        Subscribers { store: self }
    }
}

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriberFilter {
    pub page: Option<PageId>,
    pub kind: Option<SubscriberKind>,
    pub state: Option<SubscriberState>,
}

/// Subscriber with its page, in their current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberWithPage {
    pub subscriber: Subscriber,
    pub page: StatusPage,
    /// Reason why it receives no events of the page. `None` if it does.
    pub suppression_reason: Option<SuppressionReason>,
}

impl SubscriberWithPage {
    /// Returns whether it must not receive anything from its page, not even a confirmation request.
    pub fn is_suppressed(&self) -> bool {
        match self.suppression_reason {
            None | Some(SuppressionReason::Pending) => false,
            Some(
                SuppressionReason::Hidden | SuppressionReason::Domain | SuppressionReason::Password,
            ) => true,
        }
    }
}

const COLUMNS: &str = "SELECT s.id, s.workspace_id, s.page_id, s.kind, s.sealed, s.language, \
    s.topic_reports, s.topic_maintenance, s.topic_incidents, s.all_components, s.created_at, \
    s.confirmed_at, s.by_owner, s.password_hash FROM subscribers s";

impl Subscribers<'_> {
    /// Returns a subscriber of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: SubscriberId,
    ) -> Result<Subscriber, StoreError> {
        let found = one(&mut self.store.read().await?, self.store.vault(), id).await?;
        let found = found.map(|receiving| receiving.subscriber);
        let found = found.filter(|subscriber| subscriber.workspace == workspace);
        found.ok_or_else(|| StoreError::not_found("subscriber", &id))
    }

    /// Returns a subscriber of any workspace, for sending to it and for links that were sent to it.
    /// `None` if the subscription ended.
    pub async fn get_with_page(
        &self,
        id: SubscriberId,
    ) -> Result<Option<SubscriberWithPage>, StoreError> {
        let found = one(&mut self.store.read().await?, self.store.vault(), id).await;
        self.store.quarantine().recorded("subscribers", || id.to_string(), found)
    }

    /// Returns a part of the workspace's subscribers, newest first, and how many the filter lets
    /// through.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: SubscriberFilter,
        page: Page<SubscriberId>,
    ) -> Result<Listed<SubscriberWithPage>, StoreError> {
        let mut db = self.store.read().await?;
        pages::require_filter(&mut db, workspace, filter.page).await?;
        let total = "SELECT COUNT(*) FROM subscribers s";
        let total: Option<i64> = list_query(total, workspace, filter, "").scalar(&mut db).await?;
        let part = format!(
            "AND s.id < '{}' ORDER BY s.id DESC LIMIT {} OFFSET {}",
            page.before(),
            page.limit,
            page.offset
        );
        let rows = list_query(COLUMNS, workspace, filter, &part).fetch_all(&mut db).await?;
        let (mut found, mut pages) = (Vec::with_capacity(rows.len()), HashMap::new());
        let mut omitted = Vec::new();
        for row in &rows {
            let read = read(&mut db, self.store.vault(), row).await;
            let key = || row_key(row);
            let Some(subscriber) = self.store.quarantine().readable("subscribers", key, read)?
            else {
                omitted.push(row_key(row));
                continue;
            };
            let page_id = subscriber.settings.page_id;
            let page = match pages.entry(page_id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => {
                    vacant.insert(load_page(&mut db, self.store.vault(), page_id).await?)
                }
            };
            found.push(with_page(self.store.vault(), subscriber, page.clone()));
        }
        Ok(Listed { rows: found, omitted, total: to_count(total) })
    }
}

fn list_query(select: &str, workspace: WorkspaceId, filter: SubscriberFilter, rest: &str) -> Query {
    let mut condition = "s.workspace_id = $1".to_owned();
    let mut values = vec![workspace.to_string()];
    if let Some(page) = filter.page {
        values.push(page.to_string());
        condition += " AND s.page_id = $2";
    }
    // These are our own constants, as stored in the table.
    if let Some(kind) = filter.kind {
        condition = condition + " AND s.kind = '" + kind.as_str() + "'";
    }
    condition += match filter.state {
        Some(SubscriberState::Active) => " AND s.confirmed_at IS NOT NULL",
        Some(SubscriberState::Pending) => " AND s.confirmed_at IS NULL",
        None => "",
    };
    let first = query(AssertSqlSafe(format!("{select} WHERE {condition} {rest}")));
    values.iter().fold(first, |query, value| query.bind(Value::from(value)))
}

/// Returns a subscriber, as this connection sees it.
pub(crate) async fn one(
    db: &mut Connection,
    vault: &Vault,
    id: SubscriberId,
) -> Result<Option<SubscriberWithPage>, StoreError> {
    let row = query(AssertSqlSafe(format!("{COLUMNS} WHERE s.id = $1")))
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let subscriber = read(db, vault, &row).await?;
    let page = load_page(db, vault, subscriber.settings.page_id).await?;
    Ok(Some(with_page(vault, subscriber, page)))
}

/// Returns the page of a subscriber. Deleting a page deletes its subscribers.
async fn load_page(
    db: &mut Connection,
    vault: &Vault,
    id: PageId,
) -> Result<StatusPage, StoreError> {
    pages::by_id(db, vault, id).await?.ok_or_else(|| StoreError::not_found("status page", &id))
}

fn with_page(vault: &Vault, subscriber: Subscriber, page: StatusPage) -> SubscriberWithPage {
    let password_hash = hash_password(vault, &page);
    let who = (&subscriber.settings.destination, &subscriber.access_proof);
    let closed = suppression_reason(&page, password_hash.as_deref(), who);
    let suppression_reason = closed.or(match subscriber.state() {
        SubscriberState::Pending => Some(SuppressionReason::Pending),
        SubscriberState::Active => None,
    });
    SubscriberWithPage { subscriber, page, suppression_reason }
}

/// Returns the address of a subscriber, which is sealed under its identifier.
pub(crate) fn destination(
    vault: &Vault,
    id: &str,
    kind: SubscriberKind,
    sealed: &[u8],
) -> Result<Destination, StoreError> {
    let sealed: String = vault.open(address_context(id), sealed)?;
    Ok(match kind {
        SubscriberKind::Email => Destination::Email(sealed),
        SubscriberKind::Webhook => Destination::Webhook(Secret::new(sealed)),
    })
}

/// Returns the proof of a subscriber's access to its page, from its two columns.
pub(crate) fn access_proof(by_owner: bool, password_hash: Option<&[u8]>) -> AccessProof {
    match (by_owner, password_hash) {
        (true, _) => AccessProof::Owner,
        (false, Some(password_hash)) => AccessProof::Password(password_hash.to_vec()),
        (false, None) => AccessProof::Visitor,
    }
}

async fn read(db: &mut Connection, vault: &Vault, row: &Row) -> Result<Subscriber, StoreError> {
    let subscriber_id: SubscriberId = id(row, "id", SubscriberId::parse)?;
    let text = subscriber_id.to_string();
    let kind = id(row, "kind", SubscriberKind::parse)?;
    let destination = destination(vault, &text, kind, row.try_get("sealed")?)?;
    let topics = [
        (Topic::Reports, row.try_get("topic_reports")?),
        (Topic::Maintenance, row.try_get("topic_maintenance")?),
        (Topic::Incidents, row.try_get("topic_incidents")?),
    ];
    let scope = if row.try_get("all_components")? {
        ComponentScope::All
    } else {
        ComponentScope::Some(components(db, &text).await?)
    };
    let settings = SubscriberSettings {
        page_id: id(row, "page_id", PageId::parse)?,
        destination,
        language: id(row, "language", Language::parse)?,
        scope,
        topics: topics.into_iter().filter(|(_, topics)| *topics).map(|(topic, _)| topic).collect(),
    };
    Ok(Subscriber {
        id: subscriber_id,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        created_at: instant(row, "created_at")?,
        confirmed_at: optional_instant(row, "confirmed_at")?,
        access_proof: access_proof(row.try_get("by_owner")?, row.try_get("password_hash")?),
    })
}

async fn components(db: &mut Connection, subscriber: &str) -> Result<Vec<ComponentId>, StoreError> {
    let rows = query(
        "SELECT component FROM subscriber_components WHERE subscriber = $1 ORDER BY component",
    )
    .bind(subscriber)
    .fetch_all(db)
    .await?;
    rows.iter().map(|row| id(row, "component", ComponentId::parse)).collect()
}

/// Returns the location for which the address of a subscriber is sealed.
const fn address_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "subscribers.sealed", row: id }
}
