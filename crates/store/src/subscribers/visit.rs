//! What visitors do: ask for emails, say that the address is theirs, choose what they hear of, and end
//! it. Whether they may is shown by what they were sent; nothing here tells one address from another.

use domain::notify::About;
use rules::status_page::{Components, Subscriber, SubscriberSettings, SubscriberState, Topic};
use rules::{SubscriberId, Timestamp, WorkspaceId};

use super::change::{find, insert, is_full, link, note, remove, write_to};
use super::{Receiving, Subscribers, one};
use crate::db::query;
use crate::row::id;
use crate::writer::Session;
use crate::{Actor, Change, StoreError, outbox};

/// What became of an address that was asked for. No visitor is told which of the first three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is new, and is asked.
    New,
    /// It was asked before and did not answer; it is asked again.
    Again,
    /// It is told already, and told so.
    Known,
    /// The page has as many subscribers as it may have.
    Full,
}

/// What a subscriber wants to hear from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of which components.
    pub scope: Components,
    /// Of what; nothing is as by default.
    pub topics: Vec<Topic>,
}

impl Subscribers<'_> {
    /// Somebody wants an address to be told; `title` is the page's. Whoever has it is asked.
    pub async fn ask(
        &self,
        (new, workspace): (SubscriberId, WorkspaceId),
        settings: SubscriberSettings,
        title: String,
        now: Timestamp,
    ) -> Result<Asked, StoreError> {
        let change = Change { actor: Actor::Server, at: now };
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let before = find(session, settings.page_id, &settings.destination).await?;
                    if let Some(before) = before {
                        return ask_again(session, before, settings, change).await;
                    }
                    if is_full(&mut session.db, settings.page_id).await? {
                        return Ok(Asked::Full);
                    }
                    let created_at = now;
                    let subscriber =
                        Subscriber { id: new, workspace, settings, created_at, confirmed_at: None };
                    insert(session, &subscriber).await?;
                    note(&mut session.db, (workspace, new), change, "subscriber.ask").await?;
                    write_to(session, &subscriber, title, About::Asked(new), change).await?;
                    Ok(Asked::New)
                })
            })
            .await
    }

    /// Who has the address said yes. `None` where the subscription ended, or the yes came too late.
    pub async fn confirm(
        &self,
        id: SubscriberId,
        now: Timestamp,
    ) -> Result<Option<Receiving>, StoreError> {
        let Some(seen) = self.receiving(id).await? else { return Ok(None) };
        let change = Change { actor: Actor::Server, at: now };
        self.store
            .write_in(seen.subscriber.workspace, move |session| {
                Box::pin(async move {
                    let Some(seen) = one(&mut session.db, &session.vault, id).await? else {
                        return Ok(None);
                    };
                    if seen.subscriber.state() == SubscriberState::Active {
                        return Ok(Some(seen));
                    }
                    let confirmed = query(
                        "UPDATE subscribers SET confirmed_at = $1 \
                         WHERE id = $2 AND confirmed_at IS NULL AND asked_at > $3",
                    )
                    .bind(now.as_millis())
                    .bind(id.to_string())
                    .bind((now - rules::limits::SUBSCRIBER_PENDING_FOR).as_millis())
                    .execute(&mut session.db)
                    .await?;
                    if confirmed == 0 {
                        return Ok(None);
                    }
                    // Another email that asks is not wanted any more.
                    outbox::leave(&mut session.db, id, now).await?;
                    let workspace = seen.subscriber.workspace;
                    note(&mut session.db, (workspace, id), change, "subscriber.confirm").await?;
                    one(&mut session.db, &session.vault, id).await
                })
            })
            .await
    }

    /// A subscriber chooses anew. `None` where the subscription ended.
    pub async fn choose(
        &self,
        id: SubscriberId,
        wanted: Wanted,
        now: Timestamp,
    ) -> Result<Option<Receiving>, StoreError> {
        let Some(seen) = self.receiving(id).await? else { return Ok(None) };
        let change = Change { actor: Actor::Server, at: now };
        self.store
            .write_in(seen.subscriber.workspace, move |session| {
                Box::pin(async move {
                    let Some(seen) = one(&mut session.db, &session.vault, id).await? else {
                        return Ok(None);
                    };
                    settle(session, &seen, wanted).await?;
                    let workspace = seen.subscriber.workspace;
                    note(&mut session.db, (workspace, id), change, "subscriber.update").await?;
                    one(&mut session.db, &session.vault, id).await
                })
            })
            .await
    }

    /// A subscriber ends it: nothing more is told, and nothing of it is kept. One that ended before
    /// has ended.
    pub async fn end(&self, id: SubscriberId, now: Timestamp) -> Result<(), StoreError> {
        let Some(seen) = self.receiving(id).await? else { return Ok(()) };
        let workspace = seen.subscriber.workspace;
        let change = Change { actor: Actor::Server, at: now };
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    remove(session, workspace, id, change).await?;
                    Ok(())
                })
            })
            .await
    }

    /// Forgets the addresses that did not answer in time, and says how many that were.
    pub async fn expire(&self, now: Timestamp) -> Result<u32, StoreError> {
        let before = (now - rules::limits::SUBSCRIBER_PENDING_FOR).as_millis();
        let late = query(
            "SELECT id, workspace_id FROM subscribers WHERE confirmed_at IS NULL \
             AND asked_at <= $1 ORDER BY asked_at LIMIT 1000",
        )
        .bind(before)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let mut expired = 0;
        for row in &late {
            let subscriber: SubscriberId = id(row, 0, SubscriberId::parse)?;
            let workspace: WorkspaceId = id(row, 1, WorkspaceId::parse)?;
            let gone = self.store.write_in(workspace, move |session| {
                Box::pin(async move {
                    let gone = query(
                        "DELETE FROM subscribers WHERE id = $1 AND confirmed_at IS NULL \
                         AND asked_at <= $2",
                    )
                    .bind(subscriber.to_string())
                    .bind(before)
                    .execute(&mut session.db)
                    .await?;
                    outbox::leave(&mut session.db, subscriber, now).await?;
                    Ok(gone)
                })
            });
            expired += u32::from(gone.await? > 0);
        }
        Ok(expired)
    }
}

