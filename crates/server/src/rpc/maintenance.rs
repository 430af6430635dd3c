//! `maintenance.v1.MaintenanceService`: validates requests with `rules` and stores maintenances.
//! `domain` computes the windows; the store applies them to alerts.

use contract::IntoDraft as _;
use contract::maintenance::wire::{
    CreateMaintenanceRequest, CreateMaintenanceResponse, DeleteMaintenanceRequest,
    DeleteMaintenanceResponse, EndMaintenanceRequest, EndMaintenanceResponse,
    GetMaintenanceRequest, GetMaintenanceResponse, ListMaintenancesRequest,
    ListMaintenancesResponse, Maintenance, MaintenanceService, UpdateMaintenanceRequest,
    UpdateMaintenanceResponse,
};
use contract::maintenance::{MaintenanceProgress, encode};
use contract::monitor::mask;
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use domain::history::Span;
use domain::maintenance::MaintenanceStatus;
use rules::maintenance::MaintenanceDraft;
use rules::{MaintenanceId, MonitorId, Violation, Violations};
use store::{MaintenanceFilter, NewMaintenance, PlannedMaintenance, StoreError};

use super::list::{PageRequest, encode_total};
use super::request::{
    Edit, caller, change, field_changes, id, idempotency, invalid, require, require_id, retry_edit,
    store_error,
};
use crate::auth::Caller;
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a maintenance.
const RESOURCE: &str = "maintenance";
/// Noun of this resource in error messages.
const NOUN: &str = "maintenance";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Maintenances(pub(super) Services);

impl MaintenanceService for Maintenances {
    async fn create_maintenance(
        &self,
        context: RequestContext,
        request: CreateMaintenanceRequest,
    ) -> ServiceResult<CreateMaintenanceResponse> {
        let given = require(RESOURCE, request.maintenance.into_option())?;
        let maintenance = self.create(&context, given).await?.into();
        Response::ok(CreateMaintenanceResponse { maintenance })
    }

    async fn get_maintenance(
        &self,
        context: RequestContext,
        request: GetMaintenanceRequest,
    ) -> ServiceResult<GetMaintenanceResponse> {
        let planned = self.find(caller(&context), id(NOUN, &request.id)?).await?;
        Response::ok(GetMaintenanceResponse { maintenance: encode_planned(&planned).into() })
    }

    async fn list_maintenances(
        &self,
        context: RequestContext,
        request: ListMaintenancesRequest,
    ) -> ServiceResult<ListMaintenancesResponse> {
        Response::ok(self.list(caller(&context), request).await?)
    }

    async fn update_maintenance(
        &self,
        context: RequestContext,
        request: UpdateMaintenanceRequest,
    ) -> ServiceResult<UpdateMaintenanceResponse> {
        let caller = caller(&context);
        let mut given = require(RESOURCE, request.maintenance.into_option())?;
        let id: MaintenanceId = require_id(RESOURCE, NOUN, given.id.take())?;
        let wanted = given.into_draft();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let edit = Edit { mask, revision };
        let attempt = || self.try_update(caller, id, (wanted.clone(), edit));
        let planned = retry_edit(NOUN, id, attempt).await?;
        Response::ok(UpdateMaintenanceResponse { maintenance: encode_planned(&planned).into() })
    }

    async fn end_maintenance(
        &self,
        context: RequestContext,
        request: EndMaintenanceRequest,
    ) -> ServiceResult<EndMaintenanceResponse> {
        let caller = caller(&context);
        let (id, change) = (id(NOUN, &request.id)?, change(&self.0, caller));
        let maintenances = self.0.store.maintenances();
        let planned = maintenances.end(caller.workspace, id, change).await.map_err(rpc_error)?;
        Response::ok(EndMaintenanceResponse { maintenance: encode_planned(&planned).into() })
    }

    async fn delete_maintenance(
        &self,
        context: RequestContext,
        request: DeleteMaintenanceRequest,
    ) -> ServiceResult<DeleteMaintenanceResponse> {
        let caller = caller(&context);
        let (id, change) = (id(NOUN, &request.id)?, change(&self.0, caller));
        let maintenances = self.0.store.maintenances();
        maintenances.delete(caller.workspace, id, change).await.map_err(rpc_error)?;
        Response::ok(DeleteMaintenanceResponse::default())
    }
}

impl Maintenances {
    async fn create(
        &self,
        context: &RequestContext,
        given: Maintenance,
    ) -> Result<Maintenance, Error> {
        let caller = caller(context);
        let idempotency = idempotency(context, "CreateMaintenance", &given)?;
        let settings = given.into_draft().parse().map_err(invalid(RESOURCE))?;
        let (id, workspace) = (self.0.ctx.new_id(), caller.workspace);
        let new = NewMaintenance { id, workspace, settings, idempotency };
        let created = self.0.store.maintenances().create(new, change(&self.0, caller)).await;
        Ok(encode_planned(&created.map_err(store_error(RESOURCE))?.into_inner()))
    }

