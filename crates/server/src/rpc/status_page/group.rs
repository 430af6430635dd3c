//! Component groups of status pages: their five methods.

use contract::IntoDraft as _;
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext};
use contract::status_page::encode_group;
use contract::status_page::wire::{
    CreateComponentGroupRequest, CreateComponentGroupResponse, DeleteComponentGroupRequest,
    DeleteComponentGroupResponse, GetComponentGroupRequest, GetComponentGroupResponse,
    ListComponentGroupsRequest, ListComponentGroupsResponse, UpdateComponentGroupRequest,
    UpdateComponentGroupResponse,
};
use rules::status_page::{ComponentGroup, GroupDraft};
use rules::{GroupId, PageId};
use store::{NewGroup, StoreError};

use super::page::NOUN as PAGE;
use super::page_request;
use crate::auth::Caller;
use crate::rpc::list::encode_total;
use crate::rpc::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    store_error,
};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a group.
const RESOURCE: &str = "component_group";
/// Noun of this resource in error messages.
const NOUN: &str = "component group";

pub(super) async fn create(
    services: &Services,
    context: &RequestContext,
    request: CreateComponentGroupRequest,
) -> Result<CreateComponentGroupResponse, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "CreateComponentGroup", &request)?;
    let draft = require(RESOURCE, request.component_group.into_option())?.into_draft();
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    let (id, workspace) = (services.ctx.new_id(), caller.workspace);
    let new = NewGroup { id, workspace, settings, idempotency };
    let created = services.store.groups().create(new, change(services, caller)).await;
    let group = created.map_err(store_error(RESOURCE))?.into_inner();
    Ok(CreateComponentGroupResponse { component_group: encode_group(&group).into() })
}

/// Returns a group. If the request names a page, a group of another page is not found.
pub(super) async fn get(
    services: &Services,
    context: &RequestContext,
    request: GetComponentGroupRequest,
) -> Result<GetComponentGroupResponse, Error> {
    let group = find(services, caller(context), id(NOUN, &request.id)?).await?;
    let page = request.page_id.filter(|page| !page.is_empty());
    if page.is_some_and(|page| page != group.settings.page_id.to_string()) {
        return Err(rpc::not_found(NOUN, &request.id));
    }
    Ok(GetComponentGroupResponse { component_group: encode_group(&group).into() })
}

pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListComponentGroupsRequest,
) -> Result<ListComponentGroupsResponse, Error> {
    let caller = caller(context);
    let part = page_request(request.limit, request.offset, request.page_token.as_deref()).parse();
    let part = part.map_err(|violations| rpc::invalid(&violations))?;
    let of = request.page_id.filter(|page| !page.is_empty());
    let of: Option<PageId> = of.map(|page| id(PAGE, &page)).transpose()?;
    let found = services.store.groups().list(caller.workspace, of, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let (component_groups, next_page_token) =
        part.cut(&found, |row| row.id, encode_group, rpc::encoded_bytes);
    Ok(ListComponentGroupsResponse {
        component_groups,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

pub(super) async fn update(
    services: &Services,
    context: &RequestContext,
    request: UpdateComponentGroupRequest,
) -> Result<UpdateComponentGroupResponse, Error> {
    let caller = caller(context);
    let mut given = require(RESOURCE, request.component_group.into_option())?;
    let id: GroupId = require_id(RESOURCE, NOUN, given.id.take())?;
    let draft = given.into_draft();
    let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
    let attempt = || try_update(services, caller, id, (draft.clone(), Edit { mask, revision }));
    let group = retry_edit(NOUN, id, attempt).await?;
    Ok(UpdateComponentGroupResponse { component_group: encode_group(&group).into() })
}

pub(super) async fn delete(
    services: &Services,
    context: &RequestContext,
    request: DeleteComponentGroupRequest,
) -> Result<DeleteComponentGroupResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, &request.id)?, change(services, caller));
    services.store.groups().delete(caller.workspace, id, change).await.map_err(rpc_error)?;
    Ok(DeleteComponentGroupResponse::default())
}

async fn find(services: &Services, caller: Caller, id: GroupId) -> Result<ComponentGroup, Error> {
    services.store.groups().get(caller.workspace, id).await.map_err(rpc_error)
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    id: GroupId,
    (wanted, edit): (GroupDraft, Edit<'_>),
) -> Result<Option<ComponentGroup>, Error> {
    let seen = find(services, caller, id).await?;
    edit.require_revision(NOUN, id, seen.updated_at)?;
    let draft = match edit.mask {
        None => wanted.with_fixed(&seen.settings),
        Some(mask) => {
            let mut draft = GroupDraft::from(&seen.settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let settings = draft.parse_change(&seen.settings).map_err(invalid(RESOURCE))?;
    if settings == seen.settings {
        return Ok(Some(seen));
    }
    let wanted = ComponentGroup { settings: settings.clone(), ..seen.clone() };
    let changes = field_changes([&seen, &wanted], |it, _| encode_group(it));
    let update = change(services, caller).with_changes(changes);
    match services.store.groups().update(seen, settings, update).await {
        Ok(group) => Ok(Some(group)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(RESOURCE)(error)),
    }
}
