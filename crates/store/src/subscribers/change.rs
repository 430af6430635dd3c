//! Changes that page owners make: adding and removing subscribers. Repeated adds have no effect.
//! Removing a subscriber deletes all of its data.

use domain::notify::{DueTime, PageEvent, PageEventKind, PageNamed};
use domain::page::may_subscribe;
use rules::status_page::{
    A_COMPONENT, A_PAGE, AccessProof, ComponentScope, Destination, StatusPage, Subscriber,
    SubscriberSettings, Topic,
};
use rules::{PageId, SubscriberId, Violation, WorkspaceId, limits};

use super::{Subscribers, address_context, address_hash, one};
use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::outbox::{self, DeliveryTarget, Events};
use crate::writer::Session;
use crate::{AuditContext, Created, Idempotency, StoreError, idempotency, pages};

/// Subscriber to add.
#[derive(Clone, Debug)]
pub struct NewSubscriber {
    pub id: SubscriberId,
    pub workspace: WorkspaceId,
    /// Requested settings.
    pub settings: SubscriberSettings,
    /// Whether the subscriber must confirm first.
    pub initial_state: InitialState,
    /// Key that identifies retries of the request.
    pub idempotency: Option<Idempotency>,
}

/// Initial state of a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialState {
    /// Confirmed: the caller vouches for it.
    Confirmed,
    /// Unconfirmed: an email asks the owner of the address.
    Unconfirmed,
}

impl Subscribers<'_> {
    /// Adds a subscriber. Its page and components must exist, and its address must not be
    /// subscribed yet. On a page for members, the address must be in one of the page's domains.
    pub async fn add(
        &self,
        new: NewSubscriber,
        change: AuditContext,
    ) -> Result<Created<Subscriber>, StoreError> {
        self.store.write_in(new.workspace, move |session| Box::pin(add(session, new, change))).await
    }

    /// Ends a subscription and deletes all data of the subscriber.
    pub async fn remove(
        &self,
        workspace: WorkspaceId,
        id: SubscriberId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    if !remove(session, workspace, id, change).await? {
                        return Err(StoreError::not_found("subscriber", &id));
                    }
                    Ok(())
                })
            })
            .await
    }
}

async fn add(
    session: &mut Session,
    new: NewSubscriber,
    change: AuditContext,
) -> Result<Created<Subscriber>, StoreError> {
    let (workspace, call) = (new.workspace, new.idempotency.as_ref());
    let before = idempotency::created_before(&mut session.db, workspace, call).await?;
    if let Some(text) = before {
        let before = SubscriberId::parse(&text).unwrap_or(new.id);
        let found = one(&mut session.db, &session.vault, before).await?;
        let found = found.map(|found| Created::Before(found.subscriber));
        return found.ok_or_else(|| idempotency::gone(StoreError::not_found("subscriber", &text)));
    }
    let page = require_page(session, workspace, new.settings.page_id).await?;
    refuse_outside(&page, &new.settings.destination)?;
    refuse_taken(session, &new.settings).await?;
    let confirmed_at = match new.initial_state {
        InitialState::Confirmed => Some(change.at),
        InitialState::Unconfirmed => None,
    };
    let subscriber = Subscriber {
        id: new.id,
        workspace,
        settings: new.settings,
        created_at: change.at,
        confirmed_at,
        access_proof: AccessProof::Owner,
    };
    insert(session, &subscriber, None).await?;
    let id = subscriber.id.to_string();
    idempotency::record(&mut session.db, workspace, call, (&id, change.at)).await?;
    record_change(&mut session.db, (workspace, subscriber.id), change, "subscriber.add").await?;
    if new.initial_state == InitialState::Unconfirmed {
        let title = page.settings.title;
        enqueue_for(
            session,
            &subscriber,
            title,
            PageEventKind::ConfirmationRequested(subscriber.id),
            change,
        )
        .await?;
    }
    Ok(Created::Now(subscriber))
}

