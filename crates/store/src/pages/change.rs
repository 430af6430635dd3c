//! Changes status pages. Repeated creates have no effect, and an edit must be based on the latest
//! version. Pages can be published and hidden. A deleted page takes its components and groups
//! along.

use rules::plan::Plans;
use rules::status_page::{PageSettings, StatusPage};
use rules::{PageId, Theme, Timestamp, WorkspaceId};

use super::columns::{self, domains_text, sealed_password};
use super::unique::{domain_name, refuse_taken};
use super::{Pages, exists};
use crate::access_versions;
use crate::audit::{self, NewAuditEntry};
use crate::db::query;
use crate::plans::{self, LimitedKind};
use crate::writer::Session;
use crate::{
    AuditContext, Created, Idempotency, StoreError, UpdateContext, components, groups, idempotency,
    maintenances, outbox, reports, subscribers,
};

/// Status page to create.
#[derive(Clone, Debug)]
pub struct NewPage {
    pub id: PageId,
    pub workspace: WorkspaceId,
    /// Settings from the user.
    pub settings: PageSettings,
    /// Key that identifies retries of the create.
    pub idempotency: Option<Idempotency>,
}

/// Result of a successful change.
enum Changed<T> {
    /// Something changed.
    Applied(T),
    /// Nothing changed.
    Unchanged(T),
}

impl Pages<'_> {
    /// Creates a status page: published, with the system's theme.
    pub async fn create(
        &self,
        new: NewPage,
        change: AuditContext,
    ) -> Result<Created<StatusPage>, StoreError> {
        let (store, plans) = (self.store.clone(), self.store.plans());
        self.run_to_completion(None, async move {
            let created = store
                .write_in(new.workspace, move |session| {
                    Box::pin(async move { create(session, &plans, new, change).await })
                })
                .await?;
            Ok(Changed::Applied(created))
        })
        .await
    }

    /// Replaces the settings of a page that was read as `seen`. Fails with a conflict if it was
    /// changed since.
    pub async fn update(
        &self,
        seen: StatusPage,
        settings: PageSettings,
        change: impl Into<UpdateContext>,
    ) -> Result<StatusPage, StoreError> {
        let UpdateContext { change, changes } = change.into();
        let (id, is_other) =
            (seen.id, access_versions::is_access_changed(&seen.settings, &settings));
        let store = self.store.clone();
        self.run_to_completion(is_other.then_some(id), async move {
            let updated = store
                .write_in(seen.workspace, move |session| {
                    Box::pin(async move {
                        let page = update(session, seen, settings, change).await?;
                        audit::attach_changes(
                            session,
                            (page.workspace, &page.id.to_string()),
                            &changes,
                        )
                        .await?;
                        Ok(page)
                    })
                })
                .await?;
            Ok(Changed::Applied(updated))
        })
        .await
    }

    /// Publishes or hides a page. Has no effect if that is its state.
    pub async fn set_published(
        &self,
        workspace: WorkspaceId,
        id: PageId,
        published: bool,
        change: AuditContext,
    ) -> Result<StatusPage, StoreError> {
        let action = if published { "page.publish" } else { "page.unpublish" };
        let store = self.store.clone();
        self.run_to_completion(Some(id), async move {
            let pages = store.pages();
            pages.set(workspace, id, (action, change), move |page| page.published = published).await
        })
        .await
    }

    /// Sets the theme of a page. Has no effect if it has that theme.
    pub async fn set_theme(
        &self,
        workspace: WorkspaceId,
        id: PageId,
        theme: Theme,
        change: AuditContext,
    ) -> Result<StatusPage, StoreError> {
        let set = self.set(workspace, id, ("page.theme", change), move |page| page.theme = theme);
        Ok(set.await?.into_inner())
    }

    /// Allows or forbids search engines to index a page. Has no effect if that is its state.
    pub async fn set_indexing(
        &self,
        workspace: WorkspaceId,
        id: PageId,
        allow: bool,
        change: AuditContext,
    ) -> Result<StatusPage, StoreError> {
        let edit = move |page: &mut StatusPage| page.allow_indexing = allow;
        let set = self.set(workspace, id, ("page.indexing", change), edit);
        Ok(set.await?.into_inner())
    }

    /// Deletes a page with its components and groups. Its slug and custom domain become free at
    /// once.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        id: PageId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let store = self.store.clone();
        self.run_to_completion(Some(id), async move {
            store
                .write_in(workspace, move |session| {
                    Box::pin(delete(session, (workspace, id), change))
                })
                .await?;
            Ok(Changed::Applied(()))
        })
        .await
    }

    /// Completes a change even if the caller is gone. After a commit, or a possible one, announces
    /// that pages changed, and that the access to `opened_or_closed` changed. Otherwise caches of
    /// pages would stay stale. A rejected or empty change is not announced, because any writer
    /// could invalidate the caches of others with it.
    async fn run_to_completion<T: Send + 'static>(
        &self,
        opened_or_closed: Option<PageId>,
        change: impl Future<Output = Result<Changed<T>, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.store.clone();
        let whole = async move {
            let changed = change.await;
            let is_other = match &changed {
                Ok(Changed::Applied(_)) => true,
                Ok(Changed::Unchanged(_)) => false,
                Err(error) => error.may_be_stored(),
            };
            if is_other {
                if let Some(page) = opened_or_closed {
                    store.record_access_change(page);
                }
                store.record_page_change();
            }
            changed.map(Changed::into_inner)
        };
        tokio::spawn(whole).await.map_err(|_| StoreError::Closed)?
    }

    async fn set(
        &self,
        workspace: WorkspaceId,
        id: PageId,
        (action, change): (&'static str, AuditContext),
        edit: impl FnOnce(&mut StatusPage) + Send + 'static,
    ) -> Result<Changed<StatusPage>, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let id = id.to_string();
                    let seen =
                        columns::find(&mut session.db, &session.vault, workspace, &id).await?;
                    let mut page = seen.clone();
                    edit(&mut page);
                    if page == seen {
                        return Ok(Changed::Unchanged(seen));
                    }
                    page.updated_at = change.after(seen.updated_at);
                    replace(session, &page, seen.updated_at).await?;
                    if seen.published && !page.published {
                        outbox::cancel_for_page(&mut session.db, page.id, change.at).await?;
                    }
                    record_change(session, &page, change, action).await?;
                    Ok(Changed::Applied(page))
                })
            })
            .await
    }
}