/// An address that is known already: asked again as it is wanted now, or told that it is known.
async fn ask_again(
    session: &mut Session,
    before: SubscriberId,
    settings: SubscriberSettings,
    change: Change,
) -> Result<Asked, StoreError> {
    let seen = one(&mut session.db, &session.vault, before).await?;
    let Some(seen) = seen else { return Ok(Asked::Full) };
    let title = seen.title.clone();
    if seen.subscriber.state() == SubscriberState::Active {
        let subscriber = &seen.subscriber;
        write_to(session, subscriber, title, About::Known(before), change).await?;
        return Ok(Asked::Known);
    }
    let (scope, topics) = (settings.scope, settings.topics);
    settle(session, &seen, Wanted { scope, topics }).await?;
    query("UPDATE subscribers SET asked_at = $1, language = $2 WHERE id = $3")
        .bind(change.at.as_millis())
        .bind(settings.language.as_str())
        .bind(before.to_string())
        .execute(&mut session.db)
        .await?;
    outbox::leave(&mut session.db, before, change.at).await?;
    let about = About::Asked(before);
    write_to(session, &seen.subscriber, title, about, change).await?;
    Ok(Asked::Again)
}

async fn settle(session: &mut Session, seen: &Receiving, wanted: Wanted) -> Result<(), StoreError> {
    let (subscriber, page) = (seen.subscriber.id, seen.subscriber.settings.page_id);
    let Wanted { scope, topics } = wanted;
    let topics = if topics.is_empty() { Topic::BY_DEFAULT.to_vec() } else { topics };
    query(
        "UPDATE subscribers SET hears_reports = $1, hears_maintenance = $2, \
         hears_incidents = $3, all_components = $4 WHERE id = $5",
    )
    .bind(topics.contains(&Topic::Reports))
    .bind(topics.contains(&Topic::Maintenance))
    .bind(topics.contains(&Topic::Incidents))
    .bind(scope == Components::All)
    .bind(subscriber.to_string())
    .execute(&mut session.db)
    .await?;
    query("DELETE FROM subscriber_components WHERE subscriber = $1")
        .bind(subscriber.to_string())
        .execute(&mut session.db)
        .await?;
    link(&mut session.db, subscriber, page, &scope).await
}