/// Returns a page. Rejects one that the workspace does not have.
pub(super) async fn require_page(
    session: &mut Session,
    workspace: WorkspaceId,
    id: PageId,
) -> Result<StatusPage, StoreError> {
    let page = pages::by_id(&mut session.db, &session.vault, id).await?;
    let page = page.filter(|page| page.workspace == workspace);
    page.ok_or_else(|| StoreError::Refused(Violation::new("page_id", id, A_PAGE)))
}

/// Rejects addresses outside the domains of a page for members, whoever adds them.
fn refuse_outside(page: &StatusPage, destination: &Destination) -> Result<(), StoreError> {
    const ALLOWED: &str = "must be at one of the domains whose addresses may read the status page";
    if may_subscribe(&page.settings, destination) {
        return Ok(());
    }
    let address = destination.expose();
    Err(StoreError::Refused(Violation::new("email", address, ALLOWED)))
}

async fn refuse_taken(
    session: &mut Session,
    settings: &SubscriberSettings,
) -> Result<(), StoreError> {
    if find(session, settings.page_id, &settings.destination).await?.is_some() {
        const ALLOWED: &str = "is already subscribed to the status page";
        let violation = match &settings.destination {
            Destination::Email(address) => Violation::new("email", address, ALLOWED),
            Destination::Webhook(_) => Violation::without_value("webhook_url", ALLOWED),
        };
        return Err(StoreError::Taken(violation));
    }
    if is_full(&mut session.db, settings.page_id).await? {
        let most = limits::SUBSCRIBERS_MAX;
        let allowed = format!("must have fewer than {most} subscribers");
        return Err(StoreError::Refused(Violation::new("page_id", settings.page_id, allowed)));
    }
    Ok(())
}

/// Returns the subscriber of a page with this address.
pub(super) async fn find(
    session: &mut Session,
    page: PageId,
    destination: &Destination,
) -> Result<Option<SubscriberId>, StoreError> {
    let row = query("SELECT id FROM subscribers WHERE page_id = $1 AND address_hash = $2")
        .bind(page.to_string())
        .bind(address_hash::hash_destination(&session.vault, destination))
        .fetch_optional(&mut session.db)
        .await?;
    row.map(|row| crate::row::id(&row, "id", SubscriberId::parse)).transpose()
}

/// Returns whether a page has the maximum number of subscribers. Unconfirmed ones from visitors do
/// not count, because strangers could fill a page otherwise.
pub(super) async fn is_full(db: &mut Connection, page: PageId) -> Result<bool, StoreError> {
    let count: Option<i64> = query(
        "SELECT COUNT(*) FROM subscribers WHERE page_id = $1 \
         AND (confirmed_at IS NOT NULL OR by_owner)",
    )
    .bind(page.to_string())
    .scalar(db)
    .await?;
    Ok(count.unwrap_or_default() >= i64::from(limits::SUBSCRIBERS_MAX))
}