impl<T> Changed<T> {
    fn into_inner(self) -> T {
        match self {
            Self::Applied(it) | Self::Unchanged(it) => it,
        }
    }
}

/// Replaces the settings of a page that was read as `seen`.
async fn update(
    session: &mut Session,
    seen: StatusPage,
    settings: PageSettings,
    change: AuditContext,
) -> Result<StatusPage, StoreError> {
    let seen_at = seen.updated_at;
    let page = StatusPage { settings, updated_at: change.after(seen_at), ..seen };
    refuse_taken(&mut session.db, &page).await?;
    replace(session, &page, seen_at).await?;
    record_change(session, &page, change, "page.update").await?;
    Ok(page)
}

/// Deletes a page with its components and groups.
async fn delete(
    session: &mut Session,
    (workspace, id): (WorkspaceId, PageId),
    change: AuditContext,
) -> Result<(), StoreError> {
    if !exists(&mut session.db, workspace, id).await? {
        return Err(StoreError::not_found("status page", &id));
    }
    maintenances::unlink_page(session, (workspace, id), change).await?;
    let db = &mut session.db;
    subscribers::delete_with_page(db, id, change).await?;
    reports::delete_with_page(db, (workspace, id), change).await?;
    components::delete_with_page(db, (workspace, id), change).await?;
    groups::delete_with_page(db, (workspace, id), change).await?;
    query("DELETE FROM pages WHERE workspace_id = $1 AND id = $2")
        .bind(workspace.to_string())
        .bind(id.to_string())
        .execute(db)
        .await?;
    let note = NewAuditEntry {
        workspace,
        change,
        action: "page.delete",
        resource_id: id.to_string(),
        detail: "",
    };
    audit::record(db, note).await
}

