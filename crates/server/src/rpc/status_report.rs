//! `status_report.v1.StatusReportService`: validates requests with `rules` and stores reports.
//! `domain::page` decides what visitors see. Updates and templates are in files of their own.

mod template;
mod update;

use contract::IntoDraft;
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use contract::status_report::encode;
use contract::status_report::wire::{
    AddStatusReportUpdateRequest, AddStatusReportUpdateResponse, CreateReportTemplateRequest,
    CreateReportTemplateResponse, CreateStatusReportRequest, CreateStatusReportResponse,
    DeleteReportTemplateRequest, DeleteReportTemplateResponse, DeleteStatusReportRequest,
    DeleteStatusReportResponse, DeleteStatusReportUpdateRequest, DeleteStatusReportUpdateResponse,
    EditStatusReportUpdateRequest, EditStatusReportUpdateResponse, GetStatusReportRequest,
    GetStatusReportResponse, ListReportTemplatesRequest, ListReportTemplatesResponse,
    ListStatusReportsRequest, ListStatusReportsResponse, StatusReport, StatusReportService,
    UpdateReportTemplateRequest, UpdateReportTemplateResponse, UpdateStatusReportRequest,
    UpdateStatusReportResponse,
};
use rules::report::{
    A_TEMPLATE, COMPONENTS, Report, ReportDraft, ReportSettings, ReportState, TEMPLATE, UpdateDraft,
};
use rules::{PageId, ReportId, TemplateId, Violation, Violations};
use store::{NewReport, ReportFilter, StoreError};

use super::list::{PageRequest, encode_total};
use super::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    store_error,
};
use crate::auth::Caller;
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a report.
const RESOURCE: &str = "status_report";
/// Field of requests that contains an update.
const UPDATE: &str = "update";
/// Noun of this resource in error messages.
const NOUN: &str = "status report";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct StatusReports(pub(super) Services);

impl StatusReportService for StatusReports {
    async fn create_status_report(
        &self,
        context: RequestContext,
        request: CreateStatusReportRequest,
    ) -> ServiceResult<CreateStatusReportResponse> {
        let report = create(&self.0, &context, request).await?;
        Response::ok(CreateStatusReportResponse { status_report: encode(&report).into() })
    }

    async fn get_status_report(
        &self,
        context: RequestContext,
        request: GetStatusReportRequest,
    ) -> ServiceResult<GetStatusReportResponse> {
        let report = find(&self.0, caller(&context), id(NOUN, &request.id)?).await?;
        Response::ok(GetStatusReportResponse { status_report: encode(&report).into() })
    }

    async fn list_status_reports(
        &self,
        context: RequestContext,
        request: ListStatusReportsRequest,
    ) -> ServiceResult<ListStatusReportsResponse> {
        Response::ok(list(&self.0, caller(&context), request).await?)
    }

    async fn update_status_report(
        &self,
        context: RequestContext,
        request: UpdateStatusReportRequest,
    ) -> ServiceResult<UpdateStatusReportResponse> {
        let caller = caller(&context);
        let mut given = require(RESOURCE, request.status_report.into_option())?;
        let id: ReportId = require_id(RESOURCE, NOUN, given.id.take())?;
        let wanted = given.into_draft();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let edit = Edit { mask, revision };
        let attempt = || try_update(&self.0, caller, id, (wanted.clone(), edit));
        let report = retry_edit(NOUN, id, attempt).await?;
        Response::ok(UpdateStatusReportResponse { status_report: encode(&report).into() })
    }

    async fn delete_status_report(
        &self,
        context: RequestContext,
        request: DeleteStatusReportRequest,
    ) -> ServiceResult<DeleteStatusReportResponse> {
        let caller = caller(&context);
        let (id, change) = (id(NOUN, &request.id)?, change(&self.0, caller));
        let reports = self.0.store.reports();
        reports.delete(caller.workspace, id, change).await.map_err(rpc_error)?;
        Response::ok(DeleteStatusReportResponse::default())
    }

    async fn add_status_report_update(
        &self,
        context: RequestContext,
        request: AddStatusReportUpdateRequest,
    ) -> ServiceResult<AddStatusReportUpdateResponse> {
        let report = update::add(&self.0, &context, request).await?;
        Response::ok(AddStatusReportUpdateResponse { status_report: encode(&report).into() })
    }

