//! Components of status pages: their five methods.

use contract::IntoDraft as _;
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext};
use contract::status_page::encode_component;
use contract::status_page::wire::{
    CreateComponentRequest, CreateComponentResponse, DeleteComponentRequest,
    DeleteComponentResponse, GetComponentRequest, GetComponentResponse, ListComponentsRequest,
    ListComponentsResponse, UpdateComponentRequest, UpdateComponentResponse,
};
use rules::status_page::{Component, ComponentDraft};
use rules::{ComponentId, PageId};
use store::{NewComponent, StoreError};

use super::page::NOUN as PAGE;
use super::page_request;
use crate::auth::Caller;
use crate::rpc::list::encode_total;
use crate::rpc::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    store_error,
};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a component.
const RESOURCE: &str = "component";
/// Noun of this resource in error messages.
const NOUN: &str = "component";

pub(super) async fn create(
    services: &Services,
    context: &RequestContext,
    request: CreateComponentRequest,
) -> Result<CreateComponentResponse, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "CreateComponent", &request)?;
    let draft = require(RESOURCE, request.component.into_option())?.into_draft();
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    let (id, workspace) = (services.ctx.new_id(), caller.workspace);
    let new = NewComponent { id, workspace, settings, idempotency };
    let created = services.store.components().create(new, change(services, caller)).await;
    let component = created.map_err(store_error(RESOURCE))?.into_inner();
    Ok(CreateComponentResponse { component: encode_component(&component).into() })
}

/// Returns a component. If the request names a page, a component of another page is not found.
pub(super) async fn get(
    services: &Services,
    context: &RequestContext,
    request: GetComponentRequest,
) -> Result<GetComponentResponse, Error> {
    let component = find(services, caller(context), id(NOUN, &request.id)?).await?;
    let page = request.page_id.filter(|page| !page.is_empty());
    if page.is_some_and(|page| page != component.settings.page_id.to_string()) {
        return Err(rpc::not_found(NOUN, &request.id));
    }
    Ok(GetComponentResponse { component: encode_component(&component).into() })
}

pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListComponentsRequest,
) -> Result<ListComponentsResponse, Error> {
    let caller = caller(context);
    let part = page_request(request.limit, request.offset, request.page_token.as_deref()).parse();
    let part = part.map_err(|violations| rpc::invalid(&violations))?;
    let of = request.page_id.filter(|page| !page.is_empty());
    let of: Option<PageId> = of.map(|page| id(PAGE, &page)).transpose()?;
    let found = services.store.components().list(caller.workspace, of, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let (components, next_page_token) =
        part.cut(&found, |row| row.id, encode_component, rpc::encoded_bytes);
    Ok(ListComponentsResponse {
        components,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

pub(super) async fn update(
    services: &Services,
    context: &RequestContext,
    request: UpdateComponentRequest,
) -> Result<UpdateComponentResponse, Error> {
    let caller = caller(context);
    let mut given = require(RESOURCE, request.component.into_option())?;
    let id: ComponentId = require_id(RESOURCE, NOUN, given.id.take())?;
    let draft = given.into_draft();
    let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
    let attempt = || try_update(services, caller, id, (draft.clone(), Edit { mask, revision }));
    let component = retry_edit(NOUN, id, attempt).await?;
    Ok(UpdateComponentResponse { component: encode_component(&component).into() })
}

pub(super) async fn delete(
    services: &Services,
    context: &RequestContext,
    request: DeleteComponentRequest,
) -> Result<DeleteComponentResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    services.store.components().delete(caller.workspace, id, change).await.map_err(rpc_error)?;
    Ok(DeleteComponentResponse::default())
}

async fn find(services: &Services, caller: Caller, id: ComponentId) -> Result<Component, Error> {
    services.store.components().get(caller.workspace, id).await.map_err(rpc_error)
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    id: ComponentId,
    (wanted, edit): (ComponentDraft, Edit<'_>),
) -> Result<Option<Component>, Error> {
    let seen = find(services, caller, id).await?;
    edit.require_revision(NOUN, id, seen.updated_at)?;
    let draft = match edit.mask {
        None => wanted.with_fixed(&seen.settings),
        Some(mask) => {
            let mut draft = ComponentDraft::from(&seen.settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let settings = draft.parse_change(&seen.settings).map_err(invalid(RESOURCE))?;
    if settings == seen.settings {
        return Ok(Some(seen));
    }
    let wanted = Component { settings: settings.clone(), ..seen.clone() };
    let changes = field_changes([&seen, &wanted], |it, _| encode_component(it));
    let update = change(services, caller).with_changes(changes);
    match services.store.components().update(seen, settings, update).await {
        Ok(component) => Ok(Some(component)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(RESOURCE)(error)),
    }
}