async fn create(
    session: &mut Session,
    plans: &Plans,
    new: NewPage,
    change: AuditContext,
) -> Result<Created<StatusPage>, StoreError> {
    let NewPage { id, workspace, settings, idempotency: call } = new;
    let before = idempotency::created_before(&mut session.db, workspace, call.as_ref()).await?;
    if let Some(id) = before {
        let page = columns::find(&mut session.db, &session.vault, workspace, &id).await;
        return page.map(Created::Before).map_err(idempotency::gone);
    }
    plans::check_limit(&mut session.db, plans, workspace, LimitedKind::Pages).await?;
    let page = StatusPage {
        id,
        workspace,
        settings,
        published: true,
        theme: Theme::System,
        allow_indexing: true,
        created_at: change.at,
        updated_at: change.at,
    };
    refuse_taken(&mut session.db, &page).await?;
    insert(session, &page).await?;
    let created = (&*id.to_string(), change.at);
    idempotency::record(&mut session.db, workspace, call.as_ref(), created).await?;
    record_change(session, &page, change, "page.create").await?;
    Ok(Created::Now(page))
}

async fn insert(session: &mut Session, page: &StatusPage) -> Result<(), StoreError> {
    let settings = &page.settings;
    query(
        "INSERT INTO pages (id, workspace_id, title, slug, description, homepage_url, contact_url, \
         icon, custom_domain, custom_domain_name, access_type, password_sealed, \
         auth_email_domains, published, theme, created_at, updated_at, \
         allow_indexing) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
         $16, $17, $18)",
    )
    .bind(page.id.to_string())
    .bind(page.workspace.to_string())
    .bind(&settings.title)
    .bind(&settings.slug)
    .bind(&settings.description)
    .bind(&settings.homepage_url)
    .bind(&settings.contact_url)
    .bind(&settings.icon)
    .bind(&settings.custom_domain)
    .bind(domain_name(page))
    .bind(settings.access_type.map(rules::AccessType::as_str))
    .bind(sealed_password(&session.vault, page)?)
    .bind(domains_text(&settings.auth_email_domains))
    .bind(page.published)
    .bind(page.theme.as_str())
    .bind(page.created_at.as_millis())
    .bind(page.updated_at.as_millis())
    .bind(page.allow_indexing)
    .execute(&mut session.db)
    .await?;
    Ok(())
}

async fn replace(
    session: &mut Session,
    page: &StatusPage,
    seen_at: Timestamp,
) -> Result<(), StoreError> {
    let settings = &page.settings;
    let replaced = query(
        "UPDATE pages SET title = $1, slug = $2, description = $3, homepage_url = $4, \
         contact_url = $5, icon = $6, custom_domain = $7, custom_domain_name = $8, \
         access_type = $9, password_sealed = $10, auth_email_domains = $11, published = $12, \
         theme = $13, updated_at = $14, allow_indexing = $15 \
         WHERE workspace_id = $16 AND id = $17 AND updated_at = $18",
    )
    .bind(&settings.title)
    .bind(&settings.slug)
    .bind(&settings.description)
    .bind(&settings.homepage_url)
    .bind(&settings.contact_url)
    .bind(&settings.icon)
    .bind(&settings.custom_domain)
    .bind(domain_name(page))
    .bind(settings.access_type.map(rules::AccessType::as_str))
    .bind(sealed_password(&session.vault, page)?)
    .bind(domains_text(&settings.auth_email_domains))
    .bind(page.published)
    .bind(page.theme.as_str())
    .bind(page.updated_at.as_millis())
    .bind(page.allow_indexing)
    .bind(page.workspace.to_string())
    .bind(page.id.to_string())
    .bind(seen_at.as_millis())
    .execute(&mut session.db)
    .await?;
    if replaced == 1 {
        return Ok(());
    }
    Err(if exists(&mut session.db, page.workspace, page.id).await? {
        StoreError::Conflict { what: "status page", id: page.id.to_string() }
    } else {
        StoreError::not_found("status page", &page.id)
    })
}

async fn record_change(
    session: &mut Session,
    page: &StatusPage,
    change: AuditContext,
    action: &'static str,
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (page.workspace, page.id.to_string());
    let note = NewAuditEntry { workspace, change, action, resource_id, detail: "" };
    audit::record(&mut session.db, note).await
}