    async fn edit_status_report_update(
        &self,
        context: RequestContext,
        request: EditStatusReportUpdateRequest,
    ) -> ServiceResult<EditStatusReportUpdateResponse> {
        let report = update::edit(&self.0, &context, request).await?;
        Response::ok(EditStatusReportUpdateResponse { status_report: encode(&report).into() })
    }

    async fn delete_status_report_update(
        &self,
        context: RequestContext,
        request: DeleteStatusReportUpdateRequest,
    ) -> ServiceResult<DeleteStatusReportUpdateResponse> {
        let report = update::delete(&self.0, &context, &request.id).await?;
        Response::ok(DeleteStatusReportUpdateResponse { status_report: encode(&report).into() })
    }

    async fn create_report_template(
        &self,
        context: RequestContext,
        request: CreateReportTemplateRequest,
    ) -> ServiceResult<CreateReportTemplateResponse> {
        Response::ok(template::create(&self.0, &context, request).await?)
    }

    async fn list_report_templates(
        &self,
        context: RequestContext,
        request: ListReportTemplatesRequest,
    ) -> ServiceResult<ListReportTemplatesResponse> {
        Response::ok(template::list(&self.0, &context, request).await?)
    }

    async fn update_report_template(
        &self,
        context: RequestContext,
        request: UpdateReportTemplateRequest,
    ) -> ServiceResult<UpdateReportTemplateResponse> {
        Response::ok(template::update(&self.0, &context, request).await?)
    }

    async fn delete_report_template(
        &self,
        context: RequestContext,
        request: DeleteReportTemplateRequest,
    ) -> ServiceResult<DeleteReportTemplateResponse> {
        Response::ok(template::delete(&self.0, &context, &request.id).await?)
    }
}

async fn create(
    services: &Services,
    context: &RequestContext,
    request: CreateStatusReportRequest,
) -> Result<Report, Error> {
    let caller = caller(context);
    let idempotency = idempotency(context, "CreateStatusReport", &request)?;
    let mut report = require(RESOURCE, request.status_report.into_option())?.into_draft();
    let update = request.update.into_option();
    if update.is_none() && request.template_id.is_none() {
        return Err(rpc::invalid(&Violation::without_value(UPDATE, "must be given").into()));
    }
    let mut update = update.map(IntoDraft::into_draft).unwrap_or_default();
    if let Some(template) = request.template_id {
        fill(services, caller, &template, (&mut report, &mut update)).await?;
    }
    let names_components = !update.components.is_empty();
    let (settings, mut first) = match (report.parse(), update.parse(services.ctx.now())) {
        (Ok(settings), Ok(first)) => (settings, first),
        (report, update) => {
            let wrong = [
                report.err().map(|wrong| wrong.under(RESOURCE)),
                update.err().map(|wrong| wrong.under(UPDATE)),
            ];
            let wrong = wrong.into_iter().flatten().flat_map(|wrong| wrong.0).collect();
            return Err(rpc::invalid(&Violations(wrong)));
        }
    };
    if !names_components {
        first.components.clone_from(&settings.components);
    }
    let new = NewReport {
        id: services.ctx.new_id(),
        workspace: caller.workspace,
        settings,
        update: services.ctx.new_id(),
        first,
        notify: request.notify.unwrap_or(true),
        idempotency,
    };
    let created = services.store.reports().create(new, change(services, caller)).await;
    let is_of_update = |it: &Violation| it.field == COMPONENTS && names_components;
    let created = created.map_err(|error| {
        let of_update = matches!(&error, StoreError::Refused(it) if is_of_update(it));
        store_error(if of_update { UPDATE } else { RESOURCE })(error)
    });
    Ok(created?.into_inner())
}

