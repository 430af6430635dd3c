//! `monitor.v1.MonitorService`: validates requests with `rules`, stores monitors and notifies the
//! pipeline. `update` applies edits, `status` and `history` encode what the checks found, `warning`
//! names monitors that cannot succeed, `refusals` rejects those that nothing can check, and `draft` checks
//! monitors that are not stored yet.

mod draft;
pub(in crate::rpc) mod history;
mod refusals;
pub(in crate::rpc) mod status;
mod update;
mod warning;

use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateDnsMonitorResponse, CreateHttpMonitorRequest,
    CreateHttpMonitorResponse, CreateTcpMonitorRequest, CreateTcpMonitorResponse,
    DeleteMonitorRequest, DeleteMonitorResponse, GetMonitorRequest, GetMonitorResponse,
    GetMonitorStatusRequest, GetMonitorStatusResponse, GetMonitorSummaryRequest,
    GetMonitorSummaryResponse, GetResponseLogRequest, GetResponseLogResponse, Kind,
    ListMissedSlotsRequest, ListMissedSlotsResponse, ListMonitorsRequest, ListMonitorsResponse,
    ListResponseLogsRequest, ListResponseLogsResponse, MonitorService, TriggerMonitorRequest,
    TriggerMonitorResponse, UpdateDnsMonitorRequest, UpdateDnsMonitorResponse,
    UpdateHttpMonitorRequest, UpdateHttpMonitorResponse, UpdateTcpMonitorRequest,
    UpdateTcpMonitorResponse, Warning,
};
use contract::monitor::{MonitorMessage, StoredMonitor, encode_instant, mask};
use contract::rpc::{self, Error, Message, RequestContext, Response, ServiceResult};
use rules::monitor::Monitor as Stored;
use rules::{MonitorId, MonitorStatus, Region, Tag, Validator, Violations, tables};
use store::{Created, MonitorWithStatus, NewMonitor};

pub(crate) use self::draft::{check_draft, draft_warnings, parse_draft};
use self::refusals::{refuse_unplannable, refuse_unserved};
use self::status::{encode_region, encode_result};
use super::list;
use super::pipeline_call::{log_failure, run_to_end, unavailable};
use super::request::{
    Edit, caller, change, id, idempotency, invalid, require, require_id, secrets,
};
use crate::auth::Caller;
use crate::pipeline::{PipelineError, RegionView};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a monitor, and its noun in error messages.
const RESOURCE: &str = "monitor";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Monitors(pub(super) Services);

