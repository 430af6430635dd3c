//! Templates of reports: their four methods.

use contract::IntoDraft as _;
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext};
use contract::status_report::encode_template;
use contract::status_report::wire::{
    CreateReportTemplateRequest, CreateReportTemplateResponse, DeleteReportTemplateResponse,
    ListReportTemplatesRequest, ListReportTemplatesResponse, UpdateReportTemplateRequest,
    UpdateReportTemplateResponse,
};
use rules::TemplateId;
use rules::report::{ReportTemplate, TemplateDraft};
use store::{NewTemplate, StoreError};

use crate::auth::Caller;
use crate::rpc::list::{PageRequest, encode_total};
use crate::rpc::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    store_error,
};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a template.
const RESOURCE: &str = "template";
/// Noun of this resource in error messages.
const NOUN: &str = "template";

pub(super) async fn create(
    services: &Services,
    context: &RequestContext,
    request: CreateReportTemplateRequest,
) -> Result<CreateReportTemplateResponse, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "CreateReportTemplate", &request)?;
    let draft = require(RESOURCE, request.template.into_option())?.into_draft();
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    let (id, workspace) = (services.ctx.new_id(), caller.workspace);
    let new = NewTemplate { id, workspace, settings, idempotency };
    let created = services.store.report_templates().create(new, change(services, caller)).await;
    let template = created.map_err(store_error(RESOURCE))?.into_inner();
    Ok(CreateReportTemplateResponse { template: encode_template(&template).into() })
}

pub(super) async fn list(
    services: &Services,
    context: &RequestContext,
    request: ListReportTemplatesRequest,
) -> Result<ListReportTemplatesResponse, Error> {
    let page_token = request.page_token.as_deref();
    let page_request = PageRequest { limit: request.limit, offset: request.offset, page_token };
    let part = page_request.parse().map_err(|violations| rpc::invalid(&violations))?;
    let templates = services.store.report_templates();
    let found = templates.list(caller(context).workspace, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let (templates, next_page_token) =
        part.cut(&found, |template| template.id, encode_template, rpc::encoded_bytes);
    Ok(ListReportTemplatesResponse {
        templates,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

pub(super) async fn update(
    services: &Services,
    context: &RequestContext,
    request: UpdateReportTemplateRequest,
) -> Result<UpdateReportTemplateResponse, Error> {
    let caller = caller(context);
    let mut given = require(RESOURCE, request.template.into_option())?;
    let id: TemplateId = require_id(RESOURCE, NOUN, given.id.take())?;
    let wanted = given.into_draft();
    let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
    let attempt = || try_update(services, caller, id, (wanted.clone(), Edit { mask, revision }));
    let template = retry_edit(NOUN, id, attempt).await?;
    Ok(UpdateReportTemplateResponse { template: encode_template(&template).into() })
}

pub(super) async fn delete(
    services: &Services,
    context: &RequestContext,
    given: &str,
) -> Result<DeleteReportTemplateResponse, Error> {
    let caller = caller(context);
    let (id, change) = (id(NOUN, given)?, change(services, caller));
    services
        .store
        .report_templates()
        .delete(caller.workspace, id, change)
        .await
        .map_err(rpc_error)?;
    Ok(DeleteReportTemplateResponse::default())
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    id: TemplateId,
    (wanted, edit): (TemplateDraft, Edit<'_>),
) -> Result<Option<ReportTemplate>, Error> {
    let seen =
        services.store.report_templates().get(caller.workspace, id).await.map_err(rpc_error)?;
    edit.require_revision(NOUN, id, seen.updated_at)?;
    let draft = match edit.mask {
        None => wanted,
        Some(mask) => {
            let mut draft = TemplateDraft::from(&seen.settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    if settings == seen.settings {
        return Ok(Some(seen));
    }
    let wanted = ReportTemplate { settings: settings.clone(), ..seen.clone() };
    let changes = field_changes([&seen, &wanted], |it, _| encode_template(it));
    let update = change(services, caller).with_changes(changes);
    match services.store.report_templates().update(seen, settings, update).await {
        Ok(template) => Ok(Some(template)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(RESOURCE)(error)),
    }
}