/// Fills missing arguments from a template.
async fn fill(
    services: &Services,
    caller: Caller,
    template: &str,
    (report, update): (&mut ReportDraft, &mut UpdateDraft),
) -> Result<(), Error> {
    let unknown = || rpc::invalid(&Violation::new(TEMPLATE, template, A_TEMPLATE).into());
    let id = TemplateId::parse(template).map_err(|_| unknown())?;
    let found = services.store.report_templates().get(caller.workspace, id).await;
    let template = found.map_err(|error| {
        if matches!(error, StoreError::NotFound { .. }) { unknown() } else { rpc_error(error) }
    })?;
    let page = report.page_id.as_deref().and_then(|page| PageId::parse(page).ok());
    let known = match page {
        Some(page) => services.store.reports().page_components(caller.workspace, page).await,
        None => Ok(std::collections::BTreeSet::new()),
    };
    let known = known.map_err(rpc_error)?;
    template.settings.fill(report, update, |component| known.contains(&component));
    Ok(())
}

async fn find(services: &Services, caller: Caller, id: ReportId) -> Result<Report, Error> {
    services.store.reports().get(caller.workspace, id).await.map_err(rpc_error)
}

async fn list(
    services: &Services,
    caller: Caller,
    request: ListStatusReportsRequest,
) -> Result<ListStatusReportsResponse, Error> {
    let page_token = request.page_token.as_deref();
    let page_request = PageRequest { limit: request.limit, offset: request.offset, page_token };
    let filter = filter(request.page_id.as_deref(), request.state.as_deref());
    let (part, filter) = match (page_request.parse(), filter) {
        (Ok(part), Ok(filter)) => (part, filter),
        (part, filter) => {
            let wrong = [part.err(), filter.err()].into_iter().flatten();
            let wrong = wrong.flat_map(|violations| violations.0).collect();
            return Err(rpc::invalid(&Violations(wrong)));
        }
    };
    let reports = services.store.reports();
    let found = reports.list(caller.workspace, filter, part.with_one_more()).await;
    let found = found.map_err(rpc_error)?;
    let (status_reports, next_page_token) =
        part.cut(&found, |report| report.id, encode, rpc::encoded_bytes);
    Ok(ListStatusReportsResponse {
        status_reports,
        total_size: encode_total(found.total),
        next_page_token,
    })
}

/// Parses the filter of a list. Empty values match everything.
fn filter(page: Option<&str>, state: Option<&str>) -> Result<ReportFilter, Violations> {
    let page = page.filter(|page| !page.is_empty()).map(PageId::parse).transpose();
    let state = state.filter(|state| !state.is_empty()).map(ReportState::parse).transpose();
    match (page, state) {
        (Ok(page), Ok(state)) => Ok(ReportFilter { page, state }),
        (page, state) => {
            let page = page.err().map(|unreadable| {
                let allowed = format!("must be an identifier of the form {}…", PageId::PREFIX);
                Violation::new("page_id", unreadable.given, allowed)
            });
            let state = state.err().map(|unknown| {
                let allowed = format!("must be one of {}", unknown.known);
                Violation::new("state", unknown.given, allowed)
            });
            Err(Violations(page.into_iter().chain(state).collect()))
        }
    }
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    id: ReportId,
    (wanted, edit): (ReportDraft, Edit<'_>),
) -> Result<Option<Report>, Error> {
    let seen = find(services, caller, id).await?;
    edit.require_revision(NOUN, id, seen.updated_at)?;
    let settings = seen.settings();
    let draft = match edit.mask {
        None => wanted,
        Some(mask) => {
            let mut draft = ReportDraft::from(&settings);
            draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let wanted = draft.parse_change(&settings).map_err(invalid(RESOURCE))?;
    if wanted == settings {
        return Ok(Some(seen));
    }
    let changes = field_changes([&seen, &edited(&seen, &wanted)], |it, _| StatusReport {
        updates: Vec::new(),
        ..encode(it)
    });
    let update = change(services, caller).with_changes(changes);
    match services.store.reports().update(seen, wanted, update).await {
        Ok(report) => Ok(Some(report)),
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(store_error(RESOURCE)(error)),
    }
}

/// Returns the report with these settings, before it is stored. The components are those of the
/// latest update.
fn edited(seen: &Report, wanted: &ReportSettings) -> Report {
    let mut report = Report { title: wanted.title.clone(), ..seen.clone() };
    if let Some(latest) = report.updates.first_mut() {
        latest.components.clone_from(&wanted.components);
    }
    report
}
