//! Status pages: their methods, and the encoding of what visitors see.

use contract::IntoDraft as _;
use contract::monitor::{encode_instant, mask};
use contract::rpc::{self, Error, RequestContext};
use contract::status_page::encode_page;
use contract::status_page::wire::{
    CreateStatusPageRequest, CreateStatusPageResponse, CustomDomainStatus, DeleteStatusPageRequest,
    DeleteStatusPageResponse, GetStatusPageRequest, GetStatusPageResponse, ListStatusPagesRequest,
    ListStatusPagesResponse, MessageField, PublishStatusPageRequest, PublishStatusPageResponse,
    SetStatusPageIndexingRequest, SetStatusPageIndexingResponse, SetStatusPageThemeRequest,
    SetStatusPageThemeResponse, UnpublishStatusPageRequest, UnpublishStatusPageResponse,
    UpdateStatusPageRequest, UpdateStatusPageResponse, Warning,
};
use rules::status_page::{PageDraft, PageSettings, StatusPage};
use rules::{AccessType, PageId, ProviderType, Theme, Violation};
use store::{NewPage, StoreError};

use super::page_request;
use crate::auth::Caller;
use crate::domains::{Claim, DomainStatus};
use crate::rpc::list::encode_total;
use crate::rpc::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    secrets, store_error,
};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a page.
const RESOURCE: &str = "status_page";
/// Noun of this resource in error messages.
pub(super) const NOUN: &str = "status page";

pub(super) async fn create(
    services: &Services,
    context: &RequestContext,
    request: CreateStatusPageRequest,
) -> Result<CreateStatusPageResponse, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "CreateStatusPage", &request)?;
    let draft = require(RESOURCE, request.status_page.into_option())?.into_draft();
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    accept_domain(services, caller, &settings, None).await?;
    let (id, workspace) = (services.ctx.new_id(), caller.workspace);
    let new = NewPage { id, workspace, settings, idempotency };
    let created = services.store.pages().create(new, change(services, caller)).await;
    let page = created.map_err(store_error(RESOURCE))?.into_inner();
    let warnings = warnings(services, &page);
    let status_page = encode_page(&page, secrets(caller)).into();
    Ok(CreateStatusPageResponse { status_page, warnings })
}

pub(super) async fn get(
    services: &Services,
    context: &RequestContext,
    request: GetStatusPageRequest,
) -> Result<GetStatusPageResponse, Error> {
    let caller = caller(context);
    let page = find(services, caller, id(NOUN, &request.id)?).await?;
    let custom_domain_status = match page.settings.custom_domain_name() {
        Some(domain) => {
            let now = services.ctx.now();
            let status = services.domains.status(&services.store, &domain, now).await;
            encode_domain(status.map_err(rpc_error)?).into()
        }
        None => MessageField::none(),
    };
    let status_page = encode_page(&page, secrets(caller)).into();
    let warnings = warnings(services, &page);
    Ok(GetStatusPageResponse { status_page, custom_domain_status, warnings })
}

pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListStatusPagesRequest,
) -> Result<ListStatusPagesResponse, Error> {
    let caller = caller(context);
    let part = page_request(request.limit, request.offset, request.page_token.as_deref()).parse();
    let part = part.map_err(|violations| rpc::invalid(&violations))?;
    let found = services.store.pages().list(caller.workspace, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let show = |page: &_| encode_page(page, secrets(caller));
    let (status_pages, next_page_token) =
        part.cut(&found, |page| page.id, show, rpc::encoded_bytes);
    Ok(ListStatusPagesResponse {
        status_pages,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

pub(super) async fn update(
    services: &Services,
    context: &RequestContext,
    request: UpdateStatusPageRequest,
) -> Result<UpdateStatusPageResponse, Error> {
    let caller = caller(context);
    let mut given = require(RESOURCE, request.status_page.into_option())?;
    let id: PageId = require_id(RESOURCE, NOUN, given.id.take())?;
    let draft = given.into_draft();
    let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
    let attempt = || try_update(services, caller, id, (draft.clone(), Edit { mask, revision }));
    let page = retry_edit(NOUN, id, attempt).await?;
    let warnings = warnings(services, &page);
    let status_page = encode_page(&page, secrets(caller)).into();
    Ok(UpdateStatusPageResponse { status_page, warnings })
}

pub(super) async fn delete(
    services: &Services,
    context: &RequestContext,
    request: DeleteStatusPageRequest,
) -> Result<DeleteStatusPageResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    services.store.pages().delete(caller.workspace, id, change).await.map_err(rpc_error)?;
    Ok(DeleteStatusPageResponse::default())
}

pub(super) async fn publish(
    services: &Services,
    context: &RequestContext,
    request: PublishStatusPageRequest,
) -> Result<PublishStatusPageResponse, Error> {
    let caller = caller(context);
    let page = set_published(services, caller, &request.id, true).await?;
    Ok(PublishStatusPageResponse { status_page: encode_page(&page, secrets(caller)).into() })
}

pub(super) async fn unpublish(
    services: &Services,
    context: &RequestContext,
    request: UnpublishStatusPageRequest,
) -> Result<UnpublishStatusPageResponse, Error> {
    let caller = caller(context);
    let page = set_published(services, caller, &request.id, false).await?;
    Ok(UnpublishStatusPageResponse { status_page: encode_page(&page, secrets(caller)).into() })
}

pub(super) async fn set_theme(
    services: &Services,
    context: &RequestContext,
    request: SetStatusPageThemeRequest,
) -> Result<SetStatusPageThemeResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    let theme = Theme::parse(&request.theme).map_err(|unknown| {
        let allowed = format!("must be one of {}", Theme::WORDS.join(", "));
        rpc::invalid(&Violation::new("theme", unknown.given, allowed).into())
    })?;
    let page = services.store.pages().set_theme(caller.workspace, id, theme, change).await;
    let page = page.map_err(rpc_error)?;
    Ok(SetStatusPageThemeResponse { status_page: encode_page(&page, secrets(caller)).into() })
}

pub(super) async fn set_indexing(
    services: &Services,
    context: &RequestContext,
    request: SetStatusPageIndexingRequest,
) -> Result<SetStatusPageIndexingResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    // Require the field: its default would mean `false`.
    let allow = require("allow_indexing", request.allow_indexing)?;
    let page = services.store.pages().set_indexing(caller.workspace, id, allow, change).await;
    let page = page.map_err(rpc_error)?;
    Ok(SetStatusPageIndexingResponse { status_page: encode_page(&page, secrets(caller)).into() })
}

async fn find(services: &Services, caller: Caller, id: PageId) -> Result<StatusPage, Error> {
    services.store.pages().get(caller.workspace, id).await.map_err(rpc_error)
}

async fn set_published(
    services: &Services,
    caller: Caller,
    given: &str,
    published: bool,
) -> Result<StatusPage, Error> {
    let (id, change) = (id(NOUN, given)?, change(services, caller));
    let page = services.store.pages().set_published(caller.workspace, id, published, change).await;
    page.map_err(rpc_error)
}

/// Rejects a custom domain whose DNS does not point to this server (spec §2.5). An unchanged domain
/// is not looked up again, so that pages can be edited during DNS outages.
async fn accept_domain(
    services: &Services,
    caller: Caller,
    settings: &PageSettings,
    before: Option<&PageSettings>,
) -> Result<(), Error> {
    let (Some(domain), Some(written)) = (settings.custom_domain_name(), &settings.custom_domain)
    else {
        return Ok(());
    };
    if before.is_some_and(|before| before.custom_domain_name().as_ref() == Some(&domain)) {
        return Ok(());
    }
    let claim = Claim { workspace: caller.workspace, slug: settings.slug.clone() };
    let accepted = services.domains.accept(&domain, written, &claim).await;
    accepted.map_err(|violation| invalid(RESOURCE)(violation.into()))
}

fn encode_domain(status: DomainStatus) -> CustomDomainStatus {
    CustomDomainStatus {
        domain: status.domain,
        state: status.state.as_str().to_owned(),
        reason: status.reason,
        expires_at: status.expires_at.map(encode_instant).unwrap_or_default(),
        next_attempt_at: status.next_attempt_at.map(encode_instant).unwrap_or_default(),
    }
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    id: PageId,
    (wanted, edit): (PageDraft, Edit<'_>),
) -> Result<Option<StatusPage>, Error> {
    let seen = find(services, caller, id).await?;
    edit.require_revision(NOUN, id, seen.updated_at)?;
    let draft = match edit.mask {
        None => wanted,
        Some(mask) => {
            let mut draft = PageDraft::from(&seen.settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    if settings == seen.settings {
        return Ok(Some(seen));
    }
    accept_domain(services, caller, &settings, Some(&seen.settings)).await?;
    let wanted = StatusPage { settings: settings.clone(), ..seen.clone() };
    let changes = field_changes([&seen, &wanted], encode_page);
    let update = change(services, caller).with_changes(changes);
    match services.store.pages().update(seen, settings, update).await {
        Ok(page) => Ok(Some(page)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(RESOURCE)(error)),
    }
}

/// Returns the warnings about a page that was stored but that visitors cannot open.
fn warnings(services: &Services, page: &StatusPage) -> Vec<Warning> {
    if page.settings.effective_access() != AccessType::EmailDomain {
        return Vec::new();
    }
    let missing = match services.notifier.missing_setting(ProviderType::Email) {
        Some(missing) => missing.to_string(),
        None if !services.notifier.has_address() => {
            "set `public_url` for links in emails".to_owned()
        }
        None => return Vec::new(),
    };
    let message = format!(
        "visitors need a link by email to see this page, and this server cannot send one: {missing}"
    );
    vec![Warning { field: format!("{RESOURCE}.access_type"), message }]
}
