//! Actions of visitors: request emails, confirm an address, choose topics, and unsubscribe. The
//! links that they received prove that they may. Responses do not reveal whether an address is
//! known. A visitor who is inside a restricted page thereby proves access to its events.

use std::net::IpAddr;

use domain::notify::PageEventKind;
use domain::page::may_subscribe;
use rules::status_page::{
    AccessProof, ComponentScope, StatusPage, Subscriber, SubscriberSettings, SubscriberState, Topic,
};
use rules::{SubscriberId, Timestamp, Violation, WorkspaceId, limits};

use super::change::{
    enqueue_for, find, insert, is_full, link, record_change, remove, require_page,
};
use super::{SubscriberWithPage, Subscribers, address_hash, hash_password, one, pending};
use crate::db::query;
use crate::row::id;
use crate::writer::Session;
use crate::{Actor, AuditContext, StoreError, outbox};

/// Maximum number of addresses that one transaction removes, so that verdicts are not delayed.
const EXPIRED_AT_ONCE: u32 = 100;

/// Source of a sign-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignupSource {
    /// Page, as the visitor was admitted to it.
    pub page: StatusPage,
    pub network: IpAddr,
}

/// Outcome of a sign-up. Visitors are not told which, except for the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignupOutcome {
    /// The address is new, and a confirmation email is enqueued.
    New,
    /// The address was unconfirmed, and another confirmation email is enqueued.
    Again,
    /// The address is subscribed already, and an email says so.
    Known,
    /// The page has the maximum number of subscribers.
    Full,
    /// The network has the maximum number of unconfirmed addresses.
    TooMany,
    /// The page is for members, and the address is in none of their domains.
    NotAllowed,
}

/// Choice of a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionChoice {
    pub scope: ComponentScope,
    /// Topics. An empty list means the defaults.
    pub topics: Vec<Topic>,
}

impl Subscribers<'_> {
    /// Signs up an address, and enqueues a confirmation email to it.
    pub async fn sign_up(
        &self,
        new: SubscriberId,
        settings: SubscriberSettings,
        source: SignupSource,
        now: Timestamp,
    ) -> Result<SignupOutcome, StoreError> {
        let change = AuditContext::new(Actor::Server, now);
        self.store
            .write_in(source.page.workspace, move |session| {
                Box::pin(sign_up_in(session, new, settings, source, change))
            })
            .await
    }

    /// Confirms an address. `inside` is the page if the visitor was admitted to it. Returns `None`
    /// if the subscription ended or the confirmation came too late. Fails if the page is full.
    pub async fn confirm(
        &self,
        id: SubscriberId,
        inside: Option<StatusPage>,
        now: Timestamp,
    ) -> Result<Option<SubscriberWithPage>, StoreError> {
        let Some(seen) = self.get_with_page(id).await? else { return Ok(None) };
        let change = AuditContext::new(Actor::Server, now);
        self.store
            .write_in(seen.subscriber.workspace, move |session| {
                Box::pin(async move {
                    let Some(seen) = one(&mut session.db, &session.vault, id).await? else {
                        return Ok(None);
                    };
                    store_access_proof(session, &seen.subscriber, inside.as_ref()).await?;
                    if seen.subscriber.state() == SubscriberState::Active {
                        return one(&mut session.db, &session.vault, id).await;
                    }
                    refuse_full(session, &seen.subscriber).await?;
                    let confirmed = query(
                        "UPDATE subscribers SET confirmed_at = $1, requester_hash = NULL \
                         WHERE id = $2 AND confirmed_at IS NULL AND requested_at > $3",
                    )
                    .bind(now.as_millis())
                    .bind(id.to_string())
                    .bind((now - limits::SUBSCRIBER_PENDING_FOR).as_millis())
                    .execute(&mut session.db)
                    .await?;
                    if confirmed == 0 {
                        return Ok(None);
                    }
                    // Another confirmation email is not needed any more.
                    outbox::cancel_for(&mut session.db, id, now).await?;
                    let workspace = seen.subscriber.workspace;
                    record_change(&mut session.db, (workspace, id), change, "subscriber.confirm")
                        .await?;
                    one(&mut session.db, &session.vault, id).await
                })
            })
            .await
    }

    /// Changes the choice of a subscriber who is `inside` the page. Returns `None` if the
    /// subscription ended.
    pub async fn choose(
        &self,
        id: SubscriberId,
        wanted: SubscriptionChoice,
        inside: StatusPage,
        now: Timestamp,
    ) -> Result<Option<SubscriberWithPage>, StoreError> {
        let Some(seen) = self.get_with_page(id).await? else { return Ok(None) };
        let change = AuditContext::new(Actor::Server, now);
        self.store
            .write_in(seen.subscriber.workspace, move |session| {
                Box::pin(async move {
                    let Some(seen) = one(&mut session.db, &session.vault, id).await? else {
                        return Ok(None);
                    };
                    store_access_proof(session, &seen.subscriber, Some(&inside)).await?;
                    store_choice(session, &seen, wanted).await?;
                    let workspace = seen.subscriber.workspace;
                    record_change(&mut session.db, (workspace, id), change, "subscriber.update")
                        .await?;
                    one(&mut session.db, &session.vault, id).await
                })
            })
            .await
    }

    /// Ends a subscription and deletes all data of the subscriber. Ending an ended subscription has
    /// no effect.
    pub async fn end(&self, id: SubscriberId, now: Timestamp) -> Result<(), StoreError> {
        let Some(seen) = self.get_with_page(id).await? else { return Ok(()) };
        let workspace = seen.subscriber.workspace;
        let change = AuditContext::new(Actor::Server, now);
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    remove(session, workspace, id, change).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Removes the addresses that were not confirmed in time. Returns their number.
    pub async fn expire(&self, now: Timestamp) -> Result<u32, StoreError> {
        let before = now - limits::SUBSCRIBER_PENDING_FOR;
        let late = query(
            "SELECT 1 FROM subscribers WHERE confirmed_at IS NULL AND requested_at <= $1 LIMIT 1",
        )
        .bind(before.as_millis());
        if late.fetch_optional(&mut self.store.read().await?).await?.is_none() {
            return Ok(0);
        }
        let mut expired = 0;
        loop {
            let step = self.store.write(move |session| {
                session.declare_no_change();
                Box::pin(remove_late(session, before, now))
            });
            let gone = step.await?;
            expired += gone;
            if gone < EXPIRED_AT_ONCE {
                return Ok(expired);
            }
        }
    }
}