/// Inserts a subscriber, with the hash of the requester's network if a visitor signed up.
pub(super) async fn insert(
    session: &mut Session,
    subscriber: &Subscriber,
    requester_hash: Option<&[u8]>,
) -> Result<(), StoreError> {
    let settings = &subscriber.settings;
    let (by_owner, let_in) = match &subscriber.access_proof {
        AccessProof::Owner => (true, None),
        AccessProof::Visitor => (false, None),
        AccessProof::Password(password_hash) => (false, Some(password_hash.as_slice())),
    };
    let id = subscriber.id.to_string();
    let has_topic = |topic| settings.topics.contains(&topic);
    query(
        "INSERT INTO subscribers (id, workspace_id, page_id, kind, address_hash, sealed, language, \
         topic_reports, topic_maintenance, topic_incidents, all_components, created_at, requested_at, \
         confirmed_at, by_owner, password_hash, requester_hash) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14, $15, $16)",
    )
    .bind(&id)
    .bind(subscriber.workspace.to_string())
    .bind(settings.page_id.to_string())
    .bind(settings.destination.kind().as_str())
    .bind(address_hash::hash_destination(&session.vault, &settings.destination))
    .bind(session.vault.seal(address_context(&id), &settings.destination.expose())?)
    .bind(settings.language.as_str())
    .bind(has_topic(Topic::Reports))
    .bind(has_topic(Topic::Maintenance))
    .bind(has_topic(Topic::Incidents))
    .bind(settings.scope == ComponentScope::All)
    .bind(subscriber.created_at.as_millis())
    .bind(subscriber.confirmed_at.map(rules::Timestamp::as_millis))
    .bind(by_owner)
    .bind(let_in.map(<[u8]>::to_vec))
    .bind(requester_hash.map(<[u8]>::to_vec))
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "subscriber", name: id.clone() };
        StoreError::from_insert(error, taken, Some(subscriber.workspace))
    })?;
    link(&mut session.db, subscriber.id, settings.page_id, &settings.scope).await
}

/// Links the subscriber to its components, which must be on its page.
pub(super) async fn link(
    db: &mut Connection,
    subscriber: SubscriberId,
    page: PageId,
    scope: &ComponentScope,
) -> Result<(), StoreError> {
    for component in scope.ids() {
        let linked = query(
            "INSERT INTO subscriber_components (subscriber, component) \
             SELECT $1, id FROM components WHERE page_id = $2 AND id = $3",
        )
        .bind(subscriber.to_string())
        .bind(page.to_string())
        .bind(component.to_string())
        .execute(&mut *db)
        .await?;
        if linked == 0 {
            let violation = Violation::new("component_ids", component, A_COMPONENT);
            return Err(StoreError::Refused(violation));
        }
    }
    Ok(())
}

/// Deletes all data of a subscriber. Returns whether it existed.
pub(super) async fn remove(
    session: &mut Session,
    workspace: WorkspaceId,
    id: SubscriberId,
    change: AuditContext,
) -> Result<bool, StoreError> {
    let removed = query("DELETE FROM subscribers WHERE workspace_id = $1 AND id = $2")
        .bind(workspace.to_string())
        .bind(id.to_string())
        .execute(&mut session.db)
        .await?;
    if removed > 0 {
        outbox::cancel_for(&mut session.db, id, change.at).await?;
        record_change(&mut session.db, (workspace, id), change, "subscriber.remove").await?;
    }
    Ok(removed > 0)
}

/// Deletes the subscribers of a page that is being deleted.
pub(crate) async fn delete_with_page(
    db: &mut Connection,
    page: PageId,
    change: AuditContext,
) -> Result<(), StoreError> {
    outbox::cancel_for_page(db, page, change.at).await?;
    query("DELETE FROM subscribers WHERE page_id = $1").bind(page.to_string()).execute(db).await?;
    Ok(())
}

/// Enqueues an event for this subscriber alone.
pub(super) async fn enqueue_for(
    session: &mut Session,
    subscriber: &Subscriber,
    title: String,
    about: PageEventKind,
    change: AuditContext,
) -> Result<(), StoreError> {
    let page = PageNamed { id: subscriber.settings.page_id, title };
    let event = PageEvent { page, at: change.at, about, components: Vec::new() };
    let target = DeliveryTarget {
        workspace: subscriber.workspace,
        recipient: subscriber.id.into(),
        kind: subscriber.settings.destination.kind().as_str(),
    };
    let due_time = DueTime { due_at: change.at, hold_reason: None };
    outbox::enqueue_page_event(session, &mut Events::default(), target, &event, due_time, change.at)
        .await
}

pub(super) async fn record_change(
    db: &mut Connection,
    (workspace, id): (WorkspaceId, SubscriberId),
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let note = NewAuditEntry { workspace, change, action, resource_id: id.to_string(), detail: "" };
    audit::record(db, note).await
}