impl MonitorService for Monitors {
    async fn create_http_monitor(
        &self,
        context: RequestContext,
        request: CreateHttpMonitorRequest,
    ) -> ServiceResult<CreateHttpMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateHttpMonitor", given).await?;
        Response::ok(CreateHttpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn create_tcp_monitor(
        &self,
        context: RequestContext,
        request: CreateTcpMonitorRequest,
    ) -> ServiceResult<CreateTcpMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateTcpMonitor", given).await?;
        Response::ok(CreateTcpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn create_dns_monitor(
        &self,
        context: RequestContext,
        request: CreateDnsMonitorRequest,
    ) -> ServiceResult<CreateDnsMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateDnsMonitor", given).await?;
        Response::ok(CreateDnsMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_http_monitor(
        &self,
        context: RequestContext,
        request: UpdateHttpMonitorRequest,
    ) -> ServiceResult<UpdateHttpMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateHttpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_tcp_monitor(
        &self,
        context: RequestContext,
        request: UpdateTcpMonitorRequest,
    ) -> ServiceResult<UpdateTcpMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateTcpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_dns_monitor(
        &self,
        context: RequestContext,
        request: UpdateDnsMonitorRequest,
    ) -> ServiceResult<UpdateDnsMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateDnsMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn get_monitor(
        &self,
        context: RequestContext,
        request: GetMonitorRequest,
    ) -> ServiceResult<GetMonitorResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        let monitor = self.stored_monitor(&stored, caller).any().into();
        Response::ok(GetMonitorResponse { monitor })
    }

    async fn list_monitors(
        &self,
        context: RequestContext,
        request: ListMonitorsRequest,
    ) -> ServiceResult<ListMonitorsResponse> {
        let caller = caller(&context);
        let (limit, offset, page_token) =
            (request.limit, request.offset, request.page_token.as_deref());
        let page = list::PageRequest { limit, offset, page_token };
        let (page, tags) = filtered(page, request.tags)?;
        let monitors = self.0.store.monitors();
        let found = monitors.list_tagged(caller.workspace, &tags, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let show = |stored: &_| self.stored_monitor(stored, caller).kind();
        let (monitors, next_page_token) =
            page.cut(&found, |stored| stored.monitor.id, show, encoded_bytes);
        let mut answer = ListMonitorsResponse {
            total_size: list::encode_total(found.total),
            next_page_token,
            ..ListMonitorsResponse::default()
        };
        for monitor in monitors {
            match monitor {
                Kind::Http(monitor) => answer.http_monitors.push(*monitor),
                Kind::Tcp(monitor) => answer.tcp_monitors.push(*monitor),
                Kind::Dns(monitor) => answer.dns_monitors.push(*monitor),
            }
        }
        Response::ok(answer)
    }

    async fn delete_monitor(
        &self,
        context: RequestContext,
        request: DeleteMonitorRequest,
    ) -> ServiceResult<DeleteMonitorResponse> {
        let caller = caller(&context);
        let id = monitor_id(&request.id)?;
        let (services, change) = (self.0.clone(), change(&self.0, caller));
        let delete = async move {
            services
                .store
                .monitors()
                .delete(caller.workspace, id, change)
                .await
                .map_err(rpc_error)?;
            log_failure(services.pipeline.apply_removal(id).await, id, None);
            Ok::<(), Error>(())
        };
        run_to_end(&self.0, id, delete).await?;
        Response::ok(DeleteMonitorResponse::default())
    }

    async fn trigger_monitor(
        &self,
        context: RequestContext,
        request: TriggerMonitorRequest,
    ) -> ServiceResult<TriggerMonitorResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        let results = self.0.pipeline.trigger(&stored.monitor).await;
        let mut results = results.map_err(|error| unavailable(&error, &request.id))?;
        results.sort_unstable_by_key(|result| result.identity.region.as_str());
        let probes = self.0.probes(caller);
        let results = results.iter().map(|it| encode_result(it, probes)).collect();
        Response::ok(TriggerMonitorResponse { results })
    }

    async fn get_monitor_status(
        &self,
        context: RequestContext,
        request: GetMonitorStatusRequest,
    ) -> ServiceResult<GetMonitorStatusResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        let id = stored.monitor.id;
        let (store, now) = (&self.0.store, self.0.ctx.now());
        let maintenance = store.maintenances().active_until(caller.workspace, id, now).await;
        let maintenance_until =
            maintenance.map_err(rpc_error)?.map(encode_instant).unwrap_or_default();
        let (status, since, mut regions, incident) = match self.0.pipeline.view(id).await {
            Ok(view) => (view.status, view.since, view.regions, view.incident),
            Err(PipelineError::NotFound(_)) => {
                let (status, since, regions) = self.stopped_state(&stored);
                (status, since, regions, None)
            }
            Err(error) => return Err(unavailable(&error, &request.id)),
        };
        regions.sort_unstable_by_key(|view| view.region.as_str());
        Response::ok(GetMonitorStatusResponse {
            id: id.to_string(),
            status: status.to_string(),
            since: encode_instant(since),
            regions: regions.iter().map(|it| encode_region(it, self.0.probes(caller))).collect(),
            incident_id: incident.map(|incident| incident.to_string()).unwrap_or_default(),
            maintenance_until,
        })
    }

    async fn get_monitor_summary(
        &self,
        context: RequestContext,
        request: GetMonitorSummaryRequest,
    ) -> ServiceResult<GetMonitorSummaryResponse> {
        Response::ok(history::summary(&self.0, caller(&context), request).await?)
    }

    async fn list_response_logs(
        &self,
        context: RequestContext,
        request: ListResponseLogsRequest,
    ) -> ServiceResult<ListResponseLogsResponse> {
        Response::ok(history::list(&self.0, caller(&context), request).await?)
    }

    async fn list_missed_slots(
        &self,
        context: RequestContext,
        request: ListMissedSlotsRequest,
    ) -> ServiceResult<ListMissedSlotsResponse> {
        Response::ok(history::list_missed(&self.0, caller(&context), request).await?)
    }

    async fn get_response_log(
        &self,
        context: RequestContext,
        request: GetResponseLogRequest,
    ) -> ServiceResult<GetResponseLogResponse> {
        Response::ok(history::get(&self.0, caller(&context), request).await?)
    }
}

impl Monitors {
    /// Creates the monitor in a request of any kind. Returns its message and the warnings.
    async fn create<Kind: MonitorMessage + Message>(
        &self,
        context: &RequestContext,
        method: &'static str,
        sent: Option<Kind>,
    ) -> Result<(Option<Kind>, Vec<Warning>), Error> {
        let stored = self.store_new(context, method, sent).await?;
        let monitor = self.stored_monitor(&stored, caller(context)).message();
        Ok((monitor, warning::for_new_monitor(&self.0, &stored.monitor)))
    }