/// Removes some of the addresses that were requested `before` and not confirmed, and cancels their
/// deliveries.
async fn remove_late(
    session: &mut Session,
    before: Timestamp,
    now: Timestamp,
) -> Result<u32, StoreError> {
    let gone = query(
        "DELETE FROM subscribers WHERE id IN (SELECT id FROM subscribers \
         WHERE confirmed_at IS NULL AND requested_at <= $1 ORDER BY requested_at, id LIMIT $2) \
         RETURNING id, workspace_id",
    )
    .bind(before.as_millis())
    .bind(i64::from(EXPIRED_AT_ONCE))
    .fetch_all(&mut session.db)
    .await?;
    let read = |row| {
        let subscriber = id(row, "id", SubscriberId::parse)?;
        Ok((subscriber, id(row, "workspace_id", WorkspaceId::parse)?))
    };
    for (subscriber, workspace) in session.quarantine.readable_rows("subscribers", &gone, read)? {
        session.declare_change(workspace);
        outbox::cancel_for(&mut session.db, subscriber, now).await?;
    }
    Ok(gone.len() as u32)
}

async fn sign_up_in(
    session: &mut Session,
    new: SubscriberId,
    settings: SubscriberSettings,
    source: SignupSource,
    change: AuditContext,
) -> Result<SignupOutcome, StoreError> {
    let (workspace, page_id) = (source.page.workspace, settings.page_id);
    let page = require_page(session, workspace, page_id).await?;
    if !may_subscribe(&page.settings, &settings.destination) {
        return Ok(SignupOutcome::NotAllowed);
    }
    let requester_hash = address_hash::hash_network(&session.vault, source.network);
    if let Some(before) = find(session, page_id, &settings.destination).await? {
        return sign_up_again(session, before, settings, (&source.page, &requester_hash), change)
            .await;
    }
    if is_full(&mut session.db, page_id).await? {
        return Ok(SignupOutcome::Full);
    }
    if pending::is_network_full(&mut session.db, page_id, &requester_hash).await? {
        return Ok(SignupOutcome::TooMany);
    }
    pending::make_room(&mut session.db, page_id, change.at).await?;
    let password_hash = hash_password(&session.vault, &source.page);
    let subscriber = Subscriber {
        id: new,
        workspace,
        settings,
        created_at: change.at,
        confirmed_at: None,
        access_proof: password_hash.map_or(AccessProof::Visitor, AccessProof::Password),
    };
    insert(session, &subscriber, Some(&requester_hash)).await?;
    record_change(&mut session.db, (workspace, new), change, "subscriber.ask").await?;
    enqueue_for(
        session,
        &subscriber,
        page.settings.title,
        PageEventKind::ConfirmationRequested(new),
        change,
    )
    .await?;
    Ok(SignupOutcome::New)
}