    async fn find(&self, caller: Caller, id: MaintenanceId) -> Result<PlannedMaintenance, Error> {
        let now = self.0.ctx.now();
        self.0.store.maintenances().get(caller.workspace, id, now).await.map_err(rpc_error)
    }

    async fn list(
        &self,
        caller: Caller,
        request: ListMaintenancesRequest,
    ) -> Result<ListMaintenancesResponse, Error> {
        let page_token = request.page_token.as_deref();
        let page_request = PageRequest { limit: request.limit, offset: request.offset, page_token };
        let filter = filter(request.status.as_deref(), request.monitor_id.as_deref());
        let (part, filter) = match (page_request.parse(), filter) {
            (Ok(part), Ok(filter)) => (part, filter),
            (part, filter) => {
                let wrong = [part.err(), filter.err()].into_iter().flatten();
                let wrong = wrong.flat_map(|violations| violations.0).collect();
                return Err(rpc::invalid(&Violations(wrong)));
            }
        };
        let (workspace, now) = (caller.workspace, self.0.ctx.now());
        let maintenances = self.0.store.maintenances();
        let found = maintenances.list(workspace, filter, part.with_one_more(), now).await;
        let found = found.map_err(rpc_error)?;
        let (maintenances, next_page_token) =
            part.cut(&found, |row| row.maintenance.id, encode_planned, rpc::encoded_bytes);
        Ok(ListMaintenancesResponse {
            maintenances,
            total_size: encode_total(found.total),
            next_page_token,
        })
    }

    /// Makes one attempt. Returns `None` on a conflict with another edit.
    async fn try_update(
        &self,
        caller: Caller,
        id: MaintenanceId,
        (wanted, edit): (MaintenanceDraft, Edit<'_>),
    ) -> Result<Option<PlannedMaintenance>, Error> {
        let planned = self.find(caller, id).await?;
        let seen = &planned.maintenance;
        edit.require_revision(NOUN, id, seen.updated_at)?;
        let draft = match edit.mask {
            None => wanted,
            Some(mask) => {
                let mut draft = MaintenanceDraft::from(&seen.settings);
                draft.apply_mask(wanted, mask).map_err(|violations| rpc::invalid(&violations))?;
                draft
            }
        };
        let settings = draft.parse_change(&seen.settings).map_err(invalid(RESOURCE))?;
        if settings == seen.settings {
            return Ok(Some(planned));
        }
        let maintenance =
            rules::maintenance::Maintenance { settings: settings.clone(), ..seen.clone() };
        let wanted = PlannedMaintenance { maintenance, ..planned.clone() };
        let changes = field_changes([&planned, &wanted], |it, _| encode_planned(it));
        let (seen, update) = (planned.maintenance, change(&self.0, caller).with_changes(changes));
        match self.0.store.maintenances().update(seen, settings, update).await {
            Ok(planned) => Ok(Some(planned)),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(store_error(RESOURCE)(error)),
        }
    }
}

/// Parses the filter of a list. Empty values match everything.
fn filter(status: Option<&str>, monitor: Option<&str>) -> Result<MaintenanceFilter, Violations> {
    let mut wrong = Vec::new();
    let status = status.filter(|status| !status.is_empty());
    let course = status.and_then(|status| {
        let course = MaintenanceStatus::ALL.into_iter().find(|course| course.as_str() == status);
        if course.is_none() {
            let allowed = format!(
                "must be one of {}",
                MaintenanceStatus::ALL.map(MaintenanceStatus::as_str).join(", ")
            );
            wrong.push(Violation::new("status", status, allowed));
        }
        course
    });
    let monitor = monitor.filter(|monitor| !monitor.is_empty());
    let monitor = monitor.and_then(|id| match MonitorId::parse(id) {
        Ok(id) => Some(id),
        Err(unreadable) => {
            let allowed = format!("must be an identifier of the form {}…", MonitorId::PREFIX);
            wrong.push(Violation::new("monitor_id", unreadable.given, allowed));
            None
        }
    });
    if wrong.is_empty() {
        Ok(MaintenanceFilter { course, monitor })
    } else {
        Err(Violations(wrong))
    }
}

fn encode_planned(planned: &PlannedMaintenance) -> Maintenance {
    let ends = |window: Span| (window.from, window.to);
    let standing = MaintenanceProgress {
        status: planned.status().as_str(),
        current: planned.current.map(ends),
        next: planned.next.map(ends),
    };
    encode(&planned.maintenance, standing)
}