    async fn store_new<Kind: MonitorMessage + Message>(
        &self,
        context: &RequestContext,
        method: &'static str,
        sent: Option<Kind>,
    ) -> Result<MonitorWithStatus, Error> {
        let services = &self.0;
        let caller = caller(context);
        let sent = require(RESOURCE, sent)?;
        let idempotency = idempotency(context, method, &sent)?;
        let draft = sent.into_draft();
        let settings = draft.parse().map_err(invalid(RESOURCE))?;
        let (id, workspace, change) =
            (services.ctx.new_id(), caller.workspace, change(services, caller));
        let revision = 1;
        let (created_at, updated_at) = (change.at, change.at);
        let monitor = Stored { id, workspace, revision, settings, created_at, updated_at };
        refuse_unplannable(&monitor)?;
        refuse_unserved(&self.0, &monitor, &[])?;
        let new = NewMonitor { id, workspace, settings: monitor.settings, idempotency };
        let create = {
            let services = services.clone();
            async move {
                let created =
                    services.store.monitors().create(new, change).await.map_err(rpc_error)?;
                if let Created::Now(monitor) = &created {
                    log_failure(
                        services.pipeline.apply_change(monitor).await,
                        monitor.id,
                        Some(&monitor.settings.name),
                    );
                }
                Ok::<Created<Stored>, Error>(created)
            }
        };
        match run_to_end(services, id, create).await? {
            Created::Now(monitor) => {
                Ok(MonitorWithStatus { monitor, status: MonitorStatus::Unknown, since: None })
            }
            Created::Before(monitor) => find(services, caller, &monitor.id.to_string()).await,
        }
    }

    /// Updates the monitor in a request of any kind. Returns its message and the warnings.
    async fn update<Kind: MonitorMessage>(
        &self,
        context: &RequestContext,
        sent: Option<Kind>,
        edit: Edit<'_>,
    ) -> Result<(Option<Kind>, Vec<Warning>), Error> {
        let sent = require(RESOURCE, sent)?;
        let id = require_id(RESOURCE, RESOURCE, sent.id().map(ToOwned::to_owned))?;
        let wanted = update::MonitorUpdate::new(id, sent.into_draft(), edit);
        let stored = Box::pin(update::update(&self.0, caller(context), wanted)).await?;
        let monitor = self.stored_monitor(&stored, caller(context)).message();
        Ok((monitor, warning::for_monitor(&self.0, &stored.monitor)))
    }

    fn stored_monitor<'a>(
        &'a self,
        stored: &'a MonitorWithStatus,
        caller: Caller,
    ) -> StoredMonitor<'a> {
        StoredMonitor {
            monitor: &stored.monitor,
            status: stored.status,
            default_regions: &self.0.default_regions,
            secrets: secrets(caller),
        }
    }

    /// Returns the state of a monitor that does not run: every region is unknown.
    fn stopped_state(
        &self,
        stored: &MonitorWithStatus,
    ) -> (MonitorStatus, rules::Timestamp, Vec<RegionView>) {
        let regions = stored.monitor.settings.resolved_regions(&self.0.default_regions);
        let probes = self.0.pipeline.probes().of(stored.monitor.workspace);
        let unknown = |region: &Region| RegionView {
            region: *region,
            status: MonitorStatus::Unknown,
            checked_at: None,
            latency_us: None,
            served_by: probes.name_of(*region).0.to_string(),
        };
        let since = stored.since.unwrap_or(stored.monitor.updated_at);
        (stored.status, since, regions.iter().map(unknown).collect())
    }
}

/// Returns the monitor with this ID in the caller's workspace.
async fn find(services: &Services, caller: Caller, id: &str) -> Result<MonitorWithStatus, Error> {
    let found = services.store.monitors().get(caller.workspace, monitor_id(id)?).await;
    found.map_err(rpc_error)
}

/// Validates the page and the filter of a list together, to report all violations.
fn filtered(
    page: list::PageRequest<'_>,
    tags: Vec<String>,
) -> Result<(list::PageSlice<MonitorId>, Vec<Tag>), Error> {
    let mut validator = Validator::new(&tables::MONITORS_DATA);
    let tags = Some(validator.tags("tags", tags));
    match (page.parse(), validator.finish(tags)) {
        (Ok(page), Ok(tags)) => Ok((page, tags)),
        (page, tags) => {
            let violations = [page.err(), tags.err()].into_iter().flatten().flat_map(|it| it.0);
            Err(rpc::invalid(&Violations(violations.collect())))
        }
    }
}

/// Parses the monitor ID in a request.
fn monitor_id(given: &str) -> Result<MonitorId, Error> {
    id(RESOURCE, given)
}

fn encoded_bytes(monitor: &Kind) -> usize {
    match monitor {
        Kind::Http(monitor) => rpc::encoded_bytes(&**monitor),
        Kind::Tcp(monitor) => rpc::encoded_bytes(&**monitor),
        Kind::Dns(monitor) => rpc::encoded_bytes(&**monitor),
    }
}