/// Handles a sign-up of a known address: enqueues another confirmation email with the new choice,
/// or an email that it is subscribed already.
async fn sign_up_again(
    session: &mut Session,
    before: SubscriberId,
    settings: SubscriberSettings,
    (inside, requester_hash): (&StatusPage, &[u8]),
    change: AuditContext,
) -> Result<SignupOutcome, StoreError> {
    let seen = one(&mut session.db, &session.vault, before).await?;
    let seen = seen.ok_or_else(|| StoreError::not_found("subscriber", &before))?;
    let title = seen.page.settings.title.clone();
    store_access_proof(session, &seen.subscriber, Some(inside)).await?;
    if seen.subscriber.state() == SubscriberState::Active {
        let subscriber = &seen.subscriber;
        enqueue_for(session, subscriber, title, PageEventKind::AlreadySubscribed(before), change)
            .await?;
        return Ok(SignupOutcome::Known);
    }
    // The choice of a page owner stays until the subscriber changes it.
    if seen.subscriber.access_proof != AccessProof::Owner {
        let (scope, topics) = (settings.scope, settings.topics);
        store_choice(session, &seen, SubscriptionChoice { scope, topics }).await?;
    }
    query(
        "UPDATE subscribers SET requested_at = $1, language = $2, \
         requester_hash = CASE WHEN by_owner THEN NULL ELSE $3 END WHERE id = $4",
    )
    .bind(change.at.as_millis())
    .bind(settings.language.as_str())
    .bind(requester_hash)
    .bind(before.to_string())
    .execute(&mut session.db)
    .await?;
    outbox::cancel_for(&mut session.db, before, change.at).await?;
    let about = PageEventKind::ConfirmationRequested(before);
    enqueue_for(session, &seen.subscriber, title, about, change).await?;
    Ok(SignupOutcome::Again)
}

/// Stores that the subscriber knows the password, if it is inside a page with one. A subscriber
/// that the owner added needs no password.
async fn store_access_proof(
    session: &mut Session,
    subscriber: &Subscriber,
    inside: Option<&StatusPage>,
) -> Result<(), StoreError> {
    let password_hash = inside.and_then(|page| hash_password(&session.vault, page));
    let Some(password_hash) = password_hash else { return Ok(()) };
    query("UPDATE subscribers SET password_hash = $1 WHERE id = $2 AND NOT by_owner")
        .bind(password_hash)
        .bind(subscriber.id.to_string())
        .execute(&mut session.db)
        .await?;
    Ok(())
}

/// Rejects the confirmation of a visitor's address if the page is full.
async fn refuse_full(session: &mut Session, subscriber: &Subscriber) -> Result<(), StoreError> {
    let page = subscriber.settings.page_id;
    let has_place = subscriber.access_proof == AccessProof::Owner;
    if has_place || !is_full(&mut session.db, page).await? {
        return Ok(());
    }
    let allowed = format!("must have fewer than {} subscribers", limits::SUBSCRIBERS_MAX);
    Err(StoreError::Refused(Violation::new("page_id", page, allowed)))
}

async fn store_choice(
    session: &mut Session,
    seen: &SubscriberWithPage,
    choice: SubscriptionChoice,
) -> Result<(), StoreError> {
    let (subscriber, page) = (seen.subscriber.id, seen.subscriber.settings.page_id);
    let SubscriptionChoice { scope, topics } = choice;
    let topics = if topics.is_empty() { Topic::BY_DEFAULT.to_vec() } else { topics };
    query(
        "UPDATE subscribers SET topic_reports = $1, topic_maintenance = $2, \
         topic_incidents = $3, all_components = $4 WHERE id = $5",
    )
    .bind(topics.contains(&Topic::Reports))
    .bind(topics.contains(&Topic::Maintenance))
    .bind(topics.contains(&Topic::Incidents))
    .bind(scope == ComponentScope::All)
    .bind(subscriber.to_string())
    .execute(&mut session.db)
    .await?;
    query("DELETE FROM subscriber_components WHERE subscriber = $1")
        .bind(subscriber.to_string())
        .execute(&mut session.db)
        .await?;
    link(&mut session.db, subscriber, page, &scope).await
}
